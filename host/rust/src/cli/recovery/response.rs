//! The answer that is replayed once a record is settled as completed.
//!
//! Knows no store. Tests: below.

use std::path::Path;

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use crate::bridge::envelope::{Body, CODEC, EnvelopeError, StoredAnswer};
use crate::bridge::settings::KEEP_BODY_BYTES_MAX;
use crate::cli::CliError;
use crate::executor::recovery::Shown;

/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let fault = |source| CliError::File { what: "read", path: path.to_owned(), source };
    let bytes = std::fs::read(path).map_err(fault)?;
    if bytes.len() > KEEP_BODY_BYTES_MAX {
        let path = path.display();
        return Err(CliError::Usage(format!("{path} is larger than the {} MiB that are kept", KEEP_BODY_BYTES_MAX >> 20)));
    }
    Ok(bytes)
}

/// What is stored: the bytes themselves where they are a stored answer already, or where the record is not the bridge's; else an
/// answer with that body. With a content type they are a body, whatever they look like.
pub(super) fn of_file(bytes: &[u8], content_type: Option<&str>, codec: Option<&str>) -> Result<Vec<u8>, CliError> {
    if codec != Some(CODEC) {
        return match content_type {
            None => Ok(bytes.to_vec()),
            Some(_) => Err(CliError::Usage(format!("--content-type goes with records of the codec {CODEC} alone; leave it out"))),
        };
    }
    if content_type.is_none() {
        match StoredAnswer::decode(bytes) {
            Ok(_) => return Ok(bytes.to_vec()),
            Err(error) if seems_stored(bytes) => return Err(near_miss(&error)),
            Err(_) => {}
        }
    }
    let content_type = content_type.unwrap_or_else(|| guess(bytes));
    let value =
        HeaderValue::from_str(content_type).map_err(|_| CliError::Usage("--content-type: a media type is expected".to_owned()))?;
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, value)]);
    Ok(StoredAnswer::new(StatusCode::OK, &headers, Body::Kept(bytes.to_vec().into())).encode())
}

/// Whether somebody meant a stored answer: the file begins with a JSON object that has the members of its head, or with a broken
/// one that begins like it. A verdict is final, so a slip (an editor's line feed at the end, another layout) must not make a body
/// of the whole file.
fn seems_stored(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match serde_json::Deserializer::from_slice(bytes).into_iter::<Map<String, Value>>().next() {
        Some(Ok(head)) => head.contains_key("status") && (head.contains_key("headers") || head.contains_key("body")),
        // No JSON, so it is no JSON body either.
        Some(Err(_)) => bytes.starts_with(br#"{"status":"#),
        None => false,
    }
}

fn near_miss(error: &EnvelopeError) -> CliError {
    let what = match error {
        EnvelopeError::NoHead => "end the first line with one line feed, and let the body follow it",
        EnvelopeError::Length { .. } => {
            "set body.length to the bytes behind the first line feed; an editor's line feed at the end is one"
        }
        EnvelopeError::Malformed { .. }
        | EnvelopeError::NotCanonical
        | EnvelopeError::Status(_)
        | EnvelopeError::HeaderName(_)
        | EnvelopeError::HeaderValue(_)
        | EnvelopeError::HeaderNotStored(_) => "write its first line as docs/http-1.md says",
    };
    CliError::Usage(format!(
        "--response: the file begins like a stored answer and is none: {error}. Nothing was written: {what} (see docs/http-1.md); or, \
         where the whole file is the body of the answer, say so with --content-type"
    ))
}

fn guess(bytes: &[u8]) -> &'static str {
    match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        Ok(_) => "application/json",
        Err(_) => "application/octet-stream",
    }
}

/// The response of the last end that came too late and had one.
pub(super) fn of_evidence(shown: &Shown) -> Result<Vec<u8>, CliError> {
    let last = shown.evidence.iter().rev().find_map(|one| one.response.clone());
    last.ok_or_else(|| {
        CliError::Refused(format!("no end of {} that came too late has a response: give one with --response", shown.reference))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(bytes: &[u8], content_type: Option<&str>) -> (u16, String, Vec<u8>) {
        let answer = StoredAnswer::decode(&of_file(bytes, content_type, Some(CODEC)).unwrap()).unwrap();
        let Body::Kept(body) = answer.body else { panic!("it is kept") };
        (answer.status.as_u16(), answer.headers[0].1.to_str().unwrap().to_owned(), body.to_vec())
    }

    #[test]
    fn a_body_becomes_an_answer() {
        let json = br#"{"id":7}"#;
        assert_eq!(stored(json, None), (200, "application/json".to_owned(), json.to_vec()));
        assert_eq!(stored(b"\x00", None), (200, "application/octet-stream".to_owned(), vec![0]));
        assert_eq!(stored(b"x", Some("text/plain")), (200, "text/plain".to_owned(), b"x".to_vec()));
        assert!(of_file(b"x", Some("a\nb"), Some(CODEC)).is_err());
    }

    #[test]
    fn a_stored_answer_is_taken_as_it_is() {
        let answer = StoredAnswer::new(StatusCode::CREATED, &HeaderMap::new(), Body::Kept("x".into())).encode();
        assert_eq!(of_file(&answer, None, Some(CODEC)).unwrap(), answer);
    }

    /// One line feed too many at the end of the file, and the whole of it was replayed as the body of a 200, for good.
    #[test]
    fn what_was_meant_to_be_a_stored_answer_is_not_taken_for_a_body() {
        let answer = StoredAnswer::new(StatusCode::CREATED, &HeaderMap::new(), Body::Kept("x".into())).encode();
        let line = answer.strip_suffix(b"\nx").unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for near in [
            text(&answer) + "\n",
            text(&answer).replace('\n', "\r\n"),
            text(line),
            text(&answer).replace(":201", ": 201"),
            text(&answer).replace(":201", ":\"201\""),
            text(&answer).replace(",\"headers\":[]", ""),
            text(&answer).replace(",\"body\":{", "\n,\"body\":\n{"),
            text(&answer).replace("}}", "}"),
            format!("\u{feff}{}", text(&answer)),
        ] {
            let told = of_file(near.as_bytes(), None, Some(CODEC)).expect_err(&near).to_string();
            assert!(told.contains("stored answer") && told.contains("docs/http-1.md") && told.contains("--content-type"), "{told}");
            assert_eq!(stored(near.as_bytes(), Some("text/plain")), (200, "text/plain".to_owned(), near.clone().into_bytes()));
        }
        for body in [r#"{"status":"paid"}"#, r#"{"body":"status"}"#, r#"["status","headers"]"#] {
            assert_eq!(stored(body.as_bytes(), None), (200, "application/json".to_owned(), body.as_bytes().to_vec()));
        }
    }

    #[test]
    fn a_record_of_another_codec_gets_the_bytes() {
        assert_eq!(of_file(b"x", None, Some("mine")).unwrap(), b"x");
        assert_eq!(of_file(b"x", None, None).unwrap(), b"x");
        assert!(of_file(b"x", Some("text/plain"), None).is_err());
    }
}
