//! What is known when there is no answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt;
use leasehold::bridge::forward::{BodyBroke, ForwardLimits, ForwardOptions};
use leasehold_decision::http::Failure;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::net::{FrozenClock, OK, Pieces, nobody, pass, upstream};
use crate::{failed, forward, forward_with, post, text};

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

/// Once the request stands still, silence counts, however long it was under way.
#[tokio::test]
async fn silence_after_a_slow_upload_is_silence() {
    let _clock = FrozenClock::begin();
    let (told, mut heard) = mpsc::unbounded_channel();
    let address = upstream(move |_, mut wire| {
        let told = told.clone();
        async move {
            wire.until("piece\r\n").await;
            told.send(()).unwrap();
            wire.until("0\r\n\r\n").await;
            told.send(()).unwrap();
            wire.closed().await;
        }
    })
    .await;
    let (pieces, body) = Pieces::new();
    let mut request = Request::post("/").body(Body::new(body)).unwrap();
    request.extensions_mut().insert(ForwardLimits { answer_timeout: Some(Duration::from_secs(7)), ..ForwardLimits::default() });
    let answer = tokio::spawn(forward(address).oneshot(request));
    pieces.send(Bytes::from_static(b"piece")).unwrap();
    heard.recv().await.unwrap();
    pass(Duration::from_secs(6)).await;
    drop(pieces);
    heard.recv().await.unwrap();
    pass(Duration::from_secs(6)).await;
    assert!(!answer.is_finished());
    pass(Duration::from_secs(1)).await;
    failed(answer.await.unwrap(), Failure::Silent);
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
