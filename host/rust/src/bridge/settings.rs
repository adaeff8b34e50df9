//! How the bridge treats a request: which routes demand a key, and what is done with each.
//!
//! Knows no file format and no command line: `cli::config` fills these in. Tests: below.

use std::time::Duration;

use http::Method;
use leasehold_decision::Settings;
use leasehold_decision::http::Rules;

use super::forward::CONNECT_TIMEOUT_DEFAULT;
use super::principal::Principal;

/// Largest request body that is held, in bytes, unless a route says otherwise.
pub const BODY_BYTES_MAX_DEFAULT: usize = 1 << 20;
/// Largest request body that a route may hold, in bytes: what an instance of the component can make canonical.
pub const BODY_BYTES_MAX: usize = 8 << 20;
/// Largest answer that is kept, in bytes, unless a route says otherwise.
pub const KEEP_BODY_BYTES_MAX_DEFAULT: usize = 1 << 20;
/// Largest answer that a route may keep, in bytes: it lies in one row.
pub const KEEP_BODY_BYTES_MAX: usize = 64 << 20;
/// Longest that a duplicate is told to wait, in seconds.
pub const RETRY_AFTER_SECONDS_MAX_DEFAULT: u32 = 2;
/// How long the upstream may take for the head of its answer, and between two parts of it.
pub const UPSTREAM_TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);

/// How long a request's body may take to arrive.
pub const BODY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);
/// A client that takes nothing of its answer for so long has gone: the copy goes on without it.
pub const CLIENT_STALL_MAX_DEFAULT: Duration = Duration::from_secs(30);

/// Whether a request without a key is let through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyRule {
    /// It is refused.
    Required,
    /// It passes through, unprotected.
    Optional,
}

/// How the requests of one route are treated.
#[derive(Clone, Debug)]
pub struct RouteSettings {
    /// Whether a key is demanded.
    pub key: KeyRule,
    /// Which methods are protected; others pass through.
    pub methods: Vec<Method>,
    /// Who asks.
    pub principal: Principal,
    /// The operation code in the scope: 1 to 64 of `a-z 0-9 . _ -`.
    pub operation_code: String,
    /// Lease, attempt limit, back-off and retentions of records.
    pub record: Settings,
    /// How long the upstream may take for the head of its answer, and between two parts of it.
    pub upstream_timeout: Duration,
    /// How statuses count.
    pub rules: Rules,
    /// How long a duplicate waits for the first one's answer, before it gets 409.
    pub wait: Duration,
    /// Largest answer that is kept, in bytes.
    pub keep_body_max: usize,
    /// Largest request body that is held, in bytes.
    pub body_max: usize,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// A client that takes nothing of its answer for so long has gone: its connection is ended, and the copy goes on without it.
    pub client_stall_max: Duration,
    /// Longest that a duplicate is told to wait, in seconds.
    pub retry_after_max: u32,
}

impl RouteSettings {
    /// As the bridge ships, under these record settings: a key is optional, POST and PATCH are protected, nobody in particular asks.
    #[must_use]
    pub fn new(record: Settings) -> Self {
        Self {
            key: KeyRule::Optional,
            methods: vec![Method::POST, Method::PATCH],
            principal: Principal::None,
            operation_code: "http".to_owned(),
            record,
            upstream_timeout: UPSTREAM_TIMEOUT_DEFAULT,
            rules: Rules::default(),
            wait: Duration::ZERO,
            keep_body_max: KEEP_BODY_BYTES_MAX_DEFAULT,
            body_max: BODY_BYTES_MAX_DEFAULT,
            body_timeout: BODY_TIMEOUT_DEFAULT,
            client_stall_max: CLIENT_STALL_MAX_DEFAULT,
            retry_after_max: RETRY_AFTER_SECONDS_MAX_DEFAULT,
        }
    }

    /// Whether requests with this method are protected. Safe methods never are (RFC 9110, section 9.2.1).
    #[must_use]
    pub fn protects(&self, method: &Method) -> bool {
        !method.is_safe() && self.methods.contains(method)
    }
}

