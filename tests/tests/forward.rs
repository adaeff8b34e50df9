//! The way to the upstream: what is handed on, and above all what is known when it fails. A request that was not answered is
//! "never reached" only where nothing of it can have been sent.

mod net;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use leasehold::bridge::forward::{
    BodyBroke, Forward, ForwardError, ForwardLimits, ForwardOptions, HostHeader, IDLE_CONNECTION_MAX,
};
use leasehold::bridge::listen::Listener;
use leasehold::bridge::peer::{Peer, Transport};
use leasehold::bridge::tls::Trust;
use leasehold_decision::http::Failure;
use net::{Certificates, FrozenClock, OK, Pieces, Wire, nobody, pass, upstream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

fn forward_with(url: &str, options: &ForwardOptions) -> Forward {
    Forward::new(url.parse().unwrap(), options).unwrap()
}

fn forward(address: SocketAddr) -> Forward {
    forward_with(&format!("http://{address}"), &ForwardOptions::default())
}

fn post(body: &'static str) -> Request<Body> {
    Request::post("/pay?order=1").header("host", "pay.example").body(Body::from(body)).unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

fn failed(result: Result<Response<Body>, ForwardError>, expected: Failure) -> String {
    let error = result.expect_err("no answer");
    assert_eq!(error.failure(), expected, "{error}");
    error.to_string()
}

// What is handed on.

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

// Connections.

#[tokio::test]
async fn a_connection_is_used_again() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let address = upstream(move |number, mut wire| {
        counted.store(number + 1, Ordering::Relaxed);
        async move {
            loop {
                wire.message().await;
                wire.send(OK).await;
            }
        }
    })
    .await;
    let forward = forward(address);
    for _ in 0..10 {
        assert_eq!(text(forward.clone().oneshot(post("x")).await.unwrap()).await, "ok");
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

/// An upstream that closes idle connections: the request that finds one closed was not sent, and goes out on another.
#[tokio::test]
async fn a_connection_that_was_closed_while_idle_costs_nothing() {
    let (told, mut closed) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            wire.message().await;
            wire.send(OK).await;
            drop(wire);
            told.send(()).unwrap();
        }
    })
    .await;
    let forward = forward(address);
    for _ in 0..50 {
        assert_eq!(text(forward.clone().oneshot(post("x")).await.unwrap()).await, "ok");
        closed.recv().await.unwrap();
    }
    assert!(closed.try_recv().is_err());
}

#[tokio::test]
async fn an_idle_connection_is_not_kept_for_long() {
    let _clock = FrozenClock::begin();
    let (told, mut ended) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            wire.message().await;
            wire.send(OK).await;
            told.send(wire.closed().await).unwrap();
        }
    })
    .await;
    let forward = forward(address);
    assert_eq!(text(forward.clone().oneshot(post("x")).await.unwrap()).await, "ok");
    let ended = tokio::spawn(async move { ended.recv().await.unwrap() });
    while !ended.is_finished() {
        pass(IDLE_CONNECTION_MAX).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(ended.await.unwrap(), "");
}

// What is known when it fails.

#[tokio::test]
async fn a_refused_connection_never_reached_the_upstream() {
    let address = nobody().await;
    let message = failed(forward(address).oneshot(post("x")).await, Failure::NeverReached);
    assert!(message.contains(&address.to_string()) && message.contains("refused"), "{message}");
}

#[tokio::test]
async fn a_name_that_nobody_has_never_reached_the_upstream() {
    let forward = forward_with("http://nobody.invalid:9000", &ForwardOptions::default());
    failed(forward.oneshot(post("x")).await, Failure::NeverReached);
}

#[tokio::test]
async fn a_failed_hand_shake_never_reached_the_upstream() {
    let address = upstream(|_, mut wire| async move { wire.send("HTTP/1.1 400 Bad Request\r\n\r\n").await }).await;
    let forward = forward_with(&format!("https://{address}"), &ForwardOptions::default());
    failed(forward.oneshot(post("x")).await, Failure::NeverReached);
}

