//! The file's layout: made in one transaction where there is none, refused where it is another one.

use std::path::PathBuf;
use std::time::Instant;

use sqlx::{Row as _, SqliteConnection};

use super::errors::{explain, is_busy};
use super::{AssertSqlSafe, Migrate, SqliteStore};

/// Why a file cannot be used as a store.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// SQLite refuses.
    #[error("{path}: {why}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What happened, and what to do.
        why: String,
    },
    /// There is no layout, and none may be made.
    #[error("{0} has no layout of leasehold yet: run `leasehold serve` or `leasehold migrate --store sqlite:{0}` first")]
    Empty(PathBuf),
    /// The layout is of another version.
    #[error(
        "{path} has layout {found} of leasehold; this build knows layout {known}. Use a build that knows {found}, or another file"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// What it has.
        found: i64,
        /// What this build knows.
        known: u32,
    },
    /// Another kind of store laid it out.
    #[error("{path} was laid out by the provider {found:?}, not by sqlite; name another file")]
    Provider {
        /// The file.
        path: PathBuf,
        /// Who laid it out.
        found: String,
    },
    /// Some tables are there, but not the one that says which layout they are of.
    #[error("{0} has tables of leasehold but no layout version; restore it from a backup, or name another file")]
    HalfDone(PathBuf),
}

/// Checks the layout, and makes it where there is none and that is allowed.
pub(super) async fn prepare(store: &SqliteStore, migrate: Migrate) -> Result<(), OpenError> {
    let wrap = |error: &sqlx::Error| OpenError::Sqlite { path: store.path.clone(), why: explain(error) };
    let started = Instant::now();
    // Several processes may open a fresh file at once: switching it to WAL needs the whole file, and is not waited for by SQLite.
    let mut connection = loop {
        match store.writer.acquire().await {
            Ok(connection) => break connection,
            Err(error) if is_busy(&error) && started.elapsed() < store.command_timeout => {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Err(error) => return Err(wrap(&error)),
        }
    };
    if is_laid_out(store, &mut connection).await? {
        return if migrate == Migrate::Allowed { can_be_written(store, &mut connection).await } else { Ok(()) };
    }
    if migrate == Migrate::Refused {
        return Err(OpenError::Empty(store.path.clone()));
    }
    let begin = sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await;
    begin.map_err(|error| wrap(&error))?;
    let made = make(store, &mut connection).await;
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = sqlx::query(end).execute(&mut *connection).await;
    made.and(ended.map(|_| ()).map_err(|error| wrap(&error)))
}

/// A file that can be read alone is found out at start-up, not at the first request: `BEGIN IMMEDIATE` does not tell, a statement
/// that writes no row does. A file that is locked just now is another matter.
async fn can_be_written(store: &SqliteStore, connection: &mut SqliteConnection) -> Result<(), OpenError> {
    match sqlx::query("DELETE FROM leasehold_layout WHERE 0").execute(connection).await {
        Ok(_) => Ok(()),
        Err(error) if is_busy(&error) => Ok(()),
        Err(error) => Err(OpenError::Sqlite { path: store.path.clone(), why: explain(&error) }),
    }
}

/// Under the write lock, so that of two processes only one makes it.
async fn make(store: &SqliteStore, connection: &mut SqliteConnection) -> Result<(), OpenError> {
    if is_laid_out(store, connection).await? {
        return Ok(());
    }
    for text in &store.catalogue.layout().statements {
        let made = sqlx::query(AssertSqlSafe(text.as_str())).execute(&mut *connection).await;
        made.map_err(|error| OpenError::Sqlite { path: store.path.clone(), why: explain(&error) })?;
    }
    Ok(())
}

async fn is_laid_out(store: &SqliteStore, connection: &mut SqliteConnection) -> Result<bool, OpenError> {
    let wrap = |error: sqlx::Error| OpenError::Sqlite { path: store.path.clone(), why: explain(&error) };
    let tables = sqlx::query("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'leasehold\\_%' ESCAPE '\\'")
        .fetch_all(&mut *connection)
        .await
        .map_err(wrap)?;
    let names = tables.iter().map(|row| row.try_get::<String, _>(0)).collect::<Result<Vec<_>, _>>().map_err(wrap)?;
    if names.is_empty() {
        return Ok(false);
    }
    if !names.iter().any(|name| name == "leasehold_layout") {
        return Err(OpenError::HalfDone(store.path.clone()));
    }
    let prepared = store
        .catalogue
        .statement("layout.read")
        .map_err(|error| OpenError::Sqlite { path: store.path.clone(), why: error.to_string() })?;
    let row = sqlx::query(super::trusted(&prepared.text)).fetch_optional(&mut *connection).await.map_err(wrap)?;
    let Some(row) = row else {
        return Err(OpenError::HalfDone(store.path.clone()));
    };
    let (found, provider): (i64, String) = (row.try_get(0).map_err(wrap)?, row.try_get(1).map_err(wrap)?);
    let known = store.catalogue.layout().version;
    if provider != "sqlite" {
        return Err(OpenError::Provider { path: store.path.clone(), found: provider });
    }
    if found != i64::from(known) {
        return Err(OpenError::Version { path: store.path.clone(), found, known });
    }
    Ok(true)
}
