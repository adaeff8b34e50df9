//! Random choices from a seed, without a dependency: SplitMix64 (Steele, Lea and Flood, 2014), and how a failure is replayed.
//!
//! Case n of a run that begins at seed s has the seed s + n, so that a failing case is the first one of a run of its own.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::BuildHasher;

/// Variable that holds the seed at which a random test begins, in decimal.
pub const SEED_VARIABLE: &str = "LEASEHOLD_SEED";

/// A stream of random numbers.
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of that seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Any number.
    pub const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to `end`, which is left out.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("it is below a usize")
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Mostly the first, once in `times` one of the others.
    pub fn mostly<T: Copy>(&mut self, usual: T, times: usize, others: &[T]) -> T {
        if self.once_in(times) { self.of(others) } else { usual }
    }
}

/// Where a run begins: at the seed of the environment, else at a new one.
#[must_use]
pub fn first_seed() -> u64 {
    match env::var(SEED_VARIABLE) {
        Ok(seed) => seed.parse().unwrap_or_else(|_| panic!("{SEED_VARIABLE} is no decimal number: {seed}")),
        Err(_) => RandomState::new().hash_one(SEED_VARIABLE),
    }
}

/// The line that runs a failing case again, as the first of its run.
#[must_use]
pub fn replay(seed: u64, test: &str) -> String {
    format!("replay: {SEED_VARIABLE}={seed} cargo test -p leasehold-tests --test {test}")
}
