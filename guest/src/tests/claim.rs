//! One test an outcome of claim, in the order of the contract, and the boundaries between them.

use alloc::string::ToString;
use alloc::vec;

use super::fixtures::*;
use crate::packed::Call;
use crate::record::{Family, Settings, State};
use crate::row::Row;

fn by(owner: &str, operation: &str) -> Call {
    let readable_codecs = vec!["c-1".to_string(), "c-2".to_string()];
    Call::Claim {
        owner: owner.to_string(),
        operation: operation.to_string(),
        fingerprint: text(PRINT),
        codec: text("c-2"),
        readable_codecs,
    }
}

fn other() -> Call {
    by(B, "op-2")
}

fn own() -> Call {
    by(A, "op-1")
}

const BORN: &str = "acquired attempt=1 revision=1000 lease-until=1100 | insert: scope=d1:op:0 state=claimed owner=b operation=op-2 \
                    attempt=1/5 revision=1000 fingerprint=f codec=c-2 policy-revision=7 lease-until=1100 retry-at=- expires-at=- \
                    reason=- transition=- result-digest=-";

#[test]
fn acquired() {
    check(Idempotency, ABSENT, other(), BORN);
    check(Inbox, ABSENT, other(), BORN);
    let pending = Row { retry_at: None, ..pending() };
    check(
        Outbox,
        pending.clone(),
        other(),
        "acquired attempt=1 revision=41 lease-until=1100 | takeover: state=claimed owner=b operation=op-2 attempt=1/3 revision=41 \
         codec=c-2 policy-revision=7 lease-until=1100",
    );
    check(
        Cleanup,
        full(Row { retry_at: Some(NOW), ..pending }),
        other(),
        "acquired attempt=1 revision=41 lease-until=1100 | takeover: state=claimed owner=b operation=op-2 attempt=1/3 revision=41 \
         codec=c-2 policy-revision=7 lease-until=1100 retry-at=- expires-at=- reason=- transition=- result-digest=-",
    );
}

#[test]
fn acquired_on_an_expired_row() {
    let reborn = "acquired attempt=1 revision=41 lease-until=1100 | rebirth: state=claimed owner=b operation=op-2 attempt=1/5 \
                  revision=41 fingerprint=- codec=c-2 policy-revision=7 lease-until=1100 retry-at=- expires-at=- reason=- \
                  transition=- result-digest=-";
    let Call::Claim { owner, operation, codec, readable_codecs, .. } = other() else { unreachable!() };
    let other_payload = Call::Claim { owner, operation, fingerprint: None, codec, readable_codecs };
    for row in [completed(), Row { attempt: 2, ..failed() }, abandoned(), executing()] {
        let row = full(Row { expires_at: Some(NOW), ..row });
        check(Idempotency, row.clone(), other_payload.clone(), reborn);
        check(Inbox, row, other_payload.clone(), reborn);
    }
}

#[test]
fn expiry_is_reached_at_its_instant() {
    let ends = |at| Row { expires_at: Some(at), ..completed() };
    check(Idempotency, ends(NOW + 1), other(), "completed-replay result-digest=d codec=c-1 expires-at=1001");
    check(Outbox, ends(NOW + 1), other(), "completed-replay result-digest=d codec=c-1 expires-at=1001");
    check(Outbox, ends(NOW), other(), "missing");
}

#[test]
fn a_first_revision_is_the_clock_within_its_bounds() {
    let check = |now, revision, lease| {
        let expected = BORN.replace("revision=1000", revision).replace("lease-until=1100", lease);
        check_under(SETTINGS, now, Idempotency, ABSENT, other(), &expected);
    };
    check(0, "revision=1", "lease-until=100");
    check(1 << 53, "revision=9007199254740992", "lease-until=9007199254741092");
    check((1 << 53) + 1, "revision=9007199254740992", "lease-until=9007199254741093");
    check((1 << 63) - 50, "revision=9007199254740992", "lease-until=9223372036854775807");
    check(u64::MAX, "revision=9007199254740992", "lease-until=9223372036854775807");
}

#[test]
fn a_new_record_pins_a_limit_that_saturates() {
    let endless = Settings { attempt_limit: u64::MAX, ..SETTINGS };
    check_under(endless, NOW, Inbox, ABSENT, other(), &BORN.replace("attempt=1/5", "attempt=1/4294967295"));
}

#[test]
fn missing() {
    check(Outbox, ABSENT, other(), "missing");
    check(Cleanup, ABSENT, own(), "missing");
    check(Outbox, Row { expires_at: Some(NOW), ..failed() }, other(), "missing");
    check(Cleanup, Row { expires_at: Some(NOW), ..claimed() }, own(), "missing");
}