#[tokio::test]
async fn a_hand_shake_that_does_not_end_never_reached_the_upstream() {
    let _clock = FrozenClock::begin();
    let (told, mut began) = mpsc::unbounded_channel();
    let address = upstream(move |_, wire| {
        told.send(()).unwrap();
        async move {
            wire.closed_binary().await;
        }
    })
    .await;
    let options = ForwardOptions { connect_timeout: Duration::from_secs(3), ..ForwardOptions::default() };
    let answer = tokio::spawn(forward_with(&format!("https://{address}"), &options).oneshot(post("x")));
    began.recv().await.unwrap();
    pass(Duration::from_secs(4)).await;
    let message = failed(answer.await.unwrap(), Failure::NeverReached);
    assert!(message.ends_with("no connection within 3 s"), "{message}");
}

/// Past its lease nothing may leave the host, however long a connection takes.
#[tokio::test]
async fn what_is_not_sent_in_time_is_not_sent() {
    let _clock = FrozenClock::begin();
    let (told, mut began) = mpsc::unbounded_channel();
    let address = upstream(move |_, wire| {
        told.send(()).unwrap();
        async move {
            wire.closed_binary().await;
        }
    })
    .await;
    let mut request = post("x");
    let send_before = Some(Instant::now() + Duration::from_secs(2));
    request.extensions_mut().insert(ForwardLimits { send_before, ..ForwardLimits::default() });
    let answer = tokio::spawn(forward_with(&format!("https://{address}"), &ForwardOptions::default()).oneshot(request));
    began.recv().await.unwrap();
    pass(Duration::from_secs(2)).await;
    let message = failed(answer.await.unwrap(), Failure::NeverReached);
    assert!(message.contains("has passed"), "{message}");
}

#[tokio::test]
async fn what_comes_too_late_is_not_sent_even_where_a_connection_waits() {
    let _clock = FrozenClock::begin();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let address = upstream(move |_, mut wire| {
        let counted = Arc::clone(&counted);
        async move {
            loop {
                wire.message().await;
                counted.fetch_add(1, Ordering::Relaxed);
                wire.send(OK).await;
            }
        }
    })
    .await;
    let forward = forward(address);
    assert_eq!(text(forward.clone().oneshot(post("x")).await.unwrap()).await, "ok");
    let late = |send_before| {
        let mut request = post("x");
        request.extensions_mut().insert(ForwardLimits { send_before: Some(send_before), ..ForwardLimits::default() });
        forward.clone().oneshot(request)
    };
    failed(late(Instant::now()).await, Failure::NeverReached);
    assert_eq!(text(late(Instant::now() + Duration::from_secs(1)).await.unwrap()).await, "ok");
    assert_eq!(requests.load(Ordering::Relaxed), 2);
}

/// The upstream read the request and went away: nobody knows, and it must not be sent again.
#[tokio::test]
async fn an_upstream_that_dies_with_the_request_broke() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let address = upstream(move |_, mut wire| {
        let counted = Arc::clone(&counted);
        async move {
            loop {
                let (_, body) = wire.message().await;
                counted.fetch_add(1, Ordering::Relaxed);
                match body.as_str() {
                    "close" => return,
                    "reset" => return wire.reset(),
                    "half" => return wire.send("HTTP/1.1 200 OK\r\ncontent-le").await,
                    "nonsense" => return wire.send("I am a teapot\r\n\r\n").await,
                    _ => wire.send(OK).await,
                }
            }
        }
    })
    .await;
    let forward = forward(address);
    let mut sent = 0;
    for way in ["close", "reset", "half", "nonsense"] {
        // On a connection that is new, and on one that was used before.
        for before in [0, 1] {
            for _ in 0..before {
                assert_eq!(text(forward.clone().oneshot(post("answer")).await.unwrap()).await, "ok");
            }
            failed(forward.clone().oneshot(post(way)).await, Failure::Broke);
            sent += before + 1;
            assert_eq!(requests.load(Ordering::Relaxed), sent, "{way}");
        }
    }
}

#[tokio::test]
async fn an_upstream_that_changes_the_protocol_unasked_broke() {
    let address = upstream(|_, mut wire| async move {
        wire.message().await;
        wire.send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n").await;
        wire.closed().await;
    })
    .await;
    failed(forward(address).oneshot(post("x")).await, Failure::Broke);
}

