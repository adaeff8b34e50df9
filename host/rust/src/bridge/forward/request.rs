//! What becomes of a request's head on its way to the upstream.
//!
//! Knows no sockets. Tests: below, and `tests/tests/forward/`.

use axum::body::Body;
use http::header::{CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Uri};
use http_body::Body as _;

use crate::bridge::hop::{remove_hop_by_hop, retain};
use crate::bridge::peer::Peer;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Which host the upstream is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostHeader {
    /// Its own, as in its URL; the client's goes into `X-Forwarded-Host`.
    #[default]
    Upstream,
    /// The one that the client sent. The upstream is spoken to in HTTP/1.1 then, since in HTTP/2 the two cannot differ.
    Client,
}

/// The host that the client asked: the target's where it has one (HTTP/2, absolute form), else the header's (RFC 9112, 3.2.2).
fn asked_host(uri: &Uri, headers: &HeaderMap) -> Option<HeaderValue> {
    match uri.authority() {
        Some(authority) => HeaderValue::from_str(authority.as_str()).ok(),
        None => headers.get(HOST).cloned(),
    }
}

/// Makes a client's headers those for the upstream. The target and the version are the caller's.
pub(super) fn prepare(request: &mut Request<Body>, host: HostHeader) {
    let asked = asked_host(request.uri(), request.headers());
    let peer = request.extensions().get::<Peer>().copied();
    let length = content_length(request);
    let headers = request.headers_mut();
    remove_hop_by_hop(headers);
    // `100 Continue` was said by the listener when the body was first asked for.
    retain(headers, |name| ![HOST, EXPECT, CONTENT_LENGTH].contains(name));
    join_cookies(headers);
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, length.into());
    }
    if let Some(peer) = peer {
        let mut hops: Vec<&[u8]> = headers.get_all(X_FORWARDED_FOR).iter().map(HeaderValue::as_bytes).collect();
        let address = peer.address.ip().to_canonical().to_string();
        hops.push(address.as_bytes());
        if let Ok(value) = HeaderValue::from_bytes(&hops.join(b", ".as_slice())) {
            headers.insert(X_FORWARDED_FOR, value);
        }
        let scheme = HeaderValue::from_static(peer.transport.scheme());
        headers.entry(X_FORWARDED_PROTO).or_insert(scheme);
    }
    if let Some(asked) = asked {
        headers.entry(X_FORWARDED_HOST).or_insert_with(|| asked.clone());
        match host {
            HostHeader::Upstream => {}
            HostHeader::Client => {
                headers.insert(HOST, asked);
            }
        }
    }
}

/// From the body that there is, not from the header: after a hop they may differ. A request that can have a body says even
/// that it has none (RFC 9110, 8.6).
fn content_length(request: &Request<Body>) -> Option<u64> {
    let exact = request.body().size_hint().exact()?;
    let can_have_one = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
    (exact > 0 || can_have_one || request.headers().contains_key(CONTENT_LENGTH)).then_some(exact)
}

/// HTTP/2 may send each cookie in a line of its own; HTTP/1.1 has one line (RFC 9113, 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let lines: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if lines.len() > 1
        && let Ok(joined) = HeaderValue::from_bytes(&lines.join(b"; ".as_slice()))
    {
        headers.insert(COOKIE, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::peer::Transport;

    fn prepared(host: HostHeader, uri: &str, lines: &[(&'static str, &'static str)]) -> Vec<String> {
        let mut request = Request::post(uri).body(Body::from("ab")).unwrap();
        for (name, value) in lines {
            request.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let address = "[::ffff:192.0.2.1]:7".parse().unwrap();
        request.extensions_mut().insert(Peer { address, transport: Transport::Tls });
        prepare(&mut request, host);
        request.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    #[test]
    fn the_upstream_is_told_who_asked_and_whom() {
        let own = ["content-length: 2", "x-forwarded-for: 192.0.2.1", "x-forwarded-proto: https", "x-forwarded-host: pay.example"];
        assert_eq!(prepared(HostHeader::Upstream, "/", &[("host", "pay.example")]), own);
        assert_eq!(prepared(HostHeader::Upstream, "https://pay.example/x", &[("host", "other")]), own);
        assert_eq!(
            prepared(HostHeader::Client, "/", &[("host", "pay.example")]),
            [own.as_slice(), &["host: pay.example"]].concat()
        );
    }

    #[test]
    fn what_a_gateway_before_us_said_stays() {
        let lines = [
            ("x-forwarded-for", "198.51.100.1"),
            ("x-forwarded-for", "198.51.100.2"),
            ("x-forwarded-proto", "http"),
            ("x-forwarded-host", "first.example"),
            ("host", "second.example"),
        ];
        let expected = [
            "x-forwarded-for: 198.51.100.1, 198.51.100.2, 192.0.2.1",
            "x-forwarded-proto: http",
            "x-forwarded-host: first.example",
            "content-length: 2",
        ];
        assert_eq!(prepared(HostHeader::Upstream, "/", &lines), expected);
    }

    #[test]
    fn what_belongs_to_the_clients_connection_stays_there() {
        let lines = [
            ("connection", "close, x-mine"),
            ("x-mine", "1"),
            ("upgrade", "h2c"),
            ("expect", "100-continue"),
            ("content-length", "77"),
            ("transfer-encoding", "chunked"),
            ("idempotency-key", "k"),
            ("authorization", "Bearer t"),
        ];
        let left = prepared(HostHeader::Upstream, "/", &lines);
        let expected = ["idempotency-key: k", "authorization: Bearer t", "content-length: 2"];
        assert_eq!(left[..3], expected);
        assert_eq!(left.len(), 5);
    }

    #[test]
    fn cookies_go_in_one_line() {
        let left = prepared(HostHeader::Upstream, "/", &[("cookie", "a=1"), ("cookie", "b=2"), ("cookie", "c=3")]);
        assert_eq!(left[0], "cookie: a=1; b=2; c=3");
    }

    #[test]
    fn a_request_that_can_have_a_body_says_that_it_has_none() {
        let length = |method: Method, given: Option<&'static str>| {
            let mut request = Request::builder().method(method).uri("/").body(Body::empty()).unwrap();
            if let Some(given) = given {
                request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static(given));
            }
            prepare(&mut request, HostHeader::Upstream);
            request.headers().get(CONTENT_LENGTH).map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(length(Method::POST, None).as_deref(), Some("0"));
        assert_eq!(length(Method::GET, None), None);
        assert_eq!(length(Method::DELETE, Some("0")).as_deref(), Some("0"));
    }
}
