//! From Rust sources to a component: the one way in which every component of this workspace is built.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`toolchain`] | which compiler builds for wasm32 here: the running cargo's, or Debian's |
//! | [`compile`] | a package to a core module, the same bytes from every folder and cargo home |
//! | [`encode`] | a core module to a component, and what a component must keep to |
//! | [`sources`] | what the committed component is made from, and whether it still is (shared with the hosts' build scripts) |
//! | [`committed`] | the committed component and its record: build, check, compare |
//!
//! Knows nothing of what a component decides. Tests: in [`sources`]' tests here; two builds are compared in CI.

pub mod committed;
pub mod compile;
pub mod encode;
#[path = "../../../component/sources.rs"]
pub mod sources;
#[cfg(test)]
mod sources_tests;
pub mod toolchain;
