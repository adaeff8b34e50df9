//! What a client got, and what it must have been.

use http::{HeaderMap, Response, Version};
use http_body_util::BodyExt as _;

use crate::wait::within;

/// What a client got.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the parts of an answer")]
pub struct Reply {
    pub status: u16,
    pub version: Version,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    /// The whole of an answer.
    ///
    /// # Panics
    /// It breaks off.
    pub async fn of(answer: Response<impl http_body::Body<Data = bytes::Bytes, Error: std::fmt::Debug>>) -> Self {
        let (head, body) = answer.into_parts();
        let body = within("the answer's end", body.collect()).await.expect("the body comes whole").to_bytes().to_vec();
        Self { status: head.status.as_u16(), version: head.version, headers: head.headers, body }
    }

    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether it is a stored one.
    #[must_use]
    pub fn replayed(&self) -> bool {
        self.header("idempotency-replayed") == Some("true")
    }

    /// It is this, from the upstream itself.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn is(&self, status: u16, body: &str) {
        assert_eq!((self.status, self.text().as_str(), self.replayed()), (status, body, false));
    }

    /// It is this, from the store.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn is_replay(&self, status: u16, body: &str) {
        assert_eq!((self.status, self.text().as_str(), self.replayed()), (status, body, true));
    }

    /// The document of a problem, which must be this one.
    ///
    /// # Panics
    /// It is not.
    #[track_caller]
    pub fn problem(&self, status: u16, name: &str) -> serde_json::Value {
        let document: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let found = (self.status, document["type"].as_str(), document["status"].as_u64(), self.header("content-type"));
        let uri = format!("urn:leasehold:problem:{name}");
        let expected = (status, Some(uri.as_str()), Some(u64::from(status)), Some("application/problem+json"));
        assert_eq!(found, expected, "{}", self.text());
        assert!(!self.replayed());
        document
    }

    /// The problem that a retry cannot help: what an operator finds the record by.
    ///
    /// # Panics
    /// It is another one.
    #[track_caller]
    pub fn recovery(&self) -> String {
        assert_eq!(self.header("retry-after"), None);
        let document = self.problem(409, "recovery-required");
        document["reference"].as_str().expect("a reference").to_owned()
    }
}
