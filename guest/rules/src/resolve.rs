//! resolve: how an abandoned record ends. The arms stand in the order of section 2 of the contract.
//!
//! Tests: `guest/src/tests/resolve.rs`, one an outcome; the vectors; the model in the workspace's `tests/`.

use crate::advance::failure_expiry;
use crate::outcome::{Applied, Decision, Next, Outcome, StatementName, precheck};
use crate::record::{ATTEMPT_LIMIT_MAX, Family, Reason, Record, Settings, State, Token, TransitionKind, later};

/// What a person or a hook found out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// It happened.
    Completed,
    /// It did not happen.
    NoEffect,
    /// Start over, whatever happened.
    Forget,
}

impl Verdict {
    /// All, in the order of the contract.
    pub const ALL: [Self; 3] = [Self::Completed, Self::NoEffect, Self::Forget];

    /// As it is kept in the record.
    #[must_use]
    pub const fn transition_kind(self) -> TransitionKind {
        match self {
            Self::Completed => TransitionKind::ResolveCompleted,
            Self::NoEffect => TransitionKind::ResolveNoEffect,
            Self::Forget => TransitionKind::ResolveForget,
        }
    }

    /// Its name in the contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::NoEffect => "no-effect",
            Self::Forget => "forget",
        }
    }

    /// The verdict of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// What a resolve call gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResolveArgs {
    /// Packed id, drawn at random for this verdict before it is sent.
    pub transition: Token,
    /// The attempt that the verdict is about.
    pub attempt: u64,
    /// The revision that was looked at.
    pub revision: u64,
    /// What was found out.
    pub verdict: Verdict,
    /// Digest of the result; counts with `completed` alone.
    pub digest: Option<Token>,
    /// Tries that are allowed beyond the present one, at least; counts with `no-effect` alone.
    pub extra_attempts: u64,
}

/// Decides a verdict. Does not look at expiry.
#[must_use]
pub fn resolve(family: Family, settings: &Settings, before: Option<&Record>, args: &ResolveArgs, now: u64) -> Decision {
    if let Some(outcome) = precheck(family, settings, before) {
        return Decision::only(outcome);
    }
    let Some(record) = before else {
        return Decision::only(Outcome::Missing);
    };
    let digest = match args.verdict {
        Verdict::Completed => args.digest,
        Verdict::NoEffect | Verdict::Forget => None,
    };
    if let Some(last) = record.transition.as_ref().filter(|last| last.id == args.transition) {
        let same = last.kind == args.verdict.transition_kind() && last.digest == digest;
        return Decision::only(if same { Outcome::AlreadyApplied(Applied::of(record)) } else { Outcome::TransitionConflict });
    }
    if record.state != State::Abandoned {
        return Decision::only(Outcome::InvalidState(record.state));
    }
    if record.attempt != args.attempt || record.revision != args.revision {
        return Decision::only(Outcome::StaleRevision(record.revision));
    }
    let base = Next { lease_until: None, transition_kind: Some(args.verdict.transition_kind()), ..Next::of(record, settings) };
    let (statement, next) = match args.verdict {
        Verdict::Completed => {
            let next = Next {
                state: State::Completed,
                retry_at: None,
                expires_at: Some(later(now, settings.replay_retention)),
                reason: Reason::ResolvedCompleted,
                ..base
            };
            (StatementName::ResolveCompleted, next)
        }
        Verdict::NoEffect => {
            let retry_at = later(now, 0);
            let allowed = record.attempt.saturating_add(args.extra_attempts).min(ATTEMPT_LIMIT_MAX);
            let next = Next {
                state: State::FailedRetryable,
                attempt_limit: record.attempt_limit.max(allowed),
                retry_at: Some(retry_at),
                expires_at: failure_expiry(family, settings, retry_at),
                reason: Reason::ResolvedNoEffect,
                ..base
            };
            (StatementName::ResolveNoEffect, next)
        }
        Verdict::Forget => {
            let at = Some(later(now, 0));
            let next =
                Next { state: State::FailedRetryable, retry_at: at, expires_at: at, reason: Reason::ResolvedForgotten, ..base };
            (StatementName::ResolveForget, next)
        }
    };
    Decision::with(Outcome::Resolved(next.revision), statement, next)
}
