//! How each dialect must spell what the guard looks for: written apart from the guest, and there to disagree.

use leasehold_decision::statements::Dialect;
use sqlparser::dialect::{Dialect as Parsed, MySqlDialect, PostgreSqlDialect, SQLiteDialect};

use super::Reason;

pub(super) fn parsed(dialect: Dialect) -> Result<Box<dyn Parsed>, Reason> {
    match dialect {
        Dialect::Sqlite => Ok(Box::new(SQLiteDialect {})),
        Dialect::Postgres => Ok(Box::new(PostgreSqlDialect {})),
        Dialect::Mysql => Ok(Box::new(MySqlDialect {})),
        Dialect::Redis => Err(format!("{dialect:?} has no parser here")),
    }
}

/// A parameter, by its number. MySQL's have none in the text; they are given one before it is parsed.
pub(super) fn parameter(dialect: Dialect, number: usize) -> String {
    if dialect == Dialect::Postgres { format!("${number}") } else { format!("?{number}") }
}

/// The equality that a column of the tuple must be compared with: one that holds between two absent values, where it may be absent.
pub(super) fn same(dialect: Dialect, column: &str) -> &'static str {
    let may_be_absent = matches!(column, "owner" | "operation");
    match (dialect, may_be_absent) {
        (Dialect::Sqlite, _) | (Dialect::Postgres, true) => "IS NOT DISTINCT FROM",
        (Dialect::Mysql, true) => "<=>",
        (Dialect::Postgres | Dialect::Mysql, false) => "=",
        (Dialect::Redis, _) => "-",
    }
}

/// The store's clock.
pub(super) fn clock(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)",
        Dialect::Postgres => "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)",
        Dialect::Mysql => "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000)",
        Dialect::Redis => "-",
    }
}

/// What stands between a SELECT without a table and its WHERE.
pub(super) fn from_nothing(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Mysql { " FROM DUAL" } else { "" }
}

/// What a record's insert ends with: on MySQL a plain one, whose duplicate is an error that the host counts as 0.
pub(super) fn or_nothing(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => " ON CONFLICT (scope) DO NOTHING",
        Dialect::Postgres => " ON CONFLICT DO NOTHING",
        Dialect::Mysql | Dialect::Redis => "",
    }
}

/// The lock on the authority's row, as the parser knows it. MySQL's is not known to it and is looked for in the text: [`MYSQL_LOCK`].
pub(super) fn lock(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Postgres { " FOR SHARE OF a" } else { "" }
}

/// How an update of the outbox ends on MySQL.
pub(super) const MYSQL_LOCK: &str = " LOCK IN SHARE MODE)";

/// A name that only this dialect must quote.
pub(super) fn may_quote(dialect: Dialect, name: &str) -> bool {
    dialect == Dialect::Mysql && name == "before"
}
