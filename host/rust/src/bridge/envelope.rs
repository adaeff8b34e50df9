//! A stored answer, codec `http-1`: one line of canonical JSON, then the body. Described for other hosts in `docs/http-1.md`.
//!
//! There is exactly one byte form of an answer, so hosts in any language store the same bytes and the same digest. Knows no
//! store and no connection. Tests: `tests/tests/envelope.rs`, against the golden files of `tests/golden/http-1/`.

use axum::body::Body as HttpBody;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, DATE, HeaderName, HeaderValue, SET_COOKIE};
use http::{HeaderMap, Response, StatusCode};
use serde::{Deserialize, Serialize};

use super::hop::{HOP_BY_HOP, HopByHop};

/// The codec's name in a record.
pub const CODEC: &str = "http-1";
/// Longest length that is written: what every language's JSON numbers hold. Bytes.
pub const BODY_BYTES_MAX: u64 = (1 << 53) - 1;
/// Says that an answer is a stored one.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What ends the head.
const END_OF_HEAD: u8 = b'\n';

/// Why bytes are no stored answer. Messages hold no value of a header and nothing of a body.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// There is no first line.
    #[error("the stored answer has no line end behind its head: it is cut off, or of another codec than http-1")]
    NoHead,
    /// The first line is not the JSON that it should be.
    #[error("the head of the stored answer is not that of http-1 (column {column}): it is damaged, or of another codec")]
    Malformed {
        /// Where it goes wrong; 0 when it is the text's encoding.
        column: usize,
    },
    /// It says the same in another form.
    #[error(
        "the head of the stored answer is not in the one form of http-1 (member order, white space, escapes): see docs/http-1.md"
    )]
    NotCanonical,
    /// A status that is none.
    #[error("the stored answer has the status {0}; http-1 takes 200 to 999")]
    Status(u16),
    /// A header's name is none, or not in lower case.
    #[error("header {0} (counted from 1) of the stored answer has a name that is none, or not in lower case")]
    HeaderName(usize),
    /// A header's value has characters that none can have.
    #[error("the stored answer's header {0} has a value with characters outside Latin-1, or with controls")]
    HeaderValue(HeaderName),
    /// A header that is never stored.
    #[error("the stored answer has the header {0}, which http-1 never stores")]
    HeaderNotStored(HeaderName),
    /// The length in the head is not that of the body.
    #[error("the stored answer says {said} bytes of body, and has {found}: it is cut off or damaged")]
    Length {
        /// What the head says.
        said: u64,
        /// What there is.
        found: u64,
    },
}

/// The body of a stored answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// It is here.
    Kept(Bytes),
    /// It was too large, or was not there to keep.
    NotKept {
        /// How long it was, if that is known. Bytes.
        length: Option<u64>,
    },
}

/// An answer as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredAnswer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers, in their order, without those that are never stored.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Its body.
    pub body: Body,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    status: u16,
    headers: Vec<(String, String)>,
    body: BodyHead,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyHead {
    kept: bool,
    length: Option<u64>,
}

/// Whether a header is one that `http-1` never stores, whatever `Connection` names.
#[must_use]
pub fn never_stored(name: &HeaderName) -> bool {
    HOP_BY_HOP.contains(name) || [SET_COOKIE, DATE, CONTENT_LENGTH, REPLAYED].contains(name)
}

impl StoredAnswer {
    /// What is kept of an upstream's answer: hop-by-hop headers (with those that `Connection` names), `Set-Cookie`, `Date`,
    /// `Content-Length` and `Idempotency-Replayed` are left out.
    #[must_use]
    pub fn new(status: StatusCode, headers: &HeaderMap, body: Body) -> Self {
        let hop = HopByHop::of(headers);
        let stored = headers.iter().filter(|(name, _)| !hop.contains(name) && !never_stored(name));
        Self { status, headers: stored.map(|(name, value)| (name.clone(), value.clone())).collect(), body }
    }

