//! A question: a call on a record, in sixteen words.
//!
//! | word | what |
//! | --- | --- |
//! | 0 | bytes 0 to 4: family, state, kind of the last transition, call, kind or verdict, each from 1 in the contract's order; bits 40 and up: see [`Flag`] and [`Kind`] |
//! | 1 | now |
//! | 2 to 7 | settings: revision, lease, back-off's base and cap, retention of replays and of failures |
//! | 8 | the record's attempt, and its limit in the high half |
//! | 9 to 12 | the record's revision, lease, retry time, expiry |
//! | 13 | the call's attempt, and the limit of the settings in the high half |
//! | 14, 15 | the call's revision, the extra attempts of a verdict |

use core::slice;

use super::{Numbered, at_place, bit, pair, place, unpack, unpair, when};
use crate::advance::AdvanceArgs;
use crate::call::Call;
use crate::claim::ClaimArgs;
use crate::inspect::InspectArgs;
use crate::record::{ATTEMPT_LIMIT_MAX, Family, OwnerTuple, Record, Settings, Token, Transition};
use crate::release::ReleaseArgs;
use crate::resolve::ResolveArgs;

pub(super) const WORDS: usize = 16;

const CLAIM: u8 = 1;
const ADVANCE: u8 = 2;
const RELEASE: u8 = 3;
const INSPECT: u8 = 4;
const RESOLVE: u8 = 5;

/// Bits of word 0.
struct Flag;

impl Flag {
    const LEASE: u32 = 40;
    const RETRY: u32 = 41;
    const EXPIRY: u32 = 42;
    const REASON_GIVEN: u32 = 43;
    const CODEC: u32 = 44;
    /// The record's codec is among the readable ones.
    const READABLE: u32 = 45;
    const RESULT: u32 = 46;
}

/// Tokens that are compared: three bits of word 0 each. The lowest: the record has one. The second: the call has it, too. The third:
/// the call has another one.
struct Kind;

impl Kind {
    const OWNER: u32 = 47;
    const OPERATION: u32 = 50;
    const FINGERPRINT: u32 = 53;
    const TRANSITION: u32 = 56;
    const DIGEST: u32 = 59;
}

/// Stands for the record's token of a kind.
const SAME: Token = Token::from_words([1, 0, 0, 0]);
/// Stands for any other.
const OTHER: Token = Token::from_words([2, 0, 0, 0]);

/// A question, taken apart. Its tokens are stand-ins.
pub(super) struct Question {
    pub(super) family: Family,
    pub(super) settings: Settings,
    pub(super) before: Option<Record>,
    pub(super) call: Call,
    pub(super) now: u64,
    readable: bool,
}

impl Question {
    #[inline]
    pub(super) fn readable(&self) -> &[Token] {
        if self.readable { slice::from_ref(&SAME) } else { &[] }
    }
}

#[inline]
fn flag(present: bool, at: u32) -> u64 {
    u64::from(present).wrapping_shl(at)
}

#[inline]
fn tokens(kind: u32, record: Option<&Token>, call: Option<&Token>) -> u64 {
    let same = record.is_some() && record == call;
    flag(record.is_some(), kind) | flag(same, kind.wrapping_add(1)) | flag(call.is_some() && !same, kind.wrapping_add(2))
}

/// A call's small numbers, its tokens, and its numbers.
struct Asked<'a> {
    call: u8,
    kind: u8,
    reason_given: bool,
    owner: Option<&'a Token>,
    operation: Option<&'a Token>,
    fingerprint: Option<&'a Token>,
    transition: Option<&'a Token>,
    digest: Option<&'a Token>,
    attempt: u64,
    revision: u64,
    extra_attempts: u64,
}

const NOTHING: Asked<'static> = Asked {
    call: 0,
    kind: 0,
    reason_given: false,
    owner: None,
    operation: None,
    fingerprint: None,
    transition: None,
    digest: None,
    attempt: 0,
    revision: 0,
    extra_attempts: 0,
};

