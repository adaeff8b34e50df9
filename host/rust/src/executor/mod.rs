//! From a claim to its end: claim, confirmed start, action, heartbeat, end.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`claim`] | which record a key has, and whether the caller may have it |
//! | [`handle`] | what a caller holds: claimed, then started; one writer, so that a heartbeat and an end never race |
//! | [`settle`] | how a try ends, tried again until it is known |
//! | [`run`] | the action in a task of its own |
//! | [`transaction`] | start, the action's writes and complete, committed together |
//! | [`sweep`] | executions that nobody asks about are buried, so that they are listed |
//! | [`recovery`] | the list, and how an abandoned record ends |
//!
//! Source: section 4 of the contract. Knows no HTTP. Tests: `tests/tests/host/`: `lifecycle.rs`, `leases.rs`, `faults.rs`, `kills.rs`, `transaction.rs`, `sweep.rs`.

pub mod claim;
pub mod handle;
pub mod recovery;
pub mod run;
pub mod settle;
pub mod sweep;
pub mod transaction;
