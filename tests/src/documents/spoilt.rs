//! Documents that are no request, or nearly one: values put out of place, texts cut, doubled and overwritten.

use serde_json::{Value, json};

use super::well_formed;
use crate::random::Random;

/// A text that may be anything, mostly something close to a document.
#[must_use]
pub fn spoilt(random: &mut Random) -> String {
    let mut document = well_formed(random);
    for _ in 0..random.below(3) {
        replace_somewhere(random, &mut document);
    }
    let mut text = document.to_string();
    for _ in 0..random.below(3) {
        text = overwrite(random, &text);
    }
    text
}

/// Puts something else in the place of a random member, at any depth.
fn replace_somewhere(random: &mut Random, value: &mut Value) {
    let inner = match value {
        Value::Object(members) if !members.is_empty() && !random.once_in(12) => {
            let position = random.below(members.len());
            members.values_mut().nth(position)
        }
        Value::Array(elements) if !elements.is_empty() && !random.once_in(4) => {
            let position = random.below(elements.len());
            elements.get_mut(position)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match inner {
        Some(inner) => replace_somewhere(random, inner),
        None => *value = anything(random),
    }
}

fn anything(random: &mut Random) -> Value {
    match random.below(14) {
        0 => Value::Null,
        1 => json!(random.once_in(2)),
        2 => json!(-1),
        3 => json!(1.5),
        4 => json!(1e300),
        5 => json!(random.number()),
        6 => json!(random.number().to_string()),
        7 => json!("18446744073709551616"),
        8 => json!("\u{0}\u{1f}\"\\\u{2028}é🦀"),
        9 => json!("A".repeat(64)),
        10 => json!("é".repeat(32)),
        11 => json!([[], {}, [null]]),
        12 => json!({"id": 1, "kind": "renew", "owner": {}}),
        _ => json!("x".repeat(random.below(80))),
    }
}

/// Changes the text itself, whatever it means.
fn overwrite(random: &mut Random, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len().max(1));
    match random.below(7) {
        0 => bytes.truncate(at),
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(random.below(256)).unwrap_or(0);
            }
        }
        2 => {
            bytes.splice(
                at..at,
                random.of(&["[", "]", "{", "}", "\"", ",", ":", "\\u", "\\ud800", "0", "-", "null", "\u{feff}", "1e9"]).bytes(),
            );
        }
        3 => {
            bytes.drain(..at);
        }
        4 => bytes.extend_from_within(at..),
        5 => {
            let depth = random.of(&[1, 127, 128, 129, 100_000]);
            bytes.splice(at..at, std::iter::repeat_n(if random.once_in(2) { b'[' } else { b'{' }, depth));
        }
        _ => bytes = random.number().to_le_bytes().to_vec(),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
