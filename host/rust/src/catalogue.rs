//! The component's statements, read once at start-up: text, and for each parameter where its value comes from.
//!
//! A bind plan that names a source which this host does not know is refused here, before anything runs. Knows no driver.
//! Tests: `tests/tests/catalogue.rs`.

use std::collections::HashMap;
use std::sync::Arc;

use leasehold_decision::statements::{Dialect, Layout, Statement, StatementKind};
use leasehold_decision::{CallTexts, Family, Row, State, StatementName, Write};

use crate::component::{CallError, Component};

/// Why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The component failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The component carries no such dialect.
    #[error("the component carries no statements for this kind of store")]
    DialectNotCarried,
    /// A statement is not there.
    #[error("the component's catalogue lacks the statement {0}")]
    Lacks(String),
    /// A parameter's source is not known.
    #[error("the component's statement {id} takes a parameter from {source_name}, which this host does not know")]
    UnknownSource {
        /// The statement.
        id: String,
        /// The source.
        source_name: String,
    },
}

/// A value for one parameter. An absent one has a type, too: PostgreSQL asks for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// An integer.
    Integer(Option<u64>),
    /// A text.
    Text(Option<&'a str>),
    /// Bytes.
    Bytes(Option<&'a [u8]>),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<Option<u64>> for Value<'_> {
    fn from(number: Option<u64>) -> Self {
        Self::Integer(number)
    }
}

/// A statement, prepared for binding.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its text.
    pub text: Arc<str>,
    /// How it is used.
    pub kind: StatementKind,
    /// Where each parameter's value comes from.
    pub binds: Vec<Source>,
}

/// Where a parameter's value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The record as read.
    Before(BeforeField),
    /// The call.
    Args(ArgsField),
    /// The decision.
    Next(NextField),
    /// The host.
    Host(String),
}

macro_rules! fields {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "the names are those of the bind plans")]
        pub enum $name { $($field,)* }

        impl $name {
            fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$field),)*
                    _ => None,
                }
            }
        }
    };
}

fields! {
    /// Fields of the record as read that a statement may bind.
    BeforeField { Scope = "scope", Owner = "owner", Operation = "operation", Attempt = "attempt", Revision = "revision", }
}
fields! {
    /// What a call gives that a statement may bind.
    ArgsField {
        Scope = "scope", Owner = "owner", Operation = "operation", Fingerprint = "fingerprint", Codec = "codec",
        Transition = "transition", Digest = "digest", Reason = "reason", Now = "now", AttemptLimit = "attempt-limit",
        PolicyRevision = "policy-revision", RetryAt = "retry-at",
    }
}
fields! {
    /// What a decision computes that a statement may bind.
    NextField {
        State = "state", Attempt = "attempt", AttemptLimit = "attempt-limit", Revision = "revision",
        PolicyRevision = "policy-revision", LeaseUntil = "lease-until", RetryAt = "retry-at", ExpiresAt = "expires-at",
        Reason = "reason", TransitionKind = "transition-kind",
    }
}

impl Source {
    fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once('.')?;
        match kind {
            "before" => BeforeField::from_name(name).map(Self::Before),
            "args" => ArgsField::from_name(name).map(Self::Args),
            "next" => NextField::from_name(name).map(Self::Next),
            "host" => Some(Self::Host(name.to_owned())),
            _ => None,
        }
    }
}

/// Everything that a write's parameters can come from.
#[derive(Clone, Copy, Debug)]
pub struct WriteValues<'a> {
    /// The scope of the call.
    pub scope: &'a str,
    /// The record as read.
    pub before: Option<&'a Row>,
    /// The texts of the call.
    pub texts: &'a CallTexts<'a>,
    /// The decision's write.
    pub write: &'a Write,
    /// The clock reading of the decision. Milliseconds since the epoch.
    pub now: u64,
    /// Past this on the store's clock an insert changes 0 rows. Milliseconds since the epoch.
    pub deadline: u64,
    /// The result that is to be stored.
    pub response: Option<&'a [u8]>,
}

/// The statements of one dialect, and how states are spelled there.
#[derive(Debug)]
pub struct Catalogue {
    layout: Layout,
    statements: HashMap<String, Prepared>,
    writes: HashMap<(Family, StatementName), Prepared>,
    spellings: HashMap<(Family, State), String>,
}

