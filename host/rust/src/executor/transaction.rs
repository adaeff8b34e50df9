//! Where the effect is in the same database: start, the action's writes and complete commit together. That is exactly once.
//!
//! A crash rolls all of it back to `claimed`, which is taken over. There is no heartbeat; the transaction's time-out is shorter than
//! the lease.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use leasehold_decision::{AdvanceArgs, AdvanceKind, CallTexts, Outcome, State, keys};
use sqlx::Connection;

use super::claim::{Answered, ClaimAnswer, ClaimError, ClaimRequest};
use super::handle::{Claimed, Lease, Transition};
use crate::cycle::{CycleError, record};
use crate::decide::Call;
use crate::host::Leasehold;
use crate::ids::{Digest, token};
use crate::store::sql::{Driver, Handled, SqlStore};
use crate::store::{StoreError, Swap, SwapRequest};

/// What the action of a transaction gives: the result that is stored, or why nothing of it may stay.
pub type ActionResult = Result<Vec<u8>, String>;
/// The action's future, which borrows the transaction.
pub type ActionFuture<'c> = Pin<Box<dyn Future<Output = ActionResult> + Send + 'c>>;

/// What came of an execution in a transaction.
#[derive(Debug)]
pub enum TransactionExecution {
    /// All of it is committed.
    Committed {
        /// The stored result.
        response: Vec<u8>,
    },
    /// All of it was rolled back: the action failed, with this reason; it may be tried again.
    RolledBack {
        /// Why.
        reason: String,
    },
    /// The action did not run: the outcome says why.
    Answered(Answered),
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// The claim has no outcome.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The store failed before the commit: all of it was rolled back.
    #[error("rolled back: {0}")]
    RolledBack(#[from] CycleError),
    /// The record moved before the commit: all of it was rolled back.
    #[error("rolled back: the record moved ({})", .0.kind())]
    Moved(Outcome),
    /// The reply to the commit was lost, and the store has not answered since.
    #[error("whether it was committed is not known: {0}; claim again to find out")]
    Indeterminate(String),
    /// This store has no transactions for the caller.
    #[error("this host's store has no transactions of that kind of connection to share")]
    NoTransactions,
}

/// Part of the lease that a transaction may take.
const TRANSACTION_PER_LEASE: f64 = 0.5;

impl Leasehold {
    /// Runs the action in one transaction with `start` and `complete`. An action that gives `Err`, or panics, or takes longer than
    /// half the lease, leaves nothing behind, and its try counts as failed.
    ///
    /// # Errors
    /// There is no outcome: unless the error says that it is not known, nothing was committed.
    pub async fn execute_in_transaction<C, A>(
        &self,
        request: ClaimRequest,
        action: A,
    ) -> Result<TransactionExecution, TransactionError>
    where
        C: Connection,
        C::Database: Handled + Driver<Connection = C>,
        A: for<'c> FnOnce(&'c mut C) -> ActionFuture<'c> + Send + 'static,
    {
        let store = self.inner.sql.as_ref().and_then(<C::Database as Handled>::of).cloned();
        let store = store.ok_or(TransactionError::NoTransactions)?;
        let host = self.clone();
        let task = self.inner.tasks.spawn(async move {
            let claimed = match host.claim(request).await? {
                ClaimAnswer::Held(claimed) => claimed,
                ClaimAnswer::Answered(answered) => return Ok(TransactionExecution::Answered(answered)),
            };
            let timeout = Duration::from_millis(claimed.lease.settings.lease).mul_f64(TRANSACTION_PER_LEASE);
            let lease = std::sync::Arc::clone(&claimed.lease);
            // A task of its own, so that a panic drops the transaction, which rolls it back.
            let body = tokio::spawn(async move { within(&store, &lease, action, timeout).await });
            match body.await {
                Ok(Ok(Within::Committed(response))) => Ok(TransactionExecution::Committed { response }),
                Ok(Ok(Within::Failed(reason))) => rolled_back(claimed, reason).await,
                Ok(Err(error)) => Err(error),
                Err(_) => rolled_back(claimed, "ACTION_PANICKED".to_owned()).await,
            }
        });
        task.await.map_err(|error| TransactionError::Indeterminate(error.to_string()))?
    }
}

enum Within {
    Committed(Vec<u8>),
    Failed(String),
}

/// The try had no effect: it is failed, with its reason, so that the next can begin at once.
async fn rolled_back(claimed: Claimed, reason: String) -> Result<TransactionExecution, TransactionError> {
    match claimed.fail(&reason).await? {
        Outcome::Applied(_) | Outcome::AlreadyApplied(_) => Ok(TransactionExecution::RolledBack { reason }),
        moved => Err(TransactionError::Moved(moved)),
    }
}

