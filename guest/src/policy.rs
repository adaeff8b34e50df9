//! What ships: the policy revision that is built in, and its settings.
//!
//! Source of the defaults: section 2 of the contract. Tests: below.

use crate::record::{ATTEMPT_LIMIT_MAX, Family, Settings};

/// Version of the contract (the package in `wit/`) that this crate serves.
pub const CONTRACT_VERSION: u32 = 1;
/// A name for people.
pub const NAME: &str = "leasehold";
/// Number of the policy revision that ships.
pub const REVISION: u64 = 1;

const SECOND: u64 = 1_000;
const HOUR: u64 = 3_600 * SECOND;
const DAY: u64 = 24 * HOUR;

/// The settings that ship. An idempotency key has no attempt limit: its clients pace themselves, and an outage must not bury keys.
#[must_use]
pub const fn default_settings(family: Family) -> Settings {
    let attempt_limit = match family {
        Family::Idempotency => ATTEMPT_LIMIT_MAX,
        Family::Inbox | Family::Outbox | Family::Cleanup => 8,
    };
    let (lease, backoff_base, backoff_cap) = if family.is_queue() { (600 * SECOND, SECOND, HOUR) } else { (30 * SECOND, 0, 0) };
    Settings { revision: REVISION, lease, attempt_limit, backoff_base, backoff_cap, replay_retention: DAY, failure_retention: DAY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_can_be_used() {
        for family in Family::ALL {
            assert_eq!(default_settings(family).fault(), None, "{family:?}");
        }
    }
}
