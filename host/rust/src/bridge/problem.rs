//! The answers that the bridge gives itself: problem documents (RFC 9457).
//!
//! Which refusal has which status, type and title is a rule of the decision crate; here it becomes a response. Knows no store
//! and no request. Tests: below.

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use leasehold_decision::http::{Refusal, problem};
use serde::Serialize;

/// Retry-After where the caller knows nothing better. Seconds.
const RETRY_AFTER_SECONDS_DEFAULT: u32 = 1;

/// An answer under construction.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use = "an answer does nothing until it is sent"]
pub struct ProblemAnswer {
    refusal: Refusal,
    detail: Option<String>,
    reference: Option<String>,
    original_status: Option<u16>,
    retry_after_seconds: u32,
    challenge: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Document<'a> {
    #[serde(rename = "type")]
    type_uri: &'a str,
    title: &'a str,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_status: Option<u16>,
}

impl ProblemAnswer {
    /// The answer to a refusal, with nothing but its rule's status, type and title.
    pub const fn new(refusal: Refusal) -> Self {
        Self {
            refusal,
            detail: None,
            reference: None,
            original_status: None,
            retry_after_seconds: RETRY_AFTER_SECONDS_DEFAULT,
            challenge: None,
        }
    }

    /// What happened here, and what to do, for people. Never a key, a body or a principal.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// What to give to an operator, who finds the record by it.
    pub fn reference(mut self, reference: impl Into<String>) -> Self {
        self.reference = Some(reference.into());
        self
    }

    /// The status of the answer that was not kept.
    pub const fn original_status(mut self, status: u16) -> Self {
        self.original_status = Some(status);
        self
    }

    /// Seconds to wait, 1 by default; goes out only where trying again can help (the refusal's rule says so).
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_seconds = seconds;
        self
    }

    /// The scheme by which the caller can name itself: a 401 owes it (RFC 9110, section 11.6.1). Other statuses leave it out.
    pub const fn challenge(mut self, challenge: Option<&'static str>) -> Self {
        self.challenge = challenge;
        self
    }

    /// The response.
    #[must_use]
    pub fn into_response(self) -> Response<Body> {
        let rule = problem(self.refusal);
        let document = Document {
            type_uri: rule.type_uri,
            title: rule.title,
            status: rule.status,
            detail: self.detail.as_deref(),
            reference: self.reference.as_deref(),
            original_status: self.original_status,
        };
        // INVARIANT: strings and small numbers are always JSON.
        let mut response = Response::new(Body::from(serde_json::to_vec(&document).unwrap_or_default()));
        let status = StatusCode::from_u16(rule.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if rule.retry {
            headers.insert(RETRY_AFTER, HeaderValue::from(self.retry_after_seconds));
        }
        if let (StatusCode::UNAUTHORIZED, Some(challenge)) = (status, self.challenge) {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use leasehold_decision::http::PROBLEMS;

    async fn text(response: Response<Body>) -> String {
        String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn every_refusal_has_its_document() {
        for (refusal, rule) in PROBLEMS {
            let response = ProblemAnswer::new(*refusal).into_response();
            assert_eq!(response.status(), rule.status);
            assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
            assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
            assert_eq!(response.headers().contains_key(RETRY_AFTER), rule.retry, "{refusal:?}");
            let expected = format!(r#"{{"type":"{}","title":"{}","status":{}}}"#, rule.type_uri, rule.title, rule.status);
            assert_eq!(text(response).await, expected);
        }
    }

    #[tokio::test]
    async fn what_is_known_stands_in_the_document() {
        let answer = ProblemAnswer::new(Refusal::BodyNotKept).detail("say \"it\"").reference("r-1").original_status(201);
        let document = text(answer.into_response()).await;
        assert!(
            document.ends_with(r#","status":409,"detail":"say \"it\"","reference":"r-1","original-status":201}"#),
            "{document}"
        );
    }

    #[test]
    fn retry_after_goes_out_only_where_trying_again_can_help() {
        let seconds = |refusal| ProblemAnswer::new(refusal).retry_after(7).into_response().headers().get(RETRY_AFTER).cloned();
        assert_eq!(seconds(Refusal::InProgress).unwrap(), "7");
        assert_eq!(seconds(Refusal::RecoveryRequired), None);
    }

    #[test]
    fn only_a_401_carries_a_challenge() {
        let challenge = |refusal| {
            let response = ProblemAnswer::new(refusal).challenge(Some("Bearer")).into_response();
            response.headers().get(WWW_AUTHENTICATE).cloned()
        };
        assert_eq!(challenge(Refusal::PrincipalRequired).unwrap(), "Bearer");
        assert_eq!(challenge(Refusal::KeyRequired), None);
    }
}