impl Catalogue {
    /// Reads the catalogue of a dialect.
    ///
    /// # Errors
    /// The component failed, carries no such dialect, lacks a statement, or names an unknown source.
    pub fn read(component: &Component, dialect: Dialect) -> Result<Self, CatalogueError> {
        let layout = component.schema(dialect)?.map_err(|_| CatalogueError::DialectNotCarried)?;
        let listed = component.catalog(dialect)?.map_err(|_| CatalogueError::DialectNotCarried)?;
        let mut statements = HashMap::new();
        for statement in listed {
            let prepared = prepare(&statement)?;
            statements.insert(statement.id, prepared);
        }
        let mut writes = HashMap::new();
        let mut spellings = HashMap::new();
        for family in Family::ALL {
            for name in StatementName::ALL.into_iter().filter(|name| name.is_of(family)) {
                let id = format!("{}.{}", family.name(), name.name());
                let prepared = statements.get(&id).cloned().ok_or(CatalogueError::Lacks(id))?;
                writes.insert((family, name), prepared);
            }
            for state in State::ALL {
                if let Some(spelling) = component.spelling(family, state)? {
                    spellings.insert((family, state), spelling);
                }
            }
        }
        Ok(Self { layout, statements, writes, spellings })
    }

    /// Every table.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The statement of that id.
    ///
    /// # Errors
    /// The catalogue lacks it.
    pub fn statement(&self, id: &str) -> Result<&Prepared, CatalogueError> {
        self.statements.get(id).ok_or_else(|| CatalogueError::Lacks(id.to_owned()))
    }

    /// The statement of a write.
    ///
    /// # Errors
    /// The family has no such statement.
    pub fn write(&self, family: Family, name: StatementName) -> Result<&Prepared, CatalogueError> {
        self.writes.get(&(family, name)).ok_or_else(|| CatalogueError::Lacks(format!("{}.{}", family.name(), name.name())))
    }

    /// How a state is spelled in a family's table.
    #[must_use]
    pub fn spelling(&self, family: Family, state: State) -> Option<&str> {
        self.spellings.get(&(family, state)).map(String::as_str)
    }

    /// The state that is spelled so in a family's table.
    #[must_use]
    pub fn state(&self, family: Family, spelling: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| self.spelling(family, *state) == Some(spelling))
    }

    /// The value of one parameter of a write.
    #[must_use]
    pub fn value<'a>(&'a self, family: Family, source: &Source, values: &WriteValues<'a>) -> Value<'a> {
        let (before, texts, next) = (values.before, values.texts, &values.write.next);
        match source {
            Source::Before(field) => match field {
                BeforeField::Scope => before.map(|row| row.scope.as_str()).into(),
                BeforeField::Owner => before.and_then(|row| row.owner.as_deref()).into(),
                BeforeField::Operation => before.and_then(|row| row.operation.as_deref()).into(),
                BeforeField::Attempt => before.map(|row| row.attempt).into(),
                BeforeField::Revision => before.map(|row| row.revision).into(),
            },
            Source::Args(field) => match field {
                ArgsField::Scope => values.scope.into(),
                ArgsField::Owner => texts.owner.into(),
                ArgsField::Operation => texts.operation.into(),
                ArgsField::Fingerprint => texts.fingerprint.into(),
                ArgsField::Codec => texts.codec.into(),
                ArgsField::Transition => texts.transition.into(),
                ArgsField::Digest => texts.digest.into(),
                ArgsField::Reason => texts.reason.into(),
                ArgsField::Now => values.now.into(),
                ArgsField::AttemptLimit | ArgsField::PolicyRevision | ArgsField::RetryAt => Value::Integer(None),
            },
            Source::Next(field) => match field {
                NextField::State => self.spelling(family, next.state).into(),
                NextField::Attempt => next.attempt.into(),
                NextField::AttemptLimit => next.attempt_limit.into(),
                NextField::Revision => next.revision.into(),
                NextField::PolicyRevision => next.policy_revision.into(),
                NextField::LeaseUntil => next.lease_until.into(),
                NextField::RetryAt => next.retry_at.into(),
                NextField::ExpiresAt => next.expires_at.into(),
                NextField::Reason => {
                    let stored = before.and_then(|row| row.reason.as_deref());
                    next.reason.text(stored, texts.reason).into()
                }
                NextField::TransitionKind => next.transition_kind.map(|kind| kind.name()).into(),
            },
            Source::Host(name) => match name.as_str() {
                "deadline" => values.deadline.into(),
                "response" => Value::Bytes(values.response),
                _ => Value::Text(None),
            },
        }
    }
}

fn prepare(statement: &Statement) -> Result<Prepared, CatalogueError> {
    let binds = statement.binds.iter().map(|bind| {
        Source::parse(bind).ok_or_else(|| CatalogueError::UnknownSource { id: statement.id.clone(), source_name: bind.clone() })
    });
    Ok(Prepared { text: statement.text.as_str().into(), kind: statement.kind, binds: binds.collect::<Result<_, _>>()? })
}
