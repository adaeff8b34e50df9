//! Leases, takeover, fencing: the cases that broke other systems, on a real file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leasehold::executor::recovery::Reference;
use leasehold::{ClaimAnswer, End, Family, OperationId, Outcome, Owner, Settlement, StartError, State};
use leasehold_decision::StatementName;
use leasehold_tests::hosts::{Bed, ask, clock_reaches, hold, lease_over, request, row, scope, settings, until};
use leasehold_tests::scripted::{Fault, Gate, Kind, Operation};

const PATIENCE: Duration = Duration::from_secs(60);

/// A process that starves: none of its renewals reach the store.
fn starving(operation: &Operation) -> Option<Fault> {
    (operation.kind == Kind::Swap(StatementName::Renew)).then_some(Fault::Refuse)
}

/// The first write of this kind waits at the gate.
fn gated(statement: StatementName, gate: &Arc<Gate>) -> impl Fn(&Operation) -> Option<Fault> + Send + Sync + 'static {
    let (gate, first) = (Arc::clone(gate), AtomicBool::new(true));
    move |operation| {
        let fits = operation.kind == Kind::Swap(statement) && first.swap(false, Ordering::SeqCst);
        fits.then(|| Fault::Gate(Arc::clone(&gate)))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn case_1_a_write_from_a_stale_reading_changes_nothing_and_the_answer_is_replayed() {
    let bed = Bed::new();
    let gate = Gate::new();
    let a = bed.host(settings(100)).await;
    let (b, _) = bed.faulty(settings(100), gated(StatementName::Takeover, &gate)).await;
    let held = hold(&a, "x").await;
    lease_over(&a, "x").await;
    // B has read the lapsed claim and is about to take it over.
    let asked = tokio::spawn(async move { ask(&b, "x").await });
    gate.arrived().await;
    // Nobody has superseded A: it still owns.
    let started = held.start().await.unwrap();
    assert!(matches!(started.settle(End::Success(b"of A".to_vec()), PATIENCE).await, Settlement::Stored { .. }));
    gate.open();
    let answered = asked.await.unwrap();
    assert!(matches!(answered.settled.outcome, Outcome::CompletedReplay(_)), "{:?}", answered.settled.outcome);
    assert_eq!(answered.settled.before.unwrap().response.as_deref(), Some(&b"of A"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn cases_3_and_12_a_lapsed_execution_is_never_repeated_and_its_late_result_is_evidence() {
    let bed = Bed::new();
    let (a, _) = bed.faulty(settings(150), starving).await;
    let b = bed.host(settings(150)).await;
    let started = hold(&a, "x").await.start().await.unwrap();
    let ticket = started.ticket();
    lease_over(&b, "x").await;
    for _ in 0..3 {
        let answered = ask(&b, "x").await;
        assert!(matches!(answered.settled.outcome, Outcome::RecoveryRequired(_)), "{:?}", answered.settled.outcome);
        assert_eq!(answered.settled.reason(), Some("EXECUTION_LEASE_EXPIRED"));
    }
    until("A's own clock says that the lease is over", || async { ticket.may_send().is_err().then_some(()) }).await;
    let settlement = started.settle(End::Success(b"too late".to_vec()), PATIENCE).await;
    assert!(matches!(settlement, Settlement::Late(Outcome::StaleRevision(_))), "{settlement:?}");
    let shown = b.show(&Reference { family: Family::Idempotency, scope: scope("x") }).await.unwrap();
    assert_eq!(shown.stored.row.state, State::Abandoned);
    let [evidence] = &shown.evidence[..] else { panic!("{:?}", shown.evidence) };
    assert_eq!((evidence.kind.as_str(), evidence.refused.as_str()), ("complete", "stale-revision"));
    assert_eq!((evidence.attempt, evidence.response.as_deref()), (1, Some(&b"too late"[..])));
}

#[tokio::test(flavor = "multi_thread")]
async fn case_4_the_lease_decides_when_a_retry_is_let_in_not_the_retention() {
    let bed = Bed::new();
    let host = bed.host(settings(150)).await;
    drop(hold(&host, "x").await);
    let until = match ask(&host, "x").await.settled.outcome {
        Outcome::InProgress(until) => until,
        other => panic!("{other:?}"),
    };
    clock_reaches(host.store(), until).await;
    assert_eq!(hold(&host, "x").await.attempt(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_5_a_renewal_behind_the_sweeps_reading_stands() {
    let bed = Bed::new();
    let (a_gate, sweep_gate) = (Gate::new(), Gate::new());
    let (a, _) = bed.faulty(settings(200), gated(StatementName::Renew, &a_gate)).await;
    let (sweeper, _) = bed.faulty(settings(200), gated(StatementName::Bury, &sweep_gate)).await;
    let started = hold(&a, "x").await.start().await.unwrap();
    a_gate.arrived().await;
    lease_over(&sweeper, "x").await;
    let swept = tokio::spawn(async move { sweeper.sweep(Family::Idempotency).await });
    sweep_gate.arrived().await;
    let lapsed = row(&a, "x").await.unwrap().row.revision;
    a_gate.open();
    until("A renews", || async { (row(&a, "x").await.unwrap().row.revision > lapsed).then_some(()) }).await;
    sweep_gate.open();
    let swept = swept.await.unwrap().unwrap();
    assert_eq!((swept.buried, swept.corrupt.len()), (0, 0));
    assert!(matches!(started.settle(End::Success(Vec::new()), PATIENCE).await, Settlement::Stored { state: State::Completed, .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn case_6_a_completion_behind_the_sweeps_reading_stands() {
    let bed = Bed::new();
    let gate = Gate::new();
    let starves = Arc::new(AtomicBool::new(true));
    let script = Arc::clone(&starves);
    let (a, _) = bed.faulty(settings(150), move |operation| starving(operation).filter(|_| script.load(Ordering::SeqCst))).await;
    let (sweeper, _) = bed.faulty(settings(150), gated(StatementName::Bury, &gate)).await;
    let started = hold(&a, "x").await.start().await.unwrap();
    lease_over(&sweeper, "x").await;
    let swept = tokio::spawn(async move { sweeper.sweep(Family::Idempotency).await });
    gate.arrived().await;
    starves.store(false, Ordering::SeqCst);
    assert!(matches!(started.settle(End::Success(Vec::new()), PATIENCE).await, Settlement::Stored { state: State::Completed, .. }));
    gate.open();
    assert_eq!(swept.await.unwrap().unwrap().buried, 0);
    assert_eq!(row(&a, "x").await.unwrap().row.state, State::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_7_a_host_that_restarts_does_not_take_its_old_claims_for_its_own() {
    let bed = Bed::new();
    let before = bed.host(settings(30_000)).await;
    drop(hold(&before, "x").await);
    before.close(PATIENCE).await;
    let after = bed.host(settings(30_000)).await;
    assert!(matches!(ask(&after, "x").await.settled.outcome, Outcome::InProgress(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn cases_8_and_9_who_was_superseded_writes_nothing_and_is_told() {
    let bed = Bed::new();
    let host = bed.host(settings(150)).await;
    for text in ["fails", "releases", "starts"] {
        let late = hold(&host, text).await;
        lease_over(&host, text).await;
        let new = hold(&host, text).await;
        let before = row(&host, text).await;
        match text {
            "fails" => assert_eq!(late.fail("an error text of A's").await.unwrap(), Outcome::NotOwner),
            "releases" => assert_eq!(late.release().await.unwrap(), Outcome::NotOwner),
            _ => assert!(matches!(late.start().await, Err(StartError::Moved(Outcome::NotOwner)))),
        }
        assert_eq!(row(&host, text).await, before);
        drop(new);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn case_11_a_record_that_vanished_is_reported_and_never_made_again() {
    let bed = Bed::new();
    let host = bed.host(settings(30_000)).await;
    let started = hold(&host, "x").await.start().await.unwrap();
    assert_eq!(bed.sql("DELETE FROM leasehold_idempotency").await, 1);
    let settlement = started.settle(End::Success(b"kept".to_vec()), PATIENCE).await;
    assert_eq!(settlement, Settlement::Late(Outcome::Missing));
    assert_eq!(row(&host, "x").await, None);
    let evidence = host.store().evidence(Family::Idempotency, "x").await.unwrap();
    assert_eq!(evidence[0].response.as_deref(), Some(&b"kept"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn case_19_a_pause_between_clock_and_write_makes_a_lease_that_the_next_claim_sees_through() {
    let bed = Bed::new();
    let gate = Gate::new();
    let (a, _) = bed.faulty(settings(100), gated(StatementName::Insert, &gate)).await;
    let b = bed.host(settings(100)).await;
    let paused = tokio::spawn(async move { hold(&a, "x").await });
    gate.arrived().await;
    let now = b.store().clock().await.unwrap();
    clock_reaches(b.store(), now + 100).await;
    gate.open();
    let late = paused.await.unwrap();
    let started = hold(&b, "x").await.start().await.unwrap();
    assert!(matches!(late.start().await, Err(StartError::Moved(Outcome::NotOwner))));
    assert!(matches!(started.settle(End::Success(Vec::new()), PATIENCE).await, Settlement::Stored { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_insert_that_comes_too_late_changes_nothing() {
    let bed = Bed::new();
    let gate = Gate::new();
    let store = bed.store().await;
    let faulty = leasehold_tests::scripted::Scripted::new(Arc::new(store), gated(StatementName::Insert, &gate));
    let mut parts = leasehold_tests::hosts::parts(faulty, None, settings(30_000));
    parts.write_timeout = Duration::from_millis(50);
    let host = leasehold_tests::hosts::host_of(parts).await;
    let claiming = tokio::spawn({
        let host = host.clone();
        async move { hold(&host, "x").await }
    });
    gate.arrived().await;
    let now = host.store().clock().await.unwrap();
    clock_reaches(host.store(), now + 100).await;
    gate.open();
    // The late insert changed nothing; the claim was read and decided again.
    let held = claiming.await.unwrap();
    let made = row(&host, "x").await.unwrap();
    assert!(made.created_at >= now + 100, "{} {now}", made.created_at);
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_claim_sent_again_is_the_same_grant_and_never_a_second_start() {
    let bed = Bed::new();
    let host = bed.host(settings(30_000)).await;
    let mut call = request("x");
    (call.owner, call.operation) = (Some(Owner::random().unwrap()), Some(OperationId::new("op-1").unwrap()));
    let ClaimAnswer::Held(first) = host.claim(call.clone()).await.unwrap() else { panic!("not held") };
    let ClaimAnswer::Held(again) = host.claim(call.clone()).await.unwrap() else { panic!("not held") };
    assert_eq!((first.attempt(), again.attempt()), (1, 1));
    let started = first.start().await.unwrap();
    let ClaimAnswer::Answered(answered) = host.claim(call.clone()).await.unwrap() else { panic!("held twice") };
    assert!(matches!(answered.settled.outcome, Outcome::ExecutingSameOperation(_)), "{:?}", answered.settled.outcome);
    assert!(again.start().await.is_err());
    call.operation = Some(OperationId::new("op-2").unwrap());
    let ClaimAnswer::Answered(answered) = host.claim(call).await.unwrap() else { panic!("held twice") };
    assert_eq!(answered.settled.outcome, Outcome::OperationConflict);
    drop(started);
}
