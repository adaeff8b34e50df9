//! The decisions of "at most once, and know what happened".
//!
//! From a stored record, a call and one clock reading they give an [`Outcome`] and at most one [`Write`]: a statement of the
//! catalogue, and the small numbers that it sets. They are pure and total: no I/O, no clock, no randomness, no panic.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`record`] | what is stored: tokens, states, records, settings |
//! | [`outcome`] | what is answered: outcomes, writes |
//! | [`claim`], [`advance`], [`release`], [`inspect`], [`resolve`] | the five calls, arms in the order of the contract |
//! | [`call`] | one of the five, for lists that mix them; the batch form |
//! | [`row`] | a record as stores and documents hold it, and what a write makes of it |
//! | [`statements`] | the schema and the catalogue of statements, one module a dialect |
//! | [`keys`] | scopes, fingerprints, packed names |
//! | [`http`] | the rules of the HTTP bridge |
//! | [`policy`] | what ships: name, revision, settings |
//! | [`packed`] | a decision as a JSON document |
//! | [`words`] | decisions in numbers, for hosts that decide often |
//! | [`json`] | the JSON reader and writer under `keys` and `packed` |
//!
//! The calls live in `leasehold-rules`, which is compiled for speed. The crate knows no store, no driver, no HTTP library and no WebAssembly; the one module that binds it to WIT is compiled for
//! wasm32 alone. Tests: in each module, in `tests/` of this crate (vectors), and in the workspace's `tests/`.

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
#[cfg(any(test, target_arch = "wasm32"))]
extern crate std;

#[cfg(target_arch = "wasm32")]
mod component;
pub mod http;
pub mod json;
pub mod keys;
pub mod packed;
pub mod policy;
pub mod row;
pub mod statements;
#[cfg(test)]
mod tests;

pub use leasehold_rules::{advance, call, claim, inspect, outcome, record, release, resolve, words};

pub use advance::{AdvanceArgs, AdvanceKind, advance};
pub use call::{Call, batch, decide};
pub use claim::{ClaimArgs, claim};
pub use inspect::{InspectArgs, inspect};
pub use outcome::{Applied, Decision, Grant, Next, Outcome, Recovery, Replay, Retryable, StatementName, Write};
pub use record::{
    Corruption, Family, OwnerTuple, Reason, Record, Settings, SettingsFault, State, Token, Transition, TransitionKind,
};
pub use release::{ReleaseArgs, release};
pub use resolve::{ResolveArgs, Verdict, resolve};
pub use row::{CallTexts, Row, RowFault};
