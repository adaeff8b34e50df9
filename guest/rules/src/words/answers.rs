//! An answer: a decision in eleven words.
//!
//! | word | what |
//! | --- | --- |
//! | 0 | byte 0: the outcome, from 1 in the order of the variant in `wit/types.wit`; byte 1: the state, reason, corruption or fault that it carries, from 1; byte 2: presences of its second and third number; byte 3: the statement, from 1, 0 for no write; bytes 4 to 6: the write's state, reason and transition kind; byte 7: presences of its lease, retry time and expiry |
//! | 1 to 3 | the outcome's numbers in its record's order; a lease or an expiry is the third |
//! | 4 to 10 | the write's attempt, limit, revision, policy revision, lease, retry time, expiry |
//!
//! The digest of `completed-replay` is the record's, and stays with the host.

use super::{Numbered, at_place, bit, pack, place, unpack, when};
use crate::outcome::{Applied, Decision, Grant, Next, Outcome, Recovery, Replay, Retryable, Write};
use crate::record::{Record, Token};

pub(super) const WORDS: usize = 11;

/// An outcome's parts, as they stand in an answer.
#[derive(Clone, Copy)]
struct Parts {
    kind: u8,
    small: u8,
    numbers: [u64; 3],
    /// Of the second and the third number.
    present: [bool; 2],
}

#[inline]
fn parts(outcome: &Outcome) -> Parts {
    let small = |kind, small| Parts { kind, small, numbers: [0; 3], present: [false; 2] };
    let bare = |kind| small(kind, 0);
    let one = |kind, number| Parts { numbers: [number, 0, 0], ..bare(kind) };
    let grant = |kind, held: &Grant| Parts { numbers: [held.attempt, held.revision, held.lease_until], ..bare(kind) };
    let standing = |kind, applied: &Applied| Parts {
        numbers: [applied.revision, 0, applied.lease_until.unwrap_or(0)],
        present: [false, applied.lease_until.is_some()],
        ..small(kind, applied.state.number())
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
            Parts { numbers: [recovery.attempt, recovery.revision, 0], ..small(8, recovery.reason.number()) }
        }
        Outcome::CompletedReplay(replay) => {
            Parts { numbers: [0, 0, replay.expires_at.unwrap_or(0)], present: [false, replay.expires_at.is_some()], ..bare(9) }
        }
        Outcome::CodecUnreadable => bare(10),
        Outcome::FingerprintMismatch => bare(11),
        Outcome::OperationConflict => bare(12),
        Outcome::Missing => bare(13),
        Outcome::Retryable(retryable) => Parts {
            numbers: [retryable.attempt, retryable.retry_at.unwrap_or(0), 0],
            present: [retryable.retry_at.is_some(), false],
            ..bare(14)
        },
        Outcome::Applied(applied) => standing(15, applied),
        Outcome::AlreadyApplied(applied) => standing(16, applied),
        Outcome::NotOwner => bare(17),
        Outcome::TransitionConflict => bare(18),
        Outcome::StaleRevision(revision) => one(19, *revision),
        Outcome::InvalidState(state) => small(20, state.number()),
        Outcome::Released(revision) => one(21, *revision),
        Outcome::ExecutionStarted => bare(22),
        Outcome::Resolved(revision) => one(23, *revision),
        Outcome::CorruptRecord(corruption) => small(24, corruption.number()),
        Outcome::InvalidSettings(fault) => small(25, fault.number()),
    }
}

#[inline]
fn outcome(parts: &Parts, result_digest: Option<Token>) -> Option<Outcome> {
    let [first, second, third] = parts.numbers;
    let [second_present, third_present] = parts.present;
    let held = Grant { attempt: first, revision: second, lease_until: third };
    let state = || at_place(parts.small).flatten();
    let done = || Some(Applied { state: state()?, revision: first, lease_until: when(third_present, third) });
    Some(match parts.kind {
        1 => Outcome::Acquired(held),
        2 => Outcome::TakenOver(held),
        3 => Outcome::ReplayedAcquire(held),
        4 => Outcome::ClaimedSameOperation(held),
        5 => Outcome::ExecutingSameOperation(held),
        6 => Outcome::InProgress(first),
        7 => Outcome::RetryLater(first),
        8 => Outcome::RecoveryRequired(Recovery { attempt: first, revision: second, reason: at_place(parts.small)?? }),
        9 => Outcome::CompletedReplay(Replay { result_digest, expires_at: when(third_present, third) }),
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
        24 => Outcome::CorruptRecord(at_place(parts.small)??),
        25 => Outcome::InvalidSettings(at_place(parts.small)??),
        _ => return None,
    })
}

#[inline]
fn bits<const N: usize>(present: [bool; N]) -> u8 {
    present.into_iter().rev().fold(0, |bits, present| (bits << 1) | u8::from(present))
}

#[inline]
pub(super) fn encode(decision: &Decision) -> [u64; WORDS] {
    let Parts { kind, small, numbers: [first, second, third], present } = parts(&decision.outcome);
    let about = bits(present);
    let Some(Write { statement, next }) = &decision.write else {
        return [pack([kind, small, about, 0, 0, 0, 0, 0]), first, second, third, 0, 0, 0, 0, 0, 0, 0];
    };
    let head = pack([
        kind,
        small,
        about,
        statement.number(),
        next.state.number(),
        next.reason.number(),
        place(next.transition_kind),
        bits([next.lease_until.is_some(), next.retry_at.is_some(), next.expires_at.is_some()]),
    ]);
    let [lease, retry, expiry] = [next.lease_until, next.retry_at, next.expires_at].map(|time| time.unwrap_or(0));
    [head, first, second, third, next.attempt, next.attempt_limit, next.revision, next.policy_revision, lease, retry, expiry]
}

/// The decision that an answer tells, on the record that was asked about; `None` where it is none.
#[must_use]
#[inline]
pub fn decode(words: &[u64; WORDS], before: Option<&Record>) -> Option<Decision> {
    let [head, first, second, third, attempt, attempt_limit, revision, policy_revision, lease, retry, expiry] = *words;
    let [kind, small, about, statement, state, reason, transition, times] = unpack(head);
    let (about, times) = (u64::from(about), u64::from(times));
    let parts = Parts { kind, small, numbers: [first, second, third], present: [bit(about, 0), bit(about, 1)] };
    let write = match at_place(statement)? {
        None => None,
        Some(statement) => Some(Write {
            statement,
            next: Next {
                state: at_place(state)??,
                attempt,
                attempt_limit,
                revision,
                policy_revision,
                lease_until: when(bit(times, 0), lease),
                retry_at: when(bit(times, 1), retry),
                expires_at: when(bit(times, 2), expiry),
                reason: at_place(reason)??,
                transition_kind: at_place(transition)?,
            },
        }),
    };
    Some(Decision { outcome: outcome(&parts, before.and_then(|record| record.result_digest))?, write })
}
