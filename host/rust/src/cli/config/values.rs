//! From a text to a value, with what to write instead where it is none.
//!
//! Knows no names of settings and nothing of where a text came from. Tests: below.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use http::Method;
use leasehold_decision::http::Effect;
use leasehold_decision::keys::is_operation_code;
use leasehold_decision::record::ATTEMPT_LIMIT_MAX;

use crate::bridge::forward::HostHeader;
use crate::bridge::settings::KeyRule;

/// Longest length of time that can be set: a hundred years.
const DURATION_MAX: Duration = Duration::from_secs(36_500 * 24 * 3_600);

/// What can be read, or what to write instead.
type Read<T> = Result<T, String>;

/// A length of time in whole milliseconds.
pub(in crate::cli) fn duration(text: &str) -> Read<Duration> {
    let parsed = if text == "0" { Ok(Duration::ZERO) } else { humantime::parse_duration(text) };
    match parsed {
        Ok(duration) if duration > DURATION_MAX => Err(format!("{text:?} is more than a hundred years: write less")),
        Ok(duration) if duration.subsec_nanos() % 1_000_000 != 0 => {
            Err(format!("{text:?} is finer than a millisecond: write whole ones"))
        }
        Ok(duration) => Ok(duration),
        Err(_) => Err(format!("{text:?} is no length of time: write a number and its unit, as in 250ms, 30s or 24h")),
    }
}

/// A length of time, as milliseconds.
pub(in crate::cli) fn milliseconds(text: &str) -> Read<u64> {
    // INVARIANT: a hundred years are fewer than 2^63 milliseconds.
    duration(text).map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

/// A length of time that is not nothing.
pub(super) fn some_time(text: &str) -> Read<Duration> {
    match duration(text)? {
        Duration::ZERO => Err(format!("{text:?} is no time at all: write at least 1ms")),
        duration => Ok(duration),
    }
}

/// Whole seconds, at least one.
pub(super) fn seconds(text: &str) -> Read<u32> {
    let duration = duration(text)?;
    match u32::try_from(duration.as_secs()) {
        Ok(seconds) if seconds > 0 && duration.subsec_nanos() == 0 => Ok(seconds),
        Ok(_) | Err(_) => Err(format!("{text:?} is not 1 or more whole seconds: write 1s or more")),
    }
}

const UNITS: [(&str, u64); 7] =
    [("", 1), ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Bytes, up to a limit.
pub(super) fn size(text: &str, bytes_max: usize) -> Read<usize> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| *factor);
    let bytes = digits.parse::<u64>().ok().zip(factor).map(|(number, factor)| number.saturating_mul(factor));
    match bytes.map(usize::try_from) {
        Some(Ok(bytes)) if bytes <= bytes_max => Ok(bytes),
        Some(_) => Err(format!("{text:?} is more than is possible: write {}MiB or less", bytes_max >> 20)),
        None => Err(format!("{text:?} is no size: write bytes, or a number and its unit, as in 4096, 64KiB or 1MiB")),
    }
}

/// How often a key is tried.
pub(super) fn attempt_limit(text: &str) -> Read<u64> {
    if text == "none" {
        return Ok(ATTEMPT_LIMIT_MAX);
    }
    match text.parse::<u64>() {
        Ok(limit) => Ok(limit),
        Err(_) => Err(format!("{text:?} is no number of tries: write 1 or more, or none for no limit")),
    }
}

/// Whether a key is demanded.
pub(super) fn key_rule(text: &str) -> Read<KeyRule> {
    match text {
        "required" => Ok(KeyRule::Required),
        "optional" => Ok(KeyRule::Optional),
        other => Err(format!("{other:?} is neither of the two: write required or optional")),
    }
}

/// What a status counts as.
pub(super) fn effect(text: &str) -> Read<Effect> {
    match text {
        "success" => Ok(Effect::Success),
        "no-effect" => Ok(Effect::NoEffect),
        "effect-unknown" => Ok(Effect::Unknown),
        other => Err(format!("{other:?} is none of the three: write success, no-effect or effect-unknown")),
    }
}

