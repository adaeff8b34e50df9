//! Many requests with one key at once: one effect, and every other one is told the truth.

use std::collections::BTreeMap;
use std::time::Duration;

use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::{Gate, Upstream};
use leasehold_tests::wait::{eventually, within};
use tokio::task::JoinSet;

const MANY: usize = 100;

/// 409, and when to come again: whole seconds, 1 or 2.
#[track_caller]
fn in_progress(reply: &Reply) {
    reply.problem(409, "request-in-progress");
    let seconds: u32 = reply.header("retry-after").expect("when to come again").parse().expect("whole seconds");
    assert!((1..=2).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn a_request_under_way_is_told_and_replayed_once_it_is_done() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Bridge::before(upstream.address).await;
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    upstream.has_booked(1).await;
    in_progress(&bridge.post("/charges", "k", "{}").await);
    bridge.post("/charges", "k", "[]").await.problem(422, "idempotency-key-reused");
    gate.open();
    first.await.unwrap().is(201, "charge 1");
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

/// A hundred first requests at once: one reaches the upstream, and the others are answered while it works.
#[tokio::test]
async fn of_a_hundred_first_requests_one_takes_effect() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Bridge::before(upstream.address).await;
    let mut sent = JoinSet::new();
    for _ in 0..MANY {
        let sending = bridge.sending(bridge.posting("/charges", "k", "{}"));
        sent.spawn(async move { sending.await.unwrap() });
    }
    for _ in 1..MANY {
        in_progress(&within("a duplicate's answer", sent.join_next()).await.unwrap().unwrap());
    }
    gate.open();
    sent.join_next().await.unwrap().unwrap().is(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

/// Two bodies alike from two clients at once: it is the owner that is compared, not the fingerprint. And a race that an insert
/// loses is no fault: nobody gets a 500.
#[tokio::test]
async fn a_race_of_two_bodies_has_one_effect_and_no_500() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    for round in 0..5 {
        let mut sent = JoinSet::new();
        for number in 0..40 {
            let body = if number % 2 == 0 { "{}" } else { "[]" };
            let sending = bridge.sending(bridge.posting("/charges", &format!("k{round}"), body));
            sent.spawn(async move { sending.await.unwrap() });
        }
        let mut told: BTreeMap<(u16, bool), usize> = BTreeMap::new();
        for reply in sent.join_all().await {
            *told.entry((reply.status, reply.replayed())).or_default() += 1;
        }
        assert_eq!(told.remove(&(201, false)), Some(1), "{told:?}");
        assert_eq!(told.remove(&(422, false)), Some(20), "{told:?}");
        told.remove(&(201, true));
        told.remove(&(409, false));
        assert!(told.is_empty(), "{told:?}");
        assert_eq!(upstream.effects(), round + 1);
    }
}

#[tokio::test]
async fn different_keys_do_not_wait_for_each_other() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Bridge::before(upstream.address).await;
    let sent: Vec<_> = (0..20).map(|number| bridge.sending(bridge.posting("/charges", &format!("k{number}"), "{}"))).collect();
    upstream.has_booked(20).await;
    gate.open();
    for reply in sent {
        assert_eq!(reply.await.unwrap().status, 201);
    }
}

// A duplicate may wait for the first one's answer.

#[tokio::test]
async fn a_duplicate_that_waits_gets_the_answer() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Setup::before(upstream.address).with(|route| route.wait = Duration::from_secs(30)).start().await;
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    upstream.has_booked(1).await;
    let reads = bridge.store.asked(Kind::Read);
    let waiting: Vec<_> = (0..5).map(|_| bridge.sending(bridge.posting("/charges", "k", "{}"))).collect();
    bridge.store.was_asked(Kind::Read, reads + 10).await;
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
    bridge.post("/charges", "k", "[]").await.problem(422, "idempotency-key-reused");
    gate.open();
    first.await.unwrap().is(201, "charge 1");
    for reply in waiting {
        reply.await.unwrap().is_replay(201, "charge 1");
    }
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_duplicate_waits_no_longer_than_it_is_told() {
    let gate = Gate::default();
    let upstream = Upstream::gated(&gate).await;
    let bridge = Setup::before(upstream.address).with(|route| route.wait = Duration::from_millis(100)).start().await;
    let first = bridge.sending(bridge.posting("/charges", "k", "{}"));
    upstream.has_booked(1).await;
    let reads = bridge.store.asked(Kind::Read);
    in_progress(&bridge.post("/charges", "k", "{}").await);
    assert!(bridge.store.asked(Kind::Read) > reads + 1, "it looked once, and did not wait");
    gate.open();
    first.await.unwrap().is(201, "charge 1");
}

// How long an answer is kept.

#[tokio::test]
async fn what_is_kept_longer_than_its_retention_is_as_absent() {
    let upstream = Upstream::charging().await;
    let short = |route: &mut leasehold::bridge::RouteSettings| {
        route.record.lease = 300;
        route.record.replay_retention = 300;
    };
    let bridge = Setup::before(upstream.address).with(short).start().await;
    bridge.post("/charges", "k", "{}").await.is(201, "charge 1");
    let second = eventually("the retention to be over", async || {
        let reply = bridge.post("/charges", "k", "{}").await;
        (!reply.replayed()).then_some(reply)
    })
    .await;
    second.is(201, "charge 2");
}
