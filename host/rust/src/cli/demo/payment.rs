//! A small payment API: `POST /v1/charges {"order","amount"}` charges, each time, whatever was charged before.
//!
//! It knows no keys, and it can be told to misbehave: to keep its answer back, or to die before or after the charge.

use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::post;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{Request, Response, StatusCode};
use serde::Deserialize;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::error::DemoError;
use super::ledger::{Charge, Ledger};
use super::stage::Order;
use crate::bridge::listen::Listener;

/// What a card network takes to answer.
const CARD_NETWORK: Duration = Duration::from_millis(150);
/// How long requests under way may take at the end.
const GRACE: Duration = Duration::from_secs(1);

/// What becomes of one request for a charge.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// The card is charged; the answer is kept back until this is cancelled.
    ChargeAndHold(CancellationToken),
    /// The card is charged; the connection is closed without an answer.
    ChargeAndDie,
    /// The connection is closed before anything was charged.
    Die,
}

/// A request for a charge.
#[derive(Deserialize)]
struct Wish {
    order: String,
    amount: u64,
}

#[derive(Debug)]
struct Desk {
    ledger: Ledger,
    /// What becomes of the next requests for an order; without an entry they are charged and answered.
    acts: Mutex<HashMap<String, VecDeque<Act>>>,
    /// What has reached the card network.
    charging: TaskTracker,
}

/// The API, on a port of its own, until it is dropped.
#[derive(Debug)]
pub(super) struct PaymentApi {
    address: SocketAddr,
    desk: Arc<Desk>,
    _stop: DropGuard,
}

impl PaymentApi {
    pub(super) async fn open(ledger: Ledger) -> Result<Self, DemoError> {
        let desk = Arc::new(Desk { ledger, acts: Mutex::default(), charging: TaskTracker::new() });
        let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into(), None).await?;
        let (address, stop) = (listener.local_addr(), CancellationToken::new());
        let router = Router::new().route("/v1/charges", post(charge)).with_state(Arc::clone(&desk));
        let service = tower::service_fn(move |request: Request<Body>| answer(router.clone(), request));
        let serving = listener.serve(service, stop.clone(), GRACE);
        tokio::spawn(async move { serving.await.cut });
        Ok(Self { address, desk, _stop: stop.drop_guard() })
    }

    /// Where it listens, as a URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until all that has reached it is in the ledger.
    pub(super) async fn close(&self) {
        self.desk.charging.close();
        self.desk.charging.wait().await;
    }

    /// What becomes of the next request for this order.
    pub(super) fn next(&self, order: &Order, act: Act) {
        let mut acts = self.desk.acts.lock().unwrap_or_else(PoisonError::into_inner);
        acts.entry(order.name.clone()).or_default().push_back(act);
    }
}

impl Desk {
    async fn charge(self: Arc<Self>, wish: Wish) -> Option<Charge> {
        tokio::time::sleep(CARD_NETWORK).await;
        let booked = tokio::task::spawn_blocking(move || self.ledger.charge(&wish.order, wish.amount));
        booked.await.ok()?.ok()
    }

    fn act(&self, order: &str) -> Option<Act> {
        let mut acts = self.acts.lock().unwrap_or_else(PoisonError::into_inner);
        acts.get_mut(order).and_then(VecDeque::pop_front)
    }
}

/// An answer that is never sent: its connection is closed instead.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the payment API died")]
struct Died;

async fn answer(router: Router, request: Request<Body>) -> Result<Response<Body>, Died> {
    match router.oneshot(request).await {
        Ok(response) => response.extensions().get::<Died>().copied().map_or(Ok(response), Err),
        Err(never) => match never {},
    }
}

fn died() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(Died);
    response
}

async fn charge(State(desk): State<Arc<Desk>>, body: Bytes) -> Response<Body> {
    let Ok(wish) = serde_json::from_slice::<Wish>(&body) else {
        return said(StatusCode::BAD_REQUEST, br#"{"error":"order and amount are needed"}"#.to_vec());
    };
    let act = desk.act(&wish.order);
    if matches!(act, Some(Act::Die)) {
        return died();
    }
    // In a task of its own: who hangs up does not get the money back.
    let charging = desk.charging.spawn(Arc::clone(&desk).charge(wish));
    let Ok(Some(charge)) = charging.await else {
        return said(StatusCode::INTERNAL_SERVER_ERROR, br#"{"error":"the ledger cannot be written"}"#.to_vec());
    };
    match act {
        Some(Act::ChargeAndDie | Act::Die) => died(),
        Some(Act::ChargeAndHold(gate)) => {
            gate.cancelled().await;
            charged(&charge)
        }
        None => charged(&charge),
    }
}

/// The answer to a charge, made from its line in the ledger alone.
pub(super) fn charged(charge: &Charge) -> Response<Body> {
    let mut response = said(StatusCode::CREATED, charge_body(charge));
    if let Ok(location) = format!("/v1/charges/{}", charge.charge).parse() {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// The body of that answer.
pub(super) fn charge_body(charge: &Charge) -> Vec<u8> {
    // INVARIANT: three strings and a number are always JSON.
    serde_json::to_vec(charge).unwrap_or_default()
}

fn said(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
