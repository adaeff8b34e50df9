//! Takes connections and hands their requests to a service: HTTP/1.1 and HTTP/2, in plain text or through TLS.
//!
//! Everything a client can make it wait for or hold has a limit, named below. Knows nothing of what a request means. Tests:
//! `tests/tests/listen.rs`, with real sockets.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use http::header::CONTENT_LENGTH;
use http::uri::Authority;
use http::{Request, Response, StatusCode, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::{Service, ServiceExt};

use super::ending::{Socket, Unended};
use super::forward::BoxError;
use super::peer::{Peer, Transport};
use super::tls::{TlsError, TlsFiles};

/// Connections at once; more wait in the system's queue.
pub const CONNECTIONS_MAX: usize = 8_192;
/// How long a new connection may take until its first request is there, and its TLS hand-shake before that.
pub const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a later request's head may take, the idle time before it included. Above the 60 s for which gateways keep idle
/// connections, so that it is they who close: a request that crosses our close would be lost.
pub const NEXT_REQUEST_TIMEOUT: Duration = Duration::from_secs(75);
/// Largest head of a request. Bytes.
pub const HEAD_BYTES_MAX: u32 = 32 * 1_024;
/// What HTTP/2 takes of a head, so that one past [`HEAD_BYTES_MAX`] has an answer like any other. Past this, h2 answers 431 by itself,
/// and resets the stream behind it: where a body was to come, some clients tell of the reset alone. Bytes.
const HTTP_2_HEAD_BYTES_MAX: u32 = 2 * HEAD_BYTES_MAX;
/// What a line of a head counts beside its name and value in HTTP/2 (RFC 9113, 10.5.1). Bytes.
const HTTP_2_LINE_BYTES: usize = 32;
/// Most header lines of a request in HTTP/1.1; in HTTP/2 their bytes are what counts.
pub const HEADER_LINES_MAX: usize = 100;
/// Most requests at once on one connection of HTTP/2.
pub const STREAMS_MAX: u32 = 200;
/// Pings on a connection of HTTP/2, so that a client that vanished is noticed.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// How long a ping's answer may take.
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// The rest where no connection can be taken, as when the process has no file descriptor left.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The system refuses the address.
    #[error("cannot listen on {address}: {source}; choose another address, or stop what listens there")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The certificate or the key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// How serving ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "connections that had to be cut are worth a word in the log"]
pub struct Ended {
    /// Connections with requests under way that had to be cut when the grace was over.
    pub cut: usize,
}

/// An open port.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
    tls: Option<Acceptor>,
}

#[derive(Clone)]
struct Acceptor(TlsAcceptor);

impl std::fmt::Debug for Acceptor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Acceptor")
    }
}

/// What the connections of one listener have in common.
#[derive(Clone)]
struct Common<S> {
    service: S,
    tls: Option<Acceptor>,
    shutdown: CancellationToken,
    cut: CancellationToken,
}

impl Listener {
    /// Opens the port: connections queue up from here on, and are taken by [`Listener::serve`].
    ///
    /// # Errors
    /// The system refuses the address, or certificate and key cannot be used.
    pub async fn bind(address: SocketAddr, tls: Option<&TlsFiles>) -> Result<Self, ListenError> {
        let tls = tls.map(TlsFiles::server_config).transpose()?;
        let refused = |source| ListenError::Bind { address, source };
        let tcp = TcpListener::bind(address).await.map_err(refused)?;
        let address = tcp.local_addr().map_err(refused)?;
        Ok(Self { tcp, address, tls: tls.map(|config| Acceptor(TlsAcceptor::from(config))) })
    }

    /// The address, with the port that the system chose where 0 was asked for.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// How clients speak.
    #[must_use]
    pub const fn transport(&self) -> Transport {
        if self.tls.is_some() { Transport::Tls } else { Transport::Plain }
    }

    /// Serves until `shutdown`, then takes no more connections, ends idle ones, and lets requests under way finish for as long
    /// as `grace`; what is left then is cut. Requests carry their [`Peer`] as an extension. A service that fails has its
    /// connection closed. WebSockets are no longer requests once they are open: they are not waited for.
    pub async fn serve<S>(self, service: S, shutdown: CancellationToken, grace: Duration) -> Ended
    where
        S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
    {
        let connections = TaskTracker::new();
        let cut = CancellationToken::new();
        let common = Common { service, tls: self.tls, shutdown: shutdown.clone(), cut: cut.clone() };
        let accepting = accept(self.tcp, &connections, common);
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = accepting => {}
        }
        connections.close();
        if timeout(grace, connections.wait()).await.is_ok() {
            return Ended { cut: 0 };
        }
        let left = connections.len();
        cut.cancel();
        connections.wait().await;
        Ended { cut: left }
    }
}

