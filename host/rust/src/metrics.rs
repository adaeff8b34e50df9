//! What is counted below the bridge: leases lost in the whole process, and the late ends of a host. Rendered by the admin server.
//!
//! Knows no exporter. Tests: `tests/tests/bridge/admin.rs`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

static LEASES_LOST: AtomicU64 = AtomicU64::new(0);

/// A renewal answered that the record had moved.
pub fn lease_lost() {
    LEASES_LOST.fetch_add(1, Ordering::Relaxed);
}

/// How many leases were lost since the process began.
#[must_use]
pub fn leases_lost() -> u64 {
    LEASES_LOST.load(Ordering::Relaxed)
}

/// Ends that came too late and were refused, by the outcome that refused them: also those that nobody waited for any more.
#[derive(Debug, Default)]
pub(crate) struct LateEnds(Mutex<BTreeMap<&'static str, u64>>);

impl LateEnds {
    pub(crate) fn count(&self, outcome: &'static str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(outcome).or_default();
        *count = count.saturating_add(1);
    }

    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
