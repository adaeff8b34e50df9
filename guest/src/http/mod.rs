//! The rules of the HTTP bridge, so that every bridge answers alike. Sources: section 6 of the contract,
//! draft-ietf-httpapi-idempotency-key-header-07, RFC 9457 (problem documents), RFC 8941 (sf-string), RFC 9110 (Retry-After).
//!
//! Knows no HTTP library. Tests: below.

mod classify;
mod key;
mod problem;

pub use classify::{Effect, Failure, Rules, classify_failure, classify_status, retry_after};
pub use key::{KEY_CHARS_MAX, Key, KeyFault, parse_key};
pub use problem::{PROBLEMS, Problem, Refusal, problem};
