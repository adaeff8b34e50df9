//! Claim, start, complete on a store, against a bare loop of the same statements: sqlx with the same texts, pools, durability and
//! prepared statements, and no decision.
//!
//! The two sides take turns in small blocks within a round, and each goes first every other time, so that a disk whose speed drifts
//! slows both down alike.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leasehold_decision::statements::Statement;
use leasehold_decision::{Family, State};
use tokio::task::JoinSet;

use super::figures::{Figure, microseconds};
use crate::catalogue::{CatalogueError, Value};
use crate::cli::{CliError, open};
use crate::component::Component;
use crate::executor::claim::{ClaimAnswer, ClaimRequest, Key};
use crate::host::{HostError, HostOptions, Leasehold, SecretSource};
use crate::ids::{Digest, OperationId, Owner, Scope, TransitionId};
use crate::store::sql::fixtures::Fixtures as _;
use crate::store::sql::{Driver, SqlHandle, SqlStore};
use crate::store::{StoreError, StoreUrl};
use crate::{End, Settlement};

/// Blocks of one round, a side.
const BLOCKS: u32 = 8;
/// Cycles of one block.
const BLOCK_CYCLES: u32 = 32;
/// On a store that was named, this many clients at once, one after the other.
const CLIENTS: [u32; 3] = [1, 8, 32];
/// The result that is stored, in bytes.
const RESPONSE_BYTES: usize = 512;
const FAMILY: Family = Family::Idempotency;
const CODEC: &str = "http-1";

/// Whatever ends the bare loop.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// On a file in a folder, by one client.
pub(super) async fn measure(rounds: u32, folder: &Path) -> Result<Vec<Figure>, CliError> {
    on(&StoreUrl::Sqlite(folder.join("cycle.db")), "SQLite", rounds, &CLIENTS[..1]).await
}

/// On a store that was named; the records are taken away again.
pub(super) async fn measure_on(store: &StoreUrl, rounds: u32) -> Result<Vec<Figure>, CliError> {
    on(store, store.provider(), rounds, &CLIENTS).await
}

async fn on(store: &StoreUrl, name: &str, rounds: u32, clients: &[u32]) -> Result<Vec<Figure>, CliError> {
    let options = HostOptions { code_cache: open::code_cache(), secrets: SecretSource::None, ..HostOptions::new(store.clone()) };
    let host = Leasehold::open(options).await?;
    let sql = host.inner.sql.clone().ok_or_else(|| CliError::Refused("this store runs no SQL".to_owned()))?;
    let run = OperationId::random().map_err(|error| CliError::Other(error.into()))?;
    let mut figures = Vec::new();
    for clients in clients {
        let bench = Bench { host: &host, name, run: run.as_str(), rounds, clients: *clients };
        figures.extend(match &sql {
            SqlHandle::Sqlite(store) => bench.measure(store).await?,
            SqlHandle::Postgres(store) => bench.measure(store).await?,
            SqlHandle::Mysql(store) => bench.measure(store).await?,
        });
    }
    host.close(Duration::from_secs(5)).await;
    Ok(figures)
}

struct Bench<'a> {
    host: &'a Leasehold,
    name: &'a str,
    run: &'a str,
    rounds: u32,
    clients: u32,
}

