//! The tables and their indexes.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::spelling::Reserved;
use super::{Spelling, spelled, table, under_way};
use crate::record::{Family, State};
use crate::statements::{LAYOUT_VERSION, Layout, spelling};

/// How a dialect names the types of columns.
struct Types {
    /// A key, compared byte by byte.
    key: &'static str,
    /// A word of the contract.
    word: &'static str,
    text: &'static str,
    number: &'static str,
    bytes: &'static str,
    /// A number that the store counts.
    counter: &'static str,
    /// Behind the columns of a table.
    table: &'static str,
}

const fn types(sql: Spelling) -> Types {
    match sql {
        Spelling::Sqlite => Types {
            key: "TEXT",
            word: "TEXT",
            text: "TEXT",
            number: "INTEGER",
            bytes: "BLOB",
            counter: "INTEGER PRIMARY KEY",
            table: " STRICT",
        },
        Spelling::Postgres => Types {
            key: "TEXT COLLATE \"C\"",
            word: "TEXT",
            text: "TEXT",
            number: "BIGINT",
            bytes: "BYTEA",
            counter: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            table: "",
        },
        Spelling::Mysql => Types {
            key: "VARCHAR(512)",
            word: "VARCHAR(64)",
            text: "TEXT",
            number: "BIGINT",
            bytes: "LONGBLOB",
            counter: "BIGINT AUTO_INCREMENT PRIMARY KEY",
            table: " ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin",
        },
    }
}

fn create_table(sql: Spelling, family: Family) -> String {
    let Types { key, word, text, number, bytes, table: end, .. } = types(sql);
    let states = State::ALL
        .into_iter()
        .filter_map(|state| spelling(family, state))
        .map(|word| format!("'{word}'"))
        .collect::<Vec<_>>()
        .join(", ");
    let extra = match family {
        Family::Outbox => format!("stream {word} NOT NULL DEFAULT 'default', generation {number} NOT NULL DEFAULT 1, "),
        Family::Idempotency | Family::Inbox | Family::Cleanup => String::new(),
    };
    format!(
        "CREATE TABLE {} (scope {key} NOT NULL PRIMARY KEY, state {word} NOT NULL CHECK (state IN ({states})), owner {text}, \
         operation {text}, attempt {number} NOT NULL, attempt_limit {number} NOT NULL, revision {number} NOT NULL, fingerprint {text}, \
         codec {text}, policy_revision {number} NOT NULL, lease_until {number}, retry_at {number}, expires_at {number}, reason {text}, \
         transition_id {text}, transition_kind {text}, transition_digest {text}, result_digest {text}, {extra}created_at {number} NOT NULL, \
         changed_at {number} NOT NULL, response {bytes}){end}",
        table(family)
    )
}

/// Indexes for the lists and for the purge. Where there are no partial ones the state leads.
fn indexes(sql: Spelling, family: Family) -> Vec<String> {
    let table = table(family);
    let (abandoned, under_way) = (spelled(family, State::Abandoned), under_way(family));
    match sql {
        Spelling::Sqlite | Spelling::Postgres => vec![
            format!("CREATE INDEX {table}_waiting ON {table} (changed_at, scope) WHERE state = '{abandoned}'"),
            format!("CREATE INDEX {table}_lapsed ON {table} (lease_until, scope) WHERE state = '{under_way}'"),
            format!("CREATE INDEX {table}_expired ON {table} (expires_at) WHERE expires_at IS NOT NULL"),
        ],
        Spelling::Mysql => vec![
            format!("CREATE INDEX {table}_waiting ON {table} (state, changed_at, scope)"),
            format!("CREATE INDEX {table}_lapsed ON {table} (state, lease_until, scope)"),
            format!("CREATE INDEX {table}_expired ON {table} (expires_at)"),
        ],
    }
}

/// The audit is append-only. On MySQL making triggers takes a right that applications seldom have, so there it is the grants' to say.
fn append_only(sql: Spelling) -> Vec<String> {
    match sql {
        Spelling::Sqlite => ["update", "delete"]
            .map(|what| {
                format!(
                    "CREATE TRIGGER leasehold_audit_no_{what} BEFORE {} ON leasehold_audit BEGIN \
                     SELECT RAISE(ABORT, 'leasehold_audit is append-only'); END",
                    what.to_ascii_uppercase()
                )
            })
            .to_vec(),
        Spelling::Postgres => vec![
            "CREATE FUNCTION leasehold_append_only() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN RAISE EXCEPTION ''leasehold_audit is append-only''; END'"
                .to_string(),
            "CREATE TRIGGER leasehold_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON leasehold_audit \
             FOR EACH STATEMENT EXECUTE FUNCTION leasehold_append_only()"
                .to_string(),
        ],
        Spelling::Mysql => Vec::new(),
    }
}

/// Every table.
pub(in crate::statements) fn schema(sql: Spelling) -> Layout {
    let Types { key, word, text, number, bytes, counter, table: end } = types(sql);
    let (only, before) = (sql.reserved(Reserved::Only), sql.reserved(Reserved::Before));
    let mut statements = vec![
        format!(
            "CREATE TABLE leasehold_layout ({only} {number} NOT NULL PRIMARY KEY CHECK ({only} = 1), version {number} NOT NULL, \
             provider {word} NOT NULL){end}"
        ),
        format!(
            "CREATE TABLE leasehold_secret (version {number} NOT NULL PRIMARY KEY, active_from {number} NOT NULL UNIQUE, \
             check_value {text} NOT NULL){end}"
        ),
        format!(
            "CREATE TABLE leasehold_audit (number {counter}, family {word} NOT NULL, scope {key} NOT NULL, attempt {number} NOT NULL, \
             revision {number} NOT NULL, verdict {text} NOT NULL, actor {text} NOT NULL, reason {text} NOT NULL, at {number} NOT NULL, \
             transition_id {text} NOT NULL, {before} {text} NOT NULL){end}"
        ),
        "CREATE INDEX leasehold_audit_scope ON leasehold_audit (family, scope)".to_string(),
    ];
    statements.extend(append_only(sql));
    statements.extend([
        format!(
            "CREATE TABLE leasehold_evidence (number {counter}, family {word} NOT NULL, scope {key} NOT NULL, attempt {number} NOT NULL, \
             at {number} NOT NULL, kind {text} NOT NULL, refused {text} NOT NULL, digest {text}, reason {text}, response {bytes}){end}"
        ),
        "CREATE INDEX leasehold_evidence_scope ON leasehold_evidence (family, scope)".to_string(),
        "CREATE INDEX leasehold_evidence_at ON leasehold_evidence (at)".to_string(),
        format!(
            "CREATE TABLE leasehold_outbox_authority (stream {word} NOT NULL PRIMARY KEY, generation {number} NOT NULL, \
             mode {word} NOT NULL CHECK (mode IN ('POLLING', 'DRAINING', 'EXTERNAL'))){end}"
        ),
        "INSERT INTO leasehold_outbox_authority (stream, generation, mode) VALUES ('default', 1, 'POLLING')".to_string(),
    ]);
    for family in Family::ALL {
        statements.push(create_table(sql, family));
        statements.extend(indexes(sql, family));
    }
    statements.push(format!(
        "INSERT INTO leasehold_layout ({only}, version, provider) VALUES (1, {LAYOUT_VERSION}, '{}')",
        sql.provider()
    ));
    Layout { version: LAYOUT_VERSION, statements }
}
