//! Which headers belong to one connection alone and are never handed on: RFC 9110, section 7.6.1.
//!
//! Knows no bodies, stores or sockets. Tests: below.

use http::header::{CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName};

/// Those that RFC 9110 and its predecessors name; `Connection` can name more.
pub const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
];

/// The names that must not be handed on with these headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HopByHop {
    named: Vec<HeaderName>,
}

impl HopByHop {
    /// Reads what `Connection` names.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(CONNECTION).iter();
        let options = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
        Self { named: options.filter_map(|option| HeaderName::from_bytes(option.trim_ascii()).ok()).collect() }
    }

    /// Whether this header belongs to the connection.
    #[must_use]
    pub fn contains(&self, name: &HeaderName) -> bool {
        HOP_BY_HOP.contains(name) || self.named.contains(name)
    }
}

/// Removes them; the order of the others stays.
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let hop = HopByHop::of(headers);
    retain(headers, |name| !hop.contains(name));
}

/// Keeps some headers, in their order: `HeaderMap::remove` moves the last one into the gap.
pub(super) fn retain(headers: &mut HeaderMap, keep: impl Fn(&HeaderName) -> bool) {
    if headers.keys().all(&keep) {
        return;
    }
    let mut kept = HeaderMap::with_capacity(headers.keys_len());
    for (name, value) in &*headers {
        if keep(name) {
            kept.append(name, value.clone());
        }
    }
    *headers = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(lines: &[(&str, &str)], expected: &[&str]) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        remove_hop_by_hop(&mut headers);
        let left: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(left, expected, "{lines:?}");
    }

    #[test]
    fn what_belongs_to_the_connection_goes() {
        for name in HOP_BY_HOP {
            check(&[("a", "1"), (name.as_str(), "x"), ("b", "2"), ("c", "3")], &["a", "b", "c"]);
        }
    }

    #[test]
    fn what_connection_names_goes_too() {
        check(&[("connection", "close, X-Mine ,,x-other"), ("x-mine", "1"), ("x-other", "2"), ("x-third", "3")], &["x-third"]);
        check(&[("connection", "close"), ("x-mine", "1"), ("connection", "X-MINE")], &[]);
        check(&[("connection", "not a name"), ("x-mine", "1")], &["x-mine"]);
    }

    #[test]
    fn the_order_and_doubled_lines_stay() {
        check(&[("z", "1"), ("te", "trailers"), ("a", "2"), ("a", "3"), ("m", "4")], &["z", "a", "a", "m"]);
        check(&[("z", "1"), ("a", "2")], &["z", "a"]);
    }
}
