//! What differs between what must be and what is. Tests: below.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What of an outcome differs: it may carry more than is named.
pub(super) fn outcome(expected: &Map<String, Value>, found: &Map<String, Value>) -> Vec<String> {
    expected.iter().filter_map(|(name, value)| difference(&format!("outcome.{name}"), value, found.get(name))).collect()
}

/// What of a record differs: it may carry nothing else.
pub(super) fn record(expected: &Value, found: &Value) -> Vec<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let names: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
            let value = |name: &String| expected.get(name).unwrap_or(&Value::Null);
            names.into_iter().filter_map(|name| difference(&format!("after.{name}"), value(name), found.get(name))).collect()
        }
        (_, _) => difference("after", expected, Some(found)).into_iter().collect(),
    }
}

fn difference(name: &str, expected: &Value, found: Option<&Value>) -> Option<String> {
    let found = found.unwrap_or(&Value::Null);
    (!same(expected, found)).then(|| format!("{name}: expected {expected}, got {found}"))
}

/// Whether two values are one: what is absent is null, and an integer may be expected as a decimal string.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::String(digits), Value::Number(number)) => *digits == number.to_string(),
        (Value::Object(expected), Value::Object(found)) => {
            let of = |members: &Map<String, Value>, name: &str| members.get(name).cloned().unwrap_or(Value::Null);
            expected.keys().chain(found.keys()).all(|name| same(&of(expected, name), &of(found, name)))
        }
        (expected, found) => expected == found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn outcome_differs(expected: Value, found: Value) -> bool {
        !outcome(expected.as_object().unwrap(), found.as_object().unwrap()).is_empty()
    }

    #[test]
    fn an_outcome_may_carry_more_but_not_less() {
        assert!(!outcome_differs(json!({"kind": "missing"}), json!({"kind": "missing", "more": 1})));
        assert!(!outcome_differs(json!({"retry-at": null}), json!({})));
        assert!(outcome_differs(json!({"attempt": 1}), json!({})));
        assert!(outcome_differs(json!({"attempt": 1}), json!({"attempt": 2})));
        assert!(outcome_differs(json!({"lease-until": null}), json!({"lease-until": 1})));
    }

    #[test]
    fn an_integer_may_be_expected_as_a_decimal_string_and_no_text_as_an_integer() {
        assert!(!outcome_differs(json!({"revision": "9007199254740993"}), json!({"revision": 9_007_199_254_740_993_u64})));
        assert!(outcome_differs(json!({"revision": "9007199254740992"}), json!({"revision": 9_007_199_254_740_993_u64})));
        assert!(outcome_differs(json!({"revision": "01"}), json!({"revision": 1})));
        assert!(outcome_differs(json!({"operation": 1}), json!({"operation": "1"})));
    }

    #[test]
    fn a_record_carries_nothing_else() {
        assert!(record(&json!({"a": 1}), &json!({"a": 1, "b": null})).is_empty());
        assert_eq!(record(&json!({"a": 1}), &json!({"a": 1, "b": 2})), ["after.b: expected null, got 2"]);
        assert_eq!(record(&json!({"a": 1, "c": 0}), &json!({"a": 1})), ["after.c: expected 0, got null"]);
        assert_eq!(record(&Value::Null, &json!({})), ["after: expected null, got {}"]);
        assert!(record(&json!({"t": {"id": "x", "digest": null}}), &json!({"t": {"id": "x"}})).is_empty());
        assert!(!record(&json!({"t": {"id": "x"}}), &json!({"t": {"id": "y"}})).is_empty());
        assert!(!record(&json!({"t": null}), &json!({"t": {}})).is_empty());
    }
}
