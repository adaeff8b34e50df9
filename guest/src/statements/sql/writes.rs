//! What makes and changes a family's records: the insert of a claim, enqueue, and the compare-and-swaps.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::draft::Draft;
use super::{Spelling, id, plain, table};
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

fn value(source: Option<&str>) -> String {
    source.map_or_else(|| String::from("NULL"), |source| format!("@{source}"))
}

/// The insert of a claim. Past the deadline it changes 0 rows, so that none lands late, behind a purge or a rotation of secrets.
pub(super) fn insert(sql: Spelling, family: Family) -> Statement {
    let mut names = String::from("scope");
    let mut values = String::from("@args.scope");
    for (name, source) in assignments(StatementName::Insert).iter().flat_map(|set| columns(StatementName::Insert, set)) {
        names.push_str(", ");
        names.push_str(name);
        values.push_str(", ");
        values.push_str(&value(source));
    }
    let text = format!(
        "INSERT INTO {} ({names}) SELECT {values}{} WHERE @clock <= @host.deadline{}",
        table(family),
        sql.without_table(),
        sql.or_nothing()
    );
    plain(sql, &id(family, StatementName::Insert.name()), StatementKind::Insert, &text)
}

/// A compare-and-swap: what it sets, and the whole owner tuple as read.
pub(super) fn update(sql: Spelling, family: Family, statement: StatementName) -> Statement {
    let mut draft = Draft::new(sql).push(&format!("UPDATE {} SET ", table(family)));
    let sets = assignments(statement).iter().flat_map(|set| columns(statement, set));
    for (position, (name, source)) in sets.enumerate() {
        draft = draft.push(if position == 0 { "" } else { ", " }).push(name).push(" = ").push(&value(source));
    }
    let tuple = [("scope", false), ("owner", true), ("operation", true), ("attempt", false), ("revision", false)];
    for (position, (column, may_be_absent)) in tuple.into_iter().enumerate() {
        draft = draft.push(if position == 0 { " WHERE " } else { " AND " }).push(column).push(sql.same(may_be_absent));
        draft = draft.push(&format!("@before.{column}"));
    }
    if family == Family::Outbox {
        draft = draft.push(authority_guard(statement)).push(sql.lock()).push(")");
    }
    draft.done(&id(family, statement.name()), StatementKind::Update)
}

/// A poller cannot write past a cut-over: claims need POLLING, what is under way may end while it is DRAINING.
const fn authority_guard(statement: StatementName) -> &'static str {
    match statement {
        StatementName::Insert | StatementName::Rebirth | StatementName::Takeover | StatementName::Relet => {
            " AND EXISTS (SELECT 1 FROM leasehold_outbox_authority AS a WHERE a.stream = leasehold_outbox.stream \
             AND a.generation = leasehold_outbox.generation AND a.mode = 'POLLING'"
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
             AND a.generation = leasehold_outbox.generation AND a.mode IN ('POLLING', 'DRAINING')"
        }
    }
}

/// A queue's records are made by enqueue: `pending`, attempt 0, revision 1. An id that is there already changes 0 rows.
pub(super) fn enqueue(sql: Spelling, family: Family) -> Statement {
    let text = format!(
        "INSERT INTO {} (scope, state, attempt, attempt_limit, revision, fingerprint, codec, policy_revision, retry_at, created_at, \
         changed_at) SELECT @args.scope, 'PENDING', 0, @args.attempt-limit, 1, @args.fingerprint, @args.codec, @args.policy-revision, \
         @args.retry-at, @args.now, @args.now{} WHERE true{}",
        table(family),
        sql.without_table(),
        sql.or_nothing()
    );
    plain(sql, &id(family, "enqueue"), StatementKind::Insert, &text)
}
