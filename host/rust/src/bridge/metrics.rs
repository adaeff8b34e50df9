//! What the bridge counts: outcomes, latencies, ends that came too late. Prometheus' text is made by [`super::admin`].
//!
//! Knows no key, body or principal. Tests: `tests/tests/bridge/admin.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use leasehold_decision::http::{Refusal, problem};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct FamilyLabel {
    family: String,
}

struct Counted {
    registry: Registry,
    outcomes: Family<OutcomeLabel, Counter>,
    late: Family<OutcomeLabel, Counter>,
    /// What the counters of late ends stood at when they were told last.
    late_told: Mutex<BTreeMap<&'static str, u64>>,
    seconds: Histogram,
    waiting: Family<FamilyLabel, Gauge>,
    leases_lost: Gauge,
}

/// The bridge's counters. Clones count together.
#[derive(Clone)]
pub struct BridgeMetrics(Arc<Counted>);

impl std::fmt::Debug for BridgeMetrics {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("BridgeMetrics")
    }
}

impl Default for BridgeMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("leasehold");
        let outcomes = Family::<OutcomeLabel, Counter>::default();
        let late = Family::<OutcomeLabel, Counter>::default();
        // From 0.5 ms to 16 s.
        let seconds = Histogram::new(exponential_buckets(0.000_5, 2.0, 16));
        let waiting = Family::<FamilyLabel, Gauge>::default();
        let leases_lost = Gauge::default();
        registry.register("requests", "Requests, by what came of them", outcomes.clone());
        registry.register("late_ends", "Ends that came too late and were refused, by the outcome that refused them", late.clone());
        registry.register_with_unit(
            "request_duration",
            "From a protected request's last byte to its answer's head",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register("recovery_waiting", "Records that wait for a verdict", waiting.clone());
        registry.register("leases_lost", "Renewals that found their record moved, since the process began", leases_lost.clone());
        Self(Arc::new(Counted { registry, outcomes, late, late_told: Mutex::default(), seconds, waiting, leases_lost }))
    }
}

impl BridgeMetrics {
    pub(super) fn count(&self, outcome: &str) {
        self.0.outcomes.get_or_create(&OutcomeLabel { outcome: outcome.to_owned() }).inc();
    }

    pub(super) fn count_refusal(&self, refusal: Refusal) {
        self.count(refusal_name(refusal));
    }

    /// The host's count of late ends, by outcome: it goes up alone.
    pub(super) fn set_late(&self, counts: BTreeMap<&'static str, u64>) {
        let mut told = self.0.late_told.lock().unwrap_or_else(PoisonError::into_inner);
        for (outcome, count) in counts {
            let before = told.entry(outcome).or_default();
            let counter = self.0.late.get_or_create(&OutcomeLabel { outcome: outcome.to_owned() });
            counter.inc_by(count.saturating_sub(*before));
            *before = count.max(*before);
        }
    }

    pub(super) fn request_took(&self, time: Duration) {
        self.0.seconds.observe(time.as_secs_f64());
    }

    pub(super) fn set_waiting(&self, family: &str, records: u64) {
        let gauge = self.0.waiting.get_or_create(&FamilyLabel { family: family.to_owned() });
        gauge.set(i64::try_from(records).unwrap_or(i64::MAX));
    }

    pub(super) fn set_leases_lost(&self, leases: u64) {
        self.0.leases_lost.set(i64::try_from(leases).unwrap_or(i64::MAX));
    }

    /// In the OpenMetrics text format.
    pub(super) fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.0.registry)?;
        Ok(text)
    }
}

/// A refusal is counted by the last word of its problem's type.
pub(super) fn refusal_name(refusal: Refusal) -> &'static str {
    let uri = problem(refusal).type_uri;
    uri.rsplit(':').next().unwrap_or(uri)
}
