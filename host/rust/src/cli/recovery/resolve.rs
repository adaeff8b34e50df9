//! `leasehold recovery resolve`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use leasehold_decision::{Outcome as Decided, Verdict};
use serde_json::json;

use super::response;
use crate::cli::open::StoreArgs;
use crate::cli::{CliError, Outcome, output};
use crate::executor::recovery::{Reference, VerdictRequest};

/// Longest name of an operator, in bytes.
const ACTOR_BYTES_MAX: usize = 255;

/// Say what happened, and so end the wait
///
/// `completed`: the effect happened; the response is replayed from now on. `no-effect`: it did not; the next request is tried again.
/// `forget`: start over, as if there had been no record. Who, when, why and the record before are kept in the store's audit.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    /// FAMILY/SCOPE, as `recovery list` and the 409 name it
    #[arg(value_name = "REF")]
    reference: String,
    #[command(flatten)]
    store: StoreArgs,
    /// What was found out
    #[arg(long, value_enum)]
    verdict: VerdictArg,
    /// Why; kept in the audit
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The answer that is replayed: a stored answer (http-1), or the body of one with status 200
    #[arg(long, value_name = "FILE")]
    response: Option<PathBuf>,
    /// The content type of that body, and that the file is one, whatever it looks like [default: application/json where it is JSON, else application/octet-stream]
    #[arg(long, value_name = "TYPE", requires = "response")]
    content_type: Option<String>,
    /// Replay the response of the last end that came too late
    #[arg(long, conflicts_with = "response")]
    from_evidence: bool,
    /// Who says so [default: the user who runs this]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// The revision that was looked at: refused where the record has moved on
    #[arg(long, value_name = "NUMBER", requires = "attempt")]
    revision: Option<u64>,
    /// The attempt that was looked at
    #[arg(long, value_name = "NUMBER", requires = "revision")]
    attempt: Option<u64>,
    /// With no-effect: so many more tries are allowed, at least
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    extra_attempts: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Example:
  leasehold recovery resolve REF --store sqlite:leasehold.db --verdict no-effect \\
      --reason 'the ledger has no such charge'";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum VerdictArg {
    /// It happened
    Completed,
    /// It did not happen
    NoEffect,
    /// Start over
    Forget,
}

impl VerdictArg {
    const fn verdict(self) -> Verdict {
        match self {
            Self::Completed => Verdict::Completed,
            Self::NoEffect => Verdict::NoEffect,
            Self::Forget => Verdict::Forget,
        }
    }
}

/// Gives the verdict.
pub(super) async fn run(args: Args) -> Outcome {
    let reference = args.reference.parse::<Reference>().map_err(|error| CliError::Usage(error.to_string()))?;
    let actor = actor(args.actor.as_deref())?;
    if (args.response.is_some() || args.from_evidence) && args.verdict != VerdictArg::Completed {
        return Err(CliError::Usage("a response goes with --verdict completed alone".to_owned()));
    }
    let file = args.response.as_deref().map(response::read).transpose()?;
    let host = args.store.host().await?;
    let shown = host.show(&reference).await?;
    let response = match file {
        Some(file) => Some(response::of_file(&file, args.content_type.as_deref(), shown.stored.row.codec.as_deref())?),
        None if args.from_evidence => Some(response::of_evidence(&shown)?),
        None => None,
    };
    // What was looked at is what the verdict is about: here, at the latest, the record as it was just shown.
    let seen = args.attempt.zip(args.revision).unwrap_or((shown.stored.row.attempt, shown.stored.row.revision));
    let request = VerdictRequest {
        verdict: args.verdict.verdict(),
        actor,
        reason: args.reason,
        seen: Some(seen),
        response,
        extra_attempts: args.extra_attempts,
    };
    let outcome = host.resolve(&reference, &request).await?;
    let revision = settled(&reference, &outcome)?;
    if args.json {
        output::json(&json!({ "reference": reference.to_string(), "verdict": request.verdict.name(), "revision": revision }))?;
    } else {
        output::line(&format!("{reference} is settled as {}; its revision is {revision}", request.verdict.name()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn actor(given: Option<&str>) -> Result<String, CliError> {
    let user =
        || ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok()).filter(|name| !name.is_empty());
    let actor = given.map(str::to_owned).or_else(user).unwrap_or_else(|| "unknown".to_owned());
    if actor.trim().is_empty() || actor.len() > ACTOR_BYTES_MAX {
        return Err(CliError::Usage(format!("--actor: a name of 1 to {ACTOR_BYTES_MAX} bytes is expected")));
    }
    Ok(actor)
}

/// The revision that the verdict left; or why there is none.
fn settled(reference: &Reference, outcome: &Decided) -> Result<u64, CliError> {
    let why = match outcome {
        Decided::Resolved(revision) => return Ok(*revision),
        // The reply to the write was lost, and the verdict was found to be in.
        Decided::AlreadyApplied(applied) => return Ok(applied.revision),
        Decided::StaleRevision(revision) => {
            format!("has moved on: its revision is {revision} now; look at it again with `leasehold recovery show`")
        }
        Decided::InvalidState(state) => format!("does not wait for a verdict: it is {}", state.name()),
        Decided::Missing => "is not there any more".to_owned(),
        Decided::CorruptRecord(corruption) => format!("cannot be: {}; repair the row by hand", corruption.message()),
        other => format!("was not settled: {}", other.kind()),
    };
    Err(CliError::Refused(format!("{reference} {why}; nothing was written")))
}
