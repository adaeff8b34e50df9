//! Claim, start, complete on SQLite, against a bare loop of the same statements: hand-written sqlx with the same texts, pools,
//! durability and prepared statements, and no decision.
//!
//! The two sides take turns in small blocks within a round, and each goes first every other time, so that a disk whose speed drifts
//! slows both down alike.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leasehold_decision::statements::{Dialect, Statement};
use leasehold_decision::{Family, State};
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqlitePool, SqliteRow};
use sqlx::{AssertSqlSafe, Row as _, SqlSafeStr as _, SqlStr};

use super::figures::{Figure, microseconds};
use crate::catalogue::{Catalogue, CatalogueError};
use crate::cli::{CliError, open};
use crate::component::Component;
use crate::executor::claim::{ClaimAnswer, ClaimRequest, Key};
use crate::host::{HostError, HostOptions, Leasehold, SecretSource};
use crate::ids::{Digest, OperationId, Owner, Scope, TransitionId};
use crate::store::sqlite::{Migrate, SqliteStore};
use crate::store::{Store, StoreUrl};
use crate::{End, Settlement};

/// Blocks of one round, a side.
const BLOCKS: u32 = 8;
/// Cycles of one block.
const BLOCK_CYCLES: u32 = 25;
/// The result that is stored, in bytes.
const RESPONSE_BYTES: usize = 512;
const FAMILY: Family = Family::Idempotency;
const CODEC: &str = "http-1";

/// Whatever ends the bare loop.
type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(super) async fn measure(rounds: u32, folder: &Path) -> Result<Vec<Figure>, CliError> {
    let host = Leasehold::open(HostOptions {
        code_cache: open::code_cache(),
        secrets: SecretSource::None,
        ..HostOptions::new(StoreUrl::Sqlite(folder.join("cycle.db")))
    })
    .await?;
    let bare = Bare::open(&folder.join("bare.db")).await?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (mut decided_time, mut bare_time) = (Duration::ZERO, Duration::ZERO);
        for block in 0..BLOCKS {
            let name = format!("{round}-{block}");
            if block % 2 == 0 {
                decided_time += decided_block(&host, &name).await?;
                bare_time += bare_block(&bare, &name).await?;
            } else {
                bare_time += bare_block(&bare, &name).await?;
                decided_time += decided_block(&host, &name).await?;
            }
        }
        // The first round warms up.
        if round > 0 {
            with.push(microseconds(decided_time, BLOCKS * BLOCK_CYCLES));
            without.push(microseconds(bare_time, BLOCKS * BLOCK_CYCLES));
        }
    }
    host.close(Duration::from_secs(5)).await;
    bare.store.close().await;
    Ok(vec![
        Figure::of("claim, start, complete on SQLite", &with, "us", None),
        Figure::of("the bare loop of the same statements", &without, "us", None),
        Figure::ratio("throughput of the cycle / of the bare loop", &without, &with, Some("at least 0.9")),
    ])
}

async fn decided_block(host: &Leasehold, name: &str) -> Result<Duration, CliError> {
    let begun = Instant::now();
    for number in 0..BLOCK_CYCLES {
        decided(host, &format!("{name}-{number}")).await?;
    }
    Ok(begun.elapsed())
}

async fn bare_block(bare: &Bare, name: &str) -> Result<Duration, CliError> {
    let begun = Instant::now();
    for number in 0..BLOCK_CYCLES {
        bare.cycle(&format!("{name}-{number}")).await.map_err(CliError::Other)?;
    }
    Ok(begun.elapsed())
}

fn failed(what: &str, found: impl std::fmt::Debug) -> CliError {
    CliError::Refused(format!("the measured cycle did not go as it must: {what}: {found:?}"))
}

async fn decided(host: &Leasehold, name: &str) -> Result<(), CliError> {
    let scope = Scope::new(name).map_err(|error| failed("scope", error))?;
    let request =
        ClaimRequest { codec: Some(CODEC.to_owned()), ..ClaimRequest::new(FAMILY, Key::Scope { scope, fingerprint: None }) };
    let claimed = match host.claim(request).await? {
        ClaimAnswer::Held(claimed) => claimed,
        ClaimAnswer::Answered(answered) => return Err(failed("claim", answered.settled.outcome)),
    };
    let started = claimed.start().await.map_err(|error| failed("start", error))?;
    match started.settle(End::Success(vec![b'x'; RESPONSE_BYTES]), Duration::from_secs(5)).await {
        Settlement::Stored { state: State::Completed, .. } => Ok(()),
        other => Err(failed("complete", other)),
    }
}

