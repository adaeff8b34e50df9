//! `leasehold recovery`: what waits for a person, and how it ends.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`list`] | what waits |
//! | [`show`] | all that is known of one |
//! | [`resolve`] | a verdict |
//! | [`response`] | the answer that is replayed from then on |
//!
//! Tests: `tests/tests/cli/`.

mod list;
mod resolve;
mod response;
mod show;

use super::Outcome;

/// List, show and settle what nobody knows the effect of
///
/// An execution whose end never reached the store (a crash, a silent upstream) is not tried again, since it may have had its effect:
/// it waits here, and its client gets 409 with the reference. Find out what happened, then say so with `resolve`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Example:
  leasehold recovery list --store sqlite:leasehold.db
  leasehold recovery show REF --store sqlite:leasehold.db
  leasehold recovery resolve REF --store sqlite:leasehold.db --verdict completed \\
      --response receipt.json --reason 'found in the ledger'";

#[derive(clap::Subcommand, Debug)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Resolve(resolve::Args),
}

/// Does what is asked.
pub(super) async fn run(args: Args) -> Outcome {
    match args.command {
        Command::List(args) => list::run(args).await,
        Command::Show(args) => show::run(args).await,
        Command::Resolve(args) => resolve::run(args).await,
    }
}
