//! The HTTP bridge: a client's request in, the upstream's answer out, at most once.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`envelope`] | a stored answer, codec `http-1` |
//! | [`hop`] | which headers belong to one connection alone |
//! | [`problem`] | the answers that the bridge gives itself (RFC 9457) |
//!
//! Tests: in each module, and `tests/tests/` (`envelope.rs`).

pub mod envelope;
pub mod hop;
pub mod problem;
