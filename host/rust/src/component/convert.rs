//! Between the component's types and the decisions' own. No rule lives here: one arm for each name.

use leasehold_decision as domain;
use leasehold_decision::{http, statements};

use super::bindings::exports::leasehold::decision as wit;
use wit::types;

pub(super) const fn token(token: domain::Token) -> types::Token {
    let [a, b, c, d] = token.words();
    types::Token { a, b, c, d }
}

const fn token_back(token: types::Token) -> domain::Token {
    domain::Token::from_words([token.a, token.b, token.c, token.d])
}

fn tokens(given: Option<domain::Token>) -> Option<types::Token> {
    given.map(token)
}

pub(super) const fn family(family: domain::Family) -> types::Family {
    match family {
        domain::Family::Idempotency => types::Family::Idempotency,
        domain::Family::Inbox => types::Family::Inbox,
        domain::Family::Outbox => types::Family::Outbox,
        domain::Family::Cleanup => types::Family::Cleanup,
    }
}

pub(super) const fn state(state: domain::State) -> types::State {
    match state {
        domain::State::Pending => types::State::Pending,
        domain::State::Claimed => types::State::Claimed,
        domain::State::Executing => types::State::Executing,
        domain::State::Completed => types::State::Completed,
        domain::State::FailedRetryable => types::State::FailedRetryable,
        domain::State::Abandoned => types::State::Abandoned,
    }
}

const fn state_back(state: types::State) -> domain::State {
    match state {
        types::State::Pending => domain::State::Pending,
        types::State::Claimed => domain::State::Claimed,
        types::State::Executing => domain::State::Executing,
        types::State::Completed => domain::State::Completed,
        types::State::FailedRetryable => domain::State::FailedRetryable,
        types::State::Abandoned => domain::State::Abandoned,
    }
}

const fn kind(kind: domain::TransitionKind) -> types::TransitionKind {
    match kind {
        domain::TransitionKind::Start => types::TransitionKind::Start,
        domain::TransitionKind::Renew => types::TransitionKind::Renew,
        domain::TransitionKind::Complete => types::TransitionKind::Complete,
        domain::TransitionKind::Fail => types::TransitionKind::Fail,
        domain::TransitionKind::Abandon => types::TransitionKind::Abandon,
        domain::TransitionKind::Release => types::TransitionKind::Release,
        domain::TransitionKind::ResolveCompleted => types::TransitionKind::ResolveCompleted,
        domain::TransitionKind::ResolveNoEffect => types::TransitionKind::ResolveNoEffect,
        domain::TransitionKind::ResolveForget => types::TransitionKind::ResolveForget,
    }
}

const fn kind_back(kind: types::TransitionKind) -> domain::TransitionKind {
    match kind {
        types::TransitionKind::Start => domain::TransitionKind::Start,
        types::TransitionKind::Renew => domain::TransitionKind::Renew,
        types::TransitionKind::Complete => domain::TransitionKind::Complete,
        types::TransitionKind::Fail => domain::TransitionKind::Fail,
        types::TransitionKind::Abandon => domain::TransitionKind::Abandon,
        types::TransitionKind::Release => domain::TransitionKind::Release,
        types::TransitionKind::ResolveCompleted => domain::TransitionKind::ResolveCompleted,
        types::TransitionKind::ResolveNoEffect => domain::TransitionKind::ResolveNoEffect,
        types::TransitionKind::ResolveForget => domain::TransitionKind::ResolveForget,
    }
}

pub(super) fn record(record: &domain::Record) -> types::StoredRecord {
    types::StoredRecord {
        state: state(record.state),
        owner: tokens(record.owner),
        operation: tokens(record.operation),
        attempt: record.attempt,
        attempt_limit: record.attempt_limit,
        revision: record.revision,
        fingerprint: tokens(record.fingerprint),
        codec: tokens(record.codec),
        lease_until: record.lease_until,
        retry_at: record.retry_at,
        expires_at: record.expires_at,
        transition: record.transition.map(|last| types::Transition {
            id: token(last.id),
            kind: kind(last.kind),
            digest: tokens(last.digest),
        }),
        result_digest: tokens(record.result_digest),
    }
}

