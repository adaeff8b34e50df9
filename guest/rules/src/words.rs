//! A decision in numbers: sixteen in, eleven out, for hosts that decide often. That many cross the border as they are; typed records
//! cross it field by field through memory that is taken for them, which takes longer than the decision.
//!
//! Both sides use this module, so that there is one encoding. It says less than the records and loses nothing that a decision asks:
//! tokens are only ever compared, so of each it is said whether it is there, and whether it is the record's. Attempts and limits
//! stand in 32 bits; where one does not fit there is no encoding, and the typed records are used. A list is its items one after another.
//!
//! Knows no rule. Tests: below, and `guest/tests/words.rs`, which sends every vector through it.

use alloc::vec::Vec;

use crate::advance::AdvanceKind;
use crate::call::decide;
use crate::outcome::StatementName;
use crate::record::{ATTEMPT_LIMIT_MAX, Corruption, Family, Reason, SettingsFault, State, TransitionKind};
use crate::resolve::Verdict;

mod answers;
mod questions;

pub use answers::decode;
pub use questions::encode;

/// Words of a question.
pub const QUESTION_WORDS: usize = questions::WORDS;
/// Words of an answer.
pub const ANSWER_WORDS: usize = answers::WORDS;

/// Decides one call. Words that are no question: zeros, which are no decision.
#[must_use]
#[inline]
pub fn answer(words: &[u64; QUESTION_WORDS]) -> [u64; ANSWER_WORDS] {
    let Some(question) = questions::decode(words) else {
        return [0; ANSWER_WORDS];
    };
    let (settings, before) = (&question.settings, question.before.as_ref());
    answers::encode(&decide(question.family, settings, before, &question.call, question.readable(), question.now))
}

/// Decides a list of calls: answer n is that of question n. Words that are no list of questions: no words.
#[must_use]
pub fn answer_all(words: &[u64]) -> Vec<u64> {
    let (questions, rest) = words.as_chunks::<QUESTION_WORDS>();
    let answers: Vec<_> = questions.iter().map(answer).collect();
    if rest.is_empty() && answers.iter().all(|[about, ..]| *about != 0) { answers.into_flattened() } else { Vec::new() }
}

/// A plain enum in words: its position in the contract's order, counted from 1; 0 stands for none.
trait Numbered: Copy + 'static {
    /// All values, in the order in which they are declared.
    const ALL: &'static [Self];

    fn number(self) -> u8;
}

/// The order of the declaration is the order of the list: a test holds the two together.
macro_rules! numbered {
    ($($Name:ty: $all:expr,)*) => {$(
        impl Numbered for $Name {
            const ALL: &'static [Self] = &$all;

            #[inline]
            fn number(self) -> u8 {
                (self as u8).wrapping_add(1)
            }
        }
    )*};
}

numbered! {
    Family: Family::ALL,
    State: State::ALL,
    TransitionKind: TransitionKind::ALL,
    StatementName: StatementName::ALL,
    AdvanceKind: AdvanceKind::ALL,
    Verdict: Verdict::ALL,
    Reason: Reason::ALL,
    Corruption: Corruption::ALL,
    SettingsFault: SettingsFault::ALL,
}

#[inline]
fn place<T: Numbered>(value: Option<T>) -> u8 {
    value.map_or(0, T::number)
}

/// The value at that position; the outer `None` where there is no such one.
#[inline]
fn at_place<T: Numbered>(place: u8) -> Option<Option<T>> {
    match usize::from(place).checked_sub(1) {
        None => Some(None),
        Some(at) => T::ALL.get(at).map(|value| Some(*value)),
    }
}

/// Small numbers in one word, 8 bits each: the first is the lowest.
const fn pack(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

const fn unpack(word: u64) -> [u8; 8] {
    word.to_le_bytes()
}

const fn bit(bits: u64, at: u32) -> bool {
    bits.wrapping_shr(at) & 1 == 1
}

const fn when(present: bool, number: u64) -> Option<u64> {
    if present { Some(number) } else { None }
}

/// Two numbers in one word, the first in its low half; `None` where one does not fit.
const fn pair(low: u64, high: u64) -> Option<u64> {
    if low <= ATTEMPT_LIMIT_MAX && high <= ATTEMPT_LIMIT_MAX { Some(low | high.wrapping_shl(32)) } else { None }
}

const fn unpair(word: u64) -> (u64, u64) {
    (word & ATTEMPT_LIMIT_MAX, word.wrapping_shr(32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts<T: Numbered + PartialEq + core::fmt::Debug>() {
        for (at, value) in T::ALL.iter().enumerate() {
            assert_eq!(usize::from(value.number()), at + 1, "{value:?}");
            assert_eq!(at_place(value.number()), Some(Some(*value)));
        }
        assert_eq!(at_place::<T>(u8::try_from(T::ALL.len() + 1).unwrap()), None);
        assert_eq!(at_place::<T>(0), Some(None));
    }

    #[test]
    fn a_number_is_the_place_in_the_contracts_order() {
        counts::<Family>();
        counts::<State>();
        counts::<TransitionKind>();
        counts::<StatementName>();
        counts::<AdvanceKind>();
        counts::<Verdict>();
        counts::<Reason>();
        counts::<Corruption>();
        counts::<SettingsFault>();
    }
}
