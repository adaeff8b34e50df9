//! Which requests are protected; key, principal and body. What is wrong with a request is told before anything is held.

use axum::body::Body;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderName, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use leasehold_decision::http::{Key, Refusal};

use super::Flow;
use super::answer::refuse;
use super::execute::FENCING_TOKEN;
use crate::bridge::hop::retain;
use crate::bridge::problem::ProblemAnswer;
use crate::bridge::settings::{KeyRule, RouteSettings};
use crate::keyring::{KeyedRequest, Payload};

/// The header that carries the key (draft-ietf-httpapi-idempotency-key-header).
pub(in crate::bridge) const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// A request that will have one effect.
pub(in crate::bridge) struct Protected {
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) keyed: KeyedRequest,
    pub(super) route: RouteSettings,
}

/// What is to be done with a request.
pub(in crate::bridge) enum Verdict {
    /// It is none of the bridge's business.
    PassThrough(Request<Body>),
    /// It is answered here.
    Answer(Response<Body>),
    /// It will have one effect.
    Protect(Box<Protected>),
}

impl Flow {
    pub(in crate::bridge) async fn look_at(&self, request: Request<Body>) -> Verdict {
        let route = self.settings.route(request.uri().path());
        if !route.protects(request.method()) {
            return self.pass(request);
        }
        let values: Vec<Vec<u8>> = request.headers().get_all(KEY_HEADER).iter().map(|value| value.as_bytes().to_vec()).collect();
        let key = match self.host.component().parse_key(&values) {
            Ok(Key::Present(key)) => key,
            Ok(Key::Absent) if route.key == KeyRule::Optional => return self.pass(request),
            Ok(Key::Absent) => return self.refused(Refusal::KeyRequired, "Send an Idempotency-Key header of 1 to 255 characters."),
            Ok(Key::Refused(fault)) => return self.refused(Refusal::KeyRefused, fault.message()),
            Err(error) => {
                tracing::error!(%error, "a key could not be read");
                return self.refused(Refusal::Internal, "The decision component failed.");
            }
        };
        match self.hold(request, key, route.clone()).await {
            Ok(protected) => Verdict::Protect(Box::new(protected)),
            Err(answer) => Verdict::Answer(*answer),
        }
    }

    /// Untouched, but for a fencing token that a client made up: an upstream that believed it would refuse the true ones.
    fn pass(&self, mut request: Request<Body>) -> Verdict {
        self.metrics.count("passed-through");
        retain(request.headers_mut(), |name| *name != FENCING_TOKEN);
        Verdict::PassThrough(request)
    }

    fn refused(&self, refusal: Refusal, detail: &str) -> Verdict {
        self.metrics.count_refusal(refusal);
        Verdict::Answer(refuse(ProblemAnswer::new(refusal).detail(detail)))
    }

    async fn hold(&self, request: Request<Body>, key: String, route: RouteSettings) -> Result<Protected, Box<Response<Body>>> {
        let principal = route.principal.extract(request.headers()).map_err(|error| {
            self.metrics.count_refusal(Refusal::PrincipalRequired);
            let problem = ProblemAnswer::new(Refusal::PrincipalRequired).detail(error.to_string());
            Box::new(refuse(problem.challenge(route.principal.challenge())))
        })?;
        let (parts, body) = request.into_parts();
        let body = self.body(body, &route).await?;
        let payload = Payload {
            method: parts.method.as_str().as_bytes().to_vec(),
            target: parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str).as_bytes().to_vec(),
            content_type: parts.headers.get(CONTENT_TYPE).map(|value| value.as_bytes().to_vec()),
            body: body.clone(),
        };
        let keyed = KeyedRequest { principal, operation_code: route.operation_code.clone(), key: key.into_bytes(), payload };
        Ok(Protected { parts, body, keyed, route })
    }

    async fn body(&self, body: Body, route: &RouteSettings) -> Result<Bytes, Box<Response<Body>>> {
        let most = route.body_max;
        match tokio::time::timeout(route.body_timeout, Limited::new(body, most).collect()).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                self.metrics.count_refusal(Refusal::BodyTooLarge);
                let detail = format!("A request with an Idempotency-Key is held whole: at most {most} bytes.");
                Err(Box::new(refuse(ProblemAnswer::new(Refusal::BodyTooLarge).detail(detail))))
            }
            Ok(Err(_)) => Err(Box::new(plain(StatusCode::BAD_REQUEST))),
            Err(_) => Err(Box::new(plain(StatusCode::REQUEST_TIMEOUT))),
        }
    }
}

/// For a client that broke off or fell silent: nobody reads it.
fn plain(status: StatusCode) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status;
    answer
}