impl Bench<'_> {
    async fn measure<D: Driver>(&self, store: &SqlStore<D>) -> Result<Vec<Figure>, CliError> {
        let bare = Arc::new(Bare::open(store.clone(), self.host.component())?);
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for round in 0..=self.rounds {
            let (mut decided_time, mut bare_time) = (Duration::ZERO, Duration::ZERO);
            for block in 0..BLOCKS {
                let name = format!("bench:{}:{}:{round}:{block}", self.run, self.clients);
                if block % 2 == 0 {
                    decided_time += self.decided_block(&name).await?;
                    bare_time += self.bare_block(&bare, &name).await?;
                } else {
                    bare_time += self.bare_block(&bare, &name).await?;
                    decided_time += self.decided_block(&name).await?;
                }
                self.strike(store, &name).await?;
            }
            // The first round warms up.
            if round > 0 {
                with.push(microseconds(decided_time, BLOCKS * BLOCK_CYCLES));
                without.push(microseconds(bare_time, BLOCKS * BLOCK_CYCLES));
            }
        }
        let at_once = if self.clients == 1 { String::new() } else { format!(", {} at once", self.clients) };
        Ok(vec![
            Figure::of(&format!("claim, start, complete on {}{at_once}", self.name), &with, "us", None),
            Figure::of(&format!("the bare loop of the same statements{at_once}"), &without, "us", None),
            Figure::ratio(
                &format!("throughput of the cycle / of the bare loop{at_once}"),
                &without,
                &with,
                Some(if self.name == "SQLite" { "at least 0.9" } else { "at least 0.95" }),
            ),
        ])
    }

    async fn strike<D: Driver>(&self, store: &SqlStore<D>, name: &str) -> Result<(), StoreError> {
        let sides = ["decided", "bare"].into_iter();
        let scopes = sides.flat_map(|side| (0..BLOCK_CYCLES).map(move |number| (FAMILY, format!("{name}:{side}:{number}"))));
        store.remove_rows(&scopes.collect::<Vec<_>>()).await
    }

    async fn decided_block(&self, name: &str) -> Result<Duration, CliError> {
        let host = self.host.clone();
        let name = format!("{name}:decided");
        block(self.clients, move |number| {
            let (host, scope) = (host.clone(), format!("{name}:{number}"));
            async move { decided(&host, &scope).await }
        })
        .await
    }

    async fn bare_block<D: Driver>(&self, bare: &Arc<Bare<D>>, name: &str) -> Result<Duration, CliError> {
        let bare = Arc::clone(bare);
        let name = format!("{name}:bare");
        block(self.clients, move |number| {
            let (bare, scope) = (Arc::clone(&bare), format!("{name}:{number}"));
            async move { bare.cycle(&scope).await.map_err(CliError::Other) }
        })
        .await
    }
}

