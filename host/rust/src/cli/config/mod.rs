//! The server's settings: command line over variables over a file over defaults, and one error that lists all that is wrong.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`options`] | every setting: its name, what it takes, what holds without it |
//! | [`layers`], [`file`] | who says what: flags, variables, the file with its routes |
//! | [`values`] | from a text to a value |
//! | [`route`] | how the requests of one path are treated |
//! | [`places`] | addresses, the upstream, the store, secrets, certificates |
//! | [`faults`] | what is wrong, gathered |
//!
//! Nothing is opened here but the file itself, and those that it names, to see whether they can be used. Tests: below, and in
//! each module.

mod faults;
mod file;
mod layers;
mod options;
mod places;
mod route;
#[cfg(test)]
mod tests;
pub(super) mod values;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use leasehold_decision::Family;

use self::faults::Faults;
use self::layers::{Inputs, Layers};
pub(super) use self::options::ServeArgs;
use super::CliError;
use super::logging::{LogArgs, LogConfig, LogFormat, LogLevel};
use super::open::parse_code_cache;
use crate::bridge::forward::{ForwardOptions, UpstreamUrl};
use crate::bridge::principal::JwtOptions;
use crate::bridge::settings::{BridgeSettings, PathPattern, RouteSettings};
use crate::bridge::tls::TlsFiles;
use crate::component::CodeCache;
use crate::host::{HostOptions, command_timeout_fault};
use crate::store::sql::{self, COMMAND_TIMEOUT_MAX_DEFAULT, Migrate};

/// How long what is under way may take once the server is told to stop, unless something else is said.
const GRACE_DEFAULT: Duration = Duration::from_secs(30);

/// The server's settings, checked.
#[derive(Debug)]
pub(super) struct ServeConfig {
    /// Where clients connect.
    pub(super) listen: SocketAddr,
    /// Where operators connect.
    pub(super) admin: Option<SocketAddr>,
    /// What is protected.
    pub(super) upstream: UpstreamUrl,
    /// How requests are handed on to it.
    pub(super) forward: ForwardOptions,
    /// As whom the server serves; in plain text where `None`.
    pub(super) tls: Option<TlsFiles>,
    /// How requests are treated.
    pub(super) bridge: BridgeSettings,
    /// The store, the secrets, the settings of records.
    pub(super) host: HostOptions,
    /// How long what is under way may take, once the server is told to stop.
    pub(super) grace: Duration,
    /// The log.
    pub(super) log: LogConfig,
    /// What is odd, and no fault: to be logged once the log is there.
    pub(super) warnings: Vec<String>,
}

impl ServeConfig {
    /// From this process's command line and variables, and the file that they name.
    ///
    /// # Errors
    /// All that is wrong, with what to write instead.
    pub(super) fn from_process(args: &ServeArgs, log: &LogArgs) -> Result<Self, CliError> {
        let mut flags = args.given.clone();
        flags.extend(log.log.clone().map(|text| ("log", text)));
        flags.extend(log.log_level.clone().map(|text| ("log-level", text)));
        Self::read(&Inputs { flags, variables: std::env::vars_os().collect() })
    }

    fn read(inputs: &Inputs) -> Result<Self, CliError> {
        let mut faults = Faults::default();
        let layers = Layers::gather(inputs, &mut faults);
        let listen = places::listen(&layers, &mut faults);
        let admin = places::admin(&layers, listen, &mut faults);
        let (upstream, trust) = places::upstream(&layers, &mut faults);
        let store = places::store(&layers, &mut faults);
        let variables = inputs.variables.iter().map(|(name, value)| (lossy(name), lossy(value)));
        let secrets = places::secrets(&layers, store.as_ref(), variables, &mut faults);
        places::principal_chosen(&layers, listen, &mut faults);
        let (server, bridge) = bridge(&layers, &mut faults);
        let command_timeout = command_timeout(&layers, &bridge, &mut faults);
        let tls = places::tls(&layers, &mut faults);
        let grace = faults.read_or(layers.get("grace"), GRACE_DEFAULT, GRACE_DEFAULT, values::duration);
        let forward = forward(&layers, &mut faults);
        let log = log(&layers, &mut faults);
        faults.into_result()?;
        let (Some(upstream), Some(store)) = (upstream, store) else {
            return Err(CliError::Usage("neither upstream nor store can be read from the file".to_owned()));
        };
        let code_cache = layers.get("cache-dir").map_or(CodeCache::UserFolder, |given| parse_code_cache(given.text.as_ref()));
        let settings = HashMap::from([(Family::Idempotency, server.record)]);
        let host =
            HostOptions { store, migrate: Migrate::Allowed, code_cache, secrets, settings, command_timeout: Some(command_timeout) };
        let forward = ForwardOptions { answer_timeout: server.upstream_timeout, trust, ..forward };
        Ok(Self { listen, admin, upstream, forward, tls, bridge, host, grace, log, warnings: layers.warnings })
    }
}

