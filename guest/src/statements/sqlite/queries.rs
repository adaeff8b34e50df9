//! What reads a family's records, and what removes them once they have ended.

use alloc::format;

use super::draft::Draft;
use super::{CLOCK, COLUMNS, id, table};
use crate::record::Family;
use crate::statements::{Statement, StatementKind};

/// The record and the store's clock, in one statement: always one row. `secret_version` is the newest version that the store
/// knows, so that a host notices a rotation in the same reading.
pub(super) fn read(family: Family) -> Statement {
    let mut draft = Draft::new(&format!(
        "SELECT {CLOCK} AS now, (SELECT MAX(version) FROM leasehold_secret) AS secret_version, {COLUMNS} FROM (SELECT 1) \
         LEFT JOIN {} ON scope = ",
        table(family)
    ));
    draft.bind("args.scope");
    draft.done(&id(family, "read"), StatementKind::Read)
}

/// Pages of what waits for a verdict, oldest first.
pub(super) fn waiting(family: Family, abandoned: &str) -> Statement {
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
pub(super) fn waiting_count(family: Family, abandoned: &str) -> Statement {
    Draft::new(&format!("SELECT COUNT(*) AS waiting FROM {} WHERE state = '{abandoned}'", table(family)))
        .done(&id(family, "waiting-count"), StatementKind::Read)
}

/// Executions whose lease is over, for the sweep that claims (and so buries) what nobody asks about.
pub(super) fn lapsed(family: Family, executing: &str) -> Statement {
    let mut draft = Draft::new(&format!(
        "SELECT {CLOCK} AS now, {COLUMNS} FROM {} WHERE state = '{executing}' AND (lease_until, scope) > (",
        table(family)
    ));
    draft.bind("host.after-time").push(", ").bind("host.after-scope").push(&format!(") AND lease_until <= {CLOCK}"));
    draft.push(" ORDER BY lease_until, scope LIMIT ").bind("host.limit");
    draft.done(&id(family, "lapsed"), StatementKind::Read)
}

/// Rows that ended at least one failure-retention ago, a bounded batch of them.
pub(super) fn purge(family: Family, ended: &str) -> Statement {
    let table = table(family);
    let mut draft = Draft::new(&format!(
        "DELETE FROM {table} WHERE state IN ({ended}) AND scope IN (SELECT scope FROM {table} WHERE state IN ({ended}) \
         AND expires_at <= {CLOCK} - "
    ));
    draft.bind("host.failure-retention").push(" ORDER BY expires_at LIMIT ").bind("host.limit");
    draft.push(&format!(") AND expires_at <= {CLOCK} - ")).bind("host.failure-retention");
    draft.done(&id(family, "purge"), StatementKind::Purge)
}
