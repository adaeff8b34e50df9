//! The schema and the catalogue in SQL: the same statements in each dialect, spelled by [`Spelling`].
//!
//! Needs SQLite 3.39 (`IS NOT DISTINCT FROM`; STRICT tables came with 3.37), PostgreSQL 12, MySQL 8.0 or MariaDB 10.6. Knows no family's
//! rules: what a statement sets comes from [`super::assignments`]. Tests: see [`super`].

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Statement, StatementKind, spelling};
use crate::outcome::StatementName;
use crate::record::{Family, State};

mod draft;
mod queries;
mod schema;
mod shared;
mod spelling;
mod writes;

pub(super) use schema::schema;
pub(super) use spelling::Spelling;

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

fn id(family: Family, name: &str) -> String {
    format!("{}.{name}", family.name())
}

fn spelled(family: Family, state: State) -> &'static str {
    spelling(family, state).unwrap_or("-")
}

/// The state of what is under way, whose lease counts.
fn under_way(family: Family) -> &'static str {
    spelled(family, if family.is_queue() { State::Claimed } else { State::Executing })
}

fn of_family(sql: Spelling, family: Family) -> Vec<Statement> {
    let mut statements = vec![
        queries::read(sql, family),
        queries::waiting(sql, family),
        queries::waiting_count(sql, family),
        queries::lapsed(sql, family),
        queries::purge(sql, family),
    ];
    if family.is_queue() {
        statements.push(writes::enqueue(sql, family));
    }
    for name in StatementName::ALL.into_iter().filter(|name| name.is_of(family)) {
        statements.push(if name == StatementName::Insert {
            writes::insert(sql, family)
        } else {
            writes::update(sql, family, name)
        });
    }
    statements
}

/// Every statement.
pub(super) fn catalog(sql: Spelling) -> Vec<Statement> {
    let mut statements = shared::shared(sql);
    statements.extend(Family::ALL.into_iter().flat_map(|family| of_family(sql, family)));
    statements
}

/// A statement from its text, in which `@SOURCE` stands for a parameter and `@clock` for the store's clock.
fn plain(sql: Spelling, id: &str, kind: StatementKind, text: &str) -> Statement {
    draft::Draft::new(sql).push(text).done(id, kind)
}
