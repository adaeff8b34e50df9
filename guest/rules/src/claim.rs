//! claim: may this caller have the record? The arms stand in the order of section 2 of the contract.
//!
//! Tests: `guest/src/tests/claim.rs`, one an outcome; the vectors; the model in the workspace's `tests/`.

use crate::outcome::{Decision, Grant, Next, Outcome, Recovery, Replay, StatementName, precheck};
use crate::record::{FIRST_REVISION_MAX, Family, Reason, Record, Settings, State, Token, later};

/// What a claim call gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimArgs {
    /// Drawn for this claim call before it is sent, kept for its repeats.
    pub owner: Token,
    /// Packed id of the claim call.
    pub operation: Token,
    /// Keyed hash of the payload.
    pub fingerprint: Option<Token>,
    /// Packed name of the codec in which the result would be stored.
    pub codec: Option<Token>,
}

/// Decides a claim.
#[must_use]
pub fn claim(
    family: Family,
    settings: &Settings,
    before: Option<&Record>,
    args: &ClaimArgs,
    readable_codecs: &[Token],
    now: u64,
) -> Decision {
    if let Some(outcome) = precheck(family, settings, before) {
        return Decision::only(outcome);
    }
    let Some(record) = before else {
        return first_life(family, settings, None, now);
    };
    if record.is_expired(now) {
        return first_life(family, settings, Some(record), now);
    }
    if record.fingerprint != args.fingerprint {
        return Decision::only(Outcome::FingerprintMismatch);
    }
    let own = record.owner == Some(args.owner);
    match record.state {
        State::Completed => replay(record, readable_codecs),
        State::Abandoned => Decision::only(Outcome::RecoveryRequired(Recovery {
            attempt: record.attempt,
            revision: record.revision,
            reason: Reason::AsStored,
        })),
        State::FailedRetryable if own => Decision::only(Outcome::OperationConflict),
        State::Claimed | State::Executing if own => repeated(settings, record, args, now),
        State::Pending | State::FailedRetryable => match record.retry_ahead(now) {
            Some(retry_at) => Decision::only(Outcome::RetryLater(retry_at)),
            None => take_over_or_bury(settings, record, now),
        },
        State::Claimed | State::Executing if !record.is_lease_over(now) => {
            Decision::only(Outcome::InProgress(record.lease_until.unwrap_or(now)))
        }
        State::Executing => bury(settings, record, Reason::ExecutionLeaseExpired),
        State::Claimed => take_over_or_bury(settings, record, now),
    }
}

/// Lines 1 and 2: there is no record, or its life is over.
fn first_life(family: Family, settings: &Settings, expired: Option<&Record>, now: u64) -> Decision {
    if family.is_queue() {
        return Decision::only(Outcome::Missing);
    }
    let (statement, revision) = match expired {
        None => (StatementName::Insert, now.clamp(1, FIRST_REVISION_MAX)),
        Some(record) => (StatementName::Rebirth, record.revision.saturating_add(1)),
    };
    let lease_until = later(now, settings.lease);
    let next = Next {
        state: State::Claimed,
        attempt: 1,
        attempt_limit: settings.pinned_limit(),
        revision,
        policy_revision: settings.revision,
        lease_until: Some(lease_until),
        retry_at: None,
        expires_at: None,
        reason: Reason::None,
        transition_kind: None,
    };
    Decision::with(Outcome::Acquired(Grant { attempt: 1, revision, lease_until }), statement, next)
}

/// Line 4: it happened.
fn replay(record: &Record, readable_codecs: &[Token]) -> Decision {
    match record.codec {
        Some(codec) if !readable_codecs.contains(&codec) => Decision::only(Outcome::CodecUnreadable),
        Some(_) | None => {
            Decision::only(Outcome::CompletedReplay(Replay { result_digest: record.result_digest, expires_at: record.expires_at }))
        }
    }
}

/// Line 6, for a record that is held: the caller's own claim, sent again. An execution of one's own whose lease is over falls
/// through to line 9.
fn repeated(settings: &Settings, record: &Record, args: &ClaimArgs, now: u64) -> Decision {
    if record.operation != Some(args.operation) {
        return Decision::only(Outcome::OperationConflict);
    }
    let running = record.lease_until.filter(|at| *at > now);
    let grant = |revision, lease_until| Grant { attempt: record.attempt, revision, lease_until };
    match (record.state, running) {
        (State::Executing, Some(lease_until)) => {
            Decision::only(Outcome::ExecutingSameOperation(grant(record.revision, lease_until)))
        }
        (State::Executing, None) => bury(settings, record, Reason::ExecutionLeaseExpired),
        (State::Pending | State::Claimed | State::Completed | State::FailedRetryable | State::Abandoned, Some(lease_until)) => {
            Decision::only(Outcome::ReplayedAcquire(grant(record.revision, lease_until)))
        }
        (State::Pending | State::Claimed | State::Completed | State::FailedRetryable | State::Abandoned, None) => {
            let lease_until = later(now, settings.lease);
            let next = Next { lease_until: Some(lease_until), ..Next::of(record, settings) };
            Decision::with(Outcome::ReplayedAcquire(grant(next.revision, lease_until)), StatementName::Relet, next)
        }
    }
}

/// Lines 7 and 10: within the budget a new try, beyond it the end.
fn take_over_or_bury(settings: &Settings, record: &Record, now: u64) -> Decision {
    if record.attempt >= record.attempt_limit {
        return bury(settings, record, Reason::AttemptsExhausted);
    }
    let lease_until = later(now, settings.lease);
    let next = Next {
        state: State::Claimed,
        attempt: record.attempt.saturating_add(1),
        lease_until: Some(lease_until),
        retry_at: None,
        expires_at: None,
        reason: Reason::None,
        ..Next::of(record, settings)
    };
    let grant = Grant { attempt: next.attempt, revision: next.revision, lease_until };
    let outcome = match record.state {
        State::Pending => Outcome::Acquired(grant),
        State::Claimed | State::Executing | State::Completed | State::FailedRetryable | State::Abandoned => {
            Outcome::TakenOver(grant)
        }
    };
    Decision::with(outcome, StatementName::Takeover, next)
}

fn bury(settings: &Settings, record: &Record, reason: Reason) -> Decision {
    let next =
        Next { state: State::Abandoned, lease_until: None, retry_at: None, expires_at: None, reason, ..Next::of(record, settings) };
    let recovery = Recovery { attempt: record.attempt, revision: next.revision, reason };
    Decision::with(Outcome::RecoveryRequired(recovery), StatementName::Bury, next)
}
