//! Reasons: the words that a decision writes, and stand-ins for the texts that it never sees. Tests: those of the calls.

/// Why a record is in the state it is in. `AsStored` and `AsGiven` stand for texts that stay with the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// The text that the record has.
    AsStored,
    /// The text that the call gave.
    AsGiven,
    /// No reason.
    None,
    /// The last try that the limit allows failed or lapsed.
    AttemptsExhausted,
    /// An execution's lease was reached, and nobody had settled it.
    ExecutionLeaseExpired,
    /// Abandoned by its owner, without a reason of its own.
    EffectUnknown,
    /// The try was given back.
    Released,
    /// Settled by a verdict: it happened.
    ResolvedCompleted,
    /// Settled by a verdict: it did not happen.
    ResolvedNoEffect,
    /// Settled by a verdict: start over.
    ResolvedForgotten,
}

impl Reason {
    /// All, in the order of the contract.
    pub const ALL: [Self; 10] = [
        Self::AsStored,
        Self::AsGiven,
        Self::None,
        Self::AttemptsExhausted,
        Self::ExecutionLeaseExpired,
        Self::EffectUnknown,
        Self::Released,
        Self::ResolvedCompleted,
        Self::ResolvedNoEffect,
        Self::ResolvedForgotten,
    ];

    /// The word that is stored, but for the texts that stay with the host.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::AsStored | Self::AsGiven | Self::None => None,
            Self::AttemptsExhausted => Some("ATTEMPTS_EXHAUSTED"),
            Self::ExecutionLeaseExpired => Some("EXECUTION_LEASE_EXPIRED"),
            Self::EffectUnknown => Some("EFFECT_UNKNOWN"),
            Self::Released => Some("RELEASED"),
            Self::ResolvedCompleted => Some("RESOLVED_COMPLETED"),
            Self::ResolvedNoEffect => Some("RESOLVED_NO_EFFECT"),
            Self::ResolvedForgotten => Some("RESOLVED_FORGOTTEN"),
        }
    }

    /// The reason's text after a write, from what the record had and what the call gave.
    #[must_use]
    pub fn text<'a>(self, stored: Option<&'a str>, given: Option<&'a str>) -> Option<&'a str> {
        match self {
            Self::AsStored => stored,
            Self::AsGiven => given,
            Self::None
            | Self::AttemptsExhausted
            | Self::ExecutionLeaseExpired
            | Self::EffectUnknown
            | Self::Released
            | Self::ResolvedCompleted
            | Self::ResolvedNoEffect
            | Self::ResolvedForgotten => self.word(),
        }
    }
}
