//! The way to the upstream: what is handed on, and above all what is known when it fails. A request that was not answered is
//! "never reached" only where nothing of it can have been sent.

mod connections;
mod failures;
#[path = "../net/mod.rs"]
mod net;
mod passing;
mod tls;
mod websockets;

use std::net::SocketAddr;

use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt;
use leasehold::bridge::forward::{Forward, ForwardError, ForwardOptions};
use leasehold_decision::http::Failure;

fn forward_with(url: &str, options: &ForwardOptions) -> Forward {
    Forward::new(url.parse().unwrap(), options).unwrap()
}

fn forward(address: SocketAddr) -> Forward {
    forward_with(&format!("http://{address}"), &ForwardOptions::default())
}

fn post(body: &'static str) -> Request<Body> {
    Request::post("/pay?order=1").header("host", "pay.example").body(Body::from(body)).unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

fn failed(result: Result<Response<Body>, ForwardError>, expected: Failure) -> String {
    let error = result.expect_err("no answer");
    assert_eq!(error.failure(), expected, "{error}");
    error.to_string()
}
