//! One test an outcome of resolve, in the order of the contract, one a verdict, and the boundaries between them.

use alloc::string::ToString;

use super::fixtures::*;
use crate::packed::Call;
use crate::record::{Family, Settings, TransitionKind};
use crate::resolve::Verdict;
use crate::row::Row;

/// Verdict `t-2` on a fixture row, with a digest and five more tries.
fn call(verdict: Verdict) -> Call {
    on(1, 40, verdict)
}

fn on(attempt: u64, revision: u64, verdict: Verdict) -> Call {
    Call::Resolve { transition: "t-2".to_string(), attempt, revision, verdict, digest: text(DIGEST), extra_attempts: 5 }
}

/// Verdict `t-1`, which the rows of these tests have seen, from somebody who looked at an earlier revision.
fn repeated(verdict: Verdict, digest: Option<&str>) -> Call {
    let digest = digest.map(ToString::to_string);
    Call::Resolve { transition: "t-1".to_string(), attempt: 9, revision: 9, verdict, digest, extra_attempts: 0 }
}

#[test]
fn missing() {
    for family in Family::ALL {
        check(family, ABSENT, call(Verdict::Completed), "missing");
    }
}

#[test]
fn already_applied() {
    let seen = |row, kind, digest| Row { transition: last(kind, digest), ..row };
    let completed = seen(completed(), TransitionKind::ResolveCompleted, Some(DIGEST));
    check(
        Idempotency,
        completed,
        repeated(Verdict::Completed, Some(DIGEST)),
        "already-applied state=completed revision=40 lease-until=-",
    );
    let failed = "already-applied state=failed-retryable revision=40 lease-until=-";
    for digest in [None, Some(DIGEST)] {
        let row = seen(super::fixtures::failed(), TransitionKind::ResolveNoEffect, None);
        check(Outbox, row, repeated(Verdict::NoEffect, digest), failed);
        let row = Row { expires_at: Some(1), ..seen(super::fixtures::failed(), TransitionKind::ResolveForget, None) };
        check(Inbox, row, repeated(Verdict::Forget, digest), failed);
    }
}

#[test]
fn transition_conflict() {
    let completed = Row { transition: last(TransitionKind::ResolveCompleted, Some(DIGEST)), ..completed() };
    check(Idempotency, completed.clone(), repeated(Verdict::Completed, Some(OTHER_DIGEST)), "transition-conflict");
    check(Idempotency, completed.clone(), repeated(Verdict::Completed, None), "transition-conflict");
    check(Idempotency, completed, repeated(Verdict::NoEffect, Some(DIGEST)), "transition-conflict");
    check(Cleanup, abandoned(), repeated(Verdict::Forget, None), "transition-conflict");
    check(Idempotency, super::fixtures::completed(), repeated(Verdict::Completed, Some(DIGEST)), "transition-conflict");
}

#[test]
fn invalid_state() {
    for row in [claimed(), completed(), failed()] {
        for family in Family::ALL {
            let expected = ["invalid-state state=", row.state.name()].concat();
            check(family, row.clone(), on(9, 9, Verdict::Forget), &expected);
        }
    }
    check(Idempotency, executing(), call(Verdict::Completed), "invalid-state state=executing");
    check(Outbox, pending(), call(Verdict::NoEffect), "invalid-state state=pending");
}

#[test]
fn stale_revision() {
    for verdict in Verdict::ALL {
        check(Idempotency, abandoned(), on(2, 40, verdict), "stale-revision revision=40");
        check(Outbox, abandoned(), on(1, 41, verdict), "stale-revision revision=40");
        check(Inbox, Row { expires_at: Some(1), ..abandoned() }, on(1, 39, verdict), "stale-revision revision=40");
    }
}

