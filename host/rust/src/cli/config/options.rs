//! Every setting of the server, once: the command line, the variables and the file are all read by this table.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};

/// A setting.
#[derive(Debug)]
pub(in crate::cli) struct ServeOption {
    /// Its name: `--NAME` as a flag, `LEASEHOLD_NAME` as a variable, `NAME` in the file.
    pub(in crate::cli) name: &'static str,
    /// What it takes.
    value: &'static str,
    /// What it does, for people.
    help: &'static str,
    /// What holds without it, for people.
    default: Option<&'static str>,
    /// Where it stands in the help.
    heading: &'static str,
    /// Whether a `[[route]]` of the file may have it.
    pub(in crate::cli) of_a_route: bool,
}

const fn whole(
    heading: &'static str,
    name: &'static str,
    value: &'static str,
    default: Option<&'static str>,
    help: &'static str,
) -> ServeOption {
    ServeOption { name, value, help, default, heading, of_a_route: false }
}

const fn route(
    heading: &'static str,
    name: &'static str,
    value: &'static str,
    default: Option<&'static str>,
    help: &'static str,
) -> ServeOption {
    ServeOption { name, value, help, default, heading, of_a_route: true }
}

/// The file that the others may come from; it cannot name another one.
pub(in crate::cli) const CONFIG: &str = "config";

const PLACES: &str = "Places";
const REQUESTS: &str = "Requests";
const RECORDS: &str = "Records";
const UPSTREAM: &str = "Upstream";
const TLS: &str = "TLS";
const OTHER: &str = "Other";

/// All of them, in the order of the help.
pub(in crate::cli) const OPTIONS: &[ServeOption] = &[
    whole(PLACES, "listen", "ADDRESS:PORT", Some("127.0.0.1:8080"), "Where clients connect"),
    whole(PLACES, "upstream", "URL", None, "The API that is protected, as in http://127.0.0.1:9000"),
    whole(
        PLACES,
        "store",
        "URL",
        None,
        "Where records are kept: sqlite:FILE, postgres://USER:PASSWORD@HOST/DATABASE or mysql://USER:PASSWORD@HOST/DATABASE",
    ),
    whole(
        PLACES,
        "store-timeout",
        "DURATION",
        Some("5s, or half the shortest lease"),
        "How long a statement may wait for another process's lock; shorter than every lease",
    ),
    whole(PLACES, "admin", "ADDRESS:PORT", None, "Where /health, /ready and /metrics are served; nowhere if absent"),
    whole(PLACES, CONFIG, "FILE", None, "A TOML file with these settings by name, and a [[route]] for each path that differs"),
    whole(
        PLACES,
        "secrets-file",
        "FILE",
        None,
        "Secrets, a line VERSION HEX for each; else LEASEHOLD_SECRET_1, _2, ... or a file beside the store",
    ),
    route(REQUESTS, "key", "required|optional", Some("optional"), "Whether a request without an Idempotency-Key is refused"),
    route(REQUESTS, "methods", "LIST", Some("POST,PATCH"), "Which methods are protected; safe ones never are"),
    route(
        REQUESTS,
        "principal",
        "none|header:NAME|basic-user|jwt:CLAIM",
        None,
        "Whose key it is: nobody's in particular, a header that a trusted gateway sets, the user of Basic authentication, or a \
         claim of a verified JWT. Must be chosen, but for a loopback address, where it is none",
    ),
    route(REQUESTS, "operation-code", "CODE", Some("http"), "What kind of operation it is: 1 to 64 of a-z 0-9 . _ -"),
    route(REQUESTS, "wait", "DURATION", Some("0s"), "How long a duplicate waits for the first one's answer, before it gets 409"),
    route(REQUESTS, "retry-after-max", "DURATION", Some("2s"), "The longest Retry-After of a 409, in whole seconds"),
    route(REQUESTS, "body-max", "SIZE", Some("1MiB"), "Largest body of a protected request; at most 8MiB"),
    whole(REQUESTS, "jwt-key", "FILE", None, "The key that verifies JWTs"),
    whole(REQUESTS, "jwt-issuer", "TEXT", None, "The issuer that a JWT must name"),
    whole(REQUESTS, "jwt-audience", "TEXT", None, "The audience that a JWT must name"),
    route(RECORDS, "lease", "DURATION", Some("30s"), "How long a silent execution is left alone, before it counts as lost"),
    route(RECORDS, "attempt-limit", "NUMBER", Some("none"), "How often a key is tried, before a person must look at it"),
    route(
        RECORDS,
        "backoff-base",
        "DURATION",
        Some("0s"),
        "How long a key waits after its first failed try; twice as long after each further one",
    ),
    route(RECORDS, "backoff-cap", "DURATION", Some("0s"), "The longest such wait; at least the first one, and 0s where that is"),
    route(RECORDS, "replay-retention", "DURATION", Some("24h"), "How long an answer is replayed"),
    route(RECORDS, "failure-retention", "DURATION", Some("24h"), "How long a failed try is remembered"),
    route(RECORDS, "keep-body-max", "SIZE", Some("1MiB"), "Largest answer that is kept for replay; at most 64MiB"),
    route(UPSTREAM, "upstream-timeout", "DURATION", Some("60s"), "How long the upstream may be silent"),
    whole(
        UPSTREAM,
        "connect-timeout",
        "DURATION",
        Some("5s"),
        "How long a connection to the upstream may take: name look-up, TCP and TLS together",
    ),
    whole(
        UPSTREAM,
        "upstream-host",
        "upstream|client",
        Some("upstream"),
        "Which Host the upstream is told: its own, as in its URL, or the one that the client asked (in HTTP/1.1 then)",
    ),
    route(UPSTREAM, "on-5xx", "success|no-effect|effect-unknown", Some("success"), "What 500, 501, 505 and up count as"),
    route(
        UPSTREAM,
        "on-gateway-error",
        "success|no-effect|effect-unknown",
        Some("effect-unknown"),
        "What 408, 502, 504, and 503 without Retry-After count as",
    ),
    whole(
        UPSTREAM,
        "upstream-ca",
        "FILE",
        None,
        "Certificates (PEM) that an https upstream is trusted by, in place of the public ones",
    ),
    whole(TLS, "tls-cert", "FILE", None, "The server's certificate and those above it (PEM)"),
    whole(TLS, "tls-key", "FILE", None, "The certificate's private key (PEM)"),
    whole(OTHER, "grace", "DURATION", Some("30s"), "How long what is under way may take, once the server is told to stop"),
    whole(OTHER, "cache-dir", "FOLDER|off", Some("the user's"), "Where compiled code is kept between runs"),
];