/// Which host the upstream is told.
pub(super) fn upstream_host(text: &str) -> Read<HostHeader> {
    match text {
        "upstream" => Ok(HostHeader::Upstream),
        "client" => Ok(HostHeader::Client),
        other => Err(format!("{other:?} is neither of the two: write upstream or client")),
    }
}

/// Methods that can be protected, with commas between them.
pub(super) fn methods(text: &str) -> Read<Vec<Method>> {
    let mut methods = Vec::new();
    for name in text.split(',').map(|name| name.trim().to_ascii_uppercase()) {
        match Method::from_bytes(name.as_bytes()) {
            Ok(method) if method.is_safe() || method == Method::CONNECT => {
                return Err(format!("{name} cannot be protected: write methods that change something, as in POST,PATCH"));
            }
            Ok(method) if methods.contains(&method) => {}
            Ok(method) => methods.push(method),
            Err(_) => return Err(format!("{text:?} is no list of methods: write them with commas, as in POST,PATCH")),
        }
    }
    Ok(methods)
}

/// The code of an operation.
pub(super) fn operation_code(text: &str) -> Read<String> {
    if is_operation_code(text) {
        return Ok(text.to_owned());
    }
    Err(format!("{text:?} is no operation code: write 1 to 64 of a-z 0-9 . _ -"))
}

/// An address to listen on.
pub(super) fn address(text: &str) -> Read<SocketAddr> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    match (local, text.parse()) {
        (Some(port), _) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        (None, Ok(address)) => Ok(address),
        (None, Err(_)) => {
            Err(format!("{text:?} is no address and port: write them as in 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_a_unit_and_whole_milliseconds() {
        for (text, milliseconds) in [("0", 0), ("0s", 0), ("250ms", 250), ("30s", 30_000), ("24h", 86_400_000), ("1m 30s", 90_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "30", "-1s", "1.5", "1s,", "soon", "500us", "101years", "99999999999999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(milliseconds("2s"), Ok(2_000));
        assert!(some_time("0s").is_err());
        assert_eq!((seconds("2s"), seconds("1m")), (Ok(2), Ok(60)));
        assert!(seconds("0s").is_err() && seconds("1500ms").is_err() && seconds("90years").is_ok());
    }

    #[test]
    fn a_size_is_bytes_or_a_number_and_a_unit() {
        let check = |text: &str, bytes: usize| assert_eq!(size(text, 8 << 20), Ok(bytes), "{text}");
        check("0", 0);
        check("4096", 4096);
        check("4096B", 4096);
        check("64KiB", 65_536);
        check("1 MiB", 1 << 20);
        check("2MB", 2_000_000);
        check("8MiB", 8 << 20);
        for text in ["", "MiB", "1mib", "1.5MiB", "-1", "8388609", "9MiB", "18446744073709551616", "18446744073709551615GiB"] {
            assert!(size(text, 8 << 20).is_err(), "{text}");
        }
    }

    #[test]
    fn methods_are_those_that_change_something() {
        assert_eq!(methods("post, PATCH,post"), Ok(vec![Method::POST, Method::PATCH]));
        for text in ["", "POST,", "GET", "POST,HEAD", "PO ST", "CONNECT"] {
            assert!(methods(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_are_taken_as_they_are() {
        assert_eq!(attempt_limit("none"), Ok(ATTEMPT_LIMIT_MAX));
        assert_eq!(attempt_limit("3"), Ok(3));
        assert!(attempt_limit("many").is_err() && attempt_limit("-1").is_err());
        assert_eq!(key_rule("required"), Ok(KeyRule::Required));
        assert!(key_rule("yes").is_err());
        assert_eq!((upstream_host("upstream"), upstream_host("client")), (Ok(HostHeader::Upstream), Ok(HostHeader::Client)));
        assert!(upstream_host("api.example").is_err());
        assert_eq!(effect("effect-unknown"), Ok(Effect::Unknown));
        assert!(effect("unknown").is_err());
        assert!(operation_code("charge.v1").is_ok() && operation_code("Charge").is_err());
    }

    #[test]
    fn an_address_has_a_port() {
        assert_eq!(address("localhost:80").unwrap().to_string(), "127.0.0.1:80");
        assert!(address("[::1]:8080").is_ok());
        for text in ["", "8080", ":8080", "127.0.0.1", "example.com:80", "127.0.0.1:70000"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
