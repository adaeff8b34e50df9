//! What a caller holds: a claimed record, then a started one.
//!
//! One writer a handle: its transitions are serialised, so that a heartbeat and an end never race, and a transition whose reply was
//! lost is settled by its id before the next. One's own renewal is never "moved".

use std::sync::{Arc, Mutex as PlainMutex, PoisonError};
use std::time::{Duration, Instant};

use leasehold_decision::{
    AdvanceArgs, AdvanceKind, CallTexts, Family, Grant, Outcome, OwnerTuple, ReleaseArgs, Settings, State, keys,
};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::cycle::{CycleError, Known, Question, Settled};
use crate::decide::Call;
use crate::host::Leasehold;
use crate::ids::{Digest, OperationId, Owner, Scope, TransitionId, token};

/// A heartbeat renews the lease this many times within it.
pub const RENEWALS_PER_LEASE: u32 = 3;
/// After a renewal that failed, the next is tried so many times sooner.
const FAILED_RENEWAL_HASTE: u32 = 4;

/// The lease is over by this host's own clock: nothing may be sent any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the lease is over, or the record was taken from this handle; the effect must not leave this host any more")]
pub struct LeaseOver;

/// What one transition says.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) id: TransitionId,
    pub(crate) kind: AdvanceKind,
    pub(crate) digest: Option<Digest>,
    pub(crate) reason: Option<String>,
    pub(crate) response: Option<Arc<Vec<u8>>>,
}

/// What is held, and how it stands.
pub(crate) struct Lease {
    pub(crate) host: Leasehold,
    pub(crate) family: Family,
    pub(crate) scope: Scope,
    pub(crate) settings: Settings,
    owner: Owner,
    operation: OperationId,
    pub(crate) attempt: u64,
    /// Serialises transitions; holds the revision last seen, the record as the last write left it, and a renewal whose reply was lost.
    state: Mutex<Held>,
    /// Until when the lease runs by this host's monotonic clock.
    deadline: PlainMutex<Instant>,
    moved: CancellationToken,
}

struct Held {
    revision: u64,
    known: Option<Known>,
    unsettled: Option<Transition>,
}

/// When a lease ends by the monotonic clock: counted from before the reading, so never too late.
fn deadline(settled: &Settled, lease_until: Option<u64>) -> Instant {
    let left = lease_until.map_or(0, |until| until.saturating_sub(settled.now));
    settled.read_after.checked_add(Duration::from_millis(left)).unwrap_or(settled.read_after)
}

impl Lease {
    /// Sends one transition until an outcome holds; the same id each time.
    pub(crate) async fn advance(&self, transition: &Transition) -> Result<Outcome, CycleError> {
        let mut held = self.state.lock().await;
        if let Some(unsettled) = held.unsettled.clone().filter(|unsettled| unsettled.id != transition.id) {
            self.send(&mut held, &unsettled).await?;
        }
        self.send(&mut held, transition).await
    }

    async fn send(&self, held: &mut Held, transition: &Transition) -> Result<Outcome, CycleError> {
        held.unsettled = Some(transition.clone());
        let args = AdvanceArgs {
            tuple: self.tuple(held.revision),
            kind: transition.kind,
            transition: keys::name(transition.id.as_str()),
            digest: transition.digest.as_ref().map(|digest| token(digest.as_str())),
            reason_given: transition.reason.is_some(),
        };
        let texts = CallTexts {
            transition: Some(transition.id.as_str()),
            digest: transition.digest.as_ref().map(Digest::as_str),
            reason: transition.reason.as_deref(),
            ..CallTexts::default()
        };
        let response = transition.response.as_deref().map(Vec::as_slice);
        // A renewal is all about the time, so it always reads the clock.
        let known = held.known.take().filter(|_| transition.kind != AdvanceKind::Renew);
        let settled = self.host.inner.cycle.run_from(known, &self.question(Call::Advance(&args), &texts, response)).await?;
        held.unsettled = None;
        if let Outcome::Applied(applied) | Outcome::AlreadyApplied(applied) = &settled.outcome {
            held.revision = applied.revision;
            held.known = settled.known(self.scope.as_str(), &texts);
            self.set_deadline(deadline(&settled, applied.lease_until));
        } else if !matches!((transition.kind, &settled.outcome), (AdvanceKind::Renew, Outcome::InvalidState(_))) {
            // A renewal that finds the record under this handle's own revision, in a state without a lease, comes behind its own end.
            self.moved.cancel();
        }
        Ok(settled.outcome)
    }

