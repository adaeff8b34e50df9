//! How a status or a transport failure counts, and how long a client is told to wait.

/// What is known of the effect.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// It happened, or was refused for good: the answer is kept and replayed.
    Success,
    /// It did not happen: the next request is tried again.
    NoEffect,
    /// Nobody knows: a person or a hook decides.
    Unknown,
}

/// How a request failed without an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Failure {
    /// No connection came about: nothing was sent.
    NeverReached,
    /// The connection broke after the request was sent, or in the middle of its answer.
    Broke,
    /// No answer within the time allowed.
    Silent,
}

/// What two groups of statuses count as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// 500, 501, 505 and up.
    pub on_5xx: Effect,
    /// 408, 502, 504, and 503 without Retry-After.
    pub on_gateway_error: Effect,
}

impl Default for Rules {
    fn default() -> Self {
        Self { on_5xx: Effect::Success, on_gateway_error: Effect::Unknown }
    }
}

/// How an answer counts. `retry_after`: whether it carries that header.
#[must_use]
pub const fn classify_status(status: u16, retry_after: bool, rules: Rules) -> Effect {
    match status {
        401 | 407 | 425 | 429 => Effect::NoEffect,
        503 if retry_after => Effect::NoEffect,
        408 | 502 | 503 | 504 => rules.on_gateway_error,
        500.. => rules.on_5xx,
        _ => Effect::Success,
    }
}

/// How a transport failure counts.
#[must_use]
pub const fn classify_failure(failure: Failure) -> Effect {
    match failure {
        Failure::NeverReached => Effect::NoEffect,
        Failure::Broke | Failure::Silent => Effect::Unknown,
    }
}

/// Whole seconds for Retry-After: what is left until `at`, rounded up, at least 1, at most `most`. Times in milliseconds.
#[must_use]
pub fn retry_after(now: u64, at: u64, most: u32) -> u32 {
    let seconds = at.saturating_sub(now).div_ceil(1_000);
    u32::try_from(seconds).unwrap_or(u32::MAX).min(most).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_count_as_the_table_says() {
        let check = |statuses: &[u16], retry_after, expected| {
            for status in statuses {
                assert_eq!(classify_status(*status, retry_after, Rules::default()), expected, "{status}");
            }
        };
        check(&[100, 200, 201, 204, 301, 400, 402, 403, 404, 409, 422, 500, 501, 505, 599], false, Effect::Success);
        check(&[401, 407, 425, 429], false, Effect::NoEffect);
        check(&[503], true, Effect::NoEffect);
        check(&[408, 502, 503, 504], false, Effect::Unknown);
        check(&[408, 502, 504], true, Effect::Unknown);
    }

    #[test]
    fn both_groups_can_be_set() {
        let rules = Rules { on_5xx: Effect::Unknown, on_gateway_error: Effect::NoEffect };
        assert_eq!(classify_status(500, false, rules), Effect::Unknown);
        assert_eq!(classify_status(505, false, rules), Effect::Unknown);
        assert_eq!(classify_status(502, false, rules), Effect::NoEffect);
        assert_eq!(classify_status(503, false, rules), Effect::NoEffect);
        assert_eq!(classify_status(429, false, rules), Effect::NoEffect);
        assert_eq!(classify_status(404, false, rules), Effect::Success);
    }

    #[test]
    fn only_what_was_never_sent_had_no_effect() {
        assert_eq!(classify_failure(Failure::NeverReached), Effect::NoEffect);
        assert_eq!(classify_failure(Failure::Broke), Effect::Unknown);
        assert_eq!(classify_failure(Failure::Silent), Effect::Unknown);
    }

    #[test]
    fn retry_after_is_whole_seconds_between_1_and_the_most() {
        let check = |now, at, most, expected| assert_eq!(retry_after(now, at, most), expected);
        check(1_000, 1_000, 2, 1);
        check(2_000, 1_000, 2, 1);
        check(0, 1, 2, 1);
        check(0, 1_000, 2, 1);
        check(0, 1_001, 2, 2);
        check(0, 30_000, 2, 2);
        check(0, 30_000, 60, 30);
        check(0, u64::MAX, u32::MAX, u32::MAX);
        check(0, 5_000, 0, 1);
    }
}
