//! Start, the action's writes and complete commit together, or nothing of them stays.

use leasehold::executor::transaction::{TransactionError, TransactionExecution};
use leasehold::{Outcome, State};
use leasehold_tests::hosts::{Bed, hold, lease_over, request, row, settings};

use super::child::insert_effect;

const EFFECTS: &str = "SELECT COUNT(*) FROM effect";

async fn bed() -> Bed {
    let bed = Bed::new();
    bed.store().await;
    bed.sql("CREATE TABLE effect (what TEXT NOT NULL)").await;
    bed
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_in_the_same_file_is_committed_with_its_record() {
    let bed = bed().await;
    let host = bed.host(settings(30_000)).await;
    let execution = host.execute_in_transaction(request("x"), |connection| insert_effect(connection)).await.unwrap();
    assert!(matches!(execution, TransactionExecution::Committed { response } if response == b"done"));
    let TransactionExecution::Answered(answered) =
        host.execute_in_transaction(request("x"), |connection| insert_effect(connection)).await.unwrap()
    else {
        panic!("it ran twice")
    };
    assert!(matches!(answered.settled.outcome, Outcome::CompletedReplay(_)));
    assert_eq!(answered.settled.before.unwrap().response.as_deref(), Some(&b"done"[..]));
    assert_eq!(bed.count(EFFECTS).await, 1);
}

/// What an action leaves that does not end well: nothing, and a try that counts.
async fn leaves_nothing(reason: &str, lease: u64, text: &str, action: fn(&mut sqlx::SqliteConnection) -> Failing<'_>) {
    let bed = bed().await;
    let host = bed.host(settings(lease)).await;
    let execution = host.execute_in_transaction(request(text), action).await.unwrap();
    let TransactionExecution::RolledBack { reason: told } = execution else { panic!("{execution:?}") };
    assert_eq!(told, reason);
    let stored = row(&host, text).await.unwrap().row;
    assert_eq!((stored.state, stored.attempt, stored.reason.as_deref()), (State::FailedRetryable, 1, Some(reason)));
    assert_eq!(bed.count(EFFECTS).await, 0);
    // The next try begins at once, and the connection is well.
    let again = host.execute_in_transaction(request(text), |connection| insert_effect(connection)).await.unwrap();
    assert!(matches!(again, TransactionExecution::Committed { .. }), "{again:?}");
    assert_eq!((bed.count(EFFECTS).await, row(&host, text).await.unwrap().row.attempt), (1, 2));
}

type Failing<'c> = leasehold::executor::transaction::ActionFuture<'c>;

#[tokio::test(flavor = "multi_thread")]
async fn an_error_rolls_back() {
    leaves_nothing("NO_MONEY", 30_000, "x", |connection| {
        Box::pin(async move {
            insert_effect(connection).await?;
            Err("NO_MONEY".to_owned())
        })
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_rolls_back() {
    leaves_nothing("ACTION_PANICKED", 30_000, "x", |connection| {
        Box::pin(async move {
            insert_effect(connection).await?;
            panic!("a planned panic behind the insert")
        })
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_takes_longer_than_half_its_lease_is_rolled_back() {
    leaves_nothing("TRANSACTION_TIMED_OUT", 400, "x", |connection| {
        Box::pin(async move {
            insert_effect(connection).await?;
            std::future::pending().await
        })
    })
    .await;
}

/// The reason of an `Err` is anything at all; what is kept of it is bounded.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_reason_is_cut() {
    let bed = bed().await;
    let host = bed.host(settings(30_000)).await;
    host.execute_in_transaction(request("x"), |_: &mut sqlx::SqliteConnection| Box::pin(async { Err("x".repeat(100_000)) }))
        .await
        .unwrap();
    assert_eq!(row(&host, "x").await.unwrap().row.reason.map(|reason| reason.len()), Some(200));
}

/// An action can write the record's own row; then its complete does not match, and nothing of it stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_moves_in_the_transaction_rolls_back() {
    let bed = bed().await;
    let host = bed.host(settings(400)).await;
    let meddling = host.execute_in_transaction(request("x"), |connection| {
        Box::pin(async move {
            let done = sqlx::query("UPDATE leasehold_idempotency SET revision = revision + 1").execute(&mut *connection).await;
            done.map_err(|error| error.to_string())?;
            insert_effect(connection).await
        })
    });
    let error = meddling.await.unwrap_err();
    assert!(matches!(error, TransactionError::Moved(Outcome::StaleRevision(_))), "{error:?}");
    assert_eq!((bed.count(EFFECTS).await, row(&host, "x").await.unwrap().row.state), (0, State::Claimed));
    lease_over(&host, "x").await;
    drop(hold(&host, "x").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_transactions_at_once_with_one_key_have_one_effect() {
    let bed = bed().await;
    let hosts = [bed.host(settings(30_000)).await, bed.host(settings(30_000)).await];
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let host = hosts[number % 2].clone();
            tokio::spawn(async move {
                matches!(
                    host.execute_in_transaction(request("x"), |connection| insert_effect(connection)).await.unwrap(),
                    TransactionExecution::Committed { .. }
                )
            })
        })
        .collect();
    let mut committed = 0;
    for task in tasks {
        committed += usize::from(task.await.unwrap());
    }
    assert_eq!((committed, bed.count(EFFECTS).await), (1, 1));
}
