//! What makes and changes a family's records: the insert of a claim, enqueue, and the compare-and-swaps.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::draft::Draft;
use super::{CLOCK, id, table};
use crate::outcome::StatementName;
use crate::record::Family;
use crate::statements::{Assignment, Column, Source, Statement, StatementKind, assignments};

/// SQL columns of an assignment, each with the source of its parameter; `None` is NULL.
fn columns(statement: StatementName, assignment: &Assignment) -> Vec<(&'static str, Option<&'static str>)> {
    let one = |name, source| vec![(name, (assignment.source != Source::Null).then_some(source))];
    match assignment.column {
        Column::State => one("state", "next.state"),
        Column::Owner => one("owner", "args.owner"),
        Column::Operation => one("operation", "args.operation"),
        Column::Attempt => one("attempt", "next.attempt"),
        Column::AttemptLimit => one("attempt_limit", "next.attempt-limit"),
        Column::Revision => one("revision", "next.revision"),
        Column::Fingerprint => one("fingerprint", "args.fingerprint"),
        Column::Codec => one("codec", "args.codec"),
        Column::PolicyRevision => one("policy_revision", "next.policy-revision"),
        Column::LeaseUntil => one("lease_until", "next.lease-until"),
        Column::RetryAt => one("retry_at", "next.retry-at"),
        Column::ExpiresAt => one("expires_at", "next.expires-at"),
        Column::Reason => one("reason", "next.reason"),
        Column::Transition if assignment.source == Source::Null => {
            vec![("transition_id", None), ("transition_kind", None), ("transition_digest", None)]
        }
        Column::Transition => vec![
            ("transition_id", Some("args.transition")),
            ("transition_kind", Some("next.transition-kind")),
            ("transition_digest", statement.keeps_digest().then_some("args.digest")),
        ],
        Column::ResultDigest => one("result_digest", "args.digest"),
        Column::Response => one("response", "host.response"),
        Column::CreatedAt => one("created_at", "args.now"),
        Column::ChangedAt => one("changed_at", "args.now"),
    }
}

/// The insert of a claim. Past the deadline it changes 0 rows, so that none lands late, behind a purge or a rotation of secrets.
pub(super) fn insert(family: Family) -> Statement {
    let mut draft = Draft::new(&format!("INSERT INTO {} (scope", table(family)));
    let mut sources = vec![Some("args.scope")];
    for (name, source) in assignments(StatementName::Insert).iter().flat_map(|set| columns(StatementName::Insert, set)) {
        draft.push(", ").push(name);
        sources.push(source);
    }
    draft.push(") SELECT ");
    for (position, source) in sources.into_iter().enumerate() {
        draft.push(if position == 0 { "" } else { ", " }).value(source);
    }
    draft.push(&format!(" WHERE {CLOCK} <= ")).bind("host.deadline").push(" ON CONFLICT (scope) DO NOTHING");
    draft.done(&id(family, StatementName::Insert.name()), StatementKind::Insert)
}

/// A compare-and-swap: what it sets, and the whole owner tuple as read.
pub(super) fn update(family: Family, statement: StatementName) -> Statement {
    let mut draft = Draft::new(&format!("UPDATE {} SET ", table(family)));
    let sets = assignments(statement).iter().flat_map(|set| columns(statement, set));
    for (position, (name, source)) in sets.enumerate() {
        draft.push(if position == 0 { "" } else { ", " }).push(name).push(" = ").value(source);
    }
    for (position, column) in ["scope", "owner", "operation", "attempt", "revision"].into_iter().enumerate() {
        draft.push(if position == 0 { " WHERE " } else { " AND " }).push(column);
        draft.push(" IS NOT DISTINCT FROM ").bind(&format!("before.{column}"));
    }
    if family == Family::Outbox {
        draft.push(authority_guard(statement));
    }
    draft.done(&id(family, statement.name()), StatementKind::Update)
}

/// A poller cannot write past a cut-over: claims need POLLING, what is under way may end while it is DRAINING.
const fn authority_guard(statement: StatementName) -> &'static str {
    match statement {
        StatementName::Insert | StatementName::Rebirth | StatementName::Takeover | StatementName::Relet => {
            " AND EXISTS (SELECT 1 FROM leasehold_outbox_authority AS a WHERE a.stream = leasehold_outbox.stream \
             AND a.generation = leasehold_outbox.generation AND a.mode = 'POLLING')"
        }
        StatementName::Bury
        | StatementName::Start
        | StatementName::Renew
        | StatementName::Complete
        | StatementName::Fail
        | StatementName::Abandon
        | StatementName::Release
        | StatementName::ResolveCompleted
        | StatementName::ResolveNoEffect
        | StatementName::ResolveForget => {
            " AND EXISTS (SELECT 1 FROM leasehold_outbox_authority AS a WHERE a.stream = leasehold_outbox.stream \
             AND a.generation = leasehold_outbox.generation AND a.mode IN ('POLLING', 'DRAINING'))"
        }
    }
}

/// A queue's records are made by enqueue: `pending`, attempt 0, revision 1. An id that is there already changes 0 rows.
pub(super) fn enqueue(family: Family) -> Statement {
    let mut draft = Draft::new(&format!(
        "INSERT INTO {} (scope, state, attempt, attempt_limit, revision, fingerprint, codec, policy_revision, retry_at, created_at, \
         changed_at) SELECT ",
        table(family)
    ));
    draft.bind("args.scope").push(", 'PENDING', 0, ").bind("args.attempt-limit").push(", 1, ").bind("args.fingerprint").push(", ");
    draft.bind("args.codec").push(", ").bind("args.policy-revision").push(", ").bind("args.retry-at");
    draft.push(", ").bind("args.now").push(", ").bind("args.now").push(" WHERE true ON CONFLICT (scope) DO NOTHING");
    draft.done(&id(family, "enqueue"), StatementKind::Insert)
}
