//! `leasehold secret`.

use super::{CliError, Outcome};

/// secret
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold secret` is not built yet".to_owned()))
}
