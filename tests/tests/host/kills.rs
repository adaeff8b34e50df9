//! `kill -9` before and after every statement of the cycle, in the action and in a transaction: after the restart nothing ran twice,
//! and what was executing is in recovery.

use std::path::Path;
use std::process::Child;

use leasehold::executor::transaction::TransactionExecution;
use leasehold::{Execution, Family, Leasehold, Outcome, State};
use leasehold_tests::hosts::{Bed, Ledger, charge, host_in, lease_over, request, row, settings, until};

use super::child::{KEY, LEASE, effects, insert_effect, marker, spawn};

/// Waits for a child's moment, and kills it.
async fn kill_at_its_moment(child: Child, folder: &Path) {
    let child = std::sync::Mutex::new(child);
    until("the child's moment", || async {
        if let Some(status) = child.lock().unwrap().try_wait().expect("a child") {
            panic!("it ended by itself: {status}");
        }
        marker(folder).exists().then_some(())
    })
    .await;
    let mut child = child.into_inner().unwrap();
    child.kill().expect("SIGKILL");
    child.wait().expect("it is dead");
}

/// What a cycle leaves behind when it is killed.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Left {
    /// No record: the next claim begins.
    Nothing,
    /// Held, not started: the next claim takes it over once its lease is over.
    Claimed,
    /// Started: nobody knows, a person decides.
    Executing,
    /// The answer is there.
    Completed,
}

async fn killed(job: String, left: Left, effects_before: usize) {
    let bed = Bed::new();
    // The restart meets a file that was laid out; that is not what is killed here.
    host_in(bed.folder(), settings(LEASE)).await.close(std::time::Duration::from_secs(60)).await;
    kill_at_its_moment(spawn(&job, bed.folder()), bed.folder()).await;
    assert_eq!(effects(bed.folder()), effects_before, "{job}");

    let host = bed.host(settings(LEASE)).await;
    let state = row(&host, KEY).await.map(|stored| stored.row.state);
    let ledger = Ledger::new();
    let runs_again = match left {
        Left::Nothing => {
            assert_eq!(state, None, "{job}");
            true
        }
        Left::Claimed => {
            assert_eq!(state, Some(State::Claimed), "{job}");
            lease_over(&host, KEY).await;
            true
        }
        Left::Executing => {
            assert_eq!(state, Some(State::Executing), "{job}");
            lease_over(&host, KEY).await;
            assert_eq!(host.sweep(Family::Idempotency).await.unwrap().buried, 1, "{job}");
            assert_eq!(host.waiting(Family::Idempotency, 10).await.unwrap().0.len(), 1, "{job}");
            false
        }
        Left::Completed => {
            assert_eq!(state, Some(State::Completed), "{job}");
            false
        }
    };
    match charge(&host, &ledger, KEY).await.unwrap() {
        Execution::Executed { .. } => assert!(runs_again, "{job}"),
        Execution::Answered(answered) => match answered.settled.outcome {
            Outcome::RecoveryRequired(_) => assert_eq!(left, Left::Executing, "{job}"),
            Outcome::CompletedReplay(_) => assert_eq!(left, Left::Completed, "{job}"),
            other => panic!("{job}: {other:?}"),
        },
    }
    let all = effects(bed.folder()) as u64 + ledger.times(KEY);
    assert_eq!(all, u64::from(runs_again) + effects_before as u64, "{job}");
    assert!(all <= 1, "{job}: it ran twice");
}

/// Read, insert, start, complete: killed before and after each.
#[tokio::test(flavor = "multi_thread")]
async fn killed_before_and_after_every_statement() {
    let operations = [
        (Left::Nothing, Left::Nothing, 0),
        (Left::Nothing, Left::Claimed, 0),
        (Left::Claimed, Left::Executing, 0),
        (Left::Executing, Left::Completed, 1),
    ];
    let mut runs = Vec::new();
    for (number, (before, after, effects)) in (1..).zip(operations) {
        runs.push(tokio::spawn(killed(format!("operation {number} before"), before, effects)));
        runs.push(tokio::spawn(killed(format!("operation {number} after"), after, effects)));
    }
    runs.push(tokio::spawn(killed("action before".to_owned(), Left::Executing, 0)));
    runs.push(tokio::spawn(killed("action after".to_owned(), Left::Executing, 1)));
    for run in runs {
        run.await.unwrap();
    }
}

async fn charge_in_transaction(host: &Leasehold) -> TransactionExecution {
    host.execute_in_transaction(request(KEY), |connection| insert_effect(connection)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_a_transaction_all_of_it_is_rolled_back_and_it_happens_exactly_once() {
    for when in ["before", "after"] {
        let bed = Bed::new();
        host_in(bed.folder(), settings(LEASE)).await.close(std::time::Duration::from_secs(60)).await;
        bed.sql("CREATE TABLE effect (what TEXT NOT NULL)").await;
        kill_at_its_moment(spawn(&format!("transaction {when}"), bed.folder()), bed.folder()).await;
        let host = bed.host(settings(LEASE)).await;
        assert_eq!(row(&host, KEY).await.unwrap().row.state, State::Claimed, "{when}");
        assert_eq!(bed.count("SELECT COUNT(*) FROM effect").await, 0, "{when}");
        lease_over(&host, KEY).await;
        assert!(matches!(charge_in_transaction(&host).await, TransactionExecution::Committed { .. }), "{when}");
        let TransactionExecution::Answered(answered) = charge_in_transaction(&host).await else { panic!("twice, {when}") };
        assert!(matches!(answered.settled.outcome, Outcome::CompletedReplay(_)), "{when}");
        assert_eq!(bed.count("SELECT COUNT(*) FROM effect").await, 1, "{when}");
    }
}
