//! Hands a request on to the upstream and its answer back, streaming both ways, and tells exactly what is known when that fails.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`url`] | where the upstream is |
//! | [`request`] | what becomes of a request's head |
//! | [`body`] | bodies on their way |
//! | [`connect`] | connections, and how long they are kept |
//! | [`socket`] | a socket that does not miss that it was closed |
//! | [`upgrade`] | WebSockets |
//! | [`error`] | what is known when it fails |
//!
//! A request on a connection that the upstream had closed before anything was written is sent on another one; nothing else is
//! ever sent twice. Knows no keys and no stores. Tests: in the modules, and `tests/tests/forward/` with real sockets.

mod body;
mod connect;
mod error;
mod request;
mod socket;
mod upgrade;
mod url;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use http::header::TRAILER;
use http::{Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::capture_connection;
use tokio::time::{Instant, sleep_until};

use self::body::{Answer, Outgoing, Progress};
use self::connect::{Offer, Pool, pool};
use self::error::{NotSent, UnaskedUpgrade};
use self::upgrade::Wish;
use super::hop::remove_hop_by_hop;
use super::tls::{TlsError, Trust};

pub use self::connect::IDLE_CONNECTION_MAX;
pub use self::error::{BodyBroke, BoxError, ForwardError};
pub use self::request::HostHeader;
pub use self::url::{UpstreamUrl, UpstreamUrlError};

/// How long a connection may take, by default: name look-up, TCP and TLS together.
pub const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);
/// How long the upstream may take to begin its answer, by default.
pub const ANSWER_TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);

/// How requests are handed on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardOptions {
    /// How long a connection may take: name look-up, TCP and TLS together.
    pub connect_timeout: Duration,
    /// How long the upstream may take to begin its answer once the request stands still (its body is sent, or is not taken).
    pub answer_timeout: Duration,
    /// Which host the upstream is told.
    pub host: HostHeader,
    /// Which certificates prove the upstream.
    pub trust: Trust,
}

impl Default for ForwardOptions {
    fn default() -> Self {
        Self {
            connect_timeout: CONNECT_TIMEOUT_DEFAULT,
            answer_timeout: ANSWER_TIMEOUT_DEFAULT,
            host: HostHeader::default(),
            trust: Trust::default(),
        }
    }
}

/// An extension of a request: limits of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ForwardLimits {
    /// Instead of [`ForwardOptions::answer_timeout`].
    pub answer_timeout: Option<Duration>,
    /// Where no connection is there by then, it is not sent at all: past the lease nothing may leave the host.
    pub send_before: Option<Instant>,
}

/// The way to one upstream. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Forward {
    upstream: UpstreamUrl,
    host: HostHeader,
    answer_timeout: Duration,
    pool: Pool,
    /// WebSockets need HTTP/1.1.
    http1_pool: Pool,
}

impl Forward {
    /// Reads the certificates; connects to nothing yet.
    ///
    /// # Errors
    /// The certificates cannot be used.
    pub fn new(upstream: UpstreamUrl, options: &ForwardOptions) -> Result<Self, TlsError> {
        let tls = options.trust.client_config()?;
        let offer = match options.host {
            HostHeader::Upstream => Offer::Http1AndHttp2,
            HostHeader::Client => Offer::Http1,
        };
        Ok(Self {
            upstream,
            host: options.host,
            answer_timeout: options.answer_timeout,
            pool: pool(tls.clone(), offer, options.connect_timeout),
            http1_pool: pool(tls, Offer::Http1, options.connect_timeout),
        })
    }

    /// Where requests go.
    #[must_use]
    pub const fn upstream(&self) -> &UpstreamUrl {
        &self.upstream
    }

