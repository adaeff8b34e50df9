//! advance: the holder of a tuple moves its record on. The arms stand in the order of section 2 of the contract.
//!
//! Tests: `guest/src/tests/advance.rs`, one an outcome; the vectors; the model in the workspace's `tests/`.

use crate::outcome::{Applied, Decision, Next, Outcome, StatementName, precheck};
use crate::record::{Family, OwnerTuple, Reason, Record, Settings, State, Token, TransitionKind, later};

/// What a transition does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AdvanceKind {
    /// The effect begins now.
    Start,
    /// The lease goes on.
    Renew,
    /// The effect happened; its result is stored.
    Complete,
    /// It is known that there was no effect.
    Fail,
    /// It is not known whether there was an effect.
    Abandon,
}

impl AdvanceKind {
    /// All, in the order of the contract.
    pub const ALL: [Self; 5] = [Self::Start, Self::Renew, Self::Complete, Self::Fail, Self::Abandon];

    /// As it is kept in the record.
    #[must_use]
    pub const fn transition_kind(self) -> TransitionKind {
        match self {
            Self::Start => TransitionKind::Start,
            Self::Renew => TransitionKind::Renew,
            Self::Complete => TransitionKind::Complete,
            Self::Fail => TransitionKind::Fail,
            Self::Abandon => TransitionKind::Abandon,
        }
    }

    /// Its name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.transition_kind().name()
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it may start from that state. In the queues a claim is already the delivery, so `claimed` stands for `executing`.
    const fn starts_from(self, family: Family, state: State) -> bool {
        match (self, state) {
            (Self::Start, State::Claimed) => !family.is_queue(),
            (Self::Renew | Self::Fail, State::Claimed | State::Executing) => true,
            (Self::Complete | Self::Abandon, State::Claimed) => family.is_queue(),
            (Self::Complete | Self::Abandon, State::Executing) => true,
            (Self::Start, State::Executing)
            | (
                Self::Start | Self::Renew | Self::Complete | Self::Fail | Self::Abandon,
                State::Pending | State::Completed | State::FailedRetryable | State::Abandoned,
            ) => false,
        }
    }
}

/// What an advance call gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdvanceArgs {
    /// The handle's tuple.
    pub tuple: OwnerTuple,
    /// What is to happen.
    pub kind: AdvanceKind,
    /// Packed id, drawn at random for this transition before it is sent.
    pub transition: Token,
    /// Digest of the result.
    pub digest: Option<Token>,
    /// Whether the caller gives a reason; its text stays with the host.
    pub reason_given: bool,
}

/// Decides a transition. Does not look at expiry.
#[must_use]
pub fn advance(family: Family, settings: &Settings, before: Option<&Record>, args: &AdvanceArgs, now: u64) -> Decision {
    if let Some(outcome) = precheck(family, settings, before) {
        return Decision::only(outcome);
    }
    let Some(record) = before else {
        return Decision::only(Outcome::Missing);
    };
    if record.owner != Some(args.tuple.owner) || record.attempt != args.tuple.attempt {
        return Decision::only(Outcome::NotOwner);
    }
    if record.operation != Some(args.tuple.operation) {
        return Decision::only(Outcome::OperationConflict);
    }
    if let Some(last) = record.transition.as_ref().filter(|last| last.id == args.transition) {
        let same = last.kind == args.kind.transition_kind() && last.digest == args.digest;
        return Decision::only(if same { Outcome::AlreadyApplied(Applied::of(record)) } else { Outcome::TransitionConflict });
    }
    if record.revision != args.tuple.revision {
        return Decision::only(Outcome::StaleRevision(record.revision));
    }
    if !args.kind.starts_from(family, record.state) {
        return Decision::only(Outcome::InvalidState(record.state));
    }
    apply(family, settings, record, args, now)
}

fn apply(family: Family, settings: &Settings, record: &Record, args: &AdvanceArgs, now: u64) -> Decision {
    let base = Next { transition_kind: Some(args.kind.transition_kind()), ..Next::of(record, settings) };
    let renewed = later(now, settings.lease);
    let given = if args.reason_given { Reason::AsGiven } else { Reason::None };
    let abandoned = |reason| Next { state: State::Abandoned, lease_until: None, retry_at: None, expires_at: None, reason, ..base };
    let (statement, next) = match args.kind {
        AdvanceKind::Start => (StatementName::Start, Next { state: State::Executing, lease_until: Some(renewed), ..base }),
        AdvanceKind::Renew => {
            let lease_until = Some(record.lease_until.map_or(renewed, |old| old.max(renewed)));
            (StatementName::Renew, Next { lease_until, ..base })
        }
        AdvanceKind::Complete => {
            let next = Next {
                state: State::Completed,
                lease_until: None,
                expires_at: Some(later(now, settings.replay_retention)),
                reason: Reason::None,
                ..base
            };
            (StatementName::Complete, next)
        }
        AdvanceKind::Fail if record.attempt >= record.attempt_limit => (StatementName::Fail, abandoned(Reason::AttemptsExhausted)),
        AdvanceKind::Fail => (StatementName::Fail, failed(family, settings, record, now, given, base)),
        AdvanceKind::Abandon => {
            let reason = if args.reason_given { Reason::AsGiven } else { Reason::EffectUnknown };
            (StatementName::Abandon, abandoned(reason))
        }
    };
    let applied = Applied { state: next.state, revision: next.revision, lease_until: next.lease_until };
    Decision::with(Outcome::Applied(applied), statement, next)
}

/// A try that is over without effect: due again after its back-off, and forgotten a failure-retention later (never in a queue).
pub(crate) fn failed(family: Family, settings: &Settings, record: &Record, now: u64, reason: Reason, base: Next) -> Next {
    let retry_at = later(now, settings.backoff(record.attempt));
    Next {
        state: State::FailedRetryable,
        lease_until: None,
        retry_at: Some(retry_at),
        expires_at: failure_expiry(family, settings, retry_at),
        reason,
        ..base
    }
}

/// When a failed record ends: a failure-retention behind its retry time; in a queue never, since a claim does not make it anew.
pub(crate) fn failure_expiry(family: Family, settings: &Settings, retry_at: u64) -> Option<u64> {
    (!family.is_queue()).then(|| later(retry_at, settings.failure_retention))
}
