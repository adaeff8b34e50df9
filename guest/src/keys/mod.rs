//! Scope, fingerprint and packed names. Source: section 5 of the contract; HMAC is RFC 2104 over FIPS 180-4's SHA-256.
//!
//! Knows nothing of where secrets come from. Tests: below, and `keys-1.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::record::Token;

mod canonical;

/// Longest operation code, in characters.
pub const OPERATION_CODE_CHARS_MAX: usize = 64;
/// Longest text that [`name`] packs without a hash, in bytes.
pub const NAME_INLINE_BYTES_MAX: usize = 31;

/// The operation code is not 1 to 64 of `a-z 0-9 . _ -`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperationCodeMalformed;

/// Whether a text can be an operation code.
#[must_use]
pub fn is_operation_code(code: &str) -> bool {
    (1..=OPERATION_CODE_CHARS_MAX).contains(&code.len())
        && code.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
}

/// `d<version>:<operation code>:<hex of HMAC-SHA-256(secret, frame(principal) frame(operation code) frame(raw key))>`.
///
/// # Errors
/// The operation code is malformed.
pub fn scope(
    version: u32,
    secret: &[u8],
    principal: &[u8],
    operation_code: &str,
    key: &[u8],
) -> Result<String, OperationCodeMalformed> {
    if !is_operation_code(operation_code) {
        return Err(OperationCodeMalformed);
    }
    let digest = keyed_hash(secret, &[principal, operation_code.as_bytes(), key]);
    Ok(format!("d{version}:{operation_code}:{digest}"))
}

/// Hex of HMAC-SHA-256(secret, frame(method) frame(target) frame(media type) frame(body)); a JSON body is made canonical first.
#[must_use]
pub fn fingerprint(secret: &[u8], method: &[u8], target: &[u8], content_type: Option<&[u8]>, body: &[u8]) -> String {
    let media_type = media_type(content_type.unwrap_or_default());
    let canonical = is_json(&media_type).then(|| canonical::canonical(body)).flatten();
    keyed_hash(secret, &[method, target, &media_type, canonical.as_deref().unwrap_or(body)])
}

/// What stands before `;`, spaces and tabs trimmed, ASCII lower case.
fn media_type(content_type: &[u8]) -> Vec<u8> {
    let bare = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
    let start = bare.iter().position(|byte| !is_blank(*byte)).unwrap_or(bare.len());
    let end = bare.iter().rposition(|byte| !is_blank(*byte)).map_or(start, |last| last.saturating_add(1));
    bare.get(start..end).unwrap_or_default().to_ascii_lowercase()
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_json(media_type: &[u8]) -> bool {
    media_type == b"application/json" || media_type.ends_with(b"+json")
}

fn keyed_hash(secret: &[u8], parts: &[&[u8]]) -> String {
    // INVARIANT: HMAC takes a key of any length (RFC 2104), so the error arm is never taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return String::new();
    };
    for part in parts {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        mac.update(&length.to_be_bytes());
        mac.update(part);
    }
    hex(&mac.finalize().into_bytes())
}

/// Lowercase hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Hex of the SHA-256 of some bytes: the digest of a stored result.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A text as a token, so that equal texts have equal tokens. Up to 31 bytes: the length as one byte, the text, zeros. Longer:
/// 0xff, then the first 31 bytes of its SHA-256.
#[must_use]
pub fn name(text: &str) -> Token {
    let bytes = text.as_bytes();
    let mut packed = [0u8; 32];
    let [head, tail @ ..] = &mut packed;
    match (u8::try_from(bytes.len()), tail.get_mut(..bytes.len())) {
        (Ok(length), Some(room)) => {
            *head = length;
            room.copy_from_slice(bytes);
        }
        (Ok(_) | Err(_), _) => {
            *head = 0xff;
            for (room, byte) in tail.iter_mut().zip(Sha256::digest(bytes)) {
                *room = byte;
            }
        }
    }
    Token::from_bytes(packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn an_operation_code_is_1_to_64_of_its_alphabet() {
        assert!(is_operation_code("a"));
        assert!(is_operation_code(&"a".repeat(64)));
        assert!(!is_operation_code(""));
        assert!(!is_operation_code(&"a".repeat(65)));
        assert!(!is_operation_code("A"));
        assert!(!is_operation_code("a b"));
        assert!(!is_operation_code("ä"));
        assert_eq!(scope(1, b"s", b"", "No", b"k"), Err(OperationCodeMalformed));
    }

    #[test]
    fn a_media_type_is_what_stands_before_the_parameters() {
        let check = |given: &str, expected: &str| assert_eq!(media_type(given.as_bytes()), expected.as_bytes(), "{given:?}");
        check("", "");
        check(" \t", "");
        check("Application/JSON", "application/json");
        check("\t application/json ; charset=utf-8", "application/json");
        check(";x", "");
        check("a b", "a b");
    }

    #[test]
    fn json_bodies_are_compared_by_meaning_and_all_others_by_bytes() {
        let print =
            |content_type: &str, body: &str| fingerprint(b"k", b"POST", b"/", Some(content_type.as_bytes()), body.as_bytes());
        let json = |body| print("application/json", body);
        // Cases 22 and 23.
        assert_eq!(json(r#"{"a":1,"b":2}"#), json(r#" { "b" : 2 , "a" : 1 } "#));
        assert_ne!(json("[1,2]"), json("[2,1]"));
        assert_ne!(json("9007199254740993"), json("9007199254740992"));
        assert_ne!(json("1.0"), json("1"));
        assert_ne!(print("text/plain", r#"{"a":1,"b":2}"#), print("text/plain", r#"{"b":2,"a":1}"#));
        assert_eq!(print("application/problem+json", "[ ]"), print("application/problem+json", "[]"));
        assert_ne!(print("application/json-seq", "[ ]"), print("application/json-seq", "[]"));
    }

    #[test]
    fn packed_names_are_equal_only_for_equal_texts() {
        let texts =
            ["", "\0", "\0\0", "a", "a\0", &"x".repeat(31), &"x".repeat(32), &"x".repeat(255), &"x".repeat(256), &"x".repeat(300)];
        for (one, text) in texts.iter().enumerate() {
            for (other, another) in texts.iter().enumerate() {
                assert_eq!(name(text) == name(another), one == other, "{text:?} {another:?}");
            }
        }
        assert_eq!(name("ab").words(), [0x0261_6200_0000_0000, 0, 0, 0]);
        assert_eq!(name(&"x".repeat(32)).words()[0] >> 56, 0xff);
    }

    #[test]
    fn a_secret_of_any_length_is_a_key() {
        for length in [0, 1, 63, 64, 65, 1000] {
            assert_eq!(keyed_hash(&"k".repeat(length).into_bytes(), &[b"x"]).to_string().len(), 64);
        }
    }
}
