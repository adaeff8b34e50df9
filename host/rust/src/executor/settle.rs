//! How a try ends: tried again, with the same id, until it is known.

use std::sync::Arc;
use std::time::Duration;

use leasehold_decision::{AdvanceKind, Outcome, State};

use super::handle::{Lease, Started, Transition};
use crate::cycle::CycleError;
use crate::ids::Digest;
use crate::store::Evidence;

/// The first pause between two tries to settle; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Longest reason that is kept, in bytes.
pub const REASON_BYTES_MAX: usize = 200;

/// How an action ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The effect happened. The bytes are stored and replayed.
    Success(Vec<u8>),
    /// It is known that there was no effect.
    NoEffect {
        /// Why; kept with the record.
        reason: String,
    },
    /// It is not known whether there was an effect.
    EffectUnknown {
        /// Why; kept with the record.
        reason: String,
    },
}

/// Whether an end is known to be in the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// It is; with the state and the revision that it left.
    Stored {
        /// The state.
        state: State,
        /// The revision: a verdict on an abandoned record names it.
        revision: u64,
    },
    /// The record had moved: the end was refused, and what it wanted to say is kept as evidence.
    Late(Outcome),
    /// The store does not answer; it is being tried again in the background, until it is known.
    Pending,
}

/// A reason, cut to what is kept.
pub(super) fn bounded(reason: &str) -> String {
    let mut end = reason.len().min(REASON_BYTES_MAX);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason.get(..end).unwrap_or_default().to_owned()
}

fn transition(end: End) -> Result<Transition, CycleError> {
    Ok(match end {
        End::Success(response) => Transition {
            digest: Some(Digest::of(&response)),
            response: Some(Arc::new(response)),
            ..Transition::new(AdvanceKind::Complete)?
        },
        End::NoEffect { reason } => Transition { reason: Some(bounded(&reason)), ..Transition::new(AdvanceKind::Fail)? },
        End::EffectUnknown { reason } => Transition { reason: Some(bounded(&reason)), ..Transition::new(AdvanceKind::Abandon)? },
    })
}

impl Started {
    /// Ends the try. For as long as `patience` the caller waits for it to be known, however long the store is silent; the end is
    /// tried in a task of its own until it is, the heartbeat with it.
    pub async fn settle(self, end: End, patience: Duration) -> Settlement {
        let transition = match transition(end) {
            Ok(transition) => transition,
            Err(error) => {
                tracing::error!(scope = %self.lease.scope, %error, "no end could be sent; the record will be found in recovery");
                return Settlement::Pending;
            }
        };
        let tasks = self.lease.host.inner.tasks.clone();
        let settling = tasks.spawn(async move {
            let settlement = persist(&self.lease, &transition).await;
            drop(self);
            settlement
        });
        match tokio::time::timeout(patience, settling).await {
            Ok(Ok(settlement)) => settlement,
            // Not known yet, or ended with the runtime.
            Ok(Err(_)) | Err(_) => Settlement::Pending,
        }
    }
}

/// Until it is known, or the host closes.
async fn persist(lease: &Lease, transition: &Transition) -> Settlement {
    let closing = lease.host.inner.closing.clone();
    let mut pause = PAUSE;
    let mut failed = false;
    loop {
        match lease.advance(transition).await {
            Ok(outcome) => {
                let settlement = settled(lease, transition, outcome).await;
                if failed {
                    tracing::info!(scope = %lease.scope, kind = transition.kind.name(), ?settlement, "an end is settled at last");
                }
                return settlement;
            }
            Err(error) if failed => tracing::debug!(scope = %lease.scope, %error, "an end is still not stored"),
            Err(error) => {
                tracing::warn!(scope = %lease.scope, kind = transition.kind.name(), %error, "an end could not be stored; trying again");
            }
        }
        failed = true;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = closing.cancelled() => {
                tracing::error!(scope = %lease.scope, kind = transition.kind.name(), "closing before an end was stored; the record will be found in recovery");
                return Settlement::Pending;
            }
        }
        pause = pause.saturating_mul(2).min(PAUSE_MAX);
    }
}

async fn settled(lease: &Lease, transition: &Transition, outcome: Outcome) -> Settlement {
    match outcome {
        Outcome::Applied(applied) | Outcome::AlreadyApplied(applied) => {
            Settlement::Stored { state: applied.state, revision: applied.revision }
        }
        late => {
            tracing::warn!(
                family = lease.family.name(), scope = %lease.scope, attempt = lease.attempt, kind = transition.kind.name(),
                outcome = late.kind(), "an end came too late and was refused; it is kept as evidence"
            );
            lease.host.inner.counts.late_end(late.kind());
            keep_evidence(lease, transition, &late).await;
            Settlement::Late(late)
        }
    }
}

async fn keep_evidence(lease: &Lease, transition: &Transition, refused: &Outcome) {
    let evidence = Evidence {
        attempt: lease.attempt,
        at: 0,
        kind: transition.kind.name().to_owned(),
        refused: refused.kind().to_owned(),
        digest: transition.digest.as_ref().map(|digest| digest.as_str().to_owned()),
        reason: transition.reason.clone(),
        response: transition.response.as_deref().cloned(),
    };
    match lease.host.store().keep_evidence(lease.family, lease.scope.as_str(), &evidence).await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(scope = %lease.scope, "there is enough evidence of this record already; this one is not kept"),
        Err(error) => tracing::error!(scope = %lease.scope, %error, "evidence could not be kept"),
    }
}

/// A start whose reply was lost, and whose action will not run: is it in the store, then the try failed without effect.
pub(super) async fn take_back(lease: Arc<Lease>, start: Transition) {
    let closing = lease.host.inner.closing.clone();
    let mut pause = PAUSE;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = closing.cancelled() => return,
        }
        pause = pause.saturating_mul(2).min(PAUSE_MAX);
        match lease.advance(&start).await {
            Ok(Outcome::Applied(_) | Outcome::AlreadyApplied(_)) => break,
            Ok(_) => return,
            Err(error) => tracing::debug!(scope = %lease.scope, %error, "a start is still not known"),
        }
    }
    let Ok(fail) = transition(End::NoEffect { reason: "START_UNCONFIRMED".to_owned() }) else {
        return;
    };
    let _ = persist(&lease, &fail).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_cut_between_characters() {
        assert_eq!(bounded("short"), "short");
        assert_eq!(bounded(&"x".repeat(200)).len(), 200);
        assert_eq!(bounded(&"x".repeat(201)).len(), 200);
        assert_eq!(bounded(&format!("{}é", "x".repeat(199))).len(), 199);
    }
}
