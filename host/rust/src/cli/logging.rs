//! The log: to standard error, as text or as JSON. It holds no key, no body and no principal, since nobody hands them to it.

use std::str::FromStr as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::CliError;

/// How much a command logs, unless it is told otherwise: what it has to say goes to standard output.
const COMMAND_LEVEL: &str = "warn";
/// How much a server logs, unless it is told otherwise.
const SERVER_LEVEL: &str = "info";

/// What is said of the log on the command line, of any command.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct LogArgs {
    /// How the log is written to standard error: text or json [default: text; variable: LEASEHOLD_LOG]
    #[arg(long, global = true, value_name = "text|json", help_heading = "Log")]
    pub(super) log: Option<String>,
    /// How much is logged: error, warn, info, debug, trace, or a filter such as leasehold=debug [default: info for serve, else
    /// warn; variable: LEASEHOLD_LOG_LEVEL]
    #[arg(long, global = true, value_name = "LEVEL", help_heading = "Log")]
    pub(super) log_level: Option<String>,
}

/// How the log is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// An object a line, for programs.
    Json,
}

impl LogFormat {
    /// The format of that name.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            other => Err(format!("{other:?} is no form of a log: write text or json")),
        }
    }
}

/// Which events are logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LogLevel(String);

impl LogLevel {
    /// What holds for a server.
    pub(super) fn of_a_server() -> Self {
        Self(SERVER_LEVEL.to_owned())
    }

    /// Several processes share one cache of compiled code, and its keeper warns where another was faster: nothing that anybody can use,
    /// unless a filter names it.
    fn with_quiet_cache(&self) -> String {
        let Self(level) = self;
        if level == "off" || level.contains("wasmtime") { level.clone() } else { format!("{level},wasmtime_internal_cache=error") }
    }

    /// A level, or a filter of levels by module. What other libraries say below `info` is of no use to an operator: for that a
    /// filter must name them.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let filter = match text {
            "debug" | "trace" => format!("info,leasehold={text}"),
            text => text.to_owned(),
        };
        let known = if text.contains(['=', ',']) {
            EnvFilter::try_new(&filter).is_ok()
        } else {
            !text.is_empty() && text.chars().all(char::is_alphabetic) && LevelFilter::from_str(text).is_ok()
        };
        if known {
            return Ok(Self(filter));
        }
        Err(format!(
            "{text:?} is no level: write error, warn, info, debug or trace, or levels by module as in warn,leasehold=debug"
        ))
    }
}

/// The log as it is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LogConfig {
    /// How it is written.
    pub(super) format: LogFormat,
    /// How much.
    pub(super) level: LogLevel,
}

impl LogArgs {
    /// The log of a command that is no server: command line over variables over defaults.
    pub(super) fn for_a_command(&self) -> Result<LogConfig, CliError> {
        let (mut faults, mut config) =
            (Vec::new(), LogConfig { format: LogFormat::Text, level: LogLevel(COMMAND_LEVEL.to_owned()) });
        let told = |flag: &str, variable: &str, given: Option<&String>| match given {
            Some(text) => Some((format!("--{flag}"), text.clone())),
            None => std::env::var(variable).ok().map(|text| (variable.to_owned(), text)),
        };
        if let Some((name, text)) = told("log", "LEASEHOLD_LOG", self.log.as_ref()) {
            match LogFormat::parse(&text) {
                Ok(format) => config.format = format,
                Err(why) => faults.push(format!("{name}: {why}")),
            }
        }
        if let Some((name, text)) = told("log-level", "LEASEHOLD_LOG_LEVEL", self.log_level.as_ref()) {
            match LogLevel::parse(&text) {
                Ok(level) => config.level = level,
                Err(why) => faults.push(format!("{name}: {why}")),
            }
        }
        if faults.is_empty() { Ok(config) } else { Err(CliError::Usage(faults.join("\n"))) }
    }
}

/// Starts it. A second start changes nothing.
pub(super) fn start(config: &LogConfig) {
    // INVARIANT: a LogLevel was read as a filter before.
    let filter = EnvFilter::try_new(config.level.with_quiet_cache()).unwrap_or_default();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    let started = match config.format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("the log was started before");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_word_or_a_filter() {
        for text in ["error", "info", "trace", "off", "warn,leasehold=debug", "leasehold::bridge=trace"] {
            assert!(LogLevel::parse(text).is_ok(), "{text}");
        }
        for text in ["", "loud", "3", "leasehold=loud", "="] {
            assert!(LogLevel::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_low_level_is_that_of_leasehold_alone() {
        assert_eq!(LogLevel::parse("debug"), Ok(LogLevel("info,leasehold=debug".to_owned())));
        assert_eq!(LogLevel::parse("warn"), Ok(LogLevel("warn".to_owned())));
        assert_eq!(LogLevel::parse("h2=trace"), Ok(LogLevel("h2=trace".to_owned())));
    }

    #[test]
    fn the_cache_is_quiet_unless_it_is_named() {
        let filter = |text: &str| LogLevel::parse(text).unwrap().with_quiet_cache();
        assert_eq!(filter("warn"), "warn,wasmtime_internal_cache=error");
        assert_eq!(filter("debug"), "info,leasehold=debug,wasmtime_internal_cache=error");
        assert_eq!(filter("warn,wasmtime_internal_cache=debug"), "warn,wasmtime_internal_cache=debug");
        assert_eq!(filter("off"), "off");
        assert!(EnvFilter::try_new(filter("info")).is_ok());
    }

    #[test]
    fn a_form_is_text_or_json() {
        assert_eq!(LogFormat::parse("json"), Ok(LogFormat::Json));
        assert!(LogFormat::parse("JSON").is_err());
    }
}