/// The cycles of a block, by so many clients at once.
async fn block<F>(clients: u32, cycle: impl Fn(u32) -> F + Clone + Send + 'static) -> Result<Duration, CliError>
where
    F: Future<Output = Result<(), CliError>> + Send,
{
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let cycle = cycle.clone();
        tasks.spawn(async move {
            for number in (client..BLOCK_CYCLES).step_by(clients as usize) {
                cycle(number).await?;
            }
            Ok::<(), CliError>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(|error| CliError::Other(error.into()))??;
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
struct Bare<D: Driver> {
    store: SqlStore<D>,
    read: Plan,
    insert: Plan,
    start: Plan,
    complete: Plan,
}

/// A statement, and for each of its parameters the place of its value in the list that is given by hand.
struct Plan {
    text: Arc<str>,
    places: Vec<usize>,
}

/// What the values of the four statements stand for, in the order in which they are given here.
const READ: &[&str] = &["args.scope"];
const INSERT: &[&str] = &[
    "args.scope",
    "next.state",
    "args.owner",
    "args.operation",
    "next.attempt",
    "next.attempt-limit",
    "next.revision",
    "args.fingerprint",
    "args.codec",
    "next.policy-revision",
    "next.lease-until",
    "args.now",
    "host.deadline",
];
const TUPLE: [&str; 5] = ["before.scope", "before.owner", "before.operation", "before.attempt", "before.revision"];
const START: &[&str] =
    &["next.state", "next.revision", "next.lease-until", "args.transition", "next.transition-kind", "args.digest", "args.now"];
const COMPLETE: &[&str] = &[
    "next.state",
    "next.revision",
    "next.expires-at",
    "args.transition",
    "next.transition-kind",
    "args.digest",
    "host.response",
    "args.now",
];

impl<D: Driver> Bare<D> {
    fn open(store: SqlStore<D>, component: &Component) -> Result<Self, CliError> {
        let listed = component.catalog(D::DIALECT).map_err(HostError::from)?;
        let listed = listed.map_err(|_| HostError::from(CatalogueError::DialectNotCarried))?;
        let guarded = |sets: &[&'static str]| [sets, &TUPLE].concat();
        Ok(Self {
            store,
            read: plan(&listed, "idempotency.read", READ)?,
            insert: plan(&listed, "idempotency.insert", INSERT)?,
            start: plan(&listed, "idempotency.start", &guarded(START))?,
            complete: plan(&listed, "idempotency.complete", &guarded(COMPLETE))?,
        })
    }

    /// The same reading and the same three writes, with values that nobody decided.
    async fn cycle(&self, scope: &str) -> Result<(), Failure> {
        let (owner, operation) = (Owner::random()?, OperationId::random()?);
        let tuple = |revision: u64| -> [Value<'_>; 5] {
            [scope.into(), owner.as_str().into(), operation.as_str().into(), 1.into(), revision.into()]
        };
        let now = self.clock(scope).await?;
        let insert = [
            scope.into(),
            "CLAIMED".into(),
            owner.as_str().into(),
            operation.as_str().into(),
            1.into(),
            8.into(),
            now.into(),
            Value::Text(None),
            CODEC.into(),
            1.into(),
            (now + 30_000).into(),
            now.into(),
            (now + 10_000).into(),
        ];
        self.write(&self.insert, &insert).await?;

        let id = TransitionId::random()?;
        let start = [
            "EXECUTING".into(),
            (now + 1).into(),
            (now + 30_000).into(),
            id.as_str().into(),
            "start".into(),
            Value::Text(None),
            now.into(),
        ];
        self.write(&self.start, &[&start[..], &tuple(now)].concat()).await?;

        let response = vec![b'x'; RESPONSE_BYTES];
        let (id, digest) = (TransitionId::random()?, Digest::of(&response));
        let complete = [
            "COMPLETED".into(),
            (now + 2).into(),
            (now + 86_400_000).into(),
            id.as_str().into(),
            "complete".into(),
            digest.as_str().into(),
            Value::Bytes(Some(&response)),
            now.into(),
        ];
        self.write(&self.complete, &[&complete[..], &tuple(now + 1)].concat()).await
    }

    /// The clock, read with the record that is not there yet.
    async fn clock(&self, scope: &str) -> Result<u64, Failure> {
        let mut connection = self.store.readers().acquire().await?;
        let rows = D::fetch(&mut connection, &self.read.text, &self.read.values(&[scope.into()])).await?;
        let row = rows.first().ok_or("a reading gave no row")?;
        Ok(u64::try_from(D::integer(row, 0)?.ok_or("the clock gave nothing")?)?)
    }

    async fn write(&self, plan: &Plan, values: &[Value<'_>]) -> Result<(), Failure> {
        let mut connection = self.store.writer().acquire().await?;
        match D::run(&mut connection, &plan.text, &plan.values(values)).await? {
            1 => Ok(()),
            rows => Err(failed("rows of a bare write", rows).into()),
        }
    }
}

impl Plan {
    fn values<'v>(&self, given: &[Value<'v>]) -> Vec<Value<'v>> {
        self.places.iter().filter_map(|place| given.get(*place)).copied().collect()
    }
}

/// A statement, if each of its parameters is one of those that are given here.
fn plan(listed: &[Statement], id: &str, given: &[&str]) -> Result<Plan, CliError> {
    let statement = listed.iter().find(|statement| statement.id == id);
    let statement = statement.ok_or_else(|| failed("a statement of the bare loop is missing", id))?;
    let place = |source: &String| {
        let found = given.iter().position(|given| given == source);
        found.ok_or_else(|| failed("a parameter of the bare loop", (id, source)))
    };
    Ok(Plan { text: statement.text.as_str().into(), places: statement.binds.iter().map(place).collect::<Result<_, _>>()? })
}
