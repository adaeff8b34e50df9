//! The HTTP bridge: a client's request in, the upstream's answer out, at most once.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`envelope`] | a stored answer, codec `http-1` |
//! | [`forward`] | the way to the upstream and back |
//! | [`hop`] | which headers belong to one connection alone |
//! | [`listen`] | connections from clients |
//! | [`peer`] | who is at the other end of a connection |
//! | [`principal`] | who asks |
//! | [`problem`] | the answers that the bridge gives itself (RFC 9457) |
//! | [`tls`] | certificates and keys |
//!
//! Tests: in each module, and `tests/tests/` (`envelope.rs`, `forward.rs`, `listen.rs`).

pub mod envelope;
pub mod forward;
pub mod hop;
pub mod listen;
pub mod peer;
pub mod principal;
pub mod problem;
pub mod tls;
