//! Secrets and their versions: which scopes a key may have, and whether a new record may be made just now.
//!
//! The instant at which a new version takes over is kept in the store, on the store's clock; so two hosts never make two records
//! for one key. Source: section 5 of the contract. Knows no HTTP. Tests: below, and `tests/tests/host/rotation.rs`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::component::{CallError, Component};
use crate::ids::{Fingerprint, Scope};
use crate::store::{SecretVersion, Store, StoreError};

mod secrets;

pub use secrets::{Made, SECRET_BYTES_MIN, Secret, SecretError, Secrets};

/// A body up to this is hashed where it is; a larger one on a thread for such work. Bytes.
const INLINE_BODY_BYTES_MAX: usize = 32 << 10;

/// Why the secrets cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The store cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The component failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The store knows a version that this host has no secret for.
    #[error("the store knows version {0} of the secrets, and this host has none: set LEASEHOLD_SECRET_{0}")]
    Unknown(u32),
    /// This host's secret of a version is not the one that the store was used with.
    #[error(
        "LEASEHOLD_SECRET_{0} is not the secret that this store was used with under version {0}; give the same one on every host"
    )]
    Differs(u32),
    /// The operation code is malformed.
    #[error("the operation code {0:?} is not 1 to 64 of a-z 0-9 . _ -")]
    OperationCode(String),
    /// The component gave what is no scope or fingerprint.
    #[error("the component gave a malformed key: {0}")]
    Malformed(#[from] crate::ids::Malformed),
    /// Rotation was refused.
    #[error("{0}")]
    Rotation(String),
}

/// What a scope and a fingerprint are made from. Nothing of it is stored.
#[derive(Clone, Debug)]
pub struct KeyedRequest {
    /// Who asks; empty for nobody in particular.
    pub principal: Vec<u8>,
    /// 1 to 64 of `a-z 0-9 . _ -`.
    pub operation_code: String,
    /// The raw key.
    pub key: Vec<u8>,
    /// The payload.
    pub payload: Payload,
}

/// What a fingerprint is made from.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    /// The method of a request; empty elsewhere.
    pub method: Vec<u8>,
    /// Path and query as sent; empty elsewhere.
    pub target: Vec<u8>,
    /// The content type as sent.
    pub content_type: Option<Vec<u8>>,
    /// The body.
    pub body: bytes::Bytes,
}

/// In which order scopes are looked up, and whether a record may be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The versions in force, newest first; new records are made under the first.
    pub versions: Vec<u32>,
    /// A rotation is so near that no record is made before this instant. Milliseconds since the epoch.
    pub closed_until: Option<u64>,
}

/// This host's secrets, and what the store knows of versions.
pub struct Keyring {
    component: Arc<Component>,
    secrets: Secrets,
    write_timeout: Duration,
    known: RwLock<Vec<SecretVersion>>,
    last_clock: AtomicU64,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Keyring").field("known", &self.known).finish_non_exhaustive()
    }
}

impl Keyring {
    /// Compares this host's secrets with the store's versions; enters the newest one where the store knows none yet.
    ///
    /// # Errors
    /// The store cannot be asked, or a version is unknown or another secret.
    pub async fn open(
        component: Arc<Component>,
        store: &dyn Store,
        secrets: Secrets,
        write_timeout: Duration,
    ) -> Result<Self, KeyringError> {
        let keyring = Self { component, secrets, write_timeout, known: RwLock::new(Vec::new()), last_clock: AtomicU64::new(0) };
        if store.secrets().await?.1.is_empty() {
            let newest = keyring.secrets.newest();
            let check = keyring.check_value(newest)?.ok_or(KeyringError::Unknown(newest))?;
            store.first_secret(newest, &check).await?;
        }
        keyring.refresh(store).await?;
        keyring.ready()?;
        Ok(keyring)
    }

    /// A keyed hash of nothing, by which hosts find out that they mean different secrets.
    fn check_value(&self, version: u32) -> Result<Option<String>, KeyringError> {
        let Some(secret) = self.secrets.get(version) else {
            return Ok(None);
        };
        Ok(self.component.scope(version, secret.bytes(), b"", "secret-check", b"")?)
    }

    /// Reads the store's versions anew.
    ///
    /// # Errors
    /// The store cannot be asked.
    pub async fn refresh(&self, store: &dyn Store) -> Result<(), KeyringError> {
        let (now, versions) = store.secrets().await?;
        self.saw_clock(now);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = versions;
        Ok(())
    }

    /// The latest reading of the store's clock that this host has seen. Milliseconds since the epoch.
    #[must_use]
    pub fn last_clock(&self) -> u64 {
        self.last_clock.load(Ordering::Relaxed)
    }

    /// Notes a reading of the store's clock.
    pub fn saw_clock(&self, now: u64) {
        self.last_clock.store(now, Ordering::Relaxed);
    }

