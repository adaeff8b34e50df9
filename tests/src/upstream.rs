//! An API to be protected: a real server on a real port. It books each request once it has read it whole, then does what the test
//! tells it: answer anything, wait, break off.
//!
//! Knows nothing of the bridge. What must be wrong byte for byte is done by the raw sockets of `tests/net/`.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri, Version};
use http_body::Frame;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::wait::within;

/// The connection ends without an answer.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broke(&'static str);

impl From<&'static str> for Broke {
    fn from(why: &'static str) -> Self {
        Self(why)
    }
}

/// What the upstream does: an error ends the connection without an answer.
pub type Played = Result<Response<Body>, Broke>;

/// A request as it was booked.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the parts of a request")]
pub struct Asked {
    /// Which one, from 1.
    pub number: usize,
    pub method: Method,
    pub target: Uri,
    pub version: Version,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Asked {
    /// A header as text; empty where it is not there.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// The server, and what it has booked.
#[derive(Debug)]
pub struct Upstream {
    /// Where it is.
    pub address: SocketAddr,
    booked: watch::Receiver<Vec<Asked>>,
}

impl Upstream {
    /// Starts one that plays this for each request.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn start<Play>(play: impl Fn(Asked) -> Play + Send + Sync + 'static) -> Self
    where
        Play: Future<Output = Played> + Send + 'static,
    {
        Self::on(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), play)
    }

    /// Starts one on a port that is open.
    ///
    /// # Panics
    /// The port has no address.
    pub fn on<Play>(listener: TcpListener, play: impl Fn(Asked) -> Play + Send + Sync + 'static) -> Self
    where
        Play: Future<Output = Played> + Send + 'static,
    {
        let address = listener.local_addr().expect("a bound port has an address");
        let (book, booked) = watch::channel(Vec::new());
        let (play, book) = (Arc::new(play), Arc::new(book));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (play, book) = (Arc::clone(&play), Arc::clone(&book));
                tokio::spawn(async move {
                    let _ = stream.set_nodelay(true);
                    let service = service_fn(move |request: Request<Incoming>| {
                        let (play, book) = (Arc::clone(&play), Arc::clone(&book));
                        async move {
                            match booked_as(request, &book).await {
                                Ok(asked) => play(asked).await,
                                Err(_) => Err(Broke("the request broke off")),
                            }
                        }
                    });
                    let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, booked }
    }

    /// Starts one that answers `201` with a body that names the request's number, so that a replay is told from a second effect.
    pub async fn charging() -> Self {
        Self::start(|asked| async move { Ok(charged(&asked)) }).await
    }

    /// Starts one that does the same, once the gate is open.
    pub async fn gated(gate: &Gate) -> Self {
        let gate = gate.clone();
        Self::start(move |asked| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                Ok(charged(&asked))
            }
        })
        .await
    }

    /// What it has booked.
    #[must_use]
    pub fn booked(&self) -> Vec<Asked> {
        self.booked.borrow().clone()
    }

    /// How often something took effect.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.booked.borrow().len()
    }

    /// Waits until so many requests are booked.
    ///
    /// # Panics
    /// They never are.
    pub async fn has_booked(&self, requests: usize) {
        let mut booked = self.booked.clone();
        within("the upstream to be asked", booked.wait_for(|booked| booked.len() >= requests)).await.expect("it runs");
    }
}

async fn booked_as(request: Request<Incoming>, book: &watch::Sender<Vec<Asked>>) -> hyper::Result<Asked> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let mut asked = Asked { number: 0, method: head.method, target: head.uri, version: head.version, headers: head.headers, body };
    book.send_modify(|booked| {
        asked.number = booked.len() + 1;
        booked.push(asked.clone());
    });
    Ok(asked)
}

/// The answer of [`Upstream::charging`].
#[must_use]
pub fn charged(asked: &Asked) -> Response<Body> {
    answer(201, format!("charge {}", asked.number))
}

/// An answer with a body of known length.
#[must_use]
pub fn answer(status: u16, body: impl Into<Body>) -> Response<Body> {
    Response::builder().status(status).body(body.into()).expect("a status of three digits")
}

/// Holds whoever passes until it is opened; open from then on.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    /// Waits until it is open.
    pub async fn pass(&self) {
        let _ = self.0.acquire().await;
    }

    /// Opens it.
    pub fn open(&self) {
        self.0.close();
    }
}

/// A body whose pieces come as a test sends them; it ends when the sender is dropped.
#[derive(Debug)]
pub struct Pieces(mpsc::UnboundedReceiver<Bytes>);

impl Pieces {
    /// The sender, and the body.
    pub fn channel() -> (mpsc::UnboundedSender<Bytes>, Body) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (sender, Body::new(Self(receiver)))
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
