//! A store whose n-th operation goes wrong: refused, lost on the way, late, twice, or held at a gate.
//!
//! It wraps a real store and knows no rule: a script looks at each operation and says what happens to it. Source of the idea: redb's
//! storage wrapper that fails at the n-th operation, run for every n. Used by `tests/tests/host/`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leasehold::Family;
use leasehold::store::{
    After, Audit, AuditEntry, Evidence, List, Page, Reading, SecretVersion, Store, StoreError, StoreFuture, Swap, SwapRequest,
};
use leasehold_decision::StatementName;
use tokio::sync::Notify;

mod late;

use late::LateSwap;

/// What an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A record and the clock are read.
    Read,
    /// A decision's write.
    Swap(StatementName),
    /// Anything else.
    Other,
}

/// One operation, as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Counted from 1.
    pub number: u64,
    /// What it is.
    pub kind: Kind,
}

/// What happens to an operation.
#[derive(Clone)]
pub enum Fault {
    /// It is refused, with nothing done.
    Refuse,
    /// It never arrives, and its sender does not know that.
    LoseRequest,
    /// It is done, and its reply is lost.
    LoseReply,
    /// Its sender is told nothing, and it is done later.
    Late(Duration),
    /// It takes long.
    Delay(Duration),
    /// It is done twice; the first reply arrives.
    TwiceFirstReply,
    /// It is done twice; the second reply arrives.
    TwiceSecondReply,
    /// It waits until the gate is opened, and is done then.
    Gate(Arc<Gate>),
    /// Something else happens first.
    Between(Meanwhile),
    /// The file is made, and the operation never begins.
    HaltBefore(PathBuf),
    /// It is done, the file is made, and the reply never arrives.
    HaltAfter(PathBuf),
}

/// What happens first.
pub type Meanwhile = Arc<dyn Fn() -> StoreFuture<'static, ()> + Send + Sync>;

/// Where an operation waits.
#[derive(Debug, Default)]
pub struct Gate {
    arrived: Notify,
    open: Notify,
}

impl Gate {
    /// A closed one.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Until an operation waits there.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Lets one operation through.
    pub fn open(&self) {
        self.open.notify_one();
    }

    async fn pass(&self) {
        self.arrived.notify_one();
        self.open.notified().await;
    }
}

type Script = dyn Fn(&Operation) -> Option<Fault> + Send + Sync;

/// A store whose operations go wrong as its script says.
pub struct Scripted {
    inner: Arc<dyn Store>,
    script: Box<Script>,
    made: AtomicU64,
}

const PLANNED: &str = "a planned fault";

fn planned() -> StoreError {
    StoreError::Unavailable(PLANNED.to_owned())
}

impl Scripted {
    /// Wraps a store.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, script: impl Fn(&Operation) -> Option<Fault> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { inner, script: Box::new(script), made: AtomicU64::new(0) })
    }

    /// How many operations there were.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.made.load(Ordering::SeqCst)
    }

    fn fault(&self, kind: Kind) -> Option<Fault> {
        let number = self.made.fetch_add(1, Ordering::SeqCst) + 1;
        (self.script)(&Operation { number, kind })
    }

    async fn through<'a, T>(
        &self,
        fault: Option<Fault>,
        lost: impl FnOnce() -> Result<T, StoreError> + Send,
        run: impl Fn() -> StoreFuture<'a, Result<T, StoreError>> + Send + Sync,
    ) -> Result<T, StoreError>
    where
        T: Send,
    {
        match fault {
            None => run().await,
            Some(Fault::Refuse) => Err(planned()),
            Some(Fault::LoseRequest | Fault::Late(_)) => lost(),
            Some(Fault::LoseReply) => {
                run().await?;
                lost()
            }
            Some(Fault::Delay(long)) => {
                tokio::time::sleep(long).await;
                run().await
            }
            Some(Fault::TwiceFirstReply) => {
                let first = run().await;
                let _ = run().await;
                first
            }
            Some(Fault::TwiceSecondReply) => {
                let _ = run().await;
                run().await
            }
            Some(Fault::Gate(gate)) => {
                gate.pass().await;
                run().await
            }
            Some(Fault::Between(meanwhile)) => {
                meanwhile().await;
                run().await
            }
            Some(Fault::HaltBefore(marker)) => halt(marker).await,
            Some(Fault::HaltAfter(marker)) => {
                run().await?;
                halt(marker).await
            }
        }
    }

    async fn other<'a, T: Send>(
        &self,
        run: impl Fn() -> StoreFuture<'a, Result<T, StoreError>> + Send + Sync,
    ) -> Result<T, StoreError> {
        self.through(self.fault(Kind::Other), || Err(planned()), run).await
    }
}

