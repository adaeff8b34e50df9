//! The decisions, through the component: in numbers, which cross the border as they are; and as the typed records of the contract, which
//! take longer and say the same, and are used where an attempt or a limit does not fit into the numbers.

use leasehold_decision::{Call as Item, Decision, Family, Record, Settings, Token, words};

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
        let (item, readable) = call.item();
        let Some(words) = words::encode(family, settings, before, &item, readable, now) else {
            return self.decide_typed(family, settings, before, call, now);
        };
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = words;
        let answer = self.call(FUEL_PER_CALL, |store, instance| {
            instance.call_words_of_one(store, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
        })?;
        words::decode(&answer.into(), before).ok_or(CallError::Malformed)
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
        items: &[(Option<&Record>, Item)],
        readable_codecs: &[Token],
        now: u64,
    ) -> Result<Vec<Decision>, CallError> {
        let mut questions = Vec::with_capacity(items.len().saturating_mul(words::QUESTION_WORDS));
        for (before, call) in items {
            match words::encode(family, settings, *before, call, readable_codecs, now) {
                Some(words) => questions.extend_from_slice(&words),
                None => return self.batch_typed(family, settings, items, readable_codecs, now),
            }
        }
        let answers = self.call(batch_fuel(items.len()), |store, instance| instance.call_words(store, &questions))?;
        let (answers, rest) = answers.as_chunks::<{ words::ANSWER_WORDS }>();
        if answers.len() != items.len() || !rest.is_empty() {
            return Err(CallError::Malformed);
        }
        let decisions = answers.iter().zip(items).map(|(answer, (before, _))| words::decode(answer, *before));
        decisions.collect::<Option<_>>().ok_or(CallError::Malformed)
    }

    /// As [`Decide::decide`], through the typed records of the contract.
    ///
    /// # Errors
    /// There is no decision.
    pub fn decide_typed(
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

    /// As [`Component::batch`], through the typed records of the contract.
    ///
    /// # Errors
    /// There is no decision on any of them.
    pub fn batch_typed(
        &self,
        family: Family,
        settings: &Settings,
        items: &[(Option<&Record>, Item)],
        readable_codecs: &[Token],
        now: u64,
    ) -> Result<Vec<Decision>, CallError> {
        let readable: Vec<_> = readable_codecs.iter().copied().map(convert::token).collect();
        let items: Vec<_> = items
            .iter()
            .map(|(before, call)| wit::Item { before: before.map(convert::record), call: convert::call(call) })
            .collect();
        let (family, settings) = (convert::family(family), convert::settings(settings));
        self.call(batch_fuel(items.len()), |store, instance| {
            instance.leasehold_decision_decide().call_batch(store, family, settings, &items, &readable, now)
        })
        .map(|decisions| decisions.into_iter().map(decision_back).collect())
    }
}

fn batch_fuel(items: usize) -> u64 {
    FUEL_PER_CALL.saturating_add(FUEL_PER_ITEM.saturating_mul(items as u64))
}
