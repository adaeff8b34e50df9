//! Which store: `sqlite:FILE`.

use std::path::PathBuf;
use std::str::FromStr;

/// A store's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreUrl {
    /// A file of SQLite.
    Sqlite(PathBuf),
}

/// A text that is no store's address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no store: write sqlite:FILE, as in sqlite:leasehold.db")]
pub struct StoreUrlError {
    given: String,
}

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || StoreUrlError { given: redact(text) };
        let path = text.strip_prefix("sqlite:").ok_or_else(refused)?;
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path.contains(['?', '#', '\0']) || path == ":memory:" {
            return Err(refused());
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

impl std::fmt::Display for StoreUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
        }
    }
}

/// Without what may be a password.
fn redact(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 < at => format!("{}***{}", &text[..scheme + 3], &text[at..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_file_is_a_store() {
        let check = |text: &str, path: &str| assert_eq!(text.parse(), Ok(StoreUrl::Sqlite(PathBuf::from(path))));
        check("sqlite:leasehold.db", "leasehold.db");
        check("sqlite:///var/lib/leasehold.db", "/var/lib/leasehold.db");
        check("sqlite:/var/lib/leasehold.db", "/var/lib/leasehold.db");
    }

    #[test]
    fn anything_else_is_refused_without_its_password() {
        for text in ["", "leasehold.db", "sqlite:", "sqlite::memory:", "sqlite:a?mode=ro", "oracle:x"] {
            assert!(text.parse::<StoreUrl>().is_err(), "{text}");
        }
        let error = "oracle://user:secret@host/db".parse::<StoreUrl>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
