//! An upstream that cannot be reached, breaks off, or falls silent: what its caller is told, and what the next one is.

use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use leasehold::bridge::forward::ForwardOptions;
use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::upstream::{Gate, Pieces, Upstream, answer, charged};
use leasehold_tests::wait::within;
use tokio::net::TcpListener;

use crate::net::{Wire, nobody, upstream as raw};

/// The first caller gets this problem with a reference, the next one is told of recovery, with the same reference.
async fn in_doubt(bridge: &Bridge, first: Reply, status: u16, name: &str) {
    let reference = first.problem(status, name)["reference"].as_str().expect("a reference").to_owned();
    assert_eq!(first.header("retry-after"), None);
    let second = bridge.post("/charges", "k", "{}").await;
    assert_eq!(second.recovery(), reference);
    let waiting = bridge.host.waiting(leasehold::Family::Idempotency, 10).await.unwrap().0;
    assert_eq!(waiting.iter().map(|waiting| waiting.reference.clone()).collect::<Vec<_>>(), [reference]);
}

/// It was never reached: nothing happened, and the next request is executed.
#[tokio::test]
async fn a_refused_connection_costs_nothing() {
    let address = nobody().await;
    let bridge = Bridge::before(address).await;
    let refused = bridge.post("/charges", "k", "{}").await;
    refused.problem(503, "upstream-unreachable");
    assert!(refused.header("retry-after").is_some());
    // The same address comes to life.
    let upstream = Upstream::on(TcpListener::bind(address).await.unwrap(), async |asked| Ok(charged(&asked)));
    bridge.post("/charges", "k", "{}").await.is(201, "charge 1");
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_name_that_nobody_has_costs_nothing() {
    let bridge = Bridge::before("http://nobody.invalid:9000").await;
    for _ in 0..2 {
        bridge.post("/charges", "k", "{}").await.problem(503, "upstream-unreachable");
    }
}

#[tokio::test]
async fn an_upstream_that_dies_with_the_request_is_in_doubt() {
    let upstream = Upstream::start(async |_| Err("the process ended".into())).await;
    let bridge = Bridge::before(upstream.address).await;
    let first = bridge.post("/charges", "k", "{}").await;
    in_doubt(&bridge, first, 502, "upstream-broke").await;
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn an_upstream_that_breaks_in_its_head_is_in_doubt() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 201 Cre").await;
    })
    .await;
    let bridge = Bridge::before(address).await;
    let first = bridge.post("/charges", "k", "{}").await;
    in_doubt(&bridge, first, 502, "upstream-broke").await;
}

#[tokio::test]
async fn an_upstream_that_speaks_no_http_is_in_doubt() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("220 mail.example ESMTP\r\n\r\n").await;
    })
    .await;
    let bridge = Bridge::before(address).await;
    let first = bridge.post("/charges", "k", "{}").await;
    in_doubt(&bridge, first, 502, "upstream-broke").await;
}

#[tokio::test]
async fn a_silent_upstream_is_in_doubt() {
    let upstream = Upstream::gated(&Gate::default()).await;
    let bridge = Setup::before(upstream.address).with(|route| route.upstream_timeout = Duration::from_millis(200)).start().await;
    let first = bridge.post("/charges", "k", "{}").await;
    in_doubt(&bridge, first, 504, "upstream-silent").await;
    assert_eq!(upstream.effects(), 1);
}

// In the middle of its answer.

/// A small body of known length is held until it is whole: its caller still gets a problem document.
#[tokio::test]
async fn a_small_answer_that_breaks_off_is_in_doubt() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\nhalf").await;
    })
    .await;
    let bridge = Bridge::before(address).await;
    let first = bridge.post("/charges", "k", "{}").await;
    in_doubt(&bridge, first, 502, "upstream-broke").await;
}

#[tokio::test]
async fn a_small_answer_that_stalls_is_in_doubt() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\nhalf").await;
        wire.closed().await;
    })
    .await;
    let bridge = Setup::before(address).with(|route| route.upstream_timeout = Duration::from_millis(200)).start().await;
    let first = bridge.post("/charges", "k", "{}").await;
    in_doubt(&bridge, first, 504, "upstream-silent").await;
}

