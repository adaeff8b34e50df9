//! The three shapes as the host sees them: how a sample question looks in each, and how it is asked.
//!
//! A sample question is made from its number, in the same way for each shape, so that all must answer alike.

use wasmtime::component::{Component, Linker};
use wasmtime::{Result, Store};

mod flat;
mod typed;

pub use flat::Flat;
pub use typed::{Text, Words};

/// An answer without the types of its shape: verdict, attempt, revision, lease (0 where there is none).
pub type Plain = [u64; 4];

/// One way to ask.
pub trait Shape: Sized {
    /// For people.
    const NAME: &'static str;
    /// A question, ready to be lowered.
    type Question;

    /// Makes an instance of the shape's component.
    fn instantiate(store: &mut Store<()>, component: &Component, linker: &Linker<()>) -> Result<Self>;
    /// The sample question of that number.
    fn question(number: u64) -> Self::Question;
    /// Asks nothing.
    fn nothing(&self, store: &mut Store<()>) -> Result<()>;
    /// Asks one.
    fn ask(&self, store: &mut Store<()>, question: &Self::Question, now: u64) -> Result<Plain>;
    /// Asks many.
    fn ask_all(&self, store: &mut Store<()>, questions: &[Self::Question], now: u64) -> Result<Vec<Plain>>;
}

/// What a sample question holds, before a shape gives it types. Owners and fingerprints agree in some, leases run in some.
pub struct Sample {
    pub stored_owner: u64,
    pub stored_fingerprint: u64,
    pub owner: u64,
    pub fingerprint: u64,
    pub attempt: u64,
    pub revision: u64,
    pub lease_until: Option<u64>,
}

impl Sample {
    pub fn new(number: u64) -> Self {
        Self {
            stored_owner: number % 7,
            stored_fingerprint: number % 5,
            owner: number % 3,
            fingerprint: if number.is_multiple_of(11) { 99 } else { number % 5 },
            attempt: number % 4 + 1,
            revision: number + 1,
            lease_until: (!number.is_multiple_of(4)).then_some(500 + number * 4),
        }
    }
}
