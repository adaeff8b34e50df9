//! Rotation: the next version is announced in the store, and made where secrets lie in a file.

use leasehold::{HostOptions, Leasehold};

use super::store::{Store, readme};

const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A store that a server has used: there is a secret beside it.
async fn used() -> Store {
    let store = Store::new();
    let options = HostOptions::new(store.url().parse().unwrap());
    Leasehold::open(HostOptions { code_cache: leasehold_tests::hosts::code_cache(), ..options }).await.unwrap();
    store
}

fn lines(store: &Store) -> Vec<String> {
    std::fs::read_to_string(store.path("leasehold.db.secret")).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn the_next_version_is_made_in_the_file_and_announced() {
    let store = used().await;
    let secret = lines(&store)[0].split_once(' ').unwrap().1.to_owned();
    let said = store.program(&["secret", "rotate", "--to", "2", "--at", "+1h"]).done();
    assert!(said.starts_with("version 2 makes new records from ") && said.contains("leasehold.db.secret: restart"), "{said}");
    let after = lines(&store);
    assert!(after.len() == 2 && after[0] == format!("1 {secret}") && after[1].starts_with("2 "), "two lines");
    let next = after[1].split_once(' ').unwrap().1;
    let list = store.json(&["secret", "list"]);
    assert_eq!((&list[0]["version"], &list[0]["active"], &list[0]["known-here"]), (&1.into(), &true.into(), &true.into()));
    assert_eq!((&list[1]["version"], &list[1]["active"], &list[1]["known-here"]), (&2.into(), &false.into(), &true.into()));
    let table = store.program(&["secret", "list"]).done();
    for text in [said, table, list.to_string()] {
        assert!(!text.contains(&secret) && !text.contains(next), "a secret is told: {text}");
    }
}

#[tokio::test]
async fn a_version_that_is_known_is_not_made_anew() {
    let store = used().await;
    let before = lines(&store);
    let told = store.program(&["secret", "rotate", "--to", "1", "--at", "+1h"]).fails(1);
    assert!(told.contains("the store knows version 1 already"), "{told}");
    assert_eq!(lines(&store), before);
}

#[tokio::test]
async fn an_instant_that_is_too_near_is_refused_and_can_be_asked_again() {
    let store = used().await;
    let rotate = |at: &str| store.program(&["secret", "rotate", "--to", "2", "--at", at]);
    let told = rotate("+5s").fails(1);
    assert!(told.contains("at least 20 s ahead"), "{told}");
    assert!(rotate("1000").fails(1).contains("at least 20 s ahead"));
    assert!(rotate("soon").fails(2).contains("--at: \"soon\" is no instant"));
    assert!(!rotate("2999-01-01T00:00:00Z").done().is_empty());
    assert_eq!(lines(&store).len(), 2);
    assert_eq!(store.json(&["secret", "list"])[1]["active-from"], 32_472_144_000_000_u64);
}

#[tokio::test]
async fn secrets_in_variables_are_set_by_hand() {
    let store = Store::new();
    store.host().await;
    let rotate = |variables: &[&str]| {
        let program = store.program(&["secret", "rotate", "--to", "2", "--at", "+1h"]);
        variables.iter().fold(program, |program, name| program.variable(name, HEX))
    };
    let told = rotate(&[]).fails(1);
    assert!(told.contains("there is no secret here yet"), "{told}");
    let told = rotate(&["LEASEHOLD_SECRET_1"]).fails(1);
    assert!(told.contains("has not been used with a secret yet"), "{told}");

    let store = used().await;
    let secret = lines(&store)[0].split_once(' ').unwrap().1.to_owned();
    let rotate = || store.program(&["secret", "rotate", "--to", "2", "--at", "+1h"]).variable("LEASEHOLD_SECRET_1", &secret);
    let told = rotate().fails(1);
    assert!(told.contains("there is no LEASEHOLD_SECRET_2: set it here and on every host"), "{told}");
    assert!(rotate().variable("LEASEHOLD_SECRET_2", HEX).done().contains("set LEASEHOLD_SECRET_2 on every host"));
    assert_eq!(lines(&store).len(), 1);
}

/// It told to set a fresh one, which the store that it had just had made refuses.
#[tokio::test]
async fn the_readmes_line_takes_the_secret_that_the_store_was_made_with() {
    let store = used().await;
    let secret = store.shell(&format!("{}; printf %s \"$LEASEHOLD_SECRET_1\"", readme("export LEASEHOLD_SECRET_1=")));
    let program = store.program(&["secret", "rotate", "--to", "2", "--at", "+1h"]);
    assert!(!program.variable("LEASEHOLD_SECRET_1", secret).variable("LEASEHOLD_SECRET_2", HEX).done().is_empty());
}

#[tokio::test]
async fn another_secret_than_the_stores_is_refused() {
    let store = used().await;
    let program = store.program(&["secret", "rotate", "--to", "2", "--at", "+1h"]);
    let told = program.variable("LEASEHOLD_SECRET_1", HEX).variable("LEASEHOLD_SECRET_2", HEX).fails(1);
    assert!(told.contains("LEASEHOLD_SECRET_1 is not the secret that this store was used with"), "{told}");
    assert_eq!(store.json(&["secret", "list"]).as_array().map(Vec::len), Some(1));
}
