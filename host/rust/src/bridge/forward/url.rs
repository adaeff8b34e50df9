//! Where the upstream is: `http://HOST[:PORT][/PREFIX]` or `https://...`.
//!
//! Knows no requests and no sockets. Tests: below.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::{Authority, InvalidUri, PathAndQuery, Scheme};

/// The base URL of an upstream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpstreamUrl {
    scheme: Scheme,
    authority: Authority,
    /// Empty, or `/` and more, without a `/` at its end.
    prefix: String,
}

/// A text that is no upstream's address. The message does not repeat it: it could hold a password.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no upstream's address, {why}: write http://HOST:PORT or https://HOST, with a path before all others if need be")]
pub struct UpstreamUrlError {
    why: &'static str,
}

impl FromStr for UpstreamUrl {
    type Err = UpstreamUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |why| UpstreamUrlError { why };
        if text.contains('#') {
            return Err(refused("it has a fragment"));
        }
        let parts = text.parse::<Uri>().map_err(|_| refused("it is not a URL"))?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(refused("it lacks its scheme"));
        };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(refused("its scheme is neither http nor https"));
        }
        if authority.as_str().contains('@') {
            return Err(refused("it holds a user or a password, which would not be sent"));
        }
        if authority.host().is_empty() {
            return Err(refused("it lacks its host"));
        }
        let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        if path.query().is_some() {
            return Err(refused("it has a query"));
        }
        Ok(Self { scheme, authority, prefix: path.path().trim_end_matches('/').to_owned() })
    }
}

impl UpstreamUrl {
    /// Host and port, as in the URL.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The address of one request's target. Fails when prefix and target together are longer than a URL may be.
    pub(super) fn target(&self, target: &Uri) -> Result<Uri, InvalidUri> {
        let target = target.path_and_query().map_or("/", PathAndQuery::as_str);
        let path = match (self.prefix.as_str(), target) {
            ("", target) => target.parse::<PathAndQuery>()?,
            (prefix, "*") => prefix.parse::<PathAndQuery>()?,
            (prefix, target) => format!("{prefix}{target}").parse::<PathAndQuery>()?,
        };
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path);
        // INVARIANT: scheme, authority and path are all there, which is all that `from_parts` asks.
        Ok(Uri::from_parts(parts).unwrap_or_default())
    }
}

impl fmt::Display for UpstreamUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}{}", self.scheme, self.authority, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_goes_behind_the_prefix() {
        let check = |base: &str, target: &str, expected: &str| {
            let url: UpstreamUrl = base.parse().unwrap();
            assert_eq!(url.target(&target.parse().unwrap()).unwrap().to_string(), expected);
        };
        check("http://a:9000", "/pay?x=1", "http://a:9000/pay?x=1");
        check("http://a:9000/", "/pay", "http://a:9000/pay");
        check("https://a/api/v1/", "/pay?x=/%2F", "https://a/api/v1/pay?x=/%2F");
        check("http://[::1]:9000/api", "http://elsewhere/pay", "http://[::1]:9000/api/pay");
        check("http://a", "http://elsewhere", "http://a/");
        check("http://a/api", "*", "http://a/api");
        assert_eq!("http://a".parse::<UpstreamUrl>().unwrap().target(&Uri::from_static("*")).unwrap().path(), "*");
    }

    #[test]
    fn a_target_that_grows_too_long_is_told() {
        let url: UpstreamUrl = format!("http://a/{}", "p".repeat(100)).parse().unwrap();
        assert!(url.target(&format!("/{}", "t".repeat(65_500)).parse().unwrap()).is_err());
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_its_password() {
        for text in [
            "",
            "a",
            "a:9000",
            "/a",
            "ftp://a",
            "http://",
            "http://a?x=1",
            "http://a/#x",
            "http://u:secret@a",
            "http://u@a",
            "http://a b",
            "unix:/run/a.sock",
        ] {
            let error = text.parse::<UpstreamUrl>().expect_err(text).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!("http://a:1/b/".parse::<UpstreamUrl>().unwrap().to_string(), "http://a:1/b");
    }
}
