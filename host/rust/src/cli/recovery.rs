//! `leasehold recovery`.

use super::{CliError, Outcome};

/// recovery
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold recovery` is not built yet".to_owned()))
}
