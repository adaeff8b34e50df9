//! The embedded SQLite: one file, WAL, every commit on the disk before it counts.
//!
//! One connection writes, a few read. Statements are the catalogue's; each swap is one statement in a transaction of its own, so
//! an error means that nothing was done, unless the disk itself failed.
//! Tests: `tests/tests/host/file.rs`, `tests/tests/sqlite.rs`, and every vector.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use leasehold_decision::Family;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use super::{
    After, Audit, AuditEntry, CorruptRow, Evidence, List, Page, Reading, SecretVersion, Store, StoreError, StoreFuture, Swap,
    SwapRequest,
};
use crate::catalogue::Catalogue;

mod errors;
#[cfg(feature = "cli")]
mod fixtures;
mod layout;
mod rows;
mod statements;

pub use layout::OpenError;

use errors::{swap_error, unavailable};
use rows::Decoder;
use statements::{Given, statement};

/// How long a statement waits for another process's lock, at most, unless something else is said.
pub const COMMAND_TIMEOUT_MAX_DEFAULT: Duration = Duration::from_secs(5);
/// How long a caller waits for a connection of the pool.
pub const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections that read.
const READERS_MAX: u32 = 4;
/// Late results kept of one record.
pub const EVIDENCE_ENTRIES_MAX: u32 = 16;
/// Verdicts and late results shown of one record.
const SHOWN_ENTRIES_MAX: u64 = 100;

/// May the store be laid out (or created) when it is opened?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Migrate {
    /// Yes.
    Allowed,
    /// No: an empty or absent file is refused.
    Refused,
}

/// How SQLite itself is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// How long a statement waits for another process's lock: shorter than the leases that are held in this file, see
    /// [`command_timeout`].
    pub command_timeout: Duration,
    /// How long a caller waits for a connection of the pool.
    pub acquire_timeout: Duration,
    /// Pages that the file may have at most; a write past it is refused as on a full disk. `None`: as many as the disk holds.
    pub pages_max: Option<u32>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { command_timeout: COMMAND_TIMEOUT_MAX_DEFAULT, acquire_timeout: ACQUIRE_TIMEOUT, pages_max: None }
    }
}

/// How long a statement may wait for another process's lock where the shortest lease is this long: half of it, and never more than
/// [`COMMAND_TIMEOUT_MAX_DEFAULT`], so that a renewal that waited is told before its lease is over.
#[must_use]
pub fn command_timeout(shortest_lease: Duration) -> Duration {
    (shortest_lease / 2).min(COMMAND_TIMEOUT_MAX_DEFAULT)
}

/// A store in a file of SQLite.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    readers: SqlitePool,
    writer: SqlitePool,
    catalogue: Arc<Catalogue>,
    path: PathBuf,
    command_timeout: Duration,
}

impl SqliteStore {
    /// Opens the file, and lays it out where that is needed and allowed.
    ///
    /// # Errors
    /// The file cannot be used, or has a layout that this build does not know.
    pub async fn open(path: &Path, catalogue: Arc<Catalogue>, migrate: Migrate) -> Result<Self, OpenError> {
        Self::open_with(path, catalogue, migrate, Tuning::default()).await
    }

