//! inspect, purge, sweep, migrate.

use leasehold::{Family, Settings};
use leasehold_decision::policy;
use leasehold_tests::wait::eventually;

use super::store::Store;

#[tokio::test]
async fn a_record_is_shown() {
    let store = Store::new();
    store.completed("d1:http:07", "paid", None).await;
    let text = store.program(&["inspect", "d1:http:07"]).done();
    assert!(text.contains("completed") && text.contains("201 Created, paid"), "{text}");
    let json = store.json(&["inspect", "idempotency/d1:http:07"]);
    assert_eq!((&json["record"]["state"], &json["record"]["attempt"]), (&"completed".into(), &1.into()));
    assert_eq!((&json["reference"], &json["operation-code"]), (&"idempotency/d1:http:07".into(), &"http".into()));
    assert_eq!(json["response"]["body-base64"], "cGFpZA==");
}

#[tokio::test]
async fn a_record_that_is_not_there_is_told() {
    let store = Store::new();
    store.completed("order-7", "paid", None).await;
    let told = store.program(&["inspect", "order-8"]).fails(1);
    assert_eq!(told, "error: there is no record idempotency/order-8\n");
    let told = store.program(&["inspect", "order-7", "--family", "inbox"]).fails(1);
    assert_eq!(told, "error: there is no record inbox/order-7\n");
}

#[test]
fn those_who_read_lay_nothing_out() {
    let store = Store::new();
    for args in [&["inspect", "x"][..], &["recovery", "list"], &["purge"], &["sweep"], &["secret", "list"]] {
        let told = store.program(args).fails(1);
        assert!(told.starts_with("error: ") && told.contains("leasehold.db"), "{told}");
    }
    assert!(!std::path::Path::new(&store.path("leasehold.db")).exists());
    store.file("leasehold.db", b"");
    let told = store.program(&["recovery", "list"]).fails(1);
    assert!(told.contains("leasehold migrate --store sqlite:"), "{told}");
}

#[test]
fn a_store_is_laid_out_once() {
    let store = Store::new();
    for _ in 0..2 {
        assert_eq!(store.program(&["migrate"]).done(), format!("{} has layout 1\n", store.url()));
    }
    assert_eq!(store.program(&["recovery", "list"]).done(), "nothing waits for a verdict\n");
    assert!(!std::path::Path::new(&store.path("leasehold.db.secret")).exists());
}

#[tokio::test]
async fn what_has_ended_long_enough_ago_is_removed_and_nothing_else() {
    let store = Store::new();
    let short =
        Settings { lease: 100, replay_retention: 100, failure_retention: 100, ..policy::default_settings(Family::Idempotency) };
    store.completed("ended", "paid", Some(short)).await;
    store.completed("alive", "paid", None).await;
    store.abandoned(Family::Idempotency, "waits").await;
    let table = store.program(&["purge"]).done();
    assert_eq!(table, "FAMILY       REMOVED\nidempotency  0\ninbox        0\noutbox       0\ncleanup      0\n");
    eventually("the purge of a record", async || {
        let purged = store.json(&["purge", "--failure-retention", "100ms", "--family", "idempotency"]);
        (purged == serde_json::json!([{ "family": "idempotency", "removed": 1 }])).then_some(())
    })
    .await;
    assert!(store.program(&["inspect", "ended"]).fails(1).contains("there is no record"));
    assert_eq!(store.json(&["inspect", "alive"])["record"]["state"], "completed");
    assert_eq!(store.json(&["inspect", "waits"])["record"]["state"], "abandoned");
}

#[tokio::test]
async fn executions_that_nobody_asks_about_are_listed() {
    let store = Store::new();
    store.lapsed(Family::Idempotency, "d1:http:01").await;
    store.lapsed(Family::Inbox, "message-1").await;
    let mut listed = 0;
    eventually("two executions on the list", async || {
        // What it lists it also logs.
        let said = store.program(&["sweep", "--json"]).variable("LEASEHOLD_LOG_LEVEL", "error").done();
        let swept: serde_json::Value = serde_json::from_str(&said).unwrap();
        listed += swept.as_array()?.iter().filter_map(|one| one["listed"].as_u64()).sum::<u64>();
        (listed == 2).then_some(())
    })
    .await;
    let list = store.json(&["recovery", "list"]);
    let reasons: Vec<_> = list.as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["EXECUTION_LEASE_EXPIRED"; 2]);
    assert_eq!(
        store.program(&["sweep"]).done(),
        "FAMILY       LISTED\nidempotency  0\ninbox        0\noutbox       0\ncleanup      0\n"
    );
}