    /// Gives the try back; only before its start.
    async fn release(&self) -> Result<Outcome, CycleError> {
        let held = self.state.lock().await;
        let id = TransitionId::random().map_err(|error| CycleError::Indeterminate(error.to_string()))?;
        let args = ReleaseArgs { tuple: self.tuple(held.revision), transition: keys::name(id.as_str()) };
        let texts = CallTexts { transition: Some(id.as_str()), ..CallTexts::default() };
        Ok(self.host.inner.cycle.run(&self.question(Call::Release(&args), &texts, None)).await?.outcome)
    }

    fn question<'a>(&'a self, call: Call<'a>, texts: &'a CallTexts<'a>, response: Option<&'a [u8]>) -> Question<'a> {
        Question { family: self.family, settings: &self.settings, scope: self.scope.as_str(), call, texts, response, audit: None }
    }

    pub(crate) fn tuple(&self, revision: u64) -> OwnerTuple {
        OwnerTuple {
            owner: token(self.owner.as_str()),
            operation: keys::name(self.operation.as_str()),
            attempt: self.attempt,
            revision,
        }
    }

    pub(crate) async fn revision(&self) -> u64 {
        self.state.lock().await.revision
    }

    fn set_deadline(&self, at: Instant) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn deadline(&self) -> Instant {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_send(&self) -> Result<(), LeaseOver> {
        if self.moved.is_cancelled() || Instant::now() >= self.deadline() { Err(LeaseOver) } else { Ok(()) }
    }

    /// Renews every third of the lease, until the record has moved.
    async fn keep_alive(self: Arc<Self>) {
        let third = Duration::from_millis(self.settings.lease) / RENEWALS_PER_LEASE;
        let mut pause = third;
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.moved.cancelled() => return,
            }
            pause = match self.renew().await {
                Ok(Outcome::Applied(_) | Outcome::AlreadyApplied(_)) => third,
                // INVARIANT: the revision is this handle's own, so it was its own end, sent before and settled on the way here.
                Ok(Outcome::InvalidState(_)) => return,
                Ok(outcome) => {
                    tracing::warn!(family = self.family.name(), scope = %self.scope, outcome = outcome.kind(), "the lease was lost");
                    self.host.inner.counts.lease_lost();
                    return;
                }
                Err(error) => {
                    tracing::warn!(family = self.family.name(), scope = %self.scope, %error, "a renewal failed; trying again");
                    third / FAILED_RENEWAL_HASTE
                }
            };
        }
    }

    async fn renew(&self) -> Result<Outcome, CycleError> {
        self.advance(&Transition::new(AdvanceKind::Renew)?).await
    }
}

impl Transition {
    pub(crate) fn new(kind: AdvanceKind) -> Result<Self, CycleError> {
        let id = TransitionId::random().map_err(|error| CycleError::Indeterminate(error.to_string()))?;
        Ok(Self { id, kind, digest: None, reason: None, response: None })
    }
}

/// Why a start was not confirmed. The action must not run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The record is somebody else's by now.
    #[error("the record moved before the start was confirmed ({})", .0.kind())]
    Moved(Outcome),
    /// The store cannot be asked.
    #[error("the start could not be confirmed: {0}")]
    Unconfirmed(CycleError),
}

/// A record that the caller holds and has not started. Dropped, it is taken over once its lease is over.
#[must_use = "start it, release it, or let its lease run out"]
pub struct Claimed {
    pub(crate) lease: Arc<Lease>,
}

impl std::fmt::Debug for Claimed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Claimed")
            .field("scope", &self.lease.scope)
            .field("attempt", &self.lease.attempt)
            .finish_non_exhaustive()
    }
}

