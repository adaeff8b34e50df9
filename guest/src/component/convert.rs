//! The generated types and the crate's types, each to the other: field by field and case by case, every `match` exhaustive, so
//! that a word that is added on one side alone does not compile.

use alloc::vec::Vec;

use super::wit;
use crate::{advance, claim, http, inspect, keys, outcome, record, release, resolve, statements};

/// An optional value, taken over.
pub fn maybe<A: Into<B>, B>(value: Option<A>) -> Option<B> {
    value.map(Into::into)
}

/// A list, taken over; where both types have one layout, in place.
pub fn list<A: Into<B>, B>(values: Vec<A>) -> Vec<B> {
    values.into_iter().map(Into::into).collect()
}

/// One set of words in two enums.
macro_rules! words {
    ($($from:path => $to:path { $($word:ident)* })*) => {$(
        impl From<$from> for $to {
            fn from(word: $from) -> Self {
                use $from as From;
                match word {
                    $(From::$word => Self::$word,)*
                }
            }
        }
    )*};
}

/// One set of fields in two records. `field: how` says how a field that is not the same type on both sides is taken over.
macro_rules! fields {
    ($($from:path => $to:path { $($field:ident $(: $how:path)?),* $(,)? })*) => {$(
        impl From<$from> for $to {
            fn from(record: $from) -> Self {
                Self { $($field: fields!(record.$field $(, $how)?),)* }
            }
        }
    )*};
    ($record:ident.$field:ident) => { $record.$field };
    ($record:ident.$field:ident, $how:path) => { $how($record.$field) };
}

words! {
    wit::types::Family => record::Family { Idempotency Inbox Outbox Cleanup }
    wit::types::State => record::State { Pending Claimed Executing Completed FailedRetryable Abandoned }
    record::State => wit::types::State { Pending Claimed Executing Completed FailedRetryable Abandoned }
    wit::types::TransitionKind => record::TransitionKind {
        Start Renew Complete Fail Abandon Release ResolveCompleted ResolveNoEffect ResolveForget
    }
    record::TransitionKind => wit::types::TransitionKind {
        Start Renew Complete Fail Abandon Release ResolveCompleted ResolveNoEffect ResolveForget
    }
    record::Reason => wit::types::Reason {
        AsStored AsGiven None AttemptsExhausted ExecutionLeaseExpired EffectUnknown Released ResolvedCompleted ResolvedNoEffect
        ResolvedForgotten
    }
    record::Corruption => wit::types::Corruption {
        RevisionOutOfRange AttemptLimitZero AttemptZero AttemptInPending PendingOutsideQueues ExecutingInQueue OwnerAbsent
        OperationAbsent LeaseAbsent
    }
    record::SettingsFault => wit::types::SettingsFault {
        LeaseZero AttemptLimitZero ReplayRetentionBelowLease FailureRetentionBelowLease
    }
    outcome::StatementName => wit::types::StatementName {
        Insert Rebirth Takeover Relet Bury Start Renew Complete Fail Abandon Release ResolveCompleted ResolveNoEffect ResolveForget
    }
    wit::decide::AdvanceKind => advance::AdvanceKind { Start Renew Complete Fail Abandon }
    wit::decide::Verdict => resolve::Verdict { Completed NoEffect Forget }
    wit::statements::Dialect => statements::Dialect { Sqlite Postgres Mysql Redis }
    statements::StatementKind => wit::statements::StatementKind { Read Insert Update Purge }
    wit::http::Effect => http::Effect { Success NoEffect Unknown }
    http::Effect => wit::http::Effect { Success NoEffect Unknown }
    wit::http::Failure => http::Failure { NeverReached Broke Silent }
    http::KeyFault => wit::http::KeyFault { Empty TooLong NotAscii Malformed MoreThanOne }
    wit::http::Refusal => http::Refusal {
        KeyRequired KeyRefused PrincipalRequired BodyTooLarge PayloadMismatch InProgress RetryLater BodyNotKept CodecUnreadable
        RecoveryRequired UpstreamUnreachable UpstreamBroke UpstreamSilent StoreUnavailable Contended Internal
    }
}

