//! `leasehold sweep`.

use super::{CliError, Outcome};

/// sweep
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold sweep` is not built yet".to_owned()))
}
