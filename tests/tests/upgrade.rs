//! A rolling upgrade: two builds of the real server with different policy revisions on one SQLite file, with records in flight.
//!
//! The other build is named by `LEASEHOLD_OTHER_BUILD`; `.ci/second-build` makes one. Which build claimed a record is read from its
//! row: the policy revision is the claiming build's. Here the old build is the other one, the new one is the one under test.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use leasehold::store::StoredRow;
use leasehold::{Family, HostOptions, KeyedRequest, Leasehold, Payload, SecretSource, State, StoreUrl};
use leasehold_decision::policy;
use leasehold_tests::binary::leasehold;
use leasehold_tests::bridge::Reply;
use leasehold_tests::hosts::{Bed, code_cache};
use leasehold_tests::require::skipped;
use leasehold_tests::served::Served;
use leasehold_tests::upstream::{Gate, Upstream, charged};
use leasehold_tests::wait::{eventually, within};
use tokio::task::JoinHandle;

const OTHER_BUILD: &str = "LEASEHOLD_OTHER_BUILD";
/// Short enough that the end of a dead build's lease can be waited for.
const ARGS: [&str; 2] = ["--lease", "1s"];
/// Keys that go to both builds at once.
const CROWD: usize = 40;

fn other_build() -> Option<PathBuf> {
    let named = std::env::var_os(OTHER_BUILD).filter(|named| !named.is_empty()).map(PathBuf::from);
    if named.is_none() {
        skipped("second build", ".ci/second-build makes one and prints its path: set LEASEHOLD_OTHER_BUILD to that");
    }
    named
}

/// An upstream that charges at once, but keeps the answers to `slow-...` back until a gate is open, and has none for `doomed`.
struct Api {
    upstream: Upstream,
    gate: Arc<Mutex<Gate>>,
}

impl Api {
    async fn start() -> Self {
        let gate = Arc::new(Mutex::new(Gate::default()));
        let held = Arc::clone(&gate);
        let upstream = Upstream::start(move |asked| {
            let key = asked.header("idempotency-key").to_owned();
            let gate = held.lock().unwrap().clone();
            async move {
                match key.as_str() {
                    "doomed" => std::future::pending().await,
                    slow if slow.starts_with("slow") => gate.pass().await,
                    _ => {}
                }
                Ok(charged(&asked))
            }
        })
        .await;
        Self { upstream, gate }
    }

    fn effects(&self, key: &str) -> usize {
        self.upstream.booked().iter().filter(|asked| asked.header("idempotency-key") == key).count()
    }

    async fn has_begun(&self, key: &str) {
        eventually("the upstream to be asked", async || (self.effects(key) > 0).then_some(())).await;
    }
}

/// One build of the server, as a client sees it.
struct Build {
    served: Served,
    client: Client<HttpConnector, Body>,
}