/// Settings that every command has, and that the file of the server may have, too.
pub(in crate::cli) const LOG_OPTIONS: [&str; 2] = ["log", "log-level"];

/// The variable of a setting.
pub(in crate::cli) fn variable(name: &str) -> String {
    format!("LEASEHOLD_{}", name.to_ascii_uppercase().replace('-', "_"))
}

/// What the command line of `serve` says, unread: all faults are told at once, by [`super::ServeConfig::from_process`].
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct ServeArgs {
    pub(in crate::cli) given: BTreeMap<&'static str, String>,
}

impl FromArgMatches for ServeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in OPTIONS {
            if let Some(text) = matches.get_one::<String>(option.name) {
                self.given.insert(option.name, text.clone());
            }
        }
        Ok(())
    }
}

impl clap::Args for ServeArgs {
    fn augment_args(command: Command) -> Command {
        let command = command
            .about("Protect an HTTP API: a reverse proxy that lets each request with a key have one effect")
            .long_about(ABOUT)
            .after_help(EXAMPLE);
        OPTIONS.iter().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument(option: &ServeOption) -> Arg {
    let help = match option.default {
        Some(default) => format!("{} [default: {default}]", option.help),
        None => option.help.to_owned(),
    };
    Arg::new(option.name)
        .long(option.name)
        .value_name(option.value)
        .help(help)
        .help_heading(option.heading)
        .action(ArgAction::Set)
        .allow_hyphen_values(false)
}

const ABOUT: &str = "\
Protect an HTTP API: a reverse proxy that lets each request with a key have one effect.

Requests with an Idempotency-Key and a protected method are executed at most once: a retry gets the stored answer, a duplicate \
that comes too early gets 409, and what nobody knows the effect of is listed by `leasehold recovery list`. All other requests pass \
through untouched.

Every setting can be given as a flag, as a variable (LEASEHOLD_ and the name in capitals, as in LEASEHOLD_UPSTREAM_TIMEOUT), or in \
the file that --config names; a flag goes before a variable, and that before the file. A duration is written as 250ms, 30s or 24h, \
a size as 64KiB, 1MiB or plain bytes. It prints `listening on http://ADDRESS` once it takes requests, and stops on SIGTERM or Ctrl-C.";

const EXAMPLE: &str = "\
Example:
  leasehold serve --listen 127.0.0.1:8080 --upstream http://127.0.0.1:9000 \\
      --store sqlite:leasehold.db

A file for --config:
  upstream = \"http://127.0.0.1:9000\"
  store = \"sqlite:leasehold.db\"
  principal = \"header:x-account\"

  [[route]]
  path = \"/v1/charges\"
  key = \"required\"
  wait = \"5s\"";
