//! A store in a SQL database: the catalogue's statements, run as they are, on a pool of the database's driver.
//!
//! Each swap is one statement in a transaction of its own. What an error says of what was done is the driver's to know. Knows no
//! dialect. Tests: `tests/tests/host/file.rs`, `tests/tests/stores/`, and every vector on each database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use leasehold_decision::Family;
use leasehold_decision::statements::StatementKind;
use sqlx::Pool;

use super::{Audit, CorruptRow, Reading, StoreError, Swap, SwapRequest};
use crate::catalogue::{Catalogue, Value, WriteValues};

mod driver;
#[cfg(feature = "cli")]
pub(crate) mod fixtures;
mod given;
mod handle;
mod layout;
mod pool;
mod rows;
mod store;

pub use driver::{Answer, Certainty, Driver};
pub(super) use driver::{bound_query, certainty_without_code, columns_and_parameters, with_advice};
pub use handle::{Handled, SqlHandle};
pub use layout::OpenError;
pub(super) use layout::prepare;
pub use pool::CONNECTIONS_MAX;
pub(super) use pool::pool_of_a_server;

use given::Given;
use rows::Decoder;

/// How long a statement may take or wait for a lock, at most, unless something else is said.
pub const COMMAND_TIMEOUT_MAX_DEFAULT: Duration = Duration::from_secs(5);
/// How long a caller waits for a connection of the pool.
pub const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Late results kept of one record.
pub const EVIDENCE_ENTRIES_MAX: u32 = 16;
/// Verdicts and late results shown of one record.
const SHOWN_ENTRIES_MAX: u64 = 100;
/// Times that a statement is sent which the database broke off with nothing done (a deadlock, a conflict).
const ATTEMPTS_MAX: u32 = 4;
/// Before the n-th of them a store waits n times as long.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(3);

/// May the store be laid out (or created) when it is opened?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Migrate {
    /// Yes.
    Allowed,
    /// No: an empty or absent store is refused.
    Refused,
}

/// How long a statement may take where the shortest lease is this long: half of it, and never more than
/// [`COMMAND_TIMEOUT_MAX_DEFAULT`], so that a renewal that waited is told before its lease is over.
#[must_use]
pub fn command_timeout(shortest_lease: Duration) -> Duration {
    (shortest_lease / 2).min(COMMAND_TIMEOUT_MAX_DEFAULT)
}

/// A store in a SQL database.
#[derive(Debug)]
pub struct SqlStore<D: Driver> {
    pub(super) readers: Pool<D>,
    pub(super) writer: Pool<D>,
    pub(super) catalogue: Arc<Catalogue>,
    /// Where it is, for people: without a password.
    pub(super) place: String,
    /// The file, where it is one.
    pub(super) path: Option<PathBuf>,
    pub(super) command_timeout: Duration,
}

impl<D: Driver> Clone for SqlStore<D> {
    fn clone(&self) -> Self {
        Self {
            readers: self.readers.clone(),
            writer: self.writer.clone(),
            catalogue: Arc::clone(&self.catalogue),
            place: self.place.clone(),
            path: self.path.clone(),
            command_timeout: self.command_timeout,
        }
    }
}

/// A statement that has no answer, and what is known of it.
struct Failure {
    certainty: Certainty,
    why: String,
}

impl Failure {
    fn of<D: Driver>(error: &sqlx::Error) -> Self {
        Self { certainty: D::certainty(error), why: D::explain(error) }
    }

    /// Where nothing was sent yet.
    fn before_sending<D: Driver>(error: &sqlx::Error) -> Self {
        Self { certainty: Certainty::NotDone, why: D::explain(error) }
    }

    /// For a reading, or for what has been rolled back.
    fn unavailable(self) -> StoreError {
        match self.certainty {
            Certainty::Fault => StoreError::Fault(self.why),
            Certainty::NotDone | Certainty::Again | Certainty::Exists | Certainty::Unknown => StoreError::Unavailable(self.why),
        }
    }

    /// For a write.
    fn swap(self, kind: StatementKind) -> Result<Swap, StoreError> {
        match (self.certainty, kind) {
            (Certainty::Exists, StatementKind::Insert) => Ok(Swap::Refused),
            (Certainty::Unknown, _) => Ok(Swap::Unknown(self.why)),
            (Certainty::NotDone | Certainty::Again, _) => Err(StoreError::Unavailable(self.why)),
            (Certainty::Fault | Certainty::Exists, _) => Err(StoreError::Fault(self.why)),
        }
    }
}

impl<D: Driver> SqlStore<D> {
    /// The pool that writes; the executor of transactions begins them here.
    pub(crate) const fn writer(&self) -> &Pool<D> {
        &self.writer
    }

    /// The pool that reads, for the bare loop of the measurements.
    #[cfg(feature = "cli")]
    pub(crate) const fn readers(&self) -> &Pool<D> {
        &self.readers
    }

    /// As [`Store::read`], on a connection of the caller's.
    pub(crate) async fn read_on(&self, connection: &mut D::Connection, family: Family, scope: &str) -> Result<Reading, StoreError> {
        let prepared = self.catalogue.statement(given::id(family, given::READ)).map_err(fault)?;
        let values = Given { scope, ..Given::default() }.values(&prepared.binds);
        let rows = D::fetch(connection, &prepared.text, &values).await;
        self.reading(family, &rows.map_err(|error| Failure::of::<D>(&error).unavailable())?)
    }

