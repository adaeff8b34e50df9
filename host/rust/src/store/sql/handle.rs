//! A SQL store of any kind, for what needs more of it than [`Store`]: transactions that are shared with the caller, and vectors.

use std::sync::Arc;

use sqlx::{MySql, Postgres, Sqlite};

#[cfg(feature = "cli")]
use super::fixtures::Fixtures;
use super::{Driver, SqlStore};
use crate::store::Store;

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
    /// For vectors.
    pub(crate) fn fixtures(&self) -> &dyn Fixtures {
        match self {
            Self::Sqlite(store) => store,
            Self::Postgres(store) => store,
            Self::Mysql(store) => store,
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
