//! A decision natively, through the component, in a batch; a call that does nothing; memory over a million decisions.

use std::hint::black_box;
use std::time::Instant;

use leasehold_decision::{
    AdvanceArgs, AdvanceKind, Call as Item, ClaimArgs, Family, OwnerTuple, Record, Settings, State, Token, Transition,
    TransitionKind, keys, policy,
};

use super::figures::{Figure, nanoseconds};
use crate::cli::{CliError, open};
use crate::component::{CallError, Component};
use crate::decide::{Call, Decide, Native};

/// Calls of one round.
const CALLS: u32 = 20_000;
/// Items of a batch.
const BATCH: usize = 256;
/// Decisions over which memory is watched.
const MEMORY_CALLS: u32 = 1_000_000;
const NOW: u64 = 1_800_000_000_000;

/// Two calls on a record with every column filled: a claim that finds somebody at work, and a complete that is applied.
struct Case {
    family: Family,
    settings: Settings,
    record: Record,
    claim: ClaimArgs,
    complete: AdvanceArgs,
    readable: [Token; 1],
}

impl Case {
    fn new() -> Self {
        let token = |n: u64| Token::from_words([n, n << 1, n << 2, n << 3]);
        let (owner, operation) = (token(1), keys::name("operation"));
        let record = Record {
            state: State::Executing,
            owner: Some(owner),
            operation: Some(operation),
            attempt: 3,
            attempt_limit: 8,
            revision: NOW,
            fingerprint: Some(token(2)),
            codec: Some(keys::name("http-1")),
            lease_until: Some(NOW + 10_000),
            retry_at: None,
            expires_at: None,
            transition: Some(Transition { id: keys::name("start"), kind: TransitionKind::Start, digest: None }),
            result_digest: None,
        };
        let claim =
            ClaimArgs { owner: token(3), operation: keys::name("another"), fingerprint: record.fingerprint, codec: record.codec };
        let complete = AdvanceArgs {
            tuple: OwnerTuple { owner, operation, attempt: 3, revision: NOW },
            kind: AdvanceKind::Complete,
            transition: keys::name("complete"),
            digest: Some(token(4)),
            reason_given: false,
        };
        let family = Family::Idempotency;
        Self { family, settings: policy::default_settings(family), record, claim, complete, readable: [keys::name("http-1")] }
    }

    /// Half claims, half completes.
    fn call(&self, number: u32) -> Call<'_> {
        if number.is_multiple_of(2) { Call::Claim(&self.claim, &self.readable) } else { Call::Advance(&self.complete) }
    }

    fn decide(&self, who: &dyn Decide, number: u32) -> Result<(), CallError> {
        let call = self.call(number);
        black_box(who.decide(self.family, &self.settings, Some(&self.record), call, NOW + u64::from(number % 1_000))?);
        Ok(())
    }

    fn items(&self) -> Vec<(Option<&Record>, Item)> {
        (0..BATCH)
            .map(|number| {
                let item = if number.is_multiple_of(2) { Item::Claim(self.claim) } else { Item::Advance(self.complete) };
                (Some(&self.record), item)
            })
            .collect()
    }
}

fn timed(count: u32, mut call: impl FnMut(u32) -> Result<(), CallError>) -> Result<f64, CallError> {
    let begun = Instant::now();
    for number in 0..count {
        call(number)?;
    }
    Ok(nanoseconds(begun.elapsed(), count))
}

pub(super) fn measure(rounds: u32) -> Result<Vec<Figure>, CliError> {
    let begun = Instant::now();
    let component = Component::built_in(&open::code_cache())?;
    let load = begun.elapsed().as_secs_f64() * 1e3;
    let case = Case::new();
    let items = case.items();
    let (mut native, mut through, mut nothing, mut batch) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut typed, mut typed_batch) = (Vec::new(), Vec::new());
    let batches = CALLS / u32::try_from(BATCH).unwrap_or(CALLS);
    for round in 0..=rounds {
        let one = [
            timed(CALLS, |number| case.decide(&Native, number))?,
            timed(CALLS, |number| case.decide(&component, number))?,
            timed(CALLS, |_| {
                component.contract_version().map(|version| {
                    black_box(version);
                })
            })?,
            timed(batches, |_| {
                black_box(component.batch(case.family, &case.settings, &items, &case.readable, NOW)?);
                Ok(())
            })? / BATCH as f64,
            timed(CALLS, |number| {
                black_box(component.decide_typed(case.family, &case.settings, Some(&case.record), case.call(number), NOW)?);
                Ok(())
            })?,
            timed(batches, |_| {
                black_box(component.batch_typed(case.family, &case.settings, &items, &case.readable, NOW)?);
                Ok(())
            })? / BATCH as f64,
        ];
        // The first round warms up.
        if round > 0 {
            for (rounds, value) in
                [&mut native, &mut through, &mut nothing, &mut batch, &mut typed, &mut typed_batch].into_iter().zip(one)
            {
                rounds.push(value);
            }
        }
    }
    let before = resident_kib();
    timed(MEMORY_CALLS, |number| case.decide(&component, number))?;
    let grown = resident_kib().zip(before).map(|(after, before)| after - before);
    let mut figures = vec![
        Figure::of("a decision, natively", &native, "ns", None),
        Figure::of("a call of the component that does nothing", &nothing, "ns", None),
        Figure::of("a decision, through the component", &through, "ns", Some("at most 500")),
        Figure::of("a decision in a batch of 256", &batch, "ns", Some("at most 150")),
        Figure::of("a decision, through the typed records", &typed, "ns", None),
        Figure::of("a decision in a batch of 256, typed", &typed_batch, "ns", None),
        Figure::of("loading the component", &[load], "ms", None),
    ];
    if let Some(grown) = grown {
        figures.push(Figure::of("memory grown over 10^6 decisions", &[grown], "KiB", Some("flat")));
    }
    Ok(figures)
}

/// This process's resident memory, where the system tells it.
fn resident_kib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
