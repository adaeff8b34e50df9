//! Decisions as words: a list of u64 in, a list of u64 out, for hosts that decide often. A list of numbers crosses the border as one
//! copy; typed records cross it field by field, which takes longer than the decision.
//!
//! Both sides use this module, so that there is one encoding. In: a head of [`HEAD_WORDS`] words (family, now, the settings in their
//! order, number of readable codecs, number of items), 4 words a readable codec, then [`ITEM_WORDS`] an item. Out: [`DECISION_WORDS`] an
//! item. Words that are no request are answered with an empty list.
//!
//! Knows no rule. Tests: below, and `guest/tests/words.rs`, which sends every vector through it.

use alloc::vec::Vec;

use crate::call::{Call, decide};
use crate::outcome::Decision;
use crate::record::{Family, Record, Settings, Token};

mod calls;
mod decisions;
mod records;

/// Words before the readable codecs.
pub const HEAD_WORDS: usize = 11;
/// Words of one item: a record and a call.
pub const ITEM_WORDS: usize = records::RECORD_WORDS + calls::CALL_WORDS;
/// Words of one decision.
pub const DECISION_WORDS: usize = decisions::DECISION_WORDS;

/// A list of calls, as words.
#[must_use]
pub fn encode(
    family: Family,
    settings: &Settings,
    readable_codecs: &[Token],
    now: u64,
    items: &[(Option<&Record>, Call)],
) -> Vec<u64> {
    let length =
        HEAD_WORDS.saturating_add(readable_codecs.len().saturating_mul(4)).saturating_add(items.len().saturating_mul(ITEM_WORDS));
    let mut words = Vec::with_capacity(length);
    words.extend_from_slice(&[
        family_word(family),
        now,
        settings.revision,
        settings.lease,
        settings.attempt_limit,
        settings.backoff_base,
        settings.backoff_cap,
        settings.replay_retention,
        settings.failure_retention,
        readable_codecs.len() as u64,
        items.len() as u64,
    ]);
    for codec in readable_codecs {
        words.extend_from_slice(&codec.words());
    }
    for (before, call) in items {
        words.extend_from_slice(&records::encode(*before));
        words.extend_from_slice(&calls::encode(call));
    }
    words
}

/// Decides a list of calls.
#[must_use]
pub fn decide_words(words: &[u64]) -> Vec<u64> {
    answer(words).unwrap_or_default()
}

/// The decisions of an answer; `None` where it is none.
#[must_use]
pub fn decode(words: &[u64]) -> Option<Vec<Decision>> {
    if !words.len().is_multiple_of(DECISION_WORDS) {
        return None;
    }
    words.as_chunks::<DECISION_WORDS>().0.iter().map(decisions::decode).collect()
}

/// The one decision of an answer to one call.
#[must_use]
pub fn decode_one(words: &[u64]) -> Option<Decision> {
    decisions::decode(words.try_into().ok()?)
}

fn answer(words: &[u64]) -> Option<Vec<u64>> {
    let (head, rest) = words.split_first_chunk::<HEAD_WORDS>()?;
    let [
        family,
        now,
        revision,
        lease,
        attempt_limit,
        backoff_base,
        backoff_cap,
        replay_retention,
        failure_retention,
        codecs,
        items,
    ] = *head;
    let family = Family::ALL.into_iter().find(|known| family_word(*known) == family)?;
    let settings = Settings { revision, lease, attempt_limit, backoff_base, backoff_cap, replay_retention, failure_retention };
    let (codecs, rest) = rest.split_at_checked(usize::try_from(codecs).ok()?.checked_mul(4)?)?;
    let readable: Vec<Token> = codecs.as_chunks::<4>().0.iter().map(|words| Token::from_words(*words)).collect();
    let (chunks, left) = rest.as_chunks::<ITEM_WORDS>();
    if !left.is_empty() || chunks.len() as u64 != items {
        return None;
    }
    let mut out = Vec::with_capacity(chunks.len().saturating_mul(DECISION_WORDS));
    for chunk in chunks {
        let (record, call) = chunk.split_first_chunk::<{ records::RECORD_WORDS }>()?;
        let before = records::decode(record)?;
        let call = calls::decode(call.try_into().ok()?)?;
        out.extend_from_slice(&decisions::encode(&decide(family, &settings, before.as_ref(), &call, &readable, now)));
    }
    Some(out)
}

const fn family_word(family: Family) -> u64 {
    match family {
        Family::Idempotency => 0,
        Family::Inbox => 1,
        Family::Outbox => 2,
        Family::Cleanup => 3,
    }
}

/// Small numbers and presences in one word, 8 bits each: the first is the lowest.
const fn pack(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

const fn unpack(word: u64) -> [u8; 8] {
    word.to_le_bytes()
}

/// The position of a value in its list, counted from 1; 0 stands for none.
fn place<T: PartialEq>(all: &[T], value: Option<&T>) -> u8 {
    let found = value.and_then(|value| all.iter().position(|known| known == value));
    found.and_then(|at| u8::try_from(at.saturating_add(1)).ok()).unwrap_or(0)
}

/// The value at that position; the outer `None` where there is no such one.
fn at_place<T: Copy>(all: &[T], place: u8) -> Option<Option<T>> {
    match usize::from(place).checked_sub(1) {
        None => Some(None),
        Some(at) => all.get(at).map(|value| Some(*value)),
    }
}

const NO_TOKEN: [u64; 4] = [0; 4];

fn token_words(token: Option<Token>) -> [u64; 4] {
    token.map_or(NO_TOKEN, Token::words)
}

/// Presences as bits, the first the lowest.
fn bits<const N: usize>(present: [bool; N]) -> u64 {
    present.iter().rev().fold(0, |bits, present| (bits << 1) | u64::from(*present))
}

const fn bit(bits: u64, at: u32) -> bool {
    bits.wrapping_shr(at) & 1 == 1
}

fn when<T>(present: bool, value: T) -> Option<T> {
    present.then_some(value)
}
