//! A request through the bridge, against the same request straight to the upstream; and a replay.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use leasehold_decision::Family;
use tokio_util::sync::CancellationToken;

use super::figures::{Figure, median};
use crate::bridge::forward::ForwardOptions;
use crate::bridge::server::{Server, ServerOptions};
use crate::bridge::{BridgeSettings, RouteSettings};
use crate::cli::{CliError, open};
use crate::host::{HostOptions, Leasehold};
use crate::store::StoreUrl;

/// Requests of one round, one after another.
const REQUESTS: u32 = 200;
/// Requests at once, where throughput is measured.
const AT_ONCE: u32 = 32;

type Http = Client<HttpConnector, Body>;

pub(super) async fn measure(rounds: u32, folder: &Path) -> Result<Vec<Figure>, CliError> {
    let upstream = upstream().await?;
    let host = Leasehold::open(HostOptions {
        code_cache: open::code_cache(),
        ..HostOptions::new(StoreUrl::Sqlite(folder.join("requests.db")))
    })
    .await?;
    let options = ServerOptions {
        listen: loopback(),
        tls: None,
        admin: None,
        upstream: format!("http://{upstream}").parse().map_err(other)?,
        forward: ForwardOptions::default(),
        settings: BridgeSettings::new(RouteSettings::new(host.settings(Family::Idempotency)), Vec::new()),
        grace: Duration::from_secs(5),
    };
    let server = Server::bind(host, options).await.map_err(other)?;
    let (bridge, stop) = (server.url(), CancellationToken::new());
    let running = tokio::spawn(server.run(stop.clone()));
    let client: Http = Client::builder(TokioExecutor::new()).build_http();
    let figures = rounds_of(rounds, &client, &format!("http://{upstream}"), &bridge).await;
    stop.cancel();
    running.await.map_err(other)?;
    figures
}

async fn rounds_of(rounds: u32, client: &Http, upstream: &str, bridge: &str) -> Result<Vec<Figure>, CliError> {
    let (mut straight, mut protected, mut replayed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut straight_at_once, mut protected_at_once) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let key = |number: u32| format!("r{round}-{number}");
        let one = [
            in_turn(client, upstream, key).await?,
            in_turn(client, bridge, key).await?,
            in_turn(client, bridge, key).await?,
            at_once(client, upstream, &format!("s{round}")).await?,
            at_once(client, bridge, &format!("s{round}")).await?,
        ];
        if round > 0 {
            let all = [&mut straight, &mut protected, &mut replayed, &mut straight_at_once, &mut protected_at_once];
            for (rounds, value) in all.into_iter().zip(one) {
                rounds.push(value);
            }
        }
    }
    let added: Vec<f64> = protected.iter().zip(&straight).map(|(protected, straight)| protected - straight).collect();
    Ok(vec![
        Figure::of("a request straight to the upstream", &straight, "us", None),
        Figure::of("a first request through the bridge", &protected, "us", None),
        Figure::of("what the bridge adds to it", &added, "us", None),
        Figure::of("a replay", &replayed, "us", None),
        Figure::of("32 at once, straight", &straight_at_once, "requests/s", None),
        Figure::of("32 at once, first requests through the bridge", &protected_at_once, "requests/s", None),
    ])
}

/// Median time of a request, in microseconds.
async fn in_turn(client: &Http, base: &str, key: impl Fn(u32) -> String) -> Result<f64, CliError> {
    let mut times = Vec::new();
    for number in 0..REQUESTS {
        let begun = Instant::now();
        request(client, base, &key(number)).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(&times))
}

/// Requests a second.
async fn at_once(client: &Http, base: &str, name: &str) -> Result<f64, CliError> {
    let begun = Instant::now();
    let workers = (0..AT_ONCE).map(|worker| {
        let (client, base, name) = (client.clone(), base.to_owned(), name.to_owned());
        tokio::spawn(async move {
            for number in 0..REQUESTS / 8 {
                request(&client, &base, &format!("{name}-{worker}-{number}")).await?;
            }
            Ok::<(), CliError>(())
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.map_err(other)??;
    }
    Ok(f64::from(AT_ONCE * (REQUESTS / 8)) / begun.elapsed().as_secs_f64())
}

async fn request(client: &Http, base: &str, key: &str) -> Result<(), CliError> {
    let request = Request::builder()
        .method(Method::POST)
        .uri(format!("{base}/charges"))
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(Body::from(r#"{"order":"17","amount":1999,"currency":"EUR"}"#))
        .map_err(other)?;
    let answer = client.request(request).await.map_err(other)?;
    let status = answer.status();
    answer.into_body().collect().await.map_err(other)?;
    if status == StatusCode::CREATED {
        Ok(())
    } else {
        Err(CliError::Refused(format!("the measured request was answered with {status}")))
    }
}

/// An API that does nothing but answer.
async fn upstream() -> Result<SocketAddr, CliError> {
    let answer =
        || async { (StatusCode::CREATED, [("content-type", "application/json")], r#"{"charge":"ch_17","status":"succeeded"}"#) };
    let routes = Router::new().route("/charges", post(answer));
    let listener = crate::bridge::listen::Listener::bind(loopback(), None).await.map_err(other)?;
    let address = listener.local_addr();
    tokio::spawn(listener.serve(routes, CancellationToken::new(), Duration::ZERO));
    Ok(address)
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> CliError {
    CliError::Other(Box::new(error))
}
