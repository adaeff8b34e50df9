//! The schema and the catalogue: every table, and every statement as text with its bind plan.
//!
//! What a statement sets is said once, in [`assignments`]; a dialect spells it. The SQL dialects share one text, spelled by `sql::Spelling`. Knows no driver. Tests: `tests/catalogue.rs` of the workspace parses every
//! statement and holds the guard on its syntax tree; golden files keep the texts.

use alloc::string::String;
use alloc::vec::Vec;

use crate::outcome::StatementName;
use crate::record::{Family, State};

mod sql;

use sql::Spelling;

/// Version of the tables' layout. A host that finds another one in a store refuses to run.
pub const LAYOUT_VERSION: u32 = 1;

/// In which language the statements are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// SQLite 3.39 and later.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// Redis: a statement is a Lua script.
    Redis,
}

impl Dialect {
    const fn spelling(self) -> Result<Spelling, DialectNotCarried> {
        match self {
            Self::Sqlite => Ok(Spelling::Sqlite),
            Self::Postgres => Ok(Spelling::Postgres),
            Self::Mysql => Ok(Spelling::Mysql),
            Self::Redis => Err(DialectNotCarried),
        }
    }
}

/// How a statement is used, and what its count means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StatementKind {
    /// Gives rows; changes nothing.
    Read,
    /// Adds a row, or changes 0 where there is one already.
    Insert,
    /// A compare-and-swap: repeats the owner tuple; 1 is "still yours", 0 is "moved".
    Update,
    /// Removes rows that have ended, in a bounded batch.
    Purge,
}

/// A statement of the catalogue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// `FAMILY.NAME`, or `NAME` for what belongs to no family.
    pub id: String,
    /// How it is used.
    pub kind: StatementKind,
    /// The text, without values.
    pub text: String,
    /// For each parameter in its order, where its value comes from.
    pub binds: Vec<String>,
}

/// The tables of a dialect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// What a host must find in the store.
    pub version: u32,
    /// To be executed in this order, in one transaction, on a store that has no layout yet.
    pub statements: Vec<String>,
}

/// This component carries no catalogue for that dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DialectNotCarried;

/// Every table of a dialect.
///
/// # Errors
/// The dialect is not carried.
pub fn schema(dialect: Dialect) -> Result<Layout, DialectNotCarried> {
    dialect.spelling().map(sql::schema)
}

/// Every statement of a dialect.
///
/// # Errors
/// The dialect is not carried.
pub fn catalog(dialect: Dialect) -> Result<Vec<Statement>, DialectNotCarried> {
    dialect.spelling().map(sql::catalog)
}

/// How a state is spelled in the family's table. Source: section 2 of the contract.
#[must_use]
pub const fn spelling(family: Family, state: State) -> Option<&'static str> {
    match (family, state) {
        (Family::Idempotency | Family::Inbox, State::Pending) | (Family::Outbox | Family::Cleanup, State::Executing) => None,
        (Family::Outbox | Family::Cleanup, State::Pending) => Some("PENDING"),
        (Family::Inbox, State::Claimed) => Some("RECEIVED"),
        (Family::Idempotency | Family::Outbox | Family::Cleanup, State::Claimed) => Some("CLAIMED"),
        (Family::Inbox, State::Executing) => Some("PROCESSING"),
        (Family::Idempotency, State::Executing) => Some("EXECUTING"),
        (Family::Idempotency, State::Completed) => Some("COMPLETED"),
        (Family::Inbox, State::Completed) => Some("PROCESSED"),
        (Family::Outbox, State::Completed) => Some("DELIVERED"),
        (Family::Cleanup, State::Completed) => Some("DONE"),
        (Family::Idempotency, State::FailedRetryable) => Some("FAILED_RETRYABLE"),
        (Family::Inbox | Family::Outbox | Family::Cleanup, State::FailedRetryable) => Some("FAILED"),
        (Family::Idempotency | Family::Cleanup, State::Abandoned) => Some("ABANDONED"),
        (Family::Inbox | Family::Outbox, State::Abandoned) => Some("DEAD"),
    }
}

/// What a statement can set. `Transition` stands for the three columns of the last transition, which change together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Column {
    /// Where the record stands.
    State,
    /// Who holds it.
    Owner,
    /// By which claim call.
    Operation,
    /// Number of the try.
    Attempt,
    /// Tries allowed.
    AttemptLimit,
    /// The fencing token.
    Revision,
    /// Keyed hash of the payload.
    Fingerprint,
    /// Codec of the result.
    Codec,
    /// The policy revision of the last claim.
    PolicyRevision,
    /// Until when others keep their hands off.
    LeaseUntil,
    /// From when it may be tried again.
    RetryAt,
    /// From when it counts as absent.
    ExpiresAt,
    /// Why it is in its state.
    Reason,
    /// The last transition: id, kind, digest.
    Transition,
    /// Digest of the result.
    ResultDigest,
    /// The stored result, which the component never sees.
    Response,
    /// When the record was made; no decision reads it.
    CreatedAt,
    /// When the record was last written; no decision reads it.
    ChangedAt,
}