    fn reading(&self, family: Family, rows: &[D::Row]) -> Result<Reading, StoreError> {
        let [row] = rows else {
            return Err(fault(format!("a reading gave {} rows", rows.len())));
        };
        let decoder = Decoder::<D> { catalogue: &self.catalogue, family, row, first: 2 };
        let version = D::integer(row, 1).map_err(fault)?;
        Ok(Reading {
            now: rows::integer::<D>(row, 0).map_err(StoreError::Fault)?,
            secret_version: version.and_then(|version| u32::try_from(version).ok()),
            stored: decoder.optional().map_err(StoreError::Corrupt)?,
        })
    }

    /// As [`Store::swap`], on a connection of the caller's.
    pub(crate) async fn swap_on(&self, connection: &mut D::Connection, request: SwapRequest<'_>) -> Result<Swap, StoreError> {
        let prepared = self.catalogue.write(request.family, request.write.statement).map_err(fault)?;
        let values = self.values(&request, prepared);
        match D::run(connection, &prepared.text, &values).await {
            Ok(rows) => count(rows),
            Err(error) => Failure::of::<D>(&error).swap(prepared.kind),
        }
    }

    fn values<'a>(&'a self, request: &SwapRequest<'a>, prepared: &crate::catalogue::Prepared) -> Vec<Value<'a>> {
        let values = WriteValues {
            scope: request.scope,
            before: request.before,
            texts: request.texts,
            write: request.write,
            now: request.now,
            deadline: request.deadline,
            response: request.response,
        };
        prepared.binds.iter().map(|source| self.catalogue.value(request.family, source, &values)).collect()
    }

    /// Sends one statement on a connection of the pool; again where the database broke it off with nothing done.
    async fn run(&self, text: &Arc<str>, values: &[Value<'_>]) -> Result<u64, Failure> {
        let mut attempt = 1;
        loop {
            let failure = match self.run_once(text, values).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => failure,
            };
            if failure.certainty != Certainty::Again || attempt == ATTEMPTS_MAX {
                return Err(failure);
            }
            tokio::time::sleep(ATTEMPT_PAUSE * attempt).await;
            attempt += 1;
        }
    }

    async fn run_once(&self, text: &Arc<str>, values: &[Value<'_>]) -> Result<u64, Failure> {
        let mut connection = self.writer.acquire().await.map_err(|error| Failure::before_sending::<D>(&error))?;
        match tokio::time::timeout(self.patience(), D::run(&mut connection, text, values)).await {
            Ok(done) => done.map_err(|error| Failure::of::<D>(&error)),
            Err(_) => {
                // Its answer may still come: nobody else may have that connection.
                drop(connection.detach());
                Err(self.silent())
            }
        }
    }

    async fn fetch(&self, text: &Arc<str>, values: &[Value<'_>]) -> Result<Vec<D::Row>, StoreError> {
        let unavailable = |error: sqlx::Error| Failure::of::<D>(&error).unavailable();
        let mut connection = self.readers.acquire().await.map_err(unavailable)?;
        match tokio::time::timeout(self.patience(), D::fetch(&mut connection, text, values)).await {
            Ok(rows) => rows.map_err(unavailable),
            Err(_) => {
                drop(connection.detach());
                Err(self.silent().unavailable())
            }
        }
    }

    /// The database ends a statement at the time-out; one that does not answer even then is given up.
    fn patience(&self) -> Duration {
        self.command_timeout + self.command_timeout / 4
    }

    fn silent(&self) -> Failure {
        let why = format!("{} did not answer within {} ms", self.place, self.patience().as_millis());
        Failure { certainty: Certainty::Unknown, why }
    }

    async fn execute(&self, id: &str, given: &Given<'_>) -> Result<u64, StoreError> {
        let prepared = self.catalogue.statement(id).map_err(fault)?;
        match self.run(&prepared.text, &given.values(&prepared.binds)).await {
            Err(failure) if failure.certainty == Certainty::Exists => Ok(0),
            done => done.map_err(Failure::unavailable),
        }
    }

    async fn rows(&self, id: &str, given: &Given<'_>) -> Result<Vec<D::Row>, StoreError> {
        let prepared = self.catalogue.statement(id).map_err(fault)?;
        self.fetch(&prepared.text, &given.values(&prepared.binds)).await
    }

    async fn audited(&self, request: SwapRequest<'_>, audit: &Audit<'_>) -> Result<Swap, StoreError> {
        let unavailable = |error: sqlx::Error| Failure::of::<D>(&error).unavailable();
        let mut transaction = self.writer.begin_with(D::BEGIN).await.map_err(unavailable)?;
        let swap = self.swap_on(&mut transaction, request).await?;
        if swap != Swap::Applied {
            return Ok(swap);
        }
        let prepared = self.catalogue.statement("audit.insert").map_err(fault)?;
        let values = Given::audit(&request, audit).values(&prepared.binds);
        D::run(&mut transaction, &prepared.text, &values).await.map_err(unavailable)?;
        match transaction.commit().await {
            Ok(()) => Ok(Swap::Applied),
            Err(error) => Failure::of::<D>(&error).swap(StatementKind::Update),
        }
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

/// A row whose key is known and whose content is not.
fn corrupt(scope: &str, what: String) -> CorruptRow {
    CorruptRow { scope: scope.to_owned(), what }
}
