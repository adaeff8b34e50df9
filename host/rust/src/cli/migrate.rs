//! `leasehold migrate`: the store, laid out.

use std::process::ExitCode;

use super::open::StoreArgs;
use super::{CliError, Outcome, output};
use crate::host::{HostOptions, Leasehold, SecretSource};
use crate::store::sql::Migrate;

/// Lay out the store
///
/// Makes the tables where there are none, in one transaction, and says which layout the store has. `leasehold serve` does the same
/// by itself.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  leasehold migrate --store sqlite:leasehold.db";

/// Lays it out.
pub(super) async fn run(args: Args) -> Outcome {
    let url = args.store.url()?;
    let options = HostOptions { migrate: Migrate::Allowed, ..args.store.options(SecretSource::None)? };
    let host = Leasehold::open(options).await?;
    let layout = host
        .component()
        .schema(url.dialect())?
        .map_err(|_| CliError::Refused("the component has no layout for this store".to_owned()))?;
    output::line(&format!("{url} has layout {}", layout.version))?;
    Ok(ExitCode::SUCCESS)
}
