//! `leasehold decide`.

use super::{CliError, Outcome};

/// decide
#[derive(clap::Args, Debug)]
pub(super) struct Args {}

/// Runs it.
pub(super) fn run(_args: &Args) -> Outcome {
    Err(CliError::Refused("`leasehold decide` is not built yet".to_owned()))
}
