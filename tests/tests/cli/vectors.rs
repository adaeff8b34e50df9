//! Every vector passes, an altered one fails, and a line that is none is told.

use std::path::{Path, PathBuf};

use leasehold::Family;
use leasehold_tests::binary::{Program, Said, program};
use serde_json::{Value, json};

use super::store::Store;

const FILES: [(&str, usize); 4] =
    [("lease-1.jsonl", 1600), ("edges-1.jsonl", 300), ("corrupt-1.jsonl", 160), ("keys-1.jsonl", 240)];

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(file)
}

pub fn lines(file: &str) -> Vec<String> {
    std::fs::read_to_string(path(file)).unwrap().lines().map(str::to_owned).collect()
}

pub fn vectors(file: &str) -> Vec<Value> {
    lines(file).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run(file: &Path, more: &[&str]) -> Program {
    program(&[&["vectors", file.to_str().unwrap()], more].concat())
}

/// Runs these vectors.
fn run_all(vectors: &[Value], more: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.jsonl");
    let text: Vec<String> = vectors.iter().map(Value::to_string).collect();
    std::fs::write(&file, text.join("\n")).unwrap();
    run(&file, more).run()
}

/// All of them fail.
fn all_fail(vectors: &[Value], more: &[&str]) -> String {
    let said = run_all(vectors, more);
    assert_eq!((said.status, said.stderr.as_str()), (Some(1), ""), "{}", said.stdout);
    let last = format!("0 passed, {} failed", vectors.len());
    assert_eq!(said.stdout.lines().last(), Some(last.as_str()), "{}", said.stdout);
    said.stdout
}

#[test]
fn every_vector_passes_through_the_component_and_a_store() {
    for (file, count) in FILES {
        assert_eq!(run(&path(file), &[]).done(), format!("{count} passed, 0 failed\n"), "{file}");
    }
}

#[test]
fn every_vector_passes_through_the_native_code() {
    for (file, count) in FILES {
        assert_eq!(run(&path(file), &["--native"]).done(), format!("{count} passed, 0 failed\n"), "{file}");
    }
}

#[tokio::test]
async fn a_store_that_is_named_keeps_what_it_had_and_nothing_else() {
    let store = Store::new();
    store.abandoned(Family::Inbox, "message-1").await;
    store.completed("order-7", "paid", None).await;
    let dump = async || {
        let url = format!("sqlite://{}?mode=ro", store.path("leasehold.db"));
        let mut connection = <sqlx::SqliteConnection as sqlx::Connection>::connect(&url).await.unwrap();
        let mut rows = Vec::new();
        for family in Family::ALL {
            let text = format!("SELECT scope || state || revision || changed_at FROM leasehold_{}", family.name());
            rows.extend(sqlx::query_scalar::<_, String>(sqlx::AssertSqlSafe(text)).fetch_all(&mut connection).await.unwrap());
        }
        rows
    };
    let before = dump().await;
    assert_eq!(before.len(), 2);
    // A vector may name a scope that is there: it is played on a row of its own.
    let mut named = vectors("lease-1.jsonl");
    named.truncate(300);
    for vector in &mut named {
        for place in ["before", "after"] {
            if vector[place].is_object() {
                vector[place]["scope"] = json!("order-7");
            }
        }
        vector["scope"] = json!("order-7");
    }
    let said = run_all(&named, &["--store", &store.url()]);
    assert_eq!(said.stdout, "300 passed, 0 failed\n");
    named[7]["outcome"]["kind"] = json!("no-such-outcome");
    assert_eq!(run_all(&named, &["--store", &store.url()]).status, Some(1));
    assert_eq!(dump().await, before);
}

#[test]
fn a_store_that_is_not_there_is_made() {
    let store = Store::new();
    let said = run(&path("edges-1.jsonl"), &["--store", &store.url()]).done();
    assert_eq!(said, "300 passed, 0 failed\n");
    assert_eq!(store.program(&["recovery", "list"]).done(), "nothing waits for a verdict\n");
}

/// The vector with something else in one place of what must come of it.
fn altered(vector: &Value, number: usize) -> Value {
    let mut altered = vector.clone();
    let members: Vec<String> = vector["outcome"].as_object().unwrap().keys().cloned().collect();
    let record: Vec<String> = vector["after"].as_object().map(|after| after.keys().cloned().collect()).unwrap_or_default();
    let place = number % (members.len() + record.len().max(1));
    let place = match place.checked_sub(members.len()) {
        None => &mut altered["outcome"][&members[place]],
        Some(_) if record.is_empty() => &mut altered["after"],
        Some(place) => &mut altered["after"][&record[place]],
    };
    *place = match &*place {
        Value::Number(number) => json!(number.as_u64().unwrap() ^ 1),
        Value::String(text) => json!(format!("{text}x")),
        Value::Null => json!({ "scope": "s", "id": "i" }),
        _ => Value::Null,
    };
    altered
}

#[test]
fn an_altered_vector_fails_wherever_it_was_altered() {
    for file in ["lease-1.jsonl", "edges-1.jsonl", "corrupt-1.jsonl"] {
        let altered: Vec<Value> = vectors(file).iter().enumerate().map(|(number, vector)| altered(vector, number)).collect();
        for more in [&[][..], &["--native"]] {
            let told = all_fail(&altered, more);
            assert!(told.starts_with(&format!("FAILED {} (line 1)\n  ", altered[0]["name"].as_str().unwrap())), "{told}");
        }
    }
}

#[test]
fn an_altered_key_vector_fails() {
    let mut altered = vectors("keys-1.jsonl");
    for (number, vector) in altered.iter_mut().enumerate() {
        match number % 3 {
            0 => vector["result"] = json!("d1:http:00"),
            1 => vector["result"] = Value::Null,
            _ => vector["args"]["secret"] = json!("YWJj"),
        }
    }
    all_fail(&altered, &[]);
    all_fail(&altered, &["--native"]);
}

#[test]
fn one_that_fails_does_not_hide_the_others() {
    let mut some = vectors("lease-1.jsonl");
    some.truncate(5);
    some[2]["outcome"]["kind"] = json!("acquired-not");
    let said = run_all(&some, &[]);
    assert_eq!((said.status, said.stdout.lines().last()), (Some(1), Some("4 passed, 1 failed")), "{}", said.stdout);
    let name = some[2]["name"].as_str().unwrap();
    assert!(
        said.stdout.contains(&format!("FAILED {name} (line 3)\n  outcome.kind: expected \"acquired-not\", got ")),
        "{}",
        said.stdout
    );
}

fn with_decimal_strings(value: &mut Value) {
    match value {
        Value::Number(number) => *value = json!(number.to_string()),
        Value::Array(elements) => elements.iter_mut().for_each(with_decimal_strings),
        Value::Object(members) => members.values_mut().for_each(with_decimal_strings),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[test]
fn integers_may_be_decimal_strings() {
    for (file, count) in FILES {
        let mut vectors = vectors(file);
        vectors.iter_mut().for_each(with_decimal_strings);
        assert_eq!(run_all(&vectors, &[]).stdout, format!("{count} passed, 0 failed\n"), "{file}");
    }
}

#[test]
fn what_is_no_vector_is_told_with_its_line_and_nothing_is_run() {
    let good = lines("lease-1.jsonl").remove(0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.jsonl");
    for (text, told) in [
        (String::new(), "there is no vector in it"),
        (format!("{good}\n{{\n"), "line 2: this is no JSON"),
        (format!("\n{good}\n{{}}\n"), "line 3: name is absent"),
        (good.replace("\"advance\"", "\"advise\""), "line 1: call is none of"),
        (good.replace("\"after\"", "\"afterwards\""), "line 1: after is absent"),
        (good.replace("\"lease\":30000", "\"lease\":-1"), "line 1: settings.lease"),
        (good.replace("\"lease\":30000", "\"lease\":18446744073709551616"), "line 1: settings.lease"),
    ] {
        std::fs::write(&file, &text).unwrap();
        let said = run(&file, &[]).run();
        assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""), "{said:?}");
        assert!(said.stderr.contains(&format!("vectors.jsonl: {told}")), "{told}: {}", said.stderr);
    }
    let told = run(Path::new("/nowhere/vectors.jsonl"), &[]).fails(1);
    assert!(told.contains("cannot read /nowhere/vectors.jsonl"), "{told}");
}
