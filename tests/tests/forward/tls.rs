//! Upstreams behind TLS, and whom they are proved by.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use leasehold::bridge::forward::{Forward, ForwardOptions, HostHeader};
use leasehold::bridge::listen::Listener;
use leasehold::bridge::tls::Trust;
use leasehold_decision::http::Failure;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::net::Certificates;
use crate::{failed, forward_with, post, text};

struct Https {
    certificates: Certificates,
    address: SocketAddr,
    _stop: tokio_util::sync::DropGuard,
}

/// Answers with the version and the host of the request.
async fn https() -> Https {
    let certificates = Certificates::for_localhost();
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), Some(&certificates.server)).await.unwrap();
    let address = listener.local_addr();
    let stop = CancellationToken::new();
    let service = tower::service_fn(|request: Request<Body>| async move {
        let host = match request.uri().authority() {
            Some(authority) => authority.to_string(),
            None => request.headers()["host"].to_str().unwrap().to_owned(),
        };
        Ok::<_, std::convert::Infallible>(Response::new(Body::from(format!("{:?} {host}", request.version()))))
    });
    tokio::spawn(listener.serve(service, stop.clone(), Duration::ZERO));
    Https { certificates, address, _stop: stop.drop_guard() }
}

#[tokio::test]
async fn an_upstream_behind_tls_is_spoken_to_in_http_2() {
    let https = https().await;
    let trust = Trust::PemFile(https.certificates.authority.clone());
    let url = format!("https://localhost:{}", https.address.port());
    let forward = forward_with(&url, &ForwardOptions { trust: trust.clone(), ..ForwardOptions::default() });
    let expected = format!("HTTP/2.0 localhost:{}", https.address.port());
    assert_eq!(text(forward.oneshot(post("x")).await.unwrap()).await, expected);
    let keep = ForwardOptions { trust, host: HostHeader::Client, ..ForwardOptions::default() };
    assert_eq!(text(forward_with(&url, &keep).oneshot(post("x")).await.unwrap()).await, "HTTP/1.1 pay.example");
}

#[tokio::test]
async fn an_upstream_that_nobody_vouches_for_is_never_reached() {
    let https = https().await;
    let url = format!("https://localhost:{}", https.address.port());
    failed(forward_with(&url, &ForwardOptions::default()).oneshot(post("x")).await, Failure::NeverReached);
    let other = Trust::PemFile(Certificates::for_localhost().authority);
    assert!(Forward::new(url.parse().unwrap(), &ForwardOptions { trust: other, ..ForwardOptions::default() }).is_err());
    let mine = Trust::PemFile(https.certificates.authority.clone());
    let another_name = format!("https://127.0.0.2:{}", https.address.port());
    let forward = forward_with(&another_name, &ForwardOptions { trust: mine, ..ForwardOptions::default() });
    failed(forward.oneshot(post("x")).await, Failure::NeverReached);
}

#[tokio::test]
async fn a_trust_file_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, text: Option<&str>, expected: &str| {
        let path = folder.path().join(name);
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let options = ForwardOptions { trust: Trust::PemFile(path), ..ForwardOptions::default() };
        let error = Forward::new("https://a".parse().unwrap(), &options).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}");
    };
    check("absent.pem", None, "cannot read");
    check("empty.pem", Some(""), "holds no certificate");
    check("broken.pem", Some("-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n"), "not a PEM file");
    check("odd.pem", Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "certificate 1");
}
