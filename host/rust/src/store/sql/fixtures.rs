//! Rows that test vectors put into a store and take away again. Nothing else makes a record without a decision.
//!
//! The columns are those of the catalogue's `read`, so a column that is added there and not here is told. Tests: every vector,
//! through `leasehold vectors`.

use std::sync::Arc;

use leasehold_decision::statements::Dialect;
use leasehold_decision::{Family, Row};

use super::super::{StoreError, StoreFuture};
use super::{Driver, Failure, SqlStore, fault, given};
use crate::catalogue::Value;
use crate::store::sql::given::Given;

/// Columns of `read` that are not the record's: the clock, and the newest version of the secrets.
const FOREIGN_COLUMNS: usize = 2;

fn table(family: Family) -> String {
    format!("leasehold_{}", family.name())
}

fn parameter<D: Driver>(number: usize) -> String {
    match D::DIALECT {
        Dialect::Sqlite => format!("?{number}"),
        Dialect::Postgres => format!("${number}"),
        Dialect::Mysql | Dialect::Redis => "?".to_owned(),
    }
}

/// Rows by hand.
pub(crate) trait Fixtures {
    /// Makes these rows, all or none. Their scopes must be free.
    fn put_rows<'a>(&'a self, rows: &'a [(Family, Row)]) -> StoreFuture<'a, Result<(), StoreError>>;

    /// Takes these rows away, where they are.
    fn remove_rows<'a>(&'a self, scopes: &'a [(Family, String)]) -> StoreFuture<'a, Result<(), StoreError>>;

    /// Whether a record can lie in its table at all.
    fn can_hold(&self, family: Family, row: &Row) -> bool;
}

impl<D: Driver> Fixtures for SqlStore<D> {
    fn put_rows<'a>(&'a self, rows: &'a [(Family, Row)]) -> StoreFuture<'a, Result<(), StoreError>> {
        Box::pin(self.put(rows))
    }

    fn remove_rows<'a>(&'a self, scopes: &'a [(Family, String)]) -> StoreFuture<'a, Result<(), StoreError>> {
        Box::pin(self.remove(scopes))
    }

    fn can_hold(&self, family: Family, row: &Row) -> bool {
        let numbers = [row.attempt, row.attempt_limit, row.revision, row.policy_revision];
        let times = [row.lease_until, row.retry_at, row.expires_at].into_iter().flatten();
        self.catalogue.spelling(family, row.state).is_some()
            && numbers.into_iter().chain(times).all(|number| i64::try_from(number).is_ok())
    }
}

impl<D: Driver> SqlStore<D> {
    async fn put(&self, rows: &[(Family, Row)]) -> Result<(), StoreError> {
        let unavailable = |error: sqlx::Error| Failure::of::<D>(&error).unavailable();
        let mut transaction = self.writer.begin_with(D::BEGIN).await.map_err(unavailable)?;
        for (family, row) in rows {
            if !self.can_hold(*family, row) {
                return Err(fault("a vector's record does not fit into this store"));
            }
            let columns = self.columns(&mut transaction, *family).await?;
            let places: Vec<String> = (1..=columns.len()).map(parameter::<D>).collect();
            let text = format!("INSERT INTO {} ({}) VALUES ({})", table(*family), columns.join(", "), places.join(", "));
            let values = columns.iter().map(|column| self.column(*family, row, column)).collect::<Result<Vec<_>, _>>()?;
            D::run(&mut transaction, &Arc::from(text), &values).await.map_err(unavailable)?;
        }
        transaction.commit().await.map_err(unavailable)
    }

    async fn remove(&self, scopes: &[(Family, String)]) -> Result<(), StoreError> {
        let unavailable = |error: sqlx::Error| Failure::of::<D>(&error).unavailable();
        let mut transaction = self.writer.begin_with(D::BEGIN).await.map_err(unavailable)?;
        for (family, scope) in scopes {
            let text = format!("DELETE FROM {} WHERE scope = {}", table(*family), parameter::<D>(1));
            D::run(&mut transaction, &Arc::from(text), &[scope.as_str().into()]).await.map_err(unavailable)?;
        }
        transaction.commit().await.map_err(unavailable)
    }

    async fn columns(&self, connection: &mut D::Connection, family: Family) -> Result<Vec<String>, StoreError> {
        let read = self.catalogue.statement(given::id(family, given::READ)).map_err(fault)?;
        let values = Given { scope: "-", ..Given::default() }.values(&read.binds);
        let rows = D::fetch(connection, &read.text, &values).await;
        let rows = rows.map_err(|error| Failure::of::<D>(&error).unavailable())?;
        let row = rows.first().ok_or_else(|| fault("a reading gave no row"))?;
        Ok(D::names(row).into_iter().skip(FOREIGN_COLUMNS).collect())
    }

    fn column<'a>(&'a self, family: Family, row: &'a Row, column: &str) -> Result<Value<'a>, StoreError> {
        let transition = row.transition.as_ref();
        Ok(match column {
            "scope" => row.scope.as_str().into(),
            "state" => self.catalogue.spelling(family, row.state).into(),
            "owner" => row.owner.as_deref().into(),
            "operation" => row.operation.as_deref().into(),
            "attempt" => row.attempt.into(),
            "attempt_limit" => row.attempt_limit.into(),
            "revision" => row.revision.into(),
            "fingerprint" => row.fingerprint.as_deref().into(),
            "codec" => row.codec.as_deref().into(),
            "policy_revision" => row.policy_revision.into(),
            "lease_until" => row.lease_until.into(),
            "retry_at" => row.retry_at.into(),
            "expires_at" => row.expires_at.into(),
            "reason" => row.reason.as_deref().into(),
            "transition_id" => transition.map(|last| last.id.as_str()).into(),
            "transition_kind" => transition.map(|last| last.kind.name()).into(),
            "transition_digest" => transition.and_then(|last| last.digest.as_deref()).into(),
            "result_digest" => row.result_digest.as_deref().into(),
            "created_at" | "changed_at" => 0_u64.into(),
            "response" => Value::Bytes(None),
            other => return Err(fault(format!("the column {other} has no place in a test vector"))),
        })
    }
}
