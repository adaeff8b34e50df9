//! `/health`, `/ready`, `/metrics`: on an address of their own, never on the public one.
//!
//! Tests: `tests/tests/bridge/admin.rs`.

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use leasehold_decision::Family;

use super::metrics::BridgeMetrics;
use crate::host::Leasehold;

/// The routes of the admin address.
pub fn router(host: Leasehold, metrics: BridgeMetrics) -> Router {
    Router::new()
        .route("/health", get(|| async { "ok\n" }))
        .route("/ready", get(ready))
        .route("/metrics", get(text))
        .with_state((host, metrics))
}

/// The store answers, and every version of the secrets is known.
async fn ready(State((host, _)): State<(Leasehold, BridgeMetrics)>) -> impl IntoResponse {
    match host.ready().await {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {error}\n")),
    }
}

async fn text(State((host, metrics)): State<(Leasehold, BridgeMetrics)>) -> impl IntoResponse {
    for family in Family::ALL {
        match host.store().waiting(family).await {
            Ok(records) => metrics.set_waiting(family.name(), records),
            Err(error) => tracing::warn!(family = family.name(), %error, "what waits for a verdict could not be counted"),
        }
    }
    metrics.set_late(host.late_ends());
    metrics.set_leases_lost(host.leases_lost());
    match metrics.text() {
        Ok(text) => (StatusCode::OK, [(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, [(CONTENT_TYPE, "text/plain")], String::new()),
    }
}