impl Build {
    async fn start(binary: &Path, bed: &Bed, api: &Api) -> Self {
        let served = Served::start(binary, &bed.file(), api.upstream.address, &ARGS).await;
        Self { served, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    fn sending(&self, key: &str) -> JoinHandle<Option<Reply>> {
        let (client, request) = (self.client.clone(), request(self.served.address, key));
        tokio::spawn(async move {
            let answer = within("an answer", client.request(request)).await.ok()?;
            Some(Reply::of(answer).await)
        })
    }

    async fn post(&self, key: &str) -> Reply {
        self.sending(key).await.unwrap().expect("an answer")
    }
}

fn request(address: SocketAddr, key: &str) -> Request<Body> {
    let request = Request::post(format!("http://{address}/charges")).header("idempotency-key", key);
    request.header("content-type", "application/json").body(Body::from("{\"amount\":1}")).unwrap()
}

/// Looks at rows, past both builds.
async fn looker(bed: &Bed) -> Leasehold {
    let options = HostOptions::new(StoreUrl::Sqlite(bed.file()));
    Leasehold::open(HostOptions { code_cache: code_cache(), secrets: SecretSource::BesideStore, ..options }).await.unwrap()
}

async fn row(looker: &Leasehold, key: &str) -> StoredRow {
    let payload = Payload { method: Vec::new(), target: Vec::new(), content_type: None, body: Vec::new().into() };
    let keyed = KeyedRequest { principal: Vec::new(), operation_code: "http".to_owned(), key: key.as_bytes().to_vec(), payload };
    let scope = looker.keyring().unwrap().scope(1, &keyed).unwrap();
    looker.store().read(Family::Idempotency, scope.as_str()).await.unwrap().stored.unwrap_or_else(|| panic!("no record of {key}"))
}

async fn claimed_under(looker: &Leasehold, key: &str) -> u64 {
    row(looker, key).await.row.policy_revision
}

/// The policy revision of the other build: that of a record that it made.
async fn revision_of_the_other(looker: &Leasehold, old: &Build) -> u64 {
    old.post("whose").await.is(201, "charge 1");
    let revision = claimed_under(looker, "whose").await;
    assert_ne!(revision, policy::REVISION, "{OTHER_BUILD} names a build with the same policy revision as this one");
    revision
}

/// Executing in one build: the other takes the duplicates, refuses them while it lasts, and replays the answer when it is there.
async fn in_flight(looker: &Leasehold, api: &Api, builds: [(&Build, u64); 2]) {
    for (number, [(one, revision), (other, _)]) in [builds, [builds[1], builds[0]]].into_iter().enumerate() {
        let key = format!("slow-{number}");
        let gate = Gate::default();
        *api.gate.lock().unwrap() = gate.clone();
        let first = one.sending(&key);
        api.has_begun(&key).await;
        for build in [other, one] {
            build.post(&key).await.problem(409, "request-in-progress");
        }
        let executing = row(looker, &key).await.row;
        assert_eq!((executing.state, executing.policy_revision), (State::Executing, revision));
        gate.open();
        let answer = first.await.unwrap().unwrap();
        let text = answer.text();
        answer.is(201, &text);
        for build in [other, one] {
            build.post(&key).await.is_replay(201, &text);
        }
        assert_eq!((api.effects(&key), claimed_under(looker, &key).await), (1, revision));
    }
}

/// Fresh on one side, replayed by the other.
async fn across(looker: &Leasehold, api: &Api, name: &str, builds: [(&Build, u64); 2]) {
    for (number, [(one, revision), (other, _)]) in [builds, [builds[1], builds[0]]].into_iter().enumerate() {
        let key = format!("{name}-{number}");
        let answer = one.post(&key).await;
        answer.is(201, &answer.text());
        other.post(&key).await.is_replay(201, &answer.text());
        assert_eq!((api.effects(&key), claimed_under(looker, &key).await), (1, revision));
    }
}

/// The same keys to both builds at once.
async fn crowd(looker: &Leasehold, api: &Api, builds: [(&Build, u64); 2]) {
    let sent: Vec<_> = (0..CROWD)
        .map(|number| {
            let key = format!("crowd-{number}");
            let replies = builds.map(|(build, _)| build.sending(&key));
            (key, replies)
        })
        .collect();
    for (key, replies) in sent {
        let mut executed = Vec::new();
        for ((_, revision), reply) in builds.into_iter().zip(replies) {
            let reply = reply.await.unwrap().unwrap();
            match (reply.status, reply.replayed()) {
                (201, false) => executed.push(revision),
                (201, true) => {}
                _ => drop(reply.problem(409, "request-in-progress")),
            }
        }
        assert_eq!((api.effects(&key), executed), (1, vec![claimed_under(looker, &key).await]), "{key}");
        for (build, _) in builds {
            assert!(build.post(&key).await.replayed(), "{key}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_builds_on_one_file_have_one_effect_for_each_key() {
    let Some(other) = other_build() else { return };
    let (bed, api) = (Bed::new(), Api::start().await);
    let old = Build::start(&other, &bed, &api).await;
    let looker = looker(&bed).await;
    let (ours, theirs) = (policy::REVISION, revision_of_the_other(&looker, &old).await);
    let new = Build::start(leasehold(), &bed, &api).await;
    new.post("whose").await.is_replay(201, "charge 1");

    in_flight(&looker, &api, [(&old, theirs), (&new, ours)]).await;
    across(&looker, &api, "fresh", [(&old, theirs), (&new, ours)]).await;
    crowd(&looker, &api, [(&old, theirs), (&new, ours)]).await;

    // kill -9 in the middle of an execution: in doubt, as the new build tells it; never sent again.
    let doomed = old.sending("doomed");
    api.has_begun("doomed").await;
    new.post("doomed").await.problem(409, "request-in-progress");
    old.served.kill().await;
    assert!(doomed.await.unwrap().is_none(), "a killed server answered");
    let reference = eventually("the lease to be over", async || {
        let reply = new.post("doomed").await;
        reply.text().contains("recovery-required").then(|| reply.recovery())
    })
    .await;
    let buried = row(&looker, "doomed").await.row;
    assert_eq!((buried.state, buried.policy_revision), (State::Abandoned, theirs));
    assert_eq!(buried.reason.as_deref(), Some("EXECUTION_LEASE_EXPIRED"));

    // The old build again, beside the new one: rolled back.
    let old = Build::start(&other, &bed, &api).await;
    assert_eq!(old.post("doomed").await.recovery(), reference);
    assert_eq!(api.effects("doomed"), 1);
    for key in ["slow-0", "slow-1", "fresh-0", "fresh-1"] {
        assert!(old.post(key).await.replayed(), "{key}");
    }
    across(&looker, &api, "again", [(&old, theirs), (&new, ours)]).await;
    assert_eq!(api.effects("whose"), 1);
}
