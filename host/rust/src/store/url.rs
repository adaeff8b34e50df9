//! Which store: `sqlite:FILE`, `postgres://...`, `mysql://...`.

use std::path::PathBuf;
use std::str::FromStr;

use leasehold_decision::statements::Dialect;

/// A store's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreUrl {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// A database of PostgreSQL.
    Postgres(ServerUrl),
    /// A database of MySQL or MariaDB.
    Mysql(ServerUrl),
}

/// A server's address, which may hold a password: it is shown without.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// With the password.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ServerUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&redact(&self.0))
    }
}

impl std::fmt::Debug for ServerUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, formatter)
    }
}

/// A text that is no store's address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is no store: write sqlite:FILE, as in sqlite:leasehold.db, or postgres://USER:PASSWORD@HOST/DATABASE, or \
     mysql://USER:PASSWORD@HOST/DATABASE"
)]
pub struct StoreUrlError {
    given: String,
}

impl StoreUrl {
    /// What kind of store it is, for people.
    #[must_use]
    pub const fn provider(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
            Self::Mysql(_) => "MySQL",
        }
    }

    /// Whose statements it takes.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
            Self::Mysql(_) => Dialect::Mysql,
        }
    }
}

impl FromStr for StoreUrl {
    type Err = StoreUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || StoreUrlError { given: redact(text) };
        // A server's address names a host and a database.
        let server = |rest: &str| {
            let (host, database) = rest.rsplit_once('@').map_or(rest, |(_, host)| host).split_once('/')?;
            let database = database.split('?').next().unwrap_or_default();
            (!host.is_empty() && !database.is_empty() && !rest.contains(char::is_whitespace)).then(|| ServerUrl(text.to_owned()))
        };
        if let Some(rest) = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://")) {
            return server(rest).map(Self::Postgres).ok_or_else(refused);
        }
        if let Some(rest) = text.strip_prefix("mysql://").or_else(|| text.strip_prefix("mariadb://")) {
            return server(rest).map(Self::Mysql).ok_or_else(refused);
        }
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
            Self::Postgres(server) | Self::Mysql(server) => write!(formatter, "{server}"),
        }
    }
}

/// Without what may be a password: of `user:password@` the user stays.
fn redact(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 < at => {
            let user = text[scheme + 3..at].split(':').next().unwrap_or_default();
            format!("{}{user}:***{}", &text[..scheme + 3], &text[at..])
        }
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
    fn a_server_is_a_store_and_is_shown_without_its_password() {
        let url: StoreUrl = "postgres://app:s3cret@db.internal:5432/payments".parse().unwrap();
        assert_eq!(url.dialect(), Dialect::Postgres);
        assert_eq!(url.to_string(), "postgres://app:***@db.internal:5432/payments");
        assert!(!format!("{url:?}").contains("s3cret"));
        let url: StoreUrl = "mysql://app:p@ss@db/payments?ssl-mode=REQUIRED".parse().unwrap();
        assert_eq!(url.dialect(), Dialect::Mysql);
        assert_eq!(url.to_string(), "mysql://app:***@db/payments?ssl-mode=REQUIRED");
        for text in ["postgres://", "postgres://host", "postgres://host/", "postgres:///db", "mysql://u:p@/db", "mysql://host/?x=1"]
        {
            assert!(text.parse::<StoreUrl>().is_err(), "{text}");
        }
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
