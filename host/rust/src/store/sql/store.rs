//! The store's calls, each of them a statement of the catalogue.

use std::time::Duration;

use leasehold_decision::Family;
use leasehold_decision::statements::StatementKind;

use super::given::{self, Given};
use super::rows::{self, Decoder};
use super::{Driver, EVIDENCE_ENTRIES_MAX, SHOWN_ENTRIES_MAX, SqlStore, count, fault};
use crate::store::{
    After, Audit, AuditEntry, Evidence, List, Page, Reading, SecretVersion, Store, StoreError, StoreFuture, Swap, SwapRequest,
};

impl<D: Driver> Store for SqlStore<D> {
    fn provider(&self) -> &'static str {
        D::PROVIDER
    }

    fn read<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Reading, StoreError>> {
        Box::pin(async move {
            let given = Given { scope, ..Given::default() };
            self.reading(family, &self.rows(given::id(family, given::READ), &given).await?)
        })
    }

    fn swap<'a>(&'a self, request: SwapRequest<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            let prepared = self.catalogue.write(request.family, request.write.statement).map_err(fault)?;
            match self.run(&prepared.text, &self.values(&request, prepared)).await {
                Ok(rows) => count(rows),
                Err(failure) => failure.swap(prepared.kind),
            }
        })
    }

    fn swap_audited<'a>(&'a self, request: SwapRequest<'a>, audit: Audit<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            // A transaction of four statements.
            match tokio::time::timeout(self.patience() * 4, self.audited(request, &audit)).await {
                Ok(swap) => swap,
                Err(_) => self.silent().swap(StatementKind::Update),
            }
        })
    }

    fn clock(&self) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let rows = self.rows("clock", &Given::default()).await?;
            let row = rows.first().ok_or_else(|| fault("the clock gave no row"))?;
            rows::integer::<D>(row, 0).map_err(StoreError::Fault)
        })
    }

    fn list<'a>(&'a self, family: Family, list: List, after: &'a After, limit: u32) -> StoreFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            let given = Given { after: Some(after), limit: u64::from(limit), ..Given::default() };
            let rows = self.rows(given::id(family, given::list(list)), &given).await?;
            let mut page = Page::default();
            for row in &rows {
                let decoder = Decoder::<D> { catalogue: &self.catalogue, family, row, first: 1 };
                page.now = rows::integer::<D>(row, 0).map_err(StoreError::Fault)?;
                page.next = Some(decoder.position(list)?);
                match decoder.stored() {
                    Ok(stored) => page.rows.push(stored),
                    Err(corrupt) => page.corrupt.push(corrupt),
                }
            }
            if u32::try_from(rows.len()).is_ok_and(|rows| rows < limit) {
                page.next = None;
            }
            Ok(page)
        })
    }

    fn waiting(&self, family: Family) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let rows = self.rows(given::id(family, given::WAITING_COUNT), &Given::default()).await?;
            let row = rows.first().ok_or_else(|| fault("the count gave no row"))?;
            rows::integer::<D>(row, 0).map_err(StoreError::Fault)
        })
    }

    fn purge(&self, family: Family, failure_retention: Duration, limit: u32) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let given = Given { retention: milliseconds(failure_retention), limit: u64::from(limit), ..Given::default() };
            let purged = self.execute(given::id(family, given::PURGE), &given).await?;
            let given = Given { retention: milliseconds(failure_retention.max(EVIDENCE_RETENTION)), ..given };
            self.execute("evidence.purge", &given).await?;
            Ok(purged)
        })
    }

    fn keep_evidence<'a>(
        &'a self,
        family: Family,
        scope: &'a str,
        evidence: &'a Evidence,
    ) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let given = Given {
                family: family.name(),
                scope,
                evidence: Some(evidence),
                limit: u64::from(EVIDENCE_ENTRIES_MAX),
                ..Given::default()
            };
            self.execute("evidence.insert", &given).await.map(|rows| rows == 1)
        })
    }

    fn evidence<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<Evidence>, StoreError>> {
        Box::pin(async move {
            let given = Given { family: family.name(), scope, limit: SHOWN_ENTRIES_MAX, ..Given::default() };
            let rows = self.rows("evidence.list", &given).await?;
            rows.iter().map(|row| rows::evidence::<D>(row).map_err(StoreError::Fault)).collect()
        })
    }

    fn audit<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        Box::pin(async move {
            let given = Given { family: family.name(), scope, limit: SHOWN_ENTRIES_MAX, ..Given::default() };
            let rows = self.rows("audit.list", &given).await?;
            rows.iter().map(|row| rows::audit::<D>(row).map_err(StoreError::Fault)).collect()
        })
    }

    fn secrets(&self) -> StoreFuture<'_, Result<(u64, Vec<SecretVersion>), StoreError>> {
        Box::pin(async move {
            let rows = self.rows("secret.list", &Given::default()).await?;
            let versions =
                rows.iter().map(|row| rows::secret::<D>(row).map_err(StoreError::Fault)).collect::<Result<Vec<_>, _>>()?;
            let now = match rows.first() {
                Some(row) => rows::integer::<D>(row, 0).map_err(StoreError::Fault)?,
                None => self.clock().await?,
            };
            Ok((now, versions))
        })
    }

    fn first_secret<'a>(&'a self, version: u32, check_value: &'a str) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let given = Given { version: u64::from(version), check_value, ..Given::default() };
            self.execute("secret.first", &given).await.map(|rows| rows == 1)
        })
    }

    fn rotate_secret<'a>(&'a self, next: &'a SecretVersion, notice: Duration) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let given = Given {
                version: u64::from(next.version),
                check_value: &next.check_value,
                active_from: next.active_from,
                notice: milliseconds(notice),
                ..Given::default()
            };
            self.execute("secret.rotate", &given).await.map(|rows| rows == 1)
        })
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.readers.close().await;
            self.writer.close().await;
        })
    }
}

/// Evidence outlives the record's retention, since those who settle a record may come late.
const EVIDENCE_RETENTION: Duration = Duration::from_secs(90 * 24 * 3_600);

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
