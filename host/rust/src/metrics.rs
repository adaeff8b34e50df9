//! What is counted in the whole process: outcomes, latencies, leases lost. Rendered by the admin server.
//!
//! Knows no exporter. Tests: `tests/tests/bridge/admin.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

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
