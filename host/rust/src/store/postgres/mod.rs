//! PostgreSQL 12 and later. One pool for all; every statement is prepared once a connection.
//!
//! Right under READ COMMITTED, the server's default. Tests: `tests/tests/stores/`, and every vector.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use leasehold_decision::statements::Dialect;
use sqlx::postgres::{PgArguments, PgConnectOptions};
use sqlx::{ConnectOptions as _, Postgres};

use super::sql::{Driver, Migrate, OpenError, SqlStore, bound_query, columns_and_parameters, pool_of_a_server, prepare};
use super::url::ServerUrl;
use crate::catalogue::Catalogue;

mod errors;

/// A store in a PostgreSQL database.
pub type PostgresStore = SqlStore<Postgres>;

impl SqlStore<Postgres> {
    /// Connects, and lays the database out where that is needed and allowed. A statement takes at most `command_timeout`.
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
        let options = PgConnectOptions::from_str(url.secret())
            .map_err(|error| OpenError::Database { place: place.clone(), why: error.to_string() })?;
        // A lock is given up first, so that the error says what it was.
        let timeout = |part: u32| format!("{}ms", (command_timeout * part / 10).as_millis().max(1));
        let options = options
            .application_name("leasehold")
            .statement_cache_capacity(200)
            .options([("statement_timeout", timeout(10)), ("lock_timeout", timeout(8))])
            .disable_statement_logging();
        let pool = pool_of_a_server::<Postgres>(command_timeout).connect_lazy_with(options);
        let store = Self { readers: pool.clone(), writer: pool, catalogue, place, path: None, command_timeout };
        prepare(&store, migrate).await?;
        Ok(store)
    }
}

bound_query!(Postgres, PgArguments);

impl Driver for Postgres {
    const PROVIDER: &'static str = "postgres";
    const DIALECT: Dialect = Dialect::Postgres;
    const BEGIN: &'static str = "BEGIN ISOLATION LEVEL READ COMMITTED";
    /// The number is the first eight bytes of SHA-256("leasehold_layout"), as PostgreSQL counts them.
    const LOCK_LAYOUT: &'static [&'static str] = &["BEGIN", "SELECT pg_advisory_xact_lock(-7759578827899252177)"];
    const UNLOCK_LAYOUT: &'static [&'static str] = &[];
    const LAYOUT_IN_TRANSACTION: bool = true;
    const TABLES: &'static str =
        "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'leasehold\\_%'";

    columns_and_parameters!();
}
