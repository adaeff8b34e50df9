//! One test an outcome of advance, in the order of the contract, one a kind, and the boundaries between them.

use alloc::string::{String, ToString};

use super::fixtures::*;
use crate::advance::AdvanceKind;
use crate::packed::{Call, Tuple};
use crate::record::{Family, Settings, TransitionKind};
use crate::row::Row;

/// A's transition `t-2`, with a digest and a reason.
fn call(kind: AdvanceKind) -> Call {
    Call::Advance { tuple: tuple(), kind, transition: "t-2".to_string(), digest: text(OTHER_DIGEST), reason: text("WHY") }
}

/// A's transition `t-2`, without digest and reason.
fn bare(kind: AdvanceKind) -> Call {
    Call::Advance { tuple: tuple(), kind, transition: "t-2".to_string(), digest: None, reason: None }
}

/// A's transition `t-1`: the one that the fixture rows have seen.
fn repeated(kind: AdvanceKind, digest: Option<&str>) -> Call {
    Call::Advance { tuple: tuple(), kind, transition: "t-1".to_string(), digest: digest.map(ToString::to_string), reason: None }
}

fn from(given: Tuple) -> Call {
    Call::Advance { tuple: given, kind: AdvanceKind::Renew, transition: "t-1".to_string(), digest: None, reason: None }
}

/// Where a queue's delivery or the others' execution stands.
fn under_way(family: Family) -> Row {
    if family.is_queue() { claimed() } else { executing() }
}

#[test]
fn missing() {
    for family in Family::ALL {
        check(family, ABSENT, call(AdvanceKind::Complete), "missing");
    }
}

#[test]
fn not_owner() {
    for row in [claimed(), executing(), completed(), failed(), abandoned()] {
        check(Idempotency, row.clone(), from(Tuple { owner: B.to_string(), ..tuple() }), "not-owner");
        check(Inbox, row.clone(), from(Tuple { attempt: 2, ..tuple() }), "not-owner");
        check(
            Idempotency,
            row,
            from(Tuple { owner: B.to_string(), operation: "op-2".to_string(), attempt: 1, revision: 9 }),
            "not-owner",
        );
    }
    check(Outbox, Row { owner: None, ..failed() }, call(AdvanceKind::Renew), "not-owner");
    check(Outbox, pending(), from(Tuple { attempt: 0, ..tuple() }), "not-owner");
}

#[test]
fn operation_conflict() {
    let other = Tuple { operation: "op-2".to_string(), revision: 9, ..tuple() };
    check(Idempotency, executing(), from(other.clone()), "operation-conflict");
    check(Cleanup, Row { operation: None, ..failed() }, from(other), "operation-conflict");
}

#[test]
fn already_applied() {
    let stale = |call| match call {
        Call::Advance { tuple, kind, transition, digest, reason } => {
            Call::Advance { tuple: Tuple { revision: 39, ..tuple }, kind, transition, digest, reason }
        }
        Call::Claim { .. } | Call::Release { .. } | Call::Inspect { .. } | Call::Resolve { .. } => unreachable!(),
    };
    let completed_as = "already-applied state=completed revision=40 lease-until=-";
    check(Idempotency, completed(), repeated(AdvanceKind::Complete, Some(DIGEST)), completed_as);
    check(Outbox, completed(), stale(repeated(AdvanceKind::Complete, Some(DIGEST))), completed_as);
    let start = stale(repeated(AdvanceKind::Start, None));
    check(Inbox, executing(), start.clone(), "already-applied state=executing revision=40 lease-until=1050");
    check(Inbox, Row { expires_at: Some(1), ..executing() }, start, "already-applied state=executing revision=40 lease-until=1050");
    check(Cleanup, failed(), repeated(AdvanceKind::Fail, None), "already-applied state=failed-retryable revision=40 lease-until=-");
    check(Outbox, abandoned(), repeated(AdvanceKind::Abandon, None), "already-applied state=abandoned revision=40 lease-until=-");
}

#[test]
fn transition_conflict() {
    check(Idempotency, completed(), repeated(AdvanceKind::Complete, Some(OTHER_DIGEST)), "transition-conflict");
    check(Idempotency, completed(), repeated(AdvanceKind::Complete, None), "transition-conflict");
    check(Inbox, executing(), repeated(AdvanceKind::Start, Some(DIGEST)), "transition-conflict");
    check(Inbox, executing(), repeated(AdvanceKind::Renew, None), "transition-conflict");
    check(
        Outbox,
        Row { transition: last(TransitionKind::Release, None), ..failed() },
        repeated(AdvanceKind::Fail, None),
        "transition-conflict",
    );
}

