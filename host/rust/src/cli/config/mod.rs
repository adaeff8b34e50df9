//! The server's settings: command line over variables over a file over defaults, and one error that lists all that is wrong.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`options`] | every setting: its name, what it takes, what holds without it |
//!
//! Nothing is opened here but the file itself, and those that it names, to see whether they can be used. Tests: in each module.

mod options;

pub(super) use options::ServeArgs;

use super::CliError;
use super::logging::{LogArgs, LogConfig};

/// The server's settings, checked.
#[derive(Debug)]
pub(super) struct ServeConfig {
    /// The log.
    pub(super) log: LogConfig,
}

impl ServeConfig {
    /// From this process's command line and variables, and the file that they name.
    pub(super) fn from_process(_args: &ServeArgs, _log: &LogArgs) -> Result<Self, CliError> {
        Err(CliError::Refused("`leasehold serve` is not built yet".to_owned()))
    }
}