impl Claimed {
    #[expect(clippy::too_many_arguments, reason = "the parts of a handle, gathered in one place alone")]
    pub(crate) fn new(
        host: &Leasehold,
        family: Family,
        scope: Scope,
        settings: Settings,
        owner: Owner,
        operation: OperationId,
        grant: Grant,
        settled: &Settled,
        known: Option<Known>,
    ) -> Self {
        let lease = Lease {
            host: host.clone(),
            family,
            scope,
            settings,
            owner,
            operation,
            attempt: grant.attempt,
            state: Mutex::new(Held { revision: grant.revision, known, unsettled: None }),
            deadline: PlainMutex::new(deadline(settled, Some(grant.lease_until))),
            moved: CancellationToken::new(),
        };
        Self { lease: Arc::new(lease) }
    }

    /// The record's scope.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.lease.scope
    }

    /// Number of the try.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        self.lease.attempt
    }

    /// Confirms the start. From here on others find `executing`, and a heartbeat renews the lease.
    ///
    /// # Errors
    /// It was not confirmed: the action must not run. If only the reply was lost, the start is taken back behind the caller's back.
    pub async fn start(self) -> Result<Started, StartError> {
        let transition = Transition::new(AdvanceKind::Start).map_err(StartError::Unconfirmed)?;
        match self.lease.advance(&transition).await {
            Ok(Outcome::Applied(applied) | Outcome::AlreadyApplied(applied)) if applied.state == State::Executing => {
                Ok(Started::new(self.lease, applied.revision))
            }
            Ok(outcome) => Err(StartError::Moved(outcome)),
            Err(error) => {
                let lease = self.lease;
                let tasks = lease.host.inner.tasks.clone();
                tasks.spawn(super::settle::take_back(lease, transition));
                Err(StartError::Unconfirmed(error))
            }
        }
    }

    /// Gives the try back, unspent: it does not count against the budget.
    ///
    /// # Errors
    /// There is no outcome; the lease runs out by itself.
    pub async fn release(self) -> Result<Outcome, CycleError> {
        self.lease.release().await
    }

    /// Ends the try, which is known to have had no effect. `reason` is kept with the record.
    ///
    /// # Errors
    /// There is no outcome; the lease runs out by itself.
    pub async fn fail(self, reason: &str) -> Result<Outcome, CycleError> {
        let transition = Transition { reason: Some(super::settle::bounded(reason)), ..Transition::new(AdvanceKind::Fail)? };
        self.lease.advance(&transition).await
    }
}

/// A record whose action may run. Dropped without an end, it is buried once its lease is over, and listed for recovery.
#[must_use = "settle it, or it ends in the recovery list"]
pub struct Started {
    pub(crate) lease: Arc<Lease>,
    fence: u64,
    heartbeat: AbortHandle,
}

impl std::fmt::Debug for Started {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Started").field("scope", &self.lease.scope).field("fence", &self.fence).finish_non_exhaustive()
    }
}

impl Started {
    fn new(lease: Arc<Lease>, fence: u64) -> Self {
        let heartbeat = tokio::spawn(Arc::clone(&lease).keep_alive()).abort_handle();
        Self { lease, fence, heartbeat }
    }

    /// What the action needs to know.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        Ticket { lease: Arc::clone(&self.lease), fence: self.fence }
    }

    /// The record's scope.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.lease.scope
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.heartbeat.abort();
    }
}

/// What an action gets: its fencing token, and whether it may still send.
#[derive(Clone)]
pub struct Ticket {
    lease: Arc<Lease>,
    fence: u64,
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ticket").field("scope", &self.lease.scope).field("fence", &self.fence).finish_non_exhaustive()
    }
}

impl Ticket {
    /// The fencing token: the revision of the start. Hand it on with the effect; whoever takes effects refuses a lower one than the
    /// highest it has seen.
    #[must_use]
    pub const fn fencing_token(&self) -> u64 {
        self.fence
    }

    /// The record's scope.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.lease.scope
    }

    /// Number of the try.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        self.lease.attempt
    }

    /// To be asked right before an effect leaves this host: is the lease still held, by this host's monotonic clock?
    ///
    /// # Errors
    /// It is not: do not send.
    pub fn may_send(&self) -> Result<(), LeaseOver> {
        self.lease.may_send()
    }

    /// Until when the lease runs by this host's monotonic clock; a renewal moves it.
    #[must_use]
    pub fn send_before(&self) -> Instant {
        self.lease.deadline()
    }

    /// Fires when a renewal answers that the record has moved.
    #[must_use]
    pub fn cancelled(&self) -> CancellationToken {
        self.lease.moved.clone()
    }
}
