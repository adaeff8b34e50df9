//! Who decides: the component, or (in tests and for comparison) the same code compiled natively.
//!
//! Knows no store. Tests: `tests/tests/host/agreement.rs` holds the two against each other.

use leasehold_decision::{
    AdvanceArgs, ClaimArgs, Decision, Family, InspectArgs, Record, ReleaseArgs, ResolveArgs, Settings, Token, advance, claim,
    inspect, release, resolve,
};

use crate::component::CallError;

/// One of the five calls of section 2 of the contract, with its arguments.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// May this caller have the record? With the codecs whose stored results the caller can replay.
    Claim(&'a ClaimArgs, &'a [Token]),
    /// The holder of a tuple moves its record on.
    Advance(&'a AdvanceArgs),
    /// The holder of a tuple gives its try back.
    Release(&'a ReleaseArgs),
    /// What would a claim see?
    Inspect(&'a InspectArgs),
    /// A verdict on an abandoned record.
    Resolve(&'a ResolveArgs),
}

impl<'a> Call<'a> {
    /// The call as an item of a list, and the codecs that a claim can replay.
    #[must_use]
    pub const fn item(self) -> (leasehold_decision::Call, &'a [Token]) {
        match self {
            Self::Claim(args, readable_codecs) => (leasehold_decision::Call::Claim(*args), readable_codecs),
            Self::Advance(args) => (leasehold_decision::Call::Advance(*args), &[]),
            Self::Release(args) => (leasehold_decision::Call::Release(*args), &[]),
            Self::Inspect(args) => (leasehold_decision::Call::Inspect(*args), &[]),
            Self::Resolve(args) => (leasehold_decision::Call::Resolve(*args), &[]),
        }
    }
}

/// Something that decides.
pub trait Decide: Send + Sync {
    /// The decision on a record as read, under the clock reading that came with it. Milliseconds since the epoch.
    ///
    /// # Errors
    /// There is no decision: nothing may be written.
    fn decide(
        &self,
        family: Family,
        settings: &Settings,
        before: Option<&Record>,
        call: Call<'_>,
        now: u64,
    ) -> Result<Decision, CallError>;
}

/// The decisions, compiled into this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Native;

impl Decide for Native {
    fn decide(
        &self,
        family: Family,
        settings: &Settings,
        before: Option<&Record>,
        call: Call<'_>,
        now: u64,
    ) -> Result<Decision, CallError> {
        Ok(match call {
            Call::Claim(args, readable_codecs) => claim(family, settings, before, args, readable_codecs, now),
            Call::Advance(args) => advance(family, settings, before, args, now),
            Call::Release(args) => release(family, settings, before, args, now),
            Call::Inspect(args) => inspect(family, settings, before, args, now),
            Call::Resolve(args) => resolve(family, settings, before, args, now),
        })
    }
}
