//! From a decision to a document.

use alloc::string::{String, ToString};

use super::decode::{DocumentFault, Request};
use crate::json::write_string;
use crate::keys::hex;
use crate::outcome::{Decision, Outcome, Write};
use crate::record::{Reason, State, Token, TransitionKind};
use crate::row::{Row, RowFault};

/// Integers past this lose digits in the doubles that many JSON readers use.
const EXACT_IN_DOUBLES_MAX: u64 = 1 << 53;

/// A request, decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The decision; or the column that makes the row no record, which is the outcome `corrupt-record`.
    pub decided: Result<Decision, RowFault>,
    /// The row that the store holds afterwards.
    pub after: Option<Row>,
}

/// An object that is being written.
struct Object<'o> {
    out: &'o mut String,
    strings: bool,
    empty: bool,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut String, strings: bool) -> Self {
        out.push('{');
        Self { out, strings, empty: true }
    }

    #[inline(never)]
    fn name(&mut self, name: &str) {
        if !core::mem::replace(&mut self.empty, false) {
            self.out.push(',');
        }
        write_string(self.out, name);
        self.out.push(':');
    }

    #[inline(never)]
    fn text(&mut self, name: &str, text: Option<&str>) -> &mut Self {
        self.name(name);
        match text {
            Some(text) => write_string(self.out, text),
            None => self.out.push_str("null"),
        }
        self
    }

    #[inline(never)]
    fn number(&mut self, name: &str, number: Option<u64>) -> &mut Self {
        self.name(name);
        match number {
            Some(number) if self.strings && number > EXACT_IN_DOUBLES_MAX => write_string(self.out, &number.to_string()),
            Some(number) => self.out.push_str(&number.to_string()),
            None => self.out.push_str("null"),
        }
        self
    }

    fn object(&mut self, name: &str, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        self.name(name);
        let mut inner = Object::begin(self.out, self.strings);
        fill(&mut inner);
        inner.end();
        self
    }

    #[inline(never)]
    fn null(&mut self, name: &str) -> &mut Self {
        self.text(name, None)
    }

    fn end(self) {
        self.out.push('}');
    }
}

pub(super) fn fault(fault: &DocumentFault) -> String {
    let mut out = String::new();
    let mut document = Object::begin(&mut out, false);
    document.object("error", |error| {
        error.text("at", Some(&fault.at)).text("what", Some(&fault.what));
    });
    document.end();
    out
}

pub(super) fn answer(answer: &Answer, request: &Request) -> String {
    let mut out = String::with_capacity(1024);
    let mut document = Object::begin(&mut out, request.big_integers_as_strings);
    document.object("outcome", |outcome| match &answer.decided {
        Ok(decision) => write_outcome(outcome, &decision.outcome, request),
        Err(fault) => {
            outcome.text("kind", Some(answer.kind())).text("detail", Some(&[fault.field, " ", RowFault::MESSAGE].concat()));
        }
    });
    match answer.decided.as_ref().ok().and_then(|decision| decision.write) {
        Some(write) => document.object("write", |object| write_write(object, &write, request)),
        None => document.null("write"),
    };
    match &answer.after {
        Some(row) => document.object("after", |object| write_row(object, row)),
        None => document.null("after"),
    };
    document.end();
    out
}

fn token(token: Token) -> String {
    token.words().into_iter().map(|word| hex(&word.to_be_bytes())).collect()
}

fn reason_text(reason: Reason, request: &Request) -> Option<String> {
    let stored = request.before.as_ref().and_then(|row| row.reason.as_deref());
    reason.text(stored, request.call.texts().reason).map(ToString::to_string)
}

fn write_outcome(object: &mut Object<'_>, outcome: &Outcome, request: &Request) {
    let codec = request.before.as_ref().and_then(|row| row.codec.as_deref());
    object.text("kind", Some(outcome.kind()));
    match outcome {
        Outcome::Acquired(grant)
        | Outcome::TakenOver(grant)
        | Outcome::ReplayedAcquire(grant)
        | Outcome::ClaimedSameOperation(grant)
        | Outcome::ExecutingSameOperation(grant) => {
            object.number("attempt", Some(grant.attempt)).number("revision", Some(grant.revision));
            object.number("lease-until", Some(grant.lease_until));
        }
        Outcome::InProgress(at) | Outcome::RetryLater(at) => {
            object.number("retry-at", Some(*at));
        }
        Outcome::RecoveryRequired(recovery) => {
            object.number("attempt", Some(recovery.attempt)).number("revision", Some(recovery.revision));
            object.text("reason", reason_text(recovery.reason, request).as_deref());
        }
        Outcome::CompletedReplay(replay) => {
            object.text("result-digest", replay.result_digest.map(token).as_deref()).text("codec", codec);
            object.number("expires-at", replay.expires_at);
        }
        Outcome::CodecUnreadable => {
            object.text("codec", codec);
        }
        Outcome::Retryable(retryable) => {
            object.number("attempt", Some(retryable.attempt)).number("retry-at", retryable.retry_at);
        }
        Outcome::Applied(applied) | Outcome::AlreadyApplied(applied) => {
            object.text("state", Some(applied.state.name())).number("revision", Some(applied.revision));
            object.number("lease-until", applied.lease_until);
        }
        Outcome::StaleRevision(revision) | Outcome::Released(revision) | Outcome::Resolved(revision) => {
            object.number("revision", Some(*revision));
        }
        Outcome::InvalidState(state) => {
            object.text("state", Some(state.name()));
        }
        Outcome::CorruptRecord(corruption) => {
            object.text("detail", Some(corruption.message()));
        }
        Outcome::InvalidSettings(fault) => {
            object.text("detail", Some(fault.message()));
        }
        Outcome::FingerprintMismatch
        | Outcome::OperationConflict
        | Outcome::Missing
        | Outcome::NotOwner
        | Outcome::TransitionConflict
        | Outcome::ExecutionStarted => {}
    }
}

fn write_write(object: &mut Object<'_>, write: &Write, request: &Request) {
    object.text("statement", Some(&[request.family.name(), ".", write.statement.name()].concat()));
    object.object("next", |object| {
        let next = &write.next;
        object.text("state", Some(State::name(next.state))).number("attempt", Some(next.attempt));
        object.number("attempt-limit", Some(next.attempt_limit)).number("revision", Some(next.revision));
        object.number("policy-revision", Some(next.policy_revision)).number("lease-until", next.lease_until);
        object.number("retry-at", next.retry_at).number("expires-at", next.expires_at);
        object.text("reason", reason_text(next.reason, request).as_deref());
        object.text("transition-kind", next.transition_kind.map(TransitionKind::name));
    });
}

fn write_row(object: &mut Object<'_>, row: &Row) {
    object.text("scope", Some(&row.scope)).text("state", Some(row.state.name())).text("owner", row.owner.as_deref());
    object.text("operation", row.operation.as_deref()).number("attempt", Some(row.attempt));
    object.number("attempt-limit", Some(row.attempt_limit)).number("revision", Some(row.revision));
    object.text("fingerprint", row.fingerprint.as_deref()).text("codec", row.codec.as_deref());
    object.number("policy-revision", Some(row.policy_revision)).number("lease-until", row.lease_until);
    object.number("retry-at", row.retry_at).number("expires-at", row.expires_at).text("reason", row.reason.as_deref());
    match &row.transition {
        Some(transition) => object.object("transition", |object| {
            object.text("id", Some(&transition.id)).text("kind", Some(transition.kind.name()));
            object.text("digest", transition.digest.as_deref());
        }),
        None => object.null("transition"),
    };
    object.text("result-digest", row.result_digest.as_deref());
}
