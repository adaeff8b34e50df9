//! release: the holder of a tuple gives its try back, unspent. The arms stand in the order of section 2 of the contract.
//!
//! Tests: `guest/src/tests/release.rs`, one an outcome; the vectors; the model in the workspace's `tests/`.

use crate::advance::failed;
use crate::outcome::{Applied, Decision, Next, Outcome, StatementName, precheck};
use crate::record::{ATTEMPT_LIMIT_MAX, Family, OwnerTuple, Reason, Record, Settings, State, Token, TransitionKind};

/// What a release call gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReleaseArgs {
    /// The handle's tuple.
    pub tuple: OwnerTuple,
    /// Packed id, drawn at random for this transition before it is sent.
    pub transition: Token,
}

/// Decides a release. Does not look at expiry.
#[must_use]
pub fn release(family: Family, settings: &Settings, before: Option<&Record>, args: &ReleaseArgs, now: u64) -> Decision {
    if let Some(outcome) = precheck(family, settings, before) {
        return Decision::only(outcome);
    }
    let Some(record) = before else {
        return Decision::only(Outcome::Missing);
    };
    let tuple = &args.tuple;
    if record.owner != Some(tuple.owner) || record.attempt != tuple.attempt || record.operation != Some(tuple.operation) {
        return Decision::only(Outcome::NotOwner);
    }
    if let Some(last) = record.transition.as_ref().filter(|last| last.id == args.transition) {
        return Decision::only(match last.kind {
            TransitionKind::Release => Outcome::AlreadyApplied(Applied::of(record)),
            TransitionKind::Start
            | TransitionKind::Renew
            | TransitionKind::Complete
            | TransitionKind::Fail
            | TransitionKind::Abandon
            | TransitionKind::ResolveCompleted
            | TransitionKind::ResolveNoEffect
            | TransitionKind::ResolveForget => Outcome::TransitionConflict,
        });
    }
    match record.state {
        State::Executing => Decision::only(Outcome::ExecutionStarted),
        State::Pending | State::Completed | State::FailedRetryable | State::Abandoned => Decision::only(Outcome::OperationConflict),
        State::Claimed if record.revision != tuple.revision => Decision::only(Outcome::StaleRevision(record.revision)),
        State::Claimed => {
            let base = Next {
                attempt_limit: record.attempt_limit.saturating_add(1).min(ATTEMPT_LIMIT_MAX.max(record.attempt_limit)),
                transition_kind: Some(TransitionKind::Release),
                ..Next::of(record, settings)
            };
            let next = failed(family, settings, record, now, Reason::Released, base);
            Decision::with(Outcome::Released(next.revision), StatementName::Release, next)
        }
    }
}
