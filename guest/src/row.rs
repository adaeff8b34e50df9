//! A record as stores and documents hold it: texts and numbers, one field a column. And what a write makes of it, from the same
//! table of assignments that the catalogue's statements are made from.
//!
//! Knows nothing of a driver or of JSON. Tests: the vectors, whose `after` it computes.

use alloc::string::{String, ToString};

use crate::keys;
use crate::outcome::Write;
use crate::record::{Record, State, Token, Transition, TransitionKind};
use crate::statements::{Assignment, Column, Source, assignments};

/// One row of a family's table, without the columns that no decision touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The key of the record.
    pub scope: String,
    /// Where it stands.
    pub state: State,
    /// 64 lowercase hex digits.
    pub owner: Option<String>,
    /// The claim call's id.
    pub operation: Option<String>,
    /// Number of the try.
    pub attempt: u64,
    /// Tries allowed.
    pub attempt_limit: u64,
    /// The fencing token.
    pub revision: u64,
    /// 64 lowercase hex digits.
    pub fingerprint: Option<String>,
    /// Codec of the stored result.
    pub codec: Option<String>,
    /// The policy revision that made the last claim.
    pub policy_revision: u64,
    /// Milliseconds since the epoch.
    pub lease_until: Option<u64>,
    /// Milliseconds since the epoch.
    pub retry_at: Option<u64>,
    /// Milliseconds since the epoch.
    pub expires_at: Option<u64>,
    /// Why it is in its state.
    pub reason: Option<String>,
    /// The last transition.
    pub transition: Option<RowTransition>,
    /// 64 lowercase hex digits.
    pub result_digest: Option<String>,
}

/// The last transition, as stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowTransition {
    /// Its id.
    pub id: String,
    /// What it was.
    pub kind: TransitionKind,
    /// 64 lowercase hex digits.
    pub digest: Option<String>,
}

/// A column whose text is no token: the row cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowFault {
    /// The field's name in the contract.
    pub field: &'static str,
}

impl RowFault {
    /// What is wrong, for people, behind the field's name.
    pub const MESSAGE: &'static str = "is not 64 lowercase hex digits";
}

fn token(field: &'static str, text: Option<&str>) -> Result<Option<Token>, RowFault> {
    text.map(|text| Token::from_hex(text).ok_or(RowFault { field })).transpose()
}

impl Row {
    /// The row as the decisions see it.
    ///
    /// # Errors
    /// A column that must hold 64 lowercase hex digits holds something else.
    pub fn record(&self) -> Result<Record, RowFault> {
        let transition = match &self.transition {
            None => None,
            Some(last) => Some(Transition {
                id: keys::name(&last.id),
                kind: last.kind,
                digest: token("transition.digest", last.digest.as_deref())?,
            }),
        };
        Ok(Record {
            state: self.state,
            owner: token("owner", self.owner.as_deref())?,
            operation: self.operation.as_deref().map(keys::name),
            attempt: self.attempt,
            attempt_limit: self.attempt_limit,
            revision: self.revision,
            fingerprint: token("fingerprint", self.fingerprint.as_deref())?,
            codec: self.codec.as_deref().map(keys::name),
            lease_until: self.lease_until,
            retry_at: self.retry_at,
            expires_at: self.expires_at,
            transition,
            result_digest: token("result-digest", self.result_digest.as_deref())?,
        })
    }
}

/// The texts that a call gave: what `args.*` of a bind plan means. Numbers of the call stand in [`Write::next`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct CallTexts<'a> {
    /// The caller's owner token.
    pub owner: Option<&'a str>,
    /// The claim call's id.
    pub operation: Option<&'a str>,
    /// Keyed hash of the payload.
    pub fingerprint: Option<&'a str>,
    /// Codec of the result.
    pub codec: Option<&'a str>,
    /// The transition's id.
    pub transition: Option<&'a str>,
    /// Digest of the result.
    pub digest: Option<&'a str>,
    /// The caller's reason.
    pub reason: Option<&'a str>,
}

impl Row {
    /// The row that the store holds once a write has changed it (or has made it).
    #[must_use]
    pub fn after(write: &Write, scope: &str, before: Option<&Self>, texts: &CallTexts<'_>) -> Self {
        let mut after = before.cloned().unwrap_or_else(|| Self {
            scope: scope.to_string(),
            state: write.next.state,
            owner: None,
            operation: None,
            attempt: 0,
            attempt_limit: 0,
            revision: 0,
            fingerprint: None,
            codec: None,
            policy_revision: 0,
            lease_until: None,
            retry_at: None,
            expires_at: None,
            reason: None,
            transition: None,
            result_digest: None,
        });
        for assignment in assignments(write.statement) {
            after.assign(write, assignment, texts);
        }
        after
    }

    fn assign(&mut self, write: &Write, assignment: &Assignment, texts: &CallTexts<'_>) {
        let next = &write.next;
        let given = |text: Option<&str>| text.filter(|_| assignment.source == Source::Args).map(ToString::to_string);
        let computed = |time: Option<u64>| time.filter(|_| assignment.source == Source::Next);
        match assignment.column {
            Column::State => self.state = next.state,
            Column::Owner => self.owner = given(texts.owner),
            Column::Operation => self.operation = given(texts.operation),
            Column::Attempt => self.attempt = next.attempt,
            Column::AttemptLimit => self.attempt_limit = next.attempt_limit,
            Column::Revision => self.revision = next.revision,
            Column::Fingerprint => self.fingerprint = given(texts.fingerprint),
            Column::Codec => self.codec = given(texts.codec),
            Column::PolicyRevision => self.policy_revision = next.policy_revision,
            Column::LeaseUntil => self.lease_until = computed(next.lease_until),
            Column::RetryAt => self.retry_at = computed(next.retry_at),
            Column::ExpiresAt => self.expires_at = computed(next.expires_at),
            Column::Reason => self.reason = reason(write, self.reason.as_deref(), assignment, texts).map(ToString::to_string),
            Column::Transition => {
                let digest = texts.digest.filter(|_| write.statement.keeps_digest()).map(ToString::to_string);
                self.transition =
                    given(texts.transition).zip(next.transition_kind).map(|(id, kind)| RowTransition { id, kind, digest });
            }
            Column::ResultDigest => self.result_digest = given(texts.digest),
            Column::Response | Column::CreatedAt | Column::ChangedAt => {}
        }
    }
}

fn reason<'a>(write: &Write, stored: Option<&'a str>, assignment: &Assignment, texts: &CallTexts<'a>) -> Option<&'a str> {
    match assignment.source {
        Source::Next => write.next.reason.text(stored, texts.reason),
        Source::Args | Source::Host | Source::Null => None,
    }
}
