//! The bridge as a tower layer: around a service of one's own, or around [`super::forward::Forward`], which makes it a proxy.
//!
//! What is not protected passes through untouched. Knows no store. Tests: `tests/tests/bridge/` (`layer.rs` and others).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{Request, Response};
use tower::{Layer, Service, ServiceExt as _};

use super::flow::{Flow, Verdict};
use super::forward::BoxError;
use super::metrics::BridgeMetrics;
use super::settings::BridgeSettings;
use crate::host::Leasehold;

/// Makes services idempotent.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use leasehold::bridge::{BridgeSettings, IdempotencyLayer, RouteSettings};
/// use leasehold::{Family, HostOptions, Leasehold};
///
/// let host = Leasehold::open(HostOptions::new("sqlite:leasehold.db".parse()?)).await?;
/// let settings = BridgeSettings::new(RouteSettings::new(host.settings(Family::Idempotency)), Vec::new());
/// let layer = IdempotencyLayer::new(host, settings);
/// let app: axum::Router = axum::Router::new().route("/charges", axum::routing::post(|| async { "charged" })).layer(layer);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct IdempotencyLayer {
    flow: Arc<Flow>,
}

impl IdempotencyLayer {
    /// For a host, which must have secrets.
    #[must_use]
    pub fn new(host: Leasehold, settings: BridgeSettings) -> Self {
        Self { flow: Arc::new(Flow::new(host, settings, BridgeMetrics::default())) }
    }

    /// What is counted.
    #[must_use]
    pub fn metrics(&self) -> &BridgeMetrics {
        self.flow.metrics()
    }
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = Idempotency<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Idempotency { flow: Arc::clone(&self.flow), inner }
    }
}

/// A service whose protected requests have one effect.
#[derive(Clone, Debug)]
pub struct Idempotency<S> {
    flow: Arc<Flow>,
    inner: S,
}

impl<S> Service<Request<Body>> for Idempotency<S>
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // The service that was made ready is the one that is called; its clone stays behind (see tower's Service::call).
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let flow = Arc::clone(&self.flow);
        Box::pin(async move {
            match flow.look_at(request).await {
                Verdict::PassThrough(request) => inner.call(request).await,
                Verdict::Answer(answer) => Ok(answer),
                Verdict::Protect(protected) => {
                    let send = move |request| {
                        let sent: super::flow::Sending =
                            Box::pin(
                                async move { inner.ready().await.map_err(Into::into)?.call(request).await.map_err(Into::into) },
                            );
                        sent
                    };
                    Ok(flow.run(*protected, Box::new(send)).await)
                }
            }
        })
    }
}
