//! The settings of a policy revision, under which a decision is made. Source: section 2 of the contract. Tests: below.

use super::ATTEMPT_LIMIT_MAX;

/// Settings of a policy revision, for one family. Durations are milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Number of the policy revision.
    pub revision: u64,
    /// How long others keep their hands off.
    pub lease: u64,
    /// Tries within one life of a record.
    pub attempt_limit: u64,
    /// The first back-off; 0 for none.
    pub backoff_base: u64,
    /// The longest back-off.
    pub backoff_cap: u64,
    /// How long a completed record is replayed.
    pub replay_retention: u64,
    /// How long a failed record is kept behind its retry time.
    pub failure_retention: u64,
}

/// What is wrong with settings that are refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SettingsFault {
    /// A record would be born expired.
    LeaseZero,
    /// No try would be allowed.
    AttemptLimitZero,
    /// A record could end while it is still held.
    ReplayRetentionBelowLease,
    /// A record could end while it is still held.
    FailureRetentionBelowLease,
}

impl SettingsFault {
    /// All, in the order of the contract.
    pub const ALL: [Self; 4] =
        [Self::LeaseZero, Self::AttemptLimitZero, Self::ReplayRetentionBelowLease, Self::FailureRetentionBelowLease];

    /// What to change, for people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::LeaseZero => "lease is 0: give at least 1 millisecond",
            Self::AttemptLimitZero => "attempt-limit is 0: give at least 1",
            Self::ReplayRetentionBelowLease => "replay-retention is shorter than lease: raise it, or shorten the lease",
            Self::FailureRetentionBelowLease => "failure-retention is shorter than lease: raise it, or shorten the lease",
        }
    }
}

impl Settings {
    /// What makes these settings unusable, if anything.
    #[must_use]
    pub fn fault(&self) -> Option<SettingsFault> {
        if self.lease == 0 {
            Some(SettingsFault::LeaseZero)
        } else if self.attempt_limit == 0 {
            Some(SettingsFault::AttemptLimitZero)
        } else if self.replay_retention < self.lease {
            Some(SettingsFault::ReplayRetentionBelowLease)
        } else if self.failure_retention < self.lease {
            Some(SettingsFault::FailureRetentionBelowLease)
        } else {
            None
        }
    }

    /// The limit that is pinned in a new record.
    #[must_use]
    pub fn pinned_limit(&self) -> u64 {
        self.attempt_limit.min(ATTEMPT_LIMIT_MAX)
    }

    /// min(base * 2^(attempt - 1), cap), and 0 where the base is 0. Milliseconds.
    #[must_use]
    pub fn backoff(&self, attempt: u64) -> u64 {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let factor = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
        self.backoff_base.saturating_mul(factor).min(self.backoff_cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(backoff_base: u64, backoff_cap: u64) -> Settings {
        Settings { revision: 1, lease: 1, attempt_limit: 1, backoff_base, backoff_cap, replay_retention: 1, failure_retention: 1 }
    }

    #[test]
    fn backoff_doubles_up_to_its_cap_and_never_wraps() {
        let check = |base, cap, attempt, expected| assert_eq!(settings(base, cap).backoff(attempt), expected);
        check(0, 1000, 5, 0);
        check(1, 1000, 1, 1);
        check(1, 1000, 4, 8);
        check(1, 1000, 11, 1000);
        check(3, u64::MAX, 64, u64::MAX);
        check(1, u64::MAX, 64, 1 << 63);
        check(1, u64::MAX, 65, u64::MAX);
        check(1, u64::MAX, u64::MAX, u64::MAX);
        check(1, u64::MAX, 0, 1);
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let good = Settings { lease: 10, replay_retention: 10, failure_retention: 10, ..settings(0, 0) };
        assert_eq!(good.fault(), None);
        assert_eq!(Settings { lease: 0, ..good }.fault(), Some(SettingsFault::LeaseZero));
        assert_eq!(Settings { attempt_limit: 0, ..good }.fault(), Some(SettingsFault::AttemptLimitZero));
        assert_eq!(Settings { replay_retention: 9, ..good }.fault(), Some(SettingsFault::ReplayRetentionBelowLease));
        assert_eq!(Settings { failure_retention: 9, ..good }.fault(), Some(SettingsFault::FailureRetentionBelowLease));
    }
}