pub(super) const fn settings(settings: &domain::Settings) -> types::Settings {
    types::Settings {
        revision: settings.revision,
        lease: settings.lease,
        attempt_limit: settings.attempt_limit,
        backoff_base: settings.backoff_base,
        backoff_cap: settings.backoff_cap,
        replay_retention: settings.replay_retention,
        failure_retention: settings.failure_retention,
    }
}

pub(super) const fn settings_back(settings: types::Settings) -> domain::Settings {
    domain::Settings {
        revision: settings.revision,
        lease: settings.lease,
        attempt_limit: settings.attempt_limit,
        backoff_base: settings.backoff_base,
        backoff_cap: settings.backoff_cap,
        replay_retention: settings.replay_retention,
        failure_retention: settings.failure_retention,
    }
}

const fn tuple(tuple: &domain::OwnerTuple) -> types::OwnerTuple {
    types::OwnerTuple {
        owner: token(tuple.owner),
        operation: token(tuple.operation),
        attempt: tuple.attempt,
        revision: tuple.revision,
    }
}

pub(super) fn claim_args(args: &domain::ClaimArgs) -> wit::decide::ClaimArgs {
    wit::decide::ClaimArgs {
        owner: token(args.owner),
        operation: token(args.operation),
        fingerprint: tokens(args.fingerprint),
        codec: tokens(args.codec),
    }
}

pub(super) fn advance_args(args: &domain::AdvanceArgs) -> wit::decide::AdvanceArgs {
    wit::decide::AdvanceArgs {
        tuple: tuple(&args.tuple),
        kind: match args.kind {
            domain::AdvanceKind::Start => wit::decide::AdvanceKind::Start,
            domain::AdvanceKind::Renew => wit::decide::AdvanceKind::Renew,
            domain::AdvanceKind::Complete => wit::decide::AdvanceKind::Complete,
            domain::AdvanceKind::Fail => wit::decide::AdvanceKind::Fail,
            domain::AdvanceKind::Abandon => wit::decide::AdvanceKind::Abandon,
        },
        transition: token(args.transition),
        digest: tokens(args.digest),
        reason_given: args.reason_given,
    }
}

pub(super) const fn release_args(args: &domain::ReleaseArgs) -> wit::decide::ReleaseArgs {
    wit::decide::ReleaseArgs { tuple: tuple(&args.tuple), transition: token(args.transition) }
}

pub(super) fn inspect_args(args: &domain::InspectArgs) -> wit::decide::InspectArgs {
    wit::decide::InspectArgs { owner: token(args.owner), operation: token(args.operation), fingerprint: tokens(args.fingerprint) }
}

pub(super) fn resolve_args(args: &domain::ResolveArgs) -> wit::decide::ResolveArgs {
    wit::decide::ResolveArgs {
        transition: token(args.transition),
        attempt: args.attempt,
        revision: args.revision,
        verdict: match args.verdict {
            domain::Verdict::Completed => wit::decide::Verdict::Completed,
            domain::Verdict::NoEffect => wit::decide::Verdict::NoEffect,
            domain::Verdict::Forget => wit::decide::Verdict::Forget,
        },
        digest: tokens(args.digest),
        extra_attempts: args.extra_attempts,
    }
}

pub(super) fn call(call: &domain::Call) -> wit::decide::Call {
    match call {
        domain::Call::Claim(args) => wit::decide::Call::Claim(claim_args(args)),
        domain::Call::Advance(args) => wit::decide::Call::Advance(advance_args(args)),
        domain::Call::Release(args) => wit::decide::Call::Release(release_args(args)),
        domain::Call::Inspect(args) => wit::decide::Call::Inspect(inspect_args(args)),
        domain::Call::Resolve(args) => wit::decide::Call::Resolve(resolve_args(args)),
    }
}

const fn reason_back(reason: types::Reason) -> domain::Reason {
    match reason {
        types::Reason::AsStored => domain::Reason::AsStored,
        types::Reason::AsGiven => domain::Reason::AsGiven,
        types::Reason::None => domain::Reason::None,
        types::Reason::AttemptsExhausted => domain::Reason::AttemptsExhausted,
        types::Reason::ExecutionLeaseExpired => domain::Reason::ExecutionLeaseExpired,
        types::Reason::EffectUnknown => domain::Reason::EffectUnknown,
        types::Reason::Released => domain::Reason::Released,
        types::Reason::ResolvedCompleted => domain::Reason::ResolvedCompleted,
        types::Reason::ResolvedNoEffect => domain::Reason::ResolvedNoEffect,
        types::Reason::ResolvedForgotten => domain::Reason::ResolvedForgotten,
    }
}

