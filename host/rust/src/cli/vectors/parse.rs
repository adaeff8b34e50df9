//! From a line of the file to a vector. A line that is none is told with its number, and nothing is run.
//!
//! Tests: below, and `tests/tests/cli/`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use leasehold_decision::packed::Request;
use serde_json::{Map, Value};

/// A vector.
#[derive(Debug)]
pub(super) struct Vector {
    /// Where it stands; from 1.
    pub(super) line: usize,
    /// Its name, for people.
    pub(super) name: String,
    /// What is to be done.
    pub(super) work: Work,
}

/// What a vector asks for.
#[derive(Debug)]
pub(super) enum Work {
    /// A decision on a record.
    Decision(Box<DecisionWork>),
    /// A scope or a fingerprint.
    Keys(KeysWork),
}

/// A decision on a record, and what must come of it.
#[derive(Debug)]
pub(super) struct DecisionWork {
    /// The vector as a document: what the packed form takes.
    pub(super) document: Value,
    /// The same, read.
    pub(super) request: Request,
    /// The outcome's members.
    pub(super) outcome: Map<String, Value>,
    /// The record afterwards, or null.
    pub(super) after: Value,
}

/// A scope or a fingerprint, and what it must be.
#[derive(Debug)]
pub(super) struct KeysWork {
    pub(super) call: KeysCall,
    pub(super) result: Value,
}

/// What a scope or a fingerprint is made from.
#[derive(Debug)]
pub(super) enum KeysCall {
    Scope { version: u32, secret: Vec<u8>, principal: Vec<u8>, operation: String, key: Vec<u8> },
    Fingerprint { secret: Vec<u8>, method: String, target: String, content_type: Option<String>, body: Vec<u8> },
}

/// A file that holds something else than vectors.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum VectorFault {
    /// A line.
    #[error("line {line}: {what}")]
    Line { line: usize, what: String },
    /// All of it.
    #[error("there is no vector in it")]
    Empty,
}

/// Every vector of a text.
pub(super) fn vectors(text: &str) -> Result<Vec<Vector>, VectorFault> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let vectors = lines.map(|(index, text)| {
        let line = index.saturating_add(1);
        vector(line, text).map_err(|what| VectorFault::Line { line, what })
    });
    let vectors = vectors.collect::<Result<Vec<_>, _>>()?;
    if vectors.is_empty() { Err(VectorFault::Empty) } else { Ok(vectors) }
}

fn vector(line: usize, text: &str) -> Result<Vector, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    let members = document.as_object().ok_or("a vector is an object")?;
    let name = text_of(members, "name")?.to_owned();
    let work = match text_of(members, "call")? {
        "scope" | "fingerprint" => Work::Keys(keys(members)?),
        _ => Work::Decision(Box::new(decision(&document, members)?)),
    };
    Ok(Vector { line, name, work })
}

fn decision(document: &Value, members: &Map<String, Value>) -> Result<DecisionWork, String> {
    let request = Request::parse(&document.to_string()).map_err(|fault| format!("{} {}", fault.at, fault.what))?;
    let outcome = present(members, "outcome")?.as_object().ok_or("outcome is no object")?.clone();
    text_of(&outcome, "kind").map_err(|fault| format!("outcome.{fault}"))?;
    let after = present(members, "after")?.clone();
    if !after.is_object() && !after.is_null() {
        return Err("after is neither a record nor null".to_owned());
    }
    Ok(DecisionWork { document: document.clone(), request, outcome, after })
}

fn keys(members: &Map<String, Value>) -> Result<KeysWork, String> {
    let args = present(members, "args")?.as_object().ok_or("args is no object")?;
    let secret = bytes(args, "secret")?;
    let text = |name| text_of(args, name).map(str::to_owned);
    let call = if text_of(members, "call")? == "scope" {
        let version = number(args, "version")?;
        KeysCall::Scope {
            version,
            secret,
            principal: bytes(args, "principal")?,
            operation: text("operation")?,
            key: bytes(args, "key")?,
        }
    } else {
        let content_type = match args.get("content-type") {
            None | Some(Value::Null) => None,
            Some(_) => Some(text("content-type")?),
        };
        KeysCall::Fingerprint { secret, method: text("method")?, target: text("target")?, content_type, body: bytes(args, "body")? }
    };
    Ok(KeysWork { call, result: present(members, "result")?.clone() })
}

fn present<'m>(members: &'m Map<String, Value>, name: &str) -> Result<&'m Value, String> {
    members.get(name).ok_or_else(|| format!("{name} is absent"))
}

fn text_of<'m>(members: &'m Map<String, Value>, name: &str) -> Result<&'m str, String> {
    present(members, name)?.as_str().ok_or_else(|| format!("{name} is no text"))
}

fn bytes(members: &Map<String, Value>, name: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text_of(members, name)?).map_err(|_| format!("{name} is no base64"))
}

/// Plain, or as a decimal string.
fn number(members: &Map<String, Value>, name: &str) -> Result<u32, String> {
    let value = present(members, name)?;
    let number = value.as_u64().or_else(|| value.as_str().and_then(|digits| digits.parse().ok()));
    number.and_then(|number| u32::try_from(number).ok()).ok_or_else(|| format!("{name} is no number from 0 to 4294967295"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_vector_is_told_with_its_line() {
        let check = |text: &str, told: &str| assert_eq!(vectors(text).unwrap_err().to_string(), told, "{text}");
        check("", "there is no vector in it");
        check("\n \n", "there is no vector in it");
        check("[]", "line 1: a vector is an object");
        check("\n{}", "line 2: name is absent");
        check(r#"{"name":"a","call":"claim"}"#, "line 1: args is absent");
        check(r#"{"name":"a","call":"scope","args":{"secret":"%"}}"#, "line 1: secret is no base64");
        check(
            r#"{"name":"a","call":"scope","args":{"secret":"","version":-1}}"#,
            "line 1: version is no number from 0 to 4294967295",
        );
        assert!(vectors("{").unwrap_err().to_string().starts_with("line 1: this is no JSON: "));
    }

    #[test]
    fn a_vector_without_what_must_come_of_it_is_none() {
        let vector = r#"{"name":"a","family":"inbox","scope":"s","call":"inspect","args":{"owner":"OWNER","operation":"o","now":"1"},
            "settings":{"revision":1,"lease":1,"attempt-limit":1,"backoff-base":0,"backoff-cap":0,"replay-retention":1,"failure-retention":1}
            REST}"#;
        let check = |rest: &str, told: &str| {
            let text = vector.replace("OWNER", &"0".repeat(64)).replace("REST", rest).replace('\n', " ");
            assert_eq!(
                vectors(&text).map(|vectors| vectors.len()).map_err(|fault| fault.to_string()),
                Err(format!("line 1: {told}"))
            );
        };
        check("", "outcome is absent");
        check(r#","outcome":{}"#, "outcome.kind is absent");
        check(r#","outcome":{"kind":"missing"}"#, "after is absent");
        check(r#","outcome":{"kind":"missing"},"after":1"#, "after is neither a record nor null");
    }
}
