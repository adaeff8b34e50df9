//! `leasehold demo`.

use crate::cli::{CliError, Outcome};

/// Show it: a small payment API, leasehold in front of it, and the faults that make others charge twice
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) async fn run(_args: Args) -> Outcome {
    Err(CliError::Refused("`leasehold demo` is not built yet".to_owned()))
}