const fn corruption_back(corruption: types::Corruption) -> domain::Corruption {
    match corruption {
        types::Corruption::RevisionOutOfRange => domain::Corruption::RevisionOutOfRange,
        types::Corruption::AttemptLimitZero => domain::Corruption::AttemptLimitZero,
        types::Corruption::AttemptZero => domain::Corruption::AttemptZero,
        types::Corruption::AttemptInPending => domain::Corruption::AttemptInPending,
        types::Corruption::PendingOutsideQueues => domain::Corruption::PendingOutsideQueues,
        types::Corruption::ExecutingInQueue => domain::Corruption::ExecutingInQueue,
        types::Corruption::OwnerAbsent => domain::Corruption::OwnerAbsent,
        types::Corruption::OperationAbsent => domain::Corruption::OperationAbsent,
        types::Corruption::LeaseAbsent => domain::Corruption::LeaseAbsent,
    }
}

const fn fault_back(fault: types::SettingsFault) -> domain::SettingsFault {
    match fault {
        types::SettingsFault::LeaseZero => domain::SettingsFault::LeaseZero,
        types::SettingsFault::AttemptLimitZero => domain::SettingsFault::AttemptLimitZero,
        types::SettingsFault::ReplayRetentionBelowLease => domain::SettingsFault::ReplayRetentionBelowLease,
        types::SettingsFault::FailureRetentionBelowLease => domain::SettingsFault::FailureRetentionBelowLease,
    }
}

const fn grant_back(grant: types::Grant) -> domain::Grant {
    domain::Grant { attempt: grant.attempt, revision: grant.revision, lease_until: grant.lease_until }
}

const fn applied_back(applied: types::Applied) -> domain::Applied {
    domain::Applied { state: state_back(applied.state), revision: applied.revision, lease_until: applied.lease_until }
}

fn outcome_back(outcome: types::Outcome) -> domain::Outcome {
    use domain::Outcome as To;
    use types::Outcome as From;
    match outcome {
        From::Acquired(grant) => To::Acquired(grant_back(grant)),
        From::TakenOver(grant) => To::TakenOver(grant_back(grant)),
        From::ReplayedAcquire(grant) => To::ReplayedAcquire(grant_back(grant)),
        From::ClaimedSameOperation(grant) => To::ClaimedSameOperation(grant_back(grant)),
        From::ExecutingSameOperation(grant) => To::ExecutingSameOperation(grant_back(grant)),
        From::InProgress(at) => To::InProgress(at),
        From::RetryLater(at) => To::RetryLater(at),
        From::RecoveryRequired(recovery) => To::RecoveryRequired(domain::Recovery {
            attempt: recovery.attempt,
            revision: recovery.revision,
            reason: reason_back(recovery.reason),
        }),
        From::CompletedReplay(replay) => To::CompletedReplay(domain::Replay {
            result_digest: replay.result_digest.map(token_back),
            expires_at: replay.expires_at,
        }),
        From::CodecUnreadable => To::CodecUnreadable,
        From::FingerprintMismatch => To::FingerprintMismatch,
        From::OperationConflict => To::OperationConflict,
        From::Missing => To::Missing,
        From::Retryable(retryable) => To::Retryable(domain::Retryable { attempt: retryable.attempt, retry_at: retryable.retry_at }),
        From::Applied(applied) => To::Applied(applied_back(applied)),
        From::AlreadyApplied(applied) => To::AlreadyApplied(applied_back(applied)),
        From::NotOwner => To::NotOwner,
        From::TransitionConflict => To::TransitionConflict,
        From::StaleRevision(revision) => To::StaleRevision(revision),
        From::InvalidState(state) => To::InvalidState(state_back(state)),
        From::Released(revision) => To::Released(revision),
        From::ExecutionStarted => To::ExecutionStarted,
        From::Resolved(revision) => To::Resolved(revision),
        From::CorruptRecord(corruption) => To::CorruptRecord(corruption_back(corruption)),
        From::InvalidSettings(fault) => To::InvalidSettings(fault_back(fault)),
    }
}