async fn accept<S>(tcp: TcpListener, connections: &TaskTracker, common: Common<S>)
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
{
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    // INVARIANT: nobody closes the semaphore, so the loop ends with `shutdown` alone.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match tcp.accept().await {
            Ok((stream, address)) => {
                let serving = connection(stream, address, common.clone());
                connections.spawn(async move {
                    serving.await;
                    drop(place);
                });
            }
            // The client was gone before it was taken.
            Err(error) if [ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset].contains(&error.kind()) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot take a connection");
                sleep(ACCEPT_REST).await;
            }
        }
    }
}

async fn connection<S>(stream: TcpStream, address: SocketAddr, common: Common<S>)
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
{
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was gone before it was served");
        return;
    }
    let unended = Unended::default();
    let stream = Socket::new(stream, unended.clone());
    let Some(Acceptor(acceptor)) = common.tls.clone() else {
        return exchange(stream, Peer { address, transport: Transport::Plain }, unended, common).await;
    };
    let shaken = tokio::select! {
        shaken = timeout(FIRST_REQUEST_TIMEOUT, acceptor.accept(stream)) => shaken,
        () = common.shutdown.cancelled() => return,
    };
    match shaken {
        Ok(Ok(stream)) => exchange(stream, Peer { address, transport: Transport::Tls }, unended, common).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS hand-shake failed"),
        Err(_) => tracing::debug!("a TLS hand-shake took too long"),
    }
}

/// Requests and answers, until either side ends the connection.
async fn exchange<S, Io>(io: Io, peer: Peer, unended: Unended, common: Common<S>)
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Common { service, shutdown, cut, .. } = common;
    let begun = Arc::new(AtomicBool::new(false));
    let (begins, answers) = (Arc::clone(&begun), unended.clone());
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        begins.store(true, Ordering::Relaxed);
        answer(service.clone(), request, peer, answers.clone())
    });
    let builder = builder();
    let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(io), service));
    let mut first = pin!(sleep(FIRST_REQUEST_TIMEOUT));
    let (mut watching, mut ending) = (true, false);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                match ended {
                    // Everything was written.
                    Ok(()) => unended.set(false),
                    Err(error) => tracing::debug!(error = %error, "a connection broke"),
                }
                return;
            }
            () = cut.cancelled() => return,
            () = shutdown.cancelled(), if !ending => {
                ending = true;
                if !begun.load(Ordering::Relaxed) {
                    // hyper would wait for the rest of a head that has begun.
                    return;
                }
                connection.as_mut().graceful_shutdown();
            }
            () = first.as_mut(), if watching => {
                watching = false;
                if !begun.load(Ordering::Relaxed) {
                    tracing::debug!("a connection brought no request in time");
                    return;
                }
            }
        }
    }
}

async fn answer<S>(service: S, request: Request<Incoming>, peer: Peer, unended: Unended) -> Result<Response<Body>, S::Error>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    let version = request.version();
    if version == Version::HTTP_2 && head_bytes(&request) > HEAD_BYTES_MAX as usize {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Ok(answer);
    }
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(peer);
    let answer = service.oneshot(request).await?;
    let without_chunks = version != Version::HTTP_2 && version.min(answer.version()) < Version::HTTP_11;
    unended.set(without_chunks && ends_with_its_connection(&answer));
    Ok(answer)
}

/// As HTTP/2 counts them, but for the names of what is no header.
fn head_bytes(request: &Request<Incoming>) -> usize {
    let uri = request.uri();
    let target = [uri.path(), uri.query().unwrap_or_default(), uri.authority().map_or("", Authority::as_str)];
    let lines = request.headers().iter().map(|(name, value)| [HTTP_2_LINE_BYTES, name.as_str().len(), value.len()]);
    lines.flatten().chain(target.map(str::len)).fold(0, usize::saturating_add)
}

/// Whether nothing but the end of the connection ends it, in a version that knows no chunks (RFC 9112, 6.3). Where there is no body
/// at all, as for HEAD, that is of no matter: what hyper has written whole is ended by it.
fn ends_with_its_connection(answer: &Response<Body>) -> bool {
    answer.body().size_hint().exact().is_none() && !answer.headers().contains_key(CONTENT_LENGTH)
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(NEXT_REQUEST_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX as usize)
        .max_headers(HEADER_LINES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HTTP_2_HEAD_BYTES_MAX)
        .max_concurrent_streams(STREAMS_MAX)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}
