//! Canonical JSON, for fingerprints: members sorted by the code points of their names, no white space, strings with the fewest
//! escapes, numbers as written. Source: section 5 of the contract (it is not RFC 8785: that one rewrites numbers).
//!
//! Works on the text itself and keeps no tree, so that what it needs stays within a few times the body. Tests: below.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Lexer, Scalar, Token, write_string};

/// One member of an object that has been written: its name, and where it stands in the output.
struct Member {
    name: String,
    start: usize,
    end: usize,
}

/// The canonical form; `None` where the body is no such JSON and is to be taken as its bytes.
pub(super) fn canonical(body: &[u8]) -> Option<Vec<u8>> {
    let text = core::str::from_utf8(body).ok()?;
    let mut lexer = Lexer::new(text);
    let mut out = String::with_capacity(text.len());
    value(&mut lexer, &mut out)?;
    lexer.at_end().then(|| out.into_bytes())
}

fn value(lexer: &mut Lexer<'_>, out: &mut String) -> Option<()> {
    match lexer.value().ok()? {
        Token::Scalar(Scalar::Null) => out.push_str("null"),
        Token::Scalar(Scalar::Bool(true)) => out.push_str("true"),
        Token::Scalar(Scalar::Bool(false)) => out.push_str("false"),
        Token::Scalar(Scalar::Number(text)) => out.push_str(text),
        Token::Scalar(Scalar::String(text)) => write_string(out, &text),
        Token::ArrayStart => {
            out.push('[');
            let mut first = true;
            loop {
                let leads = first;
                if !lexer.element(&mut first).ok()? {
                    break;
                }
                if !leads {
                    out.push(',');
                }
                value(lexer, out)?;
            }
            out.push(']');
        }
        Token::ObjectStart => object(lexer, out)?,
    }
    Some(())
}

fn object(lexer: &mut Lexer<'_>, out: &mut String) -> Option<()> {
    let begin = out.len();
    let mut members: Vec<Member> = Vec::new();
    let mut first = true;
    while let Some(name) = lexer.member(&mut first).ok()? {
        let start = out.len();
        write_string(out, &name);
        out.push(':');
        value(lexer, out)?;
        members.push(Member { name, start, end: out.len() });
    }
    // UTF-8 sorts by bytes as by code points.
    members.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    if members.windows(2).any(|pair| matches!(pair, [one, other] if one.name == other.name)) {
        return None;
    }
    let mut sorted = String::with_capacity(out.len().saturating_sub(begin).saturating_add(members.len()).saturating_add(2));
    sorted.push('{');
    for (position, member) in members.iter().enumerate() {
        if position > 0 {
            sorted.push(',');
        }
        sorted.push_str(out.get(member.start..member.end)?);
    }
    sorted.push('}');
    out.truncate(begin);
    out.push_str(&sorted);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &str) {
        assert_eq!(canonical(body.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap()).as_deref(), Some(expected), "{body}");
    }

    fn refused(body: &[u8]) {
        assert_eq!(canonical(body), None, "{}", String::from_utf8_lossy(body));
    }

    #[test]
    fn members_are_sorted_and_white_space_goes() {
        check(" { \"b\" : [ 1 , 2 , { } , [ ] ] ,\r\n\t\"a\" : null } ", r#"{"a":null,"b":[1,2,{},[]]}"#);
        check(r#"{"\ud83d\ude00":1,"\uffff":2,"z":3}"#, "{\"z\":3,\"\u{ffff}\":2,\"\u{1f600}\":1}");
        check(r#"{"":0,"a":{"d":1,"c":2}}"#, r#"{"":0,"a":{"c":2,"d":1}}"#);
    }

    #[test]
    fn strings_have_the_fewest_escapes() {
        check(r#""\u0041\/\u00e9\"\\\b\f\n\r\t\u0001\u001F\u007f""#, "\"A/é\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}\"");
    }

    #[test]
    fn numbers_stay_as_written() {
        check("[1.0,1,-0,1E+2,1e2,9007199254740993]", "[1.0,1,-0,1E+2,1e2,9007199254740993]");
    }

    #[test]
    fn what_is_no_such_json_is_taken_as_bytes() {
        for body in [
            "",
            " ",
            "[1,]",
            "[,1]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "nul",
            "tru",
            "[1] 2",
            "'a'",
            "\"\u{1}\"",
            "\"a",
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\u0041""#,
            r#""\x""#,
            r#""\u00g0""#,
            "\u{feff}1",
            "NaN",
            "[1}",
            "{\"a\" 1}",
            "--1",
            "-",
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            "\u{b}1",
        ] {
            refused(body.as_bytes());
        }
        refused(b"\"\xff\"");
    }

    #[test]
    fn depth_ends_at_128_levels() {
        let nested = |levels: usize| [b"[".repeat(levels), b"]".repeat(levels)].concat();
        assert!(canonical(&nested(128)).is_some());
        refused(&nested(129));
        refused(&b"[".repeat(1_000_000));
    }
}
