//! Start, the action's writes and complete commit together, on every store that has transactions.

use leasehold::executor::transaction::{ActionFuture, TransactionExecution};
use leasehold::store::sql::Driver;
use leasehold::{Leasehold, State, StoreUrl};
use leasehold_tests::hosts::{request, row, settings};
use sqlx::{Connection, Executor, MySqlConnection, PgConnection, SqliteConnection};

use crate::ground::Ground;

const EFFECT: &str = "INSERT INTO effect (what) VALUES ('charged')";

fn charge<C>(connection: &mut C, well: bool) -> ActionFuture<'_>
where
    C: Connection,
    for<'c> &'c mut C: Executor<'c, Database = C::Database>,
{
    Box::pin(async move {
        connection.execute(EFFECT).await.map_err(|error| error.to_string())?;
        if well { Ok(b"done".to_vec()) } else { Err("NO_MONEY".to_owned()) }
    })
}

async fn on<C>(host: &Leasehold, ground: &Ground)
where
    C: Connection,
    C::Database: leasehold::store::sql::Handled + Driver<Connection = C>,
    for<'c> &'c mut C: Executor<'c, Database = C::Database>,
{
    let failed = host.execute_in_transaction(request("a"), |connection: &mut C| charge(connection, false)).await.unwrap();
    assert!(matches!(&failed, TransactionExecution::RolledBack { reason } if reason == "NO_MONEY"), "{failed:?}");
    assert_eq!(ground.sql("SELECT COUNT(*) FROM effect").await, "0");
    assert_eq!(row(host, "a").await.unwrap().row.state, State::FailedRetryable);

    let done = host.execute_in_transaction(request("a"), |connection: &mut C| charge(connection, true)).await.unwrap();
    assert!(matches!(&done, TransactionExecution::Committed { response } if response == b"done"), "{done:?}");
    let again = host.execute_in_transaction(request("a"), |connection: &mut C| charge(connection, true)).await.unwrap();
    assert!(matches!(again, TransactionExecution::Answered(_)), "{again:?}");
    assert_eq!(ground.sql("SELECT COUNT(*) FROM effect").await, "1");
    let stored = row(host, "a").await.unwrap();
    assert_eq!((stored.row.state, stored.response.as_deref()), (State::Completed, Some(&b"done"[..])));

    let panics = host.execute_in_transaction(request("b"), |_: &mut C| Box::pin(async { panic!("in the middle") })).await;
    assert!(matches!(panics, Ok(TransactionExecution::RolledBack { .. })), "{panics:?}");
}

pub async fn a_transaction_is_all_or_nothing(ground: &Ground) {
    let host = ground.host(settings(30_000)).await;
    match ground.address() {
        StoreUrl::Sqlite(_) => {
            ground.sql("CREATE TABLE effect (what TEXT NOT NULL)").await;
            on::<SqliteConnection>(&host, ground).await;
        }
        StoreUrl::Postgres(_) => {
            ground
                .sql(&format!("CREATE TABLE effect (what TEXT NOT NULL); ALTER TABLE effect OWNER TO {}", ground.database().name))
                .await;
            on::<PgConnection>(&host, ground).await;
        }
        StoreUrl::Mysql(_) => {
            ground.sql("CREATE TABLE effect (what VARCHAR(100) NOT NULL) ENGINE = InnoDB").await;
            on::<MySqlConnection>(&host, ground).await;
        }
    }
}
