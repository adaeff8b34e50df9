//! Tries on a real file, and settings that are refused.

use leasehold::{End, Execution, Family, Outcome, Settings, State};
use leasehold_tests::hosts::{Bed, Ledger, ask, hold, lease_over, parts, request, row, settings};

fn limited(attempt_limit: u64) -> Settings {
    Settings { attempt_limit, ..settings(100) }
}

#[tokio::test(flavor = "multi_thread")]
async fn case_2_a_lease_of_nothing_is_refused_and_so_is_a_retention_shorter_than_it() {
    let bed = Bed::new();
    let store = bed.store().await;
    for (wrong, told) in [
        (Settings { lease: 0, ..settings(100) }, "lease is 0"),
        (Settings { lease: 50, ..settings(100) }, "at least 100 ms"),
        (Settings { attempt_limit: 0, ..settings(100) }, "attempt-limit is 0"),
        (Settings { replay_retention: 99, ..settings(100) }, "replay-retention"),
        (Settings { failure_retention: 99, ..settings(100) }, "failure-retention"),
    ] {
        let parts = parts(std::sync::Arc::new(store.clone()), None, wrong);
        let error = leasehold::Leasehold::from_parts(parts).await.unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    let host = bed.host(settings(100)).await;
    let mut call = request("x");
    call.settings = Some(Settings { lease: 0, ..settings(100) });
    let leasehold::ClaimAnswer::Answered(answered) = host.claim(call).await.unwrap() else { panic!("a lease of nothing") };
    assert!(matches!(answered.settled.outcome, Outcome::InvalidSettings(_)));
    assert_eq!(row(&host, "x").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_14_a_limit_of_one_is_one_execution_however_often_the_worker_crashes() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let host = bed.host(limited(1)).await;
    let started = hold(&host, "x").await.start().await.unwrap();
    ledger.charge("x");
    drop(started); // The worker is gone, and its heartbeat with it.
    lease_over(&host, "x").await;
    for _ in 0..32 {
        let answered = ask(&host, "x").await;
        assert!(matches!(answered.settled.outcome, Outcome::RecoveryRequired(_)), "{:?}", answered.settled.outcome);
    }
    assert_eq!((ledger.times("x"), row(&host, "x").await.unwrap().row.state), (1, State::Abandoned));
}

#[tokio::test(flavor = "multi_thread")]
async fn cases_15_and_17_failures_and_crashes_share_exactly_the_limit() {
    const LIMIT: u64 = 3;
    let bed = Bed::new();
    let host = bed.host(limited(LIMIT)).await;
    let orders = (0..1_u32 << LIMIT).map(|order| {
        let host = host.clone();
        tokio::spawn(async move {
            let text = format!("order-{order:b}");
            for attempt in 1..=LIMIT {
                let claimed = hold(&host, &text).await;
                assert_eq!(claimed.attempt(), attempt, "{text}");
                if order >> (attempt - 1) & 1 == 0 {
                    claimed.fail("FAILED").await.unwrap();
                } else {
                    drop(claimed);
                    lease_over(&host, &text).await;
                }
            }
            let answered = ask(&host, &text).await;
            assert!(matches!(answered.settled.outcome, Outcome::RecoveryRequired(_)), "{text}: {:?}", answered.settled.outcome);
            let row = row(&host, &text).await.unwrap().row;
            assert_eq!((row.state, row.attempt, row.attempt_limit), (State::Abandoned, LIMIT, LIMIT), "{text}");
            assert_eq!(row.reason.as_deref(), Some("ATTEMPTS_EXHAUSTED"), "{text}");
        })
    });
    for order in orders.collect::<Vec<_>>() {
        order.await.unwrap();
    }
    assert_eq!(host.store().waiting(Family::Idempotency).await.unwrap(), 1 << LIMIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_is_cut_to_what_is_kept_however_a_try_ends() {
    let bed = Bed::new();
    let host = bed.host(settings(30_000)).await;
    let long = "é".repeat(100_000);
    hold(&host, "before-start").await.fail(&long).await.unwrap();
    let (no_effect, unknown) = (long.clone(), long);
    let execution = host.execute(request("no-effect"), |_| async { End::NoEffect { reason: no_effect } }).await.unwrap();
    assert!(matches!(execution, Execution::Executed { .. }));
    host.execute(request("unknown"), |_| async { End::EffectUnknown { reason: unknown } }).await.unwrap();
    for text in ["before-start", "no-effect", "unknown"] {
        assert_eq!(row(&host, text).await.unwrap().row.reason.map(|reason| reason.len()), Some(200), "{text}");
    }
}
