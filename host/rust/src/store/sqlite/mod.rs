//! The embedded SQLite: one file, WAL, every commit on the disk before it counts. One connection writes, a few read.
//!
//! Tests: `tests/tests/host/file.rs`, `tests/tests/sqlite.rs`, and every vector.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use leasehold_decision::statements::Dialect;
use sqlx::Sqlite;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use super::sql::{Driver, SqlStore, bound_query, columns_and_parameters, prepare};
use crate::catalogue::Catalogue;

mod errors;

pub use super::sql::{ACQUIRE_TIMEOUT, COMMAND_TIMEOUT_MAX_DEFAULT, EVIDENCE_ENTRIES_MAX, Migrate, OpenError, command_timeout};

/// Connections that read.
const READERS_MAX: u32 = 4;

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

/// A store in a file of SQLite.
pub type SqliteStore = SqlStore<Sqlite>;

impl SqlStore<Sqlite> {
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
            place: format!("sqlite:{}", path.display()),
            path: Some(path.to_owned()),
            command_timeout: tuning.command_timeout,
        };
        prepare(&store, migrate).await?;
        Ok(store)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        // INVARIANT: `open_with` sets it, and nothing else makes such a store.
        self.path.as_deref().unwrap_or_else(|| Path::new(""))
    }
}

bound_query!(Sqlite, SqliteArguments);

impl Driver for Sqlite {
    const PROVIDER: &'static str = "sqlite";
    const DIALECT: Dialect = Dialect::Sqlite;
    const BEGIN: &'static str = "BEGIN IMMEDIATE";
    const LOCK_LAYOUT: &'static [&'static str] = &["BEGIN IMMEDIATE"];
    const UNLOCK_LAYOUT: &'static [&'static str] = &[];
    const LAYOUT_IN_TRANSACTION: bool = true;
    const TABLES: &'static str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'leasehold\\_%' ESCAPE '\\'";

    columns_and_parameters!();

    fn is_locked(error: &sqlx::Error) -> bool {
        errors::is_busy(error)
    }
}
