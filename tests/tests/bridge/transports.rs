//! HTTP/1.1 and HTTP/2, in plain text and through TLS: the same key is the same key.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response, Version};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use leasehold::bridge::forward::{Forward, ForwardOptions};
use leasehold::bridge::listen::Listener;
use leasehold::bridge::peer::Peer;
use leasehold::bridge::tls::Trust;
use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::upstream::Upstream;
use leasehold_tests::wait::within;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::net::{Certificates, Wire};

#[tokio::test]
async fn http_2_and_http_1_are_the_same_request() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let h2 = Client::builder(TokioExecutor::new()).http2_only(true).build_http::<Body>();
    let first = Reply::of(within("an answer", h2.request(bridge.posting("/charges?a=1", "k", "{}"))).await.unwrap()).await;
    first.is(201, "charge 1");
    assert_eq!(first.version, Version::HTTP_2);
    bridge.post("/charges?a=1", "k", "{}").await.is_replay(201, "charge 1");
    let again = Reply::of(within("an answer", h2.request(bridge.posting("/charges?a=1", "k", "{}"))).await.unwrap()).await;
    again.is_replay(201, "charge 1");
    assert_eq!(again.version, Version::HTTP_2);
    assert_eq!(upstream.effects(), 1);
}

/// The whole URL in the request line, as clients of proxies send it: the target is the same.
#[tokio::test]
async fn an_absolute_target_is_the_same_request() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let mut client = Wire::to(bridge.address()).await;
    let rest = "HTTP/1.1\r\nhost: a\r\nidempotency-key: k\r\ncontent-length: 0\r\n\r\n";
    for target in ["/charges?a=1", "http://pay.example/charges?a=1"] {
        client.send(format!("POST {target} {rest}")).await;
        let (head, body) = client.message().await;
        assert!(head.starts_with("HTTP/1.1 201") && body == "charge 1", "{head}");
    }
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn tls_in_and_out() {
    let certificates = Certificates::for_localhost();
    let trust = || ForwardOptions { trust: Trust::PemFile(certificates.authority.clone()), ..ForwardOptions::default() };
    // The upstream.
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), Some(&certificates.server)).await.unwrap();
    let address = listener.local_addr();
    let service = tower::service_fn(async |request: Request<Body>| {
        let peer = request.extensions().get::<Peer>().unwrap();
        let seen = format!("{:?} {:?}", peer.transport, request.headers()["x-forwarded-proto"]);
        Ok::<_, Infallible>(Response::new(Body::from(seen)))
    });
    let stop = CancellationToken::new();
    let upstream = tokio::spawn(listener.serve(service, stop.clone(), Duration::from_secs(5)));
    // The bridge, and a client.
    let setup = Setup::before(format!("https://localhost:{}", address.port())).forward(trust());
    let bridge = setup.tls(certificates.server.clone()).start().await;
    assert!(bridge.url.starts_with("https://"));
    let client = Forward::new(bridge.url.parse().unwrap(), &trust()).unwrap();
    let post = || Request::post("/charges").header("idempotency-key", "k").body(Body::from("{}")).unwrap();
    let first = Reply::of(within("an answer", client.clone().oneshot(post())).await.unwrap()).await;
    first.is(200, "Tls \"https\"");
    Reply::of(client.clone().oneshot(post()).await.unwrap()).await.is_replay(200, "Tls \"https\"");
    drop(client);
    assert!(bridge.end().await.0);
    stop.cancel();
    let _ = within("the upstream's end", upstream).await.unwrap();
}

/// A client that trusts nobody we know: it never gets to a request.
#[tokio::test]
async fn an_upstream_that_cannot_prove_itself_was_never_reached() {
    let certificates = Certificates::for_localhost();
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), Some(&certificates.server)).await.unwrap();
    let address = listener.local_addr();
    let service = tower::service_fn(async |_| Ok::<_, Infallible>(Response::new(Body::from("never"))));
    let upstream = tokio::spawn(listener.serve(service, CancellationToken::new(), Duration::ZERO));
    let bridge = Bridge::before(format!("https://localhost:{}", address.port())).await;
    for _ in 0..2 {
        bridge.post("/charges", "k", "{}").await.problem(503, "upstream-unreachable");
    }
    upstream.abort();
}
