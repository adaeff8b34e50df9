//! What crosses crates: the parts that several tests share. The tests themselves are in `tests/`, golden files and vectors beside it.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`model`] | the decisions as tables, written from the contract apart from the guest |
//! | [`documents`] | random documents for `packed`, well-formed and spoilt |
//! | [`walk`] | random walks of many actors on one record, and what must never happen on them |
//! | [`guard`] | what must hold of every statement of a catalogue, on its syntax tree |
//! | [`random`] | seeds, and how a failing case is replayed |
//! | [`bridge`] | a whole bridge on real ports, and a client that says what it got |
//! | [`upstream`] | an API to be protected, which books what it is asked |
//! | [`faulty`] | a store that fails when it is told to |
//! | [`wait`] | waiting for conditions |
//!
//! It holds no rule that ships: what is written a second time here is there to disagree.

pub mod bridge;
pub mod documents;
pub mod faulty;
pub mod guard;
pub mod model;
pub mod random;
pub mod upstream;
pub mod wait;
pub mod walk;