/// Without losing a variable that is no text: it is told as one that cannot be read.
fn lossy(text: &std::ffi::OsStr) -> String {
    text.to_string_lossy().into_owned()
}

/// What holds for the whole server, and with the routes that differ.
fn bridge(layers: &Layers, faults: &mut Faults) -> (RouteSettings, BridgeSettings) {
    let key = layers.get("jwt-key");
    let text = |name| layers.get(name).map(|given| given.text.clone());
    let jwt =
        key.map(|key| JwtOptions { issuer: text("jwt-issuer"), audience: text("jwt-audience"), ..JwtOptions::new(&key.text) });
    let server = route::settings(layers.server(), jwt.as_ref(), faults);
    let mut routes: Vec<(PathPattern, RouteSettings)> = Vec::new();
    for (layer, view) in layers.routes() {
        let settings = route::settings(view, jwt.as_ref(), faults);
        let Some(given) = &layer.path else {
            faults.add(&layer.origin, "its path is missing: write path = \"/v1/charges\", or \"/v1/*\" for all below");
            continue;
        };
        match faults.read(given, PathPattern::parse) {
            Some(path) if routes.iter().any(|(other, _)| *other == path) => {
                faults.add(&given.origin, "another [[route]] has this path: put the two together");
            }
            Some(path) => routes.push((path, settings)),
            None => {}
        }
    }
    unused_jwt(layers, faults);
    (server.clone(), BridgeSettings::new(server, routes))
}

/// How requests are handed on, but for what is told elsewhere.
fn forward(layers: &Layers, faults: &mut Faults) -> ForwardOptions {
    let ships = ForwardOptions::default();
    ForwardOptions {
        connect_timeout: faults.read_or(
            layers.get("connect-timeout"),
            ships.connect_timeout,
            ships.connect_timeout,
            values::some_time,
        ),
        host: faults.read_or(layers.get("upstream-host"), ships.host, ships.host, values::upstream_host),
        ..ships
    }
}

/// How long a statement may wait for a lock: shorter than the lease of every route.
fn command_timeout(layers: &Layers, bridge: &BridgeSettings, faults: &mut Faults) -> Duration {
    let leases = bridge.all().map(|route| Duration::from_millis(route.record.lease));
    // INVARIANT: there is a lease, that of the whole server; one that cannot be used is told elsewhere.
    let shortest = leases.min().unwrap_or(COMMAND_TIMEOUT_MAX_DEFAULT);
    let fits = |text: &str| match values::some_time(text)? {
        timeout if timeout < shortest || shortest.is_zero() => Ok(timeout),
        timeout => Err(command_timeout_fault(timeout, shortest)),
    };
    let derived = sql::command_timeout(shortest);
    faults.read_or(layers.get("store-timeout"), derived, derived, fits)
}

/// Keys and demands on tokens that nobody reads: whoever wrote them believes that tokens are checked.
fn unused_jwt(layers: &Layers, faults: &mut Faults) {
    let views = std::iter::once(layers.server()).chain(layers.routes().map(|(_, view)| view));
    if layers.file_broken || views.filter_map(|view| view.get("principal")).any(|given| given.text.starts_with("jwt:")) {
        return;
    }
    for given in ["jwt-key", "jwt-issuer", "jwt-audience"].into_iter().filter_map(|name| layers.get(name)) {
        faults.add(&given.origin, "no principal is taken from a JWT: write --principal jwt:CLAIM, or leave this out");
    }
}

fn log(layers: &Layers, faults: &mut Faults) -> LogConfig {
    let format = faults.read_or(layers.get("log"), LogFormat::Text, LogFormat::Text, LogFormat::parse);
    let level = faults.read_or(layers.get("log-level"), LogLevel::of_a_server(), LogLevel::of_a_server(), LogLevel::parse);
    LogConfig { format, level }
}