/// Where a column's new value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// Computed by the decision.
    Next,
    /// Given by the caller.
    Args,
    /// Known to the host alone.
    Host,
    /// The column is cleared.
    Null,
}

/// One column that a statement sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// Which column.
    pub column: Column,
    /// From where.
    pub source: Source,
}

const fn next(column: Column) -> Assignment {
    Assignment { column, source: Source::Next }
}

const fn args(column: Column) -> Assignment {
    Assignment { column, source: Source::Args }
}

const fn host(column: Column) -> Assignment {
    Assignment { column, source: Source::Host }
}

const fn null(column: Column) -> Assignment {
    Assignment { column, source: Source::Null }
}

const STATE: Assignment = next(Column::State);
const REVISION: Assignment = next(Column::Revision);
const LEASE: Assignment = next(Column::LeaseUntil);
const NO_LEASE: Assignment = null(Column::LeaseUntil);
const RETRY: Assignment = next(Column::RetryAt);
const NO_RETRY: Assignment = null(Column::RetryAt);
const EXPIRY: Assignment = next(Column::ExpiresAt);
const NO_EXPIRY: Assignment = null(Column::ExpiresAt);
const REASON: Assignment = next(Column::Reason);
const NO_REASON: Assignment = null(Column::Reason);
const TRANSITION: Assignment = args(Column::Transition);
const NO_TRANSITION: Assignment = null(Column::Transition);
const CHANGED: Assignment = args(Column::ChangedAt);

/// A record's first life, and each that begins when one is over.
const LIFE: &[Assignment] = &[
    STATE,
    args(Column::Owner),
    args(Column::Operation),
    next(Column::Attempt),
    next(Column::AttemptLimit),
    REVISION,
    args(Column::Fingerprint),
    args(Column::Codec),
    next(Column::PolicyRevision),
    LEASE,
    NO_RETRY,
    NO_EXPIRY,
    NO_REASON,
    NO_TRANSITION,
    null(Column::ResultDigest),
    null(Column::Response),
    args(Column::CreatedAt),
    CHANGED,
];

/// A new owner and a new try within the life of a record.
const TAKEOVER: &[Assignment] = &[
    STATE,
    args(Column::Owner),
    args(Column::Operation),
    next(Column::Attempt),
    REVISION,
    args(Column::Codec),
    next(Column::PolicyRevision),
    LEASE,
    NO_RETRY,
    NO_EXPIRY,
    NO_REASON,
    NO_TRANSITION,
    null(Column::ResultDigest),
    null(Column::Response),
    CHANGED,
];

/// What each statement sets; what it does not name it keeps. Source: section 2 of the contract.
#[must_use]
pub const fn assignments(statement: StatementName) -> &'static [Assignment] {
    const RESULT: Assignment = args(Column::ResultDigest);
    const RESPONSE: Assignment = host(Column::Response);
    const LIMIT: Assignment = next(Column::AttemptLimit);
    match statement {
        StatementName::Insert | StatementName::Rebirth => LIFE,
        StatementName::Takeover => TAKEOVER,
        StatementName::Relet => const { &[REVISION, LEASE, CHANGED] },
        StatementName::Bury => const { &[STATE, REVISION, NO_LEASE, NO_RETRY, NO_EXPIRY, REASON, NO_TRANSITION, CHANGED] },
        StatementName::Start => const { &[STATE, REVISION, LEASE, TRANSITION, CHANGED] },
        StatementName::Renew => const { &[REVISION, LEASE, TRANSITION, CHANGED] },
        StatementName::Complete => const { &[STATE, REVISION, NO_LEASE, EXPIRY, NO_REASON, TRANSITION, RESULT, RESPONSE, CHANGED] },
        StatementName::Fail | StatementName::ResolveForget => {
            const { &[STATE, REVISION, NO_LEASE, RETRY, EXPIRY, REASON, TRANSITION, CHANGED] }
        }
        StatementName::Abandon => const { &[STATE, REVISION, NO_LEASE, NO_RETRY, NO_EXPIRY, REASON, TRANSITION, CHANGED] },
        StatementName::Release | StatementName::ResolveNoEffect => {
            const { &[STATE, LIMIT, REVISION, NO_LEASE, RETRY, EXPIRY, REASON, TRANSITION, CHANGED] }
        }
        StatementName::ResolveCompleted => {
            const { &[STATE, REVISION, NO_LEASE, NO_RETRY, EXPIRY, REASON, TRANSITION, RESULT, RESPONSE, CHANGED] }
        }
    }
}
