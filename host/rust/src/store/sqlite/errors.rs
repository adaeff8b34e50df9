//! What SQLite's errors mean for certainty: nothing done, or not known.

use sqlx::Error;

use super::super::sql::{Certainty, certainty_without_code, with_advice};

/// Primary result codes (sqlite.org/rescode.html).
const SQLITE_BUSY: i32 = 5;
const SQLITE_LOCKED: i32 = 6;
const SQLITE_READONLY: i32 = 8;
const SQLITE_INTERRUPT: i32 = 9;
const SQLITE_IOERR: i32 = 10;
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_FULL: i32 = 13;
const SQLITE_CANTOPEN: i32 = 14;
const SQLITE_NOTADB: i32 = 26;

fn primary_code(error: &Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Whether another process holds the lock.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(primary_code(error), Some(SQLITE_BUSY | SQLITE_LOCKED))
}

/// What happened, and what to do.
pub(super) fn explain(error: &Error) -> String {
    let advice = primary_code(error).map(|code| match code {
        SQLITE_BUSY | SQLITE_LOCKED => "another process has held the file's lock for too long; see what it is doing",
        SQLITE_READONLY => "the file or its folder cannot be written; give this user the right to write both",
        SQLITE_IOERR => "the disk failed; look at the system's log",
        SQLITE_CORRUPT => "the file is damaged; restore it from a backup",
        SQLITE_FULL => "the disk is full; make room",
        SQLITE_CANTOPEN => "the file cannot be opened; see that its folder exists and that this user may write there",
        SQLITE_NOTADB => "the file is no database of SQLite; name another one",
        _ => "",
    });
    with_advice(error, advice)
}

/// SQLite rolls a failed statement back, so nothing was done; only where the disk failed (or the connection's thread ended) in the
/// middle is that not known. A lock was waited for already, so nothing is sent again at once.
pub(super) fn certainty(error: &Error) -> Certainty {
    let Some(code) = primary_code(error) else {
        return certainty_without_code(error);
    };
    match code {
        SQLITE_BUSY | SQLITE_LOCKED | SQLITE_READONLY | SQLITE_INTERRUPT | SQLITE_CORRUPT | SQLITE_FULL | SQLITE_CANTOPEN
        | SQLITE_NOTADB => Certainty::NotDone,
        SQLITE_IOERR => Certainty::Unknown,
        _ => Certainty::Fault,
    }
}
