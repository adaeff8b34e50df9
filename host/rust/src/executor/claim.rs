//! Which record a key has, and whether the caller may have it.

use std::sync::Arc;
use std::time::Instant;

use leasehold_decision::{CallTexts, ClaimArgs, Family, Grant, Outcome, Settings, Token, keys};

use super::handle::Claimed;
use crate::cycle::{CycleError, Question, Settled, Tries};
use crate::decide::Call;
use crate::host::Leasehold;
use crate::ids::{Fingerprint, NoRandomness, OperationId, Owner, Scope, token};
use crate::keyring::{KeyedRequest, Keyring, KeyringError};
use crate::store::Reading;

/// What names a record.
#[derive(Clone, Debug)]
pub enum Key {
    /// A scope and fingerprint of the caller's own.
    Scope {
        /// What must happen at most once.
        scope: Scope,
        /// Keyed hash of the payload.
        fingerprint: Option<Fingerprint>,
    },
    /// A raw key: scope and fingerprint are made from it with the secrets, and nothing of it is stored.
    Keyed(KeyedRequest),
}

/// A claim.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// Which table.
    pub family: Family,
    /// Which record.
    pub key: Key,
    /// The caller's id of this claim call; drawn where it is `None`. The same call sent again carries the same id and owner.
    pub operation: Option<OperationId>,
    /// The owner token; drawn where it is `None`.
    pub owner: Option<Owner>,
    /// Codec in which the result will be stored.
    pub codec: Option<String>,
    /// Codecs whose stored results the caller can replay.
    pub readable_codecs: Vec<String>,
    /// Settings that replace the host's for this record.
    pub settings: Option<Settings>,
}

impl ClaimRequest {
    /// A claim with everything else drawn or as the host has it.
    #[must_use]
    pub const fn new(family: Family, key: Key) -> Self {
        Self { family, key, operation: None, owner: None, codec: None, readable_codecs: Vec::new(), settings: None }
    }
}

/// What came of a claim.
#[derive(Debug)]
pub enum ClaimAnswer {
    /// The record is the caller's: nobody has started, and the caller may.
    Held(Claimed),
    /// It is not: the outcome says why.
    Answered(Answered),
}

/// A claim's outcome other than a grant.
#[derive(Debug)]
pub struct Answered {
    /// The record's scope.
    pub scope: Scope,
    /// The outcome, and the record as read.
    pub settled: Box<Settled>,
}