#[test]
fn resolved_completed() {
    for family in Family::ALL {
        let told = "resolved revision=41 | resolve-completed: state=completed revision=41";
        let rest = "expires-at=6000 reason=RESOLVED_COMPLETED transition=t-2/resolve-completed/d result-digest=d";
        check(family, abandoned(), call(Verdict::Completed), &[told, rest].join(" "));
        check(family, full(abandoned()), call(Verdict::Completed), &[told, "lease-until=- retry-at=-", rest].join(" "));
    }
    let Call::Resolve { transition, attempt, revision, verdict, extra_attempts, .. } = call(Verdict::Completed) else {
        unreachable!()
    };
    let without = Call::Resolve { transition, attempt, revision, verdict, digest: None, extra_attempts };
    let told = "resolved revision=41 | resolve-completed: state=completed revision=41 lease-until=- retry-at=- expires-at=6000 \
                reason=RESOLVED_COMPLETED transition=t-2/resolve-completed result-digest=-";
    check(Inbox, full(abandoned()), without, told);
}

#[test]
fn resolved_no_effect() {
    let told = |limit: &str, lease: &str, expiry: &str| {
        [
            "resolved revision=41 | resolve-no-effect: state=failed-retryable",
            limit,
            " revision=41",
            lease,
            " retry-at=1000",
            expiry,
            " reason=RESOLVED_NO_EFFECT transition=t-2/resolve-no-effect",
        ]
        .concat()
    };
    for family in [Idempotency, Inbox] {
        check(family, abandoned(), call(Verdict::NoEffect), &told(" attempt=1/6", "", " expires-at=3000"));
        check(family, full(abandoned()), call(Verdict::NoEffect), &told(" attempt=1/6", " lease-until=-", " expires-at=3000"));
        check(family, Row { attempt_limit: 6, ..abandoned() }, call(Verdict::NoEffect), &told("", "", " expires-at=3000"));
        check(family, Row { attempt_limit: 7, ..abandoned() }, call(Verdict::NoEffect), &told("", "", " expires-at=3000"));
    }
    for family in [Outbox, Cleanup] {
        check(family, abandoned(), call(Verdict::NoEffect), &told(" attempt=1/6", "", ""));
        check(family, full(abandoned()), call(Verdict::NoEffect), &told(" attempt=1/6", " lease-until=-", " expires-at=-"));
    }
}

#[test]
fn the_granted_limit_saturates() {
    let granted = |extra_attempts| Call::Resolve {
        transition: "t-2".to_string(),
        attempt: 3,
        revision: 40,
        verdict: Verdict::NoEffect,
        digest: None,
        extra_attempts,
    };
    let told = "resolved revision=41 | resolve-no-effect: state=failed-retryable attempt=3/4294967295 revision=41 retry-at=1000 \
                reason=RESOLVED_NO_EFFECT transition=t-2/resolve-no-effect";
    for extra_attempts in [4_294_967_292, 4_294_967_295, u64::MAX] {
        check(Outbox, Row { attempt: 3, ..abandoned() }, granted(extra_attempts), told);
    }
}

#[test]
fn resolved_forget() {
    for family in Family::ALL {
        let told = "resolved revision=41 | resolve-forget: state=failed-retryable revision=41";
        let rest = "retry-at=1000 expires-at=1000 reason=RESOLVED_FORGOTTEN transition=t-2/resolve-forget";
        check(family, abandoned(), call(Verdict::Forget), &[told, rest].join(" "));
        check(family, full(abandoned()), call(Verdict::Forget), &[told, "lease-until=-", rest].join(" "));
    }
}

#[test]
fn times_saturate() {
    let told = "resolved revision=41 | resolve-forget: state=failed-retryable revision=41 retry-at=9223372036854775807 \
                expires-at=9223372036854775807 reason=RESOLVED_FORGOTTEN transition=t-2/resolve-forget";
    check_under(SETTINGS, u64::MAX, Idempotency, abandoned(), call(Verdict::Forget), told);
}

#[test]
fn corrupt_record() {
    check(
        Idempotency,
        Row { attempt: 0, ..abandoned() },
        call(Verdict::Forget),
        "corrupt-record: attempt is 0 in a state other than pending",
    );
}

#[test]
fn invalid_settings() {
    let none = Settings { attempt_limit: 0, ..SETTINGS };
    check_under(
        none,
        NOW,
        Idempotency,
        abandoned(),
        call(Verdict::Forget),
        "invalid-settings: attempt-limit is 0: give at least 1",
    );
}
