//! What belongs to no family: the clock, the secrets' versions, the audit of verdicts, the evidence of late results.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::spelling::Reserved;
use super::{Spelling, plain};
use crate::statements::{Statement, StatementKind};

/// Every statement outside the families.
pub(super) fn shared(sql: Spelling) -> Vec<Statement> {
    [clock_and_secrets(sql), audit(sql), evidence(sql)].concat()
}

/// The clock, the layout's version, the versions of the secrets.
fn clock_and_secrets(sql: Spelling) -> Vec<Statement> {
    let (nothing, insert) = (sql.without_table(), "INSERT INTO leasehold_secret (version, active_from, check_value) SELECT ");
    let otherwise = match sql {
        Spelling::Sqlite | Spelling::Mysql => "",
        Spelling::Postgres => " ON CONFLICT DO NOTHING",
    };
    vec![
        plain(sql, "clock", StatementKind::Read, "SELECT @clock AS now"),
        plain(sql, "layout.read", StatementKind::Read, "SELECT version, provider FROM leasehold_layout"),
        plain(
            sql,
            "secret.list",
            StatementKind::Read,
            "SELECT @clock AS now, version, active_from, check_value FROM leasehold_secret ORDER BY version",
        ),
        plain(
            sql,
            "secret.first",
            StatementKind::Insert,
            &format!(
                "{insert}@host.version, 0, @host.check-value{nothing} WHERE NOT EXISTS (SELECT 1 FROM leasehold_secret){otherwise}"
            ),
        ),
        plain(
            sql,
            "secret.rotate",
            StatementKind::Insert,
            &format!(
                "{insert}@host.version, @host.active-from, @host.check-value{nothing} WHERE @host.active-from >= @clock + @host.notice \
                 AND @host.version > (SELECT MAX(version) FROM leasehold_secret) \
                 AND @host.active-from > (SELECT MAX(active_from) FROM leasehold_secret){otherwise}"
            ),
        ),
    ]
}

/// Verdicts: who, when, why, and the record before.
fn audit(sql: Spelling) -> Vec<Statement> {
    vec![
        plain(
            sql,
            "audit.insert",
            StatementKind::Insert,
            &format!(
                "INSERT INTO leasehold_audit (family, scope, attempt, revision, verdict, actor, reason, at, transition_id, {}) VALUES \
                 (@host.family, @before.scope, @before.attempt, @before.revision, @host.verdict, @host.actor, @host.reason, @args.now, \
                 @args.transition, @host.before)",
                sql.reserved(Reserved::Before)
            ),
        ),
        plain(
            sql,
            "audit.list",
            StatementKind::Read,
            "SELECT family, scope, attempt, revision, verdict, actor, reason, at FROM leasehold_audit \
             WHERE family = @host.family AND scope = @args.scope ORDER BY number LIMIT @host.limit",
        ),
    ]
}

/// Results that came too late to be stored, for those who settle the record.
fn evidence(sql: Spelling) -> Vec<Statement> {
    let purge = match sql {
        Spelling::Sqlite | Spelling::Postgres => {
            "DELETE FROM leasehold_evidence WHERE number IN (SELECT number FROM leasehold_evidence WHERE at <= @clock - @host.retention \
             ORDER BY number LIMIT @host.limit)"
        }
        Spelling::Mysql => "DELETE FROM leasehold_evidence WHERE at <= @clock - @host.retention ORDER BY number LIMIT @host.limit",
    };
    vec![
        plain(
            sql,
            "evidence.insert",
            StatementKind::Insert,
            &format!(
                "INSERT INTO leasehold_evidence (family, scope, attempt, at, kind, refused, digest, reason, response) \
                 SELECT @host.family, @args.scope, @host.attempt, @clock, @host.kind, @host.refused, @args.digest, @args.reason, \
                 @host.response{} \
                 WHERE (SELECT COUNT(*) FROM leasehold_evidence WHERE family = @host.family AND scope = @args.scope) < @host.limit",
                sql.without_table()
            ),
        ),
        plain(
            sql,
            "evidence.list",
            StatementKind::Read,
            "SELECT attempt, at, kind, refused, digest, reason, response FROM leasehold_evidence \
             WHERE family = @host.family AND scope = @args.scope ORDER BY number LIMIT @host.limit",
        ),
        plain(sql, "evidence.purge", StatementKind::Purge, purge),
    ]
}
