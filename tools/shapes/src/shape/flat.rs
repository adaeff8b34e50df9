//! The shape without types: the words of a question, one behind the other, in the order that wit/shapes.wit gives them.

use wasmtime::component::{Component, Linker};
use wasmtime::{Result, Store};

use super::{Plain, Sample, Shape};

mod bindings {
    wasmtime::component::bindgen!({ path: "wit", world: "flat-shape" });
}

const QUESTION_WORDS: usize = 47;
/// One bit an option: six tokens and three times of the entry, two tokens of the caller.
const ALL_BUT_RETRY_AND_EXPIRY: u64 = 0b110_0111_1111;

/// Everything as one list of u64.
pub struct Flat(bindings::FlatShape);

impl Shape for Flat {
    const NAME: &'static str = "one list of u64";
    type Question = [u64; QUESTION_WORDS];

    fn instantiate(store: &mut Store<()>, component: &Component, linker: &Linker<()>) -> Result<Self> {
        bindings::FlatShape::instantiate(store, component, linker).map(Self)
    }

    fn question(number: u64) -> Self::Question {
        let sample = Sample::new(number);
        let stored = [sample.stored_owner, 1, sample.stored_fingerprint, 2, 3, 4];
        let given = [sample.owner, 1, sample.fingerprint, 2];
        let tokens = |tokens: &[u64]| tokens.iter().flat_map(|token| [0, 0, 0, *token]).collect::<Vec<u64>>();
        let numbers = [sample.attempt, 8, sample.revision, sample.lease_until.unwrap_or(0), 0, 0];
        let words = [vec![ALL_BUT_RETRY_AND_EXPIRY], tokens(&stored), numbers.to_vec(), tokens(&given)].concat();
        let mut question = [0; QUESTION_WORDS];
        question.iter_mut().zip(words).for_each(|(place, word)| *place = word);
        question
    }

    fn nothing(&self, store: &mut Store<()>) -> Result<()> {
        self.0.leasehold_shapes_flat().call_nothing(store).map(drop)
    }

    fn ask(&self, store: &mut Store<()>, question: &Self::Question, now: u64) -> Result<Plain> {
        let answer = self.0.leasehold_shapes_flat().call_ask_all(store, question, now)?;
        Ok(answer.first_chunk().copied().unwrap_or_default())
    }

    fn ask_all(&self, store: &mut Store<()>, questions: &[Self::Question], now: u64) -> Result<Vec<Plain>> {
        // The typed shapes are given their questions as they are; here they are written one behind the other first.
        let words = questions.as_flattened();
        let answers = self.0.leasehold_shapes_flat().call_ask_all(store, words, now)?;
        Ok(answers.as_chunks().0.to_vec())
    }
}
