//! The bridge as a reverse proxy: the layer, around the way to one upstream. A request that is not protected and whose upstream gives
//! no answer gets a problem document like any other.
//!
//! Tests: `tests/tests/bridge/`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{Request, Response};
use leasehold_decision::http::{Failure, Refusal};
use tower::{Layer as _, Service};

use super::forward::{Forward, ForwardError};
use super::layer::{Idempotency, IdempotencyLayer};
use super::problem::ProblemAnswer;

/// A reverse proxy whose protected requests have one effect.
#[derive(Clone, Debug)]
pub struct Proxy {
    inner: Idempotency<Forward>,
}

impl Proxy {
    /// In front of an upstream.
    #[must_use]
    pub fn new(layer: &IdempotencyLayer, forward: Forward) -> Self {
        Self { inner: layer.layer(forward) }
    }
}

impl Service<Request<Body>> for Proxy {
    type Response = Response<Body>;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match self.inner.poll_ready(context) {
            Poll::Pending => Poll::Pending,
            // An upstream that cannot be reached is told to the one who asks.
            Poll::Ready(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answered = self.inner.call(request);
        Box::pin(async move { Ok(answered.await.unwrap_or_else(|error| unanswered(&error))) })
    }
}

/// For a request that was passed through: nothing is recorded of it, so there is no reference.
fn unanswered(error: &ForwardError) -> Response<Body> {
    tracing::warn!(%error, "the upstream gave no answer to a request that was passed through");
    let refusal = match error.failure() {
        Failure::NeverReached => Refusal::UpstreamUnreachable,
        Failure::Broke => Refusal::UpstreamBroke,
        Failure::Silent => Refusal::UpstreamSilent,
    };
    ProblemAnswer::new(refusal).into_response()
}
