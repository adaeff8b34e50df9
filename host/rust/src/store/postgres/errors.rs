//! What PostgreSQL's errors mean for certainty (postgresql.org/docs/current/errcodes-appendix.html).

use sqlx::Error;

use super::super::sql::{Certainty, certainty_without_code, with_advice};

fn state(error: &Error) -> Option<String> {
    error.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}

pub(super) fn certainty(error: &Error) -> Certainty {
    let Some(state) = state(error) else {
        return certainty_without_code(error);
    };
    match state.as_str() {
        // serialization_failure, deadlock_detected
        "40001" | "40P01" => Certainty::Again,
        "23505" => Certainty::Exists,
        // lock_not_available, query_canceled, cannot_connect_now, read_only_sql_transaction
        "55P03" | "57014" | "57P03" | "25006" => Certainty::NotDone,
        // The class: connection exceptions; statement_completion_unknown; shutdowns: the reply of a commit may have been lost with them.
        "40003" | "57P01" | "57P02" => Certainty::Unknown,
        other if other.starts_with("08") => Certainty::Unknown,
        // Invalid authorization, invalid catalog name, insufficient resources.
        other if other.starts_with("28") || other.starts_with("3D") || other.starts_with("53") => Certainty::NotDone,
        _ => Certainty::Fault,
    }
}

pub(super) fn explain(error: &Error) -> String {
    let advice = state(error).map(|state| match state.as_str() {
        "25006" => "this server takes no writes: it is a standby, or set read-only; name the primary",
        "57014" => "the statement took longer than the time-out for statements; see what holds its row, or raise --store-timeout",
        "55P03" => "a lock was held for longer than the time-out for statements; see who holds it",
        "53300" => "the server has no connection left; raise max_connections, or lower what others take",
        "53100" => "the server's disk is full; make room",
        state if state.starts_with("28") => "the user or the password is not right; look at the store's URL",
        "3D000" => "there is no such database; create it, or name another one",
        "42501" => "this user may not do that; grant it the right to create and use tables in the schema",
        "42P01" => "a table is missing; run `leasehold migrate`",
        _ => "",
    });
    with_advice(error, advice)
}
