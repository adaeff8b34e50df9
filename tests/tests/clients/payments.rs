//! The upstream: charges whatever it is asked to, notes it in its ledger, and goes wrong as it is told.
//!
//! Knows no bridge; it takes a key only to write it down.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http::Response;
use leasehold_tests::upstream::{Asked, Gate, Played, Upstream, answer};
use leasehold_tests::wait::eventually;

/// How a request ends; without one it is charged and answered.
#[derive(Clone, Debug)]
pub enum Act {
    /// Nothing is charged: 503, to come again in so many seconds.
    Busy(u16),
    /// Charged; the answer is kept back until the gate is open.
    Hold(Gate),
    /// Charged; the connection ends without an answer.
    Die,
}

/// The keys of what was charged, in order.
type Ledger = Arc<Mutex<Vec<String>>>;

/// The API.
#[derive(Debug)]
pub struct Payments {
    /// Where.
    pub address: SocketAddr,
    ledger: Ledger,
}

impl Payments {
    /// One whose first requests end so.
    pub async fn open(acts: impl IntoIterator<Item = Act>) -> Self {
        let (acts, ledger) = (Mutex::new(acts.into_iter().collect::<VecDeque<_>>()), Ledger::default());
        let book = Arc::clone(&ledger);
        let upstream = Upstream::start(move |asked| {
            let act = acts.lock().expect("no test panics here").pop_front();
            play(act, asked, Arc::clone(&book))
        })
        .await;
        Self { address: upstream.address, ledger }
    }

    /// What was charged.
    pub fn charged(&self) -> Vec<String> {
        self.ledger.lock().expect("no test panics here").clone()
    }

    /// Waits until something was charged.
    pub async fn has_charged(&self) {
        eventually("a charge", async || (!self.charged().is_empty()).then_some(())).await;
    }
}

async fn play(act: Option<Act>, asked: Asked, ledger: Ledger) -> Played {
    if let Some(Act::Busy(seconds)) = act {
        let busy = Response::builder().status(503).header("retry-after", seconds);
        return Ok(busy.body(Body::from("busy")).expect("an answer"));
    }
    let number = {
        let mut ledger = ledger.lock().expect("no test panics here");
        ledger.push(asked.header("idempotency-key").trim_matches('"').to_owned());
        ledger.len()
    };
    match act {
        Some(Act::Hold(gate)) => gate.pass().await,
        Some(Act::Die) => return Err("it died".into()),
        Some(Act::Busy(_)) | None => {}
    }
    Ok(answer(201, charge(number)))
}

/// The answer to the charge with this number.
pub fn charge(number: usize) -> String {
    format!("charge {number}")
}
