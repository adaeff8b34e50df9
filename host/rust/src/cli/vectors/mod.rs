//! `leasehold vectors`: every test vector through the decisions and a real store.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`parse`] | a line of the file |
//! | [`engine`] | who decides: the component, or the same code natively |
//! | [`stage`] | the store, with the rows of the vectors and none of anybody else's |
//! | [`decision`], [`keys`] | one vector of each kind |
//! | [`outcome`] | an outcome as JSON |
//! | [`compare`] | what differs |
//!
//! Source: section 7 of the contract. Tests: `tests/tests/cli/`, with altered vectors, too.

mod compare;
mod decision;
mod engine;
mod keys;
mod outcome;
mod parse;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;

use self::engine::Engine;
use self::parse::{Vector, Work};
use self::stage::Stage;
use super::open::{code_cache, store_url};
use super::{CliError, Outcome, output};
use crate::component::{CodeCache, Component, LoadError};

/// Vectors whose rows lie in the store at once.
const BATCH_VECTORS_MAX: usize = 200;

/// Run test vectors through the decisions and a real store
///
/// Each line of FILE is a vector: a record, a call with its clock reading, the outcome and the record that the store must hold
/// afterwards. The record is put into the store, read back, decided, and written by the catalogue's own statement; then what is
/// there is compared. Records that cannot be stored, and vectors for scopes and fingerprints, are decided without a store.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    /// The vectors: JSON Lines
    file: PathBuf,
    /// Use this store, not a temporary file; rows are made under a scope of their own and taken away again. Nobody should serve
    /// from it meanwhile, and its outbox must be POLLING
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Decide by the code that is compiled in, not by the component
    #[arg(long)]
    native: bool,
}

const EXAMPLE: &str = "\
The last line says `N passed, M failed`; the exit status is 1 where one failed, 2 where a line is no vector.

Example:
  leasehold vectors tests/vectors/lease-1.jsonl
  leasehold vectors tests/vectors/lease-1.jsonl --store sqlite:leasehold.db";

/// Runs them all, and says how many passed.
pub(super) async fn run(args: Args) -> Outcome {
    let read = |source| CliError::File { what: "read", path: args.file.clone(), source };
    let text = std::fs::read_to_string(&args.file).map_err(read)?;
    let vectors = parse::vectors(&text).map_err(|fault| CliError::Usage(format!("{}: {fault}", args.file.display())))?;
    let needs_store = vectors.iter().any(|vector| matches!(vector.work, Work::Decision(_)));
    let (mut passed, mut failed) = (0u64, 0u64);
    let mut tell = |vector: &Vector, differences: Vec<String>| {
        if differences.is_empty() {
            passed += 1;
            return Ok(());
        }
        failed += 1;
        let lines: String = differences.iter().map(|difference| format!("  {}\n", output::plain(difference))).collect();
        output::print(&format!("FAILED {} (line {})\n{lines}", output::plain(&vector.name), vector.line))
    };
    if needs_store {
        let stage = Stage::open(args.store.as_deref().map(store_url).transpose()?, code_cache()).await?;
        let engine = if args.native { Engine::Native } else { Engine::Component(stage.component()) };
        let played = tokio::select! {
            played = play(&vectors, &engine, &stage, &mut tell) => played,
            _ = tokio::signal::ctrl_c() => {
                stage.strike(&vectors).await?;
                Err(CliError::Refused("interrupted; every row that was made is taken away again".to_owned()))
            }
        };
        stage.close().await;
        played?;
    } else {
        let engine = if args.native { Engine::Native } else { Engine::Component(component(code_cache()).await?) };
        for vector in &vectors {
            if let Work::Keys(work) = &vector.work {
                tell(vector, keys::run(work, &engine)?)?;
            }
        }
    }
    output::line(&format!("{passed} passed, {failed} failed"))?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn component(code_cache: CodeCache) -> Result<std::sync::Arc<Component>, CliError> {
    let loaded = tokio::task::spawn_blocking(move || Component::built_in(&code_cache)).await;
    Ok(std::sync::Arc::new(loaded.map_err(|error| LoadError::Engine(error.to_string()))??))
}

/// In batches: the rows of one are put at once, and taken away at once, so that a store which syncs each commit is not waited for
/// three times a vector.
async fn play(
    vectors: &[Vector],
    engine: &Engine,
    stage: &Stage,
    tell: &mut impl FnMut(&Vector, Vec<String>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    for batch in vectors.chunks(BATCH_VECTORS_MAX) {
        stage.set(batch).await?;
        let mut played = Ok(());
        for vector in batch {
            let differences = match &vector.work {
                Work::Keys(work) => keys::run(work, engine),
                Work::Decision(work) => decision::run(vector.line, work, engine, stage).await,
            };
            played = differences.and_then(|differences| tell(vector, differences));
            if played.is_err() {
                break;
            }
        }
        stage.strike(batch).await?;
        played?;
    }
    Ok(())
}
