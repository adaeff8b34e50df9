//! The cycle: read the record and the store's clock in one statement, decide, execute the write; where it changed nothing, read
//! and decide again, a bounded number of times. Source: section 4 of the contract.
//!
//! Knows no action and no HTTP. Tests: `tests/tests/host/lifecycle.rs`, `tests/tests/host/faults.rs`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leasehold_decision::{CallTexts, Decision, Family, InspectArgs, Outcome, Row, Settings, Write};

use crate::component::CallError;
use crate::decide::{Call, Decide};
use crate::store::{Audit, CorruptRow, Reading, Store, StoreError, StoredRow, Swap, SwapRequest};

/// How often a record is read and decided, before the answer is "contended".
pub const REREADS_MAX: u32 = 16;
/// Past this after its clock reading, an insert changes nothing any more.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the first pause after a lost reply is; each further one is twice as long.
const SETTLE_PAUSE: Duration = Duration::from_millis(5);
/// A record that a handle knows from its own last write is decided on without being read, for so long after the clock was read: times
/// that are counted from that reading are early by no more.
pub const KNOWN_FOR: Duration = Duration::from_secs(1);
/// The longest pause.
const SETTLE_PAUSE_MAX: Duration = Duration::from_millis(500);

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// The store cannot be asked, or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The component failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Others wrote the record each time between its reading and the write.
    #[error("the record was written by others {REREADS_MAX} times in a row; nothing was done, try again")]
    Contended,
    /// The reply to a write was lost, and the store has not answered since.
    #[error("the reply to a write was lost and could not be asked for again: {0}")]
    Indeterminate(String),
}

/// An outcome that holds: its write changed one row, or it needs none.
#[derive(Clone, Debug)]
pub struct Settled {
    /// What was decided.
    pub outcome: Outcome,
    /// The record as read.
    pub before: Option<StoredRow>,
    /// The clock reading of the decision. Milliseconds since the epoch.
    pub now: u64,
    /// The host's monotonic clock just before that reading.
    pub read_after: Instant,
    /// The write that made it so.
    pub write: Option<Write>,
}

/// A record as it stands after one's own write, and the clock reading of that write's decision.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    read_after: Instant,
    reading: Reading,
}

impl Settled {
    /// The record as this outcome left it, where the caller's own write did so. Whoever writes next repeats its whole tuple, so what has
    /// moved meanwhile is found out by a count of 0.
    pub(crate) fn known(&self, scope: &str, texts: &CallTexts<'_>) -> Option<Known> {
        let write = self.write.as_ref()?;
        let before = self.before.as_ref();
        let stored = StoredRow {
            row: Row::after(write, scope, before.map(|stored| &stored.row), texts),
            response: None,
            created_at: before.map_or(self.now, |stored| stored.created_at),
            changed_at: self.now,
        };
        let reading = Reading { now: self.now, secret_version: None, stored: Some(stored) };
        Some(Known { read_after: self.read_after, reading })
    }

    /// The reason that the outcome speaks of, as text.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::RecoveryRequired(recovery) => {
                recovery.reason.text(self.before.as_ref().and_then(|stored| stored.row.reason.as_deref()), None)
            }
            _ => None,
        }
    }
}

/// One question, to one record.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) family: Family,
    pub(crate) settings: &'a Settings,
    pub(crate) scope: &'a str,
    pub(crate) call: Call<'a>,
    pub(crate) texts: &'a CallTexts<'a>,
    pub(crate) response: Option<&'a [u8]>,
    pub(crate) audit: Option<Audit<'a>>,
}

/// Who decides, and where.
#[derive(Clone)]
pub(crate) struct Cycle {
    pub(crate) decide: Arc<dyn Decide>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) write_timeout: Duration,
}

impl Cycle {
    /// Until an outcome holds.
    pub(crate) async fn run(&self, question: &Question<'_>) -> Result<Settled, CycleError> {
        self.run_from(None, question).await
    }

    /// As [`Cycle::run`]; first on what is known, if that is young enough, and where that changes nothing on what is read.
    pub(crate) async fn run_from(&self, known: Option<Known>, question: &Question<'_>) -> Result<Settled, CycleError> {
        let mut tries = Tries::default();
        if let Some(known) = known.filter(|known| known.read_after.elapsed() < KNOWN_FOR)
            && let Some(settled) = self.step(question, known.read_after, known.reading, &mut tries).await?
        {
            return Ok(settled);
        }
        while tries.go_on() {
            let read_after = Instant::now();
            let reading = self.store.read(question.family, question.scope).await.map_err(|error| tries.failed(error))?;
            if let Some(settled) = self.step(question, read_after, reading, &mut tries).await? {
                return Ok(settled);
            }
        }
        Err(tries.exhausted())
    }

