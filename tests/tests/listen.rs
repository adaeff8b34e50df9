//! The port: both versions of HTTP, with and without TLS; what a client can make it wait for or hold; how it ends.

mod net;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response, Version};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use leasehold::bridge::forward::{Forward, ForwardOptions, HostHeader};
use leasehold::bridge::listen::{
    Ended, FIRST_REQUEST_TIMEOUT, HEAD_BYTES_MAX, HEADER_LINES_MAX, ListenError, Listener, NEXT_REQUEST_TIMEOUT,
};
use leasehold::bridge::peer::{Peer, Transport};
use leasehold::bridge::tls::{TlsFiles, Trust};
use net::{Certificates, FrozenClock, Wire, pass, pass_until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const GRACE: Duration = Duration::from_secs(5);

/// A listener whose service tells of each request, and waits on `/wait` until it is released.
struct Server {
    address: SocketAddr,
    stop: CancellationToken,
    ended: JoinHandle<Ended>,
    begun: mpsc::UnboundedReceiver<(Version, Peer)>,
    release: Arc<Semaphore>,
}

impl Server {
    async fn start(tls: Option<&TlsFiles>) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), tls).await.unwrap();
        let (address, stop, release) = (listener.local_addr(), CancellationToken::new(), Arc::new(Semaphore::new(0)));
        let (tell, begun) = mpsc::unbounded_channel();
        let wait = Arc::clone(&release);
        let service = tower::service_fn(move |request: Request<Body>| {
            let _ = tell.send((request.version(), *request.extensions().get::<Peer>().unwrap()));
            let wait = Arc::clone(&wait);
            async move {
                match request.uri().path() {
                    "/wait" => wait.acquire().await.unwrap().forget(),
                    "/stream" => return Ok(Response::new(Body::new(endless()))),
                    "/panic" => panic!("as the test asked"),
                    _ => {}
                }
                Ok::<_, Infallible>(Response::new(Body::from("ok")))
            }
        });
        let ended = tokio::spawn(listener.serve(service, stop.clone(), GRACE));
        Self { address, stop, ended, begun, release }
    }

    async fn begun(&mut self) -> (Version, Peer) {
        self.begun.recv().await.unwrap()
    }
}

/// A body that has begun and never ends.
fn endless() -> net::Pieces {
    let (send, body) = net::Pieces::new();
    send.send("begun".into()).unwrap();
    std::mem::forget(send);
    body
}

fn h2() -> Client<hyper_util::client::legacy::connect::HttpConnector, Body> {
    Client::builder(TokioExecutor::new()).http2_only(true).build_http()
}

fn request(address: SocketAddr, path: &str) -> Request<Body> {
    Request::get(format!("http://{address}{path}")).body(Body::empty()).unwrap()
}

// What it speaks.

#[tokio::test]
async fn http_1_is_spoken_and_a_connection_is_used_again() {
    let mut server = Server::start(None).await;
    let mut client = Wire::to(server.address).await;
    for _ in 0..3 {
        client.send(GET).await;
        assert_eq!(client.message().await.1, "ok");
        let (version, peer) = server.begun().await;
        assert_eq!(version, Version::HTTP_11);
        assert_eq!(peer, Peer { address: client.own_address(), transport: Transport::Plain });
    }
}

#[tokio::test]
async fn http_2_is_spoken_by_those_who_know() {
    let mut server = Server::start(None).await;
    let answer = h2().request(request(server.address, "/")).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ok");
    assert_eq!(server.begun().await.0, Version::HTTP_2);
}

#[tokio::test]
async fn tls_is_spoken_and_the_version_is_agreed_on() {
    let certificates = Certificates::for_localhost();
    let mut server = Server::start(Some(&certificates.server)).await;
    let trust = Trust::PemFile(certificates.authority.clone());
    for (host, version) in [(HostHeader::Upstream, Version::HTTP_2), (HostHeader::Client, Version::HTTP_11)] {
        let options = ForwardOptions { trust: trust.clone(), host, ..ForwardOptions::default() };
        let client = Forward::new(format!("https://localhost:{}", server.address.port()).parse().unwrap(), &options).unwrap();
        let request = Request::get("/").header("host", "a").body(Body::empty()).unwrap();
        assert_eq!(client.oneshot(request).await.unwrap().status(), 200);
        let (spoken, peer) = server.begun().await;
        assert_eq!((spoken, peer.transport), (version, Transport::Tls));
    }
}

