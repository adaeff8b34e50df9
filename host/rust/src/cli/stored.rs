//! A record, and the answers that lie with it: as fields for people, as JSON for programs.
//!
//! Knows no store. Tests: below, and `tests/tests/cli/`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use leasehold_decision::record::ATTEMPT_LIMIT_MAX;
use serde::Serialize;

use super::output::{fields, instant, length};
use crate::bridge::envelope::{Body, CODEC, StoredAnswer};
use crate::executor::recovery::{RowView, Shown};

/// Longest body that is shown to people, in characters.
const BODY_CHARS_MAX: usize = 1_000;

/// A record as JSON.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredView<'a> {
    reference: String,
    operation_code: Option<&'a str>,
    now: u64,
    record: RowView<'a>,
    created_at: u64,
    changed_at: u64,
    response: Option<ResponseView>,
}

impl<'a> StoredView<'a> {
    pub(super) fn of(shown: &'a Shown) -> Self {
        let stored = &shown.stored;
        Self {
            reference: shown.reference.to_string(),
            operation_code: shown.reference.scope.operation_code(),
            now: shown.now,
            record: RowView::of(stored),
            created_at: stored.created_at,
            changed_at: stored.changed_at,
            response: stored.response.as_deref().map(|bytes| ResponseView::of(bytes, stored.row.codec.as_deref())),
        }
    }
}

/// A stored answer as JSON: taken apart where its codec is known, else as it lies there.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ResponseView {
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Vec<(String, String)>>,
    /// Absent where it was not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_base64: Option<String>,
}

impl ResponseView {
    pub(super) fn of(bytes: &[u8], codec: Option<&str>) -> Self {
        match answer(bytes, codec) {
            Some(answer) => Self {
                bytes: bytes.len(),
                status: Some(answer.status.as_u16()),
                headers: Some(headers(&answer)),
                body_base64: match &answer.body {
                    Body::Kept(body) => Some(STANDARD.encode(body)),
                    Body::NotKept { .. } => None,
                },
            },
            None => Self { bytes: bytes.len(), status: None, headers: None, body_base64: Some(STANDARD.encode(bytes)) },
        }
    }
}

fn answer(bytes: &[u8], codec: Option<&str>) -> Option<StoredAnswer> {
    codec.filter(|codec| *codec == CODEC).and_then(|_| StoredAnswer::decode(bytes).ok())
}

fn headers(answer: &StoredAnswer) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    answer.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

/// A stored answer in a line.
pub(super) fn response(bytes: &[u8], codec: Option<&str>) -> String {
    let Some(answer) = answer(bytes, codec) else {
        return format!("{} bytes{}", bytes.len(), codec.map(|codec| format!(" of the codec {codec}")).unwrap_or_default());
    };
    match &answer.body {
        Body::Kept(body) => format!("{}, {}", answer.status, body_line(body)),
        Body::NotKept { length: Some(length) } => format!("{}, its body of {length} bytes was not kept", answer.status),
        Body::NotKept { length: None } => format!("{}, its body was not kept", answer.status),
    }
}

fn body_line(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) if !text.is_empty() && text.chars().count() <= BODY_CHARS_MAX => text.trim_end().to_owned(),
        Ok(_) | Err(_) => format!("{} bytes", body.len()),
    }
}

/// A record for people.
pub(super) fn record(shown: &Shown) -> String {
    let (stored, row) = (&shown.stored, &shown.stored.row);
    let when = |at: Option<u64>| at.map(|at| relative(at, shown.now));
    let transition = row.transition.as_ref().map(|last| format!("{} ({})", last.kind.name(), last.id));
    fields(&[
        ("reference", Some(shown.reference.to_string())),
        ("state", Some(row.state.name().to_owned())),
        ("reason", row.reason.clone()),
        ("attempt", Some(attempt(row.attempt, row.attempt_limit))),
        ("revision", Some(row.revision.to_string())),
        ("lease until", when(row.lease_until)),
        ("retry at", when(row.retry_at)),
        ("expires at", when(row.expires_at)),
        ("owner", row.owner.clone()),
        ("operation", row.operation.clone()),
        ("fingerprint", row.fingerprint.clone()),
        ("policy revision", Some(row.policy_revision.to_string())),
        ("last transition", transition),
        ("codec", row.codec.clone()),
        ("result digest", row.result_digest.clone()),
        ("response", stored.response.as_deref().map(|bytes| response(bytes, row.codec.as_deref()))),
        ("made", Some(relative(stored.created_at, shown.now))),
        ("changed", Some(relative(stored.changed_at, shown.now))),
    ])
}

fn attempt(attempt: u64, limit: u64) -> String {
    if limit >= ATTEMPT_LIMIT_MAX { format!("{attempt}, without a limit") } else { format!("{attempt} of at most {limit}") }
}

/// An instant, and how far it is from the store's clock.
pub(super) fn relative(at: u64, now: u64) -> String {
    let told = instant(at);
    match at.checked_sub(now) {
        Some(0) => format!("{told} (now)"),
        Some(ahead) => format!("{told} (in {})", length(ahead)),
        None => format!("{told} ({} ago)", length(now - at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, StatusCode};

    fn stored(body: Body) -> Vec<u8> {
        StoredAnswer::new(StatusCode::CREATED, &HeaderMap::new(), body).encode()
    }

    #[test]
    fn an_answer_is_taken_apart_where_its_codec_is_known() {
        let bytes = stored(Body::Kept("{\"a\":1}\n".into()));
        assert_eq!(response(&bytes, Some("http-1")), "201 Created, {\"a\":1}");
        assert_eq!(response(&bytes, Some("mine")), format!("{} bytes of the codec mine", bytes.len()));
        assert_eq!(response(b"x", Some("http-1")), "1 bytes of the codec http-1");
        assert_eq!(response(&stored(Body::NotKept { length: None }), Some("http-1")), "201 Created, its body was not kept");
        assert_eq!(response(&stored(Body::Kept(vec![0xff, 0xfe].into())), Some("http-1")), "201 Created, 2 bytes");
        let view = ResponseView::of(&bytes, Some("http-1"));
        assert_eq!((view.status, view.body_base64.as_deref()), (Some(201), Some("eyJhIjoxfQo=")));
        assert_eq!(ResponseView::of(b"x", None).body_base64.as_deref(), Some("eA=="));
    }

    #[test]
    fn an_instant_is_told_with_its_distance() {
        assert_eq!(relative(61_000, 1_000), "1970-01-01T00:01:01.000Z (in 1m)");
        assert_eq!(relative(0, 250), "1970-01-01T00:00:00.000Z (250ms ago)");
        assert_eq!(relative(5, 5), "1970-01-01T00:00:00.005Z (now)");
    }
}
