//! The host itself: a component, a store, secrets and settings, put together once.
//!
//! Tests: `tests/tests/host/`, one topic a file: `main.rs`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use leasehold_decision::{Family, Settings};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::catalogue::{Catalogue, CatalogueError};
use crate::component::{CallError, CodeCache, Component, LoadError};
use crate::cycle::{Cycle, WRITE_TIMEOUT};
use crate::decide::Decide;
use crate::keyring::{Keyring, KeyringError, Made, SecretError, Secrets};
use crate::metrics::Counts;
use crate::store::mysql::MySqlStore;
use crate::store::postgres::PostgresStore;
use crate::store::sql::{COMMAND_TIMEOUT_MAX_DEFAULT, Migrate, OpenError, SqlHandle, command_timeout};
use crate::store::sqlite::{SqliteStore, Tuning};
use crate::store::{Store, StoreUrl};

/// Why a host could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The component cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The component failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Its catalogue cannot be used.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A store that several hosts use, and no secret that they could share.
    #[error(
        "a store that several hosts share needs a secret that they share, too: set LEASEHOLD_SECRET_1 to 32 bytes or more in hex, the same on \
         every host (`openssl rand -hex 32` makes one), or name a file with LEASEHOLD_SECRETS_FILE"
    )]
    SharedStoreWithoutSecret,
    /// The store cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The secrets cannot be used.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The secrets cannot be had.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// Settings cannot be used.
    #[error("{family}: {what}")]
    Settings {
        /// Of which family.
        family: &'static str,
        /// What to change.
        what: String,
    },
}

/// Where secrets come from.
#[derive(Clone, Debug)]
pub enum SecretSource {
    /// These.
    Given(Secrets),
    /// A file beside the store's, made where it is absent.
    BesideStore,
    /// Nowhere: scopes are the caller's own.
    None,
}

/// What a host is put together from.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Which store.
    pub store: StoreUrl,
    /// May it be laid out?
    pub migrate: Migrate,
    /// Where compiled code is kept.
    pub code_cache: CodeCache,
    /// Where secrets come from.
    pub secrets: SecretSource,
    /// Settings that replace those that ship.
    pub settings: HashMap<Family, Settings>,
    /// How long a statement may wait for another process's lock: shorter than every lease. `None`: as
    /// [`crate::store::sql::command_timeout`] says for the shortest one.
    pub command_timeout: Option<Duration>,
}

impl HostOptions {
    /// For a store, with everything else as it ships: laid out where needed, secrets beside the file.
    #[must_use]
    pub fn new(store: StoreUrl) -> Self {
        Self {
            store,
            migrate: Migrate::Allowed,
            code_cache: CodeCache::default(),
            secrets: SecretSource::BesideStore,
            settings: HashMap::new(),
            command_timeout: None,
        }
    }
}

/// The file of secrets beside a store's file.
#[must_use]
pub fn secrets_beside(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".secret");
    PathBuf::from(name)
}

/// A host: clone it freely, all clones are one.
#[derive(Clone)]
pub struct Leasehold {
    pub(crate) inner: Arc<Inner>,
}

impl std::fmt::Debug for Leasehold {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Leasehold").field("store", &self.inner.cycle.store.provider()).finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    pub(crate) cycle: Cycle,
    pub(crate) component: Arc<Component>,
    pub(crate) sql: Option<SqlHandle>,
    pub(crate) keyring: Option<Arc<Keyring>>,
    pub(crate) settings: HashMap<Family, Settings>,
    pub(crate) tasks: TaskTracker,
    pub(crate) closing: CancellationToken,
    pub(crate) counts: Counts,
}

/// The parts, for those who bring a store or a decider of their own.
pub struct Parts {
    /// The component: statements, keys, the rules of the bridge.
    pub component: Arc<Component>,
    /// Who decides.
    pub decide: Arc<dyn Decide>,
    /// The store.
    pub store: Arc<dyn Store>,
    /// The same store, where it is a SQL one: for `execute_in_transaction`.
    pub sql: Option<SqlHandle>,
    /// Secrets, where scopes are made from keys.
    pub secrets: Option<Secrets>,
    /// Settings that replace those that ship.
    pub settings: HashMap<Family, Settings>,
    /// Past this after its clock reading, an insert changes nothing any more.
    pub write_timeout: Duration,
}

