//! What crosses crates: the parts that several tests share. The tests themselves are in `tests/`, golden files and vectors beside it.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`model`] | the decisions as tables, written from the contract apart from the guest |
//! | [`documents`] | random documents for `packed`, well-formed and spoilt |
//! | [`walk`] | random walks of many actors on one record, and what must never happen on them |
//! | [`guard`] | what must hold of every statement of a catalogue, on its syntax tree |
//! | [`hosts`] | hosts on files of their own, a ledger of effects, waiting for conditions |
//! | [`scripted`] | a store whose n-th operation goes wrong, as a script says |
//! | [`mishaps`] | every operation of a cycle goes wrong in every way, on any store |
//! | [`random`] | seeds, and how a failing case is replayed |
//! | [`bridge`] | a whole bridge on real ports, and a client that says what it got |
//! | [`binary`] | the real binary, run to its end |
//! | [`served`] | the real server as a child process |
//! | [`require`] | what a test needs from outside, and what it says where that is missing |
//! | [`servers`] | private servers of PostgreSQL and MariaDB |
//! | [`upstream`] | an API to be protected, which books what it is asked |
//! | [`faulty`] | a store that fails when it is told to |
//! | [`wait`] | waiting for conditions |
//!
//! It holds no rule that ships: what is written a second time here is there to disagree.

pub mod binary;
pub mod bridge;
pub mod documents;
pub mod faulty;
pub mod guard;
pub mod hosts;
pub mod mishaps;
pub mod model;
pub mod random;
pub mod require;
pub mod scripted;
pub mod served;
pub mod servers;
pub mod upstream;
pub mod wait;
pub mod walk;