    /// As [`SqliteStore::open`], with SQLite set otherwise.
    ///
    /// # Errors
    /// The file cannot be used, or has a layout that this build does not know.
    pub async fn open_with(path: &Path, catalogue: Arc<Catalogue>, migrate: Migrate, tuning: Tuning) -> Result<Self, OpenError> {
        let mut options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(migrate == Migrate::Allowed)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(tuning.command_timeout)
            .statement_cache_capacity(200)
            .foreign_keys(false);
        if let Some(pages_max) = tuning.pages_max {
            options = options.pragma("max_page_count", pages_max.to_string());
        }
        let pool = |connections, options: SqliteConnectOptions| {
            SqlitePoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(tuning.acquire_timeout)
                .idle_timeout(None)
                .max_lifetime(None)
                .test_before_acquire(false)
                .connect_lazy_with(options)
        };
        let store = Self {
            readers: pool(READERS_MAX, options.clone().pragma("query_only", "1")),
            writer: pool(1, options),
            catalogue,
            path: path.to_owned(),
            command_timeout: tuning.command_timeout,
        };
        layout::prepare(&store, migrate).await?;
        Ok(store)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The pool that writes; the executor of transactions begins them here.
    pub(crate) const fn writer(&self) -> &SqlitePool {
        &self.writer
    }

    /// The pool that reads, for the bare loop of the measurements.
    #[cfg(feature = "cli")]
    pub(crate) const fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// As [`Store::read`], on a connection of the caller's.
    pub(crate) async fn read_on(
        &self,
        connection: &mut SqliteConnection,
        family: Family,
        scope: &str,
    ) -> Result<Reading, StoreError> {
        let prepared = self.catalogue.statement(statements::id(family, statements::READ)).map_err(fault)?;
        let given = Given { scope, ..Given::default() };
        let row =
            statement(prepared, |source| given.value(source)).fetch_one(connection).await.map_err(|error| unavailable(&error))?;
        let decoder = Decoder { catalogue: &self.catalogue, family, row: &row, first: 2 };
        let number = |index| rows::integer(&row, index).map_err(StoreError::Fault);
        let secret_version = match row.try_get::<Option<i64>, _>(1) {
            Ok(version) => version.and_then(|version| u32::try_from(version).ok()),
            Err(error) => return Err(StoreError::Fault(error.to_string())),
        };
        Ok(Reading { now: number(0)?, secret_version, stored: decoder.optional().map_err(StoreError::Corrupt)? })
    }

    /// As [`Store::swap`], on a connection of the caller's.
    pub(crate) async fn swap_on(&self, connection: &mut SqliteConnection, request: SwapRequest<'_>) -> Result<Swap, StoreError> {
        let prepared = self.catalogue.write(request.family, request.write.statement).map_err(fault)?;
        let values = crate::catalogue::WriteValues {
            scope: request.scope,
            before: request.before,
            texts: request.texts,
            write: request.write,
            now: request.now,
            deadline: request.deadline,
            response: request.response,
        };
        let query = statement(prepared, |source| self.catalogue.value(request.family, source, &values));
        match query.execute(connection).await {
            Ok(done) => count(done.rows_affected()),
            Err(error) => swap_error(&error),
        }
    }

    async fn execute(&self, id: &str, given: &Given<'_>) -> Result<u64, StoreError> {
        let prepared = self.catalogue.statement(id).map_err(fault)?;
        let mut connection = self.writer.acquire().await.map_err(|error| unavailable(&error))?;
        let done = statement(prepared, |source| given.value(source)).execute(&mut *connection).await;
        done.map(|done| done.rows_affected()).map_err(|error| unavailable(&error))
    }

    async fn rows(&self, id: &str, given: &Given<'_>) -> Result<Vec<sqlx::sqlite::SqliteRow>, StoreError> {
        let prepared = self.catalogue.statement(id).map_err(fault)?;
        let mut connection = self.readers.acquire().await.map_err(|error| unavailable(&error))?;
        let rows = statement(prepared, |source| given.value(source)).fetch_all(&mut *connection).await;
        rows.map_err(|error| unavailable(&error))
    }
}

fn fault(error: impl std::fmt::Display) -> StoreError {
    StoreError::Fault(error.to_string())
}

/// The update count is the answer: 1 is "still yours", 0 is "moved", any other count is a fault.
fn count(rows: u64) -> Result<Swap, StoreError> {
    match rows {
        1 => Ok(Swap::Applied),
        0 => Ok(Swap::Refused),
        more => Err(StoreError::Fault(format!("a statement for one record changed {more} rows"))),
    }
}

impl Store for SqliteStore {
    fn provider(&self) -> &'static str {
        "sqlite"
    }

    fn read<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Reading, StoreError>> {
        Box::pin(async move {
            let mut connection = self.readers.acquire().await.map_err(|error| unavailable(&error))?;
            self.read_on(&mut connection, family, scope).await
        })
    }

