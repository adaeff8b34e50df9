//! WebSockets pass; no other protocol does.

use std::time::Duration;

use leasehold::bridge::listen::Listener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::forward;
use crate::net::{Wire, upstream};

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
