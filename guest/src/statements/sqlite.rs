//! SQLite's schema and catalogue. Needs SQLite 3.39 (`IS NOT DISTINCT FROM`; STRICT tables came with 3.37).
//!
//! Knows no family's rules: what a statement sets comes from [`assignments`]. Tests: see [`super`].

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{Assignment, Column, LAYOUT_VERSION, Layout, Source, Statement, StatementKind, assignments, spelling};
use crate::outcome::StatementName;
use crate::record::{Family, State};

/// The store's clock: integer milliseconds since the Unix epoch. SQLite keeps it as integer milliseconds, and gives the same
/// reading throughout one statement.
const CLOCK: &str = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)";

/// Columns of every family's table, in the order in which `read` gives them behind `now` and `secret_version`.
const COLUMNS: &str = "scope, state, owner, operation, attempt, attempt_limit, revision, fingerprint, codec, policy_revision, \
                       lease_until, retry_at, expires_at, reason, transition_id, transition_kind, transition_digest, result_digest, \
                       response, created_at, changed_at";

const fn table(family: Family) -> &'static str {
    match family {
        Family::Idempotency => "leasehold_idempotency",
        Family::Inbox => "leasehold_inbox",
        Family::Outbox => "leasehold_outbox",
        Family::Cleanup => "leasehold_cleanup",
    }
}

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

/// A statement under construction: text with numbered parameters, and where each comes from.
struct Draft {
    text: String,
    binds: Vec<String>,
}

impl Draft {
    fn new(text: &str) -> Self {
        Self { text: text.to_string(), binds: Vec::new() }
    }

    fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    fn bind(&mut self, source: &str) -> &mut Self {
        self.binds.push(source.to_string());
        let number = self.binds.len();
        self.text.push_str(&format!("?{number}"));
        self
    }

    fn value(&mut self, source: Option<&str>) -> &mut Self {
        match source {
            Some(source) => self.bind(source),
            None => self.push("NULL"),
        }
    }

    fn done(self, id: &str, kind: StatementKind) -> Statement {
        Statement { id: id.to_string(), kind, text: self.text, binds: self.binds }
    }
}

fn id(family: Family, name: &str) -> String {
    format!("{}.{name}", family.name())
}