/// A path, or everything below one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathPattern {
    /// `/v1/charges`: this path alone.
    Exact(String),
    /// `/v1/*`: every path that begins so.
    Below(String),
}

impl PathPattern {
    /// `/path` or `/path/*`.
    ///
    /// # Errors
    /// It does not begin with a slash, or has a star elsewhere than at its end.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (body, star) = text.strip_suffix('*').map_or((text, false), |body| (body, true));
        if !text.starts_with('/') || body.contains(['*', '?', '#']) || (star && !body.ends_with('/')) {
            return Err(format!("{text:?} is no path: write /path, or /path/* for everything below it"));
        }
        Ok(if star { Self::Below(body.to_owned()) } else { Self::Exact(text.to_owned()) })
    }

    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Exact(exact) => path == exact,
            Self::Below(prefix) => path.starts_with(prefix.as_str()),
        }
    }

    const fn specificity(&self) -> (bool, usize) {
        match self {
            Self::Exact(path) => (true, path.len()),
            Self::Below(path) => (false, path.len()),
        }
    }
}

/// Routes, and what holds where none matches.
#[derive(Clone, Debug)]
pub struct BridgeSettings {
    default: RouteSettings,
    /// Most specific first.
    routes: Vec<(PathPattern, RouteSettings)>,
    connect_timeout: Duration,
}

impl BridgeSettings {
    /// An exact path goes before a prefix, a longer prefix before a shorter one, whatever the order here.
    #[must_use]
    pub fn new(default: RouteSettings, mut routes: Vec<(PathPattern, RouteSettings)>) -> Self {
        routes.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.specificity()));
        Self { default, routes, connect_timeout: CONNECT_TIMEOUT_DEFAULT }
    }

    /// With another time that the way to the upstream may take before the request is sent: it is waited for besides
    /// [`RouteSettings::upstream_timeout`].
    #[must_use]
    pub const fn with_connect_timeout(mut self, connect_timeout: Duration) -> Self {
        self.connect_timeout = connect_timeout;
        self
    }

    /// How long the way to the upstream may take before the request is sent.
    #[must_use]
    pub const fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    /// The settings for a path.
    #[must_use]
    pub fn route(&self, path: &str) -> &RouteSettings {
        self.routes.iter().find(|(pattern, _)| pattern.matches(path)).map_or(&self.default, |(_, settings)| settings)
    }

    /// All settings: the default's first.
    pub fn all(&self) -> impl Iterator<Item = &RouteSettings> {
        std::iter::once(&self.default).chain(self.routes.iter().map(|(_, settings)| settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_decision::{Family, policy};

    #[test]
    fn the_most_specific_route_holds() {
        let named = |code: &str| RouteSettings {
            operation_code: code.to_owned(),
            ..RouteSettings::new(policy::default_settings(Family::Idempotency))
        };
        let route = |path: &str, code: &str| (PathPattern::parse(path).unwrap(), named(code));
        let settings = BridgeSettings::new(
            named("default"),
            vec![route("/v1/*", "all"), route("/v1/charges", "charge"), route("/v1/charges/*", "below")],
        );
        let check = |path: &str, code: &str| assert_eq!(settings.route(path).operation_code, code, "{path}");
        check("/v1/charges", "charge");
        check("/v1/charges/7", "below");
        check("/v1/refunds", "all");
        check("/v1", "default");
        check("/v10/x", "default");
    }

    #[test]
    fn a_pattern_is_a_path_or_everything_below_it() {
        for text in ["", "v1", "/v1*", "/*/x", "/a?b", "*"] {
            assert!(PathPattern::parse(text).is_err(), "{text}");
        }
        assert_eq!(PathPattern::parse("/*"), Ok(PathPattern::Below("/".to_owned())));
    }

    #[test]
    fn safe_methods_are_never_protected() {
        let mut settings = RouteSettings::new(policy::default_settings(Family::Idempotency));
        settings.methods = vec![Method::GET, Method::PUT];
        assert!(!settings.protects(&Method::GET));
        assert!(settings.protects(&Method::PUT));
        assert!(!settings.protects(&Method::POST));
    }
}
