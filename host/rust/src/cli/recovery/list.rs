//! `leasehold recovery list`.

use std::cmp::Reverse;
use std::process::ExitCode;

use leasehold_decision::Family;

use crate::cli::error::eprint_line;
use crate::cli::open::{FamilyArg, StoreArgs};
use crate::cli::{Outcome, output};

/// List what waits for a verdict, oldest first
///
/// Changes nothing: executions that lapsed and that nobody has asked about appear once a server or `leasehold sweep` has looked.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Of this family alone
    #[arg(long, value_name = "FAMILY", value_enum)]
    family: Option<FamilyArg>,
    /// The oldest of each family, so many of them [default: all]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Print a JSON array of objects: reference, family, operation-code, attempt, revision, reason, age-ms
    #[arg(long)]
    json: bool,
}

/// Lists it.
pub(super) async fn run(args: Args) -> Outcome {
    let host = args.store.host().await?;
    let mut waiting = Vec::new();
    for family in FamilyArg::families(args.family, &Family::ALL) {
        let (found, corrupt) = host.waiting(family, args.limit.unwrap_or(usize::MAX)).await?;
        waiting.extend(found);
        for row in corrupt {
            let told = format!("warning: {}/{} cannot be read: {}", family.name(), row.scope, row.what);
            eprint_line(&output::plain(&told));
        }
    }
    waiting.sort_by_key(|one| Reverse(one.age_ms));
    if args.json {
        output::json(&waiting)?;
    } else if waiting.is_empty() {
        output::line("nothing waits for a verdict")?;
    } else {
        let rows = waiting.into_iter().map(|one| {
            [
                one.reference,
                one.attempt.to_string(),
                one.revision.to_string(),
                output::length(one.age_ms),
                one.reason.unwrap_or_default(),
            ]
        });
        output::print(&output::table(["REFERENCE", "ATTEMPT", "REVISION", "WAITING", "REASON"], rows))?;
    }
    Ok(ExitCode::SUCCESS)
}
