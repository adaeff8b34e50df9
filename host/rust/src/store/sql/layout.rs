//! The tables: made where there are none, refused where they are of another layout.

use std::sync::Arc;
use std::time::Instant;

use super::{Driver, Migrate, SqlStore};

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database refuses.
    #[error("{place}: {why}")]
    Database {
        /// The store.
        place: String,
        /// What happened, and what to do.
        why: String,
    },
    /// There is no layout, and none may be made.
    #[error("{0} has no layout of leasehold yet: run `leasehold serve` or `leasehold migrate --store {0}` first")]
    Empty(String),
    /// The layout is of another version.
    #[error(
        "{place} has layout {found} of leasehold; this build knows layout {known}. Use a build that knows {found}, or another store"
    )]
    Version {
        /// The store.
        place: String,
        /// What it has.
        found: u64,
        /// What this build knows.
        known: u32,
    },
    /// Another kind of store laid it out.
    #[error("{place} was laid out by the provider {found:?}, not by {provider}; name another store")]
    Provider {
        /// The store.
        place: String,
        /// Who laid it out.
        found: String,
        /// Who was to use it.
        provider: &'static str,
    },
    /// Some tables are there, but not the row that says which layout they are of.
    #[error(
        "{0} has tables of leasehold but no layout version: making them was broken off, or they were restored in part; restore it from a \
         backup, remove the tables whose names begin with leasehold_, or name another store"
    )]
    HalfDone(String),
}

/// Checks the layout, and makes it where there is none and that is allowed.
pub(in crate::store) async fn prepare<D: Driver>(store: &SqlStore<D>, migrate: Migrate) -> Result<(), OpenError> {
    let mut connection = connect(store).await?;
    if settled(store, &mut connection).await? {
        return if migrate == Migrate::Allowed { can_be_written(store, &mut connection).await } else { Ok(()) };
    }
    if migrate == Migrate::Refused {
        return Err(OpenError::Empty(store.place.clone()));
    }
    lay_all::<D>(store, &mut connection, D::LOCK_LAYOUT).await?;
    let made = make(store, &mut connection).await;
    let end = match (D::LAYOUT_IN_TRANSACTION, made.is_ok()) {
        (true, true) => &["COMMIT"][..],
        (true, false) => &["ROLLBACK"],
        (false, _) => D::UNLOCK_LAYOUT,
    };
    let ended = lay_all::<D>(store, &mut connection, end).await;
    made.and(ended)
}

/// Several processes may open a fresh file at once: making it ready needs the whole file, and is not waited for by SQLite.
async fn connect<D: Driver>(store: &SqlStore<D>) -> Result<sqlx::pool::PoolConnection<D>, OpenError> {
    let started = Instant::now();
    loop {
        match store.writer.acquire().await {
            Ok(connection) => return Ok(connection),
            Err(error) if D::is_locked(&error) && started.elapsed() < store.command_timeout => {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Err(error) => return Err(refused::<D>(store, &error)),
        }
    }
}

fn refused<D: Driver>(store: &SqlStore<D>, error: &sqlx::Error) -> OpenError {
    OpenError::Database { place: store.place.clone(), why: D::explain(error) }
}

/// Whether there is a layout, once nobody is making one: where tables are made one by one, half of them may be somebody's work under
/// way, and whoever makes them holds the lock.
async fn settled<D: Driver>(store: &SqlStore<D>, connection: &mut D::Connection) -> Result<bool, OpenError> {
    match is_laid_out(store, connection).await {
        Err(OpenError::HalfDone(_)) if !D::LAYOUT_IN_TRANSACTION => {
            lay_all::<D>(store, connection, D::LOCK_LAYOUT).await?;
            let found = is_laid_out(store, connection).await;
            lay_all::<D>(store, connection, D::UNLOCK_LAYOUT).await?;
            found
        }
        found => found,
    }
}

async fn lay_all<D: Driver>(store: &SqlStore<D>, connection: &mut D::Connection, texts: &[&'static str]) -> Result<(), OpenError> {
    for text in texts {
        D::lay(connection, text).await.map_err(|error| refused::<D>(store, &error))?;
    }
    Ok(())
}

/// A store that can be read alone is found out at start-up, not at the first request: a statement that writes no row tells. One that is
/// locked just now is another matter.
async fn can_be_written<D: Driver>(store: &SqlStore<D>, connection: &mut D::Connection) -> Result<(), OpenError> {
    match D::lay(connection, "DELETE FROM leasehold_layout WHERE version < 0").await {
        Ok(()) => Ok(()),
        Err(error) if D::is_locked(&error) => Ok(()),
        Err(error) => Err(refused::<D>(store, &error)),
    }
}

/// Under the lock, so that of two processes only one makes it.
async fn make<D: Driver>(store: &SqlStore<D>, connection: &mut D::Connection) -> Result<(), OpenError> {
    if is_laid_out(store, connection).await? {
        return Ok(());
    }
    for text in &store.catalogue.layout().statements {
        D::lay(connection, text).await.map_err(|error| refused::<D>(store, &error))?;
    }
    Ok(())
}

async fn is_laid_out<D: Driver>(store: &SqlStore<D>, connection: &mut D::Connection) -> Result<bool, OpenError> {
    let wrap = |error: sqlx::Error| refused::<D>(store, &error);
    let tables = D::fetch(connection, &Arc::from(D::TABLES), &[]).await.map_err(wrap)?;
    let names = tables.iter().map(|row| D::text(row, 0)).collect::<Result<Vec<_>, _>>().map_err(wrap)?;
    if names.is_empty() {
        return Ok(false);
    }
    if !names.iter().flatten().any(|name| name == "leasehold_layout") {
        return Err(OpenError::HalfDone(store.place.clone()));
    }
    let unreadable = |why: String| OpenError::Database { place: store.place.clone(), why };
    let prepared = store.catalogue.statement("layout.read").map_err(|error| unreadable(error.to_string()))?;
    let rows = D::fetch(connection, &prepared.text, &[]).await.map_err(wrap)?;
    let Some(row) = rows.first() else {
        return Err(OpenError::HalfDone(store.place.clone()));
    };
    let found = super::rows::integer::<D>(row, 0).map_err(unreadable)?;
    let provider = D::text(row, 1).map_err(wrap)?.unwrap_or_default();
    let known = store.catalogue.layout().version;
    if provider != D::PROVIDER {
        return Err(OpenError::Provider { place: store.place.clone(), found: provider, provider: D::PROVIDER });
    }
    if found != u64::from(known) {
        return Err(OpenError::Version { place: store.place.clone(), found, known });
    }
    Ok(true)
}
