//! Files that cannot be used: every refusal says what to do, and nothing is lost.

use std::collections::HashMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use leasehold::host::{HostOptions, secrets_beside};
use leasehold::store::sql::SqlHandle;
use leasehold::store::sqlite::{COMMAND_TIMEOUT_MAX_DEFAULT, Migrate, SqliteStore, Tuning, command_timeout};
use leasehold::{Digest, End, Execution, Family, Leasehold, Outcome, Settlement, State, StoreUrl};
use leasehold_tests::hosts::{
    Bed, Ledger, ask, catalogue, charge, code_cache, hold, host_of, parts, request, row, settings, store_file, until,
};
use sqlx::{Connection as _, SqliteConnection};

use super::child::command;

/// The user that owns nothing.
const NOBODY: u32 = 65_534;
const SHORT: Tuning =
    Tuning { command_timeout: Duration::from_millis(50), acquire_timeout: Duration::from_millis(500), pages_max: None };

async fn tuned(bed: &Bed, tuning: Tuning) -> Leasehold {
    let store = SqliteStore::open_with(&bed.file(), catalogue(), Migrate::Allowed, tuning).await.unwrap();
    host_of(parts(Arc::new(store.clone()), Some(SqlHandle::Sqlite(store)), settings(30_000))).await
}

