//! The list of what waits for a verdict, and how an abandoned record ends.

use std::str::FromStr;

use leasehold_decision::{CallTexts, Family, Outcome, ResolveArgs, Verdict, keys};
use serde::Serialize;

use crate::cycle::{CycleError, Question};
use crate::decide::Call;
use crate::host::Leasehold;
use crate::ids::{Digest, Malformed, Scope, TransitionId, token};
use crate::store::{After, Audit, AuditEntry, CorruptRow, Evidence, List, StoreError, StoredRow};

/// Longest reason of a verdict, in bytes.
pub const VERDICT_REASON_BYTES_MAX: usize = 2_000;

/// What is given to an operator: the family and the scope.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reference {
    /// Which table.
    pub family: Family,
    /// Which record.
    pub scope: Scope,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.family.name(), self.scope)
    }
}

/// A text that is no reference.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It has no known family in front.
    #[error("{0:?} is no reference: FAMILY/SCOPE is expected, as `leasehold recovery list` prints it")]
    Family(String),
    /// What stands behind it is no scope.
    #[error(transparent)]
    Scope(#[from] Malformed),
}

impl FromStr for Reference {
    type Err = ReferenceError;

    /// A bare scope is taken as an idempotency key's.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/').and_then(|(family, scope)| Some((Family::from_name(family)?, scope))) {
            Some((family, scope)) => Ok(Self { family, scope: Scope::new(scope)? }),
            None if text.starts_with('d') && text.contains(':') => {
                Ok(Self { family: Family::Idempotency, scope: Scope::new(text)? })
            }
            None => Err(ReferenceError::Family(text.to_owned())),
        }
    }
}

/// One record that waits for a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Waiting {
    /// What to name it by.
    pub reference: String,
    /// Which table.
    pub family: &'static str,
    /// The operation code in its scope, where there is one.
    pub operation_code: Option<String>,
    /// Number of the try.
    pub attempt: u64,
    /// Its revision: a verdict is about this one.
    pub revision: u64,
    /// Why it was abandoned.
    pub reason: Option<String>,
    /// How long it has been waiting. Milliseconds.
    pub age_ms: u64,
}

/// All that is known of one record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// What to name it by.
    pub reference: Reference,
    /// The record.
    pub stored: StoredRow,
    /// The store's clock. Milliseconds since the epoch.
    pub now: u64,
    /// Ends that came too late and were refused.
    pub evidence: Vec<Evidence>,
    /// Verdicts given before.
    pub audit: Vec<AuditEntry>,
}

/// A verdict, and who gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerdictRequest {
    /// What was found out.
    pub verdict: Verdict,
    /// Who says so.
    pub actor: String,
    /// Why; kept in the audit.
    pub reason: String,
    /// The attempt and the revision that were looked at; `None` takes those that the record has now.
    pub seen: Option<(u64, u64)>,
    /// The result to replay; counts with `completed` alone.
    pub response: Option<Vec<u8>>,
    /// Tries that are allowed beyond the present one, at least; counts with `no-effect` alone.
    pub extra_attempts: u64,
}

/// Why a verdict has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// The store or the component failed.
    #[error(transparent)]
    Cycle(#[from] CycleError),
    /// There is no such record.
    #[error("there is no record {0}")]
    Missing(String),
    /// A verdict needs a reason.
    #[error("a verdict needs a reason of 1 to {VERDICT_REASON_BYTES_MAX} bytes: it is kept in the audit")]
    Reason,
    /// A response goes with another verdict.
    #[error("a response goes with the verdict completed alone")]
    Response,
}

impl From<StoreError> for RecoveryError {
    fn from(error: StoreError) -> Self {
        Self::Cycle(CycleError::Store(error))
    }
}

impl Leasehold {
    /// What waits for a verdict, oldest first, and the rows that cannot be read.
    ///
    /// # Errors
    /// The store failed.
    pub async fn waiting(&self, family: Family, limit: usize) -> Result<(Vec<Waiting>, Vec<CorruptRow>), RecoveryError> {
        let (mut waiting, mut corrupt, mut after) = (Vec::new(), Vec::new(), After::default());
        loop {
            let page = self.store().list(family, List::Waiting, &after, super::sweep::BATCH_ROWS_MAX).await?;
            for stored in &page.rows {
                let Ok(scope) = Scope::new(&stored.row.scope) else {
                    corrupt.push(CorruptRow { scope: stored.row.scope.clone(), what: "its scope is malformed".to_owned() });
                    continue;
                };
                waiting.push(Waiting {
                    operation_code: scope.operation_code().map(str::to_owned),
                    reference: Reference { family, scope }.to_string(),
                    family: family.name(),
                    attempt: stored.row.attempt,
                    revision: stored.row.revision,
                    reason: stored.row.reason.clone(),
                    age_ms: page.now.saturating_sub(stored.changed_at),
                });
            }
            corrupt.extend(page.corrupt);
            match page.next.filter(|_| waiting.len() < limit) {
                Some(next) => after = next,
                None => {
                    waiting.truncate(limit);
                    return Ok((waiting, corrupt));
                }
            }
        }
    }

