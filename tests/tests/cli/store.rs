//! A store on which an operator can be tried out: records in every state that matters, made by the host itself.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use leasehold::bridge::envelope::{Body, StoredAnswer};
use leasehold::store::Evidence;
use leasehold::{ClaimAnswer, ClaimRequest, Claimed, End, Family, HostOptions, Key, Leasehold, Scope, SecretSource, Settings};
use leasehold_tests::binary::{Program, program};
use tempfile::TempDir;

/// How long an end may take to be stored.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Store {
    folder: TempDir,
}

impl Store {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder for a test") }
    }

    pub fn url(&self) -> String {
        format!("sqlite:{}", self.path("leasehold.db"))
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("its path is text").to_owned()
    }

    /// A file beside the store.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("it can be written");
        path
    }

    /// What a shell prints in the store's folder.
    pub fn shell(&self, script: &str) -> String {
        let output = std::process::Command::new("sh").args(["-ec", script]).current_dir(self.folder.path()).output();
        let output = output.expect("there is a shell");
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).expect("it is text")
    }

    /// The binary, on this store.
    pub fn program(&self, args: &[&str]) -> Program {
        program(&[args, &["--store", &self.url()]].concat())
    }

    /// A program's answer as JSON.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.program(&[args, &["--json"]].concat()).done()).expect("it is JSON")
    }

    pub async fn host(&self) -> Leasehold {
        let code_cache = leasehold_tests::hosts::code_cache();
        let options = HostOptions::new(self.url().parse().expect("it is a store's address"));
        Leasehold::open(HostOptions { secrets: SecretSource::None, code_cache, ..options }).await.expect("the host opens")
    }

    /// A record whose effect nobody knows.
    pub async fn abandoned(&self, family: Family, scope: &str) {
        let started = claim(&self.host().await, request(family, scope)).await.start().await.expect("it starts");
        let end = End::EffectUnknown { reason: "UPSTREAM_SILENT".to_owned() };
        let _ = started.settle(end, PATIENCE).await;
    }

    /// A record that is completed, with this body.
    pub async fn completed(&self, scope: &str, body: &'static str, settings: Option<Settings>) {
        let request = ClaimRequest { settings, ..request(Family::Idempotency, scope) };
        let started = claim(&self.host().await, request).await.start().await.expect("it starts");
        let _ = started.settle(End::Success(answer(body)), PATIENCE).await;
    }

    /// An execution that ended with its host: its lease is over at once.
    pub async fn lapsed(&self, family: Family, scope: &str) {
        let host = self.host().await;
        let settings = Settings { lease: 100, ..host.settings(family) };
        let request = ClaimRequest { settings: Some(settings), ..request(family, scope) };
        drop(claim(&host, request).await.start().await.expect("it starts"));
    }

    /// What a late end wanted to say.
    pub async fn evidence(&self, scope: &str, body: &'static str) {
        let evidence = Evidence {
            attempt: 1,
            at: 0,
            kind: "complete".to_owned(),
            refused: "not-owner".to_owned(),
            digest: None,
            reason: None,
            response: Some(answer(body)),
        };
        let host = self.host().await;
        assert!(host.store().keep_evidence(Family::Idempotency, scope, &evidence).await.expect("the store answers"));
    }

    /// What a claim finds: the outcome's kind, and the body of the stored answer.
    pub async fn found(&self, scope: &str) -> (&'static str, Option<String>) {
        match self.host().await.claim(request(Family::Idempotency, scope)).await.expect("the claim has an outcome") {
            ClaimAnswer::Held(claimed) => (if claimed.attempt() == 1 { "acquired" } else { "taken-over" }, None),
            ClaimAnswer::Answered(answered) => {
                let response = answered.settled.before.and_then(|stored| stored.response);
                (answered.settled.outcome.kind(), response.map(|bytes| body(&bytes)))
            }
        }
    }
}

fn request(family: Family, scope: &str) -> ClaimRequest {
    let key = Key::Scope { scope: Scope::new(scope).expect("it is a scope"), fingerprint: None };
    let codec = "http-1".to_owned();
    ClaimRequest { codec: Some(codec.clone()), readable_codecs: vec![codec], ..ClaimRequest::new(family, key) }
}

async fn claim(host: &Leasehold, request: ClaimRequest) -> Claimed {
    match host.claim(request).await.expect("the claim has an outcome") {
        ClaimAnswer::Held(claimed) => claimed,
        ClaimAnswer::Answered(answered) => panic!("not held: {answered:?}"),
    }
}

/// The line of the README that begins so, as it would be copied.
pub fn readme(begins: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = std::fs::read_to_string(path).expect("there is a README");
    let mut lines = text.lines().map(str::trim).filter(|line| line.starts_with(begins));
    lines.next().unwrap_or_else(|| panic!("the README has no line that begins with {begins}")).to_owned()
}

/// A stored answer.
pub fn answer(body: &'static str) -> Vec<u8> {
    StoredAnswer::new(StatusCode::CREATED, &HeaderMap::new(), Body::Kept(body.into())).encode()
}

fn body(bytes: &[u8]) -> String {
    match StoredAnswer::decode(bytes).expect("it is http-1").body {
        Body::Kept(body) => String::from_utf8(body.to_vec()).expect("it is text"),
        Body::NotKept { .. } => panic!("it is kept"),
    }
}
