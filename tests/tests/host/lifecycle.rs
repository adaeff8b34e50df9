//! From a claim to its end on a real file: replay, heartbeat, cancellation, callers that go away, actions that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use leasehold::executor::recovery::Reference;
use leasehold::{Digest, End, ExecuteError, Execution, Family, Outcome, Settlement, State};
use leasehold_decision::StatementName;
use leasehold_tests::hosts::{Bed, Ledger, ask, charge, clock_reaches, hold, lease_over, request, row, scope, settings, until};
use leasehold_tests::scripted::{Fault, Gate, Kind};
use tokio::sync::Notify;

const PATIENCE: Duration = Duration::from_secs(60);

fn reference(text: &str) -> Reference {
    Reference { family: Family::Idempotency, scope: scope(text) }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_runs_once_and_its_result_is_replayed() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let host = bed.host(settings(30_000)).await;
    let Execution::Executed { end, settlement } = charge(&host, &ledger, "a").await.unwrap() else { panic!("it did not run") };
    assert_eq!(end, End::Success(b"done".to_vec()));
    assert!(matches!(settlement, Settlement::Stored { state: State::Completed, .. }), "{settlement:?}");

    let other = bed.host(settings(30_000)).await;
    let Execution::Answered(answered) = charge(&other, &ledger, "a").await.unwrap() else { panic!("it ran twice") };
    assert!(matches!(answered.settled.outcome, Outcome::CompletedReplay(_)), "{:?}", answered.settled.outcome);
    let stored = answered.settled.before.unwrap();
    assert_eq!(stored.response.as_deref(), Some(&b"done"[..]));
    assert_eq!(stored.row.result_digest.as_deref(), Some(Digest::of(b"done").as_str()));
    assert_eq!(ledger.times("a"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_first_claims_at_once_on_two_hosts_one_has_its_effect() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let hosts = [bed.host(settings(30_000)).await, bed.host(settings(30_000)).await];
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let (host, ledger) = (hosts[number % 2].clone(), Arc::clone(&ledger));
            tokio::spawn(async move { charge(&host, &ledger, "a").await })
        })
        .collect();
    let mut executed = 0;
    for task in tasks {
        match task.await.unwrap().unwrap() {
            Execution::Executed { .. } => executed += 1,
            Execution::Answered(answered) => assert!(
                matches!(answered.settled.outcome, Outcome::InProgress(_) | Outcome::CompletedReplay(_)),
                "{:?}",
                answered.settled.outcome
            ),
        }
    }
    assert_eq!((executed, ledger.times("a")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_keeps_a_short_lease_for_as_long_as_the_action_runs() {
    let bed = Bed::new();
    let (host, other) = (bed.host(settings(300)).await, bed.host(settings(300)).await);
    let started = hold(&host, "a").await.start().await.unwrap();
    let first = row(&host, "a").await.unwrap().row.lease_until.unwrap();
    until("the lease is two seconds on", || async {
        let reached = row(&other, "a").await.unwrap().row.lease_until.unwrap() >= first + 2_000;
        reached.then_some(())
    })
    .await;
    assert!(started.ticket().may_send().is_ok() && !started.ticket().cancelled().is_cancelled());
    let settlement = started.settle(End::Success(Vec::new()), PATIENCE).await;
    assert!(matches!(settlement, Settlement::Stored { state: State::Completed, .. }), "{settlement:?}");
}

/// The reply to a renewal is lost, and the store cannot be asked for a moment: the renewal is one's own all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_whose_reply_is_lost_goes_on_and_loses_no_lease() {
    let bed = Bed::new();
    let (lost, refusals) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (script, refused) = (Arc::clone(&lost), Arc::clone(&refusals));
    let (host, _) = bed
        .faulty(settings(900), move |operation| match operation.kind {
            Kind::Swap(StatementName::Renew) if !script.swap(true, Ordering::SeqCst) => Some(Fault::LoseReply),
            _ if script.load(Ordering::SeqCst) && refused.fetch_add(1, Ordering::SeqCst) < 2 => Some(Fault::Refuse),
            _ => None,
        })
        .await;
    let clean = bed.host(settings(900)).await;
    let started = hold(&host, "a").await.start().await.unwrap();
    let first = row(&clean, "a").await.unwrap().row.lease_until.unwrap();
    until("the lease is two seconds on", || async {
        (row(&clean, "a").await.unwrap().row.lease_until.unwrap() >= first + 2_000).then_some(())
    })
    .await;
    assert!(refusals.load(Ordering::SeqCst) >= 2);
    assert!(started.ticket().may_send().is_ok() && !started.ticket().cancelled().is_cancelled());
    assert_eq!(host.leases_lost(), 0);
    let settlement = started.settle(End::Success(Vec::new()), PATIENCE).await;
    assert!(matches!(settlement, Settlement::Stored { state: State::Completed, .. }), "{settlement:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_is_told_when_its_record_has_moved() {
    let bed = Bed::new();
    let held_up = Arc::new(AtomicBool::new(true));
    let script = Arc::clone(&held_up);
    let renewals = move |kind| kind == Kind::Swap(StatementName::Renew) && script.load(Ordering::SeqCst);
    let (host, _) = bed.faulty(settings(200), move |operation| renewals(operation.kind).then_some(Fault::Refuse)).await;
    let other = bed.host(settings(200)).await;

    let started = hold(&host, "a").await.start().await.unwrap();
    let ticket = started.ticket();
    lease_over(&other, "a").await;
    until("the host's own clock says so, too", || async { ticket.may_send().is_err().then_some(()) }).await;
    assert!(matches!(ask(&other, "a").await.settled.outcome, Outcome::RecoveryRequired(_)));
    held_up.store(false, Ordering::SeqCst);
    tokio::time::timeout(PATIENCE, ticket.cancelled().cancelled()).await.expect("the cancellation fires");
    assert!(ticket.may_send().is_err());
    until("the loss is counted", || async { (host.leases_lost() == 1).then_some(()) }).await;
    assert!(matches!(started.settle(End::Success(Vec::new()), PATIENCE).await, Settlement::Late(_)));
    assert_eq!(host.late_ends(), std::collections::BTreeMap::from([("stale-revision", 1)]));
}

/// A heartbeat behind an end found the record completed, and took that for a lost lease: the action's token fired, the metric rose.
#[tokio::test(flavor = "multi_thread")]
async fn case_10_a_heartbeat_behind_an_end_does_nothing_and_loses_no_lease() {
    let bed = Bed::new();
    let down = Arc::new(AtomicBool::new(true));
    let script = Arc::clone(&down);
    let (host, store) = bed
        .faulty(settings(100), move |operation| {
            let ends = operation.kind == Kind::Swap(StatementName::Complete);
            (ends && script.load(Ordering::SeqCst)).then_some(Fault::LoseRequest)
        })
        .await;
    let started = hold(&host, "a").await.start().await.unwrap();
    let ticket = started.ticket();
    // The heartbeat and the end in the background take turns from here on; whichever comes first stores the end.
    assert_eq!(started.settle(End::Success(b"done".to_vec()), Duration::ZERO).await, Settlement::Pending);
    down.store(false, Ordering::SeqCst);
    let completed =
        until("the end is stored", || async { row(&host, "a").await.filter(|stored| stored.row.state == State::Completed) }).await;
    let seen = store.operations();
    assert!(host.close(PATIENCE).await, "{seen} operations");
    assert!(!ticket.cancelled().is_cancelled(), "an end was taken for a lost lease");
    assert_eq!(row(&bed.host(settings(100)).await, "a").await, Some(completed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_does_not_stop_the_action() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let host = bed.host(settings(30_000)).await;
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let caller = tokio::spawn({
        let (host, begun, go_on, ledger) = (host.clone(), Arc::clone(&begun), Arc::clone(&go_on), Arc::clone(&ledger));
        async move {
            host.execute(request("a"), |_| async move {
                begun.notify_one();
                go_on.notified().await;
                ledger.charge("a");
                End::Success(b"done".to_vec())
            })
            .await
        }
    });
    begun.notified().await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    go_on.notify_one();
    assert!(host.close(PATIENCE).await, "closing waits for the action");
    let host = bed.host(settings(30_000)).await;
    assert!(matches!(ask(&host, "a").await.settled.outcome, Outcome::CompletedReplay(_)));
    assert_eq!(ledger.times("a"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_27_a_panic_leaves_an_unknown_effect_for_recovery() {
    let bed = Bed::new();
    let host = bed.host(settings(30_000)).await;
    let execution = host.execute(request("a"), |_| async { panic!("a planned panic behind the charge") }).await.unwrap();
    let Execution::Executed { end: End::EffectUnknown { reason }, settlement } = execution else { panic!("{execution:?}") };
    assert_eq!(reason, "ACTION_PANICKED");
    assert!(matches!(settlement, Settlement::Stored { state: State::Abandoned, .. }), "{settlement:?}");
    let answered = ask(&host, "a").await;
    assert!(matches!(answered.settled.outcome, Outcome::RecoveryRequired(_)));
    assert_eq!(answered.settled.reason(), Some("ACTION_PANICKED"));
    let (waiting, corrupt) = host.waiting(Family::Idempotency, 10).await.unwrap();
    assert_eq!((waiting.len(), corrupt.len(), waiting[0].reference.as_str()), (1, 0, "idempotency/a"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_try_without_effect_can_be_made_again_at_once() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let host = bed.host(settings(30_000)).await;
    let refused = || async { End::NoEffect { reason: "REFUSED".to_owned() } };
    let first = host.execute(request("a"), move |_| refused()).await.unwrap();
    assert!(
        matches!(first, Execution::Executed { settlement: Settlement::Stored { state: State::FailedRetryable, .. }, .. }),
        "{first:?}"
    );
    assert_eq!(row(&host, "a").await.unwrap().row.reason.as_deref(), Some("REFUSED"));
    assert!(matches!(charge(&host, &ledger, "a").await.unwrap(), Execution::Executed { .. }));
    assert_eq!((ledger.times("a"), row(&host, "a").await.unwrap().row.attempt), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_try_that_is_given_back_is_not_spent() {
    let bed = Bed::new();
    let host = bed.host(leasehold::Settings { attempt_limit: 1, ..settings(30_000) }).await;
    for attempt in 1..=3 {
        let claimed = hold(&host, "a").await;
        assert_eq!(claimed.attempt(), attempt);
        assert!(matches!(claimed.release().await.unwrap(), Outcome::Released(_)));
    }
    drop(hold(&host, "a").await.start().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_ends_what_was_abandoned_and_is_kept_with_the_record_before() {
    use leasehold::Verdict;
    use leasehold::executor::recovery::VerdictRequest;
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let host = bed.host(settings(30_000)).await;
    let unknown = || async { End::EffectUnknown { reason: "BROKE".to_owned() } };
    let verdict = |verdict, response: Option<&[u8]>| VerdictRequest {
        verdict,
        actor: "an operator".to_owned(),
        reason: "asked the bank".to_owned(),
        seen: None,
        response: response.map(<[u8]>::to_vec),
        extra_attempts: 1,
    };
    for (text, wanted, response) in
        [("a", Verdict::Completed, Some(&b"settled"[..])), ("b", Verdict::NoEffect, None), ("c", Verdict::Forget, None)]
    {
        host.execute(request(text), move |_| unknown()).await.unwrap();
        assert_eq!(host.store().waiting(Family::Idempotency).await.unwrap(), 1);
        assert!(matches!(host.resolve(&reference(text), &verdict(wanted, response)).await.unwrap(), Outcome::Resolved(_)));
        let again = host.resolve(&reference(text), &verdict(wanted, response)).await.unwrap();
        assert!(matches!(again, Outcome::InvalidState(_)), "{again:?}");
        let shown = host.show(&reference(text)).await.unwrap();
        assert_eq!((shown.audit.len(), shown.audit[0].actor.as_str()), (1, "an operator"));
        match charge(&host, &ledger, text).await.unwrap() {
            Execution::Executed { .. } => assert_eq!((response, ledger.times(text)), (None, 1)),
            Execution::Answered(answered) => assert_eq!(answered.settled.before.unwrap().response.as_deref(), response),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_closes_starts_nothing_and_waits_for_what_it_started() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let gate = Gate::new();
    let (at, first) = (Arc::clone(&gate), AtomicBool::new(true));
    let (host, _) = bed
        .faulty(settings(30_000), move |operation| {
            let gated = operation.kind == Kind::Swap(StatementName::Complete) && first.swap(false, Ordering::SeqCst);
            gated.then(|| Fault::Gate(Arc::clone(&at)))
        })
        .await;
    let under_way = tokio::spawn({
        let (host, ledger) = (host.clone(), Arc::clone(&ledger));
        async move { charge(&host, &ledger, "a").await }
    });
    gate.arrived().await;
    let closing = tokio::spawn({
        let host = host.clone();
        async move { host.close(PATIENCE).await }
    });
    until("it is closing", || async { matches!(charge(&host, &ledger, "b").await, Err(ExecuteError::Closing)).then_some(()) })
        .await;
    gate.open();
    assert!(closing.await.unwrap());
    assert!(matches!(
        under_way.await.unwrap().unwrap(),
        Execution::Executed { settlement: Settlement::Stored { state: State::Completed, .. }, .. }
    ));
    assert_eq!(ledger.times("a"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_31_an_expired_record_is_as_absent_and_its_revision_goes_on() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let host = bed.host(leasehold::Settings { replay_retention: 100, ..settings(100) }).await;
    charge(&host, &ledger, "a").await.unwrap();
    let before = row(&host, "a").await.unwrap().row;
    clock_reaches(host.store(), before.expires_at.unwrap()).await;
    assert!(matches!(charge(&host, &ledger, "a").await.unwrap(), Execution::Executed { .. }));
    let after = row(&host, "a").await.unwrap().row;
    assert_eq!((ledger.times("a"), after.attempt), (2, 1));
    assert!(after.revision > before.revision);
}
