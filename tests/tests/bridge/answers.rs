//! What is replayed: status, headers and body as they were, and what is never kept.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderValue, Response};
use leasehold_decision::StatementName;
use leasehold_tests::bridge::{Bridge, Setup};
use leasehold_tests::faulty::Fault;
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::{Upstream, answer, charged};

use crate::net::upstream as raw;

const KEEP: usize = 1_000;
const LONG_AGO: &str = "Thu, 01 Jan 1970 00:00:00 GMT";

#[tokio::test]
async fn a_replay_is_the_answer_byte_for_byte() {
    let body: Vec<u8> = (0..=255).collect();
    let sent = body.clone();
    let upstream = Upstream::start(move |_| {
        let mut answer = answer(202, sent.clone());
        let headers = answer.headers_mut();
        headers.insert("content-type", HeaderValue::from_static("application/octet-stream"));
        headers.append("x-twice", HeaderValue::from_static("one"));
        headers.append("x-twice", HeaderValue::from_static("two"));
        headers.insert("x-latin", HeaderValue::from_bytes(b"caf\xe9").unwrap());
        headers.insert("location", HeaderValue::from_static("/charges/1?a=b"));
        headers.insert("date", HeaderValue::from_static(LONG_AGO));
        headers.append("set-cookie", HeaderValue::from_static("session=1"));
        headers.append("set-cookie", HeaderValue::from_static("other=2"));
        headers.insert("connection", HeaderValue::from_static("x-mine"));
        headers.insert("x-mine", HeaderValue::from_static("of this connection"));
        async move { Ok(answer) }
    })
    .await;
    let bridge = Bridge::before(upstream.address).await;
    let mut first = bridge.post("/charges", "k", "{}").await;
    let mut replay = bridge.post("/charges", "k", "{}").await;
    assert_eq!(upstream.effects(), 1);
    assert_eq!((first.status, &first.body), (202, &body));
    assert_eq!(first.header("date"), Some(LONG_AGO));
    assert_eq!(first.headers.get_all("set-cookie").iter().count(), 2);
    assert_eq!(first.header("idempotency-replayed"), None);
    assert_eq!(replay.header("idempotency-replayed"), Some("true"));
    assert_ne!(replay.header("date"), Some(LONG_AGO));
    for own in ["date", "set-cookie", "idempotency-replayed"] {
        first.headers.remove(own);
        replay.headers.remove(own);
    }
    assert_eq!(first.headers.get("x-latin").unwrap().as_bytes(), b"caf\xe9");
    assert_eq!(first.headers.get("x-mine"), None);
    assert_eq!((replay.status, replay.headers, replay.body), (first.status, first.headers, first.body));
}

/// An empty answer ends with its head: so it is its head that waits for the store.
#[tokio::test]
async fn an_empty_answer_is_stored_before_its_head_goes_out() {
    let upstream = Upstream::start(async |_| Ok(answer(204, Body::empty()))).await;
    let bridge = Bridge::before(upstream.address).await;
    let complete = Kind::Swap(StatementName::Complete);
    bridge.store.fail_at(complete, Fault::Hang);
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    bridge.store.was_asked(complete, 1).await;
    bridge.settle_down().await;
    assert!(!first.is_finished(), "it went out before it was stored");
    bridge.store.heal();
    first.await.unwrap().is(204, "");
    bridge.post("/charges", "k", "{}").await.is_replay(204, "");
}

#[tokio::test]
async fn a_small_answer_is_stored_before_it_goes_out() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let complete = Kind::Swap(StatementName::Complete);
    bridge.store.fail_at(complete, Fault::Hang);
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    bridge.store.was_asked(complete, 1).await;
    bridge.settle_down().await;
    assert!(!first.is_finished(), "it went out before it was stored");
    bridge.store.heal();
    first.await.unwrap().is(201, "charge 1");
}

// The limit of what is kept.

/// An answer in parts, whose length is not told before.
fn in_parts(length: usize) -> Body {
    let (sender, body) = leasehold_tests::upstream::Pieces::channel();
    let all = vec![b'x'; length];
    for part in all.chunks(400) {
        sender.send(Bytes::copy_from_slice(part)).unwrap();
    }
    body
}

/// `/LENGTH` is answered with so many bytes, `/LENGTH/parts` in parts.
async fn of_length(keep: usize) -> (Upstream, Bridge) {
    let upstream = Upstream::start(|asked| async move {
        let mut parts = asked.target.path().trim_start_matches('/').split('/');
        let length: usize = parts.next().unwrap().parse().unwrap();
        let body = if parts.next().is_some() { in_parts(length) } else { Body::from(vec![b'x'; length]) };
        Ok(answer(201, body))
    })
    .await;
    let bridge = Setup::before(upstream.address).with(|route| route.keep_body_max = keep).start().await;
    (upstream, bridge)
}

async fn check_limit(keep: usize, form: &str) {
    let (upstream, bridge) = of_length(keep).await;
    let (at, past) = (format!("/{keep}{form}"), format!("/{}{form}", keep + 1));
    let whole = |length| "x".repeat(length);
    bridge.post(&at, "at", "{}").await.is(201, &whole(keep));
    bridge.post(&at, "at", "{}").await.is_replay(201, &whole(keep));
    bridge.post(&past, "past", "{}").await.is(201, &whole(keep + 1));
    let reply = bridge.post(&past, "past", "{}").await;
    let document = reply.problem(409, "response-not-kept");
    assert_eq!(document["original-status"], 201);
    assert!(document["detail"].as_str().unwrap().contains("201"), "{document}");
    assert_eq!(reply.header("retry-after"), None);
    assert_eq!(upstream.effects(), 2);
}

#[tokio::test]
async fn an_answer_at_the_limit_is_kept_and_one_past_it_is_said_to_be_not() {
    check_limit(KEEP, "").await;
}

#[tokio::test]
async fn an_answer_in_parts_has_the_same_limit() {
    check_limit(KEEP, "/parts").await;
}

/// Larger than what is held back whole.
#[tokio::test]
async fn a_large_answer_has_the_same_limit() {
    check_limit(200_000, "").await;
}

// What goes before an answer, or is none.

#[tokio::test]
async fn hints_before_an_answer_are_no_answer() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok").await;
        wire.message().await;
    })
    .await;
    let bridge = Bridge::before(address).await;
    bridge.post("/charges", "k", "{}").await.is(201, "ok");
    bridge.post("/charges", "k", "{}").await.is_replay(201, "ok");
}

#[tokio::test]
async fn an_upstream_that_changes_the_protocol_unasked_broke() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: odd\r\n\r\n").await;
        wire.closed().await;
    })
    .await;
    let bridge = Bridge::before(address).await;
    let reference = bridge.post("/charges", "k", "{}").await.problem(502, "upstream-broke")["reference"].clone();
    assert_eq!(bridge.post("/charges", "k", "{}").await.recovery(), reference);
}

/// An upstream with idempotency of its own: what it says of a replay is about its own, and is not kept.
#[tokio::test]
async fn a_replay_of_the_upstreams_own_is_not_kept_as_one() {
    let upstream = Upstream::start(async |asked| {
        let mut response: Response<Body> = charged(&asked);
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("false"));
        Ok(response)
    })
    .await;
    let bridge = Bridge::before(upstream.address).await;
    bridge.post("/charges", "k", "{}").await;
    let replay = bridge.post("/charges", "k", "{}").await;
    assert_eq!(replay.headers.get_all("idempotency-replayed").iter().collect::<Vec<_>>(), ["true"]);
}
