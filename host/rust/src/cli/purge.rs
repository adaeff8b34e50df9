//! `leasehold purge`: what has ended, taken away.

use std::process::ExitCode;
use std::time::Duration;

use leasehold_decision::{Family, Settings, policy};
use serde_json::json;

use super::config::values;
use super::open::{FamilyArg, StoreArgs};
use super::{CliError, Outcome, output};
use crate::host::{HostOptions, LEASE_MS_MIN, Leasehold, SecretSource};

/// Remove records that have ended
///
/// A completed or failed record is removed once its expiry lies one failure-retention back; nothing else is. Servers do the same by
/// themselves. It goes in small batches, and may run while servers work.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Of this family alone
    #[arg(long, value_name = "FAMILY", value_enum)]
    family: Option<FamilyArg>,
    /// How far back its expiry must lie, as in 24h [default: 24h]
    #[arg(long, value_name = "DURATION", value_parser = retention)]
    failure_retention: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Example:
  leasehold purge --store sqlite:leasehold.db";

fn retention(text: &str) -> Result<Duration, String> {
    values::duration(text).and_then(|duration| match duration {
        duration if duration < Duration::from_millis(LEASE_MS_MIN) => Err(format!("write {LEASE_MS_MIN}ms or more")),
        duration => Ok(duration),
    })
}

/// Removes them.
pub(super) async fn run(args: Args) -> Outcome {
    let host = Leasehold::open(options(&args)?).await?;
    let mut purged = Vec::new();
    for family in FamilyArg::families(args.family, &Family::ALL) {
        purged.push((family.name(), host.purge(family).await?));
    }
    if args.json {
        output::json(&purged.iter().map(|(family, removed)| json!({ "family": family, "removed": removed })).collect::<Vec<_>>())?;
    } else {
        let rows = purged.into_iter().map(|(family, removed)| [family.to_owned(), removed.to_string()]);
        output::print(&output::table(["FAMILY", "REMOVED"], rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &Args) -> Result<HostOptions, CliError> {
    let mut options = args.store.options(SecretSource::None)?;
    if let Some(retention) = args.failure_retention {
        let failure_retention = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
        // No lease is given here: one that is no longer goes with every retention.
        let settings = |family| {
            let ships = policy::default_settings(family);
            Settings { failure_retention, lease: ships.lease.min(failure_retention), ..ships }
        };
        options.settings = Family::ALL.into_iter().map(|family| (family, settings(family))).collect();
    }
    Ok(options)
}
