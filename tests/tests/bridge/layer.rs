//! The bridge as a tower layer, around an application of one's own.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::BodyExt as _;
use leasehold::Leasehold;
use leasehold::bridge::{BridgeSettings, IdempotencyLayer, RouteSettings};
use leasehold_tests::bridge::{Reply, folder, host_on, route};
use tempfile::TempDir;
use tower::{Layer as _, ServiceExt as _};

/// A host on a file of its own.
struct Kept {
    host: Leasehold,
    _folder: TempDir,
}

async fn kept() -> Kept {
    let at = folder();
    Kept { host: host_on(&at.path().join("store.db")).await.0, _folder: at }
}

impl Kept {
    fn layer(&self) -> IdempotencyLayer {
        self.layer_with(|_| {})
    }

    fn layer_with(&self, change: impl FnOnce(&mut RouteSettings)) -> IdempotencyLayer {
        let mut settings = route();
        change(&mut settings);
        IdempotencyLayer::new(self.host.clone(), BridgeSettings::new(settings, Vec::new()))
    }
}

fn request(key: &str) -> Request<Body> {
    Request::post("/charges").header("idempotency-key", key).body(Body::from("{}")).unwrap()
}

async fn ask(app: &Router, key: &str) -> Reply {
    Reply::of(app.clone().oneshot(request(key)).await.unwrap()).await
}

#[tokio::test]
async fn a_handler_has_one_effect() {
    let kept = kept().await;
    let effects = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&effects);
    let handler = move |body: String| async move { format!("{body} {}", counted.fetch_add(1, Ordering::SeqCst) + 1) };
    let app = Router::new().route("/charges", post(handler)).layer(kept.layer());
    ask(&app, "k").await.is(200, "{} 1");
    ask(&app, "k").await.is_replay(200, "{} 1");
    ask(&app, "other").await.is(200, "{} 2");
    assert_eq!(effects.load(Ordering::SeqCst), 2);
}

/// The handler throws, perhaps after the charge: it counts as an effect that nobody knows, and the claim is not deleted.
#[tokio::test]
async fn a_handler_that_panics_is_in_doubt() {
    let kept = kept().await;
    let effects = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&effects);
    let handler = move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
        if counted.load(Ordering::SeqCst) > 0 {
            panic!("as the test asked");
        }
    };
    let app = Router::new().route("/charges", post(handler)).layer(kept.layer());
    let reference = ask(&app, "k").await.problem(502, "upstream-broke")["reference"].clone();
    assert_eq!(ask(&app, "k").await.recovery(), reference);
    assert_eq!(effects.load(Ordering::SeqCst), 1);
    let waiting = kept.host.waiting(leasehold::Family::Idempotency, 10).await.unwrap().0;
    assert_eq!(waiting[0].reason.as_deref(), Some("SERVICE_PANICKED"));
}

#[tokio::test]
async fn a_service_that_fails_is_in_doubt() {
    let kept = kept().await;
    let service = tower::service_fn(async |_: Request<Body>| Err::<Response<Body>, _>(std::io::Error::other("the charge broke")));
    let service = kept.layer().layer(service);
    let reply = Reply::of(service.clone().oneshot(request("k")).await.unwrap()).await;
    let reference = reply.problem(502, "upstream-broke")["reference"].clone();
    assert!(!reply.text().contains("the charge broke"));
    assert_eq!(Reply::of(service.clone().oneshot(request("k")).await.unwrap()).await.recovery(), reference);
    // What is not protected is none of the layer's business.
    let passed = service.oneshot(Request::get("/").body(Body::empty()).unwrap()).await;
    assert_eq!(passed.unwrap_err().to_string(), "the charge broke");
}

/// A body that panics or fails when it is asked for its next part.
pub struct Broken {
    pub parts: usize,
    pub length: Option<u64>,
    pub panics: bool,
}

impl http_body::Body for Broken {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.parts {
            0 if self.panics => panic!("as the test asked"),
            0 => Poll::Ready(Some(Err(std::io::Error::other("secret-part: the rest is gone")))),
            _ => {
                self.parts -= 1;
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"part")))))
            }
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.length.map_or_else(http_body::SizeHint::default, http_body::SizeHint::with_exact)
    }
}

/// A body that panicked took the request's task with it: its caller got a 500 that said "nothing was sent", and the record was in
/// nobody's list until its lease was over.
#[tokio::test]
async fn a_body_that_breaks_or_panics_is_in_doubt_at_once() {
    for panics in [false, true] {
        for length in [None, Some(8)] {
            let kept = kept().await;
            let handler = move || async move { Response::new(Body::new(Broken { parts: 1, length, panics })) };
            let app = Router::new().route("/charges", post(handler)).layer(kept.layer());
            let answer = app.clone().oneshot(request("k")).await.unwrap();
            match length {
                Some(_) => drop(Reply::of(answer).await.problem(502, "upstream-broke")),
                None => assert!(answer.into_body().collect().await.is_err()),
            }
            ask(&app, "k").await.recovery();
        }
    }
}

/// A status that no answer can end with (1xx) is not kept: it cannot be replayed.
#[tokio::test]
async fn a_service_without_a_final_answer_is_in_doubt() {
    let kept = kept().await;
    let app = Router::new().route("/charges", post(async || http::StatusCode::PROCESSING)).layer(kept.layer());
    let reference = ask(&app, "k").await.problem(502, "upstream-broke")["reference"].clone();
    assert_eq!(ask(&app, "k").await.recovery(), reference);
}

/// Whoever drops the request's future (a time-out layer, a client that hangs up) does not stop the handler.
#[tokio::test]
async fn a_caller_that_goes_away_does_not_stop_the_handler() {
    let kept = kept().await;
    let gate = leasehold_tests::upstream::Gate::default();
    let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let held = gate.clone();
    let handler = move || async move {
        begun.send(()).unwrap();
        held.pass().await;
        "done"
    };
    let app = Router::new().route("/charges", post(handler)).layer(kept.layer_with(|route| {
        route.wait = std::time::Duration::from_secs(30);
    }));
    let first = tokio::spawn(app.clone().oneshot(request("k")));
    begins.recv().await.unwrap();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    gate.open();
    ask(&app, "k").await.is_replay(200, "done");
}

/// Of a small answer of known length, as an upstream of HTTP/2 sends it: they were dropped.
#[tokio::test]
async fn trailers_of_a_small_answer_are_passed_on_and_not_stored() {
    let kept = kept().await;
    let inner = tower::service_fn(async |_: Request<Body>| {
        let fields = http::HeaderMap::from_iter([(http::HeaderName::from_static("x-sum"), http::HeaderValue::from_static("7"))]);
        let body = http_body_util::Full::new(Bytes::from("ok")).with_trailers(std::future::ready(Some(Ok(fields))));
        Ok::<_, std::convert::Infallible>(Response::new(Body::new(body)))
    });
    let app = kept.layer().layer(inner);
    let ask = async || app.clone().oneshot(request("k")).await.unwrap().into_body().collect().await.unwrap();
    let first = ask().await;
    assert_eq!(first.trailers().map(|fields| fields["x-sum"].as_bytes()), Some(&b"7"[..]));
    assert_eq!(first.to_bytes(), "ok");
    let replay = ask().await;
    assert!(replay.trailers().is_none() && replay.to_bytes() == "ok");
}
