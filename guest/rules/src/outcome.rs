//! What is answered: an outcome, and at most one write.
//!
//! Knows nothing of statements' texts: a write names one and carries what it sets. Tests: those of the calls.

use crate::record::{Corruption, Family, Reason, Record, Settings, SettingsFault, State, Token, TransitionKind};

/// A try that the caller holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// Number of the try.
    pub attempt: u64,
    /// The fencing token.
    pub revision: u64,
    /// Until when others keep their hands off. Milliseconds since the epoch.
    pub lease_until: u64,
}

/// A record that waits for a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// Number of the try.
    pub attempt: u64,
    /// Its revision: a verdict names it.
    pub revision: u64,
    /// Why.
    pub reason: Reason,
}

/// A stored result; its codec is the record's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replay {
    /// Digest of the stored result.
    pub result_digest: Option<Token>,
    /// How long it is replayed. Milliseconds since the epoch.
    pub expires_at: Option<u64>,
}

/// A record that a claim would take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retryable {
    /// Number of the last try.
    pub attempt: u64,
    /// From when. Milliseconds since the epoch.
    pub retry_at: Option<u64>,
}

/// What a transition left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Applied {
    /// The state after it.
    pub state: State,
    /// The revision after it.
    pub revision: u64,
    /// The lease after it. Milliseconds since the epoch.
    pub lease_until: Option<u64>,
}

impl Applied {
    /// How a record stands to which the transition was applied before.
    #[must_use]
    pub const fn of(record: &Record) -> Self {
        Self { state: record.state, revision: record.revision, lease_until: record.lease_until }
    }
}

/// What a decision says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The record is the caller's: a first try.
    Acquired(Grant),
    /// The record is the caller's: somebody else's try before it failed or lapsed without effect.
    TakenOver(Grant),
    /// The record is the caller's already: the same claim, sent again.
    ReplayedAcquire(Grant),
    /// inspect: the caller holds it and has not started.
    ClaimedSameOperation(Grant),
    /// The caller holds it and has started: the action must not be started again.
    ExecutingSameOperation(Grant),
    /// Somebody else holds it, until then.
    InProgress(u64),
    /// Not before then.
    RetryLater(u64),
    /// A person or a hook must decide first.
    RecoveryRequired(Recovery),
    /// It happened; here is the result.
    CompletedReplay(Replay),
    /// It happened; its result is in a codec that the caller does not read.
    CodecUnreadable,
    /// The same scope with another payload.
    FingerprintMismatch,
    /// The caller's owner token with another operation.
    OperationConflict,
    /// No such record.
    Missing,
    /// inspect: a claim would take it (from `retry_at` on).
    Retryable(Retryable),
    /// The transition is made.
    Applied(Applied),
    /// The transition was made before, by the same id.
    AlreadyApplied(Applied),
    /// The record is somebody else's by now.
    NotOwner,
    /// The transition's id was used for something else.
    TransitionConflict,
    /// The caller's own record has moved on to that revision.
    StaleRevision(u64),
    /// The transition does not start from that state.
    InvalidState(State),
    /// The try was given back.
    Released(u64),
    /// The try cannot be given back: its effect may have begun.
    ExecutionStarted,
    /// The verdict is in.
    Resolved(u64),
    /// The record cannot be; nothing is written.
    CorruptRecord(Corruption),
    /// The settings cannot be used; nothing is written.
    InvalidSettings(SettingsFault),
}

impl Outcome {
    /// Its `kind` in the contract.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Acquired(_) => "acquired",
            Self::TakenOver(_) => "taken-over",
            Self::ReplayedAcquire(_) => "replayed-acquire",
            Self::ClaimedSameOperation(_) => "claimed-same-operation",
            Self::ExecutingSameOperation(_) => "executing-same-operation",
            Self::InProgress(_) => "in-progress",
            Self::RetryLater(_) => "retry-later",
            Self::RecoveryRequired(_) => "recovery-required",
            Self::CompletedReplay(_) => "completed-replay",
            Self::CodecUnreadable => "codec-unreadable",
            Self::FingerprintMismatch => "fingerprint-mismatch",
            Self::OperationConflict => "operation-conflict",
            Self::Missing => "missing",
            Self::Retryable(_) => "retryable",
            Self::Applied(_) => "applied",
            Self::AlreadyApplied(_) => "already-applied",
            Self::NotOwner => "not-owner",
            Self::TransitionConflict => "transition-conflict",
            Self::StaleRevision(_) => "stale-revision",
            Self::InvalidState(_) => "invalid-state",
            Self::Released(_) => "released",
            Self::ExecutionStarted => "execution-started",
            Self::Resolved(_) => "resolved",
            Self::CorruptRecord(_) => "corrupt-record",
            Self::InvalidSettings(_) => "invalid-settings",
        }
    }
}

