//! SQLite's schema and catalogue. Needs SQLite 3.39 (`IS NOT DISTINCT FROM`; STRICT tables came with 3.37).
//!
//! Knows no family's rules: what a statement sets comes from [`super::assignments`]. Tests: see [`super`].

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Statement, spelling};
use crate::outcome::StatementName;
use crate::record::{Family, State};

mod draft;
mod queries;
mod schema;
mod shared;
mod writes;

use queries::{lapsed, purge, read, waiting, waiting_count};
pub(super) use schema::schema;
use writes::{enqueue, insert, update};

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

fn id(family: Family, name: &str) -> String {
    format!("{}.{name}", family.name())
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

/// Every statement.
pub(super) fn catalog() -> Vec<Statement> {
    let mut statements = shared::shared();
    statements.extend(Family::ALL.into_iter().flat_map(of_family));
    statements
}
