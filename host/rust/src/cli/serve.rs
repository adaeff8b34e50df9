//! `leasehold serve`: the server, until it is told to stop.

use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::config::ServeConfig;
use super::{CliError, Outcome, output};
use crate::bridge::server::{Server, ServerOptions};
use crate::host::Leasehold;

pub(super) use super::config::ServeArgs as Args;

/// Serves until SIGTERM or SIGINT, finishes what is executing, and says whether all of it was.
pub(super) async fn run(config: ServeConfig) -> Outcome {
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let stop = stop_on_signal()?;
    let store = config.host.store.to_string();
    let host = Leasehold::open(config.host).await?;
    let options = ServerOptions {
        listen: config.listen,
        tls: config.tls,
        admin: config.admin,
        upstream: config.upstream,
        forward: config.forward,
        settings: config.bridge,
        grace: config.grace,
    };
    let server = Server::bind(host, options).await.map_err(|error| CliError::Other(Box::new(error)))?;
    tracing::info!(url = server.url(), store, "serving");
    output::line(&format!("listening on {}", server.url()))?;
    if let Some(admin) = server.admin_url() {
        output::line(&format!("admin on {admin}"))?;
    }
    if server.run(stop).await {
        return Ok(ExitCode::SUCCESS);
    }
    tracing::error!("stopped before everything had ended; what was cut off is in the recovery list once its lease is over");
    Ok(ExitCode::FAILURE)
}

/// The first signal asks; a second one does not wait.
fn stop_on_signal() -> Result<CancellationToken, CliError> {
    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate()).map_err(CliError::Runtime)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(CliError::Runtime)?;
    let asked = stop.clone();
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        next().await;
        tracing::info!("asked to stop; finishing what is executing");
        asked.cancel();
        next().await;
        tracing::warn!("asked again; stopping at once");
        std::process::exit(1);
    });
    Ok(stop)
}