    /// All that is known of one record.
    ///
    /// # Errors
    /// There is none, or the store failed.
    pub async fn show(&self, reference: &Reference) -> Result<Shown, RecoveryError> {
        let (family, scope) = (reference.family, reference.scope.as_str());
        let reading = self.store().read(family, scope).await?;
        let stored = reading.stored.ok_or_else(|| RecoveryError::Missing(reference.to_string()))?;
        let (evidence, audit) = (self.store().evidence(family, scope).await?, self.store().audit(family, scope).await?);
        Ok(Shown { reference: reference.clone(), stored, now: reading.now, evidence, audit })
    }

    /// Ends an abandoned record. The audit entry is written in the same transaction.
    ///
    /// # Errors
    /// There is no outcome: nothing was written.
    pub async fn resolve(&self, reference: &Reference, request: &VerdictRequest) -> Result<Outcome, RecoveryError> {
        if request.reason.trim().is_empty() || request.reason.len() > VERDICT_REASON_BYTES_MAX {
            return Err(RecoveryError::Reason);
        }
        if request.response.is_some() && request.verdict != Verdict::Completed {
            return Err(RecoveryError::Response);
        }
        let shown = self.show(reference).await?;
        let (attempt, revision) = request.seen.unwrap_or((shown.stored.row.attempt, shown.stored.row.revision));
        let id = TransitionId::random().map_err(|error| CycleError::Indeterminate(error.to_string()))?;
        let digest = request.response.as_deref().map(Digest::of);
        let args = ResolveArgs {
            transition: keys::name(id.as_str()),
            attempt,
            revision,
            verdict: request.verdict,
            digest: digest.as_ref().map(|digest| token(digest.as_str())),
            extra_attempts: request.extra_attempts,
        };
        let texts =
            CallTexts { transition: Some(id.as_str()), digest: digest.as_ref().map(Digest::as_str), ..CallTexts::default() };
        let before = serde_json::to_string(&RowView::of(&shown.stored)).unwrap_or_default();
        let settings = self.settings(reference.family);
        let question = Question {
            family: reference.family,
            settings: &settings,
            scope: reference.scope.as_str(),
            call: Call::Resolve(&args),
            texts: &texts,
            response: request.response.as_deref(),
            audit: Some(Audit { verdict: request.verdict.name(), actor: &request.actor, reason: &request.reason, before: &before }),
        };
        Ok(self.inner.cycle.run(&question).await?.outcome)
    }
}

/// A record as JSON, in the field names of the contract.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the fields are those of section 7 of the contract")]
pub struct RowView<'a> {
    pub scope: &'a str,
    pub state: &'static str,
    pub owner: Option<&'a str>,
    pub operation: Option<&'a str>,
    pub attempt: u64,
    pub attempt_limit: u64,
    pub revision: u64,
    pub fingerprint: Option<&'a str>,
    pub codec: Option<&'a str>,
    pub policy_revision: u64,
    pub lease_until: Option<u64>,
    pub retry_at: Option<u64>,
    pub expires_at: Option<u64>,
    pub reason: Option<&'a str>,
    pub transition: Option<TransitionView<'a>>,
    pub result_digest: Option<&'a str>,
}

/// The last transition as JSON.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the fields are those of section 7 of the contract")]
pub struct TransitionView<'a> {
    pub id: &'a str,
    pub kind: &'static str,
    pub digest: Option<&'a str>,
}

impl<'a> RowView<'a> {
    /// Of a stored row.
    #[must_use]
    pub fn of(stored: &'a StoredRow) -> Self {
        let row = &stored.row;
        Self {
            scope: &row.scope,
            state: row.state.name(),
            owner: row.owner.as_deref(),
            operation: row.operation.as_deref(),
            attempt: row.attempt,
            attempt_limit: row.attempt_limit,
            revision: row.revision,
            fingerprint: row.fingerprint.as_deref(),
            codec: row.codec.as_deref(),
            policy_revision: row.policy_revision,
            lease_until: row.lease_until,
            retry_at: row.retry_at,
            expires_at: row.expires_at,
            reason: row.reason.as_deref(),
            transition: row.transition.as_ref().map(|last| TransitionView {
                id: &last.id,
                kind: last.kind.name(),
                digest: last.digest.as_deref(),
            }),
            result_digest: row.result_digest.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_family_and_a_scope() {
        let parsed: Reference = "idempotency/d1:http:00".parse().unwrap();
        assert_eq!(parsed.to_string(), "idempotency/d1:http:00");
        assert_eq!("d1:http:00".parse::<Reference>().unwrap(), parsed);
        assert_eq!("outbox/order/17".parse::<Reference>().unwrap().scope.as_str(), "order/17");
        for text in ["", "order-17", "nothing/x", "idempotency/"] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
    }
}
