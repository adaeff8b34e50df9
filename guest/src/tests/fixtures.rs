//! Fixtures for the tests of the five calls: rows by state, and [`check`], which tells a decision in one line.
//!
//! The line is the outcome with its members, and behind a bar the statement and every column that it changed (`-` where it was
//! cleared), so that a test shows what is written and, by silence, what is kept. A token of one repeated digit is shown as that
//! digit, a record that is made as all of its columns.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::outcome::{Applied, Grant, Outcome};
use crate::packed::{Call, Request, Tuple, answer};
use crate::record::{Family, Settings, State, TransitionKind};
use crate::row::{Row, RowTransition};

pub(crate) use crate::record::Family::{Cleanup, Idempotency, Inbox, Outbox};

/// The clock reading of every test that does not name one.
pub(crate) const NOW: u64 = 1_000;
/// Owner of every row that has one.
pub(crate) const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
/// Somebody else.
pub(crate) const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
/// Fingerprint of every row.
pub(crate) const PRINT: &str = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
/// Digest of a stored result.
pub(crate) const DIGEST: &str = "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd";
/// Digest of another result.
pub(crate) const OTHER_DIGEST: &str = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
/// No record.
pub(crate) const ABSENT: Option<Row> = None;

/// A policy that differs from that of every row: its revision and limit show where they are taken from.
pub(crate) const SETTINGS: Settings = Settings {
    revision: 7,
    lease: 100,
    attempt_limit: 5,
    backoff_base: 10,
    backoff_cap: 25,
    replay_retention: 5_000,
    failure_retention: 2_000,
};

pub(crate) fn text(text: &str) -> Option<String> {
    Some(text.to_string())
}

pub(crate) fn last(kind: TransitionKind, digest: Option<&str>) -> Option<RowTransition> {
    Some(RowTransition { id: "t-1".to_string(), kind, digest: digest.map(ToString::to_string) })
}

/// Held by A under `op-1`: try 1 of 3, revision 40, lease running until 1050.
pub(crate) fn claimed() -> Row {
    Row {
        scope: "d1:op:0".to_string(),
        state: State::Claimed,
        owner: text(A),
        operation: text("op-1"),
        attempt: 1,
        attempt_limit: 3,
        revision: 40,
        fingerprint: text(PRINT),
        codec: text("c-1"),
        policy_revision: 6,
        lease_until: Some(1_050),
        retry_at: None,
        expires_at: None,
        reason: None,
        transition: None,
        result_digest: None,
    }
}

/// Started by A with transition `t-1`.
pub(crate) fn executing() -> Row {
    Row { state: State::Executing, transition: last(TransitionKind::Start, None), ..claimed() }
}

/// Never claimed, due now.
pub(crate) fn pending() -> Row {
    let base = Row { state: State::Pending, owner: None, operation: None, attempt: 0, ..claimed() };
    Row { lease_until: None, retry_at: Some(NOW), ..base }
}

/// Completed by A with transition `t-1`, kept until 6000.
pub(crate) fn completed() -> Row {
    Row {
        state: State::Completed,
        lease_until: None,
        expires_at: Some(6_000),
        transition: last(TransitionKind::Complete, Some(DIGEST)),
        result_digest: text(DIGEST),
        ..claimed()
    }
}

/// Failed by A with transition `t-1`, due now, kept until 3000.
pub(crate) fn failed() -> Row {
    Row {
        state: State::FailedRetryable,
        lease_until: None,
        retry_at: Some(NOW),
        expires_at: Some(3_000),
        reason: text("REFUSED"),
        transition: last(TransitionKind::Fail, None),
        ..claimed()
    }
}

/// Abandoned by A with transition `t-1`.
pub(crate) fn abandoned() -> Row {
    Row {
        state: State::Abandoned,
        lease_until: None,
        reason: text("EFFECT_UNKNOWN"),
        transition: last(TransitionKind::Abandon, None),
        ..claimed()
    }
}

/// The row with something in every column that a write may clear.
pub(crate) fn full(row: Row) -> Row {
    Row {
        retry_at: row.retry_at.or(Some(1)),
        expires_at: row.expires_at.or(Some(9_000)),
        reason: row.reason.or_else(|| text("OLD")),
        transition: row.transition.or_else(|| last(TransitionKind::Renew, Some(OTHER_DIGEST))),
        result_digest: row.result_digest.or_else(|| text(OTHER_DIGEST)),
        lease_until: row.lease_until.or(Some(900)),
        ..row
    }
}

/// A's tuple on a fixture row.
pub(crate) fn tuple() -> Tuple {
    Tuple { owner: A.to_string(), operation: "op-1".to_string(), attempt: 1, revision: 40 }
}

/// Decides at [`NOW`] under [`SETTINGS`].
#[track_caller]
pub(crate) fn check(family: Family, before: impl Into<Option<Row>>, call: Call, expected: &str) {
    check_under(SETTINGS, NOW, family, before, call, expected);
}

