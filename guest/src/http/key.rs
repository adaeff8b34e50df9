//! The `Idempotency-Key` header: an sf-string, as the draft demands, or a bare key, as most clients send it.

use alloc::string::{String, ToString};

/// Longest key, in characters, without quotes and escapes.
pub const KEY_CHARS_MAX: usize = 255;

/// Why a key is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyFault {
    /// Nothing in it.
    Empty,
    /// More than 255 characters.
    TooLong,
    /// Something outside ASCII.
    NotAscii,
    /// A control character, a quote that is not closed, an unknown escape, parameters, or more than one item.
    Malformed,
    /// The header stands there more than once.
    MoreThanOne,
}

impl KeyFault {
    /// What to change, for people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Empty => "the key is empty: send 1 to 255 characters",
            Self::TooLong => "the key is longer than 255 characters",
            Self::NotAscii => "the key has characters outside ASCII",
            Self::Malformed => {
                "the key is neither a quoted string (RFC 8941) nor a bare word of printable ASCII without spaces, commas or quotes"
            }
            Self::MoreThanOne => "the header stands there more than once: send one key",
        }
    }
}

/// What the header lines say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Key {
    /// There is none.
    Absent,
    /// Without quotes and escapes.
    Present(String),
    /// There is something, but no key.
    Refused(KeyFault),
}

/// Reads the values of all `Idempotency-Key` header lines of one request.
#[must_use]
pub fn parse_key(values: &[&[u8]]) -> Key {
    match values {
        [] => Key::Absent,
        [value] => match parse_value(value) {
            Ok(key) => Key::Present(key),
            Err(fault) => Key::Refused(fault),
        },
        [_, _, ..] => Key::Refused(KeyFault::MoreThanOne),
    }
}

fn parse_value(value: &[u8]) -> Result<String, KeyFault> {
    if !value.is_ascii() {
        return Err(KeyFault::NotAscii);
    }
    let text = core::str::from_utf8(value).map_err(|_| KeyFault::NotAscii)?;
    let text = text.trim_matches([' ', '\t']);
    let key = match text.strip_prefix('"') {
        Some(quoted) => unquote(quoted)?,
        None => bare(text)?,
    };
    match key.len() {
        0 => Err(KeyFault::Empty),
        1..=KEY_CHARS_MAX => Ok(key),
        _ => Err(KeyFault::TooLong),
    }
}

/// RFC 8941, section 4.2.5: printable ASCII, `\` escapes `"` and `\` alone, nothing behind the closing quote.
fn unquote(quoted: &str) -> Result<String, KeyFault> {
    let mut key = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next() {
            Some('"') => return if characters.as_str().is_empty() { Ok(key) } else { Err(KeyFault::Malformed) },
            Some('\\') => match characters.next() {
                Some(escaped @ ('"' | '\\')) => key.push(escaped),
                Some(_) | None => return Err(KeyFault::Malformed),
            },
            Some(plain @ ' '..='~') => key.push(plain),
            Some(_) | None => return Err(KeyFault::Malformed),
        }
    }
}

/// Printable ASCII without space, comma, quote or backslash: a comma would join two keys, and the others belong to sf-strings.
fn bare(text: &str) -> Result<String, KeyFault> {
    if text.chars().all(|character| matches!(character, '!'..='~') && !matches!(character, '"' | ',' | '\\')) {
        Ok(text.to_string())
    } else {
        Err(KeyFault::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn present(value: &str, expected: &str) {
        assert_eq!(parse_key(&[value.as_bytes()]), Key::Present(expected.to_string()), "{value:?}");
    }

    fn refused(value: &[u8], fault: KeyFault) {
        assert_eq!(parse_key(&[value]), Key::Refused(fault), "{value:?}");
    }

    #[test]
    fn quoted_and_bare_are_the_same_key() {
        present("k", "k");
        present("\"k\"", "k");
        present("  \"k\"\t", "k");
        present("\"a\\\"b\\\\c\"", "a\"b\\c");
        present("\"a b, c;d\"", "a b, c;d");
        present("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324");
        present("a;b=c/d+e==", "a;b=c/d+e==");
    }

    #[test]
    fn lengths_from_1_to_255_are_keys() {
        present(&"k".repeat(255), &"k".repeat(255));
        present(&format!("\"{}\"", "k".repeat(255)), &"k".repeat(255));
        refused("k".repeat(256).as_bytes(), KeyFault::TooLong);
        refused(format!("\"{}\"", "k".repeat(256)).as_bytes(), KeyFault::TooLong);
        refused(b"", KeyFault::Empty);
        refused(b"  ", KeyFault::Empty);
        refused(b"\"\"", KeyFault::Empty);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        refused("\u{e9}".as_bytes(), KeyFault::NotAscii);
        refused(b"\xff", KeyFault::NotAscii);
        for value in [
            "a b",
            "a,b",
            "a\"b",
            "\"a",
            "\"a\"b",
            "\"a\";p=1",
            "\"a\\b\"",
            "\"a\\",
            "a\nb",
            "\"a\nb\"",
            "a\u{7f}",
            "\"a\u{7f}\"",
            "a\\b",
            "\"a\", \"b\"",
        ] {
            refused(value.as_bytes(), KeyFault::Malformed);
        }
    }

    #[test]
    fn two_lines_are_refused_even_when_they_agree() {
        assert_eq!(parse_key(&[b"k", b"k"]), Key::Refused(KeyFault::MoreThanOne));
        assert_eq!(parse_key(&[]), Key::Absent);
    }
}
