//! inspect: what would a claim see? Never writes.
//!
//! Tests: `guest/src/tests/inspect.rs`, one an outcome; the vectors; the model in the workspace's `tests/`.

use crate::outcome::{Decision, Grant, Outcome, Recovery, Replay, Retryable, precheck};
use crate::record::{Family, Reason, Record, Settings, State, Token};

/// What an inspect call gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InspectArgs {
    /// The caller's owner token.
    pub owner: Token,
    /// Packed id of the caller's claim call.
    pub operation: Token,
    /// Keyed hash of the payload.
    pub fingerprint: Option<Token>,
}

/// Decides an inspection.
#[must_use]
pub fn inspect(family: Family, settings: &Settings, before: Option<&Record>, args: &InspectArgs, now: u64) -> Decision {
    if let Some(outcome) = precheck(family, settings, before) {
        return Decision::only(outcome);
    }
    Decision::only(look(before, args, now))
}

fn look(before: Option<&Record>, args: &InspectArgs, now: u64) -> Outcome {
    let Some(record) = before.filter(|record| !record.is_expired(now)) else {
        return Outcome::Missing;
    };
    if record.fingerprint != args.fingerprint {
        return Outcome::FingerprintMismatch;
    }
    let own = record.owner == Some(args.owner) && record.operation == Some(args.operation);
    // INVARIANT: a held record has a lease (checked before all else).
    let lease_until = record.lease_until.unwrap_or(now);
    let grant = Grant { attempt: record.attempt, revision: record.revision, lease_until };
    match record.state {
        State::Completed => Outcome::CompletedReplay(Replay { result_digest: record.result_digest, expires_at: record.expires_at }),
        State::Abandoned => {
            Outcome::RecoveryRequired(Recovery { attempt: record.attempt, revision: record.revision, reason: Reason::AsStored })
        }
        State::Pending | State::FailedRetryable => {
            Outcome::Retryable(Retryable { attempt: record.attempt, retry_at: record.retry_at })
        }
        State::Claimed if own => Outcome::ClaimedSameOperation(grant),
        State::Executing if own => Outcome::ExecutingSameOperation(grant),
        State::Claimed | State::Executing => Outcome::InProgress(lease_until),
    }
}
