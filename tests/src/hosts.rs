//! Hosts on files of their own, what their actions did, and waiting for conditions.
//!
//! The component is loaded once a process. Files lie in memory where the system has such a folder, so that hundreds of cycles cost
//! no disk. Used by `tests/tests/host/`, and by those that put a bridge in front of a host.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use leasehold::catalogue::Catalogue;
use leasehold::component::{CodeCache, Component};
use leasehold::decide::Decide;
use leasehold::host::Parts;
use leasehold::store::sql::SqlHandle;
use leasehold::store::sqlite::{Migrate, SqliteStore};
use leasehold::store::{Store, StoredRow};
use leasehold::{
    Answered, ClaimAnswer, ClaimRequest, Claimed, End, ExecuteError, Execution, Family, Key, Leasehold, Scope, Secrets, Settings,
};
use leasehold_decision::statements::Dialect;
use tempfile::TempDir;

use crate::scripted::{Fault, Operation, Scripted};

/// How long a condition is waited for before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(3);

/// Compiled code of all test processes of this user.
#[must_use]
pub fn code_cache() -> CodeCache {
    CodeCache::Folder(std::env::temp_dir().join("leasehold-tests-code"))
}

/// The component that ships.
#[must_use]
pub fn component() -> Arc<Component> {
    static LOADED: OnceLock<Arc<Component>> = OnceLock::new();
    Arc::clone(LOADED.get_or_init(|| Arc::new(Component::built_in(&code_cache()).expect("the component loads"))))
}

/// Its statements for SQLite.
#[must_use]
pub fn catalogue() -> Arc<Catalogue> {
    static READ: OnceLock<Arc<Catalogue>> = OnceLock::new();
    Arc::clone(READ.get_or_init(|| catalogue_of(Dialect::Sqlite)))
}

/// Its statements for a dialect.
#[must_use]
pub fn catalogue_of(dialect: Dialect) -> Arc<Catalogue> {
    Arc::new(Catalogue::read(&component(), dialect).expect("it has a catalogue"))
}

/// A folder for a store; in memory where the system has such a place: nothing that a test holds depends on the disk.
///
/// # Panics
/// There is none to be had.
#[must_use]
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder for a test")
}

/// A folder with one store.
pub struct Bed {
    folder: TempDir,
}

impl Default for Bed {
    fn default() -> Self {
        Self::new()
    }
}

impl Bed {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self { folder: folder() }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The store's file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        store_file(self.folder())
    }

    /// The store, opened anew.
    pub async fn store(&self) -> SqliteStore {
        store_in(self.folder()).await
    }

    /// A host.
    pub async fn host(&self, settings: Settings) -> Leasehold {
        host_in(self.folder(), settings).await
    }

    /// A host whose store goes wrong as the script says.
    pub async fn faulty(
        &self,
        settings: Settings,
        script: impl Fn(&Operation) -> Option<Fault> + Send + Sync + 'static,
    ) -> (Leasehold, Arc<Scripted>) {
        faulty_on(SqlHandle::Sqlite(self.store().await), settings, script).await
    }

    /// Executes statements on the file, past all hosts.
    pub async fn sql(&self, text: &str) -> u64 {
        sql_on(&self.file(), text).await
    }

    /// The one number that a query gives.
    pub async fn count(&self, query: &str) -> i64 {
        use sqlx::Connection as _;
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(self.file());
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.expect("the file opens");
        let counted = sqlx::query_scalar(sqlx::AssertSqlSafe(query.to_owned())).fetch_one(&mut connection).await;
        counted.unwrap_or_else(|error| panic!("{error}: {query}"))
    }
}

/// The store's file in a folder.
#[must_use]
pub fn store_file(folder: &Path) -> PathBuf {
    folder.join("leasehold.db")
}

/// Executes statements on a file, past all hosts, and gives the rows changed.
pub async fn sql_on(file: &Path, text: &str) -> u64 {
    use sqlx::Connection as _;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).create_if_missing(true).busy_timeout(PATIENCE);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.expect("the file opens");
    let done = sqlx::raw_sql(sqlx::AssertSqlSafe(text.to_owned())).execute(&mut connection).await;
    done.unwrap_or_else(|error| panic!("{error}: {text}")).rows_affected()
}

/// The store in a folder.
pub async fn store_in(folder: &Path) -> SqliteStore {
    SqliteStore::open(&store_file(folder), catalogue(), Migrate::Allowed).await.unwrap_or_else(|error| panic!("{error}"))
}

/// A host on the store in a folder.
pub async fn host_in(folder: &Path, settings: Settings) -> Leasehold {
    let store = store_in(folder).await;
    host_of(parts(Arc::new(store.clone()), Some(SqlHandle::Sqlite(store)), settings)).await
}

