//! What a key is, and which requests are the same.

use axum::body::Body;
use http::{HeaderValue, Request};
use leasehold::bridge::KeyRule;
use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::upstream::Upstream;

use crate::net::Wire;

async fn with_lines(bridge: &Bridge, lines: &[&[u8]]) -> Reply {
    let mut request = Request::post(format!("{}/charges", bridge.url)).body(Body::from("{}")).unwrap();
    for line in lines {
        request.headers_mut().append("idempotency-key", HeaderValue::from_bytes(line).unwrap());
    }
    bridge.send(request).await
}

#[tokio::test]
async fn a_route_that_demands_a_key_refuses_a_request_without_one() {
    let upstream = Upstream::charging().await;
    let bridge = Setup::before(upstream.address).with(|route| route.key = KeyRule::Required).start().await;
    let reply = with_lines(&bridge, &[]).await;
    reply.problem(400, "idempotency-key-required");
    assert_eq!(reply.header("retry-after"), None);
    assert_eq!(upstream.effects(), 0);
}

#[tokio::test]
async fn what_is_no_key_is_refused_whether_one_is_demanded_or_not() {
    let upstream = Upstream::charging().await;
    let long = "k".repeat(256);
    let cases: &[&[&[u8]]] = &[
        &[b""],
        &[b"\"\""],
        &[long.as_bytes()],
        &["cl\u{e9}".as_bytes()],
        &[b"\xff"],
        &[b"a b"],
        &[b"a, b"],
        &[b"\"a"],
        &[b"\"a\\x\""],
        &[b"\"a\";p=1"],
        &[b"a", b"a"],
        &[b"a", b"b"],
    ];
    for rule in [KeyRule::Required, KeyRule::Optional] {
        let bridge = Setup::before(upstream.address).with(|route| route.key = rule).start().await;
        for lines in cases {
            with_lines(&bridge, lines).await.problem(400, "idempotency-key-invalid");
        }
    }
    assert_eq!(upstream.effects(), 0);
}

/// A line break in a key: it is no HTTP, and never reaches the bridge as a key.
#[tokio::test]
async fn a_line_break_in_a_key_is_refused() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let mut client = Wire::to(bridge.address()).await;
    client.send("POST / HTTP/1.1\r\nhost: a\r\nidempotency-key: a\r\n b\r\ncontent-length: 0\r\n\r\n").await;
    assert!(client.head().await.starts_with("HTTP/1.1 400"));
    assert_eq!(upstream.effects(), 0);
}

#[tokio::test]
async fn a_key_of_255_characters_is_taken() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let longest = "k".repeat(255);
    bridge.post("/charges", &longest, "{}").await.is(201, "charge 1");
    bridge.post("/charges", &longest, "{}").await.is_replay(201, "charge 1");
}

#[tokio::test]
async fn quoted_and_bare_are_the_same_key() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    bridge.post("/charges", "\"order-1\"", "{}").await.is(201, "charge 1");
    bridge.post("/charges", "order-1", "{}").await.is_replay(201, "charge 1");
    bridge.post("/charges", "  \"order-1\" ", "{}").await.is_replay(201, "charge 1");
    bridge.post("/charges", "\"order-\\\"1\"", "{}").await.is(201, "charge 2");
    assert_eq!(upstream.effects(), 2);
}

// The payload.

async fn same(bridge: &Bridge, key: &str, one: &str, other: &str) {
    bridge.post("/charges", key, one.to_owned()).await;
    assert!(bridge.post("/charges", key, other.to_owned()).await.replayed(), "{one} and {other}");
}

async fn differ(bridge: &Bridge, key: &str, one: &str, other: &str) {
    bridge.post("/charges", key, one.to_owned()).await;
    let reply = bridge.post("/charges", key, other.to_owned()).await;
    reply.problem(422, "idempotency-key-reused");
    assert_eq!(reply.header("retry-after"), None);
}

#[tokio::test]
async fn the_same_json_in_another_writing_is_the_same_payload() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    same(&bridge, "order", r#"{"a":1,"b":[1,2]}"#, r#"{"b":[1,2],"a":1}"#).await;
    same(&bridge, "space", r#"{"a":1}"#, " { \"a\" : 1 }\n").await;
    same(&bridge, "escape", r#"{"a":"\u0041\/"}"#, r#"{"a":"A/"}"#).await;
    assert_eq!(upstream.effects(), 3);
}

#[tokio::test]
async fn another_payload_is_refused() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    differ(&bridge, "amount", r#"{"amount":1}"#, r#"{"amount":2}"#).await;
    differ(&bridge, "array", "[1,2]", "[2,1]").await;
    differ(&bridge, "large", "9007199254740993", "9007199254740992").await;
    differ(&bridge, "written", "1.0", "1").await;
    differ(&bridge, "twice", r#"{"a":1,"a":2}"#, r#"{"a":2}"#).await;
    differ(&bridge, "empty", "{}", "").await;
    assert_eq!(upstream.effects(), 6);
}

#[tokio::test]
async fn another_target_method_or_media_type_is_another_payload() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    bridge.post("/charges?a=1&b=2", "k", "{}").await.is(201, "charge 1");
    for path in ["/charges?b=2&a=1", "/charges?a=1", "/charges", "/charges/?a=1&b=2"] {
        bridge.post(path, "k", "{}").await.problem(422, "idempotency-key-reused");
    }
    let mut patch = bridge.posting("/charges?a=1&b=2", "k", "{}");
    *patch.method_mut() = http::Method::PATCH;
    bridge.send(patch).await.problem(422, "idempotency-key-reused");
    let mut text = bridge.posting("/charges?a=1&b=2", "k", "{}");
    text.headers_mut().insert("content-type", HeaderValue::from_static("text/plain"));
    bridge.send(text).await.problem(422, "idempotency-key-reused");
    let mut parameter = bridge.posting("/charges?a=1&b=2", "k", "{}");
    parameter.headers_mut().insert("content-type", HeaderValue::from_static("Application/JSON; charset=utf-8"));
    bridge.send(parameter).await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

/// Headers that change from try to try (a date, a trace) are no part of the payload.
#[tokio::test]
async fn other_headers_are_the_same_payload() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    for trace in ["one", "two"] {
        let mut request = bridge.posting("/charges", "k", "{}");
        request.headers_mut().insert("traceparent", HeaderValue::from_static(trace));
        bridge.send(request).await;
    }
    assert_eq!(upstream.effects(), 1);
}
