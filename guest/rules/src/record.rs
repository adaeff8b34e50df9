//! What is stored, as the decisions see it, and the settings under which they decide.
//!
//! Knows nothing of rows, JSON or WIT: each has types of its own, converted at its edge. Tests: those of the calls.

mod corruption;
mod reason;
mod settings;
mod token;

pub use corruption::Corruption;
pub use reason::Reason;
pub use settings::{Settings, SettingsFault};
pub use token::Token;

/// Times saturate here: 2^63 - 1, what every store can hold. Unit: milliseconds since the Unix epoch.
pub const TIME_MS_MAX: u64 = i64::MAX as u64;
/// Attempt limits saturate here; it stands for "none".
pub const ATTEMPT_LIMIT_MAX: u64 = u32::MAX as u64;
/// The revision of a new record is the clock's reading, but at most this.
pub const FIRST_REVISION_MAX: u64 = 1 << 53;
/// A record with this revision, or a higher one, cannot be: its next revision could not be stored.
pub const REVISION_END: u64 = i64::MAX as u64;

/// `at + duration`, saturating at [`TIME_MS_MAX`].
#[must_use]
pub fn later(at: u64, duration: u64) -> u64 {
    at.saturating_add(duration).min(TIME_MS_MAX)
}

/// Which table a record lives in, and which states it can have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Idempotency keys of requests.
    Idempotency,
    /// Messages that a consumer has received.
    Inbox,
    /// Events that must leave the database.
    Outbox,
    /// Deferred clean-up.
    Cleanup,
}

impl Family {
    /// All, in the order of the contract.
    pub const ALL: [Self; 4] = [Self::Idempotency, Self::Inbox, Self::Outbox, Self::Cleanup];

    /// Whether its records are made by enqueue (and may be repeated), not by a claim.
    #[must_use]
    pub const fn is_queue(self) -> bool {
        match self {
            Self::Outbox | Self::Cleanup => true,
            Self::Idempotency | Self::Inbox => false,
        }
    }

    /// Its name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idempotency => "idempotency",
            Self::Inbox => "inbox",
            Self::Outbox => "outbox",
            Self::Cleanup => "cleanup",
        }
    }

    /// The family of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }
}

/// Where a record stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// In a queue, never claimed.
    Pending,
    /// Somebody holds it and has not started (in a queue: may be delivering).
    Claimed,
    /// The effect may be happening.
    Executing,
    /// The effect happened; its result is kept until `expires_at`.
    Completed,
    /// Known to have had no effect; may be tried again at `retry_at`.
    FailedRetryable,
    /// Nobody knows, or the budget is spent: a person or a hook decides.
    Abandoned,
}

impl State {
    /// All, in the order of the contract.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Claimed, Self::Executing, Self::Completed, Self::FailedRetryable, Self::Abandoned];

    /// Its name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Claimed => "claimed",
            Self::Executing => "executing",
            Self::Completed => "completed",
            Self::FailedRetryable => "failed-retryable",
            Self::Abandoned => "abandoned",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// What the last write by a handle or an operator was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TransitionKind {
    /// The effect begins.
    Start,
    /// The lease goes on.
    Renew,
    /// The effect happened.
    Complete,
    /// It had no effect.
    Fail,
    /// Whether it had an effect is not known.
    Abandon,
    /// The try was given back.
    Release,
    /// An operator's verdict: it happened.
    ResolveCompleted,
    /// An operator's verdict: it did not.
    ResolveNoEffect,
    /// An operator's verdict: start over.
    ResolveForget,
}

impl TransitionKind {
    /// All, in the order of the contract.
    pub const ALL: [Self; 9] = [
        Self::Start,
        Self::Renew,
        Self::Complete,
        Self::Fail,
        Self::Abandon,
        Self::Release,
        Self::ResolveCompleted,
        Self::ResolveNoEffect,
        Self::ResolveForget,
    ];

