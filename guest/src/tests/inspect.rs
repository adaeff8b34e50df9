//! One test an outcome of inspect, in the order of the contract.

use alloc::string::ToString;

use super::fixtures::*;
use crate::packed::Call;
use crate::record::{Family, Settings};
use crate::row::Row;

fn by(owner: &str, operation: &str) -> Call {
    Call::Inspect { owner: owner.to_string(), operation: operation.to_string(), fingerprint: text(PRINT) }
}

fn own() -> Call {
    by(A, "op-1")
}

fn other() -> Call {
    by(B, "op-2")
}

#[test]
fn missing() {
    for family in Family::ALL {
        check(family, ABSENT, own(), "missing");
        for row in [claimed(), completed(), failed(), abandoned()] {
            check(family, Row { expires_at: Some(NOW), fingerprint: None, ..row }, own(), "missing");
        }
    }
}

#[test]
fn fingerprint_mismatch() {
    for row in [claimed(), executing(), completed(), failed(), abandoned()] {
        check(Idempotency, Row { fingerprint: text(DIGEST), ..row.clone() }, own(), "fingerprint-mismatch");
        check(Inbox, Row { fingerprint: None, ..row }, own(), "fingerprint-mismatch");
    }
    check(Outbox, Row { fingerprint: None, ..pending() }, own(), "fingerprint-mismatch");
}

#[test]
fn completed_replay() {
    for family in Family::ALL {
        let unread = Row { codec: text("c-9"), expires_at: Some(NOW + 1), ..completed() };
        check(family, unread, own(), "completed-replay result-digest=d codec=c-9 expires-at=1001");
        check(family, completed(), other(), "completed-replay result-digest=d codec=c-1 expires-at=6000");
    }
}

#[test]
fn recovery_required() {
    for family in Family::ALL {
        check(family, abandoned(), own(), "recovery-required attempt=1 revision=40 reason=EFFECT_UNKNOWN");
        check(family, Row { reason: text("WHY"), ..abandoned() }, other(), "recovery-required attempt=1 revision=40 reason=WHY");
    }
}

#[test]
fn retryable() {
    for family in Family::ALL {
        check(family, failed(), own(), "retryable attempt=1 retry-at=1000");
        let spent = Row { retry_at: Some(NOW + 9), attempt: 3, ..failed() };
        check(family, spent, other(), "retryable attempt=3 retry-at=1009");
    }
    check(Outbox, pending(), own(), "retryable attempt=0 retry-at=1000");
    check(Cleanup, Row { retry_at: None, owner: text(A), ..pending() }, own(), "retryable attempt=0 retry-at=-");
}

#[test]
fn claimed_same_operation() {
    for family in Family::ALL {
        for at in [1, NOW, NOW + 1] {
            let expected = ["claimed-same-operation attempt=1 revision=40 lease-until=", &at.to_string()].concat();
            check(family, Row { lease_until: Some(at), ..claimed() }, own(), &expected);
        }
    }
}

#[test]
fn executing_same_operation() {
    for family in [Idempotency, Inbox] {
        for at in [1, NOW, NOW + 1] {
            let expected = ["executing-same-operation attempt=1 revision=40 lease-until=", &at.to_string()].concat();
            check(family, Row { lease_until: Some(at), ..executing() }, own(), &expected);
        }
    }
}

#[test]
fn in_progress() {
    for call in [by(A, "op-2"), by(B, "op-1"), other()] {
        for at in [1, NOW, NOW + 1] {
            let expected = ["in-progress retry-at=", &at.to_string()].concat();
            check(Idempotency, Row { lease_until: Some(at), ..executing() }, call.clone(), &expected);
            check(Outbox, Row { lease_until: Some(at), attempt: 3, ..claimed() }, call.clone(), &expected);
        }
    }
}

#[test]
fn corrupt_record() {
    check(Idempotency, pending(), own(), "corrupt-record: pending outside the queues");
    check(Inbox, Row { expires_at: Some(1), attempt_limit: 0, ..failed() }, own(), "corrupt-record: attempt-limit is 0");
}

#[test]
fn invalid_settings() {
    check_under(
        Settings { lease: 0, ..SETTINGS },
        NOW,
        Inbox,
        ABSENT,
        own(),
        "invalid-settings: lease is 0: give at least 1 millisecond",
    );
}
