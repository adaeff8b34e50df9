//! Several processes on one file, and two builds with different settings on it at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use leasehold::{ClaimAnswer, End, Execution, Outcome, Settings, Settlement, State};
use leasehold_tests::hosts::{Bed, Ledger, ask, charge, hold, lease_over, request, row, settings, until};

use super::child::{command, effects, go};

const PROCESSES: usize = 4;
const CALLERS: usize = 250;

/// With four time zones between them: case 20.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_thousand_first_requests_over_four_processes_one_has_its_effect() {
    let bed = Bed::new();
    let executable = std::env::current_exe().unwrap();
    let mut children: Vec<_> = ["UTC", "Pacific/Kiritimati", "America/St_Johns", "XXX+12:34:56"]
        .into_iter()
        .take(PROCESSES)
        .enumerate()
        .map(|(number, zone)| {
            let job = format!("crowd {CALLERS} {number}");
            command(&executable, &job, bed.folder()).env("TZ", zone).spawn().unwrap()
        })
        .collect();
    let there = |ending: &str, number: usize| bed.folder().join(format!("{number}.{ending}")).exists();
    until("all are ready", || async { (0..PROCESSES).all(|number| there("ready", number)).then_some(()) }).await;
    std::fs::write(go(bed.folder()), b"").unwrap();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let mut got = BTreeMap::new();
    for number in 0..PROCESSES {
        for line in std::fs::read_to_string(bed.folder().join(format!("{number}.got"))).unwrap().lines() {
            *got.entry(line.to_owned()).or_insert(0) += 1;
        }
    }
    assert_eq!(got.values().sum::<usize>(), PROCESSES * CALLERS);
    assert_eq!((got.remove("executed"), effects(bed.folder())), (Some(1), 1), "{got:?}");
    got.remove("in-progress");
    got.remove("completed-replay");
    assert!(got.is_empty(), "{got:?}");
}

/// The old build allows two tries and holds for long, the new one a hundred and holds for short.
fn builds() -> [Settings; 2] {
    let old = Settings { revision: 1, attempt_limit: 2, ..settings(600) };
    [old, Settings { revision: 2, attempt_limit: 100, ..settings(200) }]
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_rolling_upgrade_the_limit_of_a_record_under_way_stays_what_it_was() {
    let bed = Bed::new();
    let [old, new] = builds();
    let (old, new) = (bed.host(old).await, bed.host(new).await);
    hold(&old, "x").await.fail("FAILED").await.unwrap();
    assert_eq!((row(&new, "x").await.unwrap().row.attempt_limit, row(&new, "x").await.unwrap().row.policy_revision), (2, 1));
    let taken = hold(&new, "x").await;
    assert_eq!((row(&old, "x").await.unwrap().row.attempt_limit, row(&old, "x").await.unwrap().row.policy_revision), (2, 2));
    taken.fail("FAILED").await.unwrap();
    for host in [&new, &old] {
        assert!(matches!(ask(host, "x").await.settled.outcome, Outcome::RecoveryRequired(_)));
    }
    // And the other way round.
    hold(&new, "y").await.fail("FAILED").await.unwrap();
    for host in [&old, &old, &old, &new] {
        hold(host, "y").await.fail("FAILED").await.unwrap();
    }
    assert_eq!(row(&old, "y").await.unwrap().row.state, State::FailedRetryable);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_rolling_upgrade_records_in_flight_end_where_they_began_or_are_taken_over() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let [old, new] = builds();
    let (old, new) = (bed.host(old).await, bed.host(new).await);
    // Executing on the old one while the new one asks: its lease is the old one's, renewed by the old one.
    let started = hold(&old, "long").await.start().await.unwrap();
    let first = row(&new, "long").await.unwrap().row.lease_until.unwrap();
    until("the old one renews", || async {
        (row(&new, "long").await.unwrap().row.lease_until.unwrap() > first + 600).then_some(())
    })
    .await;
    assert!(matches!(ask(&new, "long").await.settled.outcome, Outcome::InProgress(_)));
    let settlement = started.settle(End::Success(b"of the old".to_vec()), Duration::from_secs(60)).await;
    assert!(matches!(settlement, Settlement::Stored { state: State::Completed, .. }));
    assert_eq!(ask(&new, "long").await.settled.before.unwrap().response.as_deref(), Some(&b"of the old"[..]));
    // Claimed by the old one, which is gone.
    drop(hold(&old, "gone").await);
    lease_over(&new, "gone").await;
    assert!(matches!(charge(&new, &ledger, "gone").await.unwrap(), Execution::Executed { .. }));
    // Both at once, many records.
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let (host, ledger) = ([&old, &new][number % 2].clone(), Arc::clone(&ledger));
            tokio::spawn(async move { charge(&host, &ledger, &format!("record-{}", number / 2)).await.map(|_| ()) })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    for number in 0..100 {
        assert_eq!(ledger.times(&format!("record-{number}")), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_whose_codec_a_build_does_not_read_is_said_to_be_so() {
    let bed = Bed::new();
    let [old, new] = builds();
    let (old, new) = (bed.host(old).await, bed.host(new).await);
    let with = |codec: &str, readable: &[&str]| {
        let mut call = request("x");
        (call.codec, call.readable_codecs) = (Some(codec.to_owned()), readable.iter().map(|&codec| codec.to_owned()).collect());
        call
    };
    let done = new.execute(with("http-2", &["http-1", "http-2"]), |_| async { End::Success(b"new".to_vec()) }).await.unwrap();
    assert!(matches!(done, Execution::Executed { .. }));
    let ClaimAnswer::Answered(answered) = old.claim(with("http-1", &["http-1"])).await.unwrap() else { panic!("held") };
    assert_eq!(answered.settled.outcome, Outcome::CodecUnreadable);
    assert_eq!(answered.settled.before.unwrap().row.codec.as_deref(), Some("http-2"));
}