/// The head is out: the caller can only be told by breaking off, too. It must never look whole.
async fn breaks_off_too(bridge: &Bridge) {
    let answer = bridge.open(bridge.posting("/charges", "k", "{}")).await;
    assert_eq!(answer.status(), 201);
    assert!(within("the end", answer.into_body().collect()).await.is_err(), "it looks whole");
    bridge.post("/charges", "k", "{}").await.recovery();
}

#[tokio::test]
async fn an_answer_in_chunks_that_breaks_off_never_looks_whole() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n").await;
    })
    .await;
    breaks_off_too(&Bridge::before(address).await).await;
}

#[tokio::test]
async fn a_large_answer_that_breaks_off_never_looks_whole() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 201 Created\r\ncontent-length: 100000\r\n\r\n").await;
        wire.send("x".repeat(99_999)).await;
    })
    .await;
    breaks_off_too(&Bridge::before(address).await).await;
}

#[tokio::test]
async fn a_stream_that_stalls_never_looks_whole() {
    let upstream = Upstream::start(|_| async {
        let (sender, body) = Pieces::channel();
        sender.send("event".into()).unwrap();
        std::mem::forget(sender);
        Ok(answer(201, body))
    })
    .await;
    let bridge = Setup::before(upstream.address).with(|route| route.upstream_timeout = Duration::from_millis(200)).start().await;
    breaks_off_too(&bridge).await;
    assert_eq!(upstream.effects(), 1);
}

/// To HTTP/1.0 a stream ends with its connection: a broken one ended like a whole one.
#[tokio::test]
async fn a_stream_that_breaks_off_never_looks_whole_to_http_1_0() {
    for (end, whole) in [("0\r\n\r\n", true), ("", false)] {
        let address = raw(move |_, mut wire| async move {
            wire.message().await;
            wire.send("HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n").await;
            wire.send(end).await;
        })
        .await;
        let bridge = Bridge::before(address).await;
        for key in ["idempotency-key: k\r\n", ""] {
            let mut client = Wire::to(bridge.address()).await;
            client.send(format!("POST /charges HTTP/1.0\r\n{key}content-length: 0\r\n\r\n")).await;
            let (answer, broken) = within("the end", client.broken()).await;
            assert_eq!(broken, !whole, "{answer}");
            // A reset may take what came before it along.
            assert!(broken || (answer.starts_with("HTTP/1.0 201 ") && answer.ends_with("\r\n\r\nhalf")), "{answer}");
        }
    }
}

// What is not protected.

#[tokio::test]
async fn a_request_without_a_key_is_told_of_the_upstream_too() {
    let bridge = Bridge::before(nobody().await).await;
    let reply = bridge.get(format!("{}/charges", bridge.url)).await;
    assert_eq!(reply.problem(503, "upstream-unreachable").get("reference"), None);
    let upstream = Upstream::start(async |_| Err("the process ended".into())).await;
    let bridge = Bridge::before(upstream.address).await;
    let request = Request::post(format!("{}/charges", bridge.url)).body("{}".into()).unwrap();
    bridge.send(request).await.problem(502, "upstream-broke");
}

/// Reaching the upstream may take longer than its answer: the limits of the two were added up with a constant for the first, so that an
/// upstream that was never reached was taken for a silent one, and the request for one in doubt.
#[tokio::test]
async fn a_slow_way_to_the_upstream_is_no_silence() {
    // Takes the connection, and never answers the hand-shake.
    let address = raw(|_, wire| wire.closed_binary()).await;
    let forward = ForwardOptions { connect_timeout: Duration::from_millis(5_400), ..ForwardOptions::default() };
    let setup = Setup::before(format!("https://localhost:{}", address.port())).forward(forward);
    let bridge = setup.with(|route| route.upstream_timeout = Duration::from_millis(100)).start().await;
    bridge.post("/charges", "k", "{}").await.problem(503, "upstream-unreachable");
    assert!(bridge.host.waiting(leasehold::Family::Idempotency, 10).await.unwrap().0.is_empty());
}
