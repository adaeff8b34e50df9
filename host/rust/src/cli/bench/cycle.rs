//! Claim, start, complete on SQLite, against a bare loop of the same statements: the same texts, pool, durability and prepared
//! statements, no decision.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use leasehold_decision::statements::Dialect;
use leasehold_decision::{AdvanceKind, CallTexts, Family, Next, Reason, Row, State, StatementName, TransitionKind, Write};

use super::figures::{Figure, microseconds};
use crate::catalogue::Catalogue;
use crate::cli::{CliError, open};
use crate::component::Component;
use crate::executor::claim::{ClaimAnswer, ClaimRequest, Key};
use crate::host::{HostOptions, Leasehold, SecretSource};
use crate::ids::{Digest, OperationId, Owner, Scope, TransitionId};
use crate::store::sqlite::{Migrate, SqliteStore};
use crate::store::{Store, StoreUrl, Swap, SwapRequest};
use crate::{End, Settlement};

/// Cycles of one round.
const CYCLES: u32 = 200;
/// The result that is stored, in bytes.
const RESPONSE_BYTES: usize = 512;
const FAMILY: Family = Family::Idempotency;

pub(super) async fn measure(rounds: u32, folder: &Path) -> Result<Vec<Figure>, CliError> {
    let host = Leasehold::open(HostOptions {
        code_cache: open::code_cache(),
        secrets: SecretSource::None,
        ..HostOptions::new(StoreUrl::Sqlite(folder.join("cycle.db")))
    })
    .await?;
    let component = Component::built_in(&open::code_cache())?;
    let catalogue = Catalogue::read(&component, Dialect::Sqlite).map_err(crate::host::HostError::from)?;
    let bare = SqliteStore::open(&folder.join("bare.db"), Arc::new(catalogue), Migrate::Allowed)
        .await
        .map_err(crate::host::HostError::from)?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begun = Instant::now();
        for number in 0..CYCLES {
            decided(&host, &format!("with-{round}-{number}")).await?;
        }
        let decided_time = microseconds(begun.elapsed(), CYCLES);
        let begun = Instant::now();
        for number in 0..CYCLES {
            bare_cycle(&bare, &format!("bare-{round}-{number}")).await?;
        }
        let bare_time = microseconds(begun.elapsed(), CYCLES);
        if round > 0 {
            with.push(decided_time);
            without.push(bare_time);
        }
    }
    host.close(std::time::Duration::from_secs(5)).await;
    bare.close().await;
    Ok(vec![
        Figure::of("claim, start, complete on SQLite", &with, "us", None),
        Figure::of("the bare loop of the same statements", &without, "us", None),
        Figure::ratio("throughput of the cycle / of the bare loop", &without, &with, Some("at least 0.9")),
    ])
}

fn failed(what: &str, found: impl std::fmt::Debug) -> CliError {
    CliError::Refused(format!("the measured cycle did not go as it must: {what}: {found:?}"))
}

async fn decided(host: &Leasehold, name: &str) -> Result<(), CliError> {
    let scope = Scope::new(name).map_err(|error| failed("scope", error))?;
    let request =
        ClaimRequest { codec: Some("http-1".to_owned()), ..ClaimRequest::new(FAMILY, Key::Scope { scope, fingerprint: None }) };
    let claimed = match host.claim(request).await? {
        ClaimAnswer::Held(claimed) => claimed,
        ClaimAnswer::Answered(answered) => return Err(failed("claim", answered.settled.outcome)),
    };
    let started = claimed.start().await.map_err(|error| failed("start", error))?;
    match started.settle(End::Success(vec![b'x'; RESPONSE_BYTES]), std::time::Duration::from_secs(5)).await {
        Settlement::Stored { state: State::Completed, .. } => Ok(()),
        other => Err(failed("complete", other)),
    }
}

/// The same three readings and three writes, with values that nobody decided.
async fn bare_cycle(store: &SqliteStore, scope: &str) -> Result<(), CliError> {
    let random = |error| failed("ids", error);
    let (owner, operation) = (Owner::random().map_err(random)?, OperationId::random().map_err(random)?);
    let claim = CallTexts {
        owner: Some(owner.as_str()),
        operation: Some(operation.as_str()),
        codec: Some("http-1"),
        ..CallTexts::default()
    };
    bare_step(store, scope, &claim, None, None).await?;
    let start = TransitionId::random().map_err(random)?;
    let texts = CallTexts { transition: Some(start.as_str()), ..CallTexts::default() };
    bare_step(store, scope, &texts, Some(AdvanceKind::Start), None).await?;
    let response = vec![b'x'; RESPONSE_BYTES];
    let (complete, digest) = (TransitionId::random().map_err(random)?, Digest::of(&response));
    let texts = CallTexts { transition: Some(complete.as_str()), digest: Some(digest.as_str()), ..CallTexts::default() };
    bare_step(store, scope, &texts, Some(AdvanceKind::Complete), Some(&response)).await
}

async fn bare_step(
    store: &SqliteStore,
    scope: &str,
    texts: &CallTexts<'_>,
    kind: Option<AdvanceKind>,
    response: Option<&[u8]>,
) -> Result<(), CliError> {
    let reading = store.read(FAMILY, scope).await?;
    let before = reading.stored.as_ref().map(|stored| &stored.row);
    let write = undecided(before, kind, reading.now);
    let request = SwapRequest {
        family: FAMILY,
        scope,
        before,
        write: &write,
        texts,
        now: reading.now,
        deadline: reading.now + 10_000,
        response,
    };
    match store.swap(request).await? {
        Swap::Applied => Ok(()),
        other => Err(failed("bare write", other)),
    }
}

/// What the statements set, written down without looking at the record's state.
fn undecided(before: Option<&Row>, kind: Option<AdvanceKind>, now: u64) -> Write {
    let (statement, state, transition_kind) = match kind {
        Some(AdvanceKind::Start) => (StatementName::Start, State::Executing, Some(TransitionKind::Start)),
        Some(_) => (StatementName::Complete, State::Completed, Some(TransitionKind::Complete)),
        None => (StatementName::Insert, State::Claimed, None),
    };
    let next = Next {
        state,
        attempt: 1,
        attempt_limit: 8,
        revision: before.map_or(now, |row| row.revision + 1),
        policy_revision: 1,
        lease_until: Some(now + 30_000),
        retry_at: None,
        expires_at: Some(now + 86_400_000),
        reason: Reason::None,
        transition_kind,
    };
    Write { statement, next }
}