    async fn forward(self, mut request: Request<Body>) -> Result<Response<Body>, ForwardError> {
        if request.method() == http::Method::CONNECT {
            return Ok(own_answer(StatusCode::NOT_IMPLEMENTED));
        }
        let Ok(target) = self.upstream.target(request.uri()) else {
            return Ok(own_answer(StatusCode::URI_TOO_LONG));
        };
        let limits = request.extensions().get::<ForwardLimits>().copied().unwrap_or_default();
        let wish = Wish::of(&mut request);
        request::prepare(&mut request, self.host);
        let progress = Progress::begin();
        let (head, body) = request.into_parts();
        let mut outgoing = Request::new(Outgoing { body, progress: progress.clone() });
        *outgoing.method_mut() = head.method;
        *outgoing.uri_mut() = target;
        *outgoing.headers_mut() = head.headers;
        let pool = match &wish {
            Some(wish) => {
                wish.say(outgoing.headers_mut());
                &self.http1_pool
            }
            None => &self.pool,
        };
        let answer = self.send(pool, outgoing, progress, limits).await?;
        self.hand_back(answer, wish)
    }

    /// First the wait for a connection, bounded by `send_before` (and each try by the connect time-out); then, from the last
    /// movement of the request on, the wait for the answer.
    async fn send(
        &self,
        pool: &Pool,
        mut request: Request<Outgoing>,
        progress: Progress,
        limits: ForwardLimits,
    ) -> Result<Response<Incoming>, ForwardError> {
        let too_late = || ForwardError::NeverReached { upstream: self.upstream.clone(), cause: NotSent::TooLate.into() };
        if limits.send_before.is_some_and(|instant| instant <= Instant::now()) {
            return Err(too_late());
        }
        let captured = capture_connection(&mut request);
        let connected = || captured.connection_metadata().is_some();
        let classify = |error: legacy::Error| ForwardError::classify(&self.upstream, error, connected());
        let mut waiting = captured.clone();
        let mut answer = pin!(pool.request(request));
        tokio::select! {
            biased;
            answer = &mut answer => return answer.map_err(classify),
            () = async { drop(waiting.wait_for_connection_metadata().await) } => {}
            () = reached(limits.send_before) => {
                if !connected() {
                    return Err(too_late());
                }
            }
        }
        progress.moved();
        let timeout = limits.answer_timeout.unwrap_or(self.answer_timeout);
        loop {
            let until = progress.last().checked_add(timeout);
            tokio::select! {
                biased;
                answer = &mut answer => return answer.map_err(classify),
                () = reached(until) => {}
            }
            if progress.last().checked_add(timeout) == until {
                return Err(ForwardError::Silent { upstream: self.upstream.clone(), after: timeout });
            }
        }
    }

    fn hand_back(&self, mut answer: Response<Incoming>, wish: Option<Wish>) -> Result<Response<Body>, ForwardError> {
        let switched = match (answer.status(), wish) {
            (StatusCode::SWITCHING_PROTOCOLS, Some(wish)) if Wish::granted(&answer) => {
                Some((wish, hyper::upgrade::on(&mut answer)))
            }
            (StatusCode::SWITCHING_PROTOCOLS, _) => {
                return Err(ForwardError::Broke { upstream: self.upstream.clone(), cause: UnaskedUpgrade.into() });
            }
            (_, _) => None,
        };
        let (mut head, body) = answer.into_parts();
        let trailer = head.headers.get(TRAILER).cloned();
        remove_hop_by_hop(&mut head.headers);
        // Trailers are passed on, and HTTP/1.1 wants them announced.
        head.headers.extend(trailer.map(|names| (TRAILER, names)));
        let body = match switched {
            Some((wish, upstream)) => {
                wish.join(upstream, &mut head.headers);
                Body::empty()
            }
            None => Body::new(Answer(body)),
        };
        // The version and the extensions are those of the connection to the upstream.
        let mut response = Response::new(body);
        *response.status_mut() = head.status;
        *response.version_mut() = Version::HTTP_11;
        *response.headers_mut() = head.headers;
        Ok(response)
    }
}

impl tower::Service<Request<Body>> for Forward {
    type Response = Response<Body>;
    type Error = ForwardError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, ForwardError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ForwardError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().forward(request))
    }
}

/// What no upstream is asked for.
fn own_answer(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

async fn reached(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
