//! `leasehold serve`.

use super::config::ServeConfig;
use super::{CliError, Outcome};

pub(super) use super::config::ServeArgs as Args;

/// Serves until it is told to stop.
pub(super) async fn run(_config: ServeConfig) -> Outcome {
    Err(CliError::Refused("`leasehold serve` is not built yet".to_owned()))
}
