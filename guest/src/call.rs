//! One of the five calls, for lists that mix them, and the batch form.
//!
//! Knows no rule of its own. Tests: below.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::name;
    use crate::outcome::Outcome;
    use crate::policy::default_settings;

    #[test]
    fn a_batch_has_one_clock_and_each_item_its_own_answer() {
        let args = ClaimArgs { owner: name("owner"), operation: name("operation"), fingerprint: None, codec: None };
        let inspect = InspectArgs { owner: name("owner"), operation: name("operation"), fingerprint: None };
        let settings = default_settings(Family::Idempotency);
        let items = [(None, Call::Claim(args)), (None, Call::Inspect(inspect)), (None, Call::Claim(args))];
        let answers = batch(Family::Idempotency, &settings, &items, &[], 1_000);
        assert!(matches!(answers[0].outcome, Outcome::Acquired(grant) if grant.lease_until == 31_000));
        assert_eq!(answers[1].outcome, Outcome::Missing);
        assert_eq!(answers[2], answers[0]);
        assert!(batch(Family::Idempotency, &settings, &[], &[], 1_000).is_empty());
    }
}
