//! Random documents for `packed`: well-formed ones drawn from small sets of values, so that every line of the contract is met often,
//! and spoilt ones.
//!
//! Knows the form of a document (section 7 of the contract), no rule. Used by `tests/tests/model.rs`.

use serde_json::{Value, json};

use crate::random::Random;

mod spoilt;

pub use spoilt::spoilt;

const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const PRINTS: [&str; 2] = [
    "0f1e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c4b5a6978",
    "0f1e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c4b5a6979",
];
const DIGESTS: [&str; 2] = [
    "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
    "eddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
];
/// The second is longer than what is compared without a hash.
const OPERATIONS: [&str; 2] = ["op-1", "op-2-which-is-longer-than-thirty-one-bytes"];
const CODECS: [&str; 3] = ["json-v1", "json-v2", ""];
const TRANSITIONS: [&str; 3] = ["t-1", "t-2", "t-3-which-is-longer-than-thirty-one-bytes"];
const STATES: [&str; 6] = ["pending", "claimed", "executing", "completed", "failed-retryable", "abandoned"];
const ADVANCES: [&str; 5] = ["start", "renew", "complete", "fail", "abandon"];
const VERDICTS: [&str; 3] = ["completed", "no-effect", "forget"];
const KINDS: [&str; 9] =
    ["start", "renew", "complete", "fail", "abandon", "release", "resolve-completed", "resolve-no-effect", "resolve-forget"];
const TIME_MAX: u64 = i64::MAX as u64;
const LIMIT_MAX: u64 = u32::MAX as u64;

/// A document that is a request.
#[must_use]
pub fn well_formed(random: &mut Random) -> Value {
    let family = random.of(&["idempotency", "inbox", "outbox", "cleanup"]);
    let now = random.mostly(1_000, 8, &[0, 1, 1 << 53, (1 << 53) + 1, TIME_MAX - 1, TIME_MAX, u64::MAX]);
    let before = if random.once_in(12) { Value::Null } else { row(random, family, now) };
    let call = random.of(&["claim", "claim", "claim", "advance", "advance", "advance", "release", "inspect", "resolve"]);
    let mut args = match call {
        "claim" | "inspect" => json!({
            "owner": random.of(&[A, B]), "operation": random.of(&OPERATIONS), "fingerprint": print(random),
            "codec": maybe(random, &CODECS), "readable-codecs": [random.of(&CODECS), random.of(&CODECS)],
        }),
        "advance" => json!({
            "tuple": tuple(random, &before), "kind": random.of(&ADVANCES), "transition": random.of(&TRANSITIONS),
            "digest": maybe(random, &DIGESTS), "reason": maybe(random, &["WHY", "ATTEMPTS_EXHAUSTED"]),
        }),
        "release" => json!({"tuple": tuple(random, &before), "transition": random.of(&TRANSITIONS)}),
        _ => json!({
            "transition": random.of(&TRANSITIONS), "verdict": random.of(&VERDICTS), "digest": maybe(random, &DIGESTS),
            "attempt": seen(random, &before["attempt"], 6), "revision": seen(random, &before["revision"], 6),
            "extra-attempts": random.of(&[0, 1, 2, LIMIT_MAX, u64::MAX]),
        }),
    };
    args["now"] = json!(now);
    json!({"family": family, "scope": "d1:op:0", "settings": settings(random), "before": before, "call": call, "args": args})
}

fn settings(random: &mut Random) -> Value {
    let lease: u64 = random.mostly(100, 4, &[1, 50, TIME_MAX]);
    let lease = if random.once_in(100) { 0 } else { lease };
    let mut retention =
        || if random.once_in(100) { lease.saturating_sub(1) } else { random.of(&[lease, lease.saturating_add(5), TIME_MAX]) };
    let (replay, failure) = (retention(), retention());
    json!({
        "revision": random.of(&[1, 2]), "lease": lease, "attempt-limit": random.mostly(2, 3, &[1, 3, LIMIT_MAX, u64::MAX, 0]),
        "backoff-base": random.of(&[0, 1, 10, u64::MAX]), "backoff-cap": random.of(&[0, 15, 60, u64::MAX]),
        "replay-retention": replay, "failure-retention": failure,
    })
}