#[tokio::test]
async fn an_upstream_that_does_not_answer_is_silent_and_let_go() {
    let _clock = FrozenClock::begin();
    let (told, mut read) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            wire.message().await;
            told.send("read").unwrap();
            wire.closed().await;
            told.send("closed").unwrap();
        }
    })
    .await;
    let mut request = post("x");
    request.extensions_mut().insert(ForwardLimits { answer_timeout: Some(Duration::from_secs(7)), ..ForwardLimits::default() });
    let answer = tokio::spawn(forward(address).oneshot(request));
    assert_eq!(read.recv().await, Some("read"));
    pass(Duration::from_secs(6)).await;
    assert!(!answer.is_finished());
    pass(Duration::from_secs(1)).await;
    let message = failed(answer.await.unwrap(), Failure::Silent);
    assert!(message.ends_with("did not answer within 7 s"), "{message}");
    assert_eq!(read.recv().await, Some("closed"));
}

/// An upload may take longer than the wait for the answer: that begins when the request stands still.
#[tokio::test]
async fn a_slow_upload_is_not_silence() {
    let _clock = FrozenClock::begin();
    let (told, mut heard) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            for _ in 0..5 {
                wire.until("piece\r\n").await;
                told.send(()).unwrap();
            }
            wire.until("0\r\n\r\n").await;
            wire.send(OK).await;
        }
    })
    .await;
    let (pieces, body) = Pieces::new();
    let mut request = Request::post("/").body(Body::new(body)).unwrap();
    request.extensions_mut().insert(ForwardLimits { answer_timeout: Some(Duration::from_secs(7)), ..ForwardLimits::default() });
    let answer = tokio::spawn(forward(address).oneshot(request));
    for _ in 0..5 {
        pieces.send(Bytes::from_static(b"piece")).unwrap();
        heard.recv().await.unwrap();
        pass(Duration::from_secs(6)).await;
    }
    drop(pieces);
    assert_eq!(answer.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_told_from_one_that_ends() {
    let cut = [
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\nnonsense\r\n",
    ];
    for answer in cut {
        let address = upstream(move |_, mut wire| async move {
            wire.message().await;
            wire.send(answer).await;
        })
        .await;
        let mut body = forward(address).oneshot(post("x")).await.unwrap().into_body();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
        let error = body.frame().await.unwrap().unwrap_err();
        let broke = BodyBroke::find(&error).expect("a typed error");
        assert_eq!(broke.failure(), Failure::Broke);
    }
}

// TLS.

struct Https {
    certificates: Certificates,
    address: SocketAddr,
    _stop: tokio_util::sync::DropGuard,
}

/// Answers with the version and the host of the request.
async fn https() -> Https {
    let certificates = Certificates::for_localhost();
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), Some(&certificates.server)).await.unwrap();
    let address = listener.local_addr();
    let stop = CancellationToken::new();
    let service = tower::service_fn(|request: Request<Body>| async move {
        let host = match request.uri().authority() {
            Some(authority) => authority.to_string(),
            None => request.headers()["host"].to_str().unwrap().to_owned(),
        };
        Ok::<_, std::convert::Infallible>(Response::new(Body::from(format!("{:?} {host}", request.version()))))
    });
    tokio::spawn(listener.serve(service, stop.clone(), Duration::ZERO));
    Https { certificates, address, _stop: stop.drop_guard() }
}

#[tokio::test]
async fn an_upstream_behind_tls_is_spoken_to_in_http_2() {
    let https = https().await;
    let trust = Trust::PemFile(https.certificates.authority.clone());
    let url = format!("https://localhost:{}", https.address.port());
    let forward = forward_with(&url, &ForwardOptions { trust: trust.clone(), ..ForwardOptions::default() });
    let expected = format!("HTTP/2.0 localhost:{}", https.address.port());
    assert_eq!(text(forward.oneshot(post("x")).await.unwrap()).await, expected);
    let keep = ForwardOptions { trust, host: HostHeader::Client, ..ForwardOptions::default() };
    assert_eq!(text(forward_with(&url, &keep).oneshot(post("x")).await.unwrap()).await, "HTTP/1.1 pay.example");
}