/// The time-out ends before the commit: a commit that is broken off may have gone through.
async fn within<D, A>(store: &SqlStore<D>, lease: &Lease, action: A, timeout: Duration) -> Result<Within, TransactionError>
where
    D: Driver,
    A: for<'c> FnOnce(&'c mut D::Connection) -> ActionFuture<'c>,
{
    let unavailable = |error: sqlx::Error| CycleError::Store(StoreError::Unavailable(D::explain(&error)));
    let deadline = tokio::time::Instant::now() + timeout;
    let timed_out = || Ok(Within::Failed("TRANSACTION_TIMED_OUT".to_owned()));
    let Ok(begun) = tokio::time::timeout_at(deadline, store.writer().begin_with(D::BEGIN)).await else {
        return timed_out();
    };
    let mut transaction = begun.map_err(unavailable)?;
    let start = Transition::new(AdvanceKind::Start)?;
    let revision = step(store, lease, &mut transaction, &start, lease.revision().await).await?;
    let acted = tokio::time::timeout_at(deadline, action(&mut transaction)).await;
    let response = match acted {
        Ok(Ok(response)) => response,
        Ok(Err(reason)) => {
            transaction.rollback().await.map_err(unavailable)?;
            return Ok(Within::Failed(reason));
        }
        Err(_) => {
            transaction.rollback().await.map_err(unavailable)?;
            return timed_out();
        }
    };
    let complete = Transition {
        digest: Some(Digest::of(&response)),
        response: Some(std::sync::Arc::new(response.clone())),
        ..Transition::new(AdvanceKind::Complete)?
    };
    step(store, lease, &mut transaction, &complete, revision).await?;
    match transaction.commit().await {
        Ok(()) => Ok(Within::Committed(response)),
        Err(error) => committed_after_all(store, lease, &complete, &error).await.map(|()| Within::Committed(response)),
    }
}

/// One transition inside the transaction: its count must be 1. Gives the revision that it left.
async fn step<D: Driver>(
    store: &SqlStore<D>,
    lease: &Lease,
    connection: &mut D::Connection,
    transition: &Transition,
    revision: u64,
) -> Result<u64, TransactionError> {
    let cycle = &lease.host.inner.cycle;
    let reading = store.read_on(connection, lease.family, lease.scope.as_str()).await.map_err(CycleError::Store)?;
    let row = reading.stored.as_ref().map(|stored| &stored.row);
    let before = record(row).map_err(CycleError::Store)?;
    let args = AdvanceArgs {
        tuple: lease.tuple(revision),
        kind: transition.kind,
        transition: keys::name(transition.id.as_str()),
        digest: transition.digest.as_ref().map(|digest| token(digest.as_str())),
        reason_given: false,
    };
    let decided = cycle
        .decide
        .decide(lease.family, &lease.settings, before.as_ref(), Call::Advance(&args), reading.now)
        .map_err(CycleError::Call)?;
    let (Outcome::Applied(applied), Some(write)) = (decided.outcome, decided.write) else {
        return Err(TransactionError::Moved(decided.outcome));
    };
    let texts = CallTexts {
        transition: Some(transition.id.as_str()),
        digest: transition.digest.as_ref().map(Digest::as_str),
        ..CallTexts::default()
    };
    let request = SwapRequest {
        family: lease.family,
        scope: lease.scope.as_str(),
        before: row,
        write: &write,
        texts: &texts,
        now: reading.now,
        deadline: reading.now,
        response: transition.response.as_deref().map(Vec::as_slice),
    };
    match store.swap_on(connection, request).await.map_err(CycleError::Store)? {
        Swap::Applied => Ok(applied.revision),
        Swap::Refused => Err(TransactionError::Moved(Outcome::StaleRevision(applied.revision))),
        Swap::Unknown(why) => Err(TransactionError::RolledBack(CycleError::Indeterminate(why))),
    }
}

/// The reply to the commit was lost: the record says whether it went through, by the id of its last transition.
async fn committed_after_all<D: Driver>(
    store: &SqlStore<D>,
    lease: &Lease,
    complete: &Transition,
    error: &sqlx::Error,
) -> Result<(), TransactionError> {
    use crate::store::Store as _;
    let lost = |why: String| TransactionError::Indeterminate(why);
    let reading = store.read(lease.family, lease.scope.as_str()).await.map_err(|later| lost(format!("{error}; then: {later}")))?;
    let row = reading.stored.map(|stored| stored.row);
    let last = row.as_ref().and_then(|row| row.transition.as_ref());
    if row.as_ref().is_some_and(|row| row.state == State::Completed) && last.is_some_and(|last| last.id == complete.id.as_str()) {
        return Ok(());
    }
    Err(TransactionError::RolledBack(CycleError::Store(StoreError::Unavailable(error.to_string()))))
}
