//! The problem documents of the bridge: status, stable type, title. Source: section 6 of the contract, RFC 9457.

/// Why a request is answered by the bridge and not by the upstream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// The route demands a key.
    KeyRequired,
    /// There is something in the header, but no key.
    KeyRefused,
    /// The header or token that names the principal is absent or not valid.
    PrincipalRequired,
    /// The request's body is larger than what may be held.
    BodyTooLarge,
    /// The key was used with another payload.
    PayloadMismatch,
    /// The first request is still under way.
    InProgress,
    /// The last try failed without effect, and the next may not begin yet.
    RetryLater,
    /// It happened, but its answer was not kept.
    BodyNotKept,
    /// It happened, but its answer is in a codec that this server does not read.
    CodecUnreadable,
    /// Nobody knows whether it happened: a person or a hook decides.
    RecoveryRequired,
    /// Nothing was sent.
    UpstreamUnreachable,
    /// The connection broke after the request was sent.
    UpstreamBroke,
    /// No answer within the time allowed.
    UpstreamSilent,
    /// The store cannot be asked: nothing was sent.
    StoreUnavailable,
    /// Too many others wrote at once: nothing was sent.
    Contended,
    /// A fault of this server: nothing was sent.
    Internal,
}

/// What a problem document says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// Goes into `type`; stable.
    pub type_uri: &'static str,
    /// Goes into `title`.
    pub title: &'static str,
    /// Whether the answer carries Retry-After.
    pub retry: bool,
}

macro_rules! problems {
    ($($refusal:ident => $status:literal $slug:literal $title:literal $retry:literal,)*) => {
        /// Every refusal, with its problem.
        pub const PROBLEMS: &[(Refusal, Problem)] = &[$((Refusal::$refusal, problem(Refusal::$refusal)),)*];

        /// The problem document of a refusal.
        #[must_use]
        pub const fn problem(refusal: Refusal) -> Problem {
            match refusal {
                $(Refusal::$refusal => Problem {
                    status: $status, type_uri: concat!("urn:leasehold:problem:", $slug), title: $title, retry: $retry,
                },)*
            }
        }
    };
}

problems! {
    KeyRequired => 400 "idempotency-key-required" "This request needs an Idempotency-Key" false,
    KeyRefused => 400 "idempotency-key-invalid" "The Idempotency-Key is not valid" false,
    PrincipalRequired => 401 "principal-required" "The caller is not named" false,
    BodyTooLarge => 413 "request-body-too-large" "The request body is too large" false,
    PayloadMismatch => 422 "idempotency-key-reused" "The Idempotency-Key was used with another payload" false,
    InProgress => 409 "request-in-progress" "A request with this Idempotency-Key is still under way" true,
    RetryLater => 409 "retry-later" "The last try had no effect; try again later" true,
    BodyNotKept => 409 "response-not-kept" "The request was completed, but its response was not kept" false,
    CodecUnreadable => 409 "response-codec-unknown" "The request was completed, but its response cannot be read here" false,
    RecoveryRequired => 409 "recovery-required" "It is not known whether the request had an effect" false,
    UpstreamUnreachable => 503 "upstream-unreachable" "The upstream could not be reached; nothing was sent" true,
    UpstreamBroke => 502 "upstream-broke" "The upstream broke off; it is not known whether the request had an effect" false,
    UpstreamSilent => 504 "upstream-silent" "The upstream did not answer; it is not known whether the request had an effect" false,
    StoreUnavailable => 503 "store-unavailable" "The store cannot be reached; nothing was sent" true,
    Contended => 503 "contended" "Too many requests with this Idempotency-Key at once; nothing was sent" true,
    Internal => 500 "internal" "A fault of this server; nothing was sent" false,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn each_problem_has_a_type_of_its_own() {
        let mut types: Vec<&str> = PROBLEMS.iter().map(|(_, problem)| problem.type_uri).collect();
        types.sort_unstable();
        types.dedup();
        assert_eq!(types.len(), PROBLEMS.len());
    }

    #[test]
    fn what_a_retry_cannot_help_has_no_retry_after() {
        for (refusal, problem) in PROBLEMS {
            let helps = matches!(
                refusal,
                Refusal::InProgress
                    | Refusal::RetryLater
                    | Refusal::UpstreamUnreachable
                    | Refusal::StoreUnavailable
                    | Refusal::Contended
            );
            assert_eq!(problem.retry, helps, "{refusal:?}");
        }
    }
}
