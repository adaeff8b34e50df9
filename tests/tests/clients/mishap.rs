//! What goes wrong, and what must have come of it: one effect in the ledger, and its answer in the client's hands.

use std::net::SocketAddr;
use std::time::Duration;

use leasehold_tests::binary::leasehold;
use leasehold_tests::served::Served;
use leasehold_tests::upstream::Gate;
use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Call, Client, Held};
use crate::line::{Closed, Fault, Line};
use crate::payments::{Act, Payments, charge};

/// A try that is not given up: longer than anything takes on a busy machine.
const PATIENT: Duration = Duration::from_secs(50);
/// A try that is given up as long as the upstream keeps its answer back.
const HASTY: Duration = Duration::from_millis(700);
/// More than any client needs.
const RETRIES: u8 = 20;
/// What a client's timer may be early by.
const TIMER_GRAIN: Duration = Duration::from_millis(20);
const KEY: &str = "order-1";
const PAYLOAD: &str = r#"{"order":1,"amount":1999}"#;

fn call(line: &Line) -> Call {
    let url = format!("http://{}/v1/charges", line.address);
    Call { url, key: KEY.to_owned(), payload: PAYLOAD.to_owned(), timeout: PATIENT, retries: RETRIES }
}

/// The answer to the one charge, from the upstream itself or from the store.
fn charged_once(replayed: bool) -> Held {
    Held { status: 201, replayed, body: charge(1) }
}

/// The real one, on a file of its own.
async fn server(upstream: SocketAddr) -> (Served, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("leasehold.db");
    (Served::start(leasehold(), &file, upstream, &["--key", "required"]).await, folder)
}

/// Everything that a single client needs.
struct Scene {
    payments: Payments,
    line: Line,
    _server: (Served, TempDir),
}

impl Scene {
    async fn set(acts: impl IntoIterator<Item = Act>, fault: Fault) -> Self {
        let payments = Payments::open(acts).await;
        let server = server(payments.address).await;
        let line = Line::to(server.0.address, fault).await;
        Self { payments, line, _server: server }
    }

    /// One effect; the client came again when it was told to, and not before.
    #[track_caller]
    fn ends(&self, client: Client) {
        assert_eq!(self.payments.charged(), [KEY]);
        heeded(client, &self.line);
    }
}

#[track_caller]
fn heeded(client: Client, line: &Line) {
    for (answered, waited) in line.waits() {
        if let Some(told) = answered.retry_after.filter(|_| client.heeds_retry_after(answered.status)) {
            assert!(waited + TIMER_GRAIN >= told, "{client:?} came {waited:?} after {answered:?}");
        }
    }
}

/// 503 with Retry-After, once: nothing took effect, so the repetition does.
pub async fn busy(client: Client) {
    if !client.is_there().await {
        return;
    }
    let scene = Scene::set([Act::Busy(2)], Fault::None).await;
    assert_eq!(client.call(&call(&scene.line)).await, charged_once(false));
    assert_eq!(scene.line.statuses(), [503, 201]);
    assert_eq!(scene.line.answers()[0].retry_after, Some(Duration::from_secs(2)));
    scene.ends(client);
}

/// Connections to the upstream are refused until the bridge has said so.
pub async fn refused(client: Client) {
    if !client.is_there().await {
        return;
    }
    let payments = Payments::open([]).await;
    let closed = Closed::new();
    let server = server(closed.address).await;
    let line = Line::to(server.0.address, Fault::None).await;
    let call = call(&line);
    let opened = async {
        line.has_answered(503).await;
        assert_eq!(payments.charged(), [""; 0]);
        closed.open(payments.address)
    };
    let (held, _opened) = tokio::join!(client.call(&call), opened);
    assert_eq!(held, charged_once(false));
    assert!(line.answers()[0].retry_after.is_some(), "{:?}", line.answers());
    assert_eq!(payments.charged(), [KEY]);
    heeded(client, &line);
}