    /// The bytes that are stored.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (kept, length, body) = match &self.body {
            Body::Kept(bytes) => (true, u64::try_from(bytes.len()).ok(), bytes.as_ref()),
            Body::NotKept { length } => (false, length.filter(|length| *length <= BODY_BYTES_MAX), [].as_slice()),
        };
        let headers = self.headers.iter().map(|(name, value)| (name.as_str().to_owned(), latin_1(value.as_bytes())));
        let head = Head { status: self.status.as_u16(), headers: headers.collect(), body: BodyHead { kept, length } };
        let mut bytes = head.text().into_bytes();
        bytes.push(END_OF_HEAD);
        bytes.extend_from_slice(body);
        bytes
    }

    /// Reads bytes that were stored.
    ///
    /// # Errors
    /// They are not what [`StoredAnswer::encode`] gives for any answer.
    pub fn decode(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        let end = bytes.iter().position(|byte| *byte == END_OF_HEAD).ok_or(EnvelopeError::NoHead)?;
        let (line, rest) = bytes.split_at(end);
        let body = rest.get(1..).unwrap_or_default();
        let head: Head = serde_json::from_slice(line).map_err(|error| EnvelopeError::Malformed { column: error.column() })?;
        if head.text().as_bytes() != line {
            return Err(EnvelopeError::NotCanonical);
        }
        let status = match StatusCode::from_u16(head.status) {
            Ok(status) if head.status >= 200 => status,
            Ok(_) | Err(_) => return Err(EnvelopeError::Status(head.status)),
        };
        let headers = head.headers.iter().enumerate().map(|(index, (name, value))| header(index, name, value));
        Ok(Self { status, headers: headers.collect::<Result<_, _>>()?, body: head.body.read(body)? })
    }

    /// The answer as it goes to a client once more, with `Idempotency-Replayed: true`; `None` where the body was not kept.
    #[must_use]
    pub fn replay(&self) -> Option<Response<HttpBody>> {
        let Body::Kept(body) = &self.body else { return None };
        let mut response = Response::new(HttpBody::from(body.clone()));
        *response.status_mut() = self.status;
        for (name, value) in &self.headers {
            response.headers_mut().append(name, value.clone());
        }
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        Some(response)
    }
}

impl Head {
    fn text(&self) -> String {
        // INVARIANT: strings, small numbers and lists of them are always JSON; an empty head would be refused by `decode`.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl BodyHead {
    fn read(&self, bytes: &[u8]) -> Result<Body, EnvelopeError> {
        let found = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        match (self.kept, self.length) {
            (true, Some(said)) if said == found => Ok(Body::Kept(Bytes::copy_from_slice(bytes))),
            (true, Some(said)) => Err(EnvelopeError::Length { said, found }),
            (true, None) => Err(EnvelopeError::NotCanonical),
            (false, _) if found > 0 => Err(EnvelopeError::Length { said: 0, found }),
            (false, Some(length)) if length > BODY_BYTES_MAX => Err(EnvelopeError::NotCanonical),
            (false, length) => Ok(Body::NotKept { length }),
        }
    }
}

fn header(index: usize, name: &str, value: &str) -> Result<(HeaderName, HeaderValue), EnvelopeError> {
    let refused = EnvelopeError::HeaderName(index.saturating_add(1));
    let parsed = match HeaderName::from_bytes(name.as_bytes()) {
        Ok(parsed) if parsed.as_str() == name => parsed,
        Ok(_) | Err(_) => return Err(refused),
    };
    if never_stored(&parsed) {
        return Err(EnvelopeError::HeaderNotStored(parsed));
    }
    let bytes: Option<Vec<u8>> = value.chars().map(|character| u8::try_from(character).ok()).collect();
    match bytes.and_then(|bytes| HeaderValue::from_bytes(&bytes).ok()) {
        Some(value) => Ok((parsed, value)),
        None => Err(EnvelopeError::HeaderValue(parsed)),
    }
}

/// Byte 0xe9 becomes U+00E9: every value has a text, and every such text its bytes.
fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
