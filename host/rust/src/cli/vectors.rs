//! `leasehold vectors`.

use super::{CliError, Outcome};

/// vectors
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold vectors` is not built yet".to_owned()))
}
