//! The answer that is replayed once a record is settled as completed.
//!
//! Knows no store. Tests: below.

use std::path::Path;

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::bridge::envelope::{Body, CODEC, StoredAnswer};
use crate::bridge::settings::KEEP_BODY_BYTES_MAX;
use crate::cli::CliError;
use crate::executor::recovery::Shown;

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
/// answer with that body.
pub(super) fn of_file(bytes: &[u8], content_type: Option<&str>, codec: Option<&str>) -> Result<Vec<u8>, CliError> {
    if codec != Some(CODEC) {
        return match content_type {
            None => Ok(bytes.to_vec()),
            Some(_) => Err(CliError::Usage(format!("--content-type goes with records of the codec {CODEC} alone; leave it out"))),
        };
    }
    if content_type.is_none() && StoredAnswer::decode(bytes).is_ok() {
        return Ok(bytes.to_vec());
    }
    let content_type = content_type.unwrap_or_else(|| guess(bytes));
    let value =
        HeaderValue::from_str(content_type).map_err(|_| CliError::Usage("--content-type: a media type is expected".to_owned()))?;
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, value)]);
    Ok(StoredAnswer::new(StatusCode::OK, &headers, Body::Kept(bytes.to_vec().into())).encode())
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

    #[test]
    fn a_record_of_another_codec_gets_the_bytes() {
        assert_eq!(of_file(b"x", None, Some("mine")).unwrap(), b"x");
        assert_eq!(of_file(b"x", None, None).unwrap(), b"x");
        assert!(of_file(b"x", Some("text/plain"), None).is_err());
    }
}
