//! What crosses crates: the parts that several tests share. The tests themselves are in `tests/`, golden files and vectors beside it.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`model`] | the decisions as tables, written from the contract apart from the guest |
//! | [`documents`] | random documents for `packed`, well-formed and spoilt |
//! | [`walk`] | random walks of many actors on one record, and what must never happen on them |
//! | [`guard`] | what must hold of every statement of a catalogue, on its syntax tree |
//! | [`random`] | seeds, and how a failing case is replayed |
//!
//! It holds no rule that ships: what is written a second time here is there to disagree.

pub mod documents;
pub mod guard;
pub mod model;
pub mod random;
pub mod walk;
