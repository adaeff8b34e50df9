//! Where secrets come from: the environment, or a file that its owner alone can read. They are never printed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Shortest secret, in bytes: the length of the hash.
pub const SECRET_BYTES_MIN: usize = 32;

const VARIABLE: &str = "LEASEHOLD_SECRET_";

/// A secret. It has no way to be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn from_hex(text: &str) -> Option<Self> {
        let text = text.trim();
        if !text.len().is_multiple_of(2) || !text.is_ascii() {
            return None;
        }
        let bytes: Option<Vec<u8>> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect();
        bytes.filter(|bytes| bytes.len() >= SECRET_BYTES_MIN).map(Self)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// Why secrets cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The number behind `LEASEHOLD_SECRET_` is none.
    #[error("{0}: the number behind LEASEHOLD_SECRET_ is no version from 1 to 4294967295")]
    Version(String),
    /// The value is too short or no hex.
    #[error("{0}: 32 bytes or more in hex are expected (64 digits or more), as `openssl rand -hex 32` prints them")]
    Value(String),
    /// The file cannot be used.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
    /// None are given, where they must be.
    #[error(
        "no secret is given: set LEASEHOLD_SECRET_1 to 32 bytes or more in hex, as `openssl rand -hex 32` prints them, on every host"
    )]
    Absent,
}

/// Secrets by version. Never empty.
#[derive(Clone, Debug)]
pub struct Secrets {
    versions: BTreeMap<u32, Secret>,
    newest: u32,
}

impl Secrets {
    fn new(versions: BTreeMap<u32, Secret>) -> Option<Self> {
        let newest = *versions.keys().next_back()?;
        Some(Self { versions, newest })
    }

    /// The highest version.
    #[must_use]
    pub const fn newest(&self) -> u32 {
        self.newest
    }

    /// The secret of a version.
    #[must_use]
    pub fn get(&self, version: u32) -> Option<&Secret> {
        self.versions.get(&version)
    }

    /// From variables `LEASEHOLD_SECRET_1`, `_2`, ...; `None` where there are none.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Result<Option<Self>, Vec<SecretError>> {
        let (mut versions, mut errors) = (BTreeMap::new(), Vec::new());
        for (name, value) in variables {
            let Some(number) = name.strip_prefix(VARIABLE) else {
                continue;
            };
            match (version(number), Secret::from_hex(&value)) {
                (None, _) => errors.push(SecretError::Version(name)),
                (Some(_), None) => errors.push(SecretError::Value(name)),
                (Some(version), Some(secret)) => {
                    versions.insert(version, secret);
                }
            }
        }
        if errors.is_empty() { Ok(Self::new(versions)) } else { Err(errors) }
    }

    /// From a file with a line `VERSION HEX` for each; `None` where there is no such file.
    ///
    /// # Errors
    /// It can be read by others, or a line is malformed.
    pub fn from_file(path: &Path) -> Result<Option<Self>, SecretError> {
        let fault = |why: String| SecretError::File { path: path.to_owned(), why };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fault(error.to_string())),
        };
        owner_alone(path).map_err(fault)?;
        let mut versions = BTreeMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')) {
            let parsed = line.split_once(' ').and_then(|(number, value)| Some((version(number)?, Secret::from_hex(value)?)));
            let Some((version, secret)) = parsed else {
                return Err(fault(format!("line {}: `VERSION HEX` is expected, the hex of 32 bytes or more", number + 1)));
            };
            versions.insert(version, secret);
        }
        Self::new(versions).map(Some).ok_or_else(|| fault("it holds no secret".to_owned()))
    }

    /// Adds a fresh secret of that version to the file, which is made where it is absent, readable by its owner alone.
    ///
    /// # Errors
    /// The file cannot be written, or there is no randomness.
    pub fn add_to_file(path: &Path, version: u32) -> Result<(), SecretError> {
        use std::io::Write as _;
        let fault = |why: String| SecretError::File { path: path.to_owned(), why };
        let mut bytes = [0u8; SECRET_BYTES_MIN];
        getrandom::fill(&mut bytes).map_err(|error| fault(format!("no random bytes: {error}")))?;
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|error| fault(error.to_string()))?;
        // A file that was written by hand may lack its last line end.
        let held = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
        let end = if held.last().is_none_or(|last| *last == b'\n') { "" } else { "\n" };
        let line = format!("{end}{version} {}\n", leasehold_decision::keys::hex(&bytes));
        file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| fault(error.to_string()))
    }

    /// The secrets of the file; where it is absent, one is made.
    ///
    /// # Errors
    /// The file cannot be used or made.
    pub fn from_file_or_new(path: &Path) -> Result<(Self, Made), SecretError> {
        if let Some(secrets) = Self::from_file(path)? {
            return Ok((secrets, Made::Before));
        }
        // Of two processes that start at once, one links its file into place; the other reads that one.
        let draft = path.with_extension(format!("secret-{}", std::process::id()));
        let _ = std::fs::remove_file(&draft);
        Self::add_to_file(&draft, 1)?;
        let linked = std::fs::hard_link(&draft, path);
        let _ = std::fs::remove_file(&draft);
        match linked {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(SecretError::File { path: path.to_owned(), why: error.to_string() }),
        }
        let secrets = Self::from_file(path)?.ok_or(SecretError::Absent)?;
        Ok((secrets, Made::Now))
    }
}

