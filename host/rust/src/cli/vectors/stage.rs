//! The store on which vectors are played: a temporary file, or one that was named, in which every row of a run has a scope of its
//! own and is taken away again.
//!
//! Knows no outcome. Tests: `tests/tests/cli/`.

use std::collections::HashMap;
use std::sync::Arc;

use leasehold_decision::record::TIME_MS_MAX;
use leasehold_decision::{Family, Row, Write};

use super::parse::{DecisionWork, Vector, Work};
use crate::cli::CliError;
use crate::component::{CodeCache, Component};
use crate::host::{HostOptions, Leasehold, SecretSource};
use crate::ids::OperationId;
use crate::store::sql::{Migrate, SqlHandle};
use crate::store::{StoreUrl, StoredRow, Swap, SwapRequest};

/// A store, and what stands before every scope of this run.
pub(super) struct Stage {
    host: Leasehold,
    sql: SqlHandle,
    prefix: String,
    /// Removed with the store.
    _folder: Option<tempfile::TempDir>,
}

impl Stage {
    /// Opens that store, or a temporary one.
    pub(super) async fn open(store: Option<StoreUrl>, code_cache: CodeCache) -> Result<Self, CliError> {
        let refused = |source| CliError::File { what: "make a folder in", path: std::env::temp_dir(), source };
        let (store, folder) = match store {
            Some(store) => (store, None),
            None => {
                let folder = tempfile::tempdir().map_err(refused)?;
                (StoreUrl::Sqlite(folder.path().join("vectors.db")), Some(folder))
            }
        };
        let options = HostOptions {
            store,
            migrate: Migrate::Allowed,
            code_cache,
            secrets: SecretSource::None,
            settings: HashMap::new(),
            command_timeout: None,
        };
        let host = Leasehold::open(options).await?;
        let sql = host.inner.sql.clone().ok_or_else(|| CliError::Refused("vectors need a store of a known kind".to_owned()))?;
        let run = OperationId::random().map_err(|error| CliError::Other(error.into()))?;
        Ok(Self { host, sql, prefix: format!("vectors:{run}:"), _folder: folder })
    }

    pub(super) fn component(&self) -> Arc<Component> {
        Arc::clone(&self.host.inner.component)
    }

    /// Lets go of the store.
    pub(super) async fn close(self) {
        self.host.store().close().await;
    }

    /// The scope that stands in for a vector's own. No decision depends on it.
    fn scope(&self, line: usize, work: &DecisionWork) -> String {
        format!("{}{line}:{}", self.prefix, work.request.scope)
    }

    /// Whether a vector is played on the store: a record that cannot be is decided without one.
    pub(super) fn plays(&self, work: &DecisionWork) -> bool {
        let corrupt = work.outcome.get("kind").and_then(serde_json::Value::as_str) == Some("corrupt-record");
        let request = &work.request;
        !corrupt && request.before.as_ref().is_none_or(|row| self.sql.fixtures().can_hold(request.family, row))
    }

    fn played<'v>(&self, batch: &'v [Vector]) -> impl Iterator<Item = (usize, &'v DecisionWork)> {
        let works = batch.iter().filter_map(|vector| match &vector.work {
            Work::Decision(work) => Some((vector.line, work.as_ref())),
            Work::Keys(_) => None,
        });
        works.filter(|(_, work)| self.plays(work))
    }

    /// Puts the records of a batch.
    pub(super) async fn set(&self, batch: &[Vector]) -> Result<(), CliError> {
        let rows = self.played(batch).filter_map(|(line, work)| {
            let row = work.request.before.clone()?;
            Some((work.request.family, Row { scope: self.scope(line, work), ..row }))
        });
        Ok(self.sql.fixtures().put_rows(&rows.collect::<Vec<_>>()).await?)
    }

    /// Takes away the records of a batch, and those that came of it.
    pub(super) async fn strike(&self, batch: &[Vector]) -> Result<(), CliError> {
        let scopes: Vec<(Family, String)> =
            self.played(batch).map(|(line, work)| (work.request.family, self.scope(line, work))).collect();
        Ok(self.sql.fixtures().remove_rows(&scopes).await?)
    }

    /// The record that the store holds, under the vector's own scope.
    pub(super) async fn read(&self, line: usize, work: &DecisionWork) -> Result<Option<StoredRow>, CliError> {
        let scope = self.scope(line, work);
        let reading = self.host.store().read(work.request.family, &scope).await?;
        Ok(reading.stored.map(|mut stored| {
            if stored.row.scope == scope {
                stored.row.scope.clone_from(&work.request.scope);
            }
            stored
        }))
    }

    /// Executes a decision's write by the catalogue's statement. Clocks of vectors are not the store's, so an insert is never late.
    pub(super) async fn swap(
        &self,
        line: usize,
        work: &DecisionWork,
        before: Option<&Row>,
        write: &Write,
    ) -> Result<Swap, CliError> {
        let scope = self.scope(line, work);
        let before = before.map(|row| Row { scope: scope.clone(), ..row.clone() });
        let request = SwapRequest {
            family: work.request.family,
            scope: &scope,
            before: before.as_ref(),
            write,
            texts: &work.request.call.texts(),
            now: work.request.now,
            deadline: TIME_MS_MAX,
            response: None,
        };
        Ok(self.host.store().swap(request).await?)
    }
}
