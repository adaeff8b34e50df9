//! The decisions, through the component.

use leasehold_decision::{Decision, Family, Record, Settings, Token};

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
    /// A list of calls, decided under one clock reading.
    ///
    /// # Errors
    /// There is no decision on any of them.
    pub fn batch(
        &self,
        family: Family,
        settings: &Settings,
        items: &[(Option<Record>, leasehold_decision::Call)],
        readable_codecs: &[Token],
        now: u64,
    ) -> Result<Vec<Decision>, CallError> {
        let readable: Vec<_> = readable_codecs.iter().copied().map(convert::token).collect();
        let items: Vec<_> = items
            .iter()
            .map(|(before, call)| wit::Item { before: before.as_ref().map(convert::record), call: convert::call(call) })
            .collect();
        let (family, settings) = (convert::family(family), convert::settings(settings));
        let fuel = FUEL_PER_CALL.saturating_add(FUEL_PER_ITEM.saturating_mul(items.len() as u64));
        self.call(fuel, |store, instance| {
            instance.leasehold_decision_decide().call_batch(store, family, settings, &items, &readable, now)
        })
        .map(|decisions| decisions.into_iter().map(decision_back).collect())
    }
}
