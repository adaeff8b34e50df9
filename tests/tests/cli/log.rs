//! The server's log holds no key, no body and no principal, whatever its level.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Child;

use axum::Router;
use axum::routing::post;
use leasehold_tests::wait::within;

use super::store::Store;

const SECRETS: [&str; 4] =
    ["key-that-nobody-may-see", "account-that-nobody-may-see", "question-that-nobody-may-see", "answer-that-nobody-may-see"];

/// An API that answers with the last of them.
async fn upstream() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let api = Router::new().route("/pay", post(|| async { SECRETS[3] }));
    tokio::spawn(async move { axum::serve(listener, api).await });
    format!("http://{address}")
}

/// A server with that log, and where it listens. Standard error may be read once it is killed.
fn server(store: &Store, upstream: &str, log: &[&str]) -> (Child, String) {
    let args = ["serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--principal", "header:x-account"];
    let mut child = store.program(&[&args[..], log].concat()).start();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
    (child, url)
}

async fn pay(url: &str, client: reqwest::Client) {
    let request = client.post(format!("{url}/pay")).header("idempotency-key", SECRETS[0]).header("x-account", SECRETS[1]);
    let answer = within("an answer", request.body(SECRETS[2]).send()).await.unwrap();
    assert_eq!(answer.text().await.unwrap(), SECRETS[3]);
}

/// What it logged until it was killed.
fn logged(mut child: Child) -> String {
    child.kill().unwrap();
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    child.wait().unwrap();
    log
}

#[tokio::test]
async fn no_key_no_body_and_no_principal_is_logged_at_any_level() {
    let (store, upstream) = (Store::new(), upstream().await);
    // The log's pipe is read at the end alone: what these say of one request fits into it.
    let filter = "info,leasehold=trace,h2=trace,hyper=trace,hyper_util=trace";
    for http2 in [false, true] {
        let (child, url) = server(&store, &upstream, &["--log-level", filter]);
        let client = reqwest::Client::builder().no_proxy();
        let client = if http2 { client.http2_prior_knowledge() } else { client.http1_only() };
        pay(&url, client.build().unwrap()).await;
        let log = logged(child);
        assert!(log.contains("TRACE"), "{log}");
        for secret in SECRETS {
            assert!(!log.contains(secret), "{secret} is logged:\n{log}");
        }
    }
}

#[tokio::test]
async fn a_log_for_programs_has_an_object_a_line() {
    let (store, upstream) = (Store::new(), upstream().await);
    let (child, _) = server(&store, &upstream, &["--log", "json"]);
    let log = logged(child);
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["message"] == "serving" && line["level"] == "INFO"), "{log}");
}
