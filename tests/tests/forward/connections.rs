//! Connections: how long they are kept, and what a closed one costs.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use leasehold::bridge::forward::IDLE_CONNECTION_MAX;
use leasehold_decision::http::Failure;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tower::ServiceExt;

use crate::net::{FrozenClock, OK, pass_until, upstream};
use crate::{failed, forward, post, text};

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

/// An upstream that closes idle connections. It runs in a thread of its own and is waited for without letting the runtime look
/// at its sockets, so that the pool takes the closed connection for a good one: the request that finds it closed was not
/// written, and goes out on another.
#[tokio::test]
async fn a_connection_that_was_closed_while_idle_costs_nothing() {
    let mut upstream = Blocking::start();
    let forward = forward(upstream.address);
    for end in [End::Close, End::Reset].into_iter().cycle().take(20) {
        assert_eq!(text(forward.clone().oneshot(post("x")).await.unwrap()).await, "ok", "after {end:?}");
        upstream.end(end);
    }
}

/// Nor does it where there is no other one.
#[tokio::test]
async fn a_connection_that_was_closed_by_an_upstream_that_is_gone_was_never_reached() {
    for end in [End::Close, End::Reset] {
        let mut upstream = Blocking::start();
        let forward = forward(upstream.address);
        assert_eq!(text(forward.clone().oneshot(post("x")).await.unwrap()).await, "ok");
        upstream.end(end);
        upstream.gone();
        failed(forward.oneshot(post("x")).await, Failure::NeverReached);
    }
}

/// A connection that is new, and closed after every possible step of client and connection: the request was never reached where
/// the upstream has nothing of it, and broke where it has.
#[tokio::test]
async fn whenever_a_connection_is_closed_it_is_known_whether_anything_was_sent() {
    let mut known = Vec::new();
    for steps in 0..20 {
        let upstream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        upstream.set_nonblocking(true).unwrap();
        let mut answer = pin!(forward(upstream.local_addr().unwrap()).oneshot(post("x")));
        for step in 0..=steps {
            match step % 2 {
                0 => tokio::select! {
                    biased;
                    answer = answer.as_mut() => panic!("{answer:?}"),
                    () = std::future::ready(()) => {}
                },
                _ => tokio::task::yield_now().await,
            }
        }
        // The system makes the connection at the first step, whether or not the runtime has seen it.
        let (stream, _) = upstream.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let sent = stream.peek(&mut [0]).is_ok();
        drop(stream);
        failed(answer.await, if sent { Failure::Broke } else { Failure::NeverReached });
        known.push(sent);
    }
    assert!(known.is_sorted() && known.contains(&false) && known.contains(&true), "{known:?}");
}

#[derive(Clone, Copy, Debug)]
enum End {
    Close,
    Reset,
}

/// An upstream in a thread of its own: takes a connection, answers one request, and ends the connection as it is told.
struct Blocking {
    address: SocketAddr,
    thread: Option<std::thread::JoinHandle<()>>,
    end: Option<std::sync::mpsc::Sender<End>>,
    ended: std::sync::mpsc::Receiver<()>,
}

impl Blocking {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ends) = std::sync::mpsc::channel();
        let (tell, ended) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if stream.read(&mut byte).unwrap() == 0 {
                        return;
                    }
                    head.extend(byte);
                }
                stream.peek(&mut [0]).unwrap();
                stream.write_all(OK.as_bytes()).unwrap();
                match ends.recv() {
                    Ok(End::Close) => stream.read_exact(&mut [0]).unwrap(),
                    // What is closed with something unread is reset.
                    Ok(End::Reset) => {}
                    Err(_) => return,
                }
                drop(stream);
                tell.send(()).unwrap();
            }
        });
        Self { address, thread: Some(thread), end: Some(end), ended }
    }

    /// The runtime is not let to look at its sockets meanwhile.
    fn end(&mut self, end: End) {
        self.end.as_ref().unwrap().send(end).unwrap();
        self.ended.recv().unwrap();
    }

    /// Nobody listens any more.
    fn gone(&mut self) {
        self.end = None;
        drop(std::net::TcpStream::connect(self.address));
        self.thread.take().unwrap().join().unwrap();
    }
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
    let begun = Instant::now();
    assert_eq!(pass_until(Duration::from_millis(500), ended).await, "");
    // Below the shortest that upstreams commonly keep theirs, and a step to see it.
    assert!(IDLE_CONNECTION_MAX < Duration::from_secs(2));
    assert!(begun.elapsed() >= IDLE_CONNECTION_MAX);
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
