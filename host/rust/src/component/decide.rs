//! The decisions, through the component.

use leasehold_decision::{AdvanceArgs, ClaimArgs, Decision, Family, Record, Settings, Token};

use super::bindings::exports::leasehold::decision::decide as wit;
use super::convert::{self, decision_back};
use super::{CallError, Component, FUEL_PER_CALL, FUEL_PER_ITEM};
use crate::decide::{Call, Decide};

impl Decide for Component {
    fn decide(
        &self,
        family: Family,
        settings: &Settings,
        before: Option<&Record>,
        call: Call<'_>,
        now: u64,
    ) -> Result<Decision, CallError> {
        let before = before.map(convert::record);
        let (family, settings) = (convert::family(family), convert::settings(settings));
        self.call(FUEL_PER_CALL, |store, instance| {
            let decide = instance.leasehold_decision_decide();
            match call {
                Call::Claim(args, readable_codecs) => {
                    let readable: Vec<_> = readable_codecs.iter().copied().map(convert::token).collect();
                    decide.call_claim(store, family, settings, before, convert::claim_args(args), &readable, now)
                }
                Call::Advance(args) => decide.call_advance(store, family, settings, before, convert::advance_args(args), now),
                Call::Release(args) => decide.call_release(store, family, settings, before, convert::release_args(args), now),
                Call::Inspect(args) => decide.call_inspect(store, family, settings, before, convert::inspect_args(args), now),
                Call::Resolve(args) => decide.call_resolve(store, family, settings, before, convert::resolve_args(args), now),
            }
        })
        .map(decision_back)
    }
}

impl Component {
    /// Claims, decided under one clock reading.
    ///
    /// # Errors
    /// There is no decision on any of them.
    pub fn claim_batch(
        &self,
        family: Family,
        settings: &Settings,
        items: &[(Option<Record>, ClaimArgs)],
        readable_codecs: &[Token],
        now: u64,
    ) -> Result<Vec<Decision>, CallError> {
        let readable: Vec<_> = readable_codecs.iter().copied().map(convert::token).collect();
        let items: Vec<_> = items
            .iter()
            .map(|(before, args)| wit::ClaimItem { before: before.as_ref().map(convert::record), args: convert::claim_args(args) })
            .collect();
        let (family, settings) = (convert::family(family), convert::settings(settings));
        self.call(batch_fuel(items.len()), |store, instance| {
            instance.leasehold_decision_decide().call_claim_batch(store, family, settings, &items, &readable, now)
        })
        .map(|decisions| decisions.into_iter().map(decision_back).collect())
    }

    /// Transitions, decided under one clock reading.
    ///
    /// # Errors
    /// There is no decision on any of them.
    pub fn advance_batch(
        &self,
        family: Family,
        settings: &Settings,
        items: &[(Option<Record>, AdvanceArgs)],
        now: u64,
    ) -> Result<Vec<Decision>, CallError> {
        let items: Vec<_> = items
            .iter()
            .map(|(before, args)| wit::AdvanceItem {
                before: before.as_ref().map(convert::record),
                args: convert::advance_args(args),
            })
            .collect();
        let (family, settings) = (convert::family(family), convert::settings(settings));
        self.call(batch_fuel(items.len()), |store, instance| {
            instance.leasehold_decision_decide().call_advance_batch(store, family, settings, &items, now)
        })
        .map(|decisions| decisions.into_iter().map(decision_back).collect())
    }
}

fn batch_fuel(items: usize) -> u64 {
    FUEL_PER_CALL.saturating_add(FUEL_PER_ITEM.saturating_mul(items as u64))
}
