//! The action, in a task of its own: a caller that goes away does not stop it.

use std::future::Future;
use std::time::Duration;

use super::claim::{Answered, ClaimAnswer, ClaimError, ClaimRequest};
use super::handle::{StartError, Ticket};
use super::settle::{End, Settlement};
use crate::host::Leasehold;

/// How long `execute` waits for an end to be known, before it answers `Pending`.
pub const SETTLE_PATIENCE: Duration = Duration::from_secs(5);

/// What came of an execution.
#[derive(Debug)]
pub enum Execution {
    /// The action ran.
    Executed {
        /// How it ended.
        end: End,
        /// Whether that is in the store.
        settlement: Settlement,
    },
    /// It did not: somebody else's it is, or was; the outcome says why (a replay, in progress, recovery, ...).
    Answered(Answered),
}

/// Why there is no outcome. The action did not run, unless the error says so.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The claim has no outcome.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The start was not confirmed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The host is closing.
    #[error("the host is closing; nothing was started")]
    Closing,
    /// The task was ended from outside, with the runtime.
    #[error("the runtime ended while the action was running: {0}; look in the recovery list")]
    Ended(String),
}

impl Leasehold {
    /// Claims, starts, runs the action, and ends: at most once for each key. The action gets a [`Ticket`] with its fencing token;
    /// an action that panics has an unknown effect.
    ///
    /// ```no_run
    /// # async fn example(host: leasehold::Leasehold) -> Result<(), Box<dyn std::error::Error>> {
    /// use leasehold::{ClaimRequest, End, Execution, Family, Key, Scope};
    ///
    /// let key = Key::Scope { scope: Scope::new("order-17")?, fingerprint: None };
    /// let execution = host
    ///     .execute(ClaimRequest::new(Family::Idempotency, key), |ticket| async move {
    ///         match ticket.may_send() {
    ///             Ok(()) => End::Success(b"charged".to_vec()),
    ///             Err(_) => End::NoEffect { reason: "LEASE_OVER".to_owned() },
    ///         }
    ///     })
    ///     .await?;
    /// if let Execution::Answered(answered) = execution {
    ///     println!("not executed: {}", answered.settled.outcome.kind());
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// There is no outcome; the action did not run.
    pub async fn execute<A, F>(&self, request: ClaimRequest, action: A) -> Result<Execution, ExecuteError>
    where
        A: FnOnce(Ticket) -> F + Send + 'static,
        F: Future<Output = End> + Send + 'static,
    {
        if self.inner.tasks.is_closed() {
            return Err(ExecuteError::Closing);
        }
        let host = self.clone();
        let task = self.inner.tasks.spawn(async move {
            let claimed = match host.claim(request).await? {
                ClaimAnswer::Held(claimed) => claimed,
                ClaimAnswer::Answered(answered) => return Ok(Execution::Answered(answered)),
            };
            let started = claimed.start().await?;
            // A task of its own once more, so that a panic ends it and nothing else.
            let end = tokio::spawn(action(started.ticket())).await.unwrap_or_else(|error| End::EffectUnknown {
                reason: if error.is_panic() { "ACTION_PANICKED" } else { "ACTION_ENDED" }.to_owned(),
            });
            let settlement = started.settle(end.clone(), SETTLE_PATIENCE).await;
            Ok(Execution::Executed { end, settlement })
        });
        task.await.map_err(|error| ExecuteError::Ended(error.to_string()))?
    }
}