#[test]
fn fingerprint_mismatch() {
    let other_print = || text(DIGEST);
    for row in [claimed(), executing(), completed(), failed(), abandoned()] {
        check(Idempotency, Row { fingerprint: other_print(), ..row.clone() }, own(), "fingerprint-mismatch");
        check(Inbox, Row { fingerprint: None, ..row }, other(), "fingerprint-mismatch");
    }
    check(Outbox, Row { fingerprint: other_print(), ..pending() }, other(), "fingerprint-mismatch");
}

#[test]
fn two_absent_fingerprints_are_equal() {
    let call = Call::Claim {
        owner: B.to_string(),
        operation: "op-2".to_string(),
        fingerprint: None,
        codec: None,
        readable_codecs: vec![],
    };
    check(Idempotency, Row { fingerprint: None, ..claimed() }, call.clone(), "in-progress retry-at=1050");
    check(Idempotency, claimed(), call, "fingerprint-mismatch");
}

#[test]
fn completed_replay() {
    for call in [own(), other()] {
        check(Idempotency, completed(), call.clone(), "completed-replay result-digest=d codec=c-1 expires-at=6000");
        check(Cleanup, completed(), call, "completed-replay result-digest=d codec=c-1 expires-at=6000");
    }
    let bare = Row { codec: None, result_digest: None, expires_at: None, ..completed() };
    check(Inbox, bare, other(), "completed-replay result-digest=- codec=- expires-at=-");
}

#[test]
fn codec_unreadable() {
    for family in Family::ALL {
        check(family, Row { codec: text("c-3"), ..completed() }, own(), "codec-unreadable codec=c-3");
    }
    check(Idempotency, Row { codec: text("c-3"), ..claimed() }, other(), "in-progress retry-at=1050");
}

#[test]
fn recovery_required() {
    for call in [own(), other()] {
        check(Idempotency, abandoned(), call.clone(), "recovery-required attempt=1 revision=40 reason=EFFECT_UNKNOWN");
        check(Outbox, Row { reason: None, ..abandoned() }, call, "recovery-required attempt=1 revision=40 reason=-");
    }
}

#[test]
fn operation_conflict() {
    for row in [claimed(), executing(), failed()] {
        check(Idempotency, row.clone(), by(A, "op-2"), "operation-conflict");
        let late = Row { lease_until: row.lease_until.map(|_| 1), ..row };
        check(Inbox, late, by(A, "op-2"), "operation-conflict");
    }
    check(Outbox, failed(), own(), "operation-conflict");
}

#[test]
fn a_pending_record_belongs_to_nobody() {
    let row = Row { owner: text(A), operation: text("op-1"), ..pending() };
    let acquired = "acquired attempt=1 revision=41 lease-until=1100 | takeover: state=claimed";
    let told = |operation| {
        [acquired, operation, " attempt=1/3 revision=41 codec=c-2 policy-revision=7 lease-until=1100 retry-at=-"].concat()
    };
    check(Outbox, row.clone(), by(A, "op-1"), &told(""));
    check(Outbox, row, by(A, "op-2"), &told(" operation=op-2"));
}

#[test]
fn replayed_acquire() {
    let lease = |at| full(Row { lease_until: Some(at), ..claimed() });
    let relet = "replayed-acquire attempt=1 revision=41 lease-until=1100 | relet: revision=41 lease-until=1100";
    for family in Family::ALL {
        check(family, lease(NOW + 1), own(), "replayed-acquire attempt=1 revision=40 lease-until=1001");
        check(family, lease(NOW), own(), relet);
        check(family, lease(1), own(), relet);
    }
}

#[test]
fn executing_same_operation() {
    let expected = "executing-same-operation attempt=1 revision=40 lease-until=1001";
    check(Idempotency, Row { lease_until: Some(NOW + 1), ..executing() }, own(), expected);
    check(Inbox, Row { lease_until: Some(NOW + 1), ..executing() }, own(), expected);
}

#[test]
fn retry_later() {
    check(Outbox, Row { retry_at: Some(NOW + 1), ..pending() }, other(), "retry-later retry-at=1001");
    check(Idempotency, Row { retry_at: Some(NOW + 1), ..failed() }, other(), "retry-later retry-at=1001");
    check(Inbox, Row { retry_at: Some(NOW + 1), attempt: 3, ..failed() }, other(), "retry-later retry-at=1001");
}

