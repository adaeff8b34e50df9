//! A decision as one JSON document in, one out: for hosts whose runtime is slow or poor at rich types, and for pipes.
//!
//! In: `family`, `scope`, `settings`, `before`, `call`, `args` of a test vector. Out: `outcome`, `write`, `after`; or `error` with
//! `at` (the member) and `what`, where the document is no request. Integers may be decimal strings; with
//! `"big-integers": "string"` those past 2^53 are answered so. Members that are not named here are passed over.
//!
//! Knows nothing of WIT. Tests: `guest/tests/packed.rs`, the vectors, and random documents in the workspace's `tests/`.

use alloc::string::String;
use alloc::vec::Vec;

mod decode;
mod encode;

use crate::advance::AdvanceArgs;
use crate::claim::ClaimArgs;
use crate::inspect::InspectArgs;
use crate::outcome::{Decision, Outcome};
use crate::record::{OwnerTuple, Record, Token};
use crate::release::ReleaseArgs;
use crate::resolve::ResolveArgs;
use crate::row::{CallTexts, Row, RowFault};
use crate::{call, keys, record};

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
        Some(write) => Some(Row::after(&write, &request.scope, request.before.as_ref(), &request.call.texts())),
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
    let call = request.call.tokens();
    call::decide(request.family, &request.settings, before, &call, &request.call.readable_codecs(), request.now)
}

impl Call {
    /// The call as the decisions see it.
    #[must_use]
    pub fn tokens(&self) -> call::Call {
        match self {
            Self::Claim { owner, operation, fingerprint, codec, .. } => call::Call::Claim(ClaimArgs {
                owner: token(owner),
                operation: keys::name(operation),
                fingerprint: fingerprint.as_deref().map(token),
                codec: codec.as_deref().map(keys::name),
            }),
            Self::Inspect { owner, operation, fingerprint } => call::Call::Inspect(InspectArgs {
                owner: token(owner),
                operation: keys::name(operation),
                fingerprint: fingerprint.as_deref().map(token),
            }),
            Self::Advance { tuple: given, kind, transition, digest, reason } => call::Call::Advance(AdvanceArgs {
                tuple: tuple(given),
                kind: *kind,
                transition: keys::name(transition),
                digest: digest.as_deref().map(token),
                reason_given: reason.is_some(),
            }),
            Self::Release { tuple: given, transition } => {
                call::Call::Release(ReleaseArgs { tuple: tuple(given), transition: keys::name(transition) })
            }
            Self::Resolve { transition, attempt, revision, verdict, digest, extra_attempts } => call::Call::Resolve(ResolveArgs {
                transition: keys::name(transition),
                attempt: *attempt,
                revision: *revision,
                verdict: *verdict,
                digest: digest.as_deref().map(token),
                extra_attempts: *extra_attempts,
            }),
        }
    }

    /// The codecs that a claim can replay.
    #[must_use]
    pub fn readable_codecs(&self) -> Vec<Token> {
        match self {
            Self::Claim { readable_codecs, .. } => readable_codecs.iter().map(|codec| keys::name(codec)).collect(),
            Self::Advance { .. } | Self::Release { .. } | Self::Inspect { .. } | Self::Resolve { .. } => Vec::new(),
        }
    }

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
