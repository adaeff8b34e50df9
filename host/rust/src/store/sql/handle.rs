//! A SQL store of any kind, for what needs more of it than [`Store`]: transactions that are shared with the caller, and vectors.

use std::sync::Arc;

use leasehold_decision::{Family, Row};
use sqlx::{MySql, Postgres, Sqlite};

use super::{Driver, SqlStore};
use crate::store::{Store, StoreError};

/// A SQL store of any kind.
#[derive(Clone, Debug)]
pub enum SqlHandle {
    /// A file of SQLite.
    Sqlite(SqlStore<Sqlite>),
    /// A database of PostgreSQL.
    Postgres(SqlStore<Postgres>),
    /// A database of MySQL or MariaDB.
    Mysql(SqlStore<MySql>),
}

impl SqlHandle {
    /// As a store.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(store) => Arc::new(store.clone()),
            Self::Postgres(store) => Arc::new(store.clone()),
            Self::Mysql(store) => Arc::new(store.clone()),
        }
    }
}

#[cfg(feature = "cli")]
impl SqlHandle {
    /// For vectors: makes these rows, all or none. Their scopes must be free.
    pub(crate) async fn put_rows(&self, rows: &[(Family, Row)]) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.put_rows(rows).await,
            Self::Postgres(store) => store.put_rows(rows).await,
            Self::Mysql(store) => store.put_rows(rows).await,
        }
    }

    /// For vectors: takes these rows away, where they are.
    pub(crate) async fn remove_rows(&self, scopes: &[(Family, String)]) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(store) => store.remove_rows(scopes).await,
            Self::Postgres(store) => store.remove_rows(scopes).await,
            Self::Mysql(store) => store.remove_rows(scopes).await,
        }
    }

    /// For vectors: whether a record can lie in its table at all.
    pub(crate) fn can_hold(&self, family: Family, row: &Row) -> bool {
        match self {
            Self::Sqlite(store) => store.can_hold(family, row),
            Self::Postgres(store) => store.can_hold(family, row),
            Self::Mysql(store) => store.can_hold(family, row),
        }
    }
}

/// A driver whose store may be behind a [`SqlHandle`].
pub trait Handled: Driver {
    /// The store, where it is of this kind.
    fn of(handle: &SqlHandle) -> Option<&SqlStore<Self>>;
}

impl Handled for Sqlite {
    fn of(handle: &SqlHandle) -> Option<&SqlStore<Self>> {
        if let SqlHandle::Sqlite(store) = handle { Some(store) } else { None }
    }
}

impl Handled for Postgres {
    fn of(handle: &SqlHandle) -> Option<&SqlStore<Self>> {
        if let SqlHandle::Postgres(store) = handle { Some(store) } else { None }
    }
}

impl Handled for MySql {
    fn of(handle: &SqlHandle) -> Option<&SqlStore<Self>> {
        if let SqlHandle::Mysql(store) = handle { Some(store) } else { None }
    }
}
