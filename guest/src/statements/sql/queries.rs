//! What reads a family's records, and what removes them once they have ended.

use alloc::format;
use alloc::string::String;

use super::{COLUMNS, Spelling, id, plain, spelled, table, under_way};
use crate::record::{Family, State};
use crate::statements::{Statement, StatementKind};

/// The record and the store's clock, in one statement: always one row. `secret_version` is the newest version that the store
/// knows, so that a host notices a rotation in the same reading.
pub(super) fn read(sql: Spelling, family: Family) -> Statement {
    let text = format!(
        "SELECT @clock AS now, (SELECT MAX(version) FROM leasehold_secret) AS secret_version, {COLUMNS} FROM (SELECT 1 AS one) AS one \
         LEFT JOIN {} ON scope = @args.scope",
        table(family)
    );
    plain(sql, &id(family, "read"), StatementKind::Read, &text)
}

/// Rows of one state behind a time and a scope, in their order. MySQL looks a row up by its parts only.
fn page(sql: Spelling, family: Family, state: &str, time: &str, condition: &str) -> String {
    let behind = match sql {
        Spelling::Sqlite | Spelling::Postgres => format!("({time}, scope) > (@host.after-time, @host.after-scope)"),
        Spelling::Mysql => {
            format!("{time} >= @host.after-time AND ({time} > @host.after-time OR scope > @host.after-scope)")
        }
    };
    format!(
        "SELECT @clock AS now, {COLUMNS} FROM {} WHERE state = '{state}' AND {behind}{condition} ORDER BY {time}, scope \
         LIMIT @host.limit",
        table(family)
    )
}

/// Pages of what waits for a verdict, oldest first.
pub(super) fn waiting(sql: Spelling, family: Family) -> Statement {
    let text = page(sql, family, spelled(family, State::Abandoned), "changed_at", "");
    plain(sql, &id(family, "waiting"), StatementKind::Read, &text)
}

/// How many wait for a verdict.
pub(super) fn waiting_count(sql: Spelling, family: Family) -> Statement {
    let text = format!("SELECT COUNT(*) AS waiting FROM {} WHERE state = '{}'", table(family), spelled(family, State::Abandoned));
    plain(sql, &id(family, "waiting-count"), StatementKind::Read, &text)
}

/// Executions whose lease is over, for the sweep that claims (and so buries) what nobody asks about.
pub(super) fn lapsed(sql: Spelling, family: Family) -> Statement {
    let text = page(sql, family, under_way(family), "lease_until", " AND lease_until <= @clock");
    plain(sql, &id(family, "lapsed"), StatementKind::Read, &text)
}

/// Rows that ended at least one failure-retention ago, a bounded batch of them. Hosts that purge at once take different ones.
pub(super) fn purge(sql: Spelling, family: Family) -> Statement {
    let table = table(family);
    let (completed, failed) = (spelled(family, State::Completed), spelled(family, State::FailedRetryable));
    let ended = format!("state IN ('{completed}', '{failed}') AND expires_at <= @clock - @host.failure-retention");
    let text = match sql {
        Spelling::Sqlite => format!(
            "DELETE FROM {table} WHERE state IN ('{completed}', '{failed}') AND scope IN (SELECT scope FROM {table} WHERE {ended} \
             ORDER BY expires_at LIMIT @host.limit) AND expires_at <= @clock - @host.failure-retention"
        ),
        // An array, since a planner that may join the batch with the table reads every row that has ended.
        Spelling::Postgres => format!(
            "DELETE FROM {table} WHERE state IN ('{completed}', '{failed}') AND scope = ANY(ARRAY(SELECT scope FROM {table} \
             WHERE {ended} ORDER BY expires_at LIMIT @host.limit FOR UPDATE SKIP LOCKED)) \
             AND expires_at <= @clock - @host.failure-retention"
        ),
        Spelling::Mysql => format!("DELETE FROM {table} WHERE {ended} ORDER BY expires_at LIMIT @host.limit"),
    };
    plain(sql, &id(family, "purge"), StatementKind::Purge, &text)
}
