//! What the errors of MySQL and MariaDB mean for certainty (dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html).

use sqlx::Error;
use sqlx::mysql::MySqlDatabaseError;

use super::super::sql::{Certainty, certainty_without_code, with_advice};

fn number(error: &Error) -> Option<u16> {
    Some(error.as_database_error()?.try_downcast_ref::<MySqlDatabaseError>()?.number())
}

pub(super) fn certainty(error: &Error) -> Certainty {
    let Some(number) = number(error) else {
        return certainty_without_code(error);
    };
    match number {
        // ER_LOCK_DEADLOCK
        1213 => Certainty::Again,
        // ER_DUP_ENTRY
        1062 => Certainty::Exists,
        // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_NOWAIT, ER_QUERY_INTERRUPTED, MariaDB's ER_STATEMENT_TIMEOUT, read-only, full, too many, denied
        1205 | 3572 | 1317 | 1969 | 1290 | 1792 | 1836 | 1021 | 1114 | 1040 | 1203 | 1044 | 1045 | 1049 | 1226 => {
            Certainty::NotDone
        }
        // ER_SERVER_SHUTDOWN, ER_NEW_ABORTING_CONNECTION, MariaDB's ER_CONNECTION_KILLED: the reply of a commit may be lost with them.
        1053 | 1152 | 1184 | 1927 => Certainty::Unknown,
        _ => Certainty::Fault,
    }
}

pub(super) fn explain(error: &Error) -> String {
    let advice = number(error).map(|number| match number {
        1205 => "a lock was held for longer than the time-out for statements; see who holds it",
        1290 | 1792 | 1836 => "this server takes no writes: it is a replica, or set read-only; name the primary",
        1021 | 1114 => "the server's disk or the table is full; make room",
        1040 | 1203 | 1226 => "the server has no connection left; raise max_connections, or lower what others take",
        1044 | 1045 => "the user or the password is not right, or the user may not use this database; look at the store's URL",
        1049 => "there is no such database; create it, or name another one",
        1142 => "this user may not do that; grant it the right to create and use tables in the database",
        1146 => "a table is missing; run `leasehold migrate`",
        _ => "",
    });
    with_advice(error, advice)
}