impl Leasehold {
    /// Puts a host together, and checks what can be checked before the first request.
    ///
    /// # Errors
    /// Something cannot be used: the message says what to change.
    pub async fn open(options: HostOptions) -> Result<Self, HostError> {
        let code_cache = options.code_cache.clone();
        let component = tokio::task::spawn_blocking(move || Component::built_in(&code_cache))
            .await
            .map_err(|error| LoadError::Engine(error.to_string()))??;
        let component = Arc::new(component);
        let catalogue = Arc::new(Catalogue::read(&component, options.store.dialect())?);
        let settings = all_settings(&component, &options.settings)?;
        let timeout = command_timeout_for(&settings, options.command_timeout)?;
        let beside = match (&options.secrets, &options.store) {
            (SecretSource::BesideStore, StoreUrl::Sqlite(path)) => Some(secrets_beside(path)),
            (SecretSource::BesideStore, StoreUrl::Postgres(_) | StoreUrl::Mysql(_)) => {
                return Err(HostError::SharedStoreWithoutSecret);
            }
            (SecretSource::Given(_) | SecretSource::None, _) => None,
        };
        let sql = open_store(&options.store, catalogue, options.migrate, timeout).await?;
        let store = sql.store();
        let secrets = match (options.secrets, beside) {
            (SecretSource::Given(secrets), _) => Some(secrets),
            (_, Some(file)) => Some(secrets_in(&file, store.as_ref()).await?),
            (_, None) => None,
        };
        let parts = Parts {
            decide: Arc::clone(&component) as Arc<dyn Decide>,
            component,
            store,
            sql: Some(sql),
            secrets,
            settings,
            write_timeout: WRITE_TIMEOUT,
        };
        Self::from_parts(parts).await
    }

    /// Puts a host together from parts.
    ///
    /// # Errors
    /// The secrets or the settings cannot be used, or the store's clock does not answer.
    pub async fn from_parts(parts: Parts) -> Result<Self, HostError> {
        parts.store.clock().await.map_err(KeyringError::Store)?;
        let keyring = match parts.secrets {
            Some(secrets) => {
                let component = Arc::clone(&parts.component);
                Some(Arc::new(Keyring::open(component, parts.store.as_ref(), secrets, parts.write_timeout).await?))
            }
            None => None,
        };
        let settings = all_settings(&parts.component, &parts.settings)?;
        let cycle = Cycle { decide: parts.decide, store: parts.store, write_timeout: parts.write_timeout };
        Ok(Self {
            inner: Arc::new(Inner {
                cycle,
                component: parts.component,
                sql: parts.sql,
                keyring,
                settings,
                tasks: TaskTracker::new(),
                closing: CancellationToken::new(),
                counts: Counts::default(),
            }),
        })
    }

    /// The settings of a family.
    #[must_use]
    pub fn settings(&self, family: Family) -> Settings {
        // INVARIANT: from_parts fills in every family.
        self.inner.settings.get(&family).copied().unwrap_or_else(|| leasehold_decision::policy::default_settings(family))
    }

    /// The component.
    #[must_use]
    pub fn component(&self) -> &Component {
        &self.inner.component
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.inner.cycle.store.as_ref()
    }

    /// The secrets, where scopes are made from keys.
    #[must_use]
    pub fn keyring(&self) -> Option<&Keyring> {
        self.inner.keyring.as_deref()
    }

    /// How many renewals of this host found their record moved.
    #[must_use]
    pub fn leases_lost(&self) -> u64 {
        self.inner.counts.leases_lost()
    }

    /// How many ends of this host came too late and were refused, by the outcome that refused them.
    #[must_use]
    pub fn late_ends(&self) -> BTreeMap<&'static str, u64> {
        self.inner.counts.late_ends()
    }

    /// Whether this host can take requests: the store's clock answers, and every version of the secrets is known here.
    ///
    /// # Errors
    /// It cannot: why, and what to do.
    pub async fn ready(&self) -> Result<(), KeyringError> {
        self.store().clock().await?;
        if let Some(keyring) = self.keyring() {
            keyring.refresh(self.store()).await?;
            keyring.ready()?;
        }
        Ok(())
    }

    /// Waits for everything that is under way: actions, and transitions that are still to be settled. Then lets go of the store.
    /// Returns `false` where `grace` was over first; what is left then is in the recovery list once its lease is over.
    pub async fn close(&self, grace: Duration) -> bool {
        self.inner.tasks.close();
        let finished = tokio::time::timeout(grace, self.inner.tasks.wait()).await.is_ok();
        self.inner.closing.cancel();
        self.inner.cycle.store.close().await;
        finished
    }
}

