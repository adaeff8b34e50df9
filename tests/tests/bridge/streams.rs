//! Bodies that are not held: events pass as they come, in both directions, and an answer ends only once it is stored.

use std::sync::Mutex;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use leasehold_decision::StatementName;
use leasehold_tests::bridge::{Bridge, Setup};
use leasehold_tests::faulty::Fault;
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::{Pieces, Upstream, answer};
use leasehold_tests::wait::{eventually, within};
use tokio::sync::mpsc;

use crate::net::{OK, upstream as raw};

const COMPLETE: Kind = Kind::Swap(StatementName::Complete);

/// An upstream that answers once, with the events that the test sends.
async fn events() -> (mpsc::UnboundedSender<Bytes>, Upstream) {
    let (sender, body) = Pieces::channel();
    let body = Mutex::new(Some(body));
    let upstream = Upstream::start(move |_| {
        let mut answer = answer(200, body.lock().unwrap().take().unwrap());
        answer.headers_mut().insert("content-type", "text/event-stream".parse().unwrap());
        async move { Ok(answer) }
    })
    .await;
    (sender, upstream)
}

async fn next(body: &mut Incoming) -> Bytes {
    within("the next part", body.frame()).await.expect("it goes on").expect("it is whole").into_data().expect("data")
}

#[tokio::test]
async fn each_event_arrives_before_the_next_is_sent() {
    let (send, upstream) = events().await;
    let bridge = Bridge::before(upstream.address).await;
    let answer = bridge.open(bridge.posting("/events", "k", "{}")).await;
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut body = answer.into_body();
    let mut whole = String::new();
    for number in 0..10 {
        let event = format!("data: {number}\n\n");
        send.send(event.clone().into()).unwrap();
        assert_eq!(next(&mut body).await, event);
        whole.push_str(&event);
    }
    drop(send);
    assert!(within("the end", body.frame()).await.is_none());
    bridge.post("/events", "k", "{}").await.is_replay(200, &whole);
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_stream_ends_only_once_it_is_stored() {
    let (send, upstream) = events().await;
    let bridge = Bridge::before(upstream.address).await;
    bridge.store.fail_at(COMPLETE, Fault::Hang);
    let mut body = bridge.open(bridge.posting("/events", "k", "{}")).await.into_body();
    send.send("data: 1\n\n".into()).unwrap();
    assert_eq!(next(&mut body).await, "data: 1\n\n");
    let ended = tokio::spawn(async move { body.frame().await.is_none() });
    drop(send);
    bridge.store.was_asked(COMPLETE, 1).await;
    bridge.settle_down().await;
    assert!(!ended.is_finished(), "it ended before it was stored");
    bridge.store.heal();
    assert!(within("the end", ended).await.unwrap());
    bridge.post("/events", "k", "{}").await.is_replay(200, "data: 1\n\n");
}

/// Of a large answer of known length, the part that ends it waits for the store.
#[tokio::test]
async fn the_last_part_of_a_large_answer_waits_for_the_store() {
    const LENGTH: usize = 300_000;
    let upstream = Upstream::start(async |_| Ok(answer(200, "x".repeat(LENGTH)))).await;
    let bridge = Bridge::before(upstream.address).await;
    bridge.store.fail_at(COMPLETE, Fault::Hang);
    let answer = bridge.open(bridge.posting("/events", "k", "{}")).await;
    assert_eq!(answer.headers()["content-length"], LENGTH.to_string());
    let mut body = answer.into_body();
    let (tell, mut told) = mpsc::unbounded_channel();
    let whole = tokio::spawn(async move {
        let mut length = 0;
        while let Some(part) = body.frame().await {
            length += part.expect("it is whole").data_ref().map_or(0, Bytes::len);
            let _ = tell.send(length);
        }
        length
    });
    bridge.store.was_asked(COMPLETE, 1).await;
    bridge.settle_down().await;
    let mut came = 0;
    while let Ok(length) = told.try_recv() {
        came = length;
    }
    assert!(came > 0 && came < LENGTH, "{came}");
    assert!(!whole.is_finished());
    bridge.store.heal();
    assert_eq!(within("the end", whole).await.unwrap(), LENGTH);
}

/// The client goes in the middle of the events: the rest is taken, and its retry gets all of it.
#[tokio::test]
async fn a_client_that_goes_in_the_middle_gets_the_rest_on_its_retry() {
    let (send, upstream) = events().await;
    let bridge = Bridge::before(upstream.address).await;
    let mut body = bridge.open(bridge.posting("/events", "k", "{}")).await.into_body();
    send.send("data: 1\n\n".into()).unwrap();
    next(&mut body).await;
    drop(body);
    for number in 2..=50 {
        send.send(format!("data: {number}\n\n").into()).unwrap();
    }
    drop(send);
    let replay = eventually("the answer to be stored", async || {
        let reply = bridge.post("/events", "k", "{}").await;
        reply.replayed().then_some(reply)
    })
    .await;
    assert!(replay.text().starts_with("data: 1\n") && replay.text().ends_with("data: 50\n\n"));
    assert_eq!(upstream.effects(), 1);
}

// Requests.

/// An upload without a key is larger than what may be held, and its beginning is at the upstream before its end is sent.
#[tokio::test]
async fn an_upload_without_a_key_is_not_held() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let address = raw(move |_, mut wire| {
        let tell = tell.clone();
        async move {
            wire.until("beginning").await;
            tell.send(()).unwrap();
            wire.until("0\r\n\r\n").await;
            wire.send(OK).await;
            wire.closed().await;
        }
    })
    .await;
    let bridge = Setup::before(address).with(|route| route.body_max = 1_000).start().await;
    let (send, body) = Pieces::channel();
    let upload = bridge.sending(Request::post(format!("{}/files", bridge.url)).body(body).unwrap());
    send.send("beginning".into()).unwrap();
    within("the beginning", told.recv()).await.unwrap();
    for _ in 0..64 {
        send.send(Bytes::from(vec![b'x'; 64 << 10])).unwrap();
    }
    drop(send);
    within("the answer", upload).await.unwrap().is(200, "ok");
}

