//! Real sockets for tests: upstreams and clients that do, byte for byte, what a test tells them; a clock that stands still;
//! certificates.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use leasehold::bridge::tls::TlsFiles;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// One end of a connection.
pub struct Wire {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Wire {
    pub async fn to(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).await.unwrap())
    }

    fn of(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// The same where the other end may close before it has taken all.
    pub async fn try_send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Everything up to and including this text.
    pub async fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.buffer.windows(text.len()).position(|window| window == text.as_bytes()) {
                let rest = self.buffer.split_off(at + text.len());
                return String::from_utf8(std::mem::replace(&mut self.buffer, rest)).unwrap();
            }
            let read = self.stream.read_buf(&mut self.buffer).await.unwrap_or(0);
            assert!(read > 0, "ended before {text:?}: {:?}", String::from_utf8_lossy(&self.buffer));
        }
    }

    /// The next head.
    pub async fn head(&mut self) -> String {
        self.until("\r\n\r\n").await
    }

    /// The next request or answer with a Content-Length, or without a body.
    pub async fn message(&mut self) -> (String, String) {
        let head = self.head().await;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        let length = length.unwrap_or(0);
        while self.buffer.len() < length {
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "the body was cut");
        }
        let rest = self.buffer.split_off(length);
        (head, String::from_utf8(std::mem::replace(&mut self.buffer, rest)).unwrap())
    }

    /// Waits until the other end has closed, or broken, the connection; what came before.
    pub async fn closed(mut self) -> String {
        while self.stream.read_buf(&mut self.buffer).await.is_ok_and(|read| read > 0) {}
        String::from_utf8(self.buffer).unwrap()
    }

    /// The same, and whether it was broken: an end that is none, by which HTTP/1.0 tells a part from the whole.
    pub async fn broken(mut self) -> (String, bool) {
        loop {
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) => return (String::from_utf8(self.buffer).unwrap(), false),
                Ok(_) => {}
                Err(_) => return (String::from_utf8(self.buffer).unwrap(), true),
            }
        }
    }

    /// The same where the bytes are not looked at.
    pub async fn closed_binary(mut self) {
        while self.stream.read_buf(&mut self.buffer).await.is_ok_and(|read| read > 0) {}
    }

    /// The address of this end.
    pub fn own_address(&self) -> SocketAddr {
        self.stream.local_addr().unwrap()
    }

    /// Breaks the connection: the other end gets a reset.
    pub fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

/// An upstream: each connection plays `script`, which is told its number, from 0.
pub async fn upstream<Play>(script: impl Fn(usize, Wire) -> Play + Send + 'static) -> SocketAddr
where
    Play: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(script(number, Wire::of(stream)));
        }
    });
    address
}

/// A body whose pieces come as a test sends them, and which ends when the sender is dropped.
pub struct Pieces(mpsc::UnboundedReceiver<Bytes>);

impl Pieces {
    pub fn new() -> (mpsc::UnboundedSender<Bytes>, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (sender, Self(receiver))
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// An address where nobody listens.
pub async fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

pub const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// While this lives, time moves by [`pass`] alone: no limit is reached because a machine is slow, and none is
/// waited for. (A blocking task keeps tokio from advancing a paused clock by itself.)
pub struct FrozenClock {
    _release: std::sync::mpsc::Sender<()>,
}

/// What a test on a frozen clock waits for comes at once or never: it is not left hanging.
const PATIENCE: Duration = Duration::from_secs(120);

impl FrozenClock {
    pub fn begin() -> Self {
        let (release, released) = std::sync::mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || {
            if released.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                eprintln!("a test on a frozen clock waits for what does not come");
                std::process::abort();
            }
        });
        tokio::time::pause();
        Self { _release: release }
    }
}

/// Moves a frozen clock past a limit: tokio's timers go off at the next whole millisecond.
pub async fn pass(duration: Duration) {
    tokio::time::advance(duration + Duration::from_millis(1)).await;
}

/// Lets a frozen clock go on, a step at a time, until this has ended: within a thousand steps, most of which an idle runtime
/// needs to take a connection.
pub async fn pass_until<T>(step: Duration, task: JoinHandle<T>) -> T {
    for _ in 0..1_000 {
        if task.is_finished() {
            break;
        }
        pass(step).await;
        tokio::task::yield_now().await;
    }
    assert!(task.is_finished(), "no end within a thousand times {step:?}");
    task.await.unwrap()
}

/// An authority, and a server that it vouches for, as files.
pub struct Certificates {
    pub authority: PathBuf,
    pub server: TlsFiles,
    pub folder: TempDir,
}

impl Certificates {
    pub fn for_localhost() -> Self {
        let mut authority = CertificateParams::new([]).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let server = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let files = TlsFiles { certificates: write("server.pem", server.pem()), key: write("server.key", key.serialize_pem()) };
        Self { authority: write("authority.pem", authority.pem()), server: files, folder }
    }
}
