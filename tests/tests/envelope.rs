//! The stored answer, codec `http-1`: against golden files in both directions, and strict about everything else.

use std::path::Path;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use leasehold::bridge::envelope::{BODY_BYTES_MAX, Body, EnvelopeError, REPLAYED, StoredAnswer};

fn golden() -> Vec<(String, StoredAnswer, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/http-1");
    let cases: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(folder.join("cases.json")).unwrap()).unwrap();
    let read = |case: &serde_json::Value| {
        let file = case["file"].as_str().unwrap();
        let headers = case["headers"].as_array().unwrap().iter().map(|header| {
            let value: Vec<u8> = header[1].as_str().unwrap().chars().map(|character| u8::try_from(character).unwrap()).collect();
            (HeaderName::from_bytes(header[0].as_str().unwrap().as_bytes()).unwrap(), HeaderValue::from_bytes(&value).unwrap())
        });
        let hex = case["body-hex"].as_str().unwrap();
        let body: Bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let body = if case["kept"] == true {
            assert_eq!(case["length"], body.len());
            Body::Kept(body)
        } else {
            Body::NotKept { length: case["length"].as_u64() }
        };
        let status = StatusCode::from_u16(u16::try_from(case["status"].as_u64().unwrap()).unwrap()).unwrap();
        let answer = StoredAnswer { status, headers: headers.collect(), body };
        (file.to_owned(), answer, std::fs::read(folder.join(file)).unwrap())
    };
    cases.iter().map(read).collect()
}

#[test]
fn answers_have_the_bytes_of_the_golden_files() {
    let cases = golden();
    assert!(cases.len() >= 7);
    for (file, answer, bytes) in cases {
        assert_eq!(answer.encode(), bytes, "{file}");
        assert_eq!(StoredAnswer::decode(&bytes), Ok(answer), "{file}");
    }
}

#[test]
fn a_file_that_was_cut_or_grew_is_refused() {
    for (file, _, bytes) in golden() {
        for end in 0..bytes.len() {
            assert!(StoredAnswer::decode(&bytes[..end]).is_err(), "{file} cut at {end}");
        }
        let longer = [bytes.as_slice(), b"x"].concat();
        assert!(matches!(StoredAnswer::decode(&longer), Err(EnvelopeError::Length { .. })), "{file}");
    }
}

fn refused(bytes: &[u8], expected: EnvelopeError) {
    assert_eq!(StoredAnswer::decode(bytes), Err(expected), "{}", String::from_utf8_lossy(bytes));
}

#[test]
fn there_is_one_form_and_no_other() {
    for head in [
        r#"{"status": 200,"headers":[],"body":{"kept":true,"length":0}}"#,
        r#"{"headers":[],"status":200,"body":{"kept":true,"length":0}}"#,
        r#"{"status":200,"headers":[],"body":{"length":0,"kept":true}}"#,
        r#"{"status":200,"headers":[["a","\u0062"]],"body":{"kept":true,"length":0}}"#,
        r#"{"status":200,"headers":[["a","\/"]],"body":{"kept":true,"length":0}}"#,
        r#"{"status":200,"headers":[["a","\u00e9"]],"body":{"kept":true,"length":0}}"#,
        r#"{"status":200,"headers":[],"body":{"kept":false}}"#,
        r#"{"status":200,"headers":[],"body":{"kept":true,"length":null}}"#,
        r#"{"status":200,"headers":[],"body":{"kept":false,"length":9007199254740992}}"#,
    ] {
        refused(format!("{head}\n").as_bytes(), EnvelopeError::NotCanonical);
    }
    refused(b"{\"status\":200,\"headers\":[],\"body\":{\"kept\":true,\"length\":0}}\r\n", EnvelopeError::NotCanonical);
}

#[test]
fn what_is_no_head_is_refused_without_showing_it() {
    refused(b"", EnvelopeError::NoHead);
    refused(b"{\"status\":200}", EnvelopeError::NoHead);
    for head in [
        r#"{}"#,
        r#"{"status":200,"headers":[],"body":{"kept":true,"length":0},"more":1}"#,
        r#"{"status":200,"status":200,"headers":[],"body":{"kept":true,"length":0}}"#,
        r#"{"status":200,"headers":[["a"]],"body":{"kept":true,"length":0}}"#,
        r#"{"status":200,"headers":[["a","b","c"]],"body":{"kept":true,"length":0}}"#,
        r#"{"status":2e2,"headers":[],"body":{"kept":true,"length":0}}"#,
        r#"{"status":-200,"headers":[],"body":{"kept":true,"length":0}}"#,
        r#"{"status":200,"headers":[],"body":{"kept":false,"length":-1}}"#,
        r#"{"status":200,"headers":["secret"],"body":{"kept":true,"length":0}}"#,
    ] {
        let error = StoredAnswer::decode(format!("{head}\n").as_bytes()).unwrap_err();
        assert!(matches!(error, EnvelopeError::Malformed { .. }), "{head}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    assert!(matches!(StoredAnswer::decode(b"{\"status\":\xff}\n"), Err(EnvelopeError::Malformed { .. })));
}

