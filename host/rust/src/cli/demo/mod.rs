//! `leasehold demo`: a small payment API, leasehold in front of it, and the faults that make others charge twice.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`payment`], [`ledger`] | the payment API, which charges whatever reaches it; its own file of what it charged |
//! | [`binary`] | leasehold, as a child process: the server, and the commands of an operator |
//! | [`client`] | who buys: real HTTP, one connection a request |
//! | [`stage`] | all of these put together, and the orders of the play |
//! | [`scenes`] | what happens, and what must hold in it |
//! | [`show`], [`report`] | what is told as it goes; the table at the end |
//!
//! Nothing here knows how leasehold works: it is started, sent requests, killed, and judged by the payment API's ledger. Tests: in
//! [`ledger`], [`client`] and [`report`]; `tests/tests/demo.rs` runs all of it.

use std::path::Path;
use std::process::ExitCode;

use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

use self::error::DemoError;
use self::report::{Folder, Report};
use self::show::Show;
use self::stage::Stage;
use crate::cli::{CliError, Outcome};

mod binary;
mod client;
mod error;
mod ledger;
mod payment;
mod report;
mod scenes;
mod show;
mod stage;

/// Show it: a small payment API, leasehold in front of it, and the faults that make others charge twice
///
/// It starts a payment API that charges whatever reaches it, puts leasehold in front of it (a child process with a SQLite file in a
/// temporary folder), and sends real HTTP at it: 100 duplicates at once, a client that hangs up, a key used for two payloads, an
/// upstream that dies in the middle, a kill -9. What counts is the payment API's own ledger: every order charged exactly once.
///
/// Exit status: 0 where the ledger agrees and every promise was kept, else 1.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Keep the temporary folder: the ledger, the SQLite file and leasehold's log
    #[arg(long)]
    keep: bool,
    /// Print the table at the end as JSON, and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub(super) async fn run(args: Args) -> Outcome {
    let show = if args.json { Show::silent() } else { Show::on_standard_output() };
    let folder = tempfile::Builder::new().prefix("leasehold-demo-").tempdir().map_err(DemoError::Folder)?;
    let report = tokio::select! {
        report = play(&show, folder.path()) => report?,
        () = told_to_stop() => return Err(CliError::Refused("the demo was stopped before its end".to_owned())),
    };
    let kept = put_away(folder, args.keep || !report.agrees())?;
    report.print(&show, args.json, kept)?;
    Ok(if report.agrees() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All scenes, up to the first that cannot be played to its end. The servers are gone when it returns.
async fn play(show: &Show, folder: &Path) -> Result<Report, DemoError> {
    show.title("leasehold demo: real HTTP, real faults, and a payment API that charges whatever reaches it")?;
    let mut stage = Stage::set(folder).await?;
    stage.introduce(show)?;
    let mut report = Report::new(folder);
    scenes::all(&mut stage, show, &mut report).await?;
    let ended = stage.strike().await;
    report.close(&stage.orders, &stage.ledger.charges()?, ended);
    Ok(report)
}

/// Whether the folder is still there.
fn put_away(folder: TempDir, keep: bool) -> Result<Folder, DemoError> {
    if keep {
        let _ = folder.keep();
        return Ok(Folder::Kept);
    }
    folder.close().map_err(DemoError::Folder)?;
    Ok(Folder::Removed)
}

/// Ctrl-C or SIGTERM: the children are stopped and the folder removed on the way out.
async fn told_to_stop() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
