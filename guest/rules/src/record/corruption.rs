//! Records that cannot be, by what is wrong with them. Tests: `corrupt_record` of each call.

/// What is wrong with a record that cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Corruption {
    /// Revision 0, or 2^63 - 1 and up.
    RevisionOutOfRange,
    /// Attempt limit 0.
    AttemptLimitZero,
    /// Attempt 0 in a state other than `pending`.
    AttemptZero,
    /// Attempt 1 and up in `pending`.
    AttemptInPending,
    /// `pending` outside the queues.
    PendingOutsideQueues,
    /// `executing` in a queue.
    ExecutingInQueue,
    /// `claimed` or `executing` without an owner.
    OwnerAbsent,
    /// `claimed` or `executing` without an operation.
    OperationAbsent,
    /// `claimed` or `executing` without a lease.
    LeaseAbsent,
}

impl Corruption {
    /// All, in the order of the contract.
    pub const ALL: [Self; 9] = [
        Self::RevisionOutOfRange,
        Self::AttemptLimitZero,
        Self::AttemptZero,
        Self::AttemptInPending,
        Self::PendingOutsideQueues,
        Self::ExecutingInQueue,
        Self::OwnerAbsent,
        Self::OperationAbsent,
        Self::LeaseAbsent,
    ];

    /// What is wrong, for people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::RevisionOutOfRange => "revision is 0, or 2^63 - 1 and up",
            Self::AttemptLimitZero => "attempt-limit is 0",
            Self::AttemptZero => "attempt is 0 in a state other than pending",
            Self::AttemptInPending => "attempt is not 0 in pending",
            Self::PendingOutsideQueues => "pending outside the queues",
            Self::ExecutingInQueue => "executing in a queue",
            Self::OwnerAbsent => "held, but without an owner",
            Self::OperationAbsent => "held, but without an operation",
            Self::LeaseAbsent => "held, but without a lease",
        }
    }
}