/// Whether a file of secrets was there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// It was.
    Before,
    /// It was not: it was made just now.
    Now,
}

fn version(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| plain)
}

#[cfg(unix)]
fn owner_alone(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map_err(|error| error.to_string())?.permissions().mode();
    if mode & 0o077 == 0 { Ok(()) } else { Err("others than its owner can read it: chmod 600 it".to_owned()) }
}

#[cfg(not(unix))]
fn owner_alone(_path: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Result<Option<Secrets>, Vec<SecretError>> {
        Secrets::from_variables(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn the_highest_version_is_the_newest() {
        let hex = "0123456789abcdef".repeat(4);
        let secrets = variables(&[("LEASEHOLD_SECRET_2", &hex), ("LEASEHOLD_SECRET_10", &hex), ("OTHER", "x")]).unwrap().unwrap();
        assert_eq!(secrets.newest(), 10);
        assert!(secrets.get(2).is_some() && secrets.get(1).is_none());
        assert!(variables(&[]).unwrap().is_none());
    }

    #[test]
    fn everything_that_is_wrong_is_told_without_the_value() {
        let long = "0123456789abcdef".repeat(4);
        let short = &long[2..];
        for bad in [short, &format!("{long}0"), &"g".repeat(64), ""] {
            let errors = variables(&[("LEASEHOLD_SECRET_1", bad), ("LEASEHOLD_SECRET_X", &long)]).unwrap_err();
            let told = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert_eq!(errors.len(), 2, "{told}");
            assert!(bad.is_empty() || !told.contains(bad), "{told}");
        }
    }

    #[test]
    fn a_file_of_secrets_is_its_owners_alone() {
        let folder = std::env::temp_dir().join(format!("leasehold-secrets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("store.db.secret");
        assert!(Secrets::from_file(&path).unwrap().is_none());
        let (made, how) = Secrets::from_file_or_new(&path).unwrap();
        assert_eq!((made.newest(), how), (1, Made::Now));
        let (again, how) = Secrets::from_file_or_new(&path).unwrap();
        assert_eq!((again.get(1), how), (made.get(1), Made::Before));
        Secrets::add_to_file(&path, 2).unwrap();
        assert_eq!(Secrets::from_file(&path).unwrap().unwrap().newest(), 2);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.trim_end()).unwrap();
        Secrets::add_to_file(&path, 3).unwrap();
        assert_eq!(Secrets::from_file(&path).unwrap().unwrap().newest(), 3);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
            assert!(Secrets::from_file(&path).unwrap_err().to_string().contains("chmod 600"));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
