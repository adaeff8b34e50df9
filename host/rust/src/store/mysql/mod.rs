//! MySQL 8.0 and MariaDB 10.6 and later, with InnoDB. One pool for all; every statement is prepared once a connection.
//!
//! Right under REPEATABLE READ and READ COMMITTED: each swap is one statement, and an update reads what is committed. Tests:
//! `tests/tests/stores/`, and every vector.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use leasehold_decision::statements::Dialect;
use sqlx::mysql::{MySqlArguments, MySqlConnectOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, MySql};

use super::sql::{Driver, Migrate, OpenError, SqlStore, bound_query, columns_and_parameters, pool_of_a_server, prepare};
use super::url::ServerUrl;
use crate::catalogue::Catalogue;

mod errors;

/// A store in a MySQL or MariaDB database.
pub type MySqlStore = SqlStore<MySql>;

impl SqlStore<MySql> {
    /// Connects, and lays the database out where that is needed and allowed. A statement waits for a lock for at most `command_timeout`,
    /// in whole seconds and at least one.
    ///
    /// # Errors
    /// The database cannot be used, or has a layout that this build does not know.
    pub async fn connect(
        url: &ServerUrl,
        catalogue: Arc<Catalogue>,
        migrate: Migrate,
        command_timeout: Duration,
    ) -> Result<Self, OpenError> {
        let place = url.to_string();
        let options = MySqlConnectOptions::from_str(url.secret())
            .map_err(|error| OpenError::Database { place: place.clone(), why: error.to_string() })?;
        let options = options.charset("utf8mb4").collation("utf8mb4_bin").statement_cache_capacity(200).disable_statement_logging();
        let session: Arc<str> = format!("SET SESSION innodb_lock_wait_timeout = {}", command_timeout.as_secs().max(1)).into();
        let pool = pool_of_a_server::<MySql>(command_timeout)
            .after_connect(move |connection, _| {
                let session = Arc::clone(&session);
                Box::pin(async move { connection.execute(AssertSqlSafe(session)).await.map(|_| ()) })
            })
            .connect_lazy_with(options);
        let store = Self { readers: pool.clone(), writer: pool, catalogue, place, path: None, command_timeout };
        prepare(&store, migrate).await?;
        Ok(store)
    }
}

bound_query!(MySql, MySqlArguments);

impl Driver for MySql {
    const PROVIDER: &'static str = "mysql";
    const DIALECT: Dialect = Dialect::Mysql;
    const BEGIN: &'static str = "START TRANSACTION";
    const LOCK_LAYOUT: &'static [&'static str] = &["DO GET_LOCK('leasehold_layout', 10)"];
    const UNLOCK_LAYOUT: &'static [&'static str] = &["DO RELEASE_LOCK('leasehold_layout')"];
    /// Each statement that makes a table commits by itself, so a migration that is broken off is found half done.
    const LAYOUT_IN_TRANSACTION: bool = false;
    const TABLES: &'static str = "SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = DATABASE() \
                                  AND table_name LIKE 'leasehold\\_%'";

    columns_and_parameters!();
}
