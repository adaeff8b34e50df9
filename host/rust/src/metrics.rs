//! What a host counts: leases lost, and ends that came too late. Rendered by the admin server.
//!
//! Knows no exporter. Tests: `tests/tests/bridge/admin.rs`, `tests/tests/host/lifecycle.rs`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The counts of one host.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    leases_lost: AtomicU64,
    late_ends: Mutex<BTreeMap<&'static str, u64>>,
}

impl Counts {
    /// A renewal answered that the record had moved.
    pub(crate) fn lease_lost(&self) {
        self.leases_lost.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leases_lost(&self) -> u64 {
        self.leases_lost.load(Ordering::Relaxed)
    }

    /// An end was refused by this outcome, whether somebody waited for it or nobody did any more.
    pub(crate) fn late_end(&self, outcome: &'static str) {
        let mut counts = self.late_ends.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(outcome).or_default();
        *count = count.saturating_add(1);
    }

    pub(crate) fn late_ends(&self) -> BTreeMap<&'static str, u64> {
        self.late_ends.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
