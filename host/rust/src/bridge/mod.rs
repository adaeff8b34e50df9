//! The HTTP bridge: a client's request in, the upstream's answer out, at most once.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`admin`] | health, readiness, metrics: on an address of their own |
//! | [`ending`] | a client's socket, which does not end an answer by being closed |
//! | [`envelope`] | a stored answer, codec `http-1` |
//! | [`flow`] | the way of one protected request |
//! | [`forward`] | the way to the upstream and back |
//! | [`hop`] | which headers belong to one connection alone |
//! | [`layer`] | the bridge as a tower layer |
//! | [`listen`] | connections from clients |
//! | [`metrics`] | what is counted |
//! | [`peer`] | who is at the other end of a connection |
//! | [`principal`] | who asks |
//! | [`problem`] | the answers that the bridge gives itself (RFC 9457) |
//! | [`proxy`] | the bridge as a reverse proxy |
//! | [`server`] | proxy, admin, sweep and purge, put together |
//! | [`settings`] | how the requests of each route are treated |
//! | [`tls`] | certificates and keys |
//!
//! Tests: in each module, and `tests/tests/` (`bridge/`, `envelope.rs`, `forward/`, `listen.rs`, `principal.rs`).

pub mod admin;
mod ending;
pub mod envelope;
mod flow;
pub mod forward;
pub mod hop;
pub mod layer;
pub mod listen;
pub mod metrics;
pub mod peer;
pub mod principal;
pub mod problem;
pub mod proxy;
pub mod server;
pub mod settings;
pub mod tls;

pub use layer::{Idempotency, IdempotencyLayer};
pub use settings::{BridgeSettings, KeyRule, PathPattern, RouteSettings};
