//! Executions that nobody asks about: a sweep claims them with their own fingerprint, once their lease is over, so that they are
//! buried and reach the recovery list. And the purge of what has ended.

use std::time::{Duration, Instant};

use leasehold_decision::{CallTexts, ClaimArgs, Family, Outcome, StatementName, keys};

use super::claim::ClaimError;
use crate::cycle::{CycleError, Question, Tries};
use crate::decide::Call;
use crate::host::Leasehold;
use crate::ids::{OperationId, Owner, token};
use crate::store::{After, CorruptRow, List, Reading, StoreError, StoredRow};

/// Rows of one batch of a sweep or a purge.
pub const BATCH_ROWS_MAX: u32 = 200;

/// What a sweep found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Swept {
    /// Executions that are now in the recovery list.
    pub buried: u64,
    /// Rows that cannot be read: told, and left as they are.
    pub corrupt: Vec<CorruptRow>,
}

impl Leasehold {
    /// Buries executions whose lease is over, in batches, until none is left. Safe to run on every host at once.
    ///
    /// # Errors
    /// The store or the component failed; what was buried before stays so.
    pub async fn sweep(&self, family: Family) -> Result<Swept, ClaimError> {
        let mut swept = Swept::default();
        let mut after = After::default();
        loop {
            let page = self.store().list(family, List::Lapsed, &after, BATCH_ROWS_MAX).await.map_err(CycleError::Store)?;
            for stored in &page.rows {
                match self.bury(family, page.now, stored).await {
                    Ok(true) => swept.buried += 1,
                    Ok(false) => {}
                    Err(ClaimError::Cycle(CycleError::Store(StoreError::Corrupt(corrupt)))) => swept.corrupt.push(corrupt),
                    Err(error) => return Err(error),
                }
            }
            swept.corrupt.extend(page.corrupt);
            match page.next {
                Some(next) => after = next,
                None => return Ok(swept),
            }
        }
    }

    /// A claim on one lapsed row, as it was listed and under the same clock reading: `true` where its write buried the record. A
    /// record that has moved since is left alone: reading it anew could take it over, and nobody would start it.
    async fn bury(&self, family: Family, now: u64, stored: &StoredRow) -> Result<bool, ClaimError> {
        let (owner, operation) = (Owner::random()?, OperationId::random()?);
        let row = &stored.row;
        let args = ClaimArgs {
            owner: token(owner.as_str()),
            operation: keys::name(operation.as_str()),
            fingerprint: row.fingerprint.as_deref().map(token),
            codec: None,
        };
        let texts = CallTexts {
            owner: Some(owner.as_str()),
            operation: Some(operation.as_str()),
            fingerprint: row.fingerprint.as_deref(),
            ..CallTexts::default()
        };
        let settings = self.settings(family);
        let question = Question {
            family,
            settings: &settings,
            scope: &row.scope,
            call: Call::Claim(&args, &[]),
            texts: &texts,
            response: None,
            audit: None,
        };
        let (cycle, read_after) = (&self.inner.cycle, Instant::now());
        let reading = Reading { now, secret_version: None, stored: Some(stored.clone()) };
        let decided = cycle.decide(&question, &reading)?;
        if let Outcome::CorruptRecord(corruption) = decided.outcome {
            let corrupt = CorruptRow { scope: row.scope.clone(), what: corruption.message().to_owned() };
            return Err(CycleError::Store(StoreError::Corrupt(corrupt)).into());
        }
        // A claim that would take the record over is none of a sweep's business: nobody would work in its lease.
        if decided.write.is_none_or(|write| write.statement != StatementName::Bury) {
            return Ok(false);
        }
        let Some(settled) = cycle.carry_out(&question, decided, read_after, reading, &mut Tries::default()).await? else {
            return Ok(false);
        };
        if let Outcome::RecoveryRequired(recovery) = &settled.outcome {
            tracing::warn!(
                family = family.name(),
                scope = row.scope,
                attempt = recovery.attempt,
                reason = settled.reason(),
                "an execution lapsed; it waits in the recovery list"
            );
        }
        Ok(true)
    }

    /// Removes rows that ended at least one failure-retention ago, in batches, until none is left. Safe to run on every host at once.
    ///
    /// # Errors
    /// The store failed; what was removed before stays so.
    pub async fn purge(&self, family: Family) -> Result<u64, StoreError> {
        let retention = Duration::from_millis(self.settings(family).failure_retention);
        let mut purged = 0;
        loop {
            let batch = self.store().purge(family, retention, BATCH_ROWS_MAX).await?;
            purged += batch;
            if batch < u64::from(BATCH_ROWS_MAX) {
                return Ok(purged);
            }
            tokio::task::yield_now().await;
        }
    }
}