    fn known(&self) -> Vec<SecretVersion> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The newest version that the store was known to have.
    #[must_use]
    pub fn newest_known(&self) -> Option<u32> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).last().map(|known| known.version)
    }

    /// Whether this host has the right secret of every version that the store knows.
    ///
    /// # Errors
    /// It has not: which, and what to do.
    pub fn ready(&self) -> Result<(), KeyringError> {
        for known in self.known() {
            match self.check_value(known.version)? {
                None => return Err(KeyringError::Unknown(known.version)),
                Some(check) if check != known.check_value => return Err(KeyringError::Differs(known.version)),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Which scopes to look up at this reading of the store's clock.
    ///
    /// # Errors
    /// A version in force is unknown here.
    pub fn plan(&self, now: u64) -> Result<Plan, KeyringError> {
        plan(&self.known(), now, self.write_timeout, |version| self.secrets.get(version).is_some())
    }

    /// The scope of a key under one version.
    ///
    /// # Errors
    /// The version is unknown here, the operation code is malformed, or the component failed.
    pub fn scope(&self, version: u32, request: &KeyedRequest) -> Result<Scope, KeyringError> {
        let secret = self.secrets.get(version).ok_or(KeyringError::Unknown(version))?;
        let text = self.component.scope(version, secret.bytes(), &request.principal, &request.operation_code, &request.key)?;
        Ok(Scope::new(&text.ok_or_else(|| KeyringError::OperationCode(request.operation_code.clone()))?)?)
    }

    /// The fingerprint of a payload under one version.
    ///
    /// # Errors
    /// The version is unknown here, or the component failed.
    pub fn fingerprint(&self, version: u32, payload: &Payload) -> Result<Fingerprint, KeyringError> {
        let secret = self.secrets.get(version).ok_or(KeyringError::Unknown(version))?;
        let content_type = payload.content_type.as_deref();
        let text = self.component.fingerprint(secret.bytes(), &payload.method, &payload.target, content_type, &payload.body)?;
        Ok(Fingerprint::parse(&text)?)
    }

    /// As [`Keyring::fingerprint`]; a large body does not hold up the other tasks of this thread.
    ///
    /// # Errors
    /// The version is unknown here, or the component failed.
    pub async fn fingerprint_of(self: &Arc<Self>, version: u32, payload: &Payload) -> Result<Fingerprint, KeyringError> {
        if payload.body.len() <= INLINE_BODY_BYTES_MAX {
            return self.fingerprint(version, payload);
        }
        let (keyring, payload) = (Arc::clone(self), payload.clone());
        tokio::task::spawn_blocking(move || keyring.fingerprint(version, &payload))
            .await
            .map_err(|error| KeyringError::Call(CallError::Instance(error.to_string())))?
    }

    /// Enters a newer version, which makes new records from an instant of the store's clock on.
    ///
    /// # Errors
    /// The secret is not there, the instant is too near, or the version is not past those known.
    pub async fn rotate(&self, store: &dyn Store, version: u32, active_from: u64) -> Result<(), KeyringError> {
        let check_value = self.check_value(version)?.ok_or(KeyringError::Unknown(version))?;
        let notice = rotation_notice(self.write_timeout);
        if store.rotate_secret(&SecretVersion { version, active_from, check_value }, notice).await? {
            return self.refresh(store).await;
        }
        let (now, known) = store.secrets().await?;
        let newest = known.last().map_or(0, |known| known.version);
        Err(KeyringError::Rotation(if version <= newest {
            format!("version {version} is not past the newest one, {newest}: name a higher one")
        } else {
            let earliest = now.saturating_add(milliseconds(notice));
            let last = known.iter().map(|known| known.active_from).max().unwrap_or(0);
            format!(
                "the instant must lie at least {} s ahead on the store's clock, and behind the last one: name {} or later (milliseconds since the epoch)",
                notice.as_secs(),
                earliest.max(last.saturating_add(1))
            )
        }))
    }
}

/// How far ahead a rotation must be announced: past the time that an insert of the old version may still be under way.
#[must_use]
pub fn rotation_notice(write_timeout: Duration) -> Duration {
    write_timeout.saturating_mul(2)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn plan(known: &[SecretVersion], now: u64, write_timeout: Duration, has: impl Fn(u32) -> bool) -> Result<Plan, KeyringError> {
    let by_version: BTreeMap<u32, u64> = known.iter().map(|known| (known.version, known.active_from)).collect();
    let mut versions = Vec::new();
    let mut closed_until = None;
    for (version, active_from) in by_version.into_iter().rev() {
        if active_from <= now {
            if !has(version) {
                return Err(KeyringError::Unknown(version));
            }
            versions.push(version);
        } else if active_from - now <= milliseconds(write_timeout) {
            closed_until = Some(active_from);
        }
    }
    Ok(Plan { versions, closed_until })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(versions: &[(u32, u64)]) -> Vec<SecretVersion> {
        let entry = |(version, active_from): &(u32, u64)| SecretVersion {
            version: *version,
            active_from: *active_from,
            check_value: String::new(),
        };
        versions.iter().map(entry).collect()
    }

    #[test]
    fn a_version_takes_over_at_its_instant_and_nothing_is_made_just_before() {
        let check = |now, versions: &[u32], closed_until| {
            let plan = plan(&known(&[(1, 0), (2, 50_000)]), now, Duration::from_secs(10), |_| true).unwrap();
            assert_eq!(plan, Plan { versions: versions.to_vec(), closed_until }, "{now}");
        };
        check(0, &[1], None);
        check(39_999, &[1], None);
        check(40_000, &[1], Some(50_000));
        check(49_999, &[1], Some(50_000));
        check(50_000, &[2, 1], None);
    }

    #[test]
    fn a_version_in_force_without_a_secret_is_told() {
        let ask = |now| plan(&known(&[(1, 0), (2, 50_000)]), now, Duration::from_secs(10), |version| version == 1);
        assert!(ask(0).is_ok());
        assert!(matches!(ask(50_000), Err(KeyringError::Unknown(2))));
    }
}