async fn refused(file: &Path, migrate: Migrate, told: &[&str]) {
    let error = SqliteStore::open_with(file, catalogue(), migrate, SHORT).await.unwrap_err().to_string();
    for part in told.iter().chain([&&*file.display().to_string()]) {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_store_is_refused_and_left_as_it_is() {
    let bed = Bed::new();
    let text = "no database, but somebody's text; ".repeat(100);
    std::fs::write(bed.file(), &text).unwrap();
    refused(&bed.file(), Migrate::Allowed, &["no database of SQLite", "name another one"]).await;
    assert_eq!(std::fs::read_to_string(bed.file()).unwrap(), text);
    refused(&bed.folder().join("no-such-folder/leasehold.db"), Migrate::Allowed, &["cannot be opened", "folder exists"]).await;
    refused(bed.folder(), Migrate::Allowed, &["cannot be opened"]).await;
    let absent = bed.folder().join("absent.db");
    refused(&absent, Migrate::Refused, &[]).await;
    assert!(!absent.exists());
    std::fs::write(&absent, b"").unwrap();
    refused(&absent, Migrate::Refused, &["no layout", "leasehold migrate"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_layout_is_refused_and_left_as_it_is() {
    for (change, told) in [
        ("UPDATE leasehold_layout SET version = 7", &["layout 7", "knows layout 1"][..]),
        ("UPDATE leasehold_layout SET provider = 'postgres'", &["\"postgres\"", "name another store"]),
        ("DELETE FROM leasehold_layout", &["no layout version", "backup"]),
        ("DROP TABLE leasehold_layout", &["no layout version", "backup"]),
    ] {
        let bed = Bed::new();
        bed.store().await;
        bed.sql(change).await;
        refused(&bed.file(), Migrate::Allowed, told).await;
        refused(&bed.file(), Migrate::Refused, told).await;
        assert_eq!(bed.count("SELECT COUNT(*) FROM leasehold_idempotency").await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_tables_in_the_file_are_no_hindrance() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    bed.sql("CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (17)").await;
    let host = bed.host(settings(30_000)).await;
    assert!(matches!(charge(&host, &ledger, "x").await.unwrap(), Execution::Executed { .. }));
    assert_eq!(bed.count("SELECT id FROM orders").await, 17);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_hosts_lay_a_fresh_file_out_at_once() {
    let bed = Bed::new();
    let opening: Vec<_> = (0..12)
        .map(|_| {
            let file = bed.file();
            tokio::spawn(async move { SqliteStore::open(&file, catalogue(), Migrate::Allowed).await.map(|_| ()) })
        })
        .collect();
    for opened in opening {
        opened.await.unwrap().unwrap();
    }
    assert_eq!(bed.count("SELECT COUNT(*) FROM leasehold_layout").await, 1);
}

/// Another process in a long transaction.
async fn lock(file: &Path) -> SqliteConnection {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
    connection
}

async fn unlock(mut connection: SqliteConnection) {
    sqlx::query("ROLLBACK").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_file_starts_nothing_and_loses_no_end() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    let host = tuned(&bed, SHORT).await;
    let locked = lock(&bed.file()).await;
    // A second one starts: that the file is locked just now is no reason not to.
    let other = tuned(&bed, SHORT).await;
    let error = charge(&host, &ledger, "x").await.unwrap_err().to_string();
    assert!(error.contains("unavailable") && error.contains("lock for too long"), "{error}");
    assert_eq!((ledger.times("x"), row(&other, "x").await), (0, None));
    unlock(locked).await;
    assert!(matches!(charge(&host, &ledger, "x").await.unwrap(), Execution::Executed { .. }));

    let started = hold(&host, "y").await.start().await.unwrap();
    let locked = lock(&bed.file()).await;
    assert_eq!(started.settle(End::Success(b"done".to_vec()), Duration::from_millis(300)).await, Settlement::Pending);
    assert!(matches!(ask(&other, "y").await.settled.outcome, Outcome::InProgress(_)));
    unlock(locked).await;
    until("the end is stored", || async { row(&host, "y").await.filter(|stored| stored.row.state == State::Completed) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_file_that_stays_locked_is_refused_with_the_reason() {
    let bed = Bed::new();
    let locked = lock(&bed.file()).await;
    refused(&bed.file(), Migrate::Allowed, &["lock for too long"]).await;
    unlock(locked).await;
    tuned(&bed, SHORT).await;
}

/// The disk is full while an answer of many pages is stored; small writes still fit.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_no_answer() {
    let (bed, ledger) = (Bed::new(), Ledger::new());
    drop(bed.store().await);
    // As many pages as there are, and no more.
    let host = tuned(&bed, Tuning { pages_max: Some(1), ..SHORT }).await;
    let answer = vec![b'a'; 200_000];
    let started = hold(&host, "x").await.start().await.unwrap();
    assert_eq!(started.settle(End::Success(answer.clone()), Duration::from_millis(300)).await, Settlement::Pending);
    assert_eq!(row(&host, "x").await.unwrap().row.state, State::Executing);
    // New records fit into the pages that are there for a while; then nothing starts any more, and says why.
    let mut number = 0;
    let error = loop {
        number += 1;
        assert!(number < 1_000, "the file never fills up");
        match charge(&host, &ledger, &format!("other-{number}")).await {
            Ok(execution) => assert!(matches!(execution, Execution::Executed { .. })),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("the disk is full; make room") && error.contains("unavailable"), "{error}");
    assert_eq!(ledger.times(&format!("other-{number}")), 0);
    // Room is made: pages that are free.
    bed.sql("CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(600000)); DROP TABLE filler").await;
    let stored =
        until("the answer is stored", || async { row(&host, "x").await.filter(|stored| stored.row.state == State::Completed) })
            .await;
    assert_eq!(stored.row.result_digest.as_deref(), Some(Digest::of(&answer).as_str()));
    assert_eq!(stored.response, Some(answer));
    assert!(matches!(charge(&host, &ledger, &format!("other-{number}")).await.unwrap(), Execution::Executed { .. }));
}

/// As another user where this one may write anywhere.
fn told_by_a_child_without_rights(bed: &Bed) -> String {
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let executable = place.path().join("tests");
    let this = std::env::current_exe().unwrap();
    std::fs::hard_link(&this, &executable).or_else(|_| std::fs::copy(&this, &executable).map(|_| ())).unwrap();
    let mut child = command(&executable, "open", bed.folder());
    child.env("TMPDIR", place.path()).current_dir(place.path());
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        child.uid(NOBODY).gid(NOBODY);
    }
    let output = child.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    told
}

fn may(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_or_folder_that_cannot_be_written_is_found_out_at_the_start() {
    for (folder, file) in [(0o555, 0o444), (0o777, 0o444), (0o555, 0o666)] {
        let (bed, ledger) = (Bed::new(), Ledger::new());
        let host = bed.host(settings(30_000)).await;
        charge(&host, &ledger, "before").await.unwrap();
        host.close(Duration::from_secs(60)).await;
        drop(host);
        for beside in ["leasehold.db-wal", "leasehold.db-shm"] {
            assert!(!bed.folder().join(beside).exists(), "a closed store leaves one file");
        }
        may(&bed.file(), file);
        may(bed.folder(), folder);
        let told = told_by_a_child_without_rights(&bed);
        may(bed.folder(), 0o755);
        may(&bed.file(), 0o644);
        assert!(told.contains("open: ") && told.contains("leasehold.db"), "{folder:o} {file:o}: {told}");
        assert!(told.contains("give this user the right to write") || told.contains("this user may write there"), "{told}");
        let host = bed.host(settings(30_000)).await;
        assert!(matches!(ask(&host, "before").await.settled.outcome, Outcome::CompletedReplay(_)));
    }
}

fn options(file: &Path) -> HostOptions {
    HostOptions { code_cache: code_cache(), ..HostOptions::new(StoreUrl::Sqlite(file.to_owned())) }
}

/// A second secret was made where the first was lost: it made no record, and lay where the right one would be restored to.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_whose_secrets_are_lost_is_refused_and_no_other_secret_is_made() {
    let bed = Bed::new();
    let file = store_file(bed.folder());
    let secrets = secrets_beside(&file);
    Leasehold::open(options(&file)).await.unwrap().close(Duration::from_secs(60)).await;
    assert_eq!(std::fs::metadata(&secrets).unwrap().mode() & 0o777, 0o600);
    let kept = std::fs::read(&secrets).unwrap();
    std::fs::remove_file(&secrets).unwrap();
    let error = Leasehold::open(options(&file)).await.unwrap_err().to_string();
    assert!(error.contains(&*secrets.display().to_string()) && error.contains("restore it"), "{error}");
    assert!(!secrets.exists());
    std::fs::write(&secrets, kept).unwrap();
    may(&secrets, 0o600);
    let host = Leasehold::open(options(&file)).await.unwrap();
    host.ready().await.unwrap();
    assert!(host.claim(request("x")).await.is_ok());
}

/// A statement waited five seconds for a lock, whatever the lease: a renewal was told only when its lease was long over.
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_waits_for_a_lock_shorter_than_the_shortest_lease() {
    let bed = Bed::new();
    let with = |lease, command_timeout| {
        let settings = HashMap::from([(Family::Inbox, settings(lease))]);
        HostOptions { settings, command_timeout, ..options(&store_file(bed.folder())) }
    };
    for (lease, timeout, family) in [(400, 400, "inbox"), (400, 401, "inbox"), (60_000, 30_000, "idempotency")] {
        let error = Leasehold::open(with(lease, Some(Duration::from_millis(timeout)))).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("{family}: a statement may wait")) && error.contains("shorten the one"), "{error}");
    }
    assert!(!bed.file().exists(), "something was opened");
    drop(Leasehold::open(with(400, Some(Duration::from_millis(399)))).await.unwrap());
    let host = Leasehold::open(with(400, None)).await.unwrap();
    let lock = sqlx::sqlite::SqliteConnectOptions::new().filename(bed.file());
    let mut lock = SqliteConnection::connect_with(&lock).await.unwrap();
    let held = lock.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let begun = std::time::Instant::now();
    let error = host.claim(request("x")).await.unwrap_err().to_string();
    assert!(error.contains("held the file's lock for too long"), "{error}");
    assert!(begun.elapsed() < COMMAND_TIMEOUT_MAX_DEFAULT, "it waited as if no lease were short");
    held.rollback().await.unwrap();
    assert!(host.claim(request("x")).await.is_ok());
    for (lease, timeout) in [(100, 50), (9_999, 4_999), (10_000, 5_000), (600_000, 5_000)] {
        assert_eq!(command_timeout(Duration::from_millis(lease)).as_millis(), timeout);
    }
}
