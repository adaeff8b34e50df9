//! What the child processes of these tests do: this executable again, with a job in its environment.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use leasehold::executor::transaction::{ActionFuture, TransactionExecution};
use leasehold::store::sql::SqlHandle;
use leasehold::store::sqlite::{Migrate, SqliteStore};
use leasehold::{ClaimError, End, Execution, Leasehold};
use leasehold_tests::hosts::{Ledger, component};
use leasehold_tests::hosts::{catalogue, charge, faulty_on, host_in, request, settings, store_file, store_in, until};
use leasehold_tests::scripted::{Fault, halt};

const JOB: &str = "LEASEHOLD_TEST_JOB";
const FOLDER: &str = "LEASEHOLD_TEST_FOLDER";
/// Long enough that no heartbeat comes between two operations that are counted, short enough to be waited for. Milliseconds.
pub const LEASE: u64 = 1_500;
/// The one key that all children want.
pub const KEY: &str = "the one key";

/// A child with a job, in a folder.
pub fn spawn(job: &str, folder: &Path) -> Child {
    command(&std::env::current_exe().expect("this executable"), job, folder).spawn().expect("a child starts")
}

/// How a child is started.
pub fn command(executable: &Path, job: &str, folder: &Path) -> Command {
    let mut command = Command::new(executable);
    command.args(["child::job", "--exact", "--nocapture"]).env(JOB, job).env(FOLDER, folder).stdout(Stdio::null());
    command
}

/// What children of this folder did outside the store: one line an effect.
pub fn effects(folder: &Path) -> usize {
    std::fs::read_to_string(ledger(folder)).map_or(0, |text| text.lines().count())
}

fn ledger(folder: &Path) -> PathBuf {
    folder.join("ledger")
}

/// The file by which a child says that its moment has come.
pub fn marker(folder: &Path) -> PathBuf {
    folder.join("marker")
}

/// The file that lets all children begin.
pub fn go(folder: &Path) -> PathBuf {
    folder.join("go")
}

fn effect(folder: &Path) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(ledger(folder)).expect("the ledger opens");
    file.write_all(b"charged\n").and_then(|()| file.sync_all()).expect("the ledger is written");
}

/// Not a test by itself: the children begin here.
#[test]
fn job() {
    let Ok(job) = std::env::var(JOB) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("a folder"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(&job, &folder));
}

async fn run(job: &str, folder: &Path) {
    let words: Vec<&str> = job.split(' ').collect();
    match words[..] {
        ["crowd", callers, name] => crowd(folder, callers.parse().expect("a number"), name).await,
        ["operation", number, when] => dies_at_operation(folder, number.parse().expect("a number"), when == "after").await,
        ["action", when] => dies_in_action(folder, when).await,
        ["transaction", when] => dies_in_transaction(folder, when).await,
        ["open"] => opens(folder).await,
        ["memory"] => super::agreement::decide_without_growing(),
        _ => panic!("no such job: {job}"),
    }
}

async fn act(host: &Leasehold, folder: &Path) -> Result<Execution, leasehold::ExecuteError> {
    let folder = folder.to_owned();
    host.execute(request(KEY), |_| async move {
        effect(&folder);
        // Long enough that the others find it under way.
        tokio::time::sleep(Duration::from_millis(20)).await;
        End::Success(b"done".to_vec())
    })
    .await
}

/// Many callers at once with one key; says what each of them got.
async fn crowd(folder: &Path, callers: usize, name: &str) {
    let host = host_in(folder, settings(30_000)).await;
    std::fs::write(folder.join(format!("{name}.ready")), b"").expect("ready");
    until("all are there", || async { go(folder).exists().then_some(()) }).await;
    let calls: Vec<_> = (0..callers)
        .map(|_| {
            let (host, folder) = (host.clone(), folder.to_owned());
            tokio::spawn(async move {
                match act(&host, &folder).await {
                    Ok(Execution::Executed { .. }) => "executed".to_owned(),
                    Ok(Execution::Answered(answered)) => answered.settled.outcome.kind().to_owned(),
                    Err(error) => format!("error: {error}"),
                }
            })
        })
        .collect();
    let mut got = String::new();
    for call in calls {
        got += &call.await.expect("no panic");
        got += "\n";
    }
    let draft = folder.join(format!("{name}.draft"));
    std::fs::write(&draft, got).and_then(|()| std::fs::rename(draft, folder.join(format!("{name}.got")))).expect("told");
}

async fn dies_at_operation(folder: &Path, number: u64, after: bool) {
    let marker = marker(folder);
    let (host, _) = faulty_on(SqlHandle::Sqlite(store_in(folder).await), settings(LEASE), move |operation| {
        let marker = marker.clone();
        (operation.number == number).then(|| if after { Fault::HaltAfter(marker) } else { Fault::HaltBefore(marker) })
    })
    .await;
    let ended = act(&host, folder).await;
    panic!("it should have been killed by now: {ended:?}");
}

async fn dies_in_action(folder: &Path, when: &str) {
    let host = host_in(folder, settings(LEASE)).await;
    let (inside, before) = (folder.to_owned(), when == "before");
    let ended = host
        .execute(request(KEY), move |_| async move {
            if !before {
                effect(&inside);
            }
            halt(marker(&inside)).await
        })
        .await;
    panic!("it should have been killed by now: {ended:?}");
}

/// An action whose effect is a row of the same file.
pub fn insert_effect(connection: &mut sqlx::SqliteConnection) -> ActionFuture<'_> {
    Box::pin(async move {
        let done = sqlx::query("INSERT INTO effect (what) VALUES ('charged')").execute(connection).await;
        done.map(|_| b"done".to_vec()).map_err(|error| error.to_string())
    })
}

async fn dies_in_transaction(folder: &Path, when: &str) {
    let host = host_in(folder, settings(LEASE)).await;
    let (inside, before) = (folder.to_owned(), when == "before");
    let ended = host
        .execute_in_transaction(request(KEY), move |connection| {
            Box::pin(async move {
                if !before {
                    insert_effect(connection).await?;
                }
                halt(marker(&inside)).await
            })
        })
        .await;
    panic!("it should have been killed by now: {:?}", ended.map(|ended| matches!(ended, TransactionExecution::Committed { .. })));
}

/// Opens a store, claims in it, and says what came of it.
async fn opens(folder: &Path) {
    let told = match SqliteStore::open(&store_file(folder), catalogue(), Migrate::Allowed).await {
        Err(error) => format!("open: {error}"),
        Ok(store) => {
            let parts = leasehold_tests::hosts::parts(Arc::new(store), None, settings(30_000));
            let host = Leasehold::from_parts(parts).await.expect("a host");
            match charge(&host, &Ledger::new(), KEY).await {
                Ok(execution) => format!("executed: {execution:?}"),
                Err(leasehold::ExecuteError::Claim(ClaimError::Cycle(error))) => format!("claim: {error}"),
                Err(error) => format!("other: {error}"),
            }
        }
    };
    drop(component());
    eprintln!("{told}");
}
