//! Rows that test vectors put into a store and take away again. Nothing else makes a record without a decision.
//!
//! The columns are those of the catalogue's `read`, so a column that is added there and not here is told. Tests: every vector,
//! through `leasehold vectors`.

use leasehold_decision::{Family, Row};
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{AssertSqlSafe, Column as _, Executor as _, SqlSafeStr as _, SqliteConnection, Statement as _};

use super::super::StoreError;
use super::errors::unavailable;
use super::{SqliteStore, fault, statements};
use crate::catalogue::Value;

/// Columns of `read` that are not the record's: the clock, and the newest version of the secrets.
const FOREIGN_COLUMNS: usize = 2;

fn table(family: Family) -> String {
    format!("leasehold_{}", family.name())
}

impl SqliteStore {
    /// For vectors: makes these rows, all or none. Their scopes must be free.
    pub(crate) async fn put_rows(&self, rows: &[(Family, Row)]) -> Result<(), StoreError> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(|error| unavailable(&error))?;
        for (family, row) in rows {
            let columns = self.columns(&mut transaction, *family).await?;
            let places: Vec<String> = (1..=columns.len()).map(|number| format!("?{number}")).collect();
            let text = format!("INSERT INTO {} ({}) VALUES ({})", table(*family), columns.join(", "), places.join(", "));
            let mut query = sqlx::query(AssertSqlSafe(text));
            for column in &columns {
                query = bind(query, self.column(*family, row, column)?)?;
            }
            query.execute(&mut *transaction).await.map_err(|error| unavailable(&error))?;
        }
        transaction.commit().await.map_err(|error| unavailable(&error))
    }

    /// For vectors: takes these rows away, where they are.
    pub(crate) async fn remove_rows(&self, scopes: &[(Family, String)]) -> Result<(), StoreError> {
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(|error| unavailable(&error))?;
        for (family, scope) in scopes {
            let text = format!("DELETE FROM {} WHERE scope = ?1", table(*family));
            let done = sqlx::query(AssertSqlSafe(text)).bind(scope).execute(&mut *transaction).await;
            done.map_err(|error| unavailable(&error))?;
        }
        transaction.commit().await.map_err(|error| unavailable(&error))
    }

    /// For vectors: whether a record can lie in its table at all.
    pub(crate) fn can_hold(&self, family: Family, row: &Row) -> bool {
        let numbers = [row.attempt, row.attempt_limit, row.revision, row.policy_revision];
        let times = [row.lease_until, row.retry_at, row.expires_at].into_iter().flatten();
        self.catalogue.spelling(family, row.state).is_some()
            && numbers.into_iter().chain(times).all(|number| i64::try_from(number).is_ok())
    }

    async fn columns(&self, connection: &mut SqliteConnection, family: Family) -> Result<Vec<String>, StoreError> {
        let read = self.catalogue.statement(statements::id(family, statements::READ)).map_err(fault)?;
        let prepared = connection.prepare(super::trusted(&read.text).into_sql_str()).await.map_err(|error| unavailable(&error))?;
        Ok(prepared.columns().iter().skip(FOREIGN_COLUMNS).map(|column| column.name().to_owned()).collect())
    }

    fn column<'a>(&'a self, family: Family, row: &'a Row, column: &str) -> Result<Value<'a>, StoreError> {
        let transition = row.transition.as_ref();
        Ok(match column {
            "scope" => Value::Text(&row.scope),
            "state" => self.catalogue.spelling(family, row.state).into(),
            "owner" => row.owner.as_deref().into(),
            "operation" => row.operation.as_deref().into(),
            "attempt" => Value::Integer(row.attempt),
            "attempt_limit" => Value::Integer(row.attempt_limit),
            "revision" => Value::Integer(row.revision),
            "fingerprint" => row.fingerprint.as_deref().into(),
            "codec" => row.codec.as_deref().into(),
            "policy_revision" => Value::Integer(row.policy_revision),
            "lease_until" => row.lease_until.into(),
            "retry_at" => row.retry_at.into(),
            "expires_at" => row.expires_at.into(),
            "reason" => row.reason.as_deref().into(),
            "transition_id" => transition.map(|last| last.id.as_str()).into(),
            "transition_kind" => transition.map(|last| last.kind.name()).into(),
            "transition_digest" => transition.and_then(|last| last.digest.as_deref()).into(),
            "result_digest" => row.result_digest.as_deref().into(),
            "created_at" | "changed_at" => Value::Integer(0),
            "response" => Value::Null,
            other => return Err(fault(format!("the column {other} has no place in a test vector"))),
        })
    }
}

type Insert<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Unlike a decision's numbers, which saturate, a vector's must lie in the store as they are.
fn bind<'q>(query: Insert<'q>, value: Value<'q>) -> Result<Insert<'q>, StoreError> {
    Ok(match value {
        Value::Null => query.bind(None::<i64>),
        Value::Integer(number) => query.bind(i64::try_from(number).map_err(fault)?),
        Value::Text(text) => query.bind(text),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}
