//! What an outcome other than a grant is answered with.

use axum::body::Body;
use http::Response;
use leasehold_decision::Outcome;
use leasehold_decision::http::Refusal;

use super::{Flow, Protected};
use crate::Family;
use crate::bridge::envelope::{Body as StoredBody, StoredAnswer};
use crate::bridge::problem::ProblemAnswer;
use crate::cycle::CycleError;
use crate::executor::claim::{Answered, ClaimError};
use crate::executor::handle::StartError;
use crate::executor::recovery::Reference;
use crate::ids::{Digest, Scope};
use crate::keyring::KeyringError;
use crate::store::{StoreError, StoredRow};

pub(super) fn refuse(problem: ProblemAnswer) -> Response<Body> {
    problem.into_response()
}

/// What an operator finds the record by.
pub(super) fn reference(scope: &Scope) -> String {
    Reference { family: Family::Idempotency, scope: scope.clone() }.to_string()
}

impl Flow {
    /// The answer to a claim that gave no grant.
    pub(super) fn answer(&self, protected: &Protected, answered: &Answered) -> Response<Body> {
        let settled = &answered.settled;
        let reference = reference(&answered.scope);
        let outcome = &settled.outcome;
        self.metrics.count(outcome.kind());
        let retry_after = |at| {
            self.host
                .component()
                .retry_after(settled.now, at, protected.route.retry_after_max)
                .unwrap_or(protected.route.retry_after_max)
        };
        let problem = match outcome {
            Outcome::CompletedReplay(_) => return self.replay(settled.before.as_ref(), &reference),
            Outcome::CodecUnreadable => ProblemAnswer::new(Refusal::CodecUnreadable).reference(reference),
            Outcome::FingerprintMismatch => ProblemAnswer::new(Refusal::PayloadMismatch).detail(
                "Method, target, media type or body differ from the first request with this key. Use a new key for a new request.",
            ),
            Outcome::InProgress(at) => ProblemAnswer::new(Refusal::InProgress).retry_after(retry_after(*at)),
            Outcome::RetryLater(at) => ProblemAnswer::new(Refusal::RetryLater).retry_after(retry_after(*at)),
            Outcome::RecoveryRequired(_) => {
                let reason = settled.reason().unwrap_or("EFFECT_UNKNOWN");
                ProblemAnswer::new(Refusal::RecoveryRequired)
                    .detail(format!("An earlier try ended without a known effect ({reason}). Give the reference to an operator."))
                    .reference(reference)
            }
            // Not for a caller whose owner token was drawn a moment ago; busy is the honest answer all the same.
            Outcome::ExecutingSameOperation(grant) => {
                ProblemAnswer::new(Refusal::InProgress).retry_after(retry_after(grant.lease_until))
            }
            Outcome::OperationConflict => ProblemAnswer::new(Refusal::InProgress),
            other => {
                tracing::error!(outcome = other.kind(), reference, detail = ?other, "a claim had an outcome that cannot be served");
                ProblemAnswer::new(Refusal::Internal)
                    .detail(format!("The record cannot be served ({}). Give the reference to an operator.", other.kind()))
                    .reference(reference)
            }
        };
        refuse(problem)
    }

    /// The stored answer, checked against its digest.
    fn replay(&self, stored: Option<&StoredRow>, reference: &str) -> Response<Body> {
        let Some(bytes) = stored.and_then(|stored| stored.response.as_deref()) else {
            let problem = ProblemAnswer::new(Refusal::BodyNotKept)
                .detail("It was settled by a verdict, without an answer to replay.")
                .reference(reference);
            return refuse(problem);
        };
        let digest = stored.and_then(|stored| stored.row.result_digest.as_deref());
        if digest.is_some_and(|digest| digest != Digest::of(bytes).as_str()) {
            return self.damaged(reference, "its digest is another one");
        }
        match StoredAnswer::decode(bytes) {
            Ok(answer) => match (answer.replay(), &answer.body) {
                (Some(replay), _) => replay,
                (None, StoredBody::NotKept { .. } | StoredBody::Kept(_)) => refuse(
                    ProblemAnswer::new(Refusal::BodyNotKept)
                        .detail(format!(
                            "It was answered with status {}; the body was larger than what is kept.",
                            answer.status.as_u16()
                        ))
                        .original_status(answer.status.as_u16())
                        .reference(reference),
                ),
            },
            Err(error) => self.damaged(reference, &error.to_string()),
        }
    }

    fn damaged(&self, reference: &str, why: &str) -> Response<Body> {
        tracing::error!(reference, why, "a stored answer is damaged");
        self.metrics.count_refusal(Refusal::Internal);
        refuse(
            ProblemAnswer::new(Refusal::Internal)
                .detail("The stored answer is damaged. Give the reference to an operator.")
                .reference(reference),
        )
    }

    /// There is no outcome: nothing was started.
    pub(super) fn claim_failed(&self, error: &ClaimError) -> Response<Body> {
        let (refusal, detail) = match error {
            ClaimError::Cycle(error) => cycle_refusal(error),
            ClaimError::Keyring(KeyringError::Store(error)) => store_refusal(error),
            ClaimError::Keyring(KeyringError::Unknown(_) | KeyringError::Differs(_)) => {
                (Refusal::StoreUnavailable, "This server does not know a secret that the store was used with.")
            }
            ClaimError::Keyring(_) | ClaimError::Random(_) | ClaimError::NoSecrets => {
                (Refusal::Internal, "The key could not be made.")
            }
        };
        tracing::error!(%error, "a claim has no outcome");
        self.metrics.count_refusal(refusal);
        refuse(ProblemAnswer::new(refusal).detail(detail))
    }

    /// The start was not confirmed: the upstream is not called.
    pub(super) fn start_failed(&self, protected: &Protected, error: &StartError) -> Response<Body> {
        let problem = match error {
            StartError::Moved(outcome) => {
                tracing::warn!(outcome = outcome.kind(), "a record moved before its start");
                self.metrics.count_refusal(Refusal::InProgress);
                ProblemAnswer::new(Refusal::InProgress).retry_after(protected.route.retry_after_max)
            }
            StartError::Unconfirmed(error) => {
                tracing::error!(%error, "a start was not confirmed");
                let (refusal, detail) = cycle_refusal(error);
                self.metrics.count_refusal(refusal);
                ProblemAnswer::new(refusal).detail(detail)
            }
        };
        refuse(problem)
    }
}

const fn cycle_refusal(error: &CycleError) -> (Refusal, &'static str) {
    match error {
        CycleError::Store(error) => store_refusal(error),
        CycleError::Contended => (Refusal::Contended, "Try again."),
        CycleError::Indeterminate(_) => (Refusal::StoreUnavailable, "The store does not answer."),
        CycleError::Call(_) => (Refusal::Internal, "The decision component failed."),
    }
}

const fn store_refusal(error: &StoreError) -> (Refusal, &'static str) {
    match error {
        StoreError::Unavailable(_) => (Refusal::StoreUnavailable, "The store does not answer."),
        StoreError::Corrupt(_) => (Refusal::Internal, "The record is corrupt; an operator must repair it."),
        StoreError::Fault(_) => (Refusal::Internal, "The store failed."),
    }
}
