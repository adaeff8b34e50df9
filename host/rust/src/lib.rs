//! leasehold: at most once, and know what happened.
//!
//! The Rust host of the leasehold decision component. It reads a record and the store's clock in one statement, asks the component,
//! executes the one statement that it gets back, and looks at the number of rows changed. It holds no decision of its own.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`component`] | the component on wasmtime: bounded, pooled, replaceable |
//! | [`decide`] | who decides: the component, or the same code natively |
//! | [`catalogue`] | the component's statements, and where their parameters come from |
//! | [`store`] | what a store does; SQLite |
//! | [`ids`] | owner, scope, fingerprint, operation, transition |
//! | [`keyring`] | secrets and their versions |
//! | [`cycle`] | read, decide, swap; read again where it changed nothing |
//! | [`executor`] | claim, start, action, heartbeat, end; recovery; sweep |
//! | [`host`] | all of it, put together once |
//! | `metrics` | what is counted |
//! | `bridge` | the HTTP bridge: a tower layer, a reverse proxy (feature `bridge`) |
//! | `cli` | the `leasehold` program (feature `cli`) |
//!
//! Glossary: docs/architecture.md. What is promised: docs/guarantees.md.

#[cfg(feature = "bridge")]
pub mod bridge;
pub mod catalogue;
#[cfg(feature = "cli")]
pub mod cli;
pub mod component;
pub mod cycle;
pub mod decide;
pub mod executor;
pub mod host;
pub mod ids;
pub mod keyring;
mod metrics;
pub mod store;

pub use executor::claim::{Answered, ClaimAnswer, ClaimError, ClaimRequest, Key};
pub use executor::handle::{Claimed, LeaseOver, StartError, Started, Ticket};
pub use executor::run::{ExecuteError, Execution};
pub use executor::settle::{End, Settlement};
pub use host::{HostError, HostOptions, Leasehold, SecretSource};
pub use ids::{Digest, Fingerprint, OperationId, Owner, Scope, TransitionId};
pub use keyring::{KeyedRequest, Payload, Secrets};
pub use leasehold_decision::{Family, Outcome, Settings, State, Verdict};
pub use store::{Store, StoreUrl};