    fn swap<'a>(&'a self, request: SwapRequest<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            let mut connection = self.writer.acquire().await.map_err(|error| unavailable(&error))?;
            self.swap_on(&mut connection, request).await
        })
    }

    fn swap_audited<'a>(&'a self, request: SwapRequest<'a>, audit: Audit<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(|error| unavailable(&error))?;
            let swap = self.swap_on(&mut transaction, request).await?;
            if swap != Swap::Applied {
                return Ok(swap);
            }
            let prepared = self.catalogue.statement("audit.insert").map_err(fault)?;
            let given = Given::audit(&request, &audit);
            let done = statement(prepared, |source| given.value(source)).execute(&mut *transaction).await;
            done.map_err(|error| unavailable(&error))?;
            match transaction.commit().await {
                Ok(()) => Ok(Swap::Applied),
                Err(error) => swap_error(&error),
            }
        })
    }

    fn clock(&self) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let rows = self.rows("clock", &Given::default()).await?;
            let row = rows.first().ok_or_else(|| fault("the clock gave no row"))?;
            rows::integer(row, 0).map_err(StoreError::Fault)
        })
    }

    fn list<'a>(&'a self, family: Family, list: List, after: &'a After, limit: u32) -> StoreFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            let given = Given { after: Some(after), limit: u64::from(limit), ..Given::default() };
            let rows = self.rows(statements::id(family, statements::list(list)), &given).await?;
            let mut page = Page::default();
            for row in &rows {
                let decoder = Decoder { catalogue: &self.catalogue, family, row, first: 1 };
                page.now = rows::integer(row, 0).map_err(StoreError::Fault)?;
                page.next = Some(decoder.position(list)?);
                match decoder.stored() {
                    Ok(stored) => page.rows.push(stored),
                    Err(corrupt) => page.corrupt.push(corrupt),
                }
            }
            if u32::try_from(rows.len()).is_ok_and(|rows| rows < limit) {
                page.next = None;
            }
            Ok(page)
        })
    }

    fn waiting(&self, family: Family) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let rows = self.rows(statements::id(family, statements::WAITING_COUNT), &Given::default()).await?;
            let row = rows.first().ok_or_else(|| fault("the count gave no row"))?;
            rows::integer(row, 0).map_err(StoreError::Fault)
        })
    }

    fn purge(&self, family: Family, failure_retention: Duration, limit: u32) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let given = Given { retention: milliseconds(failure_retention), limit: u64::from(limit), ..Given::default() };
            let purged = self.execute(statements::id(family, statements::PURGE), &given).await?;
            let given = Given { retention: milliseconds(failure_retention.max(EVIDENCE_RETENTION)), ..given };
            self.execute("evidence.purge", &given).await?;
            Ok(purged)
        })
    }

    fn keep_evidence<'a>(
        &'a self,
        family: Family,
        scope: &'a str,
        evidence: &'a Evidence,
    ) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let given = Given {
                family: family.name(),
                scope,
                evidence: Some(evidence),
                limit: u64::from(EVIDENCE_ENTRIES_MAX),
                ..Given::default()
            };
            self.execute("evidence.insert", &given).await.map(|rows| rows == 1)
        })
    }

    fn evidence<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<Evidence>, StoreError>> {
        Box::pin(async move {
            let given = Given { family: family.name(), scope, limit: SHOWN_ENTRIES_MAX, ..Given::default() };
            let rows = self.rows("evidence.list", &given).await?;
            rows.iter().map(|row| rows::evidence(row).map_err(StoreError::Fault)).collect()
        })
    }

    fn audit<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        Box::pin(async move {
            let given = Given { family: family.name(), scope, limit: SHOWN_ENTRIES_MAX, ..Given::default() };
            let rows = self.rows("audit.list", &given).await?;
            rows.iter().map(|row| rows::audit(row).map_err(StoreError::Fault)).collect()
        })
    }

    fn secrets(&self) -> StoreFuture<'_, Result<(u64, Vec<SecretVersion>), StoreError>> {
        Box::pin(async move {
            let rows = self.rows("secret.list", &Given::default()).await?;
            let versions = rows.iter().map(|row| rows::secret(row).map_err(StoreError::Fault)).collect::<Result<Vec<_>, _>>()?;
            let now = match rows.first() {
                Some(row) => rows::integer(row, 0).map_err(StoreError::Fault)?,
                None => self.clock().await?,
            };
            Ok((now, versions))
        })
    }

    fn first_secret<'a>(&'a self, version: u32, check_value: &'a str) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let given = Given { version: u64::from(version), check_value, ..Given::default() };
            self.execute("secret.first", &given).await.map(|rows| rows == 1)
        })
    }

    fn rotate_secret<'a>(&'a self, next: &'a SecretVersion, notice: Duration) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let given = Given {
                version: u64::from(next.version),
                check_value: &next.check_value,
                active_from: next.active_from,
                notice: milliseconds(notice),
                ..Given::default()
            };
            self.execute("secret.rotate", &given).await.map(|rows| rows == 1)
        })
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.readers.close().await;
            self.writer.close().await;
        })
    }
}

/// Evidence outlives the record's retention, since those who settle a record may come late.
const EVIDENCE_RETENTION: Duration = Duration::from_secs(90 * 24 * 3_600);

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A row whose key is known and whose content is not.
fn corrupt(scope: &str, what: String) -> CorruptRow {
    CorruptRow { scope: scope.to_owned(), what }
}

/// A text of the catalogue: it comes from the component that this host trusts, and holds no values.
fn trusted(text: &Arc<str>) -> AssertSqlSafe<Arc<str>> {
    AssertSqlSafe(Arc::clone(text))
}
