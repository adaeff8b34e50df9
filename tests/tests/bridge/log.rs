//! What the log never holds, and what it does not cry wolf about.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use leasehold::bridge::{BridgeSettings, IdempotencyLayer};
use leasehold_decision::StatementName;
use leasehold_tests::bridge::{Setup, folder, host_on, route};
use leasehold_tests::faulty::Fault;
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::{Upstream, answer};
use tower::{Layer as _, ServiceExt as _};

use crate::layer::Broken;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Everything that this thread logs, at any level: the whole bridge runs on it.
    fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone());
        (log, tracing::subscriber::set_default(subscriber.finish()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }

    /// No line holds a word that a test gave to something that must stay out of it.
    #[track_caller]
    fn holds_no_secret(&self) {
        let text = self.text();
        let own = text.lines().filter(|line| line.contains("leasehold::")).count();
        assert!(own > 0, "nothing of leasehold's own in\n{text}");
        let told: Vec<&str> = text.lines().filter(|line| line.contains("secret-")).collect();
        assert!(told.is_empty(), "{}", told.join("\n"));
    }
}

/// On every way that a request can go.
#[tokio::test]
async fn the_log_holds_no_key_no_body_and_no_principal() {
    let (log, _guard) = Log::begin();
    let upstream = Upstream::start(async |asked| match asked.target.path() {
        "/gone" => Err("the process ended".into()),
        "/busy" => Ok(answer(429, "secret-answer")),
        "/gateway" => Ok(answer(502, "secret-answer")),
        _ => Ok(answer(201, "secret-answer")),
    })
    .await;
    let principal = leasehold::bridge::principal::Principal::new("header:x-account".parse().unwrap(), None).unwrap();
    let bridge = Setup::before(upstream.address).with(|route| route.principal = principal).start().await;
    for path in ["/charges?secret-query", "/gone", "/busy", "/gateway", "/charges"] {
        for body in ["{\"secret-body\":1}", "{\"secret-body\":1}", "{\"secret-body\":2}"] {
            let mut request = bridge.posting(path, &format!("secret-key-{path}"), body);
            request.headers_mut().insert("x-account", "secret-account".parse().unwrap());
            bridge.send(request).await;
        }
    }
    bridge.post("/charges", "secret-key without a principal", "secret-body").await;
    bridge.store.fail_at(Kind::Swap(StatementName::Complete), Fault::Refuse);
    let mut request = bridge.posting("/charges", "secret-key-late", "{\"secret-body\":1}");
    request.headers_mut().insert("x-account", "secret-account".parse().unwrap());
    bridge.send(request).await;
    assert!(bridge.end().await.1.path().exists());
    log.holds_no_secret();
}

/// What a service of one's own says when it fails or panics may hold anything.
#[tokio::test]
async fn the_log_holds_nothing_that_a_service_says() {
    let (log, _guard) = Log::begin();
    let at = folder();
    let (host, _) = host_on(&at.path().join("store.db")).await;
    let layer = IdempotencyLayer::new(host, BridgeSettings::new(route(), Vec::new()));
    let service = layer.layer(tower::service_fn(async |request: Request<Body>| match request.uri().path() {
        "/panics" => panic!("secret-panic"),
        "/breaks" => Ok(Response::new(Body::new(Broken { parts: 1, length: None, panics: false }))),
        _ => Err(std::io::Error::other("secret-error")),
    }));
    for path in ["/panics", "/breaks", "/fails"] {
        let request = Request::post(path).header("idempotency-key", path).body(Body::empty()).unwrap();
        let answer = service.clone().oneshot(request).await.unwrap();
        let _ = answer.into_body().collect().await;
    }
    log.holds_no_secret();
}

/// An end whose reply was lost, and which the heartbeat found in the store, was taken for a lease that somebody else had.
#[tokio::test]
async fn ones_own_end_is_no_lost_lease() {
    let (log, _guard) = Log::begin();
    let upstream = Upstream::charging().await;
    let bridge = Setup::before(upstream.address).with(|route| route.record.lease = 300).start().await;
    let lost = AtomicBool::new(false);
    bridge.store.fail(move |step| match step {
        Kind::Swap(StatementName::Complete) => {
            lost.store(true, Ordering::SeqCst);
            Fault::LoseReply
        }
        Kind::Read if lost.load(Ordering::SeqCst) => Fault::Refuse,
        _ => Fault::None,
    });
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    // Several heartbeats later: they come sooner than the next try of the end itself.
    bridge.store.was_asked(Kind::Read, 20).await;
    bridge.store.heal();
    first.await.unwrap().is(201, "charge 1");
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert!(bridge.end().await.0);
    assert!(!log.text().contains("the lease was lost"), "{}", log.text());
}
