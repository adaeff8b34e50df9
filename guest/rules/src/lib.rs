//! The five calls of the machine: what is run for every decision, and nothing else, so that it can be compiled for speed while the rest
//! of the component (texts, documents, keys) is compiled for size.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`record`] | what is stored: tokens, states, records, settings |
//! | [`outcome`] | what is answered: outcomes, writes |
//! | [`claim`], [`advance`], [`release`], [`inspect`], [`resolve`] | the five calls, arms in the order of the contract |
//! | [`call`] | one of the five, for lists that mix them; the batch form |
//! | [`words`] | decisions in numbers, for hosts that decide often |
//!
//! Used through `leasehold-decision`, which gives all of it on. Pure and total: no I/O, no clock, no randomness, no panic. Tests: in
//! `guest/src/tests/`, one file a call; the vectors.

#![no_std]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::wildcard_enum_match_arm
)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod advance;
pub mod call;
pub mod claim;
pub mod inspect;
pub mod outcome;
pub mod record;
pub mod release;
pub mod resolve;
pub mod words;
