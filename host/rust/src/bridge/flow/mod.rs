//! The way of one protected request: look, claim, start, send, keep, answer. Source: section 6 of the contract.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`intake`] | which requests are protected; key, principal and body |
//! | [`answer`] | what an outcome other than a grant is answered with |
//! | [`execute`] | the upstream's part, in a task of its own |
//! | [`pump`] | the answer's body: to the client, and a copy for the store |
//!
//! Which status counts as what, what a key is, and what a problem says are rules of the component. Knows no transport: sending is a
//! function that it gets. Tests: `tests/tests/bridge/`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use http::{Request, Response};
use leasehold_decision::http::Refusal;
use leasehold_decision::{Family, Outcome};
use tokio::sync::oneshot;

use super::envelope::CODEC;
use super::forward::BoxError;
use super::metrics::BridgeMetrics;
use super::problem::ProblemAnswer;
use super::settings::BridgeSettings;
use crate::executor::claim::{ClaimAnswer, ClaimRequest, Key};
use crate::host::Leasehold;

mod answer;
mod execute;
mod intake;
mod pump;

pub(super) use intake::{Protected, Verdict};

/// The first pause of a duplicate that waits for the first one's answer; each further one is twice as long.
const WAIT_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const WAIT_PAUSE_MAX: Duration = Duration::from_millis(250);

/// A request on its way to the upstream.
pub(super) type Sending = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;
/// Sends a request to the upstream.
pub(super) type Sender = Box<dyn FnOnce(Request<Body>) -> Sending + Send>;

/// What every request shares.
pub(super) struct Flow {
    host: Leasehold,
    settings: BridgeSettings,
    metrics: BridgeMetrics,
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flow").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Flow {
    pub(super) const fn new(host: Leasehold, settings: BridgeSettings, metrics: BridgeMetrics) -> Self {
        Self { host, settings, metrics }
    }

    pub(super) const fn metrics(&self) -> &BridgeMetrics {
        &self.metrics
    }

    /// Runs a protected request in a task of its own: a client that hangs up does not stop it. The answer comes as soon as its head
    /// may go out; the task goes on behind it.
    pub(super) async fn run(self: Arc<Self>, protected: Protected, send: Sender) -> Response<Body> {
        let tasks = self.host.inner.tasks.clone();
        if tasks.is_closed() {
            return answer::refuse(ProblemAnswer::new(Refusal::StoreUnavailable).detail("This server is shutting down."));
        }
        let begun = Instant::now();
        let (answer_to, answered) = oneshot::channel();
        let flow = Arc::clone(&self);
        tasks.spawn(async move { flow.protect(protected, send, answer_to).await });
        let answer = answered.await.unwrap_or_else(|_| {
            // The task ended without an answer: it panicked, or the runtime is being torn down. Whether something was sent, nobody knows.
            answer::refuse(
                ProblemAnswer::new(Refusal::UpstreamBroke).detail("The request's task ended; look in the recovery list."),
            )
        });
        self.metrics.request_took(begun.elapsed());
        answer
    }

    async fn protect(self: Arc<Self>, protected: Protected, send: Sender, answer_to: oneshot::Sender<Response<Body>>) {
        let claimed = match self.claim(&protected).await {
            Ok(claimed) => claimed,
            Err(answer) => {
                let _ = answer_to.send(*answer);
                return;
            }
        };
        match claimed.start().await {
            Ok(started) => self.execute(protected, started, send, answer_to).await,
            Err(error) => {
                let _ = answer_to.send(self.start_failed(&protected, &error));
            }
        }
    }

    /// Claims, and waits for the first one's answer as long as the route says.
    async fn claim(&self, protected: &Protected) -> Result<crate::Claimed, Box<Response<Body>>> {
        let until = Instant::now().checked_add(protected.route.wait);
        let mut pause = WAIT_PAUSE;
        loop {
            let request = ClaimRequest {
                codec: Some(CODEC.to_owned()),
                readable_codecs: vec![CODEC.to_owned()],
                settings: Some(protected.route.record),
                ..ClaimRequest::new(Family::Idempotency, Key::Keyed(protected.keyed.clone()))
            };
            let answered = match self.host.claim(request).await {
                Ok(ClaimAnswer::Held(claimed)) => return Ok(claimed),
                Ok(ClaimAnswer::Answered(answered)) => answered,
                Err(error) => return Err(Box::new(self.claim_failed(&error))),
            };
            let left = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
            let worth_waiting = matches!(answered.settled.outcome, Outcome::InProgress(_) | Outcome::RetryLater(_));
            if !worth_waiting || left.is_zero() {
                return Err(Box::new(self.answer(protected, &answered)));
            }
            tokio::time::sleep(pause.min(left)).await;
            pause = pause.saturating_mul(2).min(WAIT_PAUSE_MAX);
        }
    }
}
