//! What the SQL databases differ in, for a host: how a statement is bound and run, what a column holds, what an error means.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use leasehold_decision::statements::Dialect;

use crate::catalogue::Value;

/// The answer of a statement.
pub type Answer<'c, T> = Pin<Box<dyn Future<Output = Result<T, sqlx::Error>> + Send + 'c>>;

/// What an error says of what was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Certainty {
    /// Nothing was done.
    NotDone,
    /// Nothing was done, and the same may work at once: a deadlock, a conflict of transactions.
    Again,
    /// The key is there already.
    Exists,
    /// It may have been done: the reply is lost.
    Unknown,
    /// Nothing was done, and it never will be: the statement does not fit the tables.
    Fault,
}

/// A SQL database that can be a store.
pub trait Driver: sqlx::Database {
    /// As the layout's row has it.
    const PROVIDER: &'static str;
    /// Whose statements it takes.
    const DIALECT: Dialect;
    /// Begins a transaction that writes.
    const BEGIN: &'static str;
    /// Begins what only one host at a time may do: making the tables.
    const LOCK_LAYOUT: &'static [&'static str];
    /// Ends it, where the transaction's end does not.
    const UNLOCK_LAYOUT: &'static [&'static str];
    /// Whether tables are made in a transaction.
    const LAYOUT_IN_TRANSACTION: bool;
    /// The tables that may be leasehold's, by name.
    const TABLES: &'static str;

    /// Executes a statement, and gives the count of rows changed.
    fn run<'c>(connection: &'c mut Self::Connection, text: &'c Arc<str>, values: &'c [Value<'c>]) -> Answer<'c, u64>;

    /// The rows that a statement gives.
    fn fetch<'c>(connection: &'c mut Self::Connection, text: &'c Arc<str>, values: &'c [Value<'c>]) -> Answer<'c, Vec<Self::Row>>;

    /// Executes a text of the schema.
    fn lay<'c>(connection: &'c mut Self::Connection, text: &'c str) -> Answer<'c, ()>;

    /// A column of integers.
    ///
    /// # Errors
    /// It holds something else.
    fn integer(row: &Self::Row, index: usize) -> Result<Option<i64>, sqlx::Error>;

    /// A column of text.
    ///
    /// # Errors
    /// It holds something else.
    fn text(row: &Self::Row, index: usize) -> Result<Option<String>, sqlx::Error>;

    /// A column of bytes.
    ///
    /// # Errors
    /// It holds something else.
    fn bytes(row: &Self::Row, index: usize) -> Result<Option<Vec<u8>>, sqlx::Error>;

    /// The names of a row's columns.
    fn names(row: &Self::Row) -> Vec<String>;

    /// What an error says of what was done.
    fn certainty(error: &sqlx::Error) -> Certainty;

    /// Whether somebody else holds what was asked for, for a moment.
    fn is_locked(_error: &sqlx::Error) -> bool {
        false
    }

    /// What happened, and what to do.
    fn explain(error: &sqlx::Error) -> String;
}

/// What an error says of what was done, where it is none that the database tells.
pub(in crate::store) fn certainty_without_code(error: &sqlx::Error) -> Certainty {
    match error {
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Configuration(_) => Certainty::NotDone,
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => Certainty::Unknown,
        _ => Certainty::Fault,
    }
}

/// An error, and what to do: the advice that goes with its code, or with what is none that the database tells.
pub(in crate::store) fn with_advice(error: &sqlx::Error, of_its_code: Option<&str>) -> String {
    let advice = match (of_its_code, error) {
        (Some(advice), _) => advice,
        (None, sqlx::Error::PoolTimedOut) => "every connection is in use, or the store does not answer as fast as requests come in",
        (None, _) => "",
    };
    if advice.is_empty() { error.to_string() } else { format!("{error} ({advice})") }
}

/// The part of a driver that reads alike for each and cannot be said once: sqlx's types of parameters and columns, and the module
/// that tells its errors.
macro_rules! columns_and_parameters {
    () => {
        fn run<'c>(
            connection: &'c mut Self::Connection,
            text: &'c std::sync::Arc<str>,
            values: &'c [crate::catalogue::Value<'c>],
        ) -> crate::store::sql::Answer<'c, u64> {
            Box::pin(async move { Ok(query(text, values).execute(connection).await?.rows_affected()) })
        }

        fn fetch<'c>(
            connection: &'c mut Self::Connection,
            text: &'c std::sync::Arc<str>,
            values: &'c [crate::catalogue::Value<'c>],
        ) -> crate::store::sql::Answer<'c, Vec<Self::Row>> {
            Box::pin(async move { query(text, values).fetch_all(connection).await })
        }

        fn lay<'c>(connection: &'c mut Self::Connection, text: &'c str) -> crate::store::sql::Answer<'c, ()> {
            use sqlx::Executor as _;
            Box::pin(async move { connection.execute(sqlx::AssertSqlSafe(text)).await.map(|_| ()) })
        }

        fn integer(row: &Self::Row, index: usize) -> Result<Option<i64>, sqlx::Error> {
            sqlx::Row::try_get(row, index)
        }

        fn text(row: &Self::Row, index: usize) -> Result<Option<String>, sqlx::Error> {
            sqlx::Row::try_get(row, index)
        }

        fn bytes(row: &Self::Row, index: usize) -> Result<Option<Vec<u8>>, sqlx::Error> {
            sqlx::Row::try_get(row, index)
        }

        fn names(row: &Self::Row) -> Vec<String> {
            sqlx::Row::columns(row).iter().map(|column| sqlx::Column::name(column).to_owned()).collect()
        }

        fn certainty(error: &sqlx::Error) -> crate::store::sql::Certainty {
            errors::certainty(error)
        }

        fn explain(error: &sqlx::Error) -> String {
            errors::explain(error)
        }
    };
}

/// A prepared statement with its parameters bound. Integers past 2^63 - 1 saturate there: no decision makes one.
macro_rules! bound_query {
    ($Database:ty, $Arguments:ty) => {
        fn query<'q>(
            text: &'q std::sync::Arc<str>,
            values: &'q [crate::catalogue::Value<'q>],
        ) -> sqlx::query::Query<'q, $Database, $Arguments> {
            use crate::catalogue::Value;
            // A text of the catalogue: it comes from the component that this host trusts, and holds no values.
            let query = sqlx::query(sqlx::AssertSqlSafe(std::sync::Arc::clone(text))).persistent(true);
            values.iter().fold(query, |query, value| match *value {
                Value::Integer(number) => query.bind(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX))),
                Value::Text(text) => query.bind(text),
                Value::Bytes(bytes) => query.bind(bytes),
            })
        }
    };
}

pub(crate) use {bound_query, columns_and_parameters};
