//! How the requests of one path are treated: from what is said of it to [`RouteSettings`].
//!
//! Tests: in [`super`].

use leasehold_decision::{Family, Settings, SettingsFault, policy};

use super::faults::Faults;
use super::layers::View;
use super::values;
use crate::bridge::principal::{JwtOptions, Principal, PrincipalRule, PrincipalSetupError};
use crate::bridge::settings::{BODY_BYTES_MAX, KEEP_BODY_BYTES_MAX, RouteSettings};
use crate::host::LEASE_MS_MIN;

/// The settings of one route, or of the whole server. What is wrong is told, and stood in for.
pub(super) fn settings(view: View<'_>, jwt: Option<&JwtOptions>, faults: &mut Faults) -> RouteSettings {
    let ships = RouteSettings::new(record(view, faults));
    let mut rules = ships.rules;
    rules.on_5xx = faults.read_or(view.get("on-5xx"), rules.on_5xx, rules.on_5xx, values::effect);
    rules.on_gateway_error =
        faults.read_or(view.get("on-gateway-error"), rules.on_gateway_error, rules.on_gateway_error, values::effect);
    let keep_body = |text: &str| values::size(text, KEEP_BODY_BYTES_MAX);
    let body = |text: &str| values::size(text, BODY_BYTES_MAX);
    let timeout = ships.upstream_timeout;
    RouteSettings {
        key: faults.read_or(view.get("key"), ships.key, ships.key, values::key_rule),
        methods: faults.read_or(view.get("methods"), ships.methods, Vec::new(), values::methods),
        principal: principal(view, jwt, faults),
        operation_code: faults.read_or(view.get("operation-code"), ships.operation_code, String::new(), values::operation_code),
        record: ships.record,
        upstream_timeout: faults.read_or(view.get("upstream-timeout"), timeout, timeout, values::some_time),
        rules,
        wait: faults.read_or(view.get("wait"), ships.wait, ships.wait, values::duration),
        keep_body_max: faults.read_or(view.get("keep-body-max"), ships.keep_body_max, 0, keep_body),
        body_max: faults.read_or(view.get("body-max"), ships.body_max, 0, body),
        body_timeout: ships.body_timeout,
        client_stall_max: ships.client_stall_max,
        retry_after_max: faults.read_or(view.get("retry-after-max"), ships.retry_after_max, 1, values::seconds),
    }
}

/// Whose key it is. Whether it had to be chosen is asked elsewhere: it is a matter of the address.
fn principal(view: View<'_>, jwt: Option<&JwtOptions>, faults: &mut Faults) -> Principal {
    let Some(given) = view.get("principal") else {
        return Principal::None;
    };
    let rule = faults.read(given, |text| text.parse::<PrincipalRule>().map_err(|error| error.to_string()));
    let made = rule.map(|rule| match &rule {
        PrincipalRule::Jwt { .. } => Principal::new(rule, jwt),
        PrincipalRule::None | PrincipalRule::Header(_) | PrincipalRule::BasicUser => Principal::new(rule, None),
    });
    match made {
        Some(Ok(principal)) => return principal,
        Some(Err(PrincipalSetupError::Keys(error))) => faults.add(&view.place("jwt-key"), error),
        Some(Err(error)) => faults.add(&given.origin, format!("{error}, with --jwt-key")),
        None => {}
    }
    Principal::None
}

/// The settings of records. What is wrong by itself is stood in for by what goes with anything.
fn record(view: View<'_>, faults: &mut Faults) -> Settings {
    let ships = policy::default_settings(Family::Idempotency);
    // A wait that cannot be read is stood in for by one that goes with the other, so that no more is told than what is wrong.
    let cap = faults.read_or(view.get("backoff-cap"), ships.backoff_cap, u64::MAX, values::milliseconds);
    let settings = Settings {
        lease: faults.read_or(view.get("lease"), ships.lease, LEASE_MS_MIN, values::milliseconds),
        backoff_base: faults.read_or(view.get("backoff-base"), ships.backoff_base, cap, values::milliseconds),
        backoff_cap: cap,
        attempt_limit: faults.read_or(view.get("attempt-limit"), ships.attempt_limit, ships.attempt_limit, values::attempt_limit),
        replay_retention: faults.read_or(view.get("replay-retention"), ships.replay_retention, u64::MAX, values::milliseconds),
        failure_retention: faults.read_or(view.get("failure-retention"), ships.failure_retention, u64::MAX, values::milliseconds),
        ..ships
    };
    check(view, &settings, faults);
    settings
}

/// Each rule is asked by itself, with what goes with anything in place of the rest, since a fault hides those behind it.
fn check(view: View<'_>, settings: &Settings, faults: &mut Faults) {
    let easy = Settings { lease: 1, attempt_limit: 1, replay_retention: u64::MAX, failure_retention: u64::MAX, ..*settings };
    let alone = [
        Settings { lease: settings.lease, ..easy },
        Settings { attempt_limit: settings.attempt_limit, ..easy },
        Settings { lease: settings.lease, replay_retention: settings.replay_retention, ..easy },
        Settings { lease: settings.lease, failure_retention: settings.failure_retention, ..easy },
    ];
    for fault in alone.iter().filter_map(Settings::fault) {
        let names: &[&str] = match fault {
            SettingsFault::LeaseZero => &["lease"],
            SettingsFault::AttemptLimitZero => &["attempt-limit"],
            SettingsFault::ReplayRetentionBelowLease => &["replay-retention", "lease"],
            SettingsFault::FailureRetentionBelowLease => &["failure-retention", "lease"],
        };
        let places: Vec<String> = names.iter().map(|name| view.place(name)).collect();
        faults.add(&places.join(" with "), fault.message());
    }
    if settings.backoff_cap < settings.backoff_base {
        let places = format!("{} with {}", view.place("backoff-cap"), view.place("backoff-base"));
        faults.add(&places, "backoff-cap is shorter than backoff-base, which would never be waited: raise it");
    }
    if settings.backoff_base == 0 && (1..u64::MAX).contains(&settings.backoff_cap) {
        let places = format!("{} with {}", view.place("backoff-cap"), view.place("backoff-base"));
        faults.add(&places, "backoff-cap does nothing where the first wait, backoff-base, is 0s: set that too, or leave both out");
    }
    if (1..LEASE_MS_MIN).contains(&settings.lease) {
        faults.add(
            &view.place("lease"),
            format!("lease is {} ms: it is renewed every third of it, write {LEASE_MS_MIN}ms or more", settings.lease),
        );
    }
}
