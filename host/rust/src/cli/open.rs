//! Which store and which secrets, for every command that works on one.

use std::path::PathBuf;

use leasehold_decision::Family;

use super::CliError;
use crate::component::CodeCache;
use crate::host::{HostError, HostOptions, Leasehold, SecretSource, secrets_beside};
use crate::keyring::{SecretError, Secrets};
use crate::store::StoreUrl;
use crate::store::sql::Migrate;

/// The file that holds secrets.
pub(super) const SECRETS_FILE: &str = "LEASEHOLD_SECRETS_FILE";
/// Where compiled code is kept.
const CACHE_DIR: &str = "LEASEHOLD_CACHE_DIR";

/// The store of a command.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct StoreArgs {
    /// Which store: sqlite:FILE, postgres://USER:PASSWORD@HOST/DATABASE or mysql://USER:PASSWORD@HOST/DATABASE
    #[arg(long, value_name = "URL", env = "LEASEHOLD_STORE", hide_env_values = true)]
    pub(super) store: String,
}

impl StoreArgs {
    pub(super) fn url(&self) -> Result<StoreUrl, CliError> {
        store_url(&self.store)
    }

    /// Opens the store for those who read and settle: no secrets are needed, and nothing is laid out.
    pub(super) async fn host(&self) -> Result<Leasehold, CliError> {
        Ok(Leasehold::open(self.options(SecretSource::None)?).await?)
    }

    /// A store that must be there already.
    pub(super) fn options(&self, secrets: SecretSource) -> Result<HostOptions, CliError> {
        let options = HostOptions::new(self.url()?);
        Ok(HostOptions { migrate: Migrate::Refused, code_cache: code_cache(), secrets, ..options })
    }
}

/// A family, as it is named on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum FamilyArg {
    /// Keys of requests
    Idempotency,
    /// Messages that were received
    Inbox,
    /// Events that must leave
    Outbox,
    /// Deferred clean-up
    Cleanup,
}

impl FamilyArg {
    pub(super) const fn family(self) -> Family {
        match self {
            Self::Idempotency => Family::Idempotency,
            Self::Inbox => Family::Inbox,
            Self::Outbox => Family::Outbox,
            Self::Cleanup => Family::Cleanup,
        }
    }

    /// The one that was named, or all of these.
    pub(super) fn families(named: Option<Self>, all: &[Family]) -> Vec<Family> {
        named.map_or_else(|| all.to_vec(), |named| vec![named.family()])
    }
}

/// A store's address, without repeating a password where it is none.
pub(super) fn store_url(text: &str) -> Result<StoreUrl, CliError> {
    text.parse().map_err(|error| CliError::Usage(format!("--store: {error}")))
}

/// Where compiled code is kept: `LEASEHOLD_CACHE_DIR`, or the user's folder.
pub(super) fn code_cache() -> CodeCache {
    std::env::var_os(CACHE_DIR).map_or(CodeCache::UserFolder, |folder| parse_code_cache(&folder))
}

/// A folder, or `off`.
pub(super) fn parse_code_cache(text: &std::ffi::OsStr) -> CodeCache {
    if text == "off" { CodeCache::Off } else { CodeCache::Folder(PathBuf::from(text)) }
}

/// Where a host's secrets lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SecretPlace {
    /// In variables.
    Variables,
    /// In a file: one that was named, or the one beside the store.
    File(PathBuf),
}

/// The secrets of this host, and where they lie; none are made.
pub(super) fn secrets(store: &StoreUrl) -> Result<(SecretPlace, Option<Secrets>), CliError> {
    match from_variables()? {
        Some(secrets) => Ok((SecretPlace::Variables, Some(secrets))),
        None => {
            let file = match (std::env::var_os(SECRETS_FILE), store) {
                (Some(file), _) => PathBuf::from(file),
                (None, StoreUrl::Sqlite(path)) => secrets_beside(path),
                (None, StoreUrl::Postgres(_) | StoreUrl::Mysql(_)) => return Err(HostError::SharedStoreWithoutSecret.into()),
            };
            let secrets = Secrets::from_file(&file)?;
            Ok((SecretPlace::File(file), secrets))
        }
    }
}

fn from_variables() -> Result<Option<Secrets>, CliError> {
    let told = |errors: Vec<SecretError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    // One that is no text is not lost on the way: it is told as one that is no hex.
    let variables =
        std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
    Secrets::from_variables(variables).map_err(|errors| CliError::Usage(told(errors)))
}
