//! Who decides: the component, or the same code natively. One arm for each call.

use std::sync::Arc;

use leasehold_decision::{Call, Decision, Record, keys, packed};

use super::parse::KeysCall;
use crate::component::{CallError, Component};
use crate::decide::{self, Decide, Native};

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
        let (call, readable) = (request.call.tokens(), request.call.readable_codecs());
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