/// Those of a file beside the store, which is made where neither is there yet.
async fn secrets_in(file: &Path, store: &dyn Store) -> Result<Secrets, HostError> {
    if !file.exists() && !store.secrets().await.map_err(KeyringError::Store)?.1.is_empty() {
        let why = "the store was used with secrets that were kept here, and the file is gone; restore it, or give them as LEASEHOLD_SECRET_1, ...";
        return Err(SecretError::File { path: file.to_owned(), why: why.to_owned() }.into());
    }
    let (secrets, made) = Secrets::from_file_or_new(file)?;
    if made == Made::Now {
        tracing::info!(file = %file.display(), "no secret was given: made one beside the store; keep it, the store is of no use without it");
    }
    Ok(secrets)
}

async fn open_store(
    url: &StoreUrl,
    catalogue: Arc<Catalogue>,
    migrate: Migrate,
    command_timeout: Duration,
) -> Result<SqlHandle, OpenError> {
    Ok(match url {
        StoreUrl::Sqlite(path) => {
            let tuning = Tuning { command_timeout, ..Tuning::default() };
            SqlHandle::Sqlite(SqliteStore::open_with(path, catalogue, migrate, tuning).await?)
        }
        StoreUrl::Postgres(url) => SqlHandle::Postgres(PostgresStore::connect(url, catalogue, migrate, command_timeout).await?),
        StoreUrl::Mysql(url) => SqlHandle::Mysql(MySqlStore::connect(url, catalogue, migrate, command_timeout).await?),
    })
}

/// A heartbeat renews the lease every third of it: below this, a busy moment would lose it.
pub const LEASE_MS_MIN: u64 = 100;

/// Those of every family: the given ones, and those that ship.
fn all_settings(component: &Component, given: &HashMap<Family, Settings>) -> Result<HashMap<Family, Settings>, HostError> {
    let mut settings = HashMap::new();
    for family in Family::ALL {
        let chosen = match given.get(&family) {
            Some(chosen) => *chosen,
            None => component.default_settings(family)?,
        };
        check_settings(family, &chosen)?;
        settings.insert(family, chosen);
    }
    Ok(settings)
}

/// The given one, which is refused where a lease is not longer; else the one that goes with the shortest lease.
fn command_timeout_for(settings: &HashMap<Family, Settings>, given: Option<Duration>) -> Result<Duration, HostError> {
    let leases = Family::ALL.into_iter().filter_map(|family| Some((family, settings.get(&family)?.lease)));
    let shortest = leases.min_by_key(|(_, lease)| *lease);
    let Some((family, lease)) = shortest.map(|(family, lease)| (family, Duration::from_millis(lease))) else {
        return Ok(given.unwrap_or(COMMAND_TIMEOUT_MAX_DEFAULT));
    };
    match given {
        None => Ok(command_timeout(lease)),
        Some(given) if given < lease => Ok(given),
        Some(given) => Err(HostError::Settings { family: family.name(), what: command_timeout_fault(given, lease) }),
    }
}

/// What to change where a statement may wait for as long as a lease.
pub(crate) fn command_timeout_fault(timeout: Duration, lease: Duration) -> String {
    format!(
        "a statement may wait {} ms for a lock, and a lease of {} ms would be over by then: shorten the one, or lengthen the other",
        timeout.as_millis(),
        lease.as_millis()
    )
}

fn check_settings(family: Family, settings: &Settings) -> Result<(), HostError> {
    let refused = |what: String| HostError::Settings { family: family.name(), what };
    if let Some(fault) = settings.fault() {
        return Err(refused(fault.message().to_owned()));
    }
    if settings.lease < LEASE_MS_MIN {
        return Err(refused(format!(
            "lease is {} ms: a heartbeat every third of it needs at least {LEASE_MS_MIN} ms",
            settings.lease
        )));
    }
    Ok(())
}
