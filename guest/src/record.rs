//! What is stored, as the decisions see it, and the settings under which they decide.
//!
//! Knows nothing of rows, JSON or WIT: each has types of its own, converted at its edge. Tests: below.

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

/// 32 bytes that are only ever compared: an owner, a fingerprint, a digest, or a packed name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Token([u64; 4]);

impl Token {
    /// From four big-endian words.
    #[must_use]
    pub const fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    /// The four big-endian words.
    #[must_use]
    pub const fn words(self) -> [u64; 4] {
        self.0
    }

    /// From 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut words = [0u64; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = chunk.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte));
        }
        Self(words)
    }

    /// From 64 lowercase hex digits; anything else is no token.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut words = [0u64; 4];
        for (word, chunk) in words.iter_mut().zip(digits.chunks_exact(16)) {
            for digit in chunk {
                let value = match digit {
                    b'0'..=b'9' => digit.wrapping_sub(b'0'),
                    b'a'..=b'f' => digit.wrapping_sub(b'a').wrapping_add(10),
                    _ => return None,
                };
                *word = (*word << 4) | u64::from(value);
            }
        }
        Some(Self(words))
    }
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

/// What is wrong with a record that cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Corruption {
    /// Revision 0, or 2^63 - 1 and up.
    RevisionOutOfRange,
    /// Attempt limit 0.
    AttemptLimitZero,
    /// Attempt 0 in a state other than `pending`.
    AttemptZero,
    /// Attempt 1 and up in `pending`.
    AttemptInPending,
    /// `pending` outside the queues.
    PendingOutsideQueues,
    /// `executing` in a queue.
    ExecutingInQueue,
    /// `claimed` or `executing` without an owner.
    OwnerAbsent,
    /// `claimed` or `executing` without an operation.
    OperationAbsent,
    /// `claimed` or `executing` without a lease.
    LeaseAbsent,
}

impl Corruption {
    /// What is wrong, for people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::RevisionOutOfRange => "revision is 0, or 2^63 - 1 and up",
            Self::AttemptLimitZero => "attempt-limit is 0",
            Self::AttemptZero => "attempt is 0 in a state other than pending",
            Self::AttemptInPending => "attempt is not 0 in pending",
            Self::PendingOutsideQueues => "pending outside the queues",
            Self::ExecutingInQueue => "executing in a queue",
            Self::OwnerAbsent => "held, but without an owner",
            Self::OperationAbsent => "held, but without an operation",
            Self::LeaseAbsent => "held, but without a lease",
        }
    }
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

/// Why a record is in the state it is in. `AsStored` and `AsGiven` stand for texts that stay with the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// The text that the record has.
    AsStored,
    /// The text that the call gave.
    AsGiven,
    /// No reason.
    None,
    /// The last try that the limit allows failed or lapsed.
    AttemptsExhausted,
    /// An execution's lease was reached, and nobody had settled it.
    ExecutionLeaseExpired,
    /// Abandoned by its owner, without a reason of its own.
    EffectUnknown,
    /// The try was given back.
    Released,
    /// Settled by a verdict: it happened.
    ResolvedCompleted,
    /// Settled by a verdict: it did not happen.
    ResolvedNoEffect,
    /// Settled by a verdict: start over.
    ResolvedForgotten,
}

impl Reason {
    /// The word that is stored, but for the texts that stay with the host.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::AsStored | Self::AsGiven | Self::None => None,
            Self::AttemptsExhausted => Some("ATTEMPTS_EXHAUSTED"),
            Self::ExecutionLeaseExpired => Some("EXECUTION_LEASE_EXPIRED"),
            Self::EffectUnknown => Some("EFFECT_UNKNOWN"),
            Self::Released => Some("RELEASED"),
            Self::ResolvedCompleted => Some("RESOLVED_COMPLETED"),
            Self::ResolvedNoEffect => Some("RESOLVED_NO_EFFECT"),
            Self::ResolvedForgotten => Some("RESOLVED_FORGOTTEN"),
        }
    }

    /// The reason's text after a write, from what the record had and what the call gave.
    #[must_use]
    pub fn text<'a>(self, stored: Option<&'a str>, given: Option<&'a str>) -> Option<&'a str> {
        match self {
            Self::AsStored => stored,
            Self::AsGiven => given,
            Self::None
            | Self::AttemptsExhausted
            | Self::ExecutionLeaseExpired
            | Self::EffectUnknown
            | Self::Released
            | Self::ResolvedCompleted
            | Self::ResolvedNoEffect
            | Self::ResolvedForgotten => self.word(),
        }
    }
}

