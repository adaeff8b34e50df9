//! `leasehold inspect`.

use super::{CliError, Outcome};

/// inspect
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold inspect` is not built yet".to_owned()))
}
