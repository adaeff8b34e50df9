//! The guard: what must hold of every statement of a catalogue, told from its syntax tree, without running it.
//!
//! An update repeats the whole owner tuple, as top-level, AND-joined, null-safe equalities of a bare column with a parameter that
//! the bind plan binds to the record as read; it takes its values from where they may come from; it is one statement on the
//! family's table, and nothing else. What is recognised is written down anew in a canonical form, and the two trees must be equal:
//! so whatever the language has that is not named here is refused, too.
//!
//! Knows no guest internals: a statement comes as id, kind, text and bind plan, from a catalogue that may be somebody else's.
//! Tests: `tests/tests/catalogue.rs`, with twins that must be refused.

use leasehold_decision::statements::{Dialect, Statement, StatementKind};
use thiserror::Error;

mod others;
mod parse;
mod sources;
mod spelling;
mod update;

pub use parse::parse_all;

/// A statement that is not let in, and why.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("statement {id}: {reason}")]
pub struct Refusal {
    /// Its id in the catalogue.
    pub id: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Why, for a statement that is known to the caller.
type Reason = String;

/// Holds a statement to the rules.
///
/// # Errors
/// The first rule that it breaks.
pub fn check(dialect: Dialect, statement: &Statement) -> Result<(), Refusal> {
    held(dialect, statement).map_err(|reason| Refusal { id: statement.id.clone(), reason })
}

fn held(dialect: Dialect, statement: &Statement) -> Result<(), Reason> {
    let place = sources::Place::of(&statement.id)?;
    let tree = parse::one(dialect, &statement.text)?;
    parse::placeholders(&tree, &statement.binds)?;
    sources::known(statement.kind, &place, &statement.binds)?;
    parse::relations(&tree, |relation| place.may_name(statement.kind, relation))?;
    parse::functions(&tree, sources::FUNCTIONS)?;
    match (statement.kind, &place.family) {
        (StatementKind::Update, Some(family)) => {
            let locked = dialect != Dialect::Mysql || statement.text.ends_with(spelling::MYSQL_LOCK);
            if *family == leasehold_decision::Family::Outbox && !locked {
                return Err("does not lock its authority".to_owned());
            }
            update::check(dialect, family, &place, &tree, &statement.binds)
        }
        (StatementKind::Update, None) => Err("an update outside the families".to_owned()),
        (StatementKind::Insert, Some(family)) => others::insert(dialect, family, &place, &tree, &statement.binds),
        (StatementKind::Insert, None) => others::is_insert(dialect, &tree),
        (StatementKind::Purge, _) => others::purge(dialect, &place, &tree, &statement.binds),
        (StatementKind::Read, _) => others::is_query(&tree),
    }
}