#[tokio::test]
async fn an_upstream_that_nobody_vouches_for_is_never_reached() {
    let https = https().await;
    let url = format!("https://localhost:{}", https.address.port());
    failed(forward_with(&url, &ForwardOptions::default()).oneshot(post("x")).await, Failure::NeverReached);
    let other = Trust::PemFile(Certificates::for_localhost().authority);
    assert!(Forward::new(url.parse().unwrap(), &ForwardOptions { trust: other, ..ForwardOptions::default() }).is_err());
    let mine = Trust::PemFile(https.certificates.authority.clone());
    let another_name = format!("https://127.0.0.2:{}", https.address.port());
    let forward = forward_with(&another_name, &ForwardOptions { trust: mine, ..ForwardOptions::default() });
    failed(forward.oneshot(post("x")).await, Failure::NeverReached);
}

#[tokio::test]
async fn a_trust_file_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, text: Option<&str>, expected: &str| {
        let path = folder.path().join(name);
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let options = ForwardOptions { trust: Trust::PemFile(path), ..ForwardOptions::default() };
        let error = Forward::new("https://a".parse().unwrap(), &options).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}");
    };
    check("absent.pem", None, "cannot read");
    check("empty.pem", Some(""), "holds no certificate");
    check("broken.pem", Some("-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n"), "not a PEM file");
    check("odd.pem", Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "certificate 1");
}

// WebSockets.

#[tokio::test]
async fn a_websocket_passes_through() {
    let address = upstream(|_, mut wire| async move {
        let head = wire.head().await;
        assert!(head.contains("connection: upgrade\r\n") && head.contains("upgrade: websocket\r\n"), "{head}");
        wire.send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nx-a: 1\r\n\r\nhello").await;
        assert_eq!(wire.until("there").await, "there");
        wire.send("bye").await;
    })
    .await;
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
    let here = listener.local_addr();
    let stop = CancellationToken::new();
    tokio::spawn(listener.serve(forward(address), stop.clone(), Duration::ZERO));
    let mut client = Wire::to(here).await;
    client.send("GET /chat HTTP/1.1\r\nhost: a\r\nconnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n\r\n").await;
    let head = client.head().await;
    assert!(head.starts_with("HTTP/1.1 101 ") && head.contains("upgrade: websocket") && head.contains("x-a: 1"), "{head}");
    assert_eq!(client.until("hello").await, "hello");
    client.send("there").await;
    assert_eq!(client.closed().await, "bye");
    stop.cancel();
}

/// A refusal of the WebSocket is an answer like any other; a wish for another protocol is not handed on.
#[tokio::test]
async fn another_upgrade_is_an_ordinary_request() {
    let (told, mut heads) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            told.send(wire.head().await).unwrap();
            wire.send("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 2\r\n\r\nno").await;
        }
    })
    .await;
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
    let here = listener.local_addr();
    let stop = CancellationToken::new();
    tokio::spawn(listener.serve(forward(address), stop.clone(), Duration::ZERO));
    for (protocol, handed_on) in [("websocket", true), ("h2c", false)] {
        let mut client = Wire::to(here).await;
        client.send(format!("GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: {protocol}\r\n\r\n")).await;
        let (head, body) = client.message().await;
        assert!(head.starts_with("HTTP/1.1 426 ") && body == "no", "{head}");
        assert_eq!(heads.recv().await.unwrap().contains("upgrade"), handed_on, "{protocol}");
    }
    stop.cancel();
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_the_request() {
    let (told, closed) = oneshot::channel();
    let told = Arc::new(std::sync::Mutex::new(Some(told)));
    let (read, mut has_read) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let (told, read) = (Arc::clone(&told), read.clone());
        async move {
            wire.message().await;
            read.send(()).unwrap();
            let rest = wire.closed().await;
            told.lock().unwrap().take().unwrap().send(rest).unwrap();
        }
    })
    .await;
    let answer = tokio::spawn(forward(address).oneshot(post("x")));
    has_read.recv().await.unwrap();
    answer.abort();
    assert_eq!(closed.await.unwrap(), "");
}
