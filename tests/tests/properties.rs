//! Properties that hold on every random walk of many actors on one record, and broken decisions that must be noticed.

use leasehold_decision::packed::{Answer, Call, Request, answer};
use leasehold_decision::{AdvanceKind, Decision, State, StatementName};
use leasehold_tests::random::{first_seed, replay};
use leasehold_tests::walk::{Broken, Tally, walk};

const WALKS: u64 = 4_000;
const STEPS: usize = 120;
/// How often each statement must have changed a row.
const TIMES_MIN: u64 = 50;

/// Walks until something breaks.
fn explore(decide: &mut dyn FnMut(&Request) -> Answer, first: u64, walks: u64) -> Result<Tally, (u64, Broken)> {
    let mut tally = Tally::new();
    for seed in (0..walks).map(|number| first.wrapping_add(number)) {
        for (what, times) in walk(seed, STEPS, decide).map_err(|broken| (seed, broken))? {
            *tally.entry(what).or_default() += times;
        }
    }
    Ok(tally)
}

#[test]
fn nothing_that_must_not_happen_happens() {
    let tally = explore(&mut answer, first_seed(), WALKS).unwrap_or_else(|(seed, broken)| {
        panic!("{}\n  {}\n{}", broken.invariant, broken.trace.join("\n  "), replay(seed, "properties"));
    });
    let times = |what: &str| tally.get(what).copied().unwrap_or(0);
    for name in StatementName::ALL {
        assert!(times(&format!("statement {}", name.name())) >= TIMES_MIN, "{} is rare: {tally:#?}", name.name());
    }
    assert!(times("execution") >= TIMES_MIN && times("outcome already-applied") >= TIMES_MIN, "{tally:#?}");
}

/// Holds that a decision which is wrong in one respect is noticed, and as what.
#[track_caller]
fn noticed(expected: &str, mut broken: impl FnMut(&Request) -> Answer) {
    match explore(&mut broken, 1, WALKS) {
        Ok(_) => panic!("not noticed in {WALKS} walks: {expected}"),
        Err((_, broken)) => assert!(broken.invariant.contains(expected), "{broken:#?}"),
    }
}

/// The right answer to another question; the row keeps what the question was not about.
fn answer_to(request: &Request, change: impl FnOnce(&mut Request)) -> Answer {
    let mut other = request.clone();
    change(&mut other);
    answer(&other)
}

fn rows_state(request: &Request) -> Option<State> {
    request.before.as_ref().map(|row| row.state)
}

#[test]
fn an_execution_that_is_taken_over_is_noticed() {
    noticed("granted while an execution may have had its effect", |request| {
        answer_to(request, |request| {
            if let (Call::Claim { .. }, Some(State::Executing)) = (&request.call, rows_state(request)) {
                request.before.iter_mut().for_each(|row| row.state = State::Claimed);
            }
        })
    });
}

#[test]
fn a_budget_that_is_ignored_is_noticed() {
    noticed("past the limit", |request| {
        let mut answer = answer_to(request, |request| {
            if let Call::Claim { .. } = request.call {
                request.before.iter_mut().for_each(|row| row.attempt_limit = 100);
            }
        });
        if let (Call::Claim { .. }, Some(before), Some(after)) = (&request.call, &request.before, &mut answer.after) {
            after.attempt_limit = if after.attempt_limit == 100 { before.attempt_limit } else { after.attempt_limit };
        }
        answer
    });
}

#[test]
fn a_stale_tuple_that_is_accepted_is_noticed() {
    noticed("a write on a stale tuple is accepted", |request| {
        answer_to(request, |request| {
            if let (Call::Advance { tuple, .. }, Some(row)) = (&mut request.call, &request.before) {
                tuple.revision = row.revision;
            }
        })
    });
    noticed("a write on a stale tuple is accepted", |request| {
        answer_to(request, |request| {
            if let (Call::Advance { tuple, .. }, Some(row)) = (&mut request.call, &request.before) {
                tuple.owner = row.owner.clone().unwrap_or_default();
                tuple.operation = row.operation.clone().unwrap_or_default();
                (tuple.attempt, tuple.revision) = (row.attempt, row.revision);
            }
        })
    });
}

#[test]
fn a_revision_that_stays_is_noticed() {
    noticed("the revision goes from", |request| {
        let mut answer = answer(request);
        if let (Call::Advance { kind: AdvanceKind::Renew, .. }, Some(before), Some(after)) =
            (&request.call, &request.before, &mut answer.after)
        {
            after.revision = before.revision;
        }
        answer
    });
}

#[test]
fn an_attempt_that_falls_is_noticed() {
    noticed("the attempt falls from ", |request| {
        let mut answer = answer(request);
        if let (Call::Release { .. }, Some(after)) = (&request.call, &mut answer.after) {
            after.attempt = after.attempt.saturating_sub(1).max(1);
        }
        answer
    });
}

#[test]
fn an_abandoned_record_that_is_taken_over_is_noticed() {
    noticed("abandoned is left without a verdict", |request| {
        answer_to(request, |request| {
            if let (Call::Claim { .. }, Some(State::Abandoned)) = (&request.call, rows_state(request)) {
                request.before.iter_mut().for_each(|row| {
                    (row.state, row.attempt_limit) = (State::FailedRetryable, row.attempt + 1);
                });
            }
        })
    });
}

#[test]
fn a_doubt_that_is_given_back_is_noticed() {
    noticed("granted while an execution may have had its effect", |request| {
        let mut answer = answer(request);
        if let (Call::Advance { kind: AdvanceKind::Abandon, .. }, Ok(Decision { write: Some(_), .. }), Some(after)) =
            (&request.call, &answer.decided, &mut answer.after)
            && rows_state(request) == Some(State::Executing)
        {
            after.state = State::Claimed;
            after.lease_until = Some(request.now + 10);
        }
        answer
    });
}
