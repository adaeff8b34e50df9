//! The form of documents: what is no request is told by the member that is wrong, and integers survive readers that know doubles alone.

use leasehold_decision::packed::packed;
use serde_json::{Value, json};

const OWNER: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A repeated claim on a record at the ends of the ranges, whose lease is over.
fn document() -> Value {
    json!({
        "family": "inbox",
        "scope": "d1:op:0",
        "settings": {
            "revision": 1, "lease": 100, "attempt-limit": 3, "backoff-base": 0, "backoff-cap": 0, "replay-retention": 1000,
            "failure-retention": 1000
        },
        "before": {
            "scope": "d1:op:0", "state": "claimed", "owner": OWNER, "operation": "op-1", "attempt": 1, "attempt-limit": 3,
            "revision": 9_007_199_254_740_991_u64, "policy-revision": 1, "lease-until": 10, "transition": null
        },
        "call": "claim",
        "args": {"owner": OWNER, "operation": "op-1", "readable-codecs": [], "now": 9_007_199_254_740_893_u64}
    })
}

fn ask(document: &Value) -> Value {
    serde_json::from_str(&packed(&document.to_string())).expect("packed answers JSON")
}

/// Puts a value at a path of the document, and holds what is said about it.
#[track_caller]
fn check(path: &str, value: Value, at: &str, what: &str) {
    let mut document = document();
    *document.pointer_mut(path).unwrap_or_else(|| panic!("the document lacks {path}")) = value;
    assert_eq!(ask(&document)["error"], json!({"at": at, "what": what}));
}

#[test]
fn a_document_needs_no_more_than_it_says() {
    let answer = ask(&document());
    assert_eq!(answer["outcome"]["kind"], "replayed-acquire");
    assert_eq!(answer["write"]["statement"], "inbox.relet");
    let mut more = document();
    more["comment"] = json!({"any": ["thing"]});
    more["args"]["trace"] = json!(7);
    assert_eq!(ask(&more), answer);
}

#[test]
fn a_fault_names_its_member() {
    const INTEGER: &str = "an integer from 0 to 18446744073709551615 is expected, plain or as a decimal string";
    for number in
        [json!(-1), json!(1.5), json!(1e3), json!(""), json!("-1"), json!("+1"), json!("1 "), json!("18446744073709551616")]
    {
        check("/args/now", number.clone(), "args.now", INTEGER);
        check("/before/revision", number.clone(), "before.revision", INTEGER);
        check("/settings/lease", number, "settings.lease", INTEGER);
    }
    for (path, at) in [("/scope", "scope"), ("/call", "call"), ("/family", "family"), ("/args", "args"), ("/settings", "settings")]
    {
        check(path, Value::Null, at, "is absent");
    }
    check("/args/owner", json!(OWNER.to_uppercase()), "args.owner", "64 lowercase hex digits are expected");
    check("/args/owner", json!(7), "args.owner", "a string is expected");
    check("/args/now", json!([]), "args.now", "an integer is expected");
    check("/args/readable-codecs", json!([1]), "args.readable-codecs", "an array of strings is expected");
    check("/args/readable-codecs", json!("c"), "args.readable-codecs", "an array of strings is expected");
    check("/before", json!([]), "before", "an object is expected");
    check(
        "/before/state",
        json!("CLAIMED"),
        "before.state",
        "is none of pending, claimed, executing, completed, failed-retryable, abandoned",
    );
    check("/before/scope", json!("d1:op:1"), "before.scope", "is not the scope of the document");
    check("/before/transition", json!({"id": "t", "kind": "resolve"}), "before.transition.kind", "is none of the transition kinds");
    check("/call", json!("enqueue"), "call", "is none of claim, advance, release, inspect, resolve");
    check("/family", json!("queue"), "family", "is none of idempotency, inbox, outbox, cleanup");
    check("/family", json!(["inbox"]), "family", "a string is expected");
}

#[test]
fn a_text_that_is_no_json_is_told_by_its_byte() {
    for (text, at) in
        [("", "byte 0"), ("{", "byte 1"), ("{} {}", "byte 5"), ("\u{feff}{}", "byte 0"), (r#"{"a":"\ud800"}"#, "byte 12")]
    {
        let answer: Value = serde_json::from_str(&packed(text)).expect("packed answers JSON");
        assert_eq!(answer["error"]["at"], at, "{text}: {answer}");
    }
    for (levels, deep) in [(128, false), (129, true), (100_000, true)] {
        let text = ["[".repeat(levels), "]".repeat(levels)].concat();
        assert_eq!(packed(&text).contains("nested deeper than 128 levels"), deep, "{levels}");
    }
}

#[test]
fn a_column_that_is_no_token_is_a_corrupt_record() {
    for (path, column) in [("/before/owner", "owner"), ("/before/transition", "transition.digest")] {
        let mut wrong = document();
        let value = if column == "owner" { json!("A") } else { json!({"id": "t-1", "kind": "renew", "digest": "A"}) };
        *wrong.pointer_mut(path).expect("it is there") = value;
        let answer = ask(&wrong);
        assert_eq!(answer["outcome"]["kind"], "corrupt-record");
        assert_eq!(answer["outcome"]["detail"], format!("{column} is not 64 lowercase hex digits"));
        assert_eq!((&answer["write"], &answer["after"]["state"]), (&Value::Null, &json!("claimed")));
    }
}

#[test]
fn integers_past_the_doubles_are_strings_where_asked() {
    let plain = ask(&document());
    assert_eq!(plain["outcome"]["revision"], json!(9_007_199_254_740_992_u64));
    assert_eq!(plain["after"]["lease-until"], json!(9_007_199_254_740_993_u64));

    let mut asked = document();
    asked["big-integers"] = json!("string");
    let strings = ask(&asked);
    assert_eq!(strings["outcome"]["revision"], json!(9_007_199_254_740_992_u64), "2^53 is exact in a double");
    assert_eq!(strings["outcome"]["lease-until"], json!("9007199254740993"));
    assert_eq!(strings["write"]["next"]["lease-until"], json!("9007199254740993"));
    assert_eq!(strings["after"]["lease-until"], json!("9007199254740993"));

    asked["before"]["revision"] = json!("9007199254740991");
    asked["args"]["now"] = json!("9007199254740893");
    asked["settings"]["lease"] = json!("100");
    assert_eq!(ask(&asked), strings, "strings are taken as they are given");

    asked["big-integers"] = json!("number");
    assert_eq!(ask(&asked), plain);
    asked["big-integers"] = json!("bigint");
    assert_eq!(ask(&asked)["error"]["at"], "big-integers");
}

#[test]
fn the_highest_numbers_are_exact() {
    let mut last = document();
    last["before"]["revision"] = json!((1_u64 << 63) - 2);
    last["args"]["now"] = json!(u64::MAX);
    let answer = ask(&last);
    assert_eq!(answer["after"]["revision"], json!((1_u64 << 63) - 1));
    assert_eq!(answer["after"]["lease-until"], json!(i64::MAX));
    last["before"]["revision"] = json!(u64::MAX);
    assert_eq!(ask(&last)["outcome"]["kind"], "corrupt-record");
}
