//! From the catalogue's sources to values, for the statements that are no writes of decisions.

use leasehold_decision::Family;

use super::super::{After, Audit, Evidence, List, SwapRequest};
use crate::catalogue::{ArgsField, BeforeField, Source, Value};

pub(super) const READ: usize = 0;
pub(super) const WAITING_COUNT: usize = 3;
pub(super) const PURGE: usize = 4;

pub(super) const fn list(list: List) -> usize {
    match list {
        List::Waiting => 1,
        List::Lapsed => 2,
    }
}

/// The ids of a family's statements that are no writes of decisions.
pub(super) const fn id(family: Family, which: usize) -> &'static str {
    let ids: [&'static str; 5] = match family {
        Family::Idempotency => {
            ["idempotency.read", "idempotency.waiting", "idempotency.lapsed", "idempotency.waiting-count", "idempotency.purge"]
        }
        Family::Inbox => ["inbox.read", "inbox.waiting", "inbox.lapsed", "inbox.waiting-count", "inbox.purge"],
        Family::Outbox => ["outbox.read", "outbox.waiting", "outbox.lapsed", "outbox.waiting-count", "outbox.purge"],
        Family::Cleanup => ["cleanup.read", "cleanup.waiting", "cleanup.lapsed", "cleanup.waiting-count", "cleanup.purge"],
    };
    ids[which]
}

/// What the statements that are no writes of decisions take.
#[derive(Clone, Copy, Default)]
pub(super) struct Given<'a> {
    pub(super) family: &'a str,
    pub(super) scope: &'a str,
    pub(super) after: Option<&'a After>,
    pub(super) limit: u64,
    pub(super) retention: u64,
    pub(super) version: u64,
    pub(super) active_from: u64,
    pub(super) check_value: &'a str,
    pub(super) notice: u64,
    pub(super) evidence: Option<&'a Evidence>,
    pub(super) audit: Option<(SwapRequest<'a>, Audit<'a>)>,
}

impl<'a> Given<'a> {
    pub(super) fn audit(request: &SwapRequest<'a>, audit: &Audit<'a>) -> Self {
        Self { family: request.family.name(), scope: request.scope, audit: Some((*request, *audit)), ..Self::default() }
    }

    pub(super) fn values(&self, binds: &[Source]) -> Vec<Value<'a>> {
        binds.iter().map(|source| self.value(source)).collect()
    }

    /// The value of one parameter; a source that has no meaning here is absent.
    fn value(&self, source: &Source) -> Value<'a> {
        match source {
            Source::Args(ArgsField::Scope) => Value::from(self.scope),
            Source::Args(ArgsField::Digest) => self.evidence.and_then(|evidence| evidence.digest.as_deref()).into(),
            Source::Args(ArgsField::Reason) => self.evidence.and_then(|evidence| evidence.reason.as_deref()).into(),
            Source::Args(ArgsField::Now) => self.audit.map(|(request, _)| request.now).into(),
            Source::Args(ArgsField::Transition) => self.audit.and_then(|(request, _)| request.texts.transition).into(),
            Source::Before(field) => self.before(*field),
            Source::Host(name) => self.host(name),
            Source::Args(_) | Source::Next(_) => Value::Text(None),
        }
    }

    fn before(&self, field: BeforeField) -> Value<'a> {
        let before = self.audit.and_then(|(request, _)| request.before);
        match field {
            BeforeField::Scope => before.map(|row| row.scope.as_str()).into(),
            BeforeField::Owner => before.and_then(|row| row.owner.as_deref()).into(),
            BeforeField::Operation => before.and_then(|row| row.operation.as_deref()).into(),
            BeforeField::Attempt => before.map(|row| row.attempt).into(),
            BeforeField::Revision => before.map(|row| row.revision).into(),
        }
    }

    fn host(&self, name: &str) -> Value<'a> {
        let audit = self.audit.map(|(_, audit)| audit);
        match name {
            "family" => Value::from(self.family),
            "limit" => Value::from(self.limit),
            "failure-retention" | "retention" => Value::from(self.retention),
            "after-time" => self.after.map(|after| after.time).into(),
            "after-scope" => self.after.map(|after| after.scope.as_str()).into(),
            "version" => Value::from(self.version),
            "active-from" => Value::from(self.active_from),
            "check-value" => Value::from(self.check_value),
            "notice" => Value::from(self.notice),
            "attempt" => self.evidence.map(|evidence| evidence.attempt).into(),
            "kind" => self.evidence.map(|evidence| evidence.kind.as_str()).into(),
            "refused" => self.evidence.map(|evidence| evidence.refused.as_str()).into(),
            "response" => Value::Bytes(self.evidence.and_then(|evidence| evidence.response.as_deref())),
            "verdict" => audit.map(|audit| audit.verdict).into(),
            "actor" => audit.map(|audit| audit.actor).into(),
            "reason" => audit.map(|audit| audit.reason).into(),
            "before" => audit.map(|audit| audit.before).into(),
            _ => Value::Text(None),
        }
    }
}
