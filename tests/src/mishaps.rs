//! Every store operation of a cycle goes wrong in every way, one after the other: never two effects, never a lost answer, and always
//! a clear state. Used for every store.

use std::sync::Arc;
use std::time::Duration;

use leasehold::store::sql::SqlHandle;
use leasehold::{End, Execution, Leasehold, Outcome, Settlement};

use crate::hosts::{Ledger, charge, faulty_on, host_of, parts, request, row, settings, until};
use crate::scripted::{Fault, Operation, Scripted};

/// Longer than the pauses between the tries that settle what was lost. Milliseconds.
pub const LEASE: u64 = 1_200;

/// One operation goes wrong, or a few in a row.
type Wrong = (&'static str, fn() -> Fault);

const WAYS: &[Wrong] = &[
    ("refused", || Fault::Refuse),
    ("request lost", || Fault::LoseRequest),
    ("reply lost", || Fault::LoseReply),
    ("late", || Fault::Late(Duration::from_millis(40))),
    ("delayed", || Fault::Delay(Duration::from_millis(40))),
    ("delayed past the lease", || Fault::Delay(Duration::from_millis(LEASE + 100))),
    ("twice, first reply", || Fault::TwiceFirstReply),
    ("twice, second reply", || Fault::TwiceSecondReply),
];

/// How long the action takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// It is done at once.
    Short,
    /// Until its heartbeat has renewed twice.
    Long,
}

/// One run: what went wrong, who executes, and what is left behind.
struct Run {
    name: String,
    host: Leasehold,
    faulty: Arc<Scripted>,
    /// The same file, seen by a host that nothing happens to.
    clean: Leasehold,
    ledger: Arc<Ledger>,
}

impl Run {
    async fn new(
        store: &SqlHandle,
        clean: &Leasehold,
        name: String,
        script: impl Fn(&Operation) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        let (host, faulty) = faulty_on(store.clone(), settings(LEASE), script).await;
        Self { name, host, faulty, clean: clean.clone(), ledger: Ledger::new() }
    }

    async fn execute(&self, action: Action) -> Result<Execution, leasehold::ExecuteError> {
        let (ledger, name, clean) = (Arc::clone(&self.ledger), self.name.clone(), self.clean.clone());
        self.host
            .execute(request(&self.name), move |ticket| async move {
                ledger.charge(&name);
                let seen = ticket.fencing_token() + 2;
                if action == Action::Long {
                    until("two renewals, or a lost lease", || async {
                        let renewed = row(&clean, &name).await.is_some_and(|stored| stored.row.revision >= seen);
                        (renewed || ticket.cancelled().is_cancelled()).then_some(())
                    })
                    .await;
                }
                End::Success(b"done".to_vec())
            })
            .await
    }

    /// What a client sees that tries again until there is an answer.
    async fn final_answer(&self) -> Outcome {
        until("an answer", || async {
            match charge(&self.clean, &self.ledger, &self.name).await.unwrap_or_else(|error| panic!("{}: {error}", self.name)) {
                Execution::Executed { .. } => None, // The next look sees its replay.
                Execution::Answered(answered) => match answered.settled.outcome {
                    Outcome::InProgress(_) | Outcome::RetryLater(_) => None,
                    outcome @ (Outcome::CompletedReplay(_) | Outcome::RecoveryRequired(_)) => Some(outcome),
                    other => panic!("{}: {other:?}", self.name),
                },
            }
        })
        .await
    }

    /// Executes with the fault, then tries again without it; what must hold.
    async fn check(&self, action: Action) {
        let first = self.execute(action).await;
        let told = || format!("{}: {first:?}", self.name);
        let before_retry = self.ledger.times(&self.name);
        match &first {
            Ok(Execution::Executed { .. }) => assert_eq!(before_retry, 1, "{}", told()),
            Ok(Execution::Answered(_)) => panic!("somebody else's, on a fresh scope: {}", told()),
            Err(_) => assert_eq!(before_retry, 0, "an error, and yet it ran: {}", told()),
        }
        if let Ok(Execution::Executed { settlement, .. }) = &first {
            assert!(!matches!(settlement, Settlement::Late(_)), "nobody else was there: {}", told());
        }
        let answer = self.final_answer().await;
        assert!(matches!(answer, Outcome::CompletedReplay(_)), "{answer:?} behind {}", told());
        assert_eq!(self.ledger.times(&self.name), 1, "{}", told());
    }
}

/// Runs a cycle for each of its first operations, each way of going wrong, and each number of them in a row, all on one store.
///
/// # Panics
/// There were two effects, or an answer was lost, or the end is not clear.
pub async fn every_operation(store: &SqlHandle, action: Action, operations: u64, in_a_row: &[u64]) {
    let clean = host_of(parts(store.store(), None, settings(LEASE))).await;
    let healthy = Run::new(store, &clean, format!("{action:?} healthy"), |_| None).await;
    healthy.check(action).await;
    let made = healthy.faulty.operations();
    assert!(made >= operations, "a healthy cycle makes {made} operations");

    let mut runs = Vec::new();
    for (way, fault) in WAYS {
        for first in 1..=operations {
            for row in in_a_row {
                let name = format!("{action:?}: {way}, {row} from operation {first}");
                let wrong = first..first + row;
                let run = Run::new(store, &clean, name, move |operation| wrong.contains(&operation.number).then(fault)).await;
                runs.push(tokio::spawn(async move { run.check(action).await }));
            }
        }
    }
    for run in runs {
        run.await.expect("what must hold");
    }
}
