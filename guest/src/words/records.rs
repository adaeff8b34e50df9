//! A record as words.

use super::{NO_TOKEN, at_place, bit, bits, pack, place, token_words, unpack, when};
use crate::record::{Record, State, Token, Transition, TransitionKind};

pub(super) const RECORD_WORDS: usize = 36;

/// Word 0: state, transition kind. Word 1: presences. A record that is absent has no state.
#[inline]
pub(super) fn encode(record: Option<&Record>) -> [u64; RECORD_WORDS] {
    let Some(record) = record else {
        return [0; RECORD_WORDS];
    };
    let transition = record.transition;
    let kind = transition.map(|last| last.kind);
    let small = pack([place(&State::ALL, Some(&record.state)), place(&TransitionKind::ALL, kind.as_ref()), 0, 0, 0, 0, 0, 0]);
    let present = bits([
        record.owner.is_some(),
        record.operation.is_some(),
        record.fingerprint.is_some(),
        record.codec.is_some(),
        record.lease_until.is_some(),
        record.retry_at.is_some(),
        record.expires_at.is_some(),
        transition.is_some_and(|last| last.digest.is_some()),
        record.result_digest.is_some(),
    ]);
    let [o0, o1, o2, o3] = token_words(record.owner);
    let [p0, p1, p2, p3] = token_words(record.operation);
    let [f0, f1, f2, f3] = token_words(record.fingerprint);
    let [c0, c1, c2, c3] = token_words(record.codec);
    let [t0, t1, t2, t3] = transition.map_or(NO_TOKEN, |last| last.id.words());
    let [d0, d1, d2, d3] = token_words(transition.and_then(|last| last.digest));
    let [r0, r1, r2, r3] = token_words(record.result_digest);
    [
        small,
        present,
        record.attempt,
        record.attempt_limit,
        record.revision,
        record.lease_until.unwrap_or(0),
        record.retry_at.unwrap_or(0),
        record.expires_at.unwrap_or(0),
        o0,
        o1,
        o2,
        o3,
        p0,
        p1,
        p2,
        p3,
        f0,
        f1,
        f2,
        f3,
        c0,
        c1,
        c2,
        c3,
        t0,
        t1,
        t2,
        t3,
        d0,
        d1,
        d2,
        d3,
        r0,
        r1,
        r2,
        r3,
    ]
}

/// The outer `None`: these words are no record.
#[inline]
pub(super) fn decode(words: &[u64; RECORD_WORDS]) -> Option<Option<Record>> {
    let [
        small,
        present,
        attempt,
        attempt_limit,
        revision,
        lease,
        retry,
        expires,
        o0,
        o1,
        o2,
        o3,
        p0,
        p1,
        p2,
        p3,
        f0,
        f1,
        f2,
        f3,
        c0,
        c1,
        c2,
        c3,
        t0,
        t1,
        t2,
        t3,
        d0,
        d1,
        d2,
        d3,
        r0,
        r1,
        r2,
        r3,
    ] = *words;
    let [state, kind, ..] = unpack(small);
    let Some(state) = at_place(&State::ALL, state)? else {
        return Some(None);
    };
    let token = |at, words| when(bit(present, at), Token::from_words(words));
    let transition = at_place(&TransitionKind::ALL, kind)?.map(|kind| Transition {
        id: Token::from_words([t0, t1, t2, t3]),
        kind,
        digest: token(7, [d0, d1, d2, d3]),
    });
    Some(Some(Record {
        state,
        owner: token(0, [o0, o1, o2, o3]),
        operation: token(1, [p0, p1, p2, p3]),
        attempt,
        attempt_limit,
        revision,
        fingerprint: token(2, [f0, f1, f2, f3]),
        codec: token(3, [c0, c1, c2, c3]),
        lease_until: when(bit(present, 4), lease),
        retry_at: when(bit(present, 5), retry),
        expires_at: when(bit(present, 6), expires),
        transition,
        result_digest: token(8, [r0, r1, r2, r3]),
    }))
}
