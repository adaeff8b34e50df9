//! `leasehold recovery show`.

use std::process::ExitCode;

use serde::Serialize;

use crate::cli::open::StoreArgs;
use crate::cli::stored::{self, ResponseView, StoredView};
use crate::cli::{CliError, Outcome, output};
use crate::executor::recovery::{Reference, Shown};
use crate::store::{AuditEntry, Evidence};

/// Show all that is known of one record
///
/// The record; the ends that came too late and were refused, which often tell what happened; the verdicts given before.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// FAMILY/SCOPE, as `recovery list` and the 409 name it
    #[arg(value_name = "REF")]
    reference: String,
    #[command(flatten)]
    store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct View<'a> {
    #[serde(flatten)]
    stored: StoredView<'a>,
    evidence: Vec<EvidenceView<'a>>,
    audit: &'a [AuditEntry],
}

#[derive(Serialize)]
struct EvidenceView<'a> {
    attempt: u64,
    at: u64,
    kind: &'a str,
    refused: &'a str,
    digest: Option<&'a str>,
    reason: Option<&'a str>,
    response: Option<ResponseView>,
}

/// Shows it.
pub(super) async fn run(args: Args) -> Outcome {
    let reference = args.reference.parse::<Reference>().map_err(|error| CliError::Usage(error.to_string()))?;
    let host = args.store.host().await?;
    let shown = host.show(&reference).await?;
    if args.json {
        output::json(&view(&shown))?;
    } else {
        output::print(&text(&shown))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn codec(shown: &Shown) -> Option<&str> {
    shown.stored.row.codec.as_deref()
}

impl<'a> EvidenceView<'a> {
    fn of(one: &'a Evidence, codec: Option<&str>) -> Self {
        Self {
            attempt: one.attempt,
            at: one.at,
            kind: &one.kind,
            refused: &one.refused,
            digest: one.digest.as_deref(),
            reason: one.reason.as_deref(),
            response: one.response.as_deref().map(|bytes| ResponseView::of(bytes, codec)),
        }
    }
}

fn view(shown: &Shown) -> View<'_> {
    let evidence = shown.evidence.iter().map(|one| EvidenceView::of(one, codec(shown)));
    View { stored: StoredView::of(shown), evidence: evidence.collect(), audit: &shown.audit }
}

fn text(shown: &Shown) -> String {
    let mut text = stored::record(shown);
    if !shown.evidence.is_empty() {
        text.push_str("\nEnds that came too late:\n");
        let rows = shown.evidence.iter().map(|one| {
            let response = one.response.as_deref().map(|bytes| stored::response(bytes, codec(shown)));
            let said = response.or_else(|| one.reason.clone()).unwrap_or_default();
            [stored::relative(one.at, shown.now), one.attempt.to_string(), one.kind.clone(), one.refused.clone(), said]
        });
        text.push_str(&output::table(["AT", "ATTEMPT", "SAID", "REFUSED AS", "WITH"], rows));
    }
    if !shown.audit.is_empty() {
        text.push_str("\nVerdicts before:\n");
        let rows = shown.audit.iter().map(|one| {
            let attempt = one.attempt.to_string();
            [stored::relative(one.at, shown.now), attempt, one.verdict.clone(), one.actor.clone(), one.reason.clone()]
        });
        text.push_str(&output::table(["AT", "ATTEMPT", "VERDICT", "BY", "REASON"], rows));
    }
    text
}