#[tokio::test]
async fn a_service_that_panics_ends_its_own_connection_alone() {
    let server = Server::start(None).await;
    let mut other = Wire::to(server.address).await;
    let mut client = Wire::to(server.address).await;
    client.send("GET /panic HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(client.closed().await, "");
    other.send(GET).await;
    assert_eq!(other.message().await.1, "ok");
}

// What it may be made to hold.

#[tokio::test]
async fn a_head_that_is_too_large_is_431() {
    let server = Server::start(None).await;
    let lines = |count: usize| "x: y\r\n".repeat(count);
    let large = format!("x: {}\r\n", "y".repeat(HEAD_BYTES_MAX as usize));
    for (head, status) in [(lines(HEADER_LINES_MAX - 1), "200"), (lines(HEADER_LINES_MAX), "431"), (large, "431")] {
        let mut client = Wire::to(server.address).await;
        // The answer may come before the whole of it is taken.
        client.try_send(format!("GET / HTTP/1.1\r\nhost: a\r\n{head}\r\n")).await;
        let answer = client.head().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_431_in_http_2() {
    let server = Server::start(None).await;
    let mut large = request(server.address, "/");
    for index in 0..40 {
        let name = http::HeaderName::from_bytes(format!("x-{index}").as_bytes()).unwrap();
        large.headers_mut().insert(name, "y".repeat(1_000).parse().unwrap());
    }
    assert_eq!(h2().request(large).await.unwrap().status(), 431);
}

/// The frames of a POST whose body does not come yet: `x` has a value of so many bytes, a CONTINUATION holds what HEADERS cannot.
fn http_2_head(value: usize) -> Vec<u8> {
    let frame = |kind: u8, flags: u8, stream: u8, bytes: &[u8]| {
        let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, stream], bytes].concat()
    };
    // RFC 7541: POST, http, "/" and the name of :authority are in the static table; a length past 126 goes on in parts of 7 bits.
    let mut head = b"\x83\x86\x84\x01\x01a\x00\x01x\x7f".to_vec();
    let mut left = value - 127;
    while left >= 128 {
        head.push(u8::try_from(left % 128 + 128).unwrap());
        left /= 128;
    }
    head.push(u8::try_from(left).unwrap());
    head.extend(vec![b'y'; value]);
    let parts: Vec<&[u8]> = head.chunks(16_384).collect();
    let frames = parts.iter().enumerate().map(|(index, part)| {
        let (kind, flags) = (if index == 0 { 1 } else { 9 }, if index + 1 == parts.len() { 4 } else { 0 });
        frame(kind, flags, 1, part)
    });
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(4, 0, 0, &[])].into_iter().chain(frames).collect::<Vec<_>>().concat()
}

/// With a body still to come, h2 resets the stream with PROTOCOL_ERROR behind its own 431, and a client may tell of the reset alone.
/// NO_ERROR says what is meant: the answer is whole, the body is not wanted (RFC 9113, 8.1).
#[tokio::test]
async fn a_head_that_is_too_large_is_431_before_a_body_too() {
    const NO_ERROR: u32 = 0;
    let server = Server::start(None).await;
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    stream.write_all(&http_2_head(HEAD_BYTES_MAX as usize)).await.unwrap();
    let mut answered = false;
    let reset = loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let mut bytes = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        stream.read_exact(&mut bytes).await.unwrap();
        match (head[3], head[8]) {
            (1, 1) => answered = true,
            (3, 1) => break u32::from_be_bytes(bytes.try_into().unwrap()),
            (_, _) => {}
        }
    };
    assert_eq!((answered, reset), (true, NO_ERROR));
}

// What it may be made to wait for.

#[tokio::test]
async fn a_connection_that_brings_no_request_is_ended() {
    let _clock = FrozenClock::begin();
    let server = Server::start(None).await;
    for beginning in ["", "PRI * HT", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "G", "GET / HTTP/1.1\r\nhost: a\r\nx: "] {
        let mut client = Wire::to(server.address).await;
        client.send(beginning).await;
        let ended = tokio::spawn(client.closed_binary());
        pass_until(FIRST_REQUEST_TIMEOUT, ended).await;
    }
}

