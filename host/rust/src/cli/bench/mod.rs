//! `leasehold bench`.

use crate::cli::{CliError, Outcome};

/// Measure it: decisions, the whole cycle, and requests through the bridge
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold bench` is not built yet".to_owned()))
}
