//! Whole configurations: what they come to, and what is told of those that cannot be used.

use leasehold_decision::http::Effect;

use super::*;
use crate::bridge::forward::HostHeader;
use crate::bridge::principal::Principal;
use crate::bridge::settings::KeyRule;
use crate::host::SecretSource;

const SECRET: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A configuration under construction.
#[derive(Default)]
struct Told {
    inputs: Inputs,
    folder: Option<tempfile::TempDir>,
}

impl Told {
    /// What is needed, and nothing else.
    fn least() -> Self {
        Self::default().flag("upstream", "http://127.0.0.1:9000").flag("store", "sqlite:/nowhere/leasehold.db")
    }

    fn flag(mut self, name: &'static str, text: &str) -> Self {
        self.inputs.flags.insert(name, text.to_owned());
        self
    }

    fn variable(mut self, name: &str, text: &str) -> Self {
        self.inputs.variables.push((name.into(), text.into()));
        self
    }

    /// A file of settings.
    fn file(mut self, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.toml");
        std::fs::write(&path, text).unwrap();
        self.folder = Some(folder);
        self.flag("config", path.to_str().unwrap())
    }

    fn good(self) -> ServeConfig {
        ServeConfig::read(&self.inputs).unwrap()
    }

    /// The faults, a line each.
    fn bad(self) -> Vec<String> {
        let error = ServeConfig::read(&self.inputs).expect_err("it is refused").to_string();
        error.lines().skip(1).map(|line| line.trim_start().to_owned()).collect()
    }

    /// It is refused for one reason, which begins so.
    fn refused(self, fault: &str) {
        let faults = self.bad();
        assert!(faults.len() == 1 && faults[0].starts_with(fault), "expected {fault:?}, told {faults:#?}");
    }
}

#[test]
fn what_ships_is_what_holds() {
    let config = Told::least().good();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!((config.admin, config.grace), (None, Duration::from_secs(30)));
    let route = config.bridge.route("/");
    assert_eq!((route.key, route.operation_code.as_str(), route.record.lease), (KeyRule::Optional, "http", 30_000));
    assert!(matches!(route.principal, Principal::None));
    assert!(matches!(config.host.secrets, SecretSource::BesideStore));
    assert_eq!(config.host.settings[&Family::Idempotency], route.record);
}

#[test]
fn a_flag_goes_before_a_variable_and_that_before_the_file() {
    let file = "lease = \"1s\"\nwait = \"1s\"\ngrace = \"1s\"\n";
    let told = Told::least().file(file).variable("LEASEHOLD_WAIT", "2s").variable("LEASEHOLD_GRACE", "2s").flag("grace", "3s");
    let config = told.good();
    assert_eq!(config.bridge.route("/").record.lease, 1_000);
    assert_eq!(config.bridge.route("/").wait, Duration::from_secs(2));
    assert_eq!(config.grace, Duration::from_secs(3));
}

#[test]
fn the_file_is_found_by_a_variable_too() {
    let told = Told::least().file("lease = \"1s\"");
    let path = told.inputs.flags["config"].clone();
    let mut told = told.variable("LEASEHOLD_CONFIG", &path);
    told.inputs.flags.remove("config");
    assert_eq!(told.good().bridge.route("/").record.lease, 1_000);
}

#[test]
fn a_route_takes_from_the_server_what_it_does_not_say() {
    let file = "key = \"required\"\non-5xx = \"no-effect\"\n[[route]]\npath = \"/v1/*\"\nkey = \"optional\"\nlease = \"5s\"\nattempt-limit = 3\n\
                body-max = \"2MiB\"\noperation-code = \"charge\"\nmethods = [\"PUT\"]\nretry-after-max = \"9s\"\n";
    let config = Told::least().file(file).flag("lease", "7s").good();
    let (all, route) = (config.bridge.route("/other"), config.bridge.route("/v1/x"));
    assert_eq!((all.key, all.record.lease, all.rules.on_5xx), (KeyRule::Required, 7_000, Effect::NoEffect));
    assert_eq!((route.key, route.record.lease, route.rules.on_5xx), (KeyRule::Optional, 5_000, Effect::NoEffect));
    assert_eq!((route.record.attempt_limit, route.body_max, route.operation_code.as_str()), (3, 2 << 20, "charge"));
    assert_eq!((route.methods.as_slice(), route.retry_after_max), ([http::Method::PUT].as_slice(), 9));
}