const fn statement_back(name: types::StatementName) -> domain::StatementName {
    use domain::StatementName as To;
    use types::StatementName as From;
    match name {
        From::Insert => To::Insert,
        From::Rebirth => To::Rebirth,
        From::Takeover => To::Takeover,
        From::Relet => To::Relet,
        From::Bury => To::Bury,
        From::Start => To::Start,
        From::Renew => To::Renew,
        From::Complete => To::Complete,
        From::Fail => To::Fail,
        From::Abandon => To::Abandon,
        From::Release => To::Release,
        From::ResolveCompleted => To::ResolveCompleted,
        From::ResolveNoEffect => To::ResolveNoEffect,
        From::ResolveForget => To::ResolveForget,
    }
}

pub(super) fn decision_back(decision: types::Decision) -> domain::Decision {
    domain::Decision {
        outcome: outcome_back(decision.outcome),
        write: decision.write.map(|write| domain::Write {
            statement: statement_back(write.statement),
            next: domain::Next {
                state: state_back(write.next.state),
                attempt: write.next.attempt,
                attempt_limit: write.next.attempt_limit,
                revision: write.next.revision,
                policy_revision: write.next.policy_revision,
                lease_until: write.next.lease_until,
                retry_at: write.next.retry_at,
                expires_at: write.next.expires_at,
                reason: reason_back(write.next.reason),
                transition_kind: write.next.transition_kind.map(kind_back),
            },
        }),
    }
}

pub(super) const fn dialect(dialect: statements::Dialect) -> wit::statements::Dialect {
    match dialect {
        statements::Dialect::Sqlite => wit::statements::Dialect::Sqlite,
        statements::Dialect::Postgres => wit::statements::Dialect::Postgres,
        statements::Dialect::Mysql => wit::statements::Dialect::Mysql,
        statements::Dialect::Redis => wit::statements::Dialect::Redis,
    }
}

pub(super) fn statement_back_of(statement: wit::statements::Statement) -> statements::Statement {
    statements::Statement {
        id: statement.id,
        kind: match statement.kind {
            wit::statements::StatementKind::Read => statements::StatementKind::Read,
            wit::statements::StatementKind::Insert => statements::StatementKind::Insert,
            wit::statements::StatementKind::Update => statements::StatementKind::Update,
            wit::statements::StatementKind::Purge => statements::StatementKind::Purge,
        },
        text: statement.text,
        binds: statement.binds,
    }
}

const fn effect(effect: http::Effect) -> wit::http::Effect {
    match effect {
        http::Effect::Success => wit::http::Effect::Success,
        http::Effect::NoEffect => wit::http::Effect::NoEffect,
        http::Effect::Unknown => wit::http::Effect::Unknown,
    }
}

pub(super) const fn effect_back(effect: wit::http::Effect) -> http::Effect {
    match effect {
        wit::http::Effect::Success => http::Effect::Success,
        wit::http::Effect::NoEffect => http::Effect::NoEffect,
        wit::http::Effect::Unknown => http::Effect::Unknown,
    }
}

pub(super) const fn rules(rules: http::Rules) -> wit::http::Rules {
    wit::http::Rules { on_5xx: effect(rules.on_5xx), on_gateway_error: effect(rules.on_gateway_error) }
}

pub(super) const fn failure(failure: http::Failure) -> wit::http::Failure {
    match failure {
        http::Failure::NeverReached => wit::http::Failure::NeverReached,
        http::Failure::Broke => wit::http::Failure::Broke,
        http::Failure::Silent => wit::http::Failure::Silent,
    }
}

pub(super) fn key_back(key: wit::http::Key) -> http::Key {
    match key {
        wit::http::Key::Absent => http::Key::Absent,
        wit::http::Key::Present(key) => http::Key::Present(key),
        wit::http::Key::Refused(fault) => http::Key::Refused(match fault {
            wit::http::KeyFault::Empty => http::KeyFault::Empty,
            wit::http::KeyFault::TooLong => http::KeyFault::TooLong,
            wit::http::KeyFault::NotAscii => http::KeyFault::NotAscii,
            wit::http::KeyFault::Malformed => http::KeyFault::Malformed,
            wit::http::KeyFault::MoreThanOne => http::KeyFault::MoreThanOne,
        }),
    }
}