#[test]
fn stale_revision() {
    let seen = |revision| Call::Advance {
        tuple: Tuple { revision, ..tuple() },
        kind: AdvanceKind::Start,
        transition: "t-2".to_string(),
        digest: None,
        reason: None,
    };
    for row in [claimed(), executing(), completed(), failed(), abandoned()] {
        check(Idempotency, row.clone(), seen(39), "stale-revision revision=40");
        check(Idempotency, row, seen(41), "stale-revision revision=40");
    }
}

#[test]
fn invalid_state() {
    use AdvanceKind::{Abandon, Complete, Fail, Renew, Start};
    let refused = |family: Family, row: Row, kinds: &[AdvanceKind]| {
        let expected = ["invalid-state state=", row.state.name()].concat();
        for kind in kinds {
            check(family, row.clone(), call(*kind), &expected);
        }
    };
    for family in [Idempotency, Inbox] {
        refused(family, claimed(), &[Complete, Abandon]);
        refused(family, executing(), &[Start]);
    }
    for family in [Outbox, Cleanup] {
        refused(family, claimed(), &[Start]);
    }
    for family in Family::ALL {
        for row in [completed(), failed(), abandoned()] {
            refused(family, row, &[Start, Renew, Complete, Fail, Abandon]);
        }
    }
}

#[test]
fn applied_start() {
    let started =
        "applied state=executing revision=41 lease-until=1100 | start: state=executing revision=41 lease-until=1100 transition=";
    check(Idempotency, claimed(), bare(AdvanceKind::Start), &[started, "t-2/start"].concat());
    check(Inbox, full(claimed()), call(AdvanceKind::Start), &[started, "t-2/start/e"].concat());
}

#[test]
fn applied_renew() {
    let at = |lease_until| Row { lease_until: Some(lease_until), ..claimed() };
    let renewed = "applied state=claimed revision=41 lease-until=1100 | renew: revision=41 lease-until=1100 transition=t-2/renew";
    let kept = "applied state=claimed revision=41 lease-until=1101 | renew: revision=41 transition=t-2/renew";
    for family in Family::ALL {
        check(family, at(NOW + 1), bare(AdvanceKind::Renew), renewed);
        check(family, at(1), bare(AdvanceKind::Renew), renewed);
        check(family, at(NOW + 101), bare(AdvanceKind::Renew), kept);
        check(family, full(at(NOW + 101)), call(AdvanceKind::Renew), &[kept, "/e"].concat());
    }
    check(Inbox, executing(), bare(AdvanceKind::Renew), &renewed.replace("claimed", "executing"));
}

#[test]
fn applied_complete() {
    let expected = |cleared: &str, digest: &str| -> String {
        ["applied state=completed revision=41 lease-until=- | complete: state=completed revision=41 lease-until=- expires-at=6000", cleared, " transition=t-2/complete", digest]
            .concat()
    };
    for family in Family::ALL {
        check(family, under_way(family), bare(AdvanceKind::Complete), &expected("", ""));
        check(family, under_way(family), call(AdvanceKind::Complete), &expected("", "/e result-digest=e"));
        let lapsed = Row { lease_until: Some(1), ..full(under_way(family)) };
        check(family, lapsed.clone(), bare(AdvanceKind::Complete), &expected(" reason=-", " result-digest=-"));
        check(family, Row { expires_at: Some(1), ..lapsed }, call(AdvanceKind::Complete), &expected(" reason=-", "/e"));
    }
}

