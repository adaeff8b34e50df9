//! The two typed shapes: records whose tokens are text, and records whose tokens are four words.

use wasmtime::component::{Component, Linker};
use wasmtime::{Result, Store};

use super::{Plain, Sample, Shape};

/// A shape of records; the two differ in how a token is made from a number.
macro_rules! typed {
    ($Shape:ident, $World:ident, $world:literal, $name:literal, $interface:ident, $accessor:ident, $Token:ty, $token:expr) => {
        mod $interface {
            wasmtime::component::bindgen!({ path: "wit", world: $world });
        }

        #[doc = $name]
        pub struct $Shape($interface::$World);

        impl Shape for $Shape {
            const NAME: &'static str = $name;
            type Question = $interface::exports::leasehold::shapes::$interface::Question;

            fn instantiate(store: &mut Store<()>, component: &Component, linker: &Linker<()>) -> Result<Self> {
                $interface::$World::instantiate(store, component, linker).map(Self)
            }

            fn question(number: u64) -> Self::Question {
                use $interface::exports::leasehold::shapes::$interface::{Entry, Question};
                let token: fn(u64) -> $Token = $token;
                let sample = Sample::new(number);
                Question {
                    before: Entry {
                        owner: Some(token(sample.stored_owner)),
                        operation: Some(token(1)),
                        fingerprint: Some(token(sample.stored_fingerprint)),
                        codec: Some(token(2)),
                        transition: Some(token(3)),
                        digest: Some(token(4)),
                        attempt: sample.attempt,
                        attempt_limit: 8,
                        revision: sample.revision,
                        lease_until: sample.lease_until,
                        retry_at: None,
                        expires_at: None,
                    },
                    owner: token(sample.owner),
                    operation: token(1),
                    fingerprint: Some(token(sample.fingerprint)),
                    codec: Some(token(2)),
                }
            }

            fn nothing(&self, store: &mut Store<()>) -> Result<()> {
                self.0.$accessor().call_nothing(store).map(drop)
            }

            fn ask(&self, store: &mut Store<()>, question: &Self::Question, now: u64) -> Result<Plain> {
                let answer = self.0.$accessor().call_ask(store, question.as_argument(), now)?;
                Ok([answer.verdict as u64, answer.attempt, answer.revision, answer.lease_until.unwrap_or(0)])
            }

            fn ask_all(&self, store: &mut Store<()>, questions: &[Self::Question], now: u64) -> Result<Vec<Plain>> {
                let answers = self.0.$accessor().call_ask_all(store, questions, now)?;
                let plain = |answer: &$interface::exports::leasehold::shapes::$interface::Answer| {
                    [answer.verdict as u64, answer.attempt, answer.revision, answer.lease_until.unwrap_or(0)]
                };
                Ok(answers.iter().map(plain).collect())
            }
        }
    };
}

/// bindgen takes a record by value where it holds no memory of its own, and by reference where it does.
trait IntoArgument<'a> {
    type Argument;
    fn as_argument(&'a self) -> Self::Argument;
}

impl<'a> IntoArgument<'a> for text::exports::leasehold::shapes::text::Question {
    type Argument = &'a Self;
    fn as_argument(&'a self) -> &'a Self {
        self
    }
}

impl<'a> IntoArgument<'a> for words::exports::leasehold::shapes::words::Question {
    type Argument = Self;
    fn as_argument(&'a self) -> Self {
        *self
    }
}

typed!(Text, TextShape, "text-shape", "text", text, leasehold_shapes_text, String, |number| format!("{number:064x}"));
typed!(
    Words,
    WordsShape,
    "words-shape",
    "four u64",
    words,
    leasehold_shapes_words,
    words::exports::leasehold::shapes::words::Token,
    |number| words::exports::leasehold::shapes::words::Token { a: 0, b: 0, c: 0, d: number }
);
