//! The whole cycle, on every store alike.

use leasehold::store::{Audit, List};
use leasehold::{Answered, Execution, Family, Outcome, State};
use leasehold_tests::hosts::{Ledger, ask, charge, faulty_on, hold, lease_over, row, settings};

use crate::ground::Ground;

fn replayed(execution: &Execution) -> Option<&Answered> {
    match execution {
        Execution::Answered(answered) if matches!(answered.settled.outcome, Outcome::CompletedReplay(_)) => Some(answered),
        Execution::Answered(_) | Execution::Executed { .. } => None,
    }
}

pub async fn a_cycle_is_executed_once_and_replayed(ground: &Ground) {
    let (host, ledger) = (ground.host(settings(30_000)).await, Ledger::new());
    // Keys that a sloppy collation would take for one.
    for key in ["key", "KEY", "k\u{e9}y", "ke\u{301}y", "\u{1f511}"] {
        let first = charge(&host, &ledger, key).await.unwrap();
        assert!(matches!(first, Execution::Executed { .. }), "{key}: {first:?}");
        for _ in 0..3 {
            let again = charge(&host, &ledger, key).await.unwrap();
            let answered = replayed(&again).unwrap_or_else(|| panic!("{key}: {again:?}"));
            assert_eq!(answered.settled.before.as_ref().unwrap().response.as_deref(), Some(&b"done"[..]));
        }
        assert_eq!(ledger.times(key), 1, "{key}");
    }
}

/// Read, claim, start, complete; then one reading for each replay.
pub async fn a_first_execution_takes_four_statements_and_a_replay_one(ground: &Ground) {
    let (host, counted) = faulty_on(ground.store().await, settings(30_000), |_| None).await;
    let ledger = Ledger::new();
    let before = counted.operations();
    assert!(matches!(charge(&host, &ledger, "a").await.unwrap(), Execution::Executed { .. }));
    assert_eq!(counted.operations() - before, 4);
    assert!(replayed(&charge(&host, &ledger, "a").await.unwrap()).is_some());
    assert_eq!(counted.operations() - before, 5);
}

/// Case 24, on two hosts with pools of their own.
pub async fn one_of_many_claims_is_acquired(ground: &Ground) {
    let hosts = [ground.host(settings(30_000)).await, ground.host(settings(30_000)).await];
    let ledger = Ledger::new();
    let mut tasks = Vec::new();
    for number in 0..200_usize {
        let (host, ledger) = (hosts[number % 2].clone(), std::sync::Arc::clone(&ledger));
        tasks.push(tokio::spawn(async move { charge(&host, &ledger, &format!("key {}", number / 50)).await }));
    }
    let mut executed = 0;
    for task in tasks {
        match task.await.unwrap().unwrap_or_else(|error| panic!("{error}")) {
            Execution::Executed { .. } => executed += 1,
            Execution::Answered(answered) => {
                let outcome = answered.settled.outcome;
                assert!(matches!(outcome, Outcome::InProgress(_) | Outcome::CompletedReplay(_)), "{outcome:?}");
            }
        }
    }
    assert_eq!(executed, 4);
    assert!((0..4).all(|key| ledger.times(&format!("key {key}")) == 1));
}

/// Cases 3 and 13: what was claimed is taken over, what was executing is buried and listed, the late end is refused and kept.
pub async fn takeovers_and_burials_follow_the_lease(ground: &Ground) {
    let host = ground.host(settings(400)).await;
    let claimed = hold(&host, "claimed").await;
    lease_over(&host, "claimed").await;
    let next = hold(&host, "claimed").await;
    assert_eq!(next.attempt(), 2);
    assert!(claimed.start().await.is_err(), "it was taken over");

    let started = hold(&host, "executing").await.start().await.unwrap();
    // Another host's sweep finds it, though nobody asks: this one's heartbeat is stopped with it.
    let gone = started.ticket().fencing_token();
    drop(started);
    lease_over(&host, "executing").await;
    let other = ground.host(settings(400)).await;
    assert_eq!(other.sweep(Family::Idempotency).await.unwrap().buried, 1);
    let stored = row(&other, "executing").await.unwrap().row;
    assert_eq!((stored.state, stored.reason.as_deref()), (State::Abandoned, Some("EXECUTION_LEASE_EXPIRED")));
    assert!(stored.revision > gone);
    assert!(matches!(ask(&other, "executing").await.settled.outcome, Outcome::RecoveryRequired(_)));
    let page = other.store().list(Family::Idempotency, List::Waiting, &leasehold::store::After::default(), 10).await.unwrap();
    assert_eq!(page.rows.iter().map(|stored| stored.row.scope.as_str()).collect::<Vec<_>>(), ["executing"]);
    assert_eq!(other.store().waiting(Family::Idempotency).await.unwrap(), 1);
}

/// A verdict whose record moved leaves no audit entry behind; one that is applied leaves one.
pub async fn a_verdict_and_its_audit_are_one(ground: &Ground) {
    use leasehold::store::SwapRequest;
    use leasehold_decision::{Call, CallTexts, ResolveArgs, Verdict, decide, keys};
    let host = ground.host(settings(400)).await;
    drop(hold(&host, "a").await.start().await.unwrap());
    lease_over(&host, "a").await;
    host.sweep(Family::Idempotency).await.unwrap();
    let store = host.store();
    let reading = store.read(Family::Idempotency, "a").await.unwrap();
    let row = reading.stored.unwrap().row;
    let args = ResolveArgs {
        transition: keys::name("verdict"),
        attempt: row.attempt,
        revision: row.revision,
        verdict: Verdict::NoEffect,
        digest: None,
        extra_attempts: 1,
    };
    let record = row.record().unwrap();
    let decided = decide(Family::Idempotency, &settings(400), Some(&record), &Call::Resolve(args), &[], reading.now);
    let (write, texts) = (decided.write.unwrap(), CallTexts { transition: Some("verdict"), ..CallTexts::default() });
    let stale = leasehold_decision::Row { revision: row.revision - 1, ..row.clone() };
    let audit = Audit { verdict: "no-effect", actor: "somebody", reason: "it was not charged", before: "{}" };
    for (before, applied, entries) in [(&stale, leasehold::store::Swap::Refused, 0), (&row, leasehold::store::Swap::Applied, 1)] {
        let request = SwapRequest {
            family: Family::Idempotency,
            scope: "a",
            before: Some(before),
            write: &write,
            texts: &texts,
            now: reading.now,
            deadline: reading.now,
            response: None,
        };
        assert_eq!(store.swap_audited(request, audit).await.unwrap(), applied);
        let kept = store.audit(Family::Idempotency, "a").await.unwrap();
        assert_eq!(kept.len(), entries);
        assert!(kept.iter().all(|entry| entry.actor == "somebody" && entry.revision == row.revision));
    }
}
