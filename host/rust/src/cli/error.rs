//! What can go wrong in a command, how it is told, and with which exit status.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::component::{CallError, LoadError};
use crate::cycle::CycleError;
use crate::executor::claim::ClaimError;
use crate::executor::recovery::RecoveryError;
use crate::host::HostError;
use crate::keyring::{KeyringError, SecretError};
use crate::store::StoreError;

/// It was tried, and failed.
const FAILED: u8 = 1;
/// It was asked wrongly: as clap does.
const ASKED_WRONGLY: u8 = 2;

/// Why a command did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The host could not be put together.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A verdict, or a list.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
    /// A claim.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// A reading or a write.
    #[error(transparent)]
    Cycle(#[from] CycleError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The secrets and their versions.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// Where secrets come from.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The component cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The component failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A file cannot be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// `read`, `write`, ...
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Standard input broke.
    #[error("cannot read standard input: {0}")]
    Input(std::io::Error),
    /// Standard output broke; where its reader has gone, that is no error.
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
    /// There is no runtime.
    #[error("the runtime cannot be set up: {0}")]
    Runtime(std::io::Error),
    /// It is refused, or is not so: what, and what to do.
    #[error("{0}")]
    Refused(String),
    /// The command line, a variable or a file says what cannot be: what, and what to write instead.
    #[error("{0}")]
    Usage(String),
    /// Anything else.
    #[error(transparent)]
    Other(#[from] Box<dyn Error + Send + Sync>),
}

impl CliError {
    /// Tells it on standard error, with its causes, and gives the exit status.
    pub(super) fn report(&self) -> ExitCode {
        if let Self::Output(error) = self
            && error.kind() == std::io::ErrorKind::BrokenPipe
        {
            return ExitCode::SUCCESS;
        }
        eprint_line(&format!("error: {}", told(self)));
        ExitCode::from(if matches!(self, Self::Usage(_)) { ASKED_WRONGLY } else { FAILED })
    }
}

/// The message, and a line for each cause that it does not tell already.
fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.contains(&message) {
            text.push_str("\n  because: ");
            text.push_str(&message);
        }
        source = cause.source();
    }
    text
}

/// A line on standard error; where nobody reads that any more, there is nobody to tell.
pub(super) fn eprint_line(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let source = std::io::Error::other("the disk is gone");
        let wrapped: Box<dyn Error + Send + Sync> = Box::new(CliError::File { what: "read", path: "a.txt".into(), source });
        assert_eq!(told(&CliError::from(wrapped)), "cannot read a.txt: the disk is gone");
    }

    #[test]
    fn a_cause_that_is_not_in_the_message_is_told_below_it() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] std::io::Error);
        assert_eq!(told(&Outer(std::io::Error::other("inner"))), "outer\n  because: inner");
    }
}
