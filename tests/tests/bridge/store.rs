//! A store that cannot be asked: before the start nothing is sent, after the answer nothing is lost.

use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::BodyExt as _;
use leasehold_decision::StatementName;
use leasehold_tests::bridge::Bridge;
use leasehold_tests::faulty::Fault;
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::{Pieces, Upstream, answer};
use leasehold_tests::wait::{eventually, within};

const INSERT: Kind = Kind::Swap(StatementName::Insert);
const START: Kind = Kind::Swap(StatementName::Start);
const COMPLETE: Kind = Kind::Swap(StatementName::Complete);
const FAIL: Kind = Kind::Swap(StatementName::Fail);
const ABANDON: Kind = Kind::Swap(StatementName::Abandon);

async fn start() -> (Upstream, Bridge) {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    (upstream, bridge)
}

/// Once the store is whole again, the request is executed, once.
async fn executes_at_last(upstream: &Upstream, bridge: &Bridge) {
    bridge.store.heal();
    let reply = eventually("the request to be executed", async || {
        let reply = bridge.post("/charges", "k", "{}").await;
        if reply.status != 201 {
            reply.problem(409, "request-in-progress");
        }
        (reply.status == 201).then_some(reply)
    })
    .await;
    reply.is(201, "charge 1");
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn without_a_store_the_upstream_is_not_called() {
    for step in [Kind::Read, INSERT, START] {
        let (upstream, bridge) = start().await;
        bridge.store.fail_at(step, Fault::Refuse);
        let reply = bridge.post("/charges", "k", "{}").await;
        reply.problem(503, "store-unavailable");
        assert!(reply.header("retry-after").is_some(), "{step:?}");
        assert_eq!(upstream.effects(), 0, "{step:?}");
        executes_at_last(&upstream, &bridge).await;
    }
}

/// The claim or the start is done, and its reply is lost: it is asked for, and the request goes on.
#[tokio::test]
async fn a_lost_reply_before_the_start_is_settled() {
    for step in [INSERT, START] {
        let (upstream, bridge) = start().await;
        bridge.store.fail_at(step, Fault::LoseReply);
        bridge.post("/charges", "k", "{}").await.is(201, "charge 1");
        assert_eq!(bridge.store.asked(step), 1, "{step:?} was sent again, and not asked for");
        executes_again_never(&upstream, &bridge).await;
    }
}

async fn executes_again_never(upstream: &Upstream, bridge: &Bridge) {
    bridge.post("/charges", "k", "{}").await.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

/// The start is in the store, and nobody can find that out: the upstream is not called, and the start is taken back once it is known.
#[tokio::test]
async fn a_start_that_cannot_be_confirmed_is_taken_back() {
    let (upstream, bridge) = start().await;
    let lost = AtomicBool::new(false);
    bridge.store.fail(move |step| match step {
        START => {
            lost.store(true, Ordering::SeqCst);
            Fault::LoseReply
        }
        Kind::Read if lost.load(Ordering::SeqCst) => Fault::Refuse,
        _ => Fault::None,
    });
    let reply = bridge.post("/charges", "k", "{}").await;
    reply.problem(503, "store-unavailable");
    assert_eq!(upstream.effects(), 0);
    executes_at_last(&upstream, &bridge).await;
}

// After the upstream has answered.

/// The answer goes to its caller, and the complete is tried again until it is settled.
async fn goes_out_and_is_settled_later(fault: Fault) {
    let (upstream, bridge) = start().await;
    bridge.store.fail_at(COMPLETE, fault);
    bridge.post("/charges", "k", "{}").await.is(201, "charge 1");
    let meanwhile = bridge.post("/charges", "k", "{}").await;
    meanwhile.problem(409, "request-in-progress");
    bridge.store.heal();
    let replay = eventually("the answer to be stored", async || {
        let reply = bridge.post("/charges", "k", "{}").await;
        reply.replayed().then_some(reply)
    })
    .await;
    replay.is_replay(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_store_that_refuses_after_the_answer_does_not_take_it_from_its_caller() {
    goes_out_and_is_settled_later(Fault::Refuse).await;
}

/// A store that does not answer at all held the answer back for as long as it was silent: the patience was looked at between tries.
#[tokio::test]
async fn a_store_that_is_silent_after_the_answer_does_not_take_it_from_its_caller() {
    goes_out_and_is_settled_later(Fault::Hang).await;
}

#[tokio::test]
async fn a_stream_ends_for_its_caller_when_the_store_is_silent() {
    let upstream = Upstream::start(|_| async {
        let (sender, body) = Pieces::channel();
        sender.send("event".into()).unwrap();
        Ok(answer(201, body))
    })
    .await;
    let bridge = Bridge::before(upstream.address).await;
    bridge.store.fail_at(COMPLETE, Fault::Hang);
    bridge.post("/charges", "k", "{}").await.is(201, "event");
    bridge.store.heal();
    eventually("the answer to be stored", async || bridge.post("/charges", "k", "{}").await.replayed().then_some(())).await;
    assert_eq!(upstream.effects(), 1);
}

/// The complete is done and its reply is lost: the same id finds it, and there is no second one.
#[tokio::test]
async fn a_lost_reply_to_the_complete_is_settled() {
    let (upstream, bridge) = start().await;
    bridge.store.fail_at(COMPLETE, Fault::LoseReply);
    bridge.post("/charges", "k", "{}").await.is(201, "charge 1");
    executes_again_never(&upstream, &bridge).await;
    assert_eq!(bridge.store.asked(COMPLETE), 1);
}

/// What had no effect, or an unknown one, is settled later just so.
#[tokio::test]
async fn other_ends_are_settled_later_too() {
    for (status, end) in [(429, FAIL), (502, ABANDON)] {
        let upstream = Upstream::start(move |_| async move { Ok(answer(status, "")) }).await;
        let bridge = Bridge::before(upstream.address).await;
        bridge.store.fail_at(end, Fault::Refuse);
        bridge.post("/charges", "k", "{}").await.is(status, "");
        bridge.post("/charges", "k", "{}").await.problem(409, "request-in-progress");
        bridge.store.heal();
        eventually("the end to be stored", async || {
            let reply = bridge.post("/charges", "k", "{}").await;
            if status == 429 {
                (reply.status == 429).then_some(())
            } else {
                reply.text().contains("recovery-required").then_some(())
            }
        })
        .await;
        assert_eq!(upstream.effects(), if status == 429 { 2 } else { 1 });
    }
}

/// The store is lost for good while the caller's answer comes in parts: they come all the same.
#[tokio::test]
async fn parts_pass_while_the_store_is_lost() {
    let (sender, body) = Pieces::channel();
    let body = std::sync::Mutex::new(Some(body));
    let upstream = Upstream::start(move |_| {
        let body = body.lock().unwrap().take().unwrap();
        async move { Ok(answer(200, body)) }
    })
    .await;
    let bridge = Bridge::before(upstream.address).await;
    sender.send("one".into()).unwrap();
    let mut answer = bridge.open(bridge.posting("/charges", "k", "{}")).await.into_body();
    bridge.store.fail(|_| Fault::Refuse);
    for part in ["one", "two", "three"] {
        let frame = within("a part", answer.frame()).await.unwrap().unwrap();
        assert_eq!(frame.data_ref().unwrap(), part);
        sender
            .send(
                match part {
                    "one" => "two",
                    "two" => "three",
                    _ => "four",
                }
                .into(),
            )
            .unwrap();
    }
}