    /// One reading: decide, and execute the write. `None` where it changed nothing, or its reply was lost.
    pub(crate) async fn step(
        &self,
        question: &Question<'_>,
        read_after: Instant,
        reading: Reading,
        tries: &mut Tries,
    ) -> Result<Option<Settled>, CycleError> {
        let inspected = if tries.lost.is_some() { self.inspect_lost_claim(question, &reading)? } else { None };
        let decision = match inspected {
            Some(decision) => decision,
            None => self.decide(question, &reading)?,
        };
        self.carry_out(question, decision, read_after, reading, tries).await
    }

    /// Executes the write of a decision on a reading, if it has one. `None` where it changed nothing, or its reply was lost.
    pub(crate) async fn carry_out(
        &self,
        question: &Question<'_>,
        decision: Decision,
        read_after: Instant,
        reading: Reading,
        tries: &mut Tries,
    ) -> Result<Option<Settled>, CycleError> {
        let swap = match &decision.write {
            None => Ok(Swap::Applied),
            Some(write) => self.swap(question, &reading, write).await,
        };
        match swap {
            Ok(Swap::Applied) => {
                let (outcome, write) = (decision.outcome, decision.write);
                Ok(Some(Settled { outcome, before: reading.stored, now: reading.now, read_after, write }))
            }
            Ok(Swap::Refused) => Ok(None),
            Ok(Swap::Unknown(why)) => {
                tracing::warn!(family = question.family.name(), why, "the reply to a write was lost; asking for it again");
                tries.lost(why).await;
                Ok(None)
            }
            Err(error) => Err(tries.failed(error)),
        }
    }

    /// What holds by that reading, once its write has changed one row.
    pub(crate) fn decide(&self, question: &Question<'_>, reading: &Reading) -> Result<Decision, CycleError> {
        let before = record(reading.stored.as_ref().map(|stored| &stored.row))?;
        Ok(self.decide.decide(question.family, question.settings, before.as_ref(), question.call, reading.now)?)
    }

    /// A claim whose reply was lost is asked for by `inspect`: is the record the caller's by now?
    fn inspect_lost_claim(&self, question: &Question<'_>, reading: &Reading) -> Result<Option<Decision>, CycleError> {
        let Call::Claim(args, _) = question.call else {
            return Ok(None);
        };
        let args = InspectArgs { owner: args.owner, operation: args.operation, fingerprint: args.fingerprint };
        let before = record(reading.stored.as_ref().map(|stored| &stored.row))?;
        let inspected =
            self.decide.decide(question.family, question.settings, before.as_ref(), Call::Inspect(&args), reading.now)?;
        Ok(match inspected.outcome {
            Outcome::ClaimedSameOperation(grant) if grant.lease_until > reading.now => {
                Some(Decision { outcome: Outcome::ReplayedAcquire(grant), write: None })
            }
            _ => None,
        })
    }

    async fn swap(&self, question: &Question<'_>, reading: &Reading, write: &Write) -> Result<Swap, StoreError> {
        let timeout = u64::try_from(self.write_timeout.as_millis()).unwrap_or(u64::MAX);
        let request = SwapRequest {
            family: question.family,
            scope: question.scope,
            before: reading.stored.as_ref().map(|stored| &stored.row),
            write,
            texts: question.texts,
            now: reading.now,
            deadline: reading.now.saturating_add(timeout),
            response: question.response,
        };
        match question.audit {
            Some(audit) => self.store.swap_audited(request, audit).await,
            None => self.store.swap(request).await,
        }
    }
}

/// A row as the decisions see it; one with a column that is no token is corrupt.
pub(crate) fn record(row: Option<&Row>) -> Result<Option<leasehold_decision::Record>, StoreError> {
    let Some(row) = row else {
        return Ok(None);
    };
    row.record().map(Some).map_err(|fault| {
        let what = format!("{} {}", fault.field, leasehold_decision::RowFault::MESSAGE);
        StoreError::Corrupt(CorruptRow { scope: row.scope.clone(), what })
    })
}

/// How often was tried, and whether a reply was lost on the way.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    made: u32,
    lost: Option<String>,
    losses: u32,
}

impl Tries {
    /// Whether one more is allowed.
    pub(crate) const fn go_on(&mut self) -> bool {
        self.made = self.made.saturating_add(1);
        self.made <= REREADS_MAX
    }

    async fn lost(&mut self, why: String) {
        let pause = SETTLE_PAUSE.saturating_mul(1 << self.losses.min(10)).min(SETTLE_PAUSE_MAX);
        self.losses = self.losses.saturating_add(1);
        self.lost = Some(why);
        tokio::time::sleep(pause).await;
    }

    /// An error behind a lost reply does not say that nothing was done.
    pub(crate) fn failed(&self, error: StoreError) -> CycleError {
        match &self.lost {
            Some(why) => CycleError::Indeterminate(format!("{why}; then: {error}")),
            None => CycleError::Store(error),
        }
    }

    pub(crate) fn exhausted(self) -> CycleError {
        self.lost.map_or(CycleError::Contended, CycleError::Indeterminate)
    }
}