#[tokio::test]
async fn a_body_in_chunks_is_the_same_as_one_of_known_length() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let (send, body) = Pieces::channel();
    for piece in ["{\"a\"", ":", "1}"] {
        send.send(piece.into()).unwrap();
    }
    drop(send);
    bridge.post("/charges", "k", body).await.is(201, "charge 1");
    bridge.post("/charges", "k", "{\"a\":1}").await.is_replay(201, "charge 1");
    let asked = &upstream.booked()[0];
    assert_eq!(
        (asked.body.as_ref(), asked.header("content-length"), asked.header("transfer-encoding")),
        (b"{\"a\":1}".as_slice(), "7", "")
    );
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_and_the_key_stays_free() {
    let upstream = Upstream::charging().await;
    let bridge = Setup::before(upstream.address).with(|route| route.body_max = 1_000).start().await;
    bridge.post("/charges", "k", vec![b'x'; 1_001]).await.problem(413, "request-body-too-large");
    let (send, body) = Pieces::channel();
    for _ in 0..11 {
        send.send(Bytes::from(vec![b'x'; 100])).unwrap();
    }
    drop(send);
    bridge.post("/charges", "k", body).await.problem(413, "request-body-too-large");
    assert_eq!(upstream.effects(), 0);
    bridge.post("/charges", "k", vec![b'x'; 1_000]).await.is(201, "charge 1");
}

/// A client that breaks off within its body has asked for nothing.
#[tokio::test]
async fn half_a_request_is_none() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let mut client = crate::net::Wire::to(bridge.address()).await;
    client.send("POST /charges HTTP/1.1\r\nhost: a\r\nidempotency-key: k\r\ncontent-length: 100\r\n\r\nhalf").await;
    client.reset();
    bridge.settle_down().await;
    assert_eq!((upstream.effects(), bridge.store.asked(Kind::Read)), (0, 0));
    bridge.send(bridge.posting("/charges", "k", Body::from("{}"))).await.is(201, "charge 1");
}

// Clients that take their time.

const PIECE: usize = 64 << 10;
const PIECES: usize = 400;
const HEAD: &str =
    "POST /charges HTTP/1.1\r\nhost: a\r\nidempotency-key: k\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n";

/// More than all buffers on the way hold, of unknown length.
async fn flood() -> Upstream {
    Upstream::start(async |_| {
        let (send, body) = Pieces::channel();
        for _ in 0..PIECES {
            send.send(Bytes::from(vec![b'x'; PIECE])).unwrap();
        }
        Ok(answer(201, body))
    })
    .await
}

