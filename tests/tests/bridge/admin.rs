//! `/health`, `/ready` and `/metrics`, on an address of their own.

use leasehold_decision::StatementName;
use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::faulty::Fault;
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::{Gate, Upstream, answer, charged};
use sqlx::Connection as _;

#[tokio::test]
async fn the_process_is_well_whatever_its_store_does() {
    let bridge = Bridge::before(crate::net::nobody().await).await;
    bridge.get(format!("{}/health", bridge.admin)).await.is(200, "ok\n");
    bridge.get(format!("{}/ready", bridge.admin)).await.is(200, "ready\n");
    bridge.store.fail(|_| Fault::Refuse);
    bridge.get(format!("{}/health", bridge.admin)).await.is(200, "ok\n");
    let ready = bridge.get(format!("{}/ready", bridge.admin)).await;
    assert_eq!(ready.status, 503);
    assert!(ready.text().starts_with("not ready: the store is unavailable"), "{}", ready.text());
    bridge.store.heal();
    bridge.get(format!("{}/ready", bridge.admin)).await.is(200, "ready\n");
}

/// Another host has entered a version that this one has no secret for: it is not ready, and says what to set.
#[tokio::test]
async fn a_host_without_a_known_secret_is_not_ready() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let mut file = sqlx::SqliteConnection::connect(&format!("sqlite:{}", bridge.file().display())).await.unwrap();
    let insert = "INSERT INTO leasehold_secret (version, active_from, check_value) VALUES (2, 1, 'of another host')";
    sqlx::query(insert).execute(&mut file).await.unwrap();
    let ready = bridge.get(format!("{}/ready", bridge.admin)).await;
    assert_eq!(ready.status, 503);
    assert!(ready.text().contains("LEASEHOLD_SECRET_2"), "{}", ready.text());
    // Nor does it serve: another host may have a record under the new version.
    bridge.post("/charges", "k", "{}").await.problem(503, "store-unavailable");
    assert_eq!(upstream.effects(), 0);
}

#[tokio::test]
async fn none_of_it_is_public() {
    let upstream = Upstream::start(async |_| Ok(answer(404, "of the upstream"))).await;
    let bridge = Bridge::before(upstream.address).await;
    for path in ["/health", "/ready", "/metrics"] {
        bridge.get(format!("{}{path}", bridge.url)).await.is(404, "of the upstream");
    }
    assert_eq!(bridge.get(format!("{}/charges", bridge.admin)).await.status, 404);
    assert_eq!(upstream.effects(), 3);
}

async fn metrics(bridge: &Bridge) -> String {
    let reply = bridge.get(format!("{}/metrics", bridge.admin)).await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    reply.text()
}

#[track_caller]
fn says(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
}

#[tokio::test]
async fn outcomes_latencies_and_what_waits_are_counted() {
    let gate = Gate::default();
    let held = gate.clone();
    let upstream = Upstream::start(move |asked| {
        let held = held.clone();
        async move {
            match asked.target.path() {
                "/held" => held.pass().await,
                "/busy" => return Ok(answer(429, "")),
                "/gone" => return Err("the process ended".into()),
                "/gateway" => return Ok(answer(502, "")),
                _ => {}
            }
            Ok(charged(&asked))
        }
    })
    .await;
    let bridge = Bridge::before(upstream.address).await;
    let told = async |path: &str, key: &str, status: u16| {
        let reply: Reply = bridge.post(path, key, "{}").await;
        assert_eq!(reply.status, status);
    };
    let first = bridge.sending(bridge.posting("/held", "held", "{}"));
    upstream.has_booked(1).await;
    told("/held", "held", 409).await;
    told("/other", "held", 422).await;
    gate.open();
    first.await.unwrap();
    for _ in 0..3 {
        told("/held", "held", 201).await;
    }
    told("/busy", "busy", 429).await;
    told("/gone", "gone", 502).await;
    told("/gone", "gone", 409).await;
    told("/gateway", "gateway", 502).await;
    told("/held", "a b", 400).await;
    bridge.get(format!("{}/free", bridge.url)).await;
    let text = metrics(&bridge).await;
    for (outcome, times) in [
        ("executed", 1),
        ("in-progress", 1),
        ("fingerprint-mismatch", 1),
        ("completed-replay", 3),
        ("no-effect", 1),
        ("upstream-broke", 1),
        ("recovery-required", 1),
        ("effect-unknown", 1),
        ("idempotency-key-invalid", 1),
        ("passed-through", 1),
    ] {
        says(&text, &format!("leasehold_requests_total{{outcome=\"{outcome}\"}} {times}"));
    }
    says(&text, "leasehold_recovery_waiting{family=\"idempotency\"} 2");
    says(&text, "leasehold_recovery_waiting{family=\"inbox\"} 0");
    says(&text, "leasehold_request_duration_seconds_count 10");
    says(&text, "# EOF");
    assert!(text.contains("leasehold_leases_lost "), "{text}");
}

#[tokio::test]
async fn an_end_that_came_too_late_is_counted() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Setup::before(upstream.address).with(|route| route.record.lease = 300).start().await;
    bridge.store.fail_at(Kind::Swap(StatementName::Renew), Fault::Refuse);
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    upstream.has_booked(1).await;
    leasehold_tests::wait::eventually("the lease to be over", async || {
        bridge.post("/charges", "k", "{}").await.text().contains("recovery-required").then_some(())
    })
    .await;
    gate.open();
    first.await.unwrap().is(201, "charge 1");
    let text = metrics(&bridge).await;
    says(&text, "leasehold_late_ends_total{outcome=\"stale-revision\"} 1");
    says(&text, "leasehold_requests_total{outcome=\"late\"} 1");
    assert!(!text.contains("outcome=\"executed\""), "a late end is no success:\n{text}");
}

/// The caller has its answer, and nobody waits for the end any more when it is refused at last: it was not counted.
#[tokio::test]
async fn an_end_that_came_too_late_behind_its_callers_back_is_counted() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Setup::before(upstream.address).with(|route| route.record.lease = 300).start().await;
    let (renew, complete) = (Kind::Swap(StatementName::Renew), Kind::Swap(StatementName::Complete));
    bridge.store.fail(move |step| if step == renew || step == complete { Fault::Refuse } else { Fault::None });
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    upstream.has_booked(1).await;
    gate.open();
    first.await.unwrap().is(201, "charge 1");
    says(&metrics(&bridge).await, "leasehold_requests_total{outcome=\"settle-pending\"} 1");
    leasehold_tests::wait::eventually("the lease to be over", async || {
        bridge.post("/charges", "k", "{}").await.text().contains("recovery-required").then_some(())
    })
    .await;
    bridge.store.heal();
    leasehold_tests::wait::eventually("the late end to be counted", async || {
        let line = "leasehold_late_ends_total{outcome=\"stale-revision\"} 1";
        metrics(&bridge).await.lines().any(|found| found == line).then_some(())
    })
    .await;
    says(&metrics(&bridge).await, "leasehold_late_ends_total{outcome=\"stale-revision\"} 1");
}
