//! `leasehold sweep`: executions that nobody asks about, listed.

use std::process::ExitCode;

use leasehold_decision::Family;
use serde_json::json;

use super::error::eprint_line;
use super::open::{FamilyArg, StoreArgs};
use super::{Outcome, output};

/// Put lapsed executions on the recovery list
///
/// An execution whose lease is over may have had its effect: it is not tried again, but waits for a verdict (see `leasehold
/// recovery`). So does what lapsed in a queue with all its tries spent; the rest of a queue is left to its pollers. Servers do the
/// same by themselves. It goes in small batches, and may run while servers work.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Of this family alone
    #[arg(long, value_name = "FAMILY", value_enum)]
    family: Option<FamilyArg>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Example:
  leasehold sweep --store sqlite:leasehold.db";

/// Sweeps.
pub(super) async fn run(args: Args) -> Outcome {
    let host = args.store.host().await?;
    let mut swept = Vec::new();
    for family in FamilyArg::families(args.family, &Family::ALL) {
        let found = host.sweep(family).await?;
        for row in &found.corrupt {
            eprint_line(&output::plain(&format!("warning: {}/{} cannot be read: {}", family.name(), row.scope, row.what)));
        }
        swept.push((family.name(), found.buried));
    }
    if args.json {
        output::json(&swept.iter().map(|(family, listed)| json!({ "family": family, "listed": listed })).collect::<Vec<_>>())?;
    } else {
        let rows = swept.into_iter().map(|(family, listed)| [family.to_owned(), listed.to_string()]);
        output::print(&output::table(["FAMILY", "LISTED"], rows))?;
    }
    Ok(ExitCode::SUCCESS)
}