/// Settings of a policy revision, for one family. Durations are milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Number of the policy revision.
    pub revision: u64,
    /// How long others keep their hands off.
    pub lease: u64,
    /// Tries within one life of a record.
    pub attempt_limit: u64,
    /// The first back-off; 0 for none.
    pub backoff_base: u64,
    /// The longest back-off.
    pub backoff_cap: u64,
    /// How long a completed record is replayed.
    pub replay_retention: u64,
    /// How long a failed record is kept behind its retry time.
    pub failure_retention: u64,
}

/// What is wrong with settings that are refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SettingsFault {
    /// A record would be born expired.
    LeaseZero,
    /// No try would be allowed.
    AttemptLimitZero,
    /// A record could end while it is still held.
    ReplayRetentionBelowLease,
    /// A record could end while it is still held.
    FailureRetentionBelowLease,
}

impl SettingsFault {
    /// What to change, for people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::LeaseZero => "lease is 0: give at least 1 millisecond",
            Self::AttemptLimitZero => "attempt-limit is 0: give at least 1",
            Self::ReplayRetentionBelowLease => "replay-retention is shorter than lease: raise it, or shorten the lease",
            Self::FailureRetentionBelowLease => "failure-retention is shorter than lease: raise it, or shorten the lease",
        }
    }
}

impl Settings {
    /// What makes these settings unusable, if anything.
    #[must_use]
    pub fn fault(&self) -> Option<SettingsFault> {
        if self.lease == 0 {
            Some(SettingsFault::LeaseZero)
        } else if self.attempt_limit == 0 {
            Some(SettingsFault::AttemptLimitZero)
        } else if self.replay_retention < self.lease {
            Some(SettingsFault::ReplayRetentionBelowLease)
        } else if self.failure_retention < self.lease {
            Some(SettingsFault::FailureRetentionBelowLease)
        } else {
            None
        }
    }

    /// The limit that is pinned in a new record.
    #[must_use]
    pub fn pinned_limit(&self) -> u64 {
        self.attempt_limit.min(ATTEMPT_LIMIT_MAX)
    }

    /// min(base * 2^(attempt - 1), cap), and 0 where the base is 0. Milliseconds.
    #[must_use]
    pub fn backoff(&self, attempt: u64) -> u64 {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let factor = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
        self.backoff_base.saturating_mul(factor).min(self.backoff_cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(backoff_base: u64, backoff_cap: u64) -> Settings {
        Settings { revision: 1, lease: 1, attempt_limit: 1, backoff_base, backoff_cap, replay_retention: 1, failure_retention: 1 }
    }

    #[test]
    fn backoff_doubles_up_to_its_cap_and_never_wraps() {
        let check = |base, cap, attempt, expected| assert_eq!(settings(base, cap).backoff(attempt), expected);
        check(0, 1000, 5, 0);
        check(1, 1000, 1, 1);
        check(1, 1000, 4, 8);
        check(1, 1000, 11, 1000);
        check(3, u64::MAX, 64, u64::MAX);
        check(1, u64::MAX, 64, 1 << 63);
        check(1, u64::MAX, 65, u64::MAX);
        check(1, u64::MAX, u64::MAX, u64::MAX);
        check(1, u64::MAX, 0, 1);
    }

    #[test]
    fn a_token_is_64_lowercase_hex_digits() {
        let hex = "00112233445566778899aabbccddeeff0123456789abcdef0f1e2d3c4b5a6978";
        let token = Token::from_hex(hex).unwrap();
        assert_eq!(token.words(), [0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff, 0x0123_4567_89ab_cdef, 0x0f1e_2d3c_4b5a_6978]);
        assert_eq!(Token::from_hex(&hex.to_uppercase()), None);
        assert_eq!(Token::from_hex(&hex[1..]), None);
        assert_eq!(Token::from_hex(&hex.replace('0', "é")), None);
        let mut bytes = [0u8; 32];
        bytes[7] = 1;
        bytes[31] = 2;
        assert_eq!(Token::from_bytes(bytes).words(), [1, 0, 0, 2]);
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let good = Settings { lease: 10, replay_retention: 10, failure_retention: 10, ..settings(0, 0) };
        assert_eq!(good.fault(), None);
        assert_eq!(Settings { lease: 0, ..good }.fault(), Some(SettingsFault::LeaseZero));
        assert_eq!(Settings { attempt_limit: 0, ..good }.fault(), Some(SettingsFault::AttemptLimitZero));
        assert_eq!(Settings { replay_retention: 9, ..good }.fault(), Some(SettingsFault::ReplayRetentionBelowLease));
        assert_eq!(Settings { failure_retention: 9, ..good }.fault(), Some(SettingsFault::FailureRetentionBelowLease));
    }
}
