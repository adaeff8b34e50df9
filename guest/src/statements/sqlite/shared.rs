//! What belongs to no family: the clock, the secrets' versions, the audit of verdicts, the evidence of late results.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::CLOCK;
use crate::statements::{Statement, StatementKind};

/// Every statement outside the families.
pub(super) fn shared() -> Vec<Statement> {
    [clock_and_secrets(), audit(), evidence()].concat()
}

fn plain(id: &str, kind: StatementKind, text: &str, binds: &[&str]) -> Statement {
    Statement { id: id.to_string(), kind, text: text.to_string(), binds: binds.iter().map(ToString::to_string).collect() }
}

/// The clock, the layout's version, the versions of the secrets.
fn clock_and_secrets() -> Vec<Statement> {
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
    ]
}

/// Verdicts: who, when, why, and the record before.
fn audit() -> Vec<Statement> {
    vec![
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
    ]
}

/// Results that came too late to be stored, for those who settle the record.
fn evidence() -> Vec<Statement> {
    vec![
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
