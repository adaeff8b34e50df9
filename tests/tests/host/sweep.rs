//! Executions that nobody asks about are buried and listed; nothing else is touched.

use leasehold::executor::recovery::Reference;
use leasehold::{Family, Outcome, State};
use leasehold_tests::hosts::{Bed, ask, hold, lease_over, row, scope, settings};

/// Rows past a lease that was over long ago.
fn lapsed(table: &str, state: &str, first: u32, last: u32) -> String {
    format!(
        "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})
         INSERT INTO leasehold_{table} (scope, state, owner, operation, attempt, attempt_limit, revision, fingerprint, policy_revision,
            lease_until, created_at, changed_at)
         SELECT 'lapsed-' || i, '{state}', '{}', 'op', 1, 5, 1, '{}', 1, 1000 + i, 1, 1 FROM n",
        "a".repeat(64),
        "f".repeat(64)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn case_13_every_lapsed_execution_is_listed_in_batches_and_corrupt_ones_are_told() {
    let bed = Bed::new();
    let host = bed.host(settings(30_000)).await;
    bed.sql(&lapsed("idempotency", "EXECUTING", 1, 500)).await;
    // One that is no token, one that no record can be, and one whose content no reader understands.
    bed.sql("UPDATE leasehold_idempotency SET owner = 'zz' WHERE scope = 'lapsed-100'").await;
    bed.sql("UPDATE leasehold_idempotency SET attempt = 0 WHERE scope = 'lapsed-200'").await;
    bed.sql("UPDATE leasehold_idempotency SET transition_id = 't' WHERE scope = 'lapsed-300'").await;
    let alive = hold(&host, "alive").await.start().await.unwrap();

    let swept = host.sweep(Family::Idempotency).await.unwrap();
    let mut corrupt: Vec<_> = swept.corrupt.iter().map(|corrupt| corrupt.scope.as_str()).collect();
    corrupt.sort_unstable();
    assert_eq!((swept.buried, &corrupt[..]), (497, &["lapsed-100", "lapsed-200", "lapsed-300"][..]));
    let (waiting, _) = host.waiting(Family::Idempotency, 1_000).await.unwrap();
    assert_eq!(waiting.len(), 497);
    assert!(waiting.iter().all(|waiting| waiting.reason.as_deref() == Some("EXECUTION_LEASE_EXPIRED")));
    assert_eq!(host.waiting(Family::Idempotency, 10).await.unwrap().0.len(), 10);
    assert_eq!(row(&host, "alive").await.unwrap().row.state, State::Executing);
    let again = host.sweep(Family::Idempotency).await.unwrap();
    assert_eq!((again.buried, again.corrupt.len()), (0, 3));
    drop(alive);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sweeps_at_once_count_each_burial_once() {
    let bed = Bed::new();
    let hosts = [bed.host(settings(30_000)).await, bed.host(settings(30_000)).await];
    bed.sql(&lapsed("inbox", "PROCESSING", 1, 250)).await;
    let [one, other] = hosts.map(|host| tokio::spawn(async move { host.sweep(Family::Inbox).await.unwrap().buried }));
    assert_eq!(one.await.unwrap() + other.await.unwrap(), 250);
}

/// A sweep is a claim: it took lapsed queue items over, and held each for a whole lease that nobody worked in.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_takes_nothing_over() {
    let bed = Bed::new();
    let host = bed.host(settings(30_000)).await;
    bed.sql(&lapsed("cleanup", "CLAIMED", 1, 3)).await;
    bed.sql("UPDATE leasehold_cleanup SET attempt = 5 WHERE scope = 'lapsed-3'").await;
    let before = host.store().read(Family::Cleanup, "lapsed-1").await.unwrap().stored;
    let swept = host.sweep(Family::Cleanup).await.unwrap();
    assert_eq!(swept.buried, 1, "the one beyond its budget, which no claim would let in");
    assert_eq!(host.store().read(Family::Cleanup, "lapsed-1").await.unwrap().stored, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_does_not_wait_for_somebody_to_ask() {
    let bed = Bed::new();
    let host = bed.host(settings(100)).await;
    drop(hold(&host, "x").await.start().await.unwrap());
    drop(hold(&host, "only-claimed").await);
    lease_over(&host, "x").await;
    lease_over(&host, "only-claimed").await;
    assert_eq!(host.sweep(Family::Idempotency).await.unwrap().buried, 1);
    let shown = host.show(&Reference { family: Family::Idempotency, scope: scope("x") }).await.unwrap();
    assert_eq!(shown.stored.row.reason.as_deref(), Some("EXECUTION_LEASE_EXPIRED"));
    assert!(matches!(ask(&host, "x").await.settled.outcome, Outcome::RecoveryRequired(_)));
    assert_eq!(hold(&host, "only-claimed").await.attempt(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purge_removes_what_ended_a_failure_retention_ago_and_nothing_else() {
    let bed = Bed::new();
    let host = bed.host(settings(30_000)).await;
    bed.sql(&lapsed("idempotency", "COMPLETED", 1, 450)).await;
    bed.sql(&lapsed("idempotency", "ABANDONED", 501, 510)).await;
    bed.sql("UPDATE leasehold_idempotency SET lease_until = NULL, expires_at = 1000").await;
    bed.sql("UPDATE leasehold_idempotency SET expires_at = 4000000000000 WHERE scope = 'lapsed-7'").await;
    assert_eq!(host.purge(Family::Idempotency).await.unwrap(), 449);
    assert!(row(&host, "lapsed-7").await.is_some() && row(&host, "lapsed-501").await.is_some());
}
