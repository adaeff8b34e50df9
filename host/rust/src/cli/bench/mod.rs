//! `leasehold bench`: how fast it is, measured in one run, with a warm-up and several rounds; medians and ratios are printed.
//!
//! | module | what it measures |
//! | --- | --- |
//! | [`decisions`] | a decision natively, through the component, in a batch; memory over a million |
//! | [`cycle`] | claim, start, complete on SQLite, against a bare loop of the same statements |
//! | [`requests`] | a request through the bridge, against the same request straight to the upstream |
//! | [`figures`] | medians, and how they are printed |
//!
//! The two sides of a ratio take turns, round by round, so that a machine whose speed drifts does not favour one of them.

use std::process::ExitCode;

use crate::cli::{CliError, Outcome, open, output};

mod cycle;
mod decisions;
mod figures;
mod requests;

use figures::Figure;

/// Measure it: decisions, the whole cycle, and requests through the bridge
///
/// Run it from a release build, on a machine that does nothing else. Each figure is a median over rounds.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Which part alone: decisions, cycle or requests
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// How many rounds are counted; of decisions five times as many
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// The folder for the SQLite files: the disk that is measured. Default: a temporary one
    #[arg(long, value_name = "FOLDER")]
    folder: Option<std::path::PathBuf>,
    /// The cycle alone, on this store, by 1, 8 and 32 clients; the records are taken away again
    #[arg(long, value_name = "URL", conflicts_with_all = ["only", "folder"])]
    store: Option<String>,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

/// Rounds of decisions, for each round of the rest: they are short, and the machine's speed drifts.
const DECISION_ROUNDS: u32 = 5;

/// A part of the measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Part {
    Decisions,
    Cycle,
    Requests,
}

/// Runs it.
pub(super) async fn run(args: Args) -> Outcome {
    if cfg!(debug_assertions) {
        crate::cli::error::eprint_line("note: this is a debug build; measure a release build: cargo run --release -- bench");
    }
    let folder = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.map_err(|source| CliError::File {
        what: "make a folder in",
        path: args.folder.clone().unwrap_or_else(std::env::temp_dir),
        source,
    })?;
    let store = args.store.as_deref().map(open::store_url).transpose()?;
    let wanted = |part| store.is_none() && args.only.is_none_or(|only| only == part);
    let mut figures: Vec<Figure> = Vec::new();
    if wanted(Part::Decisions) {
        figures.extend(decisions::measure(args.rounds.saturating_mul(DECISION_ROUNDS))?);
    }
    if let Some(store) = &store {
        figures.extend(cycle::measure_on(store, args.rounds).await?);
    }
    if wanted(Part::Cycle) {
        figures.extend(cycle::measure(args.rounds, folder.path()).await?);
    }
    if wanted(Part::Requests) {
        figures.extend(requests::measure(args.rounds, folder.path()).await?);
    }
    if args.json {
        output::json(&figures)?
    } else {
        output::print(&figures::table(&figures))?
    };
    Ok(ExitCode::SUCCESS)
}
