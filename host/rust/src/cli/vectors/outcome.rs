//! An outcome as JSON, in the member names of section 7 of the contract.
//!
//! What the packed form answers comes from the decisions' own writer; this is for the typed form. Tests: every vector, by which
//! the two are held against each other.

use leasehold_decision::packed::Request;
use leasehold_decision::{Applied, Grant, Outcome, Reason, Row, Token, keys};
use serde_json::{Map, Value, json};

/// The members of an outcome. `before` is the record that was decided on.
pub(super) fn members(outcome: &Outcome, request: &Request, before: Option<&Row>) -> Map<String, Value> {
    let codec = before.and_then(|row| row.codec.as_deref());
    let reason = |reason: Reason| reason.text(before.and_then(|row| row.reason.as_deref()), request.call.texts().reason);
    let rest = match outcome {
        Outcome::Acquired(grant)
        | Outcome::TakenOver(grant)
        | Outcome::ReplayedAcquire(grant)
        | Outcome::ClaimedSameOperation(grant)
        | Outcome::ExecutingSameOperation(grant) => granted(grant),
        Outcome::InProgress(at) | Outcome::RetryLater(at) => json!({ "retry-at": at }),
        Outcome::RecoveryRequired(recovery) => {
            json!({ "attempt": recovery.attempt, "revision": recovery.revision, "reason": reason(recovery.reason) })
        }
        Outcome::CompletedReplay(replay) => {
            json!({ "result-digest": replay.result_digest.map(hex), "codec": codec, "expires-at": replay.expires_at })
        }
        Outcome::CodecUnreadable => json!({ "codec": codec }),
        Outcome::Retryable(retryable) => json!({ "attempt": retryable.attempt, "retry-at": retryable.retry_at }),
        Outcome::Applied(applied) | Outcome::AlreadyApplied(applied) => moved(applied),
        Outcome::StaleRevision(revision) | Outcome::Released(revision) | Outcome::Resolved(revision) => {
            json!({ "revision": revision })
        }
        Outcome::InvalidState(state) => json!({ "state": state.name() }),
        Outcome::CorruptRecord(corruption) => json!({ "detail": corruption.message() }),
        Outcome::InvalidSettings(fault) => json!({ "detail": fault.message() }),
        Outcome::FingerprintMismatch
        | Outcome::OperationConflict
        | Outcome::Missing
        | Outcome::NotOwner
        | Outcome::TransitionConflict
        | Outcome::ExecutionStarted => json!({}),
    };
    let mut members = rest.as_object().cloned().unwrap_or_default();
    members.insert("kind".to_owned(), outcome.kind().into());
    members
}

fn granted(grant: &Grant) -> Value {
    json!({ "attempt": grant.attempt, "revision": grant.revision, "lease-until": grant.lease_until })
}

fn moved(applied: &Applied) -> Value {
    json!({ "state": applied.state.name(), "revision": applied.revision, "lease-until": applied.lease_until })
}

fn hex(token: Token) -> String {
    token.words().into_iter().map(|word| keys::hex(&word.to_be_bytes())).collect()
}
