//! The tables and their indexes.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{spelled, table};
use crate::record::{Family, State};
use crate::statements::{LAYOUT_VERSION, Layout, spelling};

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
pub(in crate::statements) fn schema() -> Layout {
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