/// Tells a parent process that the moment has come, and waits to be killed.
///
/// # Panics
/// The file cannot be made.
pub async fn halt<T>(marker: PathBuf) -> T {
    std::fs::write(&marker, b"here").unwrap_or_else(|error| panic!("{}: {error}", marker.display()));
    std::future::pending().await
}

impl Store for Scripted {
    fn provider(&self) -> &'static str {
        self.inner.provider()
    }

    fn read<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Reading, StoreError>> {
        Box::pin(
            async move { self.through(self.fault(Kind::Read), || Err(planned()), move || self.inner.read(family, scope)).await },
        )
    }

    fn swap<'a>(&'a self, request: SwapRequest<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            let fault = self.fault(Kind::Swap(request.write.statement));
            if let Some(Fault::Late(after)) = fault {
                LateSwap::new(&request).send(Arc::clone(&self.inner), after);
            }
            self.through(fault, || Ok(Swap::Unknown(PLANNED.to_owned())), move || self.inner.swap(request)).await
        })
    }

    fn swap_audited<'a>(&'a self, request: SwapRequest<'a>, audit: Audit<'a>) -> StoreFuture<'a, Result<Swap, StoreError>> {
        Box::pin(async move {
            let fault = self.fault(Kind::Swap(request.write.statement));
            self.through(fault, || Ok(Swap::Unknown(PLANNED.to_owned())), move || self.inner.swap_audited(request, audit)).await
        })
    }

    fn clock(&self) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.other(|| self.inner.clock()))
    }

    fn list<'a>(&'a self, family: Family, list: List, after: &'a After, limit: u32) -> StoreFuture<'a, Result<Page, StoreError>> {
        Box::pin(self.other(move || self.inner.list(family, list, after, limit)))
    }

    fn waiting(&self, family: Family) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.other(move || self.inner.waiting(family)))
    }

    fn purge(&self, family: Family, failure_retention: Duration, limit: u32) -> StoreFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.other(move || self.inner.purge(family, failure_retention, limit)))
    }

    fn keep_evidence<'a>(
        &'a self,
        family: Family,
        scope: &'a str,
        evidence: &'a Evidence,
    ) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.other(move || self.inner.keep_evidence(family, scope, evidence)))
    }

    fn evidence<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<Evidence>, StoreError>> {
        Box::pin(self.other(move || self.inner.evidence(family, scope)))
    }

    fn audit<'a>(&'a self, family: Family, scope: &'a str) -> StoreFuture<'a, Result<Vec<AuditEntry>, StoreError>> {
        Box::pin(self.other(move || self.inner.audit(family, scope)))
    }

    fn secrets(&self) -> StoreFuture<'_, Result<(u64, Vec<SecretVersion>), StoreError>> {
        Box::pin(self.other(|| self.inner.secrets()))
    }

    fn first_secret<'a>(&'a self, version: u32, check_value: &'a str) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.other(move || self.inner.first_secret(version, check_value)))
    }

    fn rotate_secret<'a>(&'a self, next: &'a SecretVersion, notice: Duration) -> StoreFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.other(move || self.inner.rotate_secret(next, notice)))
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.inner.close()
    }
}
