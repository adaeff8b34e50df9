//! One of the five calls, for lists that mix them, and the batch form.
//!
//! Knows no rule of its own. Tests: `guest/src/tests/call.rs`.

use alloc::vec::Vec;

use crate::advance::{AdvanceArgs, advance};
use crate::claim::{ClaimArgs, claim};
use crate::inspect::{InspectArgs, inspect};
use crate::outcome::Decision;
use crate::record::{Family, Record, Settings, Token};
use crate::release::{ReleaseArgs, release};
use crate::resolve::{ResolveArgs, resolve};

/// A call with its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// May this caller have the record?
    Claim(ClaimArgs),
    /// The holder of a tuple moves its record on.
    Advance(AdvanceArgs),
    /// The holder of a tuple gives its try back.
    Release(ReleaseArgs),
    /// What would a claim see?
    Inspect(InspectArgs),
    /// A verdict on an abandoned record.
    Resolve(ResolveArgs),
}

/// Decides one call. `readable_codecs` counts with a claim alone.
#[must_use]
pub fn decide(
    family: Family,
    settings: &Settings,
    before: Option<&Record>,
    call: &Call,
    readable_codecs: &[Token],
    now: u64,
) -> Decision {
    match call {
        Call::Claim(args) => claim(family, settings, before, args, readable_codecs, now),
        Call::Advance(args) => advance(family, settings, before, args, now),
        Call::Release(args) => release(family, settings, before, args, now),
        Call::Inspect(args) => inspect(family, settings, before, args, now),
        Call::Resolve(args) => resolve(family, settings, before, args, now),
    }
}

/// Decides a list under one clock reading: answer n is that of item n, as if asked alone.
#[must_use]
pub fn batch(
    family: Family,
    settings: &Settings,
    items: &[(Option<Record>, Call)],
    readable_codecs: &[Token],
    now: u64,
) -> Vec<Decision> {
    items.iter().map(|(before, call)| decide(family, settings, before.as_ref(), call, readable_codecs, now)).collect()
}
