//! WebSockets pass through: once the upstream agrees, bytes are carried both ways until either side ends.
//!
//! No other protocol is: `Upgrade` may be ignored (RFC 9110, 7.8), and to hand `h2c` on would let a client past this proxy.
//! Knows nothing of what is carried. Tests: `tests/tests/forward/`.

use axum::body::Body;
use http::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use http::{Method, Request, StatusCode, Version};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

const WEBSOCKET: &str = "websocket";

/// A client's wish for a WebSocket.
#[derive(Debug)]
pub(super) struct Wish {
    client: OnUpgrade,
}

fn is_websocket(headers: &HeaderMap) -> bool {
    let named = |line: &HeaderValue| line.to_str().is_ok_and(|text| text.trim().eq_ignore_ascii_case(WEBSOCKET));
    let mut lines = headers.get_all(UPGRADE).iter();
    lines.next().is_some_and(named) && lines.next().is_none()
}

fn set(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
}

impl Wish {
    /// Reads it before the hop-by-hop headers are removed.
    pub(super) fn of(request: &mut Request<Body>) -> Option<Self> {
        let asked = request.method() == Method::GET && request.version() == Version::HTTP_11 && is_websocket(request.headers());
        if !asked {
            return None;
        }
        request.extensions_mut().remove::<OnUpgrade>().map(|client| Self { client })
    }

    /// Says it to the upstream, after they were removed.
    pub(super) fn say(&self, headers: &mut HeaderMap) {
        set(headers);
    }

    /// Whether this answer grants it.
    pub(super) fn granted(answer: &http::Response<Incoming>) -> bool {
        answer.status() == StatusCode::SWITCHING_PROTOCOLS && is_websocket(answer.headers())
    }

    /// Joins both ends, and says so to the client.
    pub(super) fn join(self, upstream: OnUpgrade, headers: &mut HeaderMap) {
        set(headers);
        let client = self.client;
        tokio::spawn(async move {
            let (client, upstream) = match tokio::try_join!(client, upstream) {
                Ok(both) => both,
                Err(error) => {
                    tracing::debug!(%error, "a WebSocket did not come about");
                    return;
                }
            };
            let (mut client, mut upstream) = (TokioIo::new(client), TokioIo::new(upstream));
            if let Err(error) = tokio::io::copy_bidirectional(&mut client, &mut upstream).await {
                tracing::debug!(%error, "a WebSocket broke");
            }
        });
    }
}
