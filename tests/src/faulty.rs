//! A store that fails when it is told to: it refuses, loses the reply to what it did, or does not answer until it is healed. It
//! tells which steps it was asked for, so that a test can wait for them.
//!
//! Knows no decisions; everything that is not made to fail is the SQLite store's. Used by `tests/tests/bridge/`. A store that goes
//! wrong at its n-th operation, for every n: [`crate::scripted`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold::store::sqlite::SqliteStore;
use leasehold::store::{
    After, Audit, AuditEntry, Evidence, List, Page, Reading, SecretVersion, Store, StoreError, StoreFuture, Swap, SwapRequest,
};
use leasehold_decision::{Family, StatementName};
use tokio::sync::watch;

use crate::wait::within;

/// What a store is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A record.
    Read,
    /// A decision's write.
    Write(StatementName),
    /// The clock, a list, a count, the secrets.
    Other,
}

/// How it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Not at all.
    None,
    /// With nothing done.
    Refuse,
    /// It is done, and the reply is lost. (A read is refused.)
    LoseReply,
    /// It waits until the plan is another one.
    Hang,
}

type Plan = Arc<dyn Fn(Step) -> Fault + Send + Sync>;

/// The store. Clones are one.
#[derive(Clone)]
pub struct FaultyStore {
    inner: SqliteStore,
    plan: watch::Sender<Plan>,
    seen: watch::Sender<Vec<Step>>,
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FaultyStore")
    }
}

impl FaultyStore {
    /// Around a store; whole at first.
    #[must_use]
    pub fn new(inner: SqliteStore) -> Self {
        let whole: Plan = Arc::new(|_| Fault::None);
        Self { inner, plan: watch::Sender::new(whole), seen: watch::Sender::new(Vec::new()) }
    }

    /// From now on it fails so.
    pub fn fail(&self, plan: impl Fn(Step) -> Fault + Send + Sync + 'static) {
        self.plan.send_replace(Arc::new(plan));
    }

    /// From now on this one step fails so.
    pub fn fail_at(&self, at: Step, fault: Fault) {
        self.fail(move |step| if step == at { fault } else { Fault::None });
    }

    /// It is whole again; what hung goes on.
    pub fn heal(&self) {
        self.fail(|_| Fault::None);
    }

    /// How often it was asked for this.
    #[must_use]
    pub fn asked(&self, step: Step) -> usize {
        count(&self.seen.borrow(), step)
    }

    /// Waits until it was asked so often for this since it was made.
    ///
    /// # Panics
    /// It never is.
    pub async fn was_asked(&self, step: Step, times: usize) {
        let mut seen = self.seen.subscribe();
        within(&format!("{step:?}, {times} times"), seen.wait_for(|seen| count(seen, step) >= times)).await.expect("it is there");
    }

    async fn fault(&self, step: Step) -> Fault {
        self.seen.send_modify(|seen| seen.push(step));
        let mut plans = self.plan.subscribe();
        loop {
            let plan = Arc::clone(&plans.borrow_and_update());
            match plan(step) {
                Fault::Hang => {
                    let _ = plans.changed().await;
                }
                other => return other,
            }
        }
    }

    async fn asked_for(&self, step: Step) -> Result<(), StoreError> {
        match self.fault(step).await {
            Fault::None => Ok(()),
            Fault::Refuse | Fault::LoseReply | Fault::Hang => Err(refused()),
        }
    }
}

fn count(seen: &[Step], step: Step) -> usize {
    seen.iter().filter(|found| **found == step).count()
}

fn refused() -> StoreError {
    StoreError::Unavailable("as the test asked".to_owned())
}

async fn swapped(fault: Fault, swap: StoreFuture<'_, Result<Swap, StoreError>>) -> Result<Swap, StoreError> {
    match fault {
        Fault::None | Fault::Hang => swap.await,
        Fault::Refuse => Err(refused()),
        Fault::LoseReply => {
            swap.await?;
            Ok(Swap::Unknown("as the test asked".to_owned()))
        }
    }
}

impl Store for FaultyStore {
    fn provider(&self) -> &'static str {
        "faulty"
    }

    fn read<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Reading, StoreError>> {
        Box::pin(async move {
            self.asked_for(Step::Read).await?;
            self.inner.read(family, scope).await
        })
    }

    fn swap<'a>(&'a self, request: SwapRequest<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            let fault = self.fault(Step::Write(request.write.statement)).await;
            swapped(fault, self.inner.swap(request)).await
        })
    }

    fn swap_audited<'a>(&'a self, request: SwapRequest<'a>, audit: Audit<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            let fault = self.fault(Step::Write(request.write.statement)).await;
            swapped(fault, self.inner.swap_audited(request, audit)).await
        })
    }

    fn clock(&self) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            self.asked_for(Step::Other).await?;
            self.inner.clock().await
        })
    }

    fn list<'a>(&'a self, family: Family, list: List, after: &'a After, limit: u32) -> StoreFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move {
            self.asked_for(Step::Other).await?;
            self.inner.list(family, list, after, limit).await
        })
    }

    fn waiting(&self, family: Family) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            self.asked_for(Step::Other).await?;
            self.inner.waiting(family).await
        })
    }

    fn purge(&self, family: Family, failure_retention: Duration, limit: u32) -> StoreFuture<'_, Result<u64, StoreError>> {
        self.inner.purge(family, failure_retention, limit)
    }

    fn keep_evidence<'a>(
        &'a self,
        family: Family,
        scope: &'a str,
        evidence: &'a Evidence,
    ) -> StoreFuture<'a, Result<bool, StoreError>> {
        self.inner.keep_evidence(family, scope, evidence)
    }

    fn evidence<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<Evidence>, StoreError>> {
        self.inner.evidence(family, scope)
    }

    fn audit<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        self.inner.audit(family, scope)
    }

    fn secrets(&self) -> StoreFuture<'_, Result<(u64, Vec<SecretVersion>), StoreError>> {
        Box::pin(async move {
            self.asked_for(Step::Other).await?;
            self.inner.secrets().await
        })
    }

    fn first_secret<'a>(&'a self, version: u32, check_value: &'a str) -> StoreFuture<'a, Result<bool, StoreError>> {
        self.inner.first_secret(version, check_value)
    }

    fn rotate_secret<'a>(&'a self, next: &'a SecretVersion, notice: Duration) -> StoreFuture<'a, Result<bool, StoreError>> {
        self.inner.rotate_secret(next, notice)
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.inner.close()
    }
}
