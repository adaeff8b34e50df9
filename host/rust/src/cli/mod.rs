//! The `leasehold` program: what it is told, what it does, and how it says what came of it.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`config`] | the server's settings: command line over variables over a file over defaults, and one error for all faults |
//! | [`serve`] | the server |
//! | [`demo`], [`bench`] | a show with a payment API; how fast it is |
//! | [`vectors`] | test vectors through the decisions and a real store |
//! | [`inspect`], [`recovery`], [`stored`] | one record; what waits for a verdict; how a record is shown |
//! | [`purge`], [`sweep`], [`migrate`], [`secret`] | the store's upkeep |
//! | [`decide`] | decisions over a pipe |
//! | [`open`] | which store and which secrets, for all of them |
//! | [`logging`], [`output`], [`error`] | the log, standard output, errors and exit statuses |
//!
//! It holds no decision and no SQL. Tests: in each module, and `tests/tests/cli/`, which run the real binary.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod config;
mod decide;
mod demo;
mod error;
mod inspect;
mod logging;
mod migrate;
mod open;
mod output;
mod purge;
mod recovery;
mod secret;
mod serve;
mod stored;
mod sweep;
mod vectors;

pub use error::CliError;

/// How a command ends: its exit status, or an error.
type Outcome = Result<ExitCode, CliError>;

/// At most once, and know what happened.
///
/// leasehold stands in front of an HTTP API and lets each request that carries an Idempotency-Key have one effect: retries get the
/// stored answer, duplicates wait their turn, and what nobody knows is listed for a person to settle.
#[derive(Parser, Debug)]
#[command(name = "leasehold", version, propagate_version = true, max_term_width = 110, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    log: logging::LogArgs,
}

const EXAMPLES: &str = "\
Examples:
  leasehold demo
  leasehold serve --listen 127.0.0.1:8080 --upstream http://127.0.0.1:9000 \\
      --store sqlite:leasehold.db
  leasehold recovery list --store sqlite:leasehold.db

Exit status: 0 done; 1 it failed, or found what must not be; 2 it was asked wrongly.";

#[derive(Subcommand, Debug)]
enum Command {
    Serve(serve::Args),
    Demo(demo::Args),
    Inspect(inspect::Args),
    Recovery(recovery::Args),
    Purge(purge::Args),
    Sweep(sweep::Args),
    Migrate(migrate::Args),
    Secret(secret::Args),
    Decide(decide::Args),
    Vectors(vectors::Args),
    Bench(bench::Args),
}

/// Does what the command line says, and gives the exit status: 0 done, 1 failed, 2 asked wrongly.
#[must_use]
pub fn main() -> ExitCode {
    run(Cli::parse()).unwrap_or_else(|error| error.report())
}

fn run(cli: Cli) -> Outcome {
    let Cli { command, log } = cli;
    if let Command::Serve(args) = command {
        let config = config::ServeConfig::from_process(&args, &log)?;
        logging::start(&config.log);
        return runtime()?.block_on(serve::run(config));
    }
    logging::start(&log.for_a_command()?);
    let runtime = runtime()?;
    match command {
        Command::Serve(_) => Ok(ExitCode::SUCCESS),
        Command::Demo(args) => runtime.block_on(demo::run(args)),
        Command::Inspect(args) => runtime.block_on(inspect::run(args)),
        Command::Recovery(args) => runtime.block_on(recovery::run(args)),
        Command::Purge(args) => runtime.block_on(purge::run(args)),
        Command::Sweep(args) => runtime.block_on(sweep::run(args)),
        Command::Migrate(args) => runtime.block_on(migrate::run(args)),
        Command::Secret(args) => runtime.block_on(secret::run(args)),
        Command::Decide(args) => decide::run(&args),
        Command::Vectors(args) => runtime.block_on(vectors::run(args)),
        Command::Bench(args) => runtime.block_on(bench::run(args)),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
