//! One test an outcome of release, in the order of the contract, and the boundaries between them.

use alloc::string::ToString;

use super::fixtures::*;
use crate::packed::{Call, Tuple};
use crate::record::{Family, Settings, TransitionKind};
use crate::row::Row;

/// A gives back, with transition `t-2`.
fn given_by(tuple: Tuple) -> Call {
    Call::Release { tuple, transition: "t-2".to_string() }
}

fn release() -> Call {
    given_by(tuple())
}

/// With the transition that the fixture rows have seen, from a handle that does not know of it.
fn repeated() -> Call {
    Call::Release { tuple: Tuple { revision: 39, ..tuple() }, transition: "t-1".to_string() }
}

#[test]
fn missing() {
    for family in Family::ALL {
        check(family, ABSENT, release(), "missing");
    }
}

#[test]
fn not_owner() {
    for row in [claimed(), executing(), completed(), failed(), abandoned()] {
        check(Idempotency, row.clone(), given_by(Tuple { owner: B.to_string(), ..tuple() }), "not-owner");
        check(Idempotency, row.clone(), given_by(Tuple { attempt: 2, ..tuple() }), "not-owner");
        check(Idempotency, row, given_by(Tuple { operation: "op-2".to_string(), revision: 9, ..tuple() }), "not-owner");
    }
    check(Outbox, Row { owner: None, operation: None, ..failed() }, release(), "not-owner");
}

#[test]
fn already_applied() {
    let released = Row { transition: last(TransitionKind::Release, None), ..failed() };
    for family in Family::ALL {
        check(family, released.clone(), repeated(), "already-applied state=failed-retryable revision=40 lease-until=-");
    }
    let expired = Row { expires_at: Some(1), ..released };
    check(Idempotency, expired, repeated(), "already-applied state=failed-retryable revision=40 lease-until=-");
}

#[test]
fn transition_conflict() {
    for row in [executing(), completed(), failed(), abandoned()] {
        check(Idempotency, row, repeated(), "transition-conflict");
    }
    check(Outbox, Row { transition: last(TransitionKind::ResolveForget, None), ..failed() }, repeated(), "transition-conflict");
}

#[test]
fn execution_started() {
    check(Idempotency, executing(), release(), "execution-started");
    check(Inbox, executing(), given_by(Tuple { revision: 39, ..tuple() }), "execution-started");
}

#[test]
fn operation_conflict() {
    for row in [completed(), failed(), abandoned()] {
        check(Idempotency, row.clone(), release(), "operation-conflict");
        check(Outbox, row, given_by(Tuple { revision: 39, ..tuple() }), "operation-conflict");
    }
}

#[test]
fn stale_revision() {
    for family in Family::ALL {
        check(family, claimed(), given_by(Tuple { revision: 39, ..tuple() }), "stale-revision revision=40");
        check(family, claimed(), given_by(Tuple { revision: 41, ..tuple() }), "stale-revision revision=40");
    }
}

#[test]
fn released() {
    let told = "released revision=41 | release: state=failed-retryable attempt=1/4 revision=41 lease-until=- retry-at=1010";
    for family in [Idempotency, Inbox] {
        let expected = [told, " expires-at=3010 reason=RELEASED transition=t-2/release"].concat();
        check(family, claimed(), release(), &expected);
        check(family, full(Row { lease_until: Some(1), ..claimed() }), release(), &expected);
    }
    for family in [Outbox, Cleanup] {
        check(family, claimed(), release(), &[told, " reason=RELEASED transition=t-2/release"].concat());
        check(family, full(claimed()), release(), &[told, " expires-at=- reason=RELEASED transition=t-2/release"].concat());
    }
}

#[test]
fn the_given_back_limit_saturates() {
    let endless = Row { attempt_limit: 4_294_967_295, ..claimed() };
    let told = "released revision=41 | release: state=failed-retryable revision=41 lease-until=- retry-at=1000 reason=RELEASED \
                transition=t-2/release";
    check_under(Settings { backoff_base: 0, ..SETTINGS }, NOW, Outbox, endless, release(), told);
}

#[test]
fn corrupt_record() {
    check(Idempotency, Row { revision: 0, ..claimed() }, release(), "corrupt-record: revision is 0, or 2^63 - 1 and up");
    check(Inbox, Row { operation: None, ..claimed() }, release(), "corrupt-record: held, but without an operation");
}

#[test]
fn invalid_settings() {
    let expected = "invalid-settings: failure-retention is shorter than lease: raise it, or shorten the lease";
    check_under(Settings { failure_retention: 99, ..SETTINGS }, NOW, Outbox, claimed(), release(), expected);
}
