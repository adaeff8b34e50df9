//! Connections to the upstream: how they come about, how long they are kept.
//!
//! Knows no requests. Tests: `tests/tests/forward/`.

use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower::ServiceExt;
use tower::util::{BoxCloneSyncService, MapResponse};

use super::body::Outgoing;
use super::error::{BoxError, NotSent};
use super::socket::Socket;

/// How long an idle connection is kept. Below the shortest that upstreams commonly keep theirs (gunicorn 2 s, Node and Apache
/// 5 s): a request that crosses the upstream's close on the wire counts as "effect unknown", and a person has to look at it.
pub const IDLE_CONNECTION_MAX: Duration = Duration::from_millis(1_500);
/// Probes on an idle TCP connection, so that a router in between that forgot it is noticed.
const TCP_KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Pings on an HTTP/2 connection with requests under way: a dead one would swallow every request of a quarter of an hour.
const H2_PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long a ping's answer may take.
const H2_PING_TIMEOUT: Duration = Duration::from_secs(5);

/// Which protocols an upstream is offered in a TLS hand-shake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offer {
    Http1,
    Http1AndHttp2,
}

type Stream = MaybeHttpsStream<TokioIo<Socket>>;
type Tcp = MapResponse<HttpConnector, fn(TokioIo<TcpStream>) -> TokioIo<Socket>>;
/// Keeps connections and sends requests.
pub(super) type Pool = Client<BoxCloneSyncService<Uri, Stream, BoxError>, Outgoing>;

pub(super) fn pool(tls: ClientConfig, offer: Offer, connect_timeout: Duration) -> Pool {
    let connector = connector(tls, offer);
    // One limit for name look-up, TCP and TLS together: hyper's own covers TCP alone.
    let timed = tower::service_fn(move |uri: Uri| {
        let connecting = connector.clone().oneshot(uri);
        async move {
            match tokio::time::timeout(connect_timeout, connecting).await {
                Ok(connected) => connected,
                Err(_) => Err(NotSent::ConnectTimeOut(connect_timeout).into()),
            }
        }
    });
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_CONNECTION_MAX)
        .retry_canceled_requests(true)
        .http2_adaptive_window(true)
        .http2_keep_alive_interval(H2_PING_INTERVAL)
        .http2_keep_alive_timeout(H2_PING_TIMEOUT)
        .build(BoxCloneSyncService::new(timed))
}

fn connector(tls: ClientConfig, offer: Offer) -> HttpsConnector<Tcp> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(TCP_KEEP_ALIVE));
    let tcp: Tcp = MapResponse::new(tcp, |stream| TokioIo::new(Socket(stream.into_inner())));
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    match offer {
        Offer::Http1 => builder.enable_http1().wrap_connector(tcp),
        Offer::Http1AndHttp2 => builder.enable_all_versions().wrap_connector(tcp),
    }
}