/// A host whose store goes wrong as the script says.
pub async fn faulty_on(
    store: SqlHandle,
    settings: Settings,
    script: impl Fn(&Operation) -> Option<Fault> + Send + Sync + 'static,
) -> (Leasehold, Arc<Scripted>) {
    let armed = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let arm = Arc::clone(&armed);
    let first = std::sync::atomic::AtomicU64::new(0);
    // What happens while the host is put together is not counted.
    let faulty = Scripted::new(store.store(), move |operation| {
        if !armed.load(std::sync::atomic::Ordering::SeqCst) {
            first.store(operation.number, std::sync::atomic::Ordering::SeqCst);
            return None;
        }
        let number = operation.number - first.load(std::sync::atomic::Ordering::SeqCst);
        script(&Operation { number, ..*operation })
    });
    let host = host_of(parts(Arc::clone(&faulty) as Arc<dyn Store>, Some(store), settings)).await;
    arm.store(true, std::sync::atomic::Ordering::SeqCst);
    (host, faulty)
}

/// The parts of a host without secrets, whose families all have these settings.
#[must_use]
pub fn parts(store: Arc<dyn Store>, sql: Option<SqlHandle>, settings: Settings) -> Parts {
    Parts {
        component: component(),
        decide: component() as Arc<dyn Decide>,
        store,
        sql,
        secrets: None,
        settings: Family::ALL.into_iter().map(|family| (family, settings)).collect(),
        write_timeout: Duration::from_secs(10),
    }
}

/// Puts a host together.
pub async fn host_of(parts: Parts) -> Leasehold {
    Leasehold::from_parts(parts).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Settings with that lease; everything is kept for an hour. Milliseconds.
#[must_use]
pub fn settings(lease: u64) -> Settings {
    Settings {
        revision: 1,
        lease,
        attempt_limit: 100,
        backoff_base: 0,
        backoff_cap: 0,
        replay_retention: 3_600_000,
        failure_retention: 3_600_000,
    }
}

/// Secrets by version, each made of one digit.
#[must_use]
pub fn secrets(versions: &[(u32, char)]) -> Secrets {
    let variable = |(version, digit): &(u32, char)| (format!("LEASEHOLD_SECRET_{version}"), digit.to_string().repeat(64));
    Secrets::from_variables(versions.iter().map(variable)).expect("hex").expect("some")
}

/// A scope.
#[must_use]
pub fn scope(text: &str) -> Scope {
    Scope::new(text).expect("a scope")
}

/// A claim on an idempotency scope.
#[must_use]
pub fn request(text: &str) -> ClaimRequest {
    ClaimRequest::new(Family::Idempotency, Key::Scope { scope: scope(text), fingerprint: None })
}

/// Claims, and must get the record.
pub async fn hold(host: &Leasehold, text: &str) -> Claimed {
    match host.claim(request(text)).await.unwrap_or_else(|error| panic!("{error}")) {
        ClaimAnswer::Held(claimed) => claimed,
        ClaimAnswer::Answered(answered) => panic!("{text} is not to be had: {:?}", answered.settled.outcome),
    }
}

/// Claims, and must not get the record.
pub async fn ask(host: &Leasehold, text: &str) -> Answered {
    match host.claim(request(text)).await.unwrap_or_else(|error| panic!("{error}")) {
        ClaimAnswer::Held(claimed) => panic!("{text} was to be had: {claimed:?}"),
        ClaimAnswer::Answered(answered) => answered,
    }
}

/// The record.
pub async fn row(host: &Leasehold, text: &str) -> Option<StoredRow> {
    host.store().read(Family::Idempotency, text).await.unwrap_or_else(|error| panic!("{error}")).stored
}

/// What happened outside the store: how often each action had its effect.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<HashMap<String, u64>>);

impl Ledger {
    /// An empty one.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// An effect happens.
    ///
    /// # Panics
    /// Another thread panicked while it wrote.
    pub fn charge(&self, what: &str) {
        *self.0.lock().expect("no panic in here").entry(what.to_owned()).or_default() += 1;
    }

    /// How often it happened.
    ///
    /// # Panics
    /// Another thread panicked while it wrote.
    #[must_use]
    pub fn times(&self, what: &str) -> u64 {
        self.0.lock().expect("no panic in here").get(what).copied().unwrap_or(0)
    }
}

/// Executes: the effect is one line in the ledger, the result is `done`.
///
/// # Errors
/// As [`Leasehold::execute`].
pub async fn charge(host: &Leasehold, ledger: &Arc<Ledger>, text: &str) -> Result<Execution, ExecuteError> {
    let (ledger, what) = (Arc::clone(ledger), text.to_owned());
    host.execute(request(text), |_| async move {
        ledger.charge(&what);
        End::Success(b"done".to_vec())
    })
    .await
}

/// Looks again and again until there is something.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Until the store's clock has reached an instant.
pub async fn clock_reaches(store: &dyn Store, at: u64) {
    until("the store's clock goes on", || async { (store.clock().await.expect("the clock answers") >= at).then_some(()) }).await;
}

/// Until the lease of the record is over; gives the record.
pub async fn lease_over(host: &Leasehold, text: &str) -> StoredRow {
    until("the lease ends", || async {
        let reading = host.store().read(Family::Idempotency, text).await.unwrap_or_else(|error| panic!("{error}"));
        reading.stored.filter(|stored| stored.row.lease_until.is_none_or(|at| at <= reading.now))
    })
    .await
}