fields! {
    wit::types::Settings => record::Settings {
        revision, lease, attempt_limit, backoff_base, backoff_cap, replay_retention, failure_retention,
    }
    record::Settings => wit::types::Settings {
        revision, lease, attempt_limit, backoff_base, backoff_cap, replay_retention, failure_retention,
    }
    wit::types::OwnerTuple => record::OwnerTuple { owner: Into::into, operation: Into::into, attempt, revision }
    wit::types::Transition => record::Transition { id: Into::into, kind: Into::into, digest: maybe }
    wit::types::StoredRecord => record::Record {
        state: Into::into, owner: maybe, operation: maybe, attempt, attempt_limit, revision, fingerprint: maybe, codec: maybe,
        lease_until, retry_at, expires_at, transition: maybe, result_digest: maybe,
    }
    wit::decide::ClaimArgs => claim::ClaimArgs { owner: Into::into, operation: Into::into, fingerprint: maybe, codec: maybe }
    wit::decide::AdvanceArgs => advance::AdvanceArgs {
        tuple: Into::into, kind: Into::into, transition: Into::into, digest: maybe, reason_given,
    }
    wit::decide::ReleaseArgs => release::ReleaseArgs { tuple: Into::into, transition: Into::into }
    wit::decide::InspectArgs => inspect::InspectArgs { owner: Into::into, operation: Into::into, fingerprint: maybe }
    wit::decide::ResolveArgs => resolve::ResolveArgs {
        transition: Into::into, attempt, revision, verdict: Into::into, digest: maybe, extra_attempts,
    }
    outcome::Grant => wit::types::Grant { attempt, revision, lease_until }
    outcome::Recovery => wit::types::Recovery { attempt, revision, reason: Into::into }
    outcome::Replay => wit::types::Replay { result_digest: maybe, expires_at }
    outcome::Retryable => wit::types::Retryable { attempt, retry_at }
    outcome::Applied => wit::types::Applied { state: Into::into, revision, lease_until }
    outcome::Next => wit::types::Next {
        state: Into::into, attempt, attempt_limit, revision, policy_revision, lease_until, retry_at, expires_at, reason: Into::into,
        transition_kind: maybe,
    }
    outcome::Write => wit::types::Write { statement: Into::into, next: Into::into }
    outcome::Decision => wit::types::Decision { outcome: Into::into, write: maybe }
    statements::Statement => wit::statements::Statement { id, kind: Into::into, text, binds }
    wit::http::Rules => http::Rules { on_5xx: Into::into, on_gateway_error: Into::into }
    http::Problem => wit::http::Problem { status, type_uri: Into::into, title: Into::into, retry }
}

impl From<wit::types::Token> for record::Token {
    fn from(token: wit::types::Token) -> Self {
        Self::from_words([token.a, token.b, token.c, token.d])
    }
}

impl From<record::Token> for wit::types::Token {
    fn from(token: record::Token) -> Self {
        let [a, b, c, d] = token.words();
        Self { a, b, c, d }
    }
}

impl From<statements::Layout> for wit::statements::Layout {
    fn from(layout: statements::Layout) -> Self {
        Self { layout_version: layout.version, statements: layout.statements }
    }
}

impl From<statements::DialectNotCarried> for wit::statements::StatementsError {
    fn from(statements::DialectNotCarried: statements::DialectNotCarried) -> Self {
        Self::DialectNotCarried
    }
}

impl From<keys::OperationCodeMalformed> for wit::keys::ScopeError {
    fn from(keys::OperationCodeMalformed: keys::OperationCodeMalformed) -> Self {
        Self::OperationCodeMalformed
    }
}

impl From<http::Key> for wit::http::Key {
    fn from(key: http::Key) -> Self {
        match key {
            http::Key::Absent => Self::Absent,
            http::Key::Present(text) => Self::Present(text),
            http::Key::Refused(fault) => Self::Refused(fault.into()),
        }
    }
}

impl From<outcome::Outcome> for wit::types::Outcome {
    fn from(outcome: outcome::Outcome) -> Self {
        use outcome::Outcome;
        match outcome {
            Outcome::Acquired(grant) => Self::Acquired(grant.into()),
            Outcome::TakenOver(grant) => Self::TakenOver(grant.into()),
            Outcome::ReplayedAcquire(grant) => Self::ReplayedAcquire(grant.into()),
            Outcome::ClaimedSameOperation(grant) => Self::ClaimedSameOperation(grant.into()),
            Outcome::ExecutingSameOperation(grant) => Self::ExecutingSameOperation(grant.into()),
            Outcome::InProgress(until) => Self::InProgress(until),
            Outcome::RetryLater(at) => Self::RetryLater(at),
            Outcome::RecoveryRequired(recovery) => Self::RecoveryRequired(recovery.into()),
            Outcome::CompletedReplay(replay) => Self::CompletedReplay(replay.into()),
            Outcome::CodecUnreadable => Self::CodecUnreadable,
            Outcome::FingerprintMismatch => Self::FingerprintMismatch,
            Outcome::OperationConflict => Self::OperationConflict,
            Outcome::Missing => Self::Missing,
            Outcome::Retryable(retryable) => Self::Retryable(retryable.into()),
            Outcome::Applied(applied) => Self::Applied(applied.into()),
            Outcome::AlreadyApplied(applied) => Self::AlreadyApplied(applied.into()),
            Outcome::NotOwner => Self::NotOwner,
            Outcome::TransitionConflict => Self::TransitionConflict,
            Outcome::StaleRevision(revision) => Self::StaleRevision(revision),
            Outcome::InvalidState(state) => Self::InvalidState(state.into()),
            Outcome::Released(revision) => Self::Released(revision),
            Outcome::ExecutionStarted => Self::ExecutionStarted,
            Outcome::Resolved(revision) => Self::Resolved(revision),
            Outcome::CorruptRecord(corruption) => Self::CorruptRecord(corruption.into()),
            Outcome::InvalidSettings(fault) => Self::InvalidSettings(fault.into()),
        }
    }
}

impl From<wit::decide::Call> for crate::Call {
    fn from(call: wit::decide::Call) -> Self {
        match call {
            wit::decide::Call::Claim(args) => Self::Claim(args.into()),
            wit::decide::Call::Advance(args) => Self::Advance(args.into()),
            wit::decide::Call::Release(args) => Self::Release(args.into()),
            wit::decide::Call::Inspect(args) => Self::Inspect(args.into()),
            wit::decide::Call::Resolve(args) => Self::Resolve(args.into()),
        }
    }
}
