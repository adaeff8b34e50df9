//! A call as words: what it is, four tokens, three numbers.

use super::{NO_TOKEN, at_place, pack, place, token_words, unpack, when};
use crate::advance::{AdvanceArgs, AdvanceKind};
use crate::call::Call;
use crate::claim::ClaimArgs;
use crate::inspect::InspectArgs;
use crate::record::{OwnerTuple, Token};
use crate::release::ReleaseArgs;
use crate::resolve::{ResolveArgs, Verdict};

pub(super) const CALL_WORDS: usize = 20;

const CLAIM: u8 = 1;
const ADVANCE: u8 = 2;
const RELEASE: u8 = 3;
const INSPECT: u8 = 4;
const RESOLVE: u8 = 5;

/// Byte 0 of word 0: which call. Byte 1: kind or verdict. Bytes 2 to 4: presence of the third and fourth token, and of a reason.
#[inline]
fn words(small: [u8; 5], tokens: [[u64; 4]; 4], numbers: [u64; 3]) -> [u64; CALL_WORDS] {
    let [call, kind, third, fourth, reason] = small;
    let [[a0, a1, a2, a3], [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]] = tokens;
    let [n0, n1, n2] = numbers;
    let first = pack([call, kind, third, fourth, reason, 0, 0, 0]);
    [first, a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, n0, n1, n2]
}

#[inline]
pub(super) fn encode(call: &Call) -> [u64; CALL_WORDS] {
    match call {
        Call::Claim(args) => words(
            [CLAIM, 0, u8::from(args.fingerprint.is_some()), u8::from(args.codec.is_some()), 0],
            [args.owner.words(), args.operation.words(), token_words(args.fingerprint), token_words(args.codec)],
            [0; 3],
        ),
        Call::Advance(args) => words(
            [ADVANCE, place(&AdvanceKind::ALL, Some(&args.kind)), 1, u8::from(args.digest.is_some()), u8::from(args.reason_given)],
            [args.tuple.owner.words(), args.tuple.operation.words(), args.transition.words(), token_words(args.digest)],
            [args.tuple.attempt, args.tuple.revision, 0],
        ),
        Call::Release(args) => words(
            [RELEASE, 0, 1, 0, 0],
            [args.tuple.owner.words(), args.tuple.operation.words(), args.transition.words(), NO_TOKEN],
            [args.tuple.attempt, args.tuple.revision, 0],
        ),
        Call::Inspect(args) => words(
            [INSPECT, 0, u8::from(args.fingerprint.is_some()), 0, 0],
            [args.owner.words(), args.operation.words(), token_words(args.fingerprint), NO_TOKEN],
            [0; 3],
        ),
        Call::Resolve(args) => words(
            [RESOLVE, place(&Verdict::ALL, Some(&args.verdict)), 1, u8::from(args.digest.is_some()), 0],
            [NO_TOKEN, NO_TOKEN, args.transition.words(), token_words(args.digest)],
            [args.attempt, args.revision, args.extra_attempts],
        ),
    }
}

/// `None`: these words are no call.
#[inline]
pub(super) fn decode(given: &[u64; CALL_WORDS]) -> Option<Call> {
    let [first, a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, n0, n1, n2] = *given;
    let [call, kind, third, fourth, reason, ..] = unpack(first);
    let (one, two) = (Token::from_words([a0, a1, a2, a3]), Token::from_words([b0, b1, b2, b3]));
    let (three, four) = (Token::from_words([c0, c1, c2, c3]), Token::from_words([d0, d1, d2, d3]));
    let (maybe_three, maybe_four) = (when(third == 1, three), when(fourth == 1, four));
    let tuple = OwnerTuple { owner: one, operation: two, attempt: n0, revision: n1 };
    Some(match call {
        CLAIM => Call::Claim(ClaimArgs { owner: one, operation: two, fingerprint: maybe_three, codec: maybe_four }),
        ADVANCE => Call::Advance(AdvanceArgs {
            tuple,
            kind: at_place(&AdvanceKind::ALL, kind)??,
            transition: three,
            digest: maybe_four,
            reason_given: reason == 1,
        }),
        RELEASE => Call::Release(ReleaseArgs { tuple, transition: three }),
        INSPECT => Call::Inspect(InspectArgs { owner: one, operation: two, fingerprint: maybe_three }),
        RESOLVE => Call::Resolve(ResolveArgs {
            transition: three,
            attempt: n0,
            revision: n1,
            verdict: at_place(&Verdict::ALL, kind)??,
            digest: maybe_four,
            extra_attempts: n2,
        }),
        _ => return None,
    })
}