    /// Its name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Renew => "renew",
            Self::Complete => "complete",
            Self::Fail => "fail",
            Self::Abandon => "abandon",
            Self::Release => "release",
            Self::ResolveCompleted => "resolve-completed",
            Self::ResolveNoEffect => "resolve-no-effect",
            Self::ResolveForget => "resolve-forget",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The last transition applied to a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Packed id, drawn at random for each transition before it is sent.
    pub id: Token,
    /// What it was.
    pub kind: TransitionKind,
    /// The digest that it carried.
    pub digest: Option<Token>,
}

/// A record as the host read it. Scope, reason and policy revision are not here: no decision depends on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Where it stands.
    pub state: State,
    /// Who holds it, or held it last.
    pub owner: Option<Token>,
    /// Packed id of the claim call that holds it, or held it last.
    pub operation: Option<Token>,
    /// Number of the try; 0 in `pending` alone.
    pub attempt: u64,
    /// Tries allowed in this life of the record.
    pub attempt_limit: u64,
    /// Goes up by one with every write: the fencing token.
    pub revision: u64,
    /// Keyed hash of the payload.
    pub fingerprint: Option<Token>,
    /// Packed name of the codec of the stored result.
    pub codec: Option<Token>,
    /// Until when others keep their hands off. Milliseconds since the epoch.
    pub lease_until: Option<u64>,
    /// From when it may be tried again. Milliseconds since the epoch.
    pub retry_at: Option<u64>,
    /// From when it counts as absent. Milliseconds since the epoch.
    pub expires_at: Option<u64>,
    /// The last transition.
    pub transition: Option<Transition>,
    /// Digest of the stored result.
    pub result_digest: Option<Token>,
}

impl Record {
    /// Whether `expires_at` has been reached: the record counts as absent.
    #[must_use]
    pub fn is_expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Whether the lease has been reached. A held record has one (see [`Record::corruption`]); an absent one is reached.
    #[must_use]
    pub fn is_lease_over(&self, now: u64) -> bool {
        self.lease_until.is_none_or(|at| at <= now)
    }

    /// The retry time, where it is still ahead.
    #[must_use]
    pub fn retry_ahead(&self, now: u64) -> Option<u64> {
        self.retry_at.filter(|at| *at > now)
    }

    /// What makes this record impossible, if anything. Checked before all else.
    #[must_use]
    pub fn corruption(&self, family: Family) -> Option<Corruption> {
        if self.revision == 0 || self.revision >= REVISION_END {
            return Some(Corruption::RevisionOutOfRange);
        }
        if self.attempt_limit == 0 {
            return Some(Corruption::AttemptLimitZero);
        }
        match (self.state, self.attempt) {
            (State::Pending, 1..) => return Some(Corruption::AttemptInPending),
            (State::Claimed | State::Executing | State::Completed | State::FailedRetryable | State::Abandoned, 0) => {
                return Some(Corruption::AttemptZero);
            }
            (State::Pending, 0)
            | (State::Claimed | State::Executing | State::Completed | State::FailedRetryable | State::Abandoned, 1..) => {}
        }
        if self.state == State::Pending && !family.is_queue() {
            return Some(Corruption::PendingOutsideQueues);
        }
        if self.state == State::Executing && family.is_queue() {
            return Some(Corruption::ExecutingInQueue);
        }
        if matches!(self.state, State::Claimed | State::Executing) {
            if self.owner.is_none() {
                return Some(Corruption::OwnerAbsent);
            }
            if self.operation.is_none() {
                return Some(Corruption::OperationAbsent);
            }
            if self.lease_until.is_none() {
                return Some(Corruption::LeaseAbsent);
            }
        }
        None
    }
}

/// What every update repeats: who owns, and what it saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnerTuple {
    /// The owner's token.
    pub owner: Token,
    /// Packed id of the claim call.
    pub operation: Token,
    /// Number of the try.
    pub attempt: u64,
    /// The revision that the owner last saw.
    pub revision: u64,
}
