//! Work that outlives its caller, its lease, or the server.

use std::time::Duration;

use leasehold::Verdict;
use leasehold::bridge::RouteSettings;
use leasehold::executor::recovery::{Reference, VerdictRequest};
use leasehold_decision::StatementName;
use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::faulty::Fault;
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::{Gate, Upstream};
use leasehold_tests::wait::eventually;

use crate::net::Wire;

const RENEW: Kind = Kind::Swap(StatementName::Renew);
const REQUEST: &str =
    "POST /charges HTTP/1.1\r\nhost: a\r\nidempotency-key: k\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

fn short_lease(route: &mut RouteSettings) {
    route.record.lease = 300;
}

/// The client hangs up while the upstream works: the work ends, and its retry gets the answer.
#[tokio::test]
async fn a_client_that_hangs_up_does_not_stop_the_work() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Bridge::before(upstream.address).await;
    let mut client = Wire::to(bridge.address()).await;
    client.send(REQUEST).await;
    upstream.has_booked(1).await;
    client.reset();
    bridge.settle_down().await;
    bridge.post("/charges", "k", "{}").await.problem(409, "request-in-progress");
    gate.open();
    let replay = eventually("the answer", async || {
        let reply = bridge.post("/charges", "k", "{}").await;
        reply.replayed().then_some(reply)
    })
    .await;
    replay.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

/// An upstream that takes five times as long as the lease: it is renewed, so nobody takes the request for dead.
#[tokio::test]
async fn a_slow_upstream_keeps_its_lease() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Setup::before(upstream.address).with(short_lease).start().await;
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    for renewals in [3, 6, 9, 12, 15] {
        bridge.store.was_asked(RENEW, renewals).await;
        bridge.post("/charges", "k", "{}").await.problem(409, "request-in-progress");
    }
    gate.open();
    first.await.unwrap().is(201, "charge 1");
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

/// Renewals that fail for a moment are tried again sooner.
#[tokio::test]
async fn a_renewal_whose_reply_is_lost_is_ones_own() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Setup::before(upstream.address).with(short_lease).start().await;
    bridge.store.fail_at(RENEW, Fault::LoseReply);
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    bridge.store.was_asked(RENEW, 6).await;
    gate.open();
    first.await.unwrap().is(201, "charge 1");
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
}

/// The lease is lost while the upstream works (no renewal gets through).
struct Late {
    upstream: Upstream,
    bridge: Bridge,
    reference: Reference,
    first: Reply,
}

async fn late() -> Late {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Setup::before(upstream.address).with(short_lease).start().await;
    bridge.store.fail_at(RENEW, Fault::Refuse);
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    upstream.has_booked(1).await;
    let reference = eventually("the lease to be over", async || {
        let reply = bridge.post("/charges", "k", "{}").await;
        reply.text().contains("recovery-required").then(|| reply.recovery())
    })
    .await;
    gate.open();
    let first = first.await.unwrap();
    Late { upstream, bridge, reference: reference.parse().unwrap(), first }
}

/// Past its lease a second execution never begins; the late answer goes to its caller, and is kept as evidence.
#[tokio::test]
async fn a_late_answer_is_kept_as_evidence_and_never_executed_again() {
    let Late { upstream, bridge, reference, first } = late().await;
    first.is(201, "charge 1");
    bridge.post("/charges", "k", "{}").await.recovery();
    let shown = bridge.host.show(&reference).await.unwrap();
    assert_eq!(shown.stored.row.reason.as_deref(), Some("EXECUTION_LEASE_EXPIRED"));
    assert_eq!(shown.evidence.len(), 1);
    assert_eq!(shown.evidence[0].kind, "complete");
    assert!(shown.evidence[0].response.as_ref().unwrap().ends_with(b"charge 1"));
    assert_eq!(upstream.effects(), 1);
}

fn verdict(verdict: Verdict, response: Option<Vec<u8>>) -> VerdictRequest {
    let (actor, reason) = ("an operator".to_owned(), "looked into the ledger".to_owned());
    VerdictRequest { verdict, actor, reason, seen: None, response, extra_attempts: 1 }
}

#[tokio::test]
async fn what_an_operator_finds_out_is_what_the_next_one_gets() {
    let Late { upstream, bridge, reference, .. } = late().await;
    let response = bridge.host.show(&reference).await.unwrap().evidence[0].response.clone();
    bridge.host.resolve(&reference, &verdict(Verdict::Completed, response)).await.unwrap();
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_verdict_without_an_answer_is_told_as_not_kept() {
    let Late { upstream, bridge, reference, .. } = late().await;
    bridge.host.resolve(&reference, &verdict(Verdict::Completed, None)).await.unwrap();
    let document = bridge.post("/charges", "k", "{}").await.problem(409, "response-not-kept");
    assert_eq!(document.get("original-status"), None);
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_verdict_of_no_effect_lets_the_next_one_execute() {
    for (verdict_given, status) in [(Verdict::NoEffect, 201), (Verdict::Forget, 201)] {
        let Late { upstream, bridge, reference, .. } = late().await;
        bridge.store.heal();
        bridge.host.resolve(&reference, &verdict(verdict_given, None)).await.unwrap();
        bridge.post("/charges", "k", "{}").await.is(status, "charge 2");
        assert_eq!(upstream.effects(), 2);
    }
}

// The server's end.

#[tokio::test]
async fn a_server_that_is_told_to_stop_finishes_what_executes() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Bridge::before(upstream.address).await;
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    upstream.has_booked(1).await;
    let address = bridge.address();
    bridge.stop.cancel();
    eventually("the port to be closed", async || tokio::net::TcpStream::connect(address).await.is_err().then_some(())).await;
    assert!(!first.is_finished());
    gate.open();
    first.await.unwrap().is(201, "charge 1");
    let (finished, folder) = bridge.end().await;
    assert!(finished);
    let bridge = Setup::before(upstream.address).on_the_file_of(folder).start().await;
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
}

/// Nobody waits for the answer any more, and the server is told to stop: it is stored all the same.
#[tokio::test]
async fn work_without_a_caller_is_finished_too() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Bridge::before(upstream.address).await;
    let mut client = Wire::to(bridge.address()).await;
    client.send(REQUEST).await;
    upstream.has_booked(1).await;
    client.reset();
    bridge.settle_down().await;
    bridge.stop.cancel();
    let address = bridge.address();
    eventually("the port to be closed", async || tokio::net::TcpStream::connect(address).await.is_err().then_some(())).await;
    gate.open();
    let (finished, folder) = bridge.end().await;
    assert!(finished);
    let bridge = Setup::before(upstream.address).on_the_file_of(folder).start().await;
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

/// The grace runs out: what is under way is cut, said so, and in doubt for whoever asks the next server.
#[tokio::test]
async fn a_grace_that_runs_out_leaves_what_was_cut_in_doubt() {
    let upstream = Upstream::gated(&Gate::default()).await;
    let bridge = Setup::before(upstream.address).with(short_lease).grace(Duration::from_millis(100)).start().await;
    let mut client = Wire::to(bridge.address()).await;
    client.send(REQUEST).await;
    upstream.has_booked(1).await;
    let (finished, folder) = bridge.end().await;
    assert!(!finished, "it says that all was finished");
    assert_eq!(client.closed().await, "");
    let bridge = Setup::before(upstream.address).with(short_lease).on_the_file_of(folder).start().await;
    eventually("the lease to be over", async || {
        let reply = bridge.post("/charges", "k", "{}").await;
        reply.text().contains("recovery-required").then(|| reply.recovery())
    })
    .await;
    assert_eq!(upstream.effects(), 1);
}