#[inline]
const fn held(tuple: &OwnerTuple) -> Asked<'_> {
    let OwnerTuple { owner, operation, attempt, revision } = tuple;
    Asked { owner: Some(owner), operation: Some(operation), attempt: *attempt, revision: *revision, ..NOTHING }
}

#[inline]
fn asked(call: &Call) -> Asked<'_> {
    match call {
        Call::Claim(ClaimArgs { owner, operation, fingerprint, codec: _ }) => {
            let fingerprint = fingerprint.as_ref();
            Asked { call: CLAIM, owner: Some(owner), operation: Some(operation), fingerprint, ..NOTHING }
        }
        Call::Inspect(InspectArgs { owner, operation, fingerprint }) => {
            let fingerprint = fingerprint.as_ref();
            Asked { call: INSPECT, owner: Some(owner), operation: Some(operation), fingerprint, ..NOTHING }
        }
        Call::Advance(AdvanceArgs { tuple, kind, transition, digest, reason_given }) => {
            let (kind, reason_given) = (kind.number(), *reason_given);
            Asked { call: ADVANCE, kind, reason_given, transition: Some(transition), digest: digest.as_ref(), ..held(tuple) }
        }
        Call::Release(ReleaseArgs { tuple, transition }) => Asked { call: RELEASE, transition: Some(transition), ..held(tuple) },
        Call::Resolve(args) => Asked {
            call: RESOLVE,
            kind: args.verdict.number(),
            transition: Some(&args.transition),
            digest: args.digest.as_ref(),
            attempt: args.attempt,
            revision: args.revision,
            // More than that allows no more.
            extra_attempts: args.extra_attempts.min(ATTEMPT_LIMIT_MAX),
            ..NOTHING
        },
    }
}

/// A call as words. `None`: an attempt or a limit is 2^32 or more.
#[must_use]
#[inline]
pub fn encode(
    family: Family,
    settings: &Settings,
    before: Option<&Record>,
    call: &Call,
    readable_codecs: &[Token],
    now: u64,
) -> Option<[u64; WORDS]> {
    let asked = asked(call);
    let limits = pair(asked.attempt, settings.attempt_limit.min(ATTEMPT_LIMIT_MAX))?;
    let last = before.and_then(|record| record.transition.as_ref());
    let small = u64::from(family.number())
        | u64::from(place(before.map(|record| record.state))).wrapping_shl(8)
        | u64::from(place(last.map(|last| last.kind))).wrapping_shl(16)
        | u64::from(asked.call).wrapping_shl(24)
        | u64::from(asked.kind).wrapping_shl(32)
        | flag(asked.reason_given, Flag::REASON_GIVEN)
        | tokens(Kind::OWNER, before.and_then(|record| record.owner.as_ref()), asked.owner)
        | tokens(Kind::OPERATION, before.and_then(|record| record.operation.as_ref()), asked.operation)
        | tokens(Kind::FINGERPRINT, before.and_then(|record| record.fingerprint.as_ref()), asked.fingerprint)
        | tokens(Kind::TRANSITION, last.map(|last| &last.id), asked.transition)
        | tokens(Kind::DIGEST, last.and_then(|last| last.digest.as_ref()), asked.digest);
    let (present, record) = match before {
        None => (0, [0; 5]),
        Some(record) => {
            let codec = record.codec.as_ref();
            let present = flag(record.lease_until.is_some(), Flag::LEASE)
                | flag(record.retry_at.is_some(), Flag::RETRY)
                | flag(record.expires_at.is_some(), Flag::EXPIRY)
                | flag(codec.is_some(), Flag::CODEC)
                | flag(codec.is_some_and(|codec| readable_codecs.contains(codec)), Flag::READABLE)
                | flag(record.result_digest.is_some(), Flag::RESULT);
            let times = [record.lease_until, record.retry_at, record.expires_at].map(|time| time.unwrap_or(0));
            let [lease, retry, expiry] = times;
            (present, [pair(record.attempt, record.attempt_limit)?, record.revision, lease, retry, expiry])
        }
    };
    let [attempts, revision, lease, retry, expiry] = record;
    Some([
        small | present,
        now,
        settings.revision,
        settings.lease,
        settings.backoff_base,
        settings.backoff_cap,
        settings.replay_retention,
        settings.failure_retention,
        attempts,
        revision,
        lease,
        retry,
        expiry,
        limits,
        asked.revision,
        asked.extra_attempts,
    ])
}

