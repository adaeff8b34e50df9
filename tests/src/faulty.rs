//! A store that fails when it is told to: it refuses, loses the reply to what it did, or does not answer until it is healed. It
//! tells which operations it was asked for, so that a test can wait for them.
//!
//! A [`Scripted`] store whose script can be changed while it runs. Used by `tests/tests/bridge/`.

use std::fmt;
use std::sync::Arc;

use leasehold::Store;
use tokio::sync::watch;

use crate::scripted::{self, Kind, Scripted};
use crate::wait::within;

/// How it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Not at all.
    None,
    /// With nothing done.
    Refuse,
    /// It is done, and the reply is lost. (A read is refused.)
    LoseReply,
    /// It waits until the plan is another one, and is done then.
    Hang,
}

type Plan = Arc<dyn Fn(Kind) -> Fault + Send + Sync>;

/// The store. Clones are one.
#[derive(Clone)]
pub struct FaultyStore {
    scripted: Arc<Scripted>,
    plan: watch::Sender<Plan>,
    seen: watch::Sender<Vec<Kind>>,
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FaultyStore")
    }
}

impl FaultyStore {
    /// Around a store; whole at first.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>) -> Self {
        let whole: Plan = Arc::new(|_| Fault::None);
        let (plan, seen) = (watch::Sender::new(whole), watch::Sender::new(Vec::new()));
        let (planned, asked) = (plan.clone(), seen.clone());
        let scripted = Scripted::new(inner, move |operation| {
            asked.send_modify(|seen| seen.push(operation.kind));
            fault(&planned, operation.kind)
        });
        Self { scripted, plan, seen }
    }

    /// For a host.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.scripted) as Arc<dyn Store>
    }

    /// From now on it fails so.
    pub fn fail(&self, plan: impl Fn(Kind) -> Fault + Send + Sync + 'static) {
        self.plan.send_replace(Arc::new(plan));
    }

    /// From now on this one operation fails so.
    pub fn fail_at(&self, at: Kind, fault: Fault) {
        self.fail(move |kind| if kind == at { fault } else { Fault::None });
    }

    /// It is whole again; what hung goes on.
    pub fn heal(&self) {
        self.fail(|_| Fault::None);
    }

    /// How often it was asked for this.
    #[must_use]
    pub fn asked(&self, kind: Kind) -> usize {
        count(&self.seen.borrow(), kind)
    }

    /// Waits until it was asked so often for this since it was made.
    ///
    /// # Panics
    /// It never is.
    pub async fn was_asked(&self, kind: Kind, times: usize) {
        let mut seen = self.seen.subscribe();
        within(&format!("{kind:?}, {times} times"), seen.wait_for(|seen| count(seen, kind) >= times)).await.expect("it is there");
    }
}

fn fault(plan: &watch::Sender<Plan>, kind: Kind) -> Option<scripted::Fault> {
    let now = Arc::clone(&plan.borrow());
    match now(kind) {
        Fault::None => None,
        Fault::Refuse => Some(scripted::Fault::Refuse),
        Fault::LoseReply => Some(scripted::Fault::LoseReply),
        Fault::Hang => {
            let plan = plan.clone();
            Some(scripted::Fault::Between(Arc::new(move || {
                let mut plans = plan.subscribe();
                Box::pin(async move {
                    // An error means that nobody can heal it any more.
                    let _ = plans.wait_for(|plan| plan(kind) != Fault::Hang).await;
                })
            })))
        }
    }
}

fn count(seen: &[Kind], kind: Kind) -> usize {
    seen.iter().filter(|found| **found == kind).count()
}