async fn replay_of_the_flood(bridge: &Bridge) {
    let replay = eventually("the answer to be stored", async || {
        let reply = bridge.post("/charges", "k", "{}").await;
        reply.replayed().then_some(reply)
    })
    .await;
    assert_eq!((replay.status, replay.body.len()), (201, PIECE * PIECES));
}

/// It was cut from its answer, and the answer ended as if that were all of it.
#[tokio::test]
async fn a_client_that_takes_nothing_for_too_long_is_cut_off_and_its_answer_never_looks_whole() {
    let upstream = flood().await;
    let setup = Setup::before(upstream.address).with(|route| {
        route.keep_body_max = 32 << 20;
        route.client_stall_max = Duration::from_millis(100);
    });
    let bridge = setup.start().await;
    let mut client = crate::net::Wire::to(bridge.address()).await;
    client.send(format!("{}{{}}", HEAD.replace("host: a", "host: a\r\nconnection: close"))).await;
    let head = client.head().await;
    assert!(head.starts_with("HTTP/1.1 201") && head.contains("chunked"), "{head}");
    replay_of_the_flood(&bridge).await;
    let came = within("the end", client.closed()).await;
    assert!(came.len() < PIECE * PIECES && !came.ends_with("0\r\n\r\n"), "it looks whole: {} bytes", came.len());
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_client_that_pauses_for_less_gets_all_of_it() {
    let upstream = flood().await;
    let bridge = Setup::before(upstream.address).with(|route| route.keep_body_max = 32 << 20).start().await;
    let mut client = crate::net::Wire::to(bridge.address()).await;
    client.send(format!("{}{{}}", HEAD.replace("host: a", "host: a\r\nconnection: close"))).await;
    client.head().await;
    bridge.settle_down().await;
    bridge.post("/charges", "k", "{}").await.problem(409, "request-in-progress");
    let came = within("the end", client.closed()).await;
    assert!(came.len() > PIECE * PIECES && came.ends_with("0\r\n\r\n"), "{} bytes", came.len());
    replay_of_the_flood(&bridge).await;
}

/// A request whose body does not come has asked for nothing.
#[tokio::test]
async fn a_body_that_takes_too_long_is_408_and_one_that_takes_less_is_taken() {
    let upstream = Upstream::charging().await;
    let bridge = Setup::before(upstream.address).with(|route| route.body_timeout = Duration::from_millis(100)).start().await;
    let mut client = crate::net::Wire::to(bridge.address()).await;
    client.send(format!("{HEAD}{{")).await;
    let head = within("an answer", client.head()).await;
    assert!(head.starts_with("HTTP/1.1 408"), "{head}");
    assert_eq!((upstream.effects(), bridge.store.asked(Kind::Read)), (0, 0));
    let bridge = Bridge::before(upstream.address).await;
    let mut client = crate::net::Wire::to(bridge.address()).await;
    client.send(format!("{HEAD}{{")).await;
    bridge.settle_down().await;
    client.send("}").await;
    let (head, body) = within("an answer", client.message()).await;
    assert!(head.starts_with("HTTP/1.1 201") && body == "charge 1", "{head}");
}

// Trailers.

/// They go to the caller, in the one form that HTTP/1.1 has for them, and are not stored.
#[tokio::test]
async fn trailers_behind_chunks_are_passed_on() {
    let address = raw(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 201 Created\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 7\r\n\r\n")
            .await;
        wire.closed().await;
    })
    .await;
    let bridge = Bridge::before(address).await;
    let mut client = crate::net::Wire::to(bridge.address()).await;
    client.send(format!("{}{{}}", HEAD.replace("host: a", "host: a\r\nte: trailers\r\nconnection: te"))).await;
    let head = client.head().await;
    assert!(head.starts_with("HTTP/1.1 201") && head.contains("trailer: x-sum"), "{head}");
    assert_eq!(client.until("\r\n\r\n").await, "2\r\nok\r\n0\r\nx-sum: 7\r\n\r\n");
    let replay = bridge.post("/charges", "k", "{}").await;
    replay.is_replay(201, "ok");
    assert_eq!(replay.header("trailer"), None);
}