/// Decides under other settings or another clock.
#[track_caller]
pub(crate) fn check_under(
    settings: Settings,
    now: u64,
    family: Family,
    before: impl Into<Option<Row>>,
    call: Call,
    expected: &str,
) {
    let request = Request {
        family,
        scope: "d1:op:0".to_string(),
        settings,
        before: before.into(),
        call,
        now,
        big_integers_as_strings: false,
    };
    assert_eq!(tell(&request), expected);
}

fn tell(request: &Request) -> String {
    let answer = answer(request);
    let decision = answer.decided.expect("the fixtures' tokens are tokens");
    let outcome = outcome(&decision.outcome, request);
    let Some(write) = decision.write else {
        assert_eq!(answer.after, request.before, "without a write nothing changes");
        return outcome;
    };
    let was = request.before.as_ref().map(columns).unwrap_or_default();
    let is = columns(answer.after.as_ref().expect("a write leaves a row"));
    let changed: Vec<String> =
        is.into_iter().filter(|column| !was.contains(column)).map(|(name, value)| format!(" {name}={value}")).collect();
    format!("{outcome} | {}:{}", write.statement.name(), changed.concat())
}

fn outcome(outcome: &Outcome, request: &Request) -> String {
    let stored = |pick: fn(&Row) -> Option<&str>| shown(request.before.as_ref().and_then(pick));
    let kind = outcome.kind();
    match outcome {
        Outcome::Acquired(Grant { attempt, revision, lease_until })
        | Outcome::TakenOver(Grant { attempt, revision, lease_until })
        | Outcome::ReplayedAcquire(Grant { attempt, revision, lease_until })
        | Outcome::ClaimedSameOperation(Grant { attempt, revision, lease_until })
        | Outcome::ExecutingSameOperation(Grant { attempt, revision, lease_until }) => {
            format!("{kind} attempt={attempt} revision={revision} lease-until={lease_until}")
        }
        Outcome::InProgress(at) | Outcome::RetryLater(at) => format!("{kind} retry-at={at}"),
        Outcome::RecoveryRequired(recovery) => {
            let reason = recovery.reason.text(request.before.as_ref().and_then(|row| row.reason.as_deref()), None);
            format!("{kind} attempt={} revision={} reason={}", recovery.attempt, recovery.revision, shown(reason))
        }
        Outcome::CompletedReplay(replay) => {
            let digest = stored(|row| row.result_digest.as_deref());
            assert_eq!(replay.result_digest.is_some(), digest != "-");
            format!(
                "{kind} result-digest={digest} codec={} expires-at={}",
                stored(|row| row.codec.as_deref()),
                time(replay.expires_at)
            )
        }
        Outcome::CodecUnreadable => format!("{kind} codec={}", stored(|row| row.codec.as_deref())),
        Outcome::Retryable(retryable) => format!("{kind} attempt={} retry-at={}", retryable.attempt, time(retryable.retry_at)),
        Outcome::Applied(Applied { state, revision, lease_until })
        | Outcome::AlreadyApplied(Applied { state, revision, lease_until }) => {
            format!("{kind} state={} revision={revision} lease-until={}", state.name(), time(*lease_until))
        }
        Outcome::StaleRevision(revision) | Outcome::Released(revision) | Outcome::Resolved(revision) => {
            format!("{kind} revision={revision}")
        }
        Outcome::InvalidState(state) => format!("{kind} state={}", state.name()),
        Outcome::CorruptRecord(corruption) => format!("{kind}: {}", corruption.message()),
        Outcome::InvalidSettings(fault) => format!("{kind}: {}", fault.message()),
        Outcome::FingerprintMismatch
        | Outcome::OperationConflict
        | Outcome::Missing
        | Outcome::NotOwner
        | Outcome::TransitionConflict
        | Outcome::ExecutionStarted => kind.to_string(),
    }
}

fn columns(row: &Row) -> Vec<(&'static str, String)> {
    let transition = row.transition.as_ref().map(|last| {
        let digest = last.digest.as_deref().map(|digest| format!("/{}", shown(Some(digest)))).unwrap_or_default();
        format!("{}/{}{digest}", last.id, last.kind.name())
    });
    alloc::vec![
        ("scope", row.scope.clone()),
        ("state", row.state.name().to_string()),
        ("owner", shown(row.owner.as_deref())),
        ("operation", shown(row.operation.as_deref())),
        ("attempt", format!("{}/{}", row.attempt, row.attempt_limit)),
        ("revision", row.revision.to_string()),
        ("fingerprint", shown(row.fingerprint.as_deref())),
        ("codec", shown(row.codec.as_deref())),
        ("policy-revision", row.policy_revision.to_string()),
        ("lease-until", time(row.lease_until)),
        ("retry-at", time(row.retry_at)),
        ("expires-at", time(row.expires_at)),
        ("reason", shown(row.reason.as_deref())),
        ("transition", transition.unwrap_or_else(|| "-".to_string())),
        ("result-digest", shown(row.result_digest.as_deref())),
    ]
}

fn time(at: Option<u64>) -> String {
    at.map_or_else(|| "-".to_string(), |at| at.to_string())
}

fn shown(text: Option<&str>) -> String {
    match text {
        None => "-".to_string(),
        Some(token) if token.len() == 64 => token.chars().take(1).collect(),
        Some(text) => text.to_string(),
    }
}