/// A statement of the catalogue, by what it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StatementName {
    /// A claim makes the record.
    Insert,
    /// A claim begins a new life on an expired row.
    Rebirth,
    /// A claim takes the record.
    Takeover,
    /// A repeated claim gets a new lease.
    Relet,
    /// A claim finds the record beyond its budget or its execution's lease.
    Bury,
    /// advance: the effect begins.
    Start,
    /// advance: the lease goes on.
    Renew,
    /// advance: the effect happened.
    Complete,
    /// advance: no effect.
    Fail,
    /// advance: effect unknown.
    Abandon,
    /// The try is given back.
    Release,
    /// A verdict: it happened.
    ResolveCompleted,
    /// A verdict: it did not happen.
    ResolveNoEffect,
    /// A verdict: start over.
    ResolveForget,
}

impl StatementName {
    /// All.
    pub const ALL: [Self; 14] = [
        Self::Insert,
        Self::Rebirth,
        Self::Takeover,
        Self::Relet,
        Self::Bury,
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

    /// Its name in the catalogue, behind `FAMILY.`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Rebirth => "rebirth",
            Self::Takeover => "takeover",
            Self::Relet => "relet",
            Self::Bury => "bury",
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

    /// Whether the transition that it records keeps the call's digest. Source: section 2 of the contract.
    #[must_use]
    pub const fn keeps_digest(self) -> bool {
        match self {
            Self::Start | Self::Renew | Self::Complete | Self::Fail | Self::Abandon | Self::ResolveCompleted => true,
            Self::Insert
            | Self::Rebirth
            | Self::Takeover
            | Self::Relet
            | Self::Bury
            | Self::Release
            | Self::ResolveNoEffect
            | Self::ResolveForget => false,
        }
    }

    /// Whether a family's catalogue has it: queues have no `insert` and no new life (enqueue makes their records), and no `start`.
    #[must_use]
    pub const fn is_of(self, family: Family) -> bool {
        match self {
            Self::Insert | Self::Rebirth | Self::Start => !family.is_queue(),
            Self::Takeover
            | Self::Relet
            | Self::Bury
            | Self::Renew
            | Self::Complete
            | Self::Fail
            | Self::Abandon
            | Self::Release
            | Self::ResolveCompleted
            | Self::ResolveNoEffect
            | Self::ResolveForget => true,
        }
    }
}

/// The record's small numbers after the write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Next {
    /// The state after the write.
    pub state: State,
    /// The attempt after the write.
    pub attempt: u64,
    /// The limit after the write.
    pub attempt_limit: u64,
    /// The revision after the write.
    pub revision: u64,
    /// The policy revision that decided.
    pub policy_revision: u64,
    /// The lease after the write.
    pub lease_until: Option<u64>,
    /// The retry time after the write.
    pub retry_at: Option<u64>,
    /// The expiry after the write.
    pub expires_at: Option<u64>,
    /// The reason after the write.
    pub reason: Reason,
    /// The kind of the last transition after the write, where the write is one.
    pub transition_kind: Option<TransitionKind>,
}

impl Next {
    /// The record as it stands, one revision on.
    #[must_use]
    pub fn of(record: &Record, settings: &Settings) -> Self {
        Self {
            state: record.state,
            attempt: record.attempt,
            attempt_limit: record.attempt_limit,
            revision: record.revision.saturating_add(1),
            policy_revision: settings.revision,
            lease_until: record.lease_until,
            retry_at: record.retry_at,
            expires_at: record.expires_at,
            reason: Reason::AsStored,
            transition_kind: None,
        }
    }
}

/// A statement of the catalogue, and what it sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Which one.
    pub statement: StatementName,
    /// What it sets.
    pub next: Next,
}

/// An outcome, and the one write that makes it so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Holds once the write changed one row; where there is no write, as of the record that was read.
    pub outcome: Outcome,
    /// The write.
    pub write: Option<Write>,
}

impl Decision {
    /// An outcome that needs no write.
    #[must_use]
    pub const fn only(outcome: Outcome) -> Self {
        Self { outcome, write: None }
    }

    /// An outcome that a write makes so.
    #[must_use]
    pub const fn with(outcome: Outcome, statement: StatementName, next: Next) -> Self {
        Self { outcome, write: Some(Write { statement, next }) }
    }
}

/// What precedes every call: settings that cannot be used, and records that cannot be.
pub(crate) fn precheck(family: Family, settings: &Settings, before: Option<&Record>) -> Option<Outcome> {
    if let Some(fault) = settings.fault() {
        return Some(Outcome::InvalidSettings(fault));
    }
    before?.corruption(family).map(Outcome::CorruptRecord)
}
