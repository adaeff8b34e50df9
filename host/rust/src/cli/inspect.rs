//! `leasehold inspect`: one record, as the store holds it.

use std::process::ExitCode;

use leasehold_decision::Family;

use super::open::{FamilyArg, StoreArgs};
use super::stored::{self, StoredView};
use super::{CliError, Outcome, output};
use crate::executor::recovery::Reference;
use crate::ids::Scope;

/// Show one record
///
/// Shows what the store holds under a scope: the state, whose it is and until when, and the answer that is replayed. Changes nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    /// The record's scope, or its reference (FAMILY/SCOPE) as the log, a 409 or `recovery list` names it
    scope: String,
    #[command(flatten)]
    store: StoreArgs,
    /// In which table the scope is looked up; SCOPE is then taken as it is
    #[arg(long, value_name = "FAMILY", value_enum)]
    family: Option<FamilyArg>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Example:
  leasehold inspect --store sqlite:leasehold.db inbox/order-17";

/// Shows it.
pub(super) async fn run(args: Args) -> Outcome {
    let reference = reference(&args.scope, args.family.map(FamilyArg::family)).map_err(CliError::Usage)?;
    let host = args.store.host().await?;
    let shown = host.show(&reference).await?;
    if args.json {
        output::json(&StoredView::of(&shown))?;
    } else {
        output::print(&stored::record(&shown))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A scope in that family; or a reference; or a scope of an idempotency key.
fn reference(text: &str, family: Option<Family>) -> Result<Reference, String> {
    if family.is_none()
        && let Ok(reference) = text.parse()
    {
        return Ok(reference);
    }
    let scope = Scope::new(text).map_err(|error| error.to_string())?;
    Ok(Reference { family: family.unwrap_or(Family::Idempotency), scope })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_looked_up_where_it_says_or_among_the_keys() {
        let check = |text: &str, family, expected: &str| assert_eq!(reference(text, family).unwrap().to_string(), expected);
        check("order-17", None, "idempotency/order-17");
        check("d1:http:00", None, "idempotency/d1:http:00");
        check("outbox/order-17", None, "outbox/order-17");
        check("outbox/order-17", Some(Family::Inbox), "inbox/outbox/order-17");
        assert!(reference("", None).is_err());
    }
}
