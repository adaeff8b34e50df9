//! Why the demo cannot go on. What it was meant to find out, it does not tell by errors: a broken promise stands in the report.

use std::future::Future;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::cli::CliError;

/// How often a condition is looked at.
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// The demo cannot go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// The temporary folder.
    #[error("the temporary folder cannot be used: {0}")]
    Folder(std::io::Error),
    /// The payment API has no port.
    #[error("the payment API cannot be started: {0}")]
    Payment(#[from] crate::bridge::listen::ListenError),
    /// A file of the demo.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// `read`, `write`, ...
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The ledger has a line that is none of its own.
    #[error("line {line} of the ledger {} is no charge: {source}", path.display())]
    Ledger {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// This program cannot be run as a child.
    #[error("cannot run `leasehold {what}` as a child process: {source}")]
    Child {
        /// `serve`, `recovery list`, ...
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// A child ended, or said something else than it should.
    #[error("`leasehold {what}` {how}{}", quoted(.said))]
    Failed {
        /// `serve`, `recovery list`, ...
        what: String,
        /// What it did.
        how: String,
        /// The last of what it said.
        said: String,
    },
    /// A condition that never came.
    #[error("waited {} s for {what}, in vain", .limit.as_secs())]
    Waited {
        /// For what.
        what: String,
        /// How long.
        limit: Duration,
    },
    /// Nobody reads it.
    #[error(transparent)]
    Output(Box<CliError>),
}

impl From<DemoError> for CliError {
    fn from(error: DemoError) -> Self {
        match error {
            DemoError::Output(error) => *error,
            error => Self::Other(Box::new(error)),
        }
    }
}

impl From<CliError> for DemoError {
    fn from(error: CliError) -> Self {
        Self::Output(Box::new(error))
    }
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said:\n{said}") }
}

/// Looks at a condition until it has come, for a bounded time.
pub(super) async fn until<Value, Look, Looking>(what: &str, limit: Duration, mut look: Look) -> Result<Value, DemoError>
where
    Look: FnMut() -> Looking,
    Looking: Future<Output = Result<Option<Value>, DemoError>>,
{
    let begun = Instant::now();
    loop {
        if let Some(value) = look().await? {
            return Ok(value);
        }
        if begun.elapsed() > limit {
            return Err(DemoError::Waited { what: what.to_owned(), limit });
        }
        tokio::time::sleep(POLL_PAUSE).await;
    }
}