#[test]
fn one_error_tells_all_of_it() {
    let told = Told::default()
        .file("leese = \"1s\"\nwait = \"5\"\n[[route]]\npath = \"v1\"\nlease = \"1d\"\n[[route]]\nkey = \"yes\"\n")
        .variable("LEASEHOLD_KEY", "always")
        .variable("LEASEHOLD_SECRET_1", "short")
        .flag("listen", "0.0.0.0:8080")
        .flag("admin", "127.0.0.1:8080")
        .flag("body-max", "9MiB")
        .flag("store", "oracle:x")
        .flag("tls-cert", "/nowhere/cert.pem")
        .flag("log", "xml");
    let faults = told.bad();
    for (index, begins) in [
        "f.toml line 1, leese: there is no such setting; write lease",
        "--admin: 127.0.0.1:8080 is the public address, too (--listen)",
        "--upstream is missing: write --upstream http://127.0.0.1:9000, or set LEASEHOLD_UPSTREAM, or upstream in the file",
        "--store: \"oracle:x\" is no store",
        "LEASEHOLD_SECRET_1: 32 bytes or more in hex",
        "--principal is missing: 0.0.0.0:8080 is no loopback address",
        "LEASEHOLD_KEY: \"always\" is neither of the two",
        "f.toml line 2, wait: \"5\" is no length of time",
        "--body-max: \"9MiB\" is more than is possible: write 8MiB or less",
        "f.toml line 4, route.path: \"v1\" is no path",
        "f.toml line 7, route.key: \"yes\" is neither of the two",
        "f.toml line 6, [[route]]: its path is missing",
        "--tls-cert: cannot read /nowhere/cert.pem",
        "--tls-cert: a certificate needs its key",
        "--log: \"xml\" is no form of a log",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(faults.get(index).is_some_and(|fault| fault.starts_with(begins)), "{index}: expected {begins:?}, told {faults:#?}");
    }
    assert_eq!(faults.len(), 15, "{faults:#?}");
}

#[test]
fn settings_that_do_not_go_together_are_told_with_both_places() {
    let faults = Told::least().flag("lease", "48h").variable("LEASEHOLD_REPLAY_RETENTION", "1h").flag("attempt-limit", "0").bad();
    assert_eq!(
        faults,
        [
            "--attempt-limit: attempt-limit is 0: give at least 1",
            "LEASEHOLD_REPLAY_RETENTION with --lease: replay-retention is shorter than lease: raise it, or shorten the lease",
            "failure-retention (by default) with --lease: failure-retention is shorter than lease: raise it, or shorten the lease",
        ]
    );
    Told::least().flag("lease", "0s").refused("--lease: lease is 0");
    Told::least().flag("lease", "99ms").refused("--lease: lease is 99 ms");
    Told::least().flag("lease", "soon").refused("--lease: \"soon\" is no length of time");
}

#[test]
fn whose_key_it_is_must_be_chosen_where_others_can_connect() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8080"] {
        Told::least().flag("listen", address).refused("--principal is missing");
        assert!(Told::least().flag("listen", address).flag("principal", "none").good().admin.is_none());
    }
    for address in ["127.0.0.1:0", "[::1]:0", "localhost:0", "[::ffff:127.0.0.1]:0"] {
        assert!(matches!(Told::least().flag("listen", address).good().bridge.route("/").principal, Principal::None));
    }
    let config = Told::least().flag("principal", "header:X-Account").good();
    assert!(matches!(&config.bridge.route("/").principal, Principal::Header(name) if name == "x-account"));
}

#[test]
fn tokens_need_keys_and_keys_need_tokens() {
    Told::least().flag("principal", "jwt:sub").refused("--principal: jwt:sub needs keys");
    Told::least().flag("jwt-issuer", "me").refused("--jwt-issuer: no principal is taken from a JWT");
    Told::least().flag("principal", "jwt:sub").flag("jwt-key", "/nowhere/key.pem").refused("--jwt-key: cannot read the key file");
}

#[test]
fn the_admin_address_is_another_one() {
    Told::least().flag("listen", "127.0.0.1:9").flag("admin", "0.0.0.0:9").refused("--admin: 0.0.0.0:9 is the public address");
    assert!(Told::least().flag("listen", "127.0.0.1:9").flag("admin", "127.0.0.2:9").good().admin.is_some());
    assert!(Told::least().flag("listen", "127.0.0.1:0").flag("admin", "127.0.0.1:0").good().admin.is_some());
}

#[test]
fn secrets_come_from_one_place() {
    let given = |told: Told| matches!(told.good().host.secrets, SecretSource::Given(_));
    assert!(given(Told::least().variable("LEASEHOLD_SECRET_1", SECRET)));
    Told::least().flag("secrets-file", "/nowhere/secrets").refused("--secrets-file: /nowhere/secrets: there is no such file");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets");
    crate::keyring::Secrets::add_to_file(&path, 1).unwrap();
    let path = path.to_str().unwrap();
    assert!(given(Told::least().variable("LEASEHOLD_SECRETS_FILE", path)));
    Told::least()
        .variable("LEASEHOLD_SECRET_1", SECRET)
        .flag("secrets-file", path)
        .refused("--secrets-file: there are secrets in variables");
}

#[test]
fn a_broken_file_hides_what_it_may_hold() {
    let faults = Told::default().file("upstream = \"http").flag("listen", "0.0.0.0:1").flag("wait", "x").bad();
    assert!(faults.iter().all(|fault| fault.starts_with("f.toml line 1") || fault.starts_with("--wait")), "{faults:#?}");
}