#[inline]
const fn of_record(word: u64, kind: u32) -> Option<Token> {
    if bit(word, kind) { Some(SAME) } else { None }
}

#[inline]
const fn of_call(word: u64, kind: u32) -> Option<Token> {
    match word.wrapping_shr(kind.wrapping_add(1)) & 3 {
        0 => None,
        2 => Some(OTHER),
        _ => Some(SAME),
    }
}

/// `None`: these words are no question.
#[inline]
pub(super) fn decode(words: &[u64; WORDS]) -> Option<Question> {
    let [
        small,
        now,
        revision,
        lease,
        backoff_base,
        backoff_cap,
        replay_retention,
        failure_retention,
        attempts,
        record_revision,
        lease_until,
        retry_at,
        expires_at,
        limits,
        call_revision,
        extra_attempts,
    ] = *words;
    let [family, state, last, call, kind, ..] = unpack(small);
    let (attempt, attempt_limit) = unpair(attempts);
    let (call_attempt, limit) = unpair(limits);
    let settings =
        Settings { revision, lease, attempt_limit: limit, backoff_base, backoff_cap, replay_retention, failure_retention };
    let transition = at_place(last)?.map(|kind| Transition { id: SAME, kind, digest: of_record(small, Kind::DIGEST) });
    let before = at_place(state)?.map(|state| Record {
        state,
        owner: of_record(small, Kind::OWNER),
        operation: of_record(small, Kind::OPERATION),
        attempt,
        attempt_limit,
        revision: record_revision,
        fingerprint: of_record(small, Kind::FINGERPRINT),
        codec: if bit(small, Flag::CODEC) { Some(SAME) } else { None },
        lease_until: when(bit(small, Flag::LEASE), lease_until),
        retry_at: when(bit(small, Flag::RETRY), retry_at),
        expires_at: when(bit(small, Flag::EXPIRY), expires_at),
        transition,
        result_digest: if bit(small, Flag::RESULT) { Some(SAME) } else { None },
    });
    let (owner, operation) = (of_call(small, Kind::OWNER), of_call(small, Kind::OPERATION));
    let (fingerprint, digest) = (of_call(small, Kind::FINGERPRINT), of_call(small, Kind::DIGEST));
    let transition = of_call(small, Kind::TRANSITION);
    let tuple = || Some(OwnerTuple { owner: owner?, operation: operation?, attempt: call_attempt, revision: call_revision });
    let call = match call {
        CLAIM => Call::Claim(ClaimArgs { owner: owner?, operation: operation?, fingerprint, codec: None }),
        INSPECT => Call::Inspect(InspectArgs { owner: owner?, operation: operation?, fingerprint }),
        ADVANCE => Call::Advance(AdvanceArgs {
            tuple: tuple()?,
            kind: at_place(kind)??,
            transition: transition?,
            digest,
            reason_given: bit(small, Flag::REASON_GIVEN),
        }),
        RELEASE => Call::Release(ReleaseArgs { tuple: tuple()?, transition: transition? }),
        RESOLVE => Call::Resolve(ResolveArgs {
            transition: transition?,
            attempt: call_attempt,
            revision: call_revision,
            verdict: at_place(kind)??,
            digest,
            extra_attempts,
        }),
        _ => return None,
    };
    Some(Question { family: at_place(family)??, settings, before, call, now, readable: bit(small, Flag::READABLE) })
}
