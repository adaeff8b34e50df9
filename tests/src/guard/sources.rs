//! What may stand where: tables by statement, sources by kind, sources by column, functions.

use leasehold_decision::Family;
use leasehold_decision::statements::StatementKind;

use super::Reason;

/// Functions that a statement may call: those of the stores' clocks, two that count, and what makes a batch an array.
pub(super) const FUNCTIONS: &[&str] =
    &["ROUND", "julianday", "clock_timestamp", "TIMESTAMPDIFF", "UTC_TIMESTAMP", "MAX", "COUNT", "ARRAY"];

/// The owner tuple: what every update repeats.
pub(super) const TUPLE: [&str; 5] = ["scope", "owner", "operation", "attempt", "revision"];

const NEXT: &[&str] = &[
    "next.state",
    "next.attempt",
    "next.attempt-limit",
    "next.revision",
    "next.policy-revision",
    "next.lease-until",
    "next.retry-at",
    "next.expires-at",
    "next.reason",
    "next.transition-kind",
];
const UPDATE: &[&str] = &[
    "before.scope",
    "before.owner",
    "before.operation",
    "before.attempt",
    "before.revision",
    "args.owner",
    "args.operation",
    "args.fingerprint",
    "args.codec",
    "args.transition",
    "args.digest",
    "args.now",
    "host.response",
];
const INSERT: &[&str] = &[
    "args.scope",
    "args.owner",
    "args.operation",
    "args.fingerprint",
    "args.codec",
    "args.attempt-limit",
    "args.policy-revision",
    "args.retry-at",
    "args.now",
    "host.deadline",
];
const READ: &[&str] = &["args.scope", "host.after-time", "host.after-scope", "host.limit"];
const PURGE: &[&str] = &["host.failure-retention", "host.limit"];
/// Outside the families: secrets' versions, audit, evidence.
const SHARED: &[&str] = &[
    "args.scope",
    "args.now",
    "args.transition",
    "args.digest",
    "args.reason",
    "before.scope",
    "before.attempt",
    "before.revision",
    "host.active-from",
    "host.actor",
    "host.attempt",
    "host.before",
    "host.check-value",
    "host.family",
    "host.kind",
    "host.limit",
    "host.notice",
    "host.reason",
    "host.refused",
    "host.response",
    "host.retention",
    "host.verdict",
    "host.version",
];

/// Where a column's new value may come from; and whether it may be cleared.
const COLUMNS: &[(&str, &str, bool)] = &[
    ("state", "next.state", false),
    ("owner", "args.owner", false),
    ("operation", "args.operation", false),
    ("attempt", "next.attempt", false),
    ("attempt_limit", "next.attempt-limit", false),
    ("revision", "next.revision", false),
    ("fingerprint", "args.fingerprint", false),
    ("codec", "args.codec", false),
    ("policy_revision", "next.policy-revision", false),
    ("lease_until", "next.lease-until", true),
    ("retry_at", "next.retry-at", true),
    ("expires_at", "next.expires-at", true),
    ("reason", "next.reason", true),
    ("transition_id", "args.transition", true),
    ("transition_kind", "next.transition-kind", true),
    ("transition_digest", "args.digest", true),
    ("result_digest", "args.digest", true),
    ("response", "host.response", true),
    ("created_at", "args.now", false),
    ("changed_at", "args.now", false),
];

/// What a statement's id says of it.
pub(super) struct Place<'s> {
    /// The family whose table it writes.
    pub(super) family: Option<Family>,
    /// The family's table, or the one that the shared statement is for.
    pub(super) table: Option<String>,
    /// What stands behind the family's name.
    pub(super) name: &'s str,
}

impl<'s> Place<'s> {
    pub(super) fn of(id: &'s str) -> Result<Self, Reason> {
        let (group, name) = id.split_once('.').unwrap_or(("", id));
        if let Some(family) = Family::from_name(group) {
            return Ok(Self { family: Some(family), table: Some(format!("leasehold_{group}")), name });
        }
        match (group, name) {
            ("", "clock") => Ok(Self { family: None, table: None, name }),
            ("layout" | "secret" | "audit" | "evidence", _) => {
                Ok(Self { family: None, table: Some(format!("leasehold_{group}")), name })
            }
            _ => Err("an id that no host knows".to_owned()),
        }
    }

    /// A family's statement names its table, the outbox's updates their authority, and a reading the newest secret's version.
    pub(super) fn may_name(&self, kind: StatementKind, relation: &str) -> bool {
        let own = self.table.as_deref() == Some(relation);
        let authority = self.family == Some(Family::Outbox) && kind == StatementKind::Update;
        let nothing = kind == StatementKind::Insert && relation == "DUAL";
        own || nothing
            || (authority && relation == "leasehold_outbox_authority")
            || (kind == StatementKind::Read && self.name == "read" && relation == "leasehold_secret")
    }
}

/// Every source of a bind plan must be one that its kind of statement has.
pub(super) fn known(kind: StatementKind, place: &Place<'_>, binds: &[String]) -> Result<(), Reason> {
    let lists: &[&[&str]] = match (kind, place.family) {
        (_, None) => &[SHARED],
        (StatementKind::Update, Some(_)) => &[UPDATE, NEXT],
        (StatementKind::Insert, Some(_)) => &[INSERT, NEXT],
        (StatementKind::Read, Some(_)) => &[READ],
        (StatementKind::Purge, Some(_)) => &[PURGE],
    };
    match binds.iter().find(|source| !lists.iter().any(|list| list.contains(&source.as_str()))) {
        Some(source) => Err(format!("binds {source}, which {kind:?} does not have")),
        None => Ok(()),
    }
}

/// A column may take its value from its one source; `None` clears it.
pub(super) fn may_set(column: &str, source: Option<&str>) -> Result<(), Reason> {
    let Some((_, own, clearable)) = COLUMNS.iter().find(|(name, ..)| *name == column) else {
        return Err(format!("sets {column}"));
    };
    match source {
        Some(source) if source == *own => Ok(()),
        Some(source) => Err(format!("sets {column} from {source}, not from {own}")),
        None if *clearable => Ok(()),
        None => Err(format!("clears {column}")),
    }
}
