//! Secrets and their versions, on two hosts and one file: never two records for one key.

use std::sync::Arc;
use std::time::Duration;

use leasehold::keyring::{KeyringError, rotation_notice};
use leasehold::{
    ClaimAnswer, ClaimRequest, Claimed, End, Execution, Family, Key, KeyedRequest, Leasehold, Outcome, Payload, Secrets, Settings,
};
use leasehold_tests::hosts::{Bed, clock_reaches, host_of, parts, secrets, settings, until};

/// So short that a rotation can be waited for.
const WRITE_TIMEOUT: Duration = Duration::from_millis(300);

async fn try_host(bed: &Bed, secrets: Secrets, settings: Settings) -> Result<Leasehold, leasehold::HostError> {
    let mut parts = parts(Arc::new(bed.store().await), None, settings);
    (parts.secrets, parts.write_timeout) = (Some(secrets), WRITE_TIMEOUT);
    Leasehold::from_parts(parts).await
}

async fn host(bed: &Bed, known: &[(u32, char)]) -> Leasehold {
    try_host(bed, secrets(known), settings(30_000)).await.unwrap_or_else(|error| panic!("{error}"))
}

fn keyed(key: &str) -> ClaimRequest {
    ClaimRequest::new(
        Family::Idempotency,
        Key::Keyed(KeyedRequest {
            principal: b"somebody".to_vec(),
            operation_code: "pay".to_owned(),
            key: key.as_bytes().to_vec(),
            payload: Payload { body: b"{\"amount\":1}".as_slice().into(), ..Payload::default() },
        }),
    )
}

async fn held(host: &Leasehold, key: &str) -> Claimed {
    match host.claim(keyed(key)).await.unwrap() {
        ClaimAnswer::Held(claimed) => claimed,
        ClaimAnswer::Answered(answered) => panic!("{key}: {:?}", answered.settled.outcome),
    }
}

async fn outcome(host: &Leasehold, key: &str) -> Outcome {
    match host.claim(keyed(key)).await.unwrap() {
        ClaimAnswer::Held(claimed) => panic!("{key} was to be had: {claimed:?}"),
        ClaimAnswer::Answered(answered) => answered.settled.outcome,
    }
}

async fn now(host: &Leasehold) -> u64 {
    host.store().clock().await.unwrap()
}

/// Announces version 2, as early as may be; gives its instant.
async fn announce(host: &Leasehold) -> u64 {
    let keyring = host.keyring().unwrap();
    let active_from = now(host).await + u64::try_from(rotation_notice(WRITE_TIMEOUT).as_millis()).unwrap() + 200;
    keyring.rotate(host.store(), 2, active_from).await.unwrap();
    active_from
}