/// The insert of a claim. Past the deadline it changes 0 rows, so that none lands late, behind a purge or a rotation of secrets.
fn insert(family: Family) -> Statement {
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
fn update(family: Family, statement: StatementName) -> Statement {
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
fn enqueue(family: Family) -> Statement {
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

/// The record and the store's clock, in one statement: always one row. `secret_version` is the newest version that the store
/// knows, so that a host notices a rotation in the same reading.
fn read(family: Family) -> Statement {
    let mut draft = Draft::new(&format!(
        "SELECT {CLOCK} AS now, (SELECT MAX(version) FROM leasehold_secret) AS secret_version, {COLUMNS} FROM (SELECT 1) \
         LEFT JOIN {} ON scope = ",
        table(family)
    ));
    draft.bind("args.scope");
    draft.done(&id(family, "read"), StatementKind::Read)
}

/// Pages of what waits for a verdict, oldest first.
fn waiting(family: Family, abandoned: &str) -> Statement {
    let mut draft = Draft::new(&format!(
        "SELECT {CLOCK} AS now, {COLUMNS} FROM {} WHERE state = '{abandoned}' AND (changed_at, scope) > (",
        table(family)
    ));
    draft
        .bind("host.after-time")
        .push(", ")
        .bind("host.after-scope")
        .push(") ORDER BY changed_at, scope LIMIT ")
        .bind("host.limit");
    draft.done(&id(family, "waiting"), StatementKind::Read)
}

/// How many wait for a verdict.
fn waiting_count(family: Family, abandoned: &str) -> Statement {
    Draft::new(&format!("SELECT COUNT(*) AS waiting FROM {} WHERE state = '{abandoned}'", table(family)))
        .done(&id(family, "waiting-count"), StatementKind::Read)
}

/// Executions whose lease is over, for the sweep that claims (and so buries) what nobody asks about.
fn lapsed(family: Family, executing: &str) -> Statement {
    let mut draft = Draft::new(&format!(
        "SELECT {CLOCK} AS now, {COLUMNS} FROM {} WHERE state = '{executing}' AND (lease_until, scope) > (",
        table(family)
    ));
    draft.bind("host.after-time").push(", ").bind("host.after-scope").push(&format!(") AND lease_until <= {CLOCK}"));
    draft.push(" ORDER BY lease_until, scope LIMIT ").bind("host.limit");
    draft.done(&id(family, "lapsed"), StatementKind::Read)
}

/// Rows that ended at least one failure-retention ago, a bounded batch of them.
fn purge(family: Family, ended: &str) -> Statement {
    let table = table(family);
    let mut draft = Draft::new(&format!(
        "DELETE FROM {table} WHERE state IN ({ended}) AND scope IN (SELECT scope FROM {table} WHERE state IN ({ended}) \
         AND expires_at <= {CLOCK} - "
    ));
    draft.bind("host.failure-retention").push(" ORDER BY expires_at LIMIT ").bind("host.limit");
    draft.push(&format!(") AND expires_at <= {CLOCK} - ")).bind("host.failure-retention");
    draft.done(&id(family, "purge"), StatementKind::Purge)
}

fn spelled(family: Family, state: State) -> &'static str {
    spelling(family, state).unwrap_or("-")
}

fn of_family(family: Family) -> Vec<Statement> {
    let abandoned = spelled(family, State::Abandoned);
    let ended = format!("'{}', '{}'", spelled(family, State::Completed), spelled(family, State::FailedRetryable));
    let under_way = spelled(family, if family.is_queue() { State::Claimed } else { State::Executing });
    let mut statements = vec![
        read(family),
        waiting(family, abandoned),
        waiting_count(family, abandoned),
        lapsed(family, under_way),
        purge(family, &ended),
    ];
    if family.is_queue() {
        statements.push(enqueue(family));
    }
    for name in StatementName::ALL.into_iter().filter(|name| name.is_of(family)) {
        statements.push(match name {
            StatementName::Insert => insert(family),
            StatementName::Rebirth
            | StatementName::Takeover
            | StatementName::Relet
            | StatementName::Bury
            | StatementName::Start
            | StatementName::Renew
            | StatementName::Complete
            | StatementName::Fail
            | StatementName::Abandon
            | StatementName::Release
            | StatementName::ResolveCompleted
            | StatementName::ResolveNoEffect
            | StatementName::ResolveForget => update(family, name),
        });
    }
    statements
}

/// What belongs to no family: the clock, the secrets' versions, the audit of verdicts, the evidence of late results.
fn shared() -> Vec<Statement> {
    let plain = |id: &str, kind, text: &str, binds: &[&str]| Statement {
        id: id.to_string(),
        kind,
        text: text.to_string(),
        binds: binds.iter().map(ToString::to_string).collect(),
    };
    vec![
        plain("clock", StatementKind::Read, &format!("SELECT {CLOCK} AS now"), &[]),
        plain("layout.read", StatementKind::Read, "SELECT version, provider FROM leasehold_layout", &[]),
        plain(
            "secret.list",
            StatementKind::Read,
            &format!("SELECT {CLOCK} AS now, version, active_from, check_value FROM leasehold_secret ORDER BY version"),
            &[],
        ),
        plain(
            "secret.first",
            StatementKind::Insert,
            "INSERT INTO leasehold_secret (version, active_from, check_value) SELECT ?1, 0, ?2 \
             WHERE NOT EXISTS (SELECT 1 FROM leasehold_secret)",
            &["host.version", "host.check-value"],
        ),
        plain(
            "secret.rotate",
            StatementKind::Insert,
            &format!(
                "INSERT INTO leasehold_secret (version, active_from, check_value) SELECT ?1, ?2, ?3 \
                 WHERE ?2 >= {CLOCK} + ?4 AND ?1 > (SELECT MAX(version) FROM leasehold_secret) \
                 AND ?2 > (SELECT MAX(active_from) FROM leasehold_secret)"
            ),
            &["host.version", "host.active-from", "host.check-value", "host.notice"],
        ),
        plain(
            "audit.insert",
            StatementKind::Insert,
            "INSERT INTO leasehold_audit (family, scope, attempt, revision, verdict, actor, reason, at, transition_id, before) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            &[
                "host.family",
                "before.scope",
                "before.attempt",
                "before.revision",
                "host.verdict",
                "host.actor",
                "host.reason",
                "args.now",
                "args.transition",
                "host.before",
            ],
        ),
        plain(
            "audit.list",
            StatementKind::Read,
            "SELECT family, scope, attempt, revision, verdict, actor, reason, at FROM leasehold_audit \
             WHERE family = ?1 AND scope = ?2 ORDER BY number LIMIT ?3",
            &["host.family", "args.scope", "host.limit"],
        ),
        plain(
            "evidence.insert",
            StatementKind::Insert,
            &format!(
                "INSERT INTO leasehold_evidence (family, scope, attempt, at, kind, refused, digest, reason, response) \
                 SELECT ?1, ?2, ?3, {CLOCK}, ?4, ?5, ?6, ?7, ?8 \
                 WHERE (SELECT COUNT(*) FROM leasehold_evidence WHERE family = ?1 AND scope = ?2) < ?9"
            ),
            &[
                "host.family",
                "args.scope",
                "host.attempt",
                "host.kind",
                "host.refused",
                "args.digest",
                "args.reason",
                "host.response",
                "host.limit",
            ],
        ),
        plain(
            "evidence.list",
            StatementKind::Read,
            "SELECT attempt, at, kind, refused, digest, reason, response FROM leasehold_evidence \
             WHERE family = ?1 AND scope = ?2 ORDER BY number LIMIT ?3",
            &["host.family", "args.scope", "host.limit"],
        ),
        plain(
            "evidence.purge",
            StatementKind::Purge,
            &format!(
                "DELETE FROM leasehold_evidence WHERE number IN (SELECT number FROM leasehold_evidence WHERE at <= {CLOCK} - ?1 \
                 ORDER BY number LIMIT ?2)"
            ),
            &["host.retention", "host.limit"],
        ),
    ]
}

/// Every statement.
pub(super) fn catalog() -> Vec<Statement> {
    let mut statements = shared();
    statements.extend(Family::ALL.into_iter().flat_map(of_family));
    statements
}

fn create_table(family: Family) -> String {
    let states = State::ALL
        .into_iter()
        .filter_map(|state| spelling(family, state))
        .map(|word| format!("'{word}'"))
        .collect::<Vec<_>>()
        .join(", ");
    let extra = match family {
        Family::Outbox => "stream TEXT NOT NULL DEFAULT 'default', generation INTEGER NOT NULL DEFAULT 1, ",
        Family::Idempotency | Family::Inbox | Family::Cleanup => "",
    };
    format!(
        "CREATE TABLE {} (scope TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ({states})), owner TEXT, \
         operation TEXT, attempt INTEGER NOT NULL, attempt_limit INTEGER NOT NULL, revision INTEGER NOT NULL, fingerprint TEXT, \
         codec TEXT, policy_revision INTEGER NOT NULL, lease_until INTEGER, retry_at INTEGER, expires_at INTEGER, reason TEXT, \
         transition_id TEXT, transition_kind TEXT, transition_digest TEXT, result_digest TEXT, {extra}created_at INTEGER NOT NULL, \
         changed_at INTEGER NOT NULL, response BLOB) STRICT",
        table(family)
    )
}

fn indexes(family: Family) -> [String; 3] {
    let table = table(family);
    let abandoned = spelled(family, State::Abandoned);
    let under_way = spelled(family, if family.is_queue() { State::Claimed } else { State::Executing });
    [
        format!("CREATE INDEX {table}_waiting ON {table} (changed_at, scope) WHERE state = '{abandoned}'"),
        format!("CREATE INDEX {table}_lapsed ON {table} (lease_until, scope) WHERE state = '{under_way}'"),
        format!("CREATE INDEX {table}_expired ON {table} (expires_at) WHERE expires_at IS NOT NULL"),
    ]
}

/// Every table.
pub(super) fn schema() -> Layout {
    let mut statements = vec![
        "CREATE TABLE leasehold_layout (only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL, \
         provider TEXT NOT NULL) STRICT"
            .to_string(),
        "CREATE TABLE leasehold_secret (version INTEGER NOT NULL PRIMARY KEY, active_from INTEGER NOT NULL, \
         check_value TEXT NOT NULL) STRICT"
            .to_string(),
        "CREATE TABLE leasehold_audit (number INTEGER PRIMARY KEY, family TEXT NOT NULL, scope TEXT NOT NULL, \
         attempt INTEGER NOT NULL, revision INTEGER NOT NULL, verdict TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL, \
         at INTEGER NOT NULL, transition_id TEXT NOT NULL, before TEXT NOT NULL) STRICT"
            .to_string(),
        "CREATE INDEX leasehold_audit_scope ON leasehold_audit (family, scope)".to_string(),
        "CREATE TRIGGER leasehold_audit_no_update BEFORE UPDATE ON leasehold_audit BEGIN \
         SELECT RAISE(ABORT, 'leasehold_audit is append-only'); END"
            .to_string(),
        "CREATE TRIGGER leasehold_audit_no_delete BEFORE DELETE ON leasehold_audit BEGIN \
         SELECT RAISE(ABORT, 'leasehold_audit is append-only'); END"
            .to_string(),
        "CREATE TABLE leasehold_evidence (number INTEGER PRIMARY KEY, family TEXT NOT NULL, scope TEXT NOT NULL, \
         attempt INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, refused TEXT NOT NULL, digest TEXT, reason TEXT, \
         response BLOB) STRICT"
            .to_string(),
        "CREATE INDEX leasehold_evidence_scope ON leasehold_evidence (family, scope)".to_string(),
        "CREATE TABLE leasehold_outbox_authority (stream TEXT NOT NULL PRIMARY KEY, generation INTEGER NOT NULL, \
         mode TEXT NOT NULL CHECK (mode IN ('POLLING', 'DRAINING', 'EXTERNAL'))) STRICT"
            .to_string(),
        "INSERT INTO leasehold_outbox_authority (stream, generation, mode) VALUES ('default', 1, 'POLLING')".to_string(),
    ];
    for family in Family::ALL {
        statements.push(create_table(family));
        statements.extend(indexes(family));
    }
    statements.push(format!("INSERT INTO leasehold_layout (only, version, provider) VALUES (1, {LAYOUT_VERSION}, 'sqlite')"));
    Layout { version: LAYOUT_VERSION, statements }
}
