//! What waits for a person, and how it ends.

use leasehold::Family;
use serde_json::Value;

use super::store::{Store, answer, readme};

const SCOPE: &str = "d1:charge:00ff";
const REFERENCE: &str = "idempotency/d1:charge:00ff";

async fn one_waiting() -> Store {
    let store = Store::new();
    store.abandoned(Family::Idempotency, SCOPE).await;
    store
}

#[tokio::test]
async fn the_list_has_every_family_oldest_first_and_exactly_its_members() {
    let store = Store::new();
    store.abandoned(Family::Inbox, "message-1").await;
    store.abandoned(Family::Idempotency, SCOPE).await;
    let list = store.json(&["recovery", "list"]);
    let [first, second] = list.as_array().unwrap().as_slice() else { panic!("{list}") };
    assert_eq!((&first["reference"], &second["reference"]), (&"inbox/message-1".into(), &REFERENCE.into()));
    let mut members: Vec<&String> = second.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["age-ms", "attempt", "family", "operation-code", "reason", "reference", "revision"]);
    assert_eq!((&second["family"], &second["operation-code"]), (&"idempotency".into(), &"charge".into()));
    assert_eq!((&second["attempt"], &second["reason"]), (&1.into(), &"UPSTREAM_SILENT".into()));
    assert!(second["revision"].is_u64() && second["age-ms"].is_u64() && first["operation-code"].is_null());
    let table = store.program(&["recovery", "list"]).done();
    assert!(table.starts_with("REFERENCE") && table.contains(REFERENCE) && table.lines().count() == 3, "{table}");
    assert_eq!(store.json(&["recovery", "list", "--family", "inbox"]).as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn an_empty_list_says_so() {
    let store = Store::new();
    store.host().await;
    assert_eq!(store.program(&["recovery", "list"]).done(), "nothing waits for a verdict\n");
    assert_eq!(store.json(&["recovery", "list"]), Value::Array(Vec::new()));
}

#[tokio::test]
async fn completed_with_a_body_is_replayed_and_the_audit_says_who_and_why() {
    let store = one_waiting().await;
    let file = store.file("receipt.json", br#"{"charge":7}"#);
    let args = ["recovery", "resolve", REFERENCE, "--verdict", "completed", "--response", &file, "--reason", "in the ledger"];
    let said = store.program(&[&args[..], &["--actor", "ann"]].concat()).done();
    assert!(said.starts_with(&format!("{REFERENCE} is settled as completed; its revision is ")), "{said}");
    assert_eq!(store.found(SCOPE).await, ("completed-replay", Some(r#"{"charge":7}"#.to_owned())));
    let shown = store.json(&["recovery", "show", REFERENCE]);
    assert_eq!((&shown["record"]["state"], &shown["response"]["status"]), (&"completed".into(), &200.into()));
    assert_eq!(shown["response"]["headers"], serde_json::json!([["content-type", "application/json"]]));
    let audit = &shown["audit"][0];
    assert_eq!(
        (&audit["actor"], &audit["verdict"], &audit["reason"]),
        (&"ann".into(), &"completed".into(), &"in the ledger".into())
    );
    let text = store.program(&["recovery", "show", REFERENCE]).done();
    assert!(text.contains("200 OK, {\"charge\":7}") && text.contains("in the ledger"), "{text}");
}

#[tokio::test]
async fn a_stored_answer_is_taken_as_it_is() {
    let store = one_waiting().await;
    let file = store.file("answer.bin", &answer("made"));
    let args = ["recovery", "resolve", REFERENCE, "--verdict", "completed", "--response", &file, "--reason", "found"];
    assert!(!store.program(&args).done().is_empty());
    assert_eq!(store.json(&["inspect", SCOPE])["response"]["status"], 201);
    assert_eq!(store.found(SCOPE).await, ("completed-replay", Some("made".to_owned())));
}

#[tokio::test]
async fn the_readmes_answer_is_a_stored_one() {
    let store = one_waiting().await;
    store.shell(&readme("printf '%s\\n%s' '{\"status\":201"));
    let args = ["recovery", "resolve", REFERENCE, "--verdict", "completed", "--reason", "found", "--response"];
    assert!(!store.program(&[&args[..], &[&store.path("answer.json")]].concat()).done().is_empty());
    assert_eq!(store.json(&["inspect", SCOPE])["response"]["status"], 201);
    assert_eq!(store.found(SCOPE).await, ("completed-replay", Some("{\"charge\":\"ch\"}".to_owned())));
}

#[tokio::test]
async fn a_near_miss_of_a_stored_answer_is_refused_and_the_record_goes_on_waiting() {
    let store = one_waiting().await;
    let file = store.file("answer.bin", &[answer("made").as_slice(), b"\n"].concat());
    let args = ["recovery", "resolve", REFERENCE, "--verdict", "completed", "--response", &file, "--reason", "found"];
    let told = store.program(&args).fails(2);
    assert!(told.contains("says 4 bytes of body, and has 5") && told.contains("--content-type"), "{told}");
    assert_eq!(store.json(&["recovery", "list"]).as_array().map(Vec::len), Some(1));
    assert!(!store.program(&[&args[..], &["--content-type", "text/plain"]].concat()).done().is_empty());
    assert_eq!(store.json(&["inspect", SCOPE])["response"]["status"], 200);
}

#[tokio::test]
async fn what_a_late_end_wanted_to_say_can_be_taken() {
    let store = one_waiting().await;
    let args = ["recovery", "resolve", REFERENCE, "--verdict", "completed", "--from-evidence", "--reason", "it says so"];
    let told = store.program(&args).fails(1);
    assert!(told.contains("give one with --response"), "{told}");
    store.evidence(SCOPE, "first").await;
    store.evidence(SCOPE, "last").await;
    let shown = store.program(&["recovery", "show", REFERENCE]).done();
    assert!(shown.contains("Ends that came too late:") && shown.contains("201 Created, last"), "{shown}");
    assert!(!store.program(&args).done().is_empty());
    assert_eq!(store.found(SCOPE).await, ("completed-replay", Some("last".to_owned())));
}

#[tokio::test]
async fn no_effect_is_tried_again_and_forgotten_begins_anew() {
    for (verdict, found) in [("no-effect", "taken-over"), ("forget", "acquired")] {
        let store = one_waiting().await;
        let resolved = store.json(&["recovery", "resolve", REFERENCE, "--verdict", verdict, "--reason", "nothing there"]);
        assert_eq!((&resolved["reference"], &resolved["verdict"]), (&REFERENCE.into(), &verdict.into()));
        assert!(resolved["revision"].is_u64());
        assert_eq!(store.found(SCOPE).await, (found, None));
    }
}

#[tokio::test]
async fn a_verdict_on_what_has_moved_is_refused() {
    let store = one_waiting().await;
    let resolve = |rest: &[&str]| {
        let args = ["recovery", "resolve", REFERENCE, "--verdict", "no-effect", "--reason", "nothing there"];
        store.program(&[&args[..], rest].concat())
    };
    let told = resolve(&["--revision", "7", "--attempt", "1"]).fails(1);
    assert!(told.contains("has moved on: its revision is "), "{told}");
    let seen = store.json(&["recovery", "list"])[0]["revision"].to_string();
    assert!(!resolve(&["--revision", &seen, "--attempt", "1"]).done().is_empty());
    let told = resolve(&[]).fails(1);
    assert!(told.contains("does not wait for a verdict: it is failed-retryable"), "{told}");
}

#[tokio::test]
async fn what_cannot_be_resolved_is_told() {
    let store = one_waiting().await;
    let file = store.file("body", b"x");
    let resolve = |reference: &str, rest: &[&str]| store.program(&[&["recovery", "resolve", reference], rest].concat());
    let told = resolve("inbox/none", &["--verdict", "forget", "--reason", "x"]).fails(1);
    assert!(told.contains("there is no record inbox/none"), "{told}");
    let told = resolve(REFERENCE, &["--verdict", "forget", "--reason", " "]).fails(1);
    assert!(told.contains("a verdict needs a reason"), "{told}");
    let told = resolve(REFERENCE, &["--verdict", "forget", "--reason", "x", "--response", &file]).fails(2);
    assert!(told.contains("a response goes with --verdict completed alone"), "{told}");
    let told = resolve(REFERENCE, &["--verdict", "completed", "--reason", "x", "--response", "/nowhere/x"]).fails(1);
    assert!(told.contains("cannot read /nowhere/x"), "{told}");
    assert_eq!(store.json(&["recovery", "list"]).as_array().map(Vec::len), Some(1));
}