fn row(random: &mut Random, family: &str, now: u64) -> Value {
    let queue = ["outbox", "cleanup"].contains(&family);
    let impossible = if queue { "executing" } else { "pending" };
    let mut state = random.of(&STATES);
    if state == impossible && !random.once_in(10) {
        state = "claimed";
    }
    let held = ["claimed", "executing"].contains(&state);
    let attempt = if (state == "pending") != random.once_in(40) { 0 } else { random.of(&[1, 1, 2, 2, 3, 64, 65, 1_u64 << 40]) };
    let absent = |random: &mut Random, present: Value, times| if random.once_in(times) { Value::Null } else { present };
    let lease = if held != random.once_in(20) { time(random, now) } else { Value::Null };
    let waits = ["pending", "failed-retryable"].contains(&state);
    let retry = if waits == random.once_in(8) { Value::Null } else { time(random, now) };
    let ends = ["completed", "failed-retryable"].contains(&state);
    let expiry = if ends == random.once_in(8) { Value::Null } else { time(random, now) };
    let digest = json!(random.of(&DIGESTS));
    let result = if state == "completed" { absent(random, digest, 8) } else { maybe(random, &DIGESTS) };
    let owner = json!(random.of(&[A, A, B]));
    let operation = json!(random.of(&OPERATIONS));
    let transition = if random.once_in(2) { Value::Null } else { transition(random) };
    json!({
        "scope": "d1:op:0", "state": state, "owner": absent(random, owner, 30), "operation": absent(random, operation, 30),
        "attempt": attempt, "attempt-limit": random.mostly(2, 3, &[1, 3, 100, LIMIT_MAX - 1, LIMIT_MAX, 0]),
        "revision": random.mostly(40, 6, &[1, 41, 1 << 53, TIME_MAX - 1, TIME_MAX, u64::MAX, 0]),
        "fingerprint": print(random), "codec": maybe(random, &CODECS), "policy-revision": random.of(&[1, 2]),
        "lease-until": lease, "retry-at": retry, "expires-at": expiry, "reason": maybe(random, &["OLD", "RELEASED"]),
        "transition": transition, "result-digest": result,
    })
}

fn transition(random: &mut Random) -> Value {
    json!({"id": random.of(&TRANSITIONS), "kind": random.of(&KINDS), "digest": maybe(random, &DIGESTS)})
}

/// The record's tuple as a handle may have it: mostly right.
fn tuple(random: &mut Random, before: &Value) -> Value {
    let owner = if before["owner"].is_null() || random.once_in(10) { json!(random.of(&[A, B])) } else { before["owner"].clone() };
    let operation = if before["operation"].is_null() || random.once_in(10) {
        json!(random.of(&OPERATIONS))
    } else {
        before["operation"].clone()
    };
    let (attempt, revision) = (seen(random, &before["attempt"], 10), seen(random, &before["revision"], 10));
    json!({"owner": owner, "operation": operation, "attempt": attempt, "revision": revision})
}

fn seen(random: &mut Random, stored: &Value, times: usize) -> Value {
    if stored.is_null() || random.once_in(times) { json!(random.of(&[0, 1, 2, 40, 41, u64::MAX])) } else { stored.clone() }
}

fn print(random: &mut Random) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => json!(PRINTS[1]),
        _ => json!(PRINTS[0]),
    }
}

fn maybe(random: &mut Random, choices: &[&str]) -> Value {
    if random.once_in(3) { Value::Null } else { json!(random.of(choices)) }
}

/// A time around the clock's reading, or at the end of the range.
fn time(random: &mut Random, now: u64) -> Value {
    let around = [now.saturating_sub(1), now, now.saturating_add(1), now.saturating_add(60), now.saturating_add(500), 0, TIME_MAX];
    json!(random.of(&around).min(TIME_MAX))
}
