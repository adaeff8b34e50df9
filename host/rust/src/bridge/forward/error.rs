//! How a request failed at the upstream. The one question that matters: can anything of it have been sent?
//!
//! Knows no rules: what a failure counts as is the decision crate's. Tests: `tests/tests/forward/`.

use std::error::Error as StdError;
use std::time::Duration;

use hyper_util::client::legacy;
use leasehold_decision::http::Failure;

use super::url::UpstreamUrl;

/// An error of any kind, as libraries hand them on.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// A request that was not answered.
#[derive(Debug, thiserror::Error)]
pub enum ForwardError {
    /// Nothing of it was sent.
    #[error("the upstream {upstream} was not reached, nothing was sent: {}", chain(cause.as_ref()))]
    NeverReached {
        /// Where it should have gone.
        upstream: UpstreamUrl,
        /// Why not.
        cause: BoxError,
    },
    /// The connection broke, and something may have been sent.
    #[error("the upstream {upstream} broke off before it answered: {}", chain(cause.as_ref()))]
    Broke {
        /// Where it went.
        upstream: UpstreamUrl,
        /// How.
        cause: BoxError,
    },
    /// It was sent, and no answer began in time.
    #[error("the upstream {upstream} did not answer within {}", humane(*.after))]
    Silent {
        /// Where it went.
        upstream: UpstreamUrl,
        /// How long it was waited for.
        after: Duration,
    },
}

impl ForwardError {
    /// What it is to the rules of the bridge.
    #[must_use]
    pub const fn failure(&self) -> Failure {
        match self {
            Self::NeverReached { .. } => Failure::NeverReached,
            Self::Broke { .. } => Failure::Broke,
            Self::Silent { .. } => Failure::Silent,
        }
    }

    /// `connected`: whether a connection was chosen for the request.
    pub(super) fn classify(upstream: &UpstreamUrl, error: legacy::Error, connected: bool) -> Self {
        let upstream = upstream.clone();
        // INVARIANT: a request is written only to the connection that was chosen for it. After that, "connect" and "canceled"
        // are the errors of hyper that give the request back unwritten (hyper 1.12: `TrySendError { message: Some(_) }` and
        // `Error::new_canceled` go together, and only such a request gets a second connection).
        if !connected || error.is_connect() || given_back(&error) {
            Self::NeverReached { upstream, cause: error.into() }
        } else {
            Self::Broke { upstream, cause: error.into() }
        }
    }
}

fn given_back(error: &legacy::Error) -> bool {
    error.source().and_then(|source| source.downcast_ref::<hyper::Error>()).is_some_and(hyper::Error::is_canceled)
}

/// The connection did not come about in time.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotSent {
    #[error("no connection within {}", humane(*.0))]
    ConnectTimeOut(Duration),
    #[error("the time by which it had to be sent has passed")]
    TooLate,
}

/// The upstream did what HTTP does not allow.
#[derive(Debug, thiserror::Error)]
#[error("it changed the protocol, which nobody had asked for")]
pub(super) struct UnaskedUpgrade;

/// The answer's body ended before its end: the connection broke, or the upstream reset it.
#[derive(Debug, thiserror::Error)]
#[error("the upstream's answer broke off in its body: {}", chain(.0))]
pub struct BodyBroke(#[from] hyper::Error);

impl BodyBroke {
    /// What it is to the rules of the bridge.
    #[must_use]
    pub const fn failure(&self) -> Failure {
        Failure::Broke
    }

    /// Finds it in the error of a body that was wrapped on its way.
    #[must_use]
    pub fn find<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        causes(error).find_map(|error| error.downcast_ref())
    }
}

fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}

/// An error and its causes, each said once.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut said: Vec<String> = Vec::new();
    for error in causes(error) {
        let text = error.to_string();
        if !said.iter().any(|before| before.contains(&text)) {
            said.push(text);
        }
    }
    said.join(": ")
}

fn humane(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