#[test]
fn applied_fail() {
    let expected = |retry_at: &str, expires_at: &str, rest: &str| -> String {
        ["applied state=failed-retryable revision=41 lease-until=- | fail: state=failed-retryable revision=41 lease-until=- retry-at=", retry_at, expires_at, rest].concat()
    };
    for family in [Idempotency, Inbox] {
        for row in [claimed(), executing()] {
            check(
                family,
                row.clone(),
                call(AdvanceKind::Fail),
                &expected("1010", " expires-at=3010", " reason=WHY transition=t-2/fail/e"),
            );
            let second = full(Row { attempt: 2, attempt_limit: 4_294_967_295, ..row });
            let given = Tuple { attempt: 2, ..tuple() };
            let fail =
                Call::Advance { tuple: given, kind: AdvanceKind::Fail, transition: "t-2".to_string(), digest: None, reason: None };
            check(family, second, fail, &expected("1020", " expires-at=3020", " reason=- transition=t-2/fail"));
        }
    }
    for family in [Outbox, Cleanup] {
        check(family, claimed(), call(AdvanceKind::Fail), &expected("1010", "", " reason=WHY transition=t-2/fail/e"));
        check(
            family,
            full(claimed()),
            bare(AdvanceKind::Fail),
            &expected("1010", " expires-at=-", " reason=- transition=t-2/fail"),
        );
    }
}

#[test]
fn applied_fail_once_the_budget_is_spent() {
    let told = "applied state=abandoned revision=41 lease-until=- | fail: state=abandoned revision=41 lease-until=-";
    for family in Family::ALL {
        for attempt_limit in [1, 2] {
            let spent = Row { attempt_limit, attempt: 2, ..claimed() };
            let Call::Advance { tuple, kind, transition, digest, reason } = call(AdvanceKind::Fail) else { unreachable!() };
            let fail = Call::Advance { tuple: Tuple { attempt: 2, ..tuple }, kind, transition, digest, reason };
            check(family, spent.clone(), fail.clone(), &[told, " reason=ATTEMPTS_EXHAUSTED transition=t-2/fail/e"].concat());
            let cleared = " retry-at=- expires-at=- reason=ATTEMPTS_EXHAUSTED transition=t-2/fail/e";
            check(family, full(spent), fail, &[told, cleared].concat());
        }
    }
}

#[test]
fn applied_abandon() {
    let told = "applied state=abandoned revision=41 lease-until=- | abandon: state=abandoned revision=41 lease-until=-";
    for family in Family::ALL {
        let row = under_way(family);
        check(family, row.clone(), bare(AdvanceKind::Abandon), &[told, " reason=EFFECT_UNKNOWN transition=t-2/abandon"].concat());
        check(family, row.clone(), call(AdvanceKind::Abandon), &[told, " reason=WHY transition=t-2/abandon/e"].concat());
        let cleared = " retry-at=- expires-at=- reason=WHY transition=t-2/abandon/e";
        check(family, full(Row { attempt_limit: 1, ..row }), call(AdvanceKind::Abandon), &[told, cleared].concat());
    }
}

#[test]
fn times_saturate() {
    const LAST: u64 = i64::MAX as u64;
    let wide = Settings { backoff_base: u64::MAX, backoff_cap: u64::MAX, ..SETTINGS };
    let check = |now, kind, expected: &str| {
        check_under(wide, now, Inbox, Row { lease_until: Some(7), ..executing() }, bare(kind), expected)
    };
    let renewed = "applied state=executing revision=41 lease-until=9223372036854775807 | renew: revision=41 \
                   lease-until=9223372036854775807 transition=t-2/renew";
    check(LAST - 100, AdvanceKind::Renew, renewed);
    check(LAST - 99, AdvanceKind::Renew, renewed);
    check(u64::MAX, AdvanceKind::Renew, renewed);
    let completed = "applied state=completed revision=41 lease-until=- | complete: state=completed revision=41 lease-until=- \
                     expires-at=9223372036854775807 transition=t-2/complete";
    check(LAST - 4_999, AdvanceKind::Complete, completed);
    let failed = "applied state=failed-retryable revision=41 lease-until=- | fail: state=failed-retryable revision=41 lease-until=- \
                  retry-at=9223372036854775807 expires-at=9223372036854775807 transition=t-2/fail";
    check(0, AdvanceKind::Fail, failed);
}

#[test]
fn corrupt_record() {
    check(Outbox, executing(), call(AdvanceKind::Complete), "corrupt-record: executing in a queue");
    check(
        Idempotency,
        Row { lease_until: None, ..executing() },
        call(AdvanceKind::Renew),
        "corrupt-record: held, but without a lease",
    );
}

#[test]
fn invalid_settings() {
    let short = Settings { replay_retention: 99, ..SETTINGS };
    let expected = "invalid-settings: replay-retention is shorter than lease: raise it, or shorten the lease";
    check_under(short, NOW, Idempotency, executing(), call(AdvanceKind::Complete), expected);
}