#[tokio::test]
async fn a_hand_shake_that_does_not_end_is_ended() {
    let _clock = FrozenClock::begin();
    let certificates = Certificates::for_localhost();
    let server = Server::start(Some(&certificates.server)).await;
    let ended = tokio::spawn(Wire::to(server.address).await.closed_binary());
    pass_until(FIRST_REQUEST_TIMEOUT, ended).await;
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_longer_than_a_gateway_keeps_it() {
    let _clock = FrozenClock::begin();
    let server = Server::start(None).await;
    let mut client = Wire::to(server.address).await;
    for _ in 0..2 {
        client.send(GET).await;
        assert_eq!(client.message().await.1, "ok");
        pass(NEXT_REQUEST_TIMEOUT - Duration::from_secs(2)).await;
    }
    client.send("GET / HT").await;
    let ended = tokio::spawn(client.closed());
    assert_eq!(pass_until(NEXT_REQUEST_TIMEOUT, ended).await, "");
}

#[tokio::test]
async fn a_request_under_way_is_not_hurried() {
    let _clock = FrozenClock::begin();
    let mut server = Server::start(None).await;
    let mut client = Wire::to(server.address).await;
    client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.begun().await;
    for limit in [FIRST_REQUEST_TIMEOUT, NEXT_REQUEST_TIMEOUT] {
        pass(limit).await;
        tokio::task::yield_now().await;
    }
    server.release.add_permits(1);
    assert_eq!(client.message().await.1, "ok");
}

// How it ends.

#[tokio::test]
async fn what_is_under_way_is_finished_and_nothing_new_is_taken() {
    let mut server = Server::start(None).await;
    let mut idle = Wire::to(server.address).await;
    idle.send(GET).await;
    idle.message().await;
    server.begun().await;
    let mut client = Wire::to(server.address).await;
    client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.begun().await;
    let second = tokio::spawn(h2().request(request(server.address, "/wait")));
    server.begun().await;
    server.stop.cancel();
    assert_eq!(idle.closed().await, "");
    assert!(tokio::net::TcpStream::connect(server.address).await.is_err());
    assert!(!server.ended.is_finished());
    server.release.add_permits(2);
    let (head, body) = client.message().await;
    assert!(head.contains("connection: close") && body == "ok", "{head}");
    assert_eq!(second.await.unwrap().unwrap().into_body().collect().await.unwrap().to_bytes(), "ok");
    assert_eq!(server.ended.await.unwrap(), Ended { cut: 0 });
}

#[tokio::test]
async fn what_is_not_finished_within_the_grace_is_cut() {
    let _clock = FrozenClock::begin();
    let mut server = Server::start(None).await;
    let mut client = Wire::to(server.address).await;
    client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.begun().await;
    server.stop.cancel();
    assert_eq!(pass_until(GRACE, server.ended).await, Ended { cut: 1 });
    assert_eq!(client.closed().await, "");
}

/// What is cut never looks whole: to HTTP/1.0 a plain close is the end of such an answer.
#[tokio::test]
async fn a_stream_that_is_cut_is_reset_for_http_1_0() {
    let _clock = FrozenClock::begin();
    let server = Server::start(None).await;
    let mut client = Wire::to(server.address).await;
    client.send("GET /stream HTTP/1.0\r\n\r\n").await;
    client.until("begun").await;
    server.stop.cancel();
    assert_eq!(pass_until(GRACE, server.ended).await, Ended { cut: 1 });
    assert_eq!(client.broken().await, (String::new(), true));
}

#[tokio::test]
async fn a_connection_without_a_request_does_not_delay_the_end() {
    let _clock = FrozenClock::begin();
    let server = Server::start(None).await;
    let mut clients = Vec::new();
    for beginning in ["", "PRI * HT", "GET / HTTP/1.1\r\n"] {
        let mut client = Wire::to(server.address).await;
        client.send(beginning).await;
        clients.push(client);
    }
    // Those before it in the queue are taken once this one is served.
    let mut last = Wire::to(server.address).await;
    last.send(GET).await;
    last.message().await;
    server.stop.cancel();
    assert_eq!(server.ended.await.unwrap(), Ended { cut: 0 });
}

// What it cannot be.

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let error = Listener::bind(address, None).await.unwrap_err();
    assert!(matches!(error, ListenError::Bind { .. }) && error.to_string().contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn certificates_and_keys_that_cannot_be_used_are_told() {
    let (mine, other) = (Certificates::for_localhost(), Certificates::for_localhost());
    let key = std::fs::read_to_string(&mine.server.key).unwrap();
    let write = |name: &str, text: &str| {
        let path = mine.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (certificates, good_key) = (|| mine.server.certificates.clone(), || mine.server.key.clone());
    let cases = [
        (mine.folder.path().join("absent"), good_key(), "cannot read"),
        (good_key(), good_key(), "holds no certificate"),
        (certificates(), mine.folder.path().join("absent"), "cannot read"),
        (certificates(), certificates(), "holds no private key"),
        (certificates(), write("cut.key", &key[..key.len() - 40]), "holds no private key"),
        (certificates(), write("empty.key", ""), "holds no private key"),
        (certificates(), other.server.key.clone(), "cannot be used together"),
    ];
    let line = key.lines().nth(1).unwrap();
    for (certificates, key, expected) in cases {
        let files = TlsFiles { certificates, key };
        let error = Listener::bind("127.0.0.1:0".parse().unwrap(), Some(&files)).await.expect_err(expected).to_string();
        assert!(error.contains(expected) && !error.contains(line), "{error}");
    }
}