/// The statements of the cycle, bound by hand: a program without a decision, which knows what it will find.
struct Bare {
    /// It made the file and its pools, which are those of every host; nothing else of it is measured.
    store: SqliteStore,
    readers: SqlitePool,
    writer: SqlitePool,
    read: SqlStr,
    insert: SqlStr,
    start: SqlStr,
    complete: SqlStr,
}

/// What the parameters of the four statements stand for, in the order in which they are bound here.
const READ: &str = "args.scope";
const INSERT: &str = "args.scope next.state args.owner args.operation next.attempt next.attempt-limit next.revision args.fingerprint \
                      args.codec next.policy-revision next.lease-until args.now args.now host.deadline";
const START: &str = "next.state next.revision next.lease-until args.transition next.transition-kind args.digest args.now before.scope \
                     before.owner before.operation before.attempt before.revision";
const COMPLETE: &str = "next.state next.revision next.expires-at args.transition next.transition-kind args.digest args.digest \
                        host.response args.now before.scope before.owner before.operation before.attempt before.revision";

impl Bare {
    async fn open(file: &Path) -> Result<Self, CliError> {
        let component = Component::built_in(&open::code_cache())?;
        let catalogue = Catalogue::read(&component, Dialect::Sqlite).map_err(HostError::from)?;
        let listed = component.catalog(Dialect::Sqlite).map_err(HostError::from)?;
        let listed = listed.map_err(|_| HostError::from(CatalogueError::DialectNotCarried))?;
        let store = SqliteStore::open(file, Arc::new(catalogue), Migrate::Allowed).await.map_err(HostError::from)?;
        Ok(Self {
            readers: store.readers().clone(),
            writer: store.writer().clone(),
            store,
            read: text(&listed, "idempotency.read", READ)?,
            insert: text(&listed, "idempotency.insert", INSERT)?,
            start: text(&listed, "idempotency.start", START)?,
            complete: text(&listed, "idempotency.complete", COMPLETE)?,
        })
    }

    /// The same three readings and three writes, with values that nobody decided.
    async fn cycle(&self, scope: &str) -> Result<(), Failure> {
        let (owner, operation) = (Owner::random()?, OperationId::random()?);
        let (owner, operation) = (owner.as_str(), operation.as_str());
        let now: i64 = self.reading(scope).await?.try_get(0)?;
        let insert = sqlx::query(self.insert.clone()).bind(scope).bind("CLAIMED").bind(owner).bind(operation);
        let insert = insert.bind(1_i64).bind(8_i64).bind(now).bind(None::<&str>).bind(CODEC).bind(1_i64);
        self.write(insert.bind(now + 30_000).bind(now).bind(now).bind(now + 10_000)).await?;

        let reading = self.reading(scope).await?;
        let (now, revision): (i64, i64) = (reading.try_get("now")?, reading.try_get("revision")?);
        let id = TransitionId::random()?;
        let start = sqlx::query(self.start.clone()).bind("EXECUTING").bind(revision + 1).bind(now + 30_000).bind(id.as_str());
        let start = start.bind("start").bind(None::<&str>).bind(now);
        self.write(start.bind(scope).bind(owner).bind(operation).bind(1_i64).bind(revision)).await?;

        let response = vec![b'x'; RESPONSE_BYTES];
        let (id, digest) = (TransitionId::random()?, Digest::of(&response));
        let reading = self.reading(scope).await?;
        let (now, revision): (i64, i64) = (reading.try_get("now")?, reading.try_get("revision")?);
        let complete = sqlx::query(self.complete.clone()).bind("COMPLETED").bind(revision + 1).bind(now + 86_400_000);
        let complete = complete.bind(id.as_str()).bind("complete").bind(digest.as_str()).bind(digest.as_str());
        let complete = complete.bind(response).bind(now);
        self.write(complete.bind(scope).bind(owner).bind(operation).bind(1_i64).bind(revision)).await
    }

    async fn reading(&self, scope: &str) -> sqlx::Result<SqliteRow> {
        sqlx::query(self.read.clone()).bind(scope).fetch_one(&self.readers).await
    }

    async fn write(&self, query: Query<'_, Sqlite, SqliteArguments>) -> Result<(), Failure> {
        match query.execute(&self.writer).await?.rows_affected() {
            1 => Ok(()),
            rows => Err(failed("rows of a bare write", rows).into()),
        }
    }
}

/// A statement's text, if its parameters are still those that are bound here.
fn text(listed: &[Statement], id: &str, binds: &str) -> Result<SqlStr, CliError> {
    match listed.iter().find(|statement| statement.id == id) {
        Some(statement) if statement.binds.join(" ") == binds => Ok(AssertSqlSafe(statement.text.clone()).into_sql_str()),
        other => Err(failed("parameters of the bare loop", (id, other.map(|statement| &statement.binds)))),
    }
}
