//! A fresh store of a kind, by name.

use std::sync::Arc;
use std::time::Duration;

use leasehold::store::mysql::MySqlStore;
use leasehold::store::postgres::PostgresStore;
use leasehold::store::sql::{Migrate, OpenError, SqlHandle};
use leasehold::store::sqlite::SqliteStore;
use leasehold::{Leasehold, Settings, StoreUrl};
use leasehold_tests::hosts::{catalogue_of, folder, host_of, parts};
use leasehold_tests::servers::{Database, Kind, Server};
use tempfile::TempDir;

/// How long a statement may take.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(2);

pub struct Ground {
    /// Its address, with the password.
    pub url: String,
    server: Option<(Arc<Server>, Database)>,
    _folder: Option<TempDir>,
}

impl Ground {
    /// `None`: there is no such server here, which has been said.
    pub fn new(store: &str) -> Option<Self> {
        let kind = match store {
            "sqlite" => {
                let folder = folder();
                let url = format!("sqlite:{}", folder.path().join("leasehold.db").display());
                return Some(Self { url, server: None, _folder: Some(folder) });
            }
            "postgres" => Kind::Postgres,
            "mariadb" => Kind::Mariadb,
            other => panic!("{other} is no store"),
        };
        Some(Self::on(Server::shared(kind)?))
    }

    /// A database of a server of the test's own.
    pub fn on(server: Arc<Server>) -> Self {
        let database = server.database();
        Self { url: database.url.clone(), server: Some((server, database)), _folder: None }
    }

    /// The same store, by another address.
    pub fn with_url(&self, url: &str) -> Self {
        Self { url: url.to_owned(), server: self.server.clone(), _folder: None }
    }

    pub fn address(&self) -> StoreUrl {
        self.url.parse().expect("a store's address")
    }

    pub async fn open(&self, migrate: Migrate) -> Result<SqlHandle, OpenError> {
        let url = self.address();
        let catalogue = catalogue_of(url.dialect());
        Ok(match &url {
            StoreUrl::Sqlite(path) => SqlHandle::Sqlite(SqliteStore::open(path, catalogue, migrate).await?),
            StoreUrl::Postgres(url) => SqlHandle::Postgres(PostgresStore::connect(url, catalogue, migrate, COMMAND_TIMEOUT).await?),
            StoreUrl::Mysql(url) => SqlHandle::Mysql(MySqlStore::connect(url, catalogue, migrate, COMMAND_TIMEOUT).await?),
        })
    }

    /// The store, laid out.
    pub async fn store(&self) -> SqlHandle {
        self.open(Migrate::Allowed).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub async fn host(&self, settings: Settings) -> Leasehold {
        let store = self.store().await;
        host_of(parts(store.store(), Some(store), settings)).await
    }

    /// Executes a text past all hosts, and gives what the server's client printed.
    pub async fn sql(&self, text: &str) -> String {
        match &self.server {
            Some((server, database)) => server.execute(database, text),
            None => {
                use sqlx::Connection as _;
                let StoreUrl::Sqlite(file) = self.address() else { unreachable!("only SQLite has no server") };
                let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
                let mut connection = sqlx::SqliteConnection::connect_with(&options).await.expect("the file opens");
                let rows = sqlx::query(sqlx::AssertSqlSafe(text.to_owned())).fetch_all(&mut connection).await;
                let rows = rows.unwrap_or_else(|error| panic!("{error}: {text}"));
                rows.first().map_or_else(String::new, |row| sqlx::Row::get::<i64, _>(row, 0).to_string())
            }
        }
    }

    pub fn server(&self) -> &Server {
        &self.server.as_ref().expect("this store is a server's").0
    }

    pub fn database(&self) -> &Database {
        &self.server.as_ref().expect("this store is a server's").1
    }
}
