//! A store does two things: it reads a record together with its clock, and it executes the one statement of a decision. It never
//! decides. The result of a swap has three values: applied, refused, unknown.
//!
//! Implementations: [`sqlite`], [`postgres`], [`mysql`], all of them [`sql::SqlStore`]. Tests: `tests/tests/stores/`, and every vector on each.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use leasehold_decision::{CallTexts, Family, Row, Write};

pub mod mysql;
pub mod postgres;
pub mod sql;
pub mod sqlite;
mod url;

pub use url::{ServerUrl, StoreUrl, StoreUrlError};

/// A boxed future, so that stores can be chosen at run time.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A row, with the columns that no decision reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredRow {
    /// What decisions read and set.
    pub row: Row,
    /// The stored result.
    pub response: Option<Vec<u8>>,
    /// When the record was made. Milliseconds since the epoch.
    pub created_at: u64,
    /// When it was last written. Milliseconds since the epoch.
    pub changed_at: u64,
}

/// A record and the store's clock, read in one statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The store's clock. Milliseconds since the epoch.
    pub now: u64,
    /// The newest version of the secrets that the store knows.
    pub secret_version: Option<u32>,
    /// The row, if there is one.
    pub stored: Option<StoredRow>,
}

/// A row that cannot be read as one: told, never guessed at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CorruptRow {
    /// Its key.
    pub scope: String,
    /// What is wrong with it.
    pub what: String,
}

/// What a swap's statement did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Swap {
    /// It changed one row.
    Applied,
    /// It changed none: the record moved, or the insert came too late.
    Refused,
    /// Its reply was lost: whether it changed a row is not known.
    Unknown(String),
}

/// A store's fault.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be asked, or refused with nothing done.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A row cannot be read.
    #[error("the record {} is corrupt: {}; nothing is written. Repair the row, or settle it by hand", .0.scope, .0.what)]
    Corrupt(CorruptRow),
    /// The store did what no store may do.
    #[error("a fault in the store: {0}")]
    Fault(String),
}

/// A decision's write, with all that its parameters come from.
#[derive(Clone, Copy, Debug)]
pub struct SwapRequest<'a> {
    /// Which table.
    pub family: Family,
    /// Which record.
    pub scope: &'a str,
    /// The row as read.
    pub before: Option<&'a Row>,
    /// The decision's write.
    pub write: &'a Write,
    /// The texts of the call.
    pub texts: &'a CallTexts<'a>,
    /// The clock reading of the decision. Milliseconds since the epoch.
    pub now: u64,
    /// Past this on the store's clock an insert changes 0 rows. Milliseconds since the epoch.
    pub deadline: u64,
    /// The result that is to be stored.
    pub response: Option<&'a [u8]>,
}

/// Who gave a verdict, and why: goes into the audit in the same transaction.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'a> {
    /// The verdict's name.
    pub verdict: &'a str,
    /// Who.
    pub actor: &'a str,
    /// Why.
    pub reason: &'a str,
    /// The row before, as JSON.
    pub before: &'a str,
}

/// A verdict that was given.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct AuditEntry {
    /// About which attempt.
    pub attempt: u64,
    /// About which revision.
    pub revision: u64,
    /// The verdict's name.
    pub verdict: String,
    /// Who.
    pub actor: String,
    /// Why.
    pub reason: String,
    /// When. Milliseconds since the epoch.
    pub at: u64,
}

/// What a late transition wanted to say, kept for those who settle the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// By which attempt.
    pub attempt: u64,
    /// When it was kept. Milliseconds since the epoch; set by the store.
    pub at: u64,
    /// The transition that was refused.
    pub kind: String,
    /// The outcome that refused it.
    pub refused: String,
    /// Digest of the result.
    pub digest: Option<String>,
    /// Its reason.
    pub reason: Option<String>,
    /// The result itself.
    pub response: Option<Vec<u8>>,
}

/// A position in a list of rows: behind this time and scope.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct After {
    /// Milliseconds since the epoch.
    pub time: u64,
    /// The last scope seen.
    pub scope: String,
}

/// A page of rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Page {
    /// The store's clock. Milliseconds since the epoch; 0 where there is no row.
    pub now: u64,
    /// The rows that can be read.
    pub rows: Vec<StoredRow>,
    /// The rows that cannot.
    pub corrupt: Vec<CorruptRow>,
    /// Where the next page begins; `None` behind the last.
    pub next: Option<After>,
}

/// Which rows are listed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum List {
    /// Abandoned: they wait for a verdict. Oldest first.
    Waiting,
    /// Under way, with a lease that is over. Oldest lease first.
    Lapsed,
}

/// A version of the secrets, as the store knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretVersion {
    /// Its number.
    pub version: u32,
    /// From when it makes new records. Milliseconds since the epoch.
    pub active_from: u64,
    /// A keyed hash by which two hosts find out that they mean different secrets.
    pub check_value: String,
}

/// A store.
#[allow(clippy::missing_errors_doc, reason = "every call fails alike: see StoreError")]
pub trait Store: Send + Sync {
    /// What kind of store this is, for people.
    fn provider(&self) -> &'static str;

    /// The record and the store's clock, in one statement.
    fn read<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Reading, StoreError>>;

    /// Executes a decision's write.
    fn swap<'a>(&'a self, request: SwapRequest<'a>) -> StoreFuture<'a, Result<Swap, StoreError>>;

    /// Executes a verdict's write and its audit entry, both or none.
    fn swap_audited<'a>(&'a self, request: SwapRequest<'a>, audit: Audit<'a>) -> StoreFuture<'a, Result<Swap, StoreError>>;

    /// The store's clock. Milliseconds since the epoch.
    fn clock(&self) -> StoreFuture<'_, Result<u64, StoreError>>;

    /// A page of rows.
    fn list<'a>(&'a self, family: Family, list: List, after: &'a After, limit: u32) -> StoreFuture<'a, Result<Page, StoreError>>;

    /// How many wait for a verdict.
    fn waiting(&self, family: Family) -> StoreFuture<'_, Result<u64, StoreError>>;

    /// Removes up to `limit` rows that ended at least `failure_retention` ago, and says how many.
    fn purge(&self, family: Family, failure_retention: Duration, limit: u32) -> StoreFuture<'_, Result<u64, StoreError>>;

    /// Keeps what a late transition wanted to say; `false` where there is enough of it already.
    fn keep_evidence<'a>(
        &'a self,
        family: Family,
        scope: &'a str,
        evidence: &'a Evidence,
    ) -> StoreFuture<'a, Result<bool, StoreError>>;

    /// The evidence of a record, oldest first.
    fn evidence<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<Evidence>, StoreError>>;

    /// The verdicts on a record, oldest first.
    fn audit<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<AuditEntry>, StoreError>>;

    /// The versions of the secrets that the store knows, and its clock.
    fn secrets(&self) -> StoreFuture<'_, Result<(u64, Vec<SecretVersion>), StoreError>>;

    /// Enters the first version; `false` where there is one already.
    fn first_secret<'a>(&'a self, version: u32, check_value: &'a str) -> StoreFuture<'a, Result<bool, StoreError>>;

    /// Enters a newer version that makes new records from `active_from` on; `false` where the instant is less than `notice` ahead,
    /// or where the version or the instant is not past those known.
    fn rotate_secret<'a>(&'a self, next: &'a SecretVersion, notice: Duration) -> StoreFuture<'a, Result<bool, StoreError>>;

    /// Lets go of the store, once what is under way has ended.
    fn close(&self) -> StoreFuture<'_, ()>;
}