#[test]
fn two_routes_of_one_path_are_refused() {
    Told::least()
        .file("[[route]]\npath = \"/a\"\n[[route]]\npath = \"/a\"\n")
        .refused("f.toml line 4, route.path: another [[route]]");
}

#[test]
fn nothing_of_a_secret_is_told() {
    let faults = Told::least().variable("LEASEHOLD_SECRET_1", &SECRET[2..]).flag("store", "pg://me:hunter2@db/x").bad().join("\n");
    assert!(!faults.contains(&SECRET[2..]) && !faults.contains("hunter2"), "{faults}");
}

#[test]
fn a_statement_waits_shorter_than_every_lease() {
    let waits = |told: Told| told.good().host.command_timeout.unwrap();
    assert_eq!(waits(Told::least()), Duration::from_secs(5));
    assert_eq!(waits(Told::least().flag("lease", "10s")), Duration::from_secs(5));
    assert_eq!(waits(Told::least().flag("lease", "9s")), Duration::from_millis(4_500));
    assert_eq!(waits(Told::least().flag("lease", "100ms")), Duration::from_millis(50));
    let short_route = || Told::least().file("[[route]]\npath = \"/a\"\nlease = \"2s\"\n");
    assert_eq!(waits(short_route()), Duration::from_secs(1));
    assert_eq!(waits(short_route().flag("store-timeout", "1999ms")), Duration::from_millis(1_999));
    assert_eq!(waits(Told::least().variable("LEASEHOLD_STORE_TIMEOUT", "29s")), Duration::from_secs(29));
    short_route()
        .flag("store-timeout", "2s")
        .refused("--store-timeout: a statement may wait 2000 ms for a lock, and a lease of 2000 ms");
    Told::least().file("store-timeout = \"30s\"").refused("f.toml line 1, store-timeout: a statement may wait 30000 ms");
    Told::least().flag("store-timeout", "0s").refused("--store-timeout: \"0s\" is no time at all");
}

#[test]
fn the_way_to_the_upstream_is_set_for_the_whole_server() {
    let ships = Told::least().good().forward;
    assert_eq!((ships.connect_timeout, ships.host), (Duration::from_secs(5), HostHeader::Upstream));
    let told = Told::least().flag("connect-timeout", "250ms").variable("LEASEHOLD_UPSTREAM_HOST", "client").good().forward;
    assert_eq!((told.connect_timeout, told.host), (Duration::from_millis(250), HostHeader::Client));
    let told = Told::least().file("connect-timeout = \"2s\"\nupstream-host = \"client\"\n").good().forward;
    assert_eq!((told.connect_timeout, told.host), (Duration::from_secs(2), HostHeader::Client));
    Told::least().flag("connect-timeout", "0s").refused("--connect-timeout: \"0s\" is no time at all");
    Told::least().flag("upstream-host", "api.example").refused("--upstream-host: \"api.example\" is neither of the two");
    Told::least()
        .file("[[route]]\npath = \"/a\"\nconnect-timeout = \"2s\"\n")
        .refused("f.toml line 3, route.connect-timeout: holds for the whole server");
}

#[test]
fn a_back_off_has_a_first_wait_and_a_longest_one() {
    let waits = |told: Told, path: &str| {
        let record = told.good().bridge.route(path).record;
        (record.backoff_base, record.backoff_cap)
    };
    assert_eq!(waits(Told::least(), "/"), (0, 0));
    assert_eq!(waits(Told::least().flag("backoff-base", "1s").variable("LEASEHOLD_BACKOFF_CAP", "1m"), "/"), (1_000, 60_000));
    let route = "backoff-base = \"1s\"\nbackoff-cap = \"1s\"\n[[route]]\npath = \"/a\"\nbackoff-cap = \"8s\"\n";
    assert_eq!(waits(Told::least().file(route), "/a"), (1_000, 8_000));
    Told::least().flag("backoff-base", "1s").refused("backoff-cap (by default) with --backoff-base: backoff-cap is shorter");
    Told::least().flag("backoff-base", "2s").flag("backoff-cap", "1999ms").refused("--backoff-cap with --backoff-base");
    // The first wait is none by default: a longest one by itself changed nothing, in silence.
    Told::least().flag("backoff-cap", "5s").refused("--backoff-cap with backoff-base (by default): backoff-cap does nothing");
    Told::least()
        .file("backoff-base = \"1s\"\nbackoff-cap = \"5s\"\n[[route]]\npath = \"/a\"\nbackoff-base = \"0s\"\n")
        .refused("f.toml line 2, backoff-cap with f.toml line 5, route.backoff-base: backoff-cap does nothing");
    // What cannot be read is told once, and nothing is made of it.
    for (name, other) in [("backoff-base", "backoff-cap"), ("backoff-cap", "backoff-base")] {
        let lines = Told::least().flag(name, "soon").flag(other, "5s").bad();
        assert!(lines.len() == 1 && lines[0].starts_with(&format!("--{name}: ")), "{lines:?}");
        let lines = Told::least().flag(name, "soon").bad();
        assert!(lines.len() == 1, "{lines:?}");
    }
}
