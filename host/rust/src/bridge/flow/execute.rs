//! The upstream's part: send, classify, end. Runs in the request's own task.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use leasehold_decision::http::{Effect, Failure, Refusal};
use tokio::sync::oneshot;

use super::answer::{reference, refuse};
use super::{Flow, Protected, Sender};
use crate::bridge::forward::{BoxError, ForwardError, ForwardLimits};
use crate::bridge::hop::remove_hop_by_hop;
use crate::bridge::metrics::refusal_name;
use crate::bridge::problem::ProblemAnswer;
use crate::executor::handle::{Started, Ticket};
use crate::executor::settle::{End, Settlement};

/// How long an answer is held back for its end to be stored, before it goes out all the same.
pub(super) const SETTLE_PATIENCE: Duration = Duration::from_secs(2);
/// The fencing token, for upstreams that check it: they refuse a lower one than the highest they have seen for the key.
pub(super) const FENCING_TOKEN: HeaderName = HeaderName::from_static("leasehold-fencing-token");
/// What to give to an operator, on an answer of the upstream's whose effect is unknown.
const REFERENCE: HeaderName = HeaderName::from_static("leasehold-reference");

impl Flow {
    pub(super) async fn execute(
        &self,
        protected: Protected,
        started: Started,
        send: Sender,
        answer_to: oneshot::Sender<Response<Body>>,
    ) {
        let ticket = started.ticket();
        let rules = protected.route.rules;
        let sent = match ticket.may_send() {
            Ok(()) => self.send(&protected, &ticket, send).await,
            Err(over) => Err(Fault { failure: Failure::NeverReached, reason: "LEASE_OVER", detail: over.to_string() }),
        };
        let answer = match sent {
            Ok(answer) => answer,
            Err(fault) => {
                let _ = answer_to.send(self.upstream_failed(started, &fault).await);
                return;
            }
        };
        let (status, retry_after) = (answer.status(), answer.headers().contains_key(RETRY_AFTER));
        let effect = self.host.component().classify_status(status.as_u16(), retry_after, rules).unwrap_or_else(|error| {
            tracing::error!(%error, "an answer could not be classified");
            Effect::Unknown
        });
        match effect {
            Effect::Success => self.keep_and_pass(&protected, started, answer, answer_to).await,
            Effect::NoEffect => {
                self.settle(started, End::NoEffect { reason: format!("UPSTREAM_{}", status.as_u16()) }, "no-effect").await;
                let _ = answer_to.send(answer);
            }
            Effect::Unknown => {
                let _ = answer_to.send(self.unknown(started, answer, status).await);
            }
        }
    }

    /// An answer whose effect is unknown goes to this caller as it is, with the reference.
    async fn unknown(&self, started: Started, mut answer: Response<Body>, status: StatusCode) -> Response<Body> {
        let reference = reference(started.scope());
        self.settle(started, End::EffectUnknown { reason: format!("UPSTREAM_{}", status.as_u16()) }, "effect-unknown").await;
        if let Ok(value) = HeaderValue::from_str(&reference) {
            answer.headers_mut().insert(REFERENCE, value);
        }
        answer
    }

    async fn send(&self, protected: &Protected, ticket: &Ticket, send: Sender) -> Result<Response<Body>, Fault> {
        let mut request = Request::from_parts(protected.parts.clone(), full(protected.body.clone()));
        // Here already, so that nothing is left that could name the token as one for this hop alone.
        remove_hop_by_hop(request.headers_mut());
        request.headers_mut().insert(FENCING_TOKEN, HeaderValue::from(ticket.fencing_token()));
        let timeout = protected.route.upstream_timeout;
        request
            .extensions_mut()
            .insert(ForwardLimits { answer_timeout: Some(timeout), send_before: Some(ticket.send_before().into()) });
        // A task of its own, so that a panic in a service of one's own ends it and nothing else.
        let sending = tokio::spawn(send(request));
        let stop = sending.abort_handle();
        match tokio::time::timeout(timeout.saturating_add(self.settings.connect_timeout()), sending).await {
            Ok(Ok(Ok(answer))) if answer.status().is_informational() => Err(Fault::not_final(answer.status())),
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(error))) => Err(Fault::of(&error)),
            Ok(Err(_)) => Err(Fault::panicked()),
            Err(_) => {
                stop.abort();
                Err(Fault { failure: Failure::Silent, reason: "UPSTREAM_SILENT", detail: "no answer in time".to_owned() })
            }
        }
    }

    /// No answer: what that counts as, and what this caller is told.
    pub(super) async fn upstream_failed(&self, started: Started, fault: &Fault) -> Response<Body> {
        let reference = reference(started.scope());
        let effect = self.host.component().classify_failure(fault.failure).unwrap_or(Effect::Unknown);
        tracing::warn!(reference, reason = fault.reason, detail = fault.detail, ?effect, "the upstream gave no answer");
        let refusal = match fault.failure {
            Failure::NeverReached => Refusal::UpstreamUnreachable,
            Failure::Broke => Refusal::UpstreamBroke,
            Failure::Silent => Refusal::UpstreamSilent,
        };
        let reason = fault.reason.to_owned();
        let end = match effect {
            Effect::NoEffect => End::NoEffect { reason },
            Effect::Success | Effect::Unknown => End::EffectUnknown { reason },
        };
        self.settle(started, end, refusal_name(refusal)).await;
        refuse(ProblemAnswer::new(refusal).reference(reference))
    }

    /// Ends the try, and counts the request: by what came of it where that is stored, else by why it is not.
    pub(super) async fn settle(&self, started: Started, end: End, came_of: &str) {
        match started.settle(end, SETTLE_PATIENCE).await {
            Settlement::Stored { .. } => self.metrics.count(came_of),
            Settlement::Late(_) => self.metrics.count("late"),
            Settlement::Pending => self.metrics.count("settle-pending"),
        }
    }
}

/// A body that is held whole; an empty one says so.
pub(super) fn full(bytes: Bytes) -> Body {
    if bytes.is_empty() { Body::empty() } else { Body::from(bytes) }
}

/// Why there is no answer.
pub(super) struct Fault {
    pub(super) failure: Failure,
    pub(super) reason: &'static str,
    pub(super) detail: String,
}

impl Fault {
    /// An error of the upstream's transport says how far the request came; any other one is taken as "it may have had an effect".
    /// What the others say stays out of the log: a service of one's own may put anything into its errors.
    fn of(error: &BoxError) -> Self {
        let Some(error) = error.downcast_ref::<ForwardError>() else {
            return Self { failure: Failure::Broke, reason: "SERVICE_FAILED", detail: "the service failed".to_owned() };
        };
        let failure = error.failure();
        let reason = match failure {
            Failure::NeverReached => "UPSTREAM_UNREACHABLE",
            Failure::Broke => "UPSTREAM_BROKE",
            Failure::Silent => "UPSTREAM_SILENT",
        };
        Self { failure, reason, detail: error.to_string() }
    }

    /// The message of a panic stays out of the log, too.
    pub(super) fn panicked() -> Self {
        Self { failure: Failure::Broke, reason: "SERVICE_PANICKED", detail: "the service panicked".to_owned() }
    }

    /// 1xx comes before an answer and is none: it could neither be sent as one nor be replayed.
    fn not_final(status: StatusCode) -> Self {
        let detail = format!("the service gave {} for an answer", status.as_u16());
        Self { failure: Failure::Broke, reason: "NO_FINAL_ANSWER", detail }
    }
}