#[test]
fn what_can_be_no_answer_is_refused() {
    let with = |status: u16, headers: &str| {
        format!("{{\"status\":{status},\"headers\":[{headers}],\"body\":{{\"kept\":true,\"length\":0}}}}\n").into_bytes()
    };
    refused(&with(199, ""), EnvelopeError::Status(199));
    refused(&with(1000, ""), EnvelopeError::Status(1000));
    refused(&with(0, ""), EnvelopeError::Status(0));
    refused(&with(200, r#"["a","1"],["B","2"]"#), EnvelopeError::HeaderName(2));
    refused(&with(200, r#"["","1"]"#), EnvelopeError::HeaderName(1));
    refused(&with(200, r#"["a b","1"]"#), EnvelopeError::HeaderName(1));
    let name = || HeaderName::from_static("a");
    for value in ["\u{100}", "\\n", "\\r", "\\u0000", "\u{7f}", "\u{1f600}"] {
        refused(&with(200, &format!(r#"["a","{value}"]"#)), EnvelopeError::HeaderValue(name()));
    }
    for never in ["set-cookie", "date", "content-length", "idempotency-replayed", "connection", "transfer-encoding"] {
        let name = HeaderName::from_static(never);
        refused(&with(200, &format!(r#"["{never}","1"]"#)), EnvelopeError::HeaderNotStored(name));
    }
}

fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        map.append(HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap());
    }
    map
}

#[test]
fn what_belongs_to_one_connection_or_one_moment_is_not_stored() {
    let answer = headers(&[
        ("x-first", b"1"),
        ("connection", b"keep-alive, X-Mine"),
        ("x-mine", b"2"),
        ("keep-alive", b"timeout=5"),
        ("proxy-connection", b"close"),
        ("te", b"trailers"),
        ("trailer", b"x-sum"),
        ("transfer-encoding", b"chunked"),
        ("upgrade", b"h2c"),
        ("proxy-authenticate", b"Basic"),
        ("proxy-authorization", b"Basic x"),
        ("set-cookie", b"a=1"),
        ("set-cookie", b"b=2"),
        ("date", b"Tue, 15 Nov 1994 08:12:31 GMT"),
        ("content-length", b"2"),
        ("idempotency-replayed", b"true"),
        ("x-cafe", b"caf\xe9"),
        ("x-first", b"3"),
    ]);
    let stored = StoredAnswer::new(StatusCode::OK, &answer, Body::Kept(Bytes::from_static(b"ok")));
    let lines: Vec<(&str, &[u8])> = stored.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    assert_eq!(lines, [("x-first", b"1".as_slice()), ("x-first", b"3"), ("x-cafe", b"caf\xe9")]);
    assert_eq!(StoredAnswer::decode(&stored.encode()), Ok(stored));
}

#[test]
fn a_length_that_no_json_number_holds_is_unknown() {
    let not_kept = |length| StoredAnswer { status: StatusCode::OK, headers: vec![], body: Body::NotKept { length } };
    assert_eq!(not_kept(Some(BODY_BYTES_MAX + 1)).encode(), not_kept(None).encode());
    assert_ne!(not_kept(Some(BODY_BYTES_MAX)).encode(), not_kept(None).encode());
}

#[tokio::test]
async fn a_replay_says_that_it_is_one() {
    let answer = headers(&[("vary", b"accept"), ("vary", b"origin"), ("content-type", b"text/plain")]);
    let stored = StoredAnswer::new(StatusCode::CREATED, &answer, Body::Kept(Bytes::from_static(b"made")));
    let replay = stored.replay().unwrap();
    assert_eq!(replay.status(), 201);
    assert_eq!(replay.headers()[REPLAYED], "true");
    assert_eq!(replay.headers().get_all("vary").iter().collect::<Vec<_>>(), ["accept", "origin"]);
    assert_eq!(replay.into_body().collect().await.unwrap().to_bytes(), "made");
    assert!(StoredAnswer { body: Body::NotKept { length: None }, ..stored }.replay().is_none());
}