/// Why a claim has no outcome. Nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// The store or the component failed.
    #[error(transparent)]
    Cycle(#[from] CycleError),
    /// The key's scope cannot be made.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// Nothing random to be had.
    #[error(transparent)]
    Random(#[from] NoRandomness),
    /// The host has no secrets.
    #[error("this host was put together without secrets: give it some, or name the scope yourself")]
    NoSecrets,
}

/// A record that was looked up.
struct Located {
    scope: Scope,
    fingerprint: Option<Fingerprint>,
    read_after: Instant,
    reading: Reading,
    /// No record may be made before this. Milliseconds since the epoch.
    closed_until: Option<u64>,
}

impl Leasehold {
    /// May this caller have the record?
    ///
    /// # Errors
    /// There is no outcome; nothing was started.
    pub async fn claim(&self, request: ClaimRequest) -> Result<ClaimAnswer, ClaimError> {
        let settings = request.settings.unwrap_or_else(|| self.settings(request.family));
        let owner = request.owner.map_or_else(Owner::random, Ok)?;
        let operation = request.operation.map_or_else(OperationId::random, Ok)?;
        let readable: Vec<Token> = request.readable_codecs.iter().map(|codec| keys::name(codec)).collect();
        let mut tries = Tries::default();
        while tries.go_on() {
            let located = match self.locate(request.family, &request.key).await {
                Err(ClaimError::Cycle(CycleError::Store(error))) => return Err(tries.failed(error).into()),
                located => located?,
            };
            if let Some(closed_until) = located.closed_until {
                return Ok(closed(located, closed_until));
            }
            let args = ClaimArgs {
                owner: token(owner.as_str()),
                operation: keys::name(operation.as_str()),
                fingerprint: located.fingerprint.as_ref().map(|fingerprint| token(fingerprint.as_str())),
                codec: request.codec.as_deref().map(keys::name),
            };
            let texts = CallTexts {
                owner: Some(owner.as_str()),
                operation: Some(operation.as_str()),
                fingerprint: located.fingerprint.as_ref().map(Fingerprint::as_str),
                codec: request.codec.as_deref(),
                ..CallTexts::default()
            };
            let question = Question {
                family: request.family,
                settings: &settings,
                scope: located.scope.as_str(),
                call: Call::Claim(&args, &readable),
                texts: &texts,
                response: None,
                audit: None,
            };
            let step = self.inner.cycle.step(&question, located.read_after, located.reading, &mut tries).await?;
            if let Some(settled) = step {
                let known = settled.known(located.scope.as_str(), &texts);
                return Ok(match grant(&settled.outcome) {
                    Some(grant) => ClaimAnswer::Held(Claimed::new(
                        self,
                        request.family,
                        located.scope,
                        settings,
                        owner,
                        operation,
                        grant,
                        &settled,
                        known,
                    )),
                    None => ClaimAnswer::Answered(Answered { scope: located.scope, settled: Box::new(settled) }),
                });
            }
        }
        Err(tries.exhausted().into())
    }

    async fn locate(&self, family: Family, key: &Key) -> Result<Located, ClaimError> {
        match key {
            Key::Scope { scope, fingerprint } => {
                let (read_after, reading) = self.read(family, scope).await?;
                Ok(Located { scope: scope.clone(), fingerprint: fingerprint.clone(), read_after, reading, closed_until: None })
            }
            Key::Keyed(keyed) => {
                let keyring = self.inner.keyring.as_ref().ok_or(ClaimError::NoSecrets)?;
                self.locate_keyed(family, keyring, keyed).await
            }
        }
    }

    async fn read(&self, family: Family, scope: &Scope) -> Result<(Instant, Reading), CycleError> {
        let read_after = Instant::now();
        Ok((read_after, self.inner.cycle.store.read(family, scope.as_str()).await?))
    }

    /// Newest version first, then older ones: a row of an older version, expired or not, is decided in place while it exists.
    /// A reading that shows another set of versions in force than was looked up begins anew.
    async fn locate_keyed(&self, family: Family, keyring: &Arc<Keyring>, keyed: &KeyedRequest) -> Result<Located, ClaimError> {
        let mut tries = Tries::default();
        while tries.go_on() {
            let plan = keyring.plan(keyring.last_clock())?;
            let mut newest: Option<Located> = None;
            let mut moved = false;
            for version in &plan.versions {
                let scope = keyring.scope(*version, keyed)?;
                let (read_after, reading) = self.read(family, &scope).await?;
                keyring.saw_clock(reading.now);
                if reading.secret_version != keyring.newest_known() {
                    keyring.refresh(self.store()).await?;
                    moved = true;
                    break;
                }
                let now_in_force = keyring.plan(reading.now)?;
                if now_in_force.versions != plan.versions {
                    moved = true;
                    break;
                }
                let found = reading.stored.is_some();
                if found || newest.is_none() {
                    let fingerprint = Some(keyring.fingerprint_of(*version, &keyed.payload).await?);
                    let closed_until = now_in_force.closed_until.filter(|_| !found);
                    newest = Some(Located { scope, fingerprint, read_after, reading, closed_until });
                }
                if found {
                    break;
                }
            }
            if let Some(located) = newest.filter(|_| !moved) {
                return Ok(located);
            }
        }
        Err(tries.exhausted().into())
    }
}

/// In the last moments before a rotation no record is made.
fn closed(located: Located, closed_until: u64) -> ClaimAnswer {
    ClaimAnswer::Answered(Answered {
        scope: located.scope,
        settled: Box::new(Settled {
            outcome: Outcome::RetryLater(closed_until),
            before: None,
            now: located.reading.now,
            read_after: located.read_after,
            write: None,
        }),
    })
}

/// The outcomes under which nobody has started and the caller may.
const fn grant(outcome: &Outcome) -> Option<Grant> {
    match outcome {
        Outcome::Acquired(grant) | Outcome::TakenOver(grant) | Outcome::ReplayedAcquire(grant) => Some(*grant),
        _ => None,
    }
}
