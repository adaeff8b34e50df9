//! `leasehold migrate`.

use super::{CliError, Outcome};

/// migrate
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold migrate` is not built yet".to_owned()))
}
