//! What is handed on, and what is not.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use leasehold::bridge::forward::{ForwardOptions, HostHeader};
use leasehold::bridge::peer::{Peer, Transport};
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::net::{OK, Pieces, nobody, upstream};
use crate::{forward, forward_with, post, text};

#[tokio::test]
async fn request_and_answer_pass_without_what_belongs_to_their_connections() {
    let address = upstream(|_, mut wire| async move {
        let (head, body) = wire.message().await;
        let mut lines: Vec<&str> = head.lines().filter(|line| !line.is_empty()).collect();
        lines[1..].sort_unstable();
        let expected = [
            "POST /v1/pay?order=1 HTTP/1.1".to_owned(),
            "content-length: 4".to_owned(),
            format!("host: {}", wire.own_address()),
            "idempotency-key: k".to_owned(),
            "x-forwarded-for: 192.0.2.7".to_owned(),
            "x-forwarded-host: pay.example".to_owned(),
            "x-forwarded-proto: https".to_owned(),
        ];
        assert_eq!(lines, expected);
        assert_eq!(body, "body");
        let head = "HTTP/1.1 201 Created\r\nx-first: 1\r\nset-cookie: a=1\r\nconnection: x-mine\r\nx-mine: 1\r\n\
            keep-alive: timeout=5\r\nx-last: 2\r\nset-cookie: b=2\r\ncontent-length: 4\r\n\r\nmade";
        wire.send(head).await;
        wire.closed().await;
    })
    .await;
    let mut request = post("body");
    request.headers_mut().insert("idempotency-key", "k".parse().unwrap());
    request.headers_mut().insert("connection", "keep-alive, te".parse().unwrap());
    request.headers_mut().insert("te", "trailers".parse().unwrap());
    request.extensions_mut().insert(Peer { address: "192.0.2.7:1".parse().unwrap(), transport: Transport::Tls });
    let forward = forward_with(&format!("http://{address}/v1/"), &ForwardOptions::default());
    let response = forward.oneshot(request).await.unwrap();
    assert_eq!(response.status(), 201);
    let names: Vec<&str> = response.headers().keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["x-first", "set-cookie", "x-last", "content-length"]);
    assert_eq!(response.headers().get_all("set-cookie").iter().count(), 2);
    assert_eq!(text(response).await, "made");
}

#[tokio::test]
async fn the_clients_host_is_kept_where_the_settings_say_so() {
    let (told, mut hosts) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            let (head, _) = wire.message().await;
            told.send(head.lines().find(|line| line.starts_with("host:")).unwrap().to_owned()).unwrap();
            wire.send(OK).await;
        }
    })
    .await;
    let options = ForwardOptions { host: HostHeader::Client, ..ForwardOptions::default() };
    forward_with(&format!("http://{address}"), &options).oneshot(post("")).await.unwrap();
    assert_eq!(hosts.recv().await.unwrap(), "host: pay.example");
}

#[tokio::test]
async fn an_answer_is_handed_on_as_it_comes() {
    let (go_on, mut wait) = mpsc::channel::<()>(1);
    let wait = Arc::new(tokio::sync::Mutex::new(Some(async move { wait.recv().await })));
    let address = upstream(move |_, mut wire| {
        let wait = Arc::clone(&wait);
        async move {
            wire.head().await;
            wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n").await;
            wait.lock().await.take().unwrap().await;
            wire.send("6\r\nsecond\r\n0\r\n\r\n").await;
            wire.closed().await;
        }
    })
    .await;
    let mut body = forward(address).oneshot(post("")).await.unwrap().into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
    go_on.send(()).await.unwrap();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "second");
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn a_request_is_handed_on_as_it_comes() {
    let (told, mut heard) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            told.send(wire.until("first\r\n").await).unwrap();
            told.send(wire.until("0\r\n\r\n").await).unwrap();
            wire.send(OK).await;
        }
    })
    .await;
    let (pieces, body) = Pieces::new();
    let request = Request::post("/").body(Body::new(body)).unwrap();
    let answer = tokio::spawn(forward(address).oneshot(request));
    pieces.send(Bytes::from_static(b"first")).unwrap();
    assert!(heard.recv().await.unwrap().contains("transfer-encoding: chunked"));
    pieces.send(Bytes::from_static(b"second")).unwrap();
    drop(pieces);
    assert!(heard.recv().await.unwrap().contains("second"));
    assert_eq!(answer.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn what_no_upstream_is_asked_is_answered_here() {
    let address = nobody().await;
    let answer =
        |request: Request<Body>| forward_with(&format!("http://{address}/prefix"), &ForwardOptions::default()).oneshot(request);
    let connect = Request::builder().method(Method::CONNECT).uri("elsewhere:443").body(Body::empty()).unwrap();
    assert_eq!(answer(connect).await.unwrap().status(), StatusCode::NOT_IMPLEMENTED);
    let long = Request::post(format!("/{}", "t".repeat(65_530))).body(Body::empty()).unwrap();
    assert_eq!(answer(long).await.unwrap().status(), StatusCode::URI_TOO_LONG);
}
