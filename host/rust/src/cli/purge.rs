//! `leasehold purge`.

use super::{CliError, Outcome};

/// purge
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold purge` is not built yet".to_owned()))
}