#[test]
fn taken_over() {
    let first = "taken-over attempt=2 revision=41 lease-until=1100 | takeover:";
    let rest = "owner=b operation=op-2 attempt=2/3 revision=41 codec=c-2 policy-revision=7 lease-until=1100";
    let cleared = "retry-at=- expires-at=- reason=- transition=- result-digest=-";
    for family in Family::ALL {
        let lapsed = Row { lease_until: Some(NOW), ..claimed() };
        check(family, lapsed.clone(), other(), &[first, rest].join(" "));
        check(family, full(lapsed), other(), &[first, rest, cleared].join(" "));
        check(family, full(failed()), other(), &[first, "state=claimed", rest, cleared].join(" "));
        check(family, full(Row { retry_at: Some(1), ..failed() }), other(), &[first, "state=claimed", rest, cleared].join(" "));
    }
    let undated = Row { retry_at: None, expires_at: None, reason: None, transition: None, ..failed() };
    check(Idempotency, undated, other(), &[first, "state=claimed", rest].join(" "));
}

#[test]
fn in_progress() {
    for family in Family::ALL {
        check(family, Row { lease_until: Some(NOW + 1), attempt: 3, ..claimed() }, other(), "in-progress retry-at=1001");
    }
    check(Inbox, Row { lease_until: Some(NOW + 1), ..executing() }, other(), "in-progress retry-at=1001");
}

#[test]
fn recovery_required_after_a_lapsed_execution() {
    let row = full(Row { lease_until: Some(NOW), ..executing() });
    let buried = "recovery-required attempt=1 revision=41 reason=EXECUTION_LEASE_EXPIRED | bury: state=abandoned revision=41 \
                  lease-until=- retry-at=- expires-at=- reason=EXECUTION_LEASE_EXPIRED transition=-";
    for call in [own(), other()] {
        check(Idempotency, row.clone(), call.clone(), buried);
        check(Inbox, row.clone(), call, buried);
    }
}

#[test]
fn recovery_required_once_the_budget_is_spent() {
    let told = |attempt: &str, lease: &str| {
        ["recovery-required attempt=", attempt, " revision=41 reason=ATTEMPTS_EXHAUSTED | bury: state=abandoned revision=41", lease]
            .concat()
    };
    let cleared = " retry-at=- expires-at=- reason=ATTEMPTS_EXHAUSTED transition=-";
    for family in Family::ALL {
        check(family, full(Row { attempt: 3, ..failed() }), other(), &told("3", &[" lease-until=-", cleared].concat()));
        check(family, Row { attempt: 4, ..failed() }, other(), &told("4", cleared));
        let lapsed = Row { lease_until: Some(NOW), attempt: 3, ..claimed() };
        check(family, full(lapsed), other(), &told("3", &[" lease-until=-", cleared].concat()));
    }
}

#[test]
fn corrupt_record() {
    let check = |family, row, what: &str| check(family, row, own(), &["corrupt-record: ", what].concat());
    for revision in [0, (1 << 63) - 1, u64::MAX] {
        check(Idempotency, Row { revision, ..claimed() }, "revision is 0, or 2^63 - 1 and up");
    }
    check(Inbox, Row { attempt_limit: 0, ..completed() }, "attempt-limit is 0");
    for row in [claimed(), executing(), completed(), failed(), abandoned()] {
        check(Idempotency, Row { attempt: 0, ..row }, "attempt is 0 in a state other than pending");
    }
    check(Outbox, Row { attempt: 1, ..pending() }, "attempt is not 0 in pending");
    check(Idempotency, pending(), "pending outside the queues");
    check(Cleanup, executing(), "executing in a queue");
    for row in [claimed(), executing()] {
        check(Idempotency, Row { owner: None, ..row.clone() }, "held, but without an owner");
        check(Idempotency, Row { operation: None, ..row.clone() }, "held, but without an operation");
        check(Idempotency, Row { lease_until: None, ..row.clone() }, "held, but without a lease");
        check(Idempotency, Row { lease_until: None, expires_at: Some(1), ..row }, "held, but without a lease");
    }
}

#[test]
fn invalid_settings() {
    let check = |settings, what: &str| {
        check_under(settings, NOW, Idempotency, ABSENT, other(), &["invalid-settings: ", what].concat());
    };
    check(Settings { lease: 0, ..SETTINGS }, "lease is 0: give at least 1 millisecond");
    check(Settings { attempt_limit: 0, ..SETTINGS }, "attempt-limit is 0: give at least 1");
}

#[test]
fn the_last_revision_that_can_be_is_still_written() {
    let row = Row { lease_until: Some(1), revision: (1 << 63) - 2, state: State::Claimed, ..claimed() };
    let relet = "replayed-acquire attempt=1 revision=9223372036854775807 lease-until=1100 | relet: revision=9223372036854775807 \
                 lease-until=1100";
    check(Idempotency, row, own(), relet);
}