/// The client gives up and comes again while the first try executes; the upstream answers once that was refused.
pub async fn slow(client: Client) {
    if !client.is_there().await {
        return;
    }
    let gate = Gate::default();
    let scene = Scene::set([Act::Hold(gate.clone())], Fault::None).await;
    let call = Call { timeout: HASTY, ..call(&scene.line) };
    let opened = async {
        scene.line.has_answered(409).await;
        assert_eq!(scene.payments.charged(), [KEY]);
        gate.open();
    };
    let (held, ()) = tokio::join!(client.call(&call), opened);
    assert_eq!(held, charged_once(true));
    let early: Vec<_> = scene.line.answers().into_iter().filter(|answered| answered.status == 409).collect();
    assert!(early.iter().all(|answered| answered.retry_after == Some(Duration::from_secs(2))), "{early:?}");
    scene.ends(client);
}

/// The answer never arrives; the repetition gets it from the store.
pub async fn lost(client: Client) {
    if !client.is_there().await {
        return;
    }
    let scene = Scene::set([], Fault::Lost).await;
    assert_eq!(client.call(&call(&scene.line)).await, charged_once(true));
    assert_eq!(scene.line.statuses().first(), Some(&201));
    scene.ends(client);
}

/// The answer breaks off in its body; the repetition gets the whole of it from the store.
pub async fn cut(client: Client) {
    if !client.is_there().await {
        return;
    }
    let scene = Scene::set([], Fault::Cut).await;
    assert_eq!(client.call(&call(&scene.line)).await, charged_once(true));
    assert_eq!(scene.line.statuses().first(), Some(&201));
    scene.ends(client);
}

/// The upstream charges and dies. Nobody knows, so no repetition reaches it: the client ends with the reference for an operator.
pub async fn died(client: Client) {
    if !client.is_there().await {
        return;
    }
    let scene = Scene::set([Act::Die], Fault::None).await;
    let held = client.call(&Call { retries: 2, ..call(&scene.line) }).await;
    let problem: Value = serde_json::from_str(&held.body).unwrap_or_else(|error| panic!("{error}: {held:?}"));
    assert_eq!((held.status, held.replayed), (409, false), "{held:?}");
    assert_eq!(problem["type"], "urn:leasehold:problem:recovery-required");
    assert!(problem["reference"].as_str().is_some_and(|reference| !reference.is_empty()), "{problem}");
    assert_eq!(scene.line.statuses(), [502, 409, 409]);
    assert!(scene.line.answers().iter().all(|answered| answered.retry_after.is_none()), "{:?}", scene.line.answers());
    scene.ends(client);
}

/// Everybody at once, with one key, spelt in two ways, and one payload, spelt in three.
pub async fn crowd(clients: &[Client; 3]) {
    for client in clients {
        if !client.is_there().await {
            return;
        }
    }
    let gate = Gate::default();
    let payments = Payments::open([Act::Hold(gate.clone())]).await;
    let server = server(payments.address).await;
    let lines = [line_to(server.0.address).await, line_to(server.0.address).await, line_to(server.0.address).await];
    let payloads = [PAYLOAD, r#"{ "amount": 1999, "order": 1 }"#, "{\"order\":1,\n\"amount\":1999}"];
    let calls: Vec<Call> =
        lines.iter().zip(payloads).map(|(line, payload)| Call { payload: payload.to_owned(), ..call(line) }).collect();
    let opened = async {
        payments.has_charged().await;
        // One executes; the two others have been refused.
        leasehold_tests::wait::eventually("two refusals", async || {
            let refused = lines.iter().filter(|line| line.statuses().contains(&409)).count();
            (refused == 2).then_some(())
        })
        .await;
        gate.open();
    };
    let [curl, urllib3, got] = clients;
    let (a, b, c, ()) = tokio::join!(curl.call(&calls[0]), urllib3.call(&calls[1]), got.call(&calls[2]), opened);
    let mut held = [a, b, c];
    held.sort_by_key(|held| held.replayed);
    assert_eq!(held, [charged_once(false), charged_once(true), charged_once(true)]);
    assert_eq!(payments.charged(), [KEY]);
    for (client, line) in clients.iter().zip(&lines) {
        heeded(*client, line);
    }
}

async fn line_to(server: SocketAddr) -> Line {
    Line::to(server, Fault::None).await
}