const BOTH: &[(u32, char)] = &[(1, 'a'), (2, 'b')];

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_change_at_one_instant_of_the_stores_clock_and_never_make_two_records() {
    let bed = Bed::new();
    // Version 2 is there on both, and not announced: the store was begun with 1.
    drop(host(&bed, &[(1, 'a')]).await);
    let (a, b) = (host(&bed, BOTH).await, host(&bed, BOTH).await);
    let old = held(&a, "old").await;
    assert!(old.scope().as_str().starts_with("d1:pay:"), "{}", old.scope());

    // A announces; B has not been told and finds out by itself.
    let instant = announce(&a).await;
    assert!(held(&b, "before").await.scope().as_str().starts_with("d1:"));
    clock_reaches(a.store(), instant - 250).await;
    match outcome(&b, "in the closed window").await {
        Outcome::RetryLater(at) => assert_eq!(at, instant),
        other => panic!("{other:?}"),
    }
    // A row that is there is decided in the window, too.
    assert!(matches!(outcome(&b, "old").await, Outcome::InProgress(_)));
    clock_reaches(a.store(), instant).await;
    for host in [&b, &a] {
        assert!(matches!(outcome(host, "old").await, Outcome::InProgress(_)), "decided in place");
        assert!(matches!(outcome(host, "before").await, Outcome::InProgress(_)), "decided in place");
    }
    let new = held(&b, "in the closed window").await;
    assert!(new.scope().as_str().starts_with("d2:"), "{}", new.scope());
    assert!(matches!(outcome(&a, "in the closed window").await, Outcome::InProgress(_)));
    a.ready().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_that_race_through_a_rotation_have_one_effect() {
    let bed = Bed::new();
    drop(host(&bed, &[(1, 'a')]).await);
    let hosts = [host(&bed, BOTH).await, host(&bed, BOTH).await];
    let instant = announce(&hosts[0]).await;
    let effects = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let callers: Vec<_> = (0..20)
        .map(|number| {
            let (host, effects) = (hosts[number % 2].clone(), Arc::clone(&effects));
            tokio::spawn(async move {
                // One key for each pair of callers, from before the window until behind the instant.
                let key = format!("key-{}", number / 2);
                until("a replay behind the instant", || async {
                    let (effects, key) = (Arc::clone(&effects), key.clone());
                    let execution = host
                        .execute(keyed(&key), |_| async move {
                            effects.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                            End::Success(Vec::new())
                        })
                        .await
                        .unwrap();
                    let replayed = match execution {
                        Execution::Executed { .. } => false,
                        Execution::Answered(answered) => matches!(answered.settled.outcome, Outcome::CompletedReplay(_)),
                    };
                    (replayed && host.store().clock().await.unwrap() > instant + 100).then_some(())
                })
                .await;
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(effects.load(std::sync::atomic::Ordering::SeqCst), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_row_of_an_old_version_is_decided_in_place_while_it_exists() {
    let bed = Bed::new();
    let short = Settings { replay_retention: 150, ..settings(150) };
    drop(try_host(&bed, secrets(&[(1, 'a')]), short).await.unwrap());
    let a = try_host(&bed, secrets(BOTH), short).await.unwrap();
    let scope = held(&a, "x").await;
    let old = scope.scope().clone();
    scope.fail("FAILED").await.unwrap();
    a.execute(keyed("x"), |_| async { End::Success(Vec::new()) }).await.unwrap();
    let instant = announce(&a).await;
    clock_reaches(a.store(), instant).await;
    let before = a.store().read(Family::Idempotency, old.as_str()).await.unwrap().stored.unwrap().row;
    assert!(before.expires_at.unwrap() < instant, "it has expired by now");
    let reborn = held(&a, "x").await;
    assert_eq!((reborn.scope(), reborn.attempt()), (&old, 1));
    let after = a.store().read(Family::Idempotency, old.as_str()).await.unwrap().stored.unwrap().row;
    assert_eq!(after.revision, before.revision + 1);
    assert_eq!(bed.count("SELECT COUNT(*) FROM leasehold_idempotency").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_a_version_that_the_store_knows_is_not_ready_and_says_which() {
    let bed = Bed::new();
    let poor = host(&bed, &[(1, 'a')]).await;
    let rich = host(&bed, BOTH).await;
    poor.ready().await.unwrap();
    let instant = announce(&rich).await;
    let error = poor.ready().await.unwrap_err();
    assert!(matches!(error, KeyringError::Unknown(2)) && error.to_string().contains("LEASEHOLD_SECRET_2"), "{error}");
    // Until the instant it can still serve; from then on it cannot know where a record is.
    clock_reaches(rich.store(), instant).await;
    let error = poor.claim(keyed("x")).await.unwrap_err().to_string();
    assert!(error.contains("LEASEHOLD_SECRET_2"), "{error}");
    assert!(held(&rich, "x").await.scope().as_str().starts_with("d2:"));
    let error = try_host(&bed, secrets(&[(1, 'a')]), settings(30_000)).await.unwrap_err().to_string();
    assert!(error.contains("LEASEHOLD_SECRET_2"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_secret_under_the_same_version_is_refused() {
    let bed = Bed::new();
    drop(host(&bed, &[(1, 'a')]).await);
    let error = try_host(&bed, secrets(&[(1, 'c')]), settings(30_000)).await.unwrap_err().to_string();
    assert!(error.contains("LEASEHOLD_SECRET_1") && error.contains("not the secret"), "{error}");
    assert!(!error.contains("cccc"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_that_comes_too_soon_or_goes_back_is_refused_with_what_to_write() {
    let bed = Bed::new();
    let host = host(&bed, BOTH).await;
    let keyring = host.keyring().unwrap();
    // Begun with 2: it is the newest.
    let later = now(&host).await + 3_600_000;
    let told = |error: KeyringError| error.to_string();
    assert!(told(keyring.rotate(host.store(), 2, later).await.unwrap_err()).contains("not past the newest one, 2"));
    assert!(told(keyring.rotate(host.store(), 1, later).await.unwrap_err()).contains("not past the newest one, 2"));
    assert!(told(keyring.rotate(host.store(), 3, later).await.unwrap_err()).contains("LEASEHOLD_SECRET_3"));
    let third = try_host(&bed, secrets(&[(1, 'a'), (2, 'b'), (3, 'c')]), settings(30_000)).await.unwrap();
    let keyring = third.keyring().unwrap();
    for soon in [0, now(&third).await, now(&third).await + 300] {
        let error = told(keyring.rotate(third.store(), 3, soon).await.unwrap_err());
        assert!(error.contains("ahead on the store's clock"), "{error}");
        // What it names is taken, after a moment's delay, too.
    }
    keyring.rotate(third.store(), 3, later).await.unwrap();
}

/// Only the store's clock counts: no host asks its own for the time of day.
#[test]
fn no_host_module_reads_the_hosts_own_time_of_day() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/rust/src");
    let mut folders: Vec<_> = ["component", "store", "executor", "keyring"].iter().map(|folder| sources.join(folder)).collect();
    let mut files: Vec<_> =
        ["catalogue.rs", "cycle.rs", "host.rs", "ids.rs", "decide.rs"].iter().map(|file| sources.join(file)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(files.len() > 20, "{}", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("SystemTime"), "{}", file.display());
    }
}

/// Principals do not meet: case 29. And another payload under one key is said to be so.
#[tokio::test(flavor = "multi_thread")]
async fn case_29_one_key_of_two_principals_is_two_records() {
    let bed = Bed::new();
    let mut parts = parts(Arc::new(bed.store().await), None, settings(30_000));
    parts.secrets = Some(secrets(&[(1, 'a')]));
    let host = host_of(parts).await;
    let first = held(&host, "k").await;
    let change = |change: fn(&mut KeyedRequest)| {
        let mut request = keyed("k");
        if let Key::Keyed(keyed) = &mut request.key {
            change(keyed);
        }
        request
    };
    let ClaimAnswer::Held(other) = host.claim(change(|keyed| keyed.principal = b"another".to_vec())).await.unwrap() else {
        panic!("an answer crosses")
    };
    assert_ne!(first.scope(), other.scope());
    let payload = change(|keyed| keyed.payload.body = b"{\"amount\":2}".as_slice().into());
    let ClaimAnswer::Answered(answered) = host.claim(payload).await.unwrap() else { panic!("held") };
    assert_eq!(answered.settled.outcome, Outcome::FingerprintMismatch);
    let error = host.claim(change(|keyed| keyed.operation_code = "No Code".to_owned())).await.unwrap_err().to_string();
    assert!(error.contains("a-z 0-9"), "{error}");
}
