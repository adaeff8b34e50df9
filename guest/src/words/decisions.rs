//! A decision as words: the outcome with three numbers and a digest, the write with seven numbers.

use super::{at_place, bit, bits, pack, place, token_words, unpack, when};
use crate::outcome::{Applied, Decision, Grant, Next, Outcome, Recovery, Replay, Retryable, StatementName, Write};
use crate::record::{Corruption, Reason, SettingsFault, State, Token, TransitionKind};

pub(super) const DECISION_WORDS: usize = 16;

const REASONS: [Reason; 10] = [
    Reason::AsStored,
    Reason::AsGiven,
    Reason::None,
    Reason::AttemptsExhausted,
    Reason::ExecutionLeaseExpired,
    Reason::EffectUnknown,
    Reason::Released,
    Reason::ResolvedCompleted,
    Reason::ResolvedNoEffect,
    Reason::ResolvedForgotten,
];
const CORRUPTIONS: [Corruption; 9] = [
    Corruption::RevisionOutOfRange,
    Corruption::AttemptLimitZero,
    Corruption::AttemptZero,
    Corruption::AttemptInPending,
    Corruption::PendingOutsideQueues,
    Corruption::ExecutingInQueue,
    Corruption::OwnerAbsent,
    Corruption::OperationAbsent,
    Corruption::LeaseAbsent,
];
const FAULTS: [SettingsFault; 4] = [
    SettingsFault::LeaseZero,
    SettingsFault::AttemptLimitZero,
    SettingsFault::ReplayRetentionBelowLease,
    SettingsFault::FailureRetentionBelowLease,
];

/// An outcome in parts: its number (in the order of the variant in `wit/types.wit`, from 1), a small number that it carries,
/// three numbers, whether the second and the third are present, and a digest.
struct Parts {
    kind: u8,
    small: u8,
    numbers: [u64; 3],
    present: [bool; 2],
    digest: Option<Token>,
}

#[inline]
fn parts(outcome: &Outcome) -> Parts {
    let bare = |kind| Parts { kind, small: 0, numbers: [0; 3], present: [false; 2], digest: None };
    let one = |kind, number| Parts { numbers: [number, 0, 0], ..bare(kind) };
    let grant = |kind, grant: &Grant| Parts { numbers: [grant.attempt, grant.revision, grant.lease_until], ..bare(kind) };
    let applied = |kind, applied: &Applied| Parts {
        small: place(&State::ALL, Some(&applied.state)),
        numbers: [applied.revision, 0, applied.lease_until.unwrap_or(0)],
        present: [false, applied.lease_until.is_some()],
        ..bare(kind)
    };
    match outcome {
        Outcome::Acquired(held) => grant(1, held),
        Outcome::TakenOver(held) => grant(2, held),
        Outcome::ReplayedAcquire(held) => grant(3, held),
        Outcome::ClaimedSameOperation(held) => grant(4, held),
        Outcome::ExecutingSameOperation(held) => grant(5, held),
        Outcome::InProgress(at) => one(6, *at),
        Outcome::RetryLater(at) => one(7, *at),
        Outcome::RecoveryRequired(recovery) => {
            Parts { small: place(&REASONS, Some(&recovery.reason)), numbers: [recovery.attempt, recovery.revision, 0], ..bare(8) }
        }
        Outcome::CompletedReplay(replay) => Parts {
            numbers: [0, 0, replay.expires_at.unwrap_or(0)],
            present: [false, replay.expires_at.is_some()],
            digest: replay.result_digest,
            ..bare(9)
        },
        Outcome::CodecUnreadable => bare(10),
        Outcome::FingerprintMismatch => bare(11),
        Outcome::OperationConflict => bare(12),
        Outcome::Missing => bare(13),
        Outcome::Retryable(retryable) => Parts {
            numbers: [retryable.attempt, retryable.retry_at.unwrap_or(0), 0],
            present: [retryable.retry_at.is_some(), false],
            ..bare(14)
        },
        Outcome::Applied(done) => applied(15, done),
        Outcome::AlreadyApplied(done) => applied(16, done),
        Outcome::NotOwner => bare(17),
        Outcome::TransitionConflict => bare(18),
        Outcome::StaleRevision(revision) => one(19, *revision),
        Outcome::InvalidState(state) => Parts { small: place(&State::ALL, Some(state)), ..bare(20) },
        Outcome::Released(revision) => one(21, *revision),
        Outcome::ExecutionStarted => bare(22),
        Outcome::Resolved(revision) => one(23, *revision),
        Outcome::CorruptRecord(corruption) => Parts { small: place(&CORRUPTIONS, Some(corruption)), ..bare(24) },
        Outcome::InvalidSettings(fault) => Parts { small: place(&FAULTS, Some(fault)), ..bare(25) },
    }
}

