//! A decision as one JSON document in, one out: for hosts whose runtime is slow or poor at rich types, and for pipes.
//!
//! In: `family`, `scope`, `settings`, `before`, `call`, `args` of a test vector. Out: `outcome`, `write`, `after`; or `error` with
//! `at` (the member) and `what`, where the document is no request. Integers may be decimal strings; with
//! `"big-integers": "string"` those past 2^53 are answered so. Members that are not named here are passed over.
//!
//! Knows nothing of WIT. Tests: below, the vectors, and random documents in the workspace's `tests/`.

use alloc::string::String;

mod decode;
mod encode;

use crate::advance::{AdvanceArgs, advance};
use crate::claim::{ClaimArgs, claim};
use crate::inspect::{InspectArgs, inspect};
use crate::outcome::{Decision, Outcome};
use crate::record::{Family, OwnerTuple, Record, Settings, Token};
use crate::release::{ReleaseArgs, release};
use crate::resolve::{ResolveArgs, resolve};
use crate::row::{CallTexts, Row, RowFault};
use crate::{keys, record};

pub use decode::{Call, DocumentFault, Request, Tuple};
pub use encode::Answer;

/// Decides one document.
#[must_use]
pub fn packed(document: &str) -> String {
    match Request::parse(document) {
        Ok(request) => encode::answer(&answer(&request), &request),
        Err(fault) => encode::fault(&fault),
    }
}

/// Decides one request, and applies its write.
#[must_use]
pub fn answer(request: &Request) -> Answer {
    let decided = match request.before.as_ref().map(Row::record).transpose() {
        Ok(before) => Ok(decide(request, before.as_ref())),
        Err(fault) => Err(fault),
    };
    let write = decided.as_ref().ok().and_then(|decision| decision.write);
    let after = match write {
        Some(write) => Some(write.apply(&request.scope, request.before.as_ref(), &request.call.texts())),
        None => request.before.clone(),
    };
    Answer { decided, after }
}

/// The tokens of texts that [`Request::parse`] has checked.
fn token(hex: &str) -> Token {
    // INVARIANT: decoded arguments are 64 lowercase hex digits wherever a token is meant.
    Token::from_hex(hex).unwrap_or(Token::from_words([0; 4]))
}

fn tuple(tuple: &Tuple) -> OwnerTuple {
    OwnerTuple {
        owner: token(&tuple.owner),
        operation: keys::name(&tuple.operation),
        attempt: tuple.attempt,
        revision: tuple.revision,
    }
}

/// The decision for a request whose record has been converted.
#[must_use]
pub fn decide(request: &Request, before: Option<&Record>) -> Decision {
    let (family, settings, now): (Family, &Settings, u64) = (request.family, &request.settings, request.now);
    match &request.call {
        Call::Claim { owner, operation, fingerprint, codec, readable_codecs } => {
            let args = ClaimArgs {
                owner: token(owner),
                operation: keys::name(operation),
                fingerprint: fingerprint.as_deref().map(token),
                codec: codec.as_deref().map(keys::name),
            };
            let readable: alloc::vec::Vec<Token> = readable_codecs.iter().map(|codec| keys::name(codec)).collect();
            claim(family, settings, before, &args, &readable, now)
        }
        Call::Inspect { owner, operation, fingerprint } => {
            let args = InspectArgs {
                owner: token(owner),
                operation: keys::name(operation),
                fingerprint: fingerprint.as_deref().map(token),
            };
            inspect(family, settings, before, &args, now)
        }
        Call::Advance { tuple: given, kind, transition, digest, reason } => {
            let args = AdvanceArgs {
                tuple: tuple(given),
                kind: *kind,
                transition: keys::name(transition),
                digest: digest.as_deref().map(token),
                reason_given: reason.is_some(),
            };
            advance(family, settings, before, &args, now)
        }
        Call::Release { tuple: given, transition } => {
            let args = ReleaseArgs { tuple: tuple(given), transition: keys::name(transition) };
            release(family, settings, before, &args, now)
        }
        Call::Resolve { transition, attempt, revision, verdict, digest, extra_attempts } => {
            let args = ResolveArgs {
                transition: keys::name(transition),
                attempt: *attempt,
                revision: *revision,
                verdict: *verdict,
                digest: digest.as_deref().map(token),
                extra_attempts: *extra_attempts,
            };
            resolve(family, settings, before, &args, now)
        }
    }
}

impl Call {
    /// What `args.*` of a bind plan means for this call.
    #[must_use]
    pub fn texts(&self) -> CallTexts<'_> {
        match self {
            Self::Claim { owner, operation, fingerprint, codec, .. } => CallTexts {
                owner: Some(owner),
                operation: Some(operation),
                fingerprint: fingerprint.as_deref(),
                codec: codec.as_deref(),
                ..CallTexts::default()
            },
            Self::Inspect { owner, operation, fingerprint } => CallTexts {
                owner: Some(owner),
                operation: Some(operation),
                fingerprint: fingerprint.as_deref(),
                ..CallTexts::default()
            },
            Self::Advance { transition, digest, reason, .. } => CallTexts {
                transition: Some(transition),
                digest: digest.as_deref(),
                reason: reason.as_deref(),
                ..CallTexts::default()
            },
            Self::Release { transition, .. } => CallTexts { transition: Some(transition), ..CallTexts::default() },
            Self::Resolve { transition, digest, .. } => {
                CallTexts { transition: Some(transition), digest: digest.as_deref(), ..CallTexts::default() }
            }
        }
    }
}

impl Answer {
    /// The outcome's kind; a row that cannot be read as a record is corrupt, too.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.decided {
            Ok(decision) => decision.outcome.kind(),
            Err(RowFault { .. }) => Outcome::CorruptRecord(record::Corruption::OwnerAbsent).kind(),
        }
    }
}
