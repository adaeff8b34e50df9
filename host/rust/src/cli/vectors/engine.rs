//! Who decides: the component, or the same code natively. One arm for each call.

use std::sync::Arc;

use leasehold_decision::{
    AdvanceArgs, Call, ClaimArgs, Decision, InspectArgs, OwnerTuple, Record, ReleaseArgs, ResolveArgs, Token, keys, packed,
};

use super::parse::KeysCall;
use crate::component::{CallError, Component};
use crate::decide::{self, Decide, Native};
use crate::ids::token;

/// Who decides.
pub(super) enum Engine {
    /// The code that is compiled in.
    Native,
    /// The component.
    Component(Arc<Component>),
}

impl Engine {
    /// The decision on a record, by the typed interface.
    pub(super) fn decide(&self, request: &packed::Request, before: Option<&Record>) -> Result<Decision, CallError> {
        let (call, readable) = typed(&request.call);
        let call = match &call {
            Call::Claim(args) => decide::Call::Claim(args, &readable),
            Call::Advance(args) => decide::Call::Advance(args),
            Call::Release(args) => decide::Call::Release(args),
            Call::Inspect(args) => decide::Call::Inspect(args),
            Call::Resolve(args) => decide::Call::Resolve(args),
        };
        let decide: &dyn Decide = match self {
            Self::Native => &Native,
            Self::Component(component) => component.as_ref(),
        };
        decide.decide(request.family, &request.settings, before, call, request.now)
    }

    /// The decision on a document.
    pub(super) fn packed(&self, document: &str) -> Result<String, CallError> {
        match self {
            Self::Native => Ok(packed::packed(document)),
            Self::Component(component) => component.packed(document),
        }
    }

    /// A scope (`None` where the operation code is malformed) or a fingerprint.
    pub(super) fn key(&self, call: &KeysCall) -> Result<Option<String>, CallError> {
        match (self, call) {
            (Self::Native, KeysCall::Scope { version, secret, principal, operation, key }) => {
                Ok(keys::scope(*version, secret, principal, operation, key).ok())
            }
            (Self::Component(component), KeysCall::Scope { version, secret, principal, operation, key }) => {
                component.scope(*version, secret, principal, operation, key)
            }
            (Self::Native, KeysCall::Fingerprint { secret, method, target, content_type, body }) => {
                let content_type = content_type.as_deref().map(str::as_bytes);
                Ok(Some(keys::fingerprint(secret, method.as_bytes(), target.as_bytes(), content_type, body)))
            }
            (Self::Component(component), KeysCall::Fingerprint { secret, method, target, content_type, body }) => {
                let content_type = content_type.as_deref().map(str::as_bytes);
                component.fingerprint(secret, method.as_bytes(), target.as_bytes(), content_type, body).map(Some)
            }
        }
    }
}

fn tuple(given: &packed::Tuple) -> OwnerTuple {
    OwnerTuple {
        owner: token(&given.owner),
        operation: keys::name(&given.operation),
        attempt: given.attempt,
        revision: given.revision,
    }
}

/// A call with its texts as tokens, and the codecs that its caller can replay.
fn typed(call: &packed::Call) -> (Call, Vec<Token>) {
    let call = match call {
        packed::Call::Claim { owner, operation, fingerprint, codec, readable_codecs } => {
            let args = ClaimArgs {
                owner: token(owner),
                operation: keys::name(operation),
                fingerprint: fingerprint.as_deref().map(token),
                codec: codec.as_deref().map(keys::name),
            };
            return (Call::Claim(args), readable_codecs.iter().map(|codec| keys::name(codec)).collect());
        }
        packed::Call::Inspect { owner, operation, fingerprint } => Call::Inspect(InspectArgs {
            owner: token(owner),
            operation: keys::name(operation),
            fingerprint: fingerprint.as_deref().map(token),
        }),
        packed::Call::Advance { tuple: given, kind, transition, digest, reason } => Call::Advance(AdvanceArgs {
            tuple: tuple(given),
            kind: *kind,
            transition: keys::name(transition),
            digest: digest.as_deref().map(token),
            reason_given: reason.is_some(),
        }),
        packed::Call::Release { tuple: given, transition } => {
            Call::Release(ReleaseArgs { tuple: tuple(given), transition: keys::name(transition) })
        }
        packed::Call::Resolve { transition, attempt, revision, verdict, digest, extra_attempts } => Call::Resolve(ResolveArgs {
            transition: keys::name(transition),
            attempt: *attempt,
            revision: *revision,
            verdict: *verdict,
            digest: digest.as_deref().map(token),
            extra_attempts: *extra_attempts,
        }),
    };
    (call, Vec::new())
}