#[inline]
fn outcome(parts: &Parts) -> Option<Outcome> {
    let [first, second, third] = parts.numbers;
    let [second_present, third_present] = parts.present;
    let held = Grant { attempt: first, revision: second, lease_until: third };
    let state = || at_place(&State::ALL, parts.small).flatten();
    let done = || Some(Applied { state: state()?, revision: first, lease_until: when(third_present, third) });
    Some(match parts.kind {
        1 => Outcome::Acquired(held),
        2 => Outcome::TakenOver(held),
        3 => Outcome::ReplayedAcquire(held),
        4 => Outcome::ClaimedSameOperation(held),
        5 => Outcome::ExecutingSameOperation(held),
        6 => Outcome::InProgress(first),
        7 => Outcome::RetryLater(first),
        8 => Outcome::RecoveryRequired(Recovery { attempt: first, revision: second, reason: at_place(&REASONS, parts.small)?? }),
        9 => Outcome::CompletedReplay(Replay { result_digest: parts.digest, expires_at: when(third_present, third) }),
        10 => Outcome::CodecUnreadable,
        11 => Outcome::FingerprintMismatch,
        12 => Outcome::OperationConflict,
        13 => Outcome::Missing,
        14 => Outcome::Retryable(Retryable { attempt: first, retry_at: when(second_present, second) }),
        15 => Outcome::Applied(done()?),
        16 => Outcome::AlreadyApplied(done()?),
        17 => Outcome::NotOwner,
        18 => Outcome::TransitionConflict,
        19 => Outcome::StaleRevision(first),
        20 => Outcome::InvalidState(state()?),
        21 => Outcome::Released(first),
        22 => Outcome::ExecutionStarted,
        23 => Outcome::Resolved(first),
        24 => Outcome::CorruptRecord(at_place(&CORRUPTIONS, parts.small)??),
        25 => Outcome::InvalidSettings(at_place(&FAULTS, parts.small)??),
        _ => return None,
    })
}

/// Word 0: the outcome's number, its small number, presences; statement, state, reason and transition kind of the write, its presences.
#[inline]
pub(super) fn encode(decision: &Decision) -> [u64; DECISION_WORDS] {
    let parts = parts(&decision.outcome);
    let [second, third] = parts.present;
    let about = u8::try_from(bits([second, third, parts.digest.is_some()])).unwrap_or(0);
    let [d0, d1, d2, d3] = token_words(parts.digest);
    let [n0, n1, n2] = parts.numbers;
    let Some(write) = &decision.write else {
        return [pack([parts.kind, parts.small, about, 0, 0, 0, 0, 0]), n0, n1, n2, d0, d1, d2, d3, 0, 0, 0, 0, 0, 0, 0, 0];
    };
    let next = &write.next;
    let times = bits([next.lease_until.is_some(), next.retry_at.is_some(), next.expires_at.is_some()]);
    let first = pack([
        parts.kind,
        parts.small,
        about,
        place(&StatementName::ALL, Some(&write.statement)),
        place(&State::ALL, Some(&next.state)),
        place(&REASONS, Some(&next.reason)),
        place(&TransitionKind::ALL, next.transition_kind.as_ref()),
        u8::try_from(times).unwrap_or(0),
    ]);
    [
        first,
        n0,
        n1,
        n2,
        d0,
        d1,
        d2,
        d3,
        next.attempt,
        next.attempt_limit,
        next.revision,
        next.policy_revision,
        next.lease_until.unwrap_or(0),
        next.retry_at.unwrap_or(0),
        next.expires_at.unwrap_or(0),
        0,
    ]
}

/// `None`: these words are no decision.
#[inline]
pub(super) fn decode(words: &[u64; DECISION_WORDS]) -> Option<Decision> {
    let [first, n0, n1, n2, d0, d1, d2, d3, attempt, attempt_limit, revision, policy_revision, lease, retry, expires, _] = *words;
    let [kind, small, about, statement, state, reason, transition, times] = unpack(first);
    let (about, times) = (u64::from(about), u64::from(times));
    let parts = Parts {
        kind,
        small,
        numbers: [n0, n1, n2],
        present: [bit(about, 0), bit(about, 1)],
        digest: when(bit(about, 2), Token::from_words([d0, d1, d2, d3])),
    };
    let write = match at_place(&StatementName::ALL, statement)? {
        None => None,
        Some(statement) => Some(Write {
            statement,
            next: Next {
                state: at_place(&State::ALL, state)??,
                attempt,
                attempt_limit,
                revision,
                policy_revision,
                lease_until: when(bit(times, 0), lease),
                retry_at: when(bit(times, 1), retry),
                expires_at: when(bit(times, 2), expires),
                reason: at_place(&REASONS, reason)??,
                transition_kind: at_place(&TransitionKind::ALL, transition)?,
            },
        }),
    };
    Some(Decision { outcome: outcome(&parts)?, write })
}
