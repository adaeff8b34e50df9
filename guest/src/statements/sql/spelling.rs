//! Where the dialects differ.

/// How a dialect is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::statements) enum Spelling {
    /// One file, one writer at a time.
    Sqlite,
    /// Parameters `$n`; READ COMMITTED.
    Postgres,
    /// MySQL and MariaDB: parameters `?`, each bound where it stands; no `ON CONFLICT`, no partial index.
    Mysql,
}

impl Spelling {
    /// As the layout's row has it.
    pub(super) const fn provider(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
        }
    }

    /// The store's clock: integer milliseconds since the Unix epoch, whatever the session's time zone and mode.
    pub(super) const fn clock(self) -> &'static str {
        match self {
            // Kept as integer milliseconds inside, and the same throughout one statement.
            Self::Sqlite => "CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)",
            Self::Postgres => "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)",
            Self::Mysql => "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000)",
        }
    }

    /// Equality that holds between two absent values; a column that cannot be absent takes the plain one, which every planner
    /// knows how to look up.
    pub(super) const fn same(self, may_be_absent: bool) -> &'static str {
        match (self, may_be_absent) {
            (Self::Sqlite, _) | (Self::Postgres, true) => " IS NOT DISTINCT FROM ",
            (Self::Mysql, true) => " <=> ",
            (Self::Postgres | Self::Mysql, false) => " = ",
        }
    }

    /// A name that is a reserved word somewhere.
    pub(super) const fn reserved(self, name: Reserved) -> &'static str {
        match (self, name) {
            (Self::Postgres, Reserved::Only) => "\"only\"",
            (Self::Sqlite | Self::Mysql, Reserved::Only) => "only",
            (Self::Mysql, Reserved::Before) => "`before`",
            (Self::Sqlite | Self::Postgres, Reserved::Before) => "before",
        }
    }

    /// What stands between the values of a SELECT without a table and its WHERE.
    pub(super) const fn without_table(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "",
            Self::Mysql => " FROM DUAL",
        }
    }

    /// Behind an insert of a key that may be there already. On MySQL a plain insert, whose error 1062 counts as 0: its `ON DUPLICATE KEY`
    /// would count what it finds.
    pub(super) const fn or_nothing(self) -> &'static str {
        match self {
            Self::Sqlite => " ON CONFLICT (scope) DO NOTHING",
            Self::Postgres => " ON CONFLICT DO NOTHING",
            Self::Mysql => "",
        }
    }

    /// Behind a reading that must hold until the write has ended. SQLite has one writer at a time.
    pub(super) const fn lock(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR SHARE OF a",
            Self::Mysql => " LOCK IN SHARE MODE",
        }
    }
}

/// Names of columns that are reserved words in one dialect or another.
#[derive(Clone, Copy)]
pub(super) enum Reserved {
    Only,
    Before,
}
