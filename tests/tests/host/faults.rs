//! Every store operation of a cycle goes wrong in every way, one after the other: never two effects, never a lost answer, and always
//! a clear state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leasehold::store::sql::SqlHandle;
use leasehold::{ClaimAnswer, End, Family, Outcome, Settlement, State};
use leasehold_decision::StatementName;
use leasehold_tests::hosts::{Bed, Ledger, charge, clock_reaches, hold, lease_over, request, row, settings, until};
use leasehold_tests::mishaps::{Action, LEASE, every_operation};
use leasehold_tests::scripted::{Fault, Kind, Operation};

/// Read, insert, start, complete.
#[tokio::test(flavor = "multi_thread")]
async fn any_operation_of_a_short_cycle_may_go_wrong() {
    let bed = Bed::new();
    every_operation(&SqlHandle::Sqlite(bed.store().await), Action::Short, 4, &[1, 2, 4]).await;
}

/// The same with two renewals between start and complete.
#[tokio::test(flavor = "multi_thread")]
async fn any_operation_of_a_cycle_with_renewals_may_go_wrong() {
    let bed = Bed::new();
    every_operation(&SqlHandle::Sqlite(bed.store().await), Action::Long, 8, &[1, 3]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_gone_before_the_start_means_that_nothing_ran() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let (host, _) = bed.faulty(settings(LEASE), |operation| (operation.number > 2).then_some(Fault::Refuse)).await;
    let error = charge(&host, &ledger, "a").await.unwrap_err().to_string();
    assert!(error.contains("could not be confirmed") && error.contains("unavailable"), "{error}");
    assert_eq!(ledger.times("a"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_gone_for_a_while_behind_the_action_gets_the_end_later() {
    let bed = Bed::new();
    let down = Arc::new(AtomicBool::new(false));
    let script = Arc::clone(&down);
    let (host, _) = bed.faulty(settings(LEASE), move |_| script.load(Ordering::SeqCst).then_some(Fault::Refuse)).await;
    let clean = bed.host(settings(LEASE)).await;
    let started = hold(&host, "a").await.start().await.unwrap();
    down.store(true, Ordering::SeqCst);
    assert_eq!(started.settle(End::Success(b"done".to_vec()), Duration::from_millis(100)).await, Settlement::Pending);
    lease_over(&clean, "a").await;
    assert_eq!(row(&clean, "a").await.unwrap().row.state, State::Executing);
    down.store(false, Ordering::SeqCst);
    // Its lease is over, but nobody has superseded it: it still owns.
    let stored =
        until("the end is stored", || async { row(&clean, "a").await.filter(|stored| stored.row.state == State::Completed) }).await;
    assert_eq!(stored.response.as_deref(), Some(&b"done"[..]));
}

/// A host that closes while the store is gone says so, and what it leaves behind is found in recovery.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_must_close_before_its_end_is_stored_leaves_it_to_recovery() {
    let bed = Bed::new();
    let down = Arc::new(AtomicBool::new(false));
    let script = Arc::clone(&down);
    let (host, _) = bed.faulty(settings(LEASE), move |_| script.load(Ordering::SeqCst).then_some(Fault::Refuse)).await;
    let started = hold(&host, "a").await.start().await.unwrap();
    down.store(true, Ordering::SeqCst);
    assert_eq!(started.settle(End::Success(b"done".to_vec()), Duration::ZERO).await, Settlement::Pending);
    assert!(!host.close(Duration::from_millis(50)).await, "it says that something is left");
    let next = bed.host(settings(LEASE)).await;
    lease_over(&next, "a").await;
    assert_eq!(next.sweep(Family::Idempotency).await.unwrap().buried, 1);
}

/// A start whose reply never came, and whose action did not run, must not end in recovery.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_not_confirmed_is_taken_back() {
    let bed = Bed::new();
    let down = Arc::new(AtomicBool::new(false));
    let script = Arc::clone(&down);
    let (host, _) = bed
        .faulty(settings(LEASE), move |operation| match operation.kind {
            Kind::Swap(StatementName::Start) => {
                script.store(true, Ordering::SeqCst);
                Some(Fault::LoseReply)
            }
            Kind::Read | Kind::Swap(_) | Kind::Other => script.load(Ordering::SeqCst).then_some(Fault::Refuse),
        })
        .await;
    let clean = bed.host(settings(LEASE)).await;
    let error = hold(&host, "a").await.start().await.unwrap_err().to_string();
    assert!(error.contains("could not be confirmed"), "{error}");
    assert_eq!(row(&clean, "a").await.unwrap().row.state, State::Executing);
    down.store(false, Ordering::SeqCst);
    let stored =
        until("it is taken back", || async { row(&clean, "a").await.filter(|stored| stored.row.state == State::FailedRetryable) })
            .await;
    assert_eq!(stored.row.reason.as_deref(), Some("START_UNCONFIRMED"));
    assert_eq!(hold(&clean, "a").await.attempt(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_or_release_whose_reply_is_lost_is_asked_for_again() {
    let bed = Bed::new();
    let lossy = |operation: &Operation| matches!(operation.kind, Kind::Swap(_)).then_some(Fault::LoseReply);
    let (host, _) = bed.faulty(settings(30_000), lossy).await;
    let claimed = hold(&host, "a").await;
    assert_eq!(claimed.attempt(), 1);
    assert!(matches!(claimed.release().await.unwrap(), Outcome::Released(_) | Outcome::AlreadyApplied(_)));
    // A claim that does not know whether it is one stays without an answer, and holds nothing back for longer than its lease.
    let (host, _) = bed
        .faulty(settings(LEASE), |operation| match operation.number {
            1 => None,
            2 => Some(Fault::LoseReply),
            _ => Some(Fault::Refuse),
        })
        .await;
    let error = host.claim(request("b")).await.unwrap_err().to_string();
    assert!(error.contains("the reply to a write was lost") && !error.contains("nothing"), "{error}");
    let clean = bed.host(settings(LEASE)).await;
    let held = row(&clean, "b").await.unwrap().row;
    clock_reaches(clean.store(), held.lease_until.unwrap()).await;
    assert!(matches!(clean.claim(request("b")).await.unwrap(), ClaimAnswer::Held(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_others_write_each_time_is_contended_and_nothing_was_done() {
    let bed = Bed::new();
    let clean = bed.host(settings(30_000)).await;
    hold(&clean, "a").await.fail("FAILED").await.unwrap();
    let file = bed.file();
    let (host, _) = bed
        .faulty(settings(30_000), move |operation| {
            (operation.kind == Kind::Swap(StatementName::Takeover)).then(|| Fault::Between(bump(file.clone())))
        })
        .await;
    let error = host.claim(request("a")).await.unwrap_err().to_string();
    assert!(error.contains("16 times in a row") && error.contains("nothing was done"), "{error}");
    assert_eq!(row(&clean, "a").await.unwrap().row.state, State::FailedRetryable);
}

/// Somebody else writes between a reading and its write.
fn bump(file: std::path::PathBuf) -> leasehold_tests::scripted::Meanwhile {
    Arc::new(move || {
        let file = file.clone();
        Box::pin(async move {
            leasehold_tests::hosts::sql_on(&file, "UPDATE leasehold_idempotency SET revision = revision + 1").await;
        })
    })
}
