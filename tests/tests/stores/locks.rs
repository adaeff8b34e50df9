//! What the server refuses, or keeps waiting: told in time, with what to do, and never as "not known" where nothing was done.

use std::time::{Duration, Instant};

use leasehold::store::sql::{Migrate, SqlHandle};
use leasehold_tests::hosts::{hold, row, settings};
use leasehold_tests::servers::Kind;
use sqlx::{Connection as _, Executor as _};

use crate::ground::{COMMAND_TIMEOUT, Ground};

/// Somebody's transaction, with that statement done in it.
enum Holder {
    Postgres(sqlx::PgConnection),
    Mysql(sqlx::MySqlConnection),
}

impl Holder {
    async fn new(ground: &Ground, text: &'static str) -> Self {
        match ground.server().kind() {
            Kind::Postgres => {
                let mut connection = sqlx::PgConnection::connect(&ground.url).await.unwrap();
                connection.execute("BEGIN").await.unwrap();
                connection.execute(text).await.unwrap();
                Self::Postgres(connection)
            }
            Kind::Mariadb => {
                let mut connection = sqlx::MySqlConnection::connect(&ground.url).await.unwrap();
                connection.execute("BEGIN").await.unwrap();
                connection.execute(text).await.unwrap();
                Self::Mysql(connection)
            }
        }
    }

    async fn commit(&mut self) {
        match self {
            Self::Postgres(connection) => connection.execute("COMMIT").await.map(drop).unwrap(),
            Self::Mysql(connection) => connection.execute("COMMIT").await.map(drop).unwrap(),
        }
    }
}

pub async fn a_row_that_is_locked_is_told_in_time(ground: &Ground) {
    let host = ground.host(settings(60_000)).await;
    let claimed = hold(&host, "a").await;
    let mut holder = Holder::new(ground, "UPDATE leasehold_idempotency SET changed_at = changed_at").await;
    let begun = Instant::now();
    let told = claimed.release().await.unwrap_err().to_string();
    let took = begun.elapsed();
    assert!(told.contains("unavailable") && told.contains("lock"), "{told}");
    assert!(took >= COMMAND_TIMEOUT / 2 && took < COMMAND_TIMEOUT * 5, "{took:?}");
    assert_eq!(row(&host, "a").await.unwrap().row.attempt, 1, "a reading waits for nobody");
    holder.commit().await;
    host.sweep(leasehold::Family::Idempotency).await.unwrap();
}

pub async fn a_server_that_takes_no_writes_is_told(ground: &Ground) {
    ground.store().await;
    let name = &ground.database().name;
    if ground.server().kind() == Kind::Postgres {
        ground.server().administer(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
        let told = ground.open(Migrate::Allowed).await.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains("this server takes no writes"), "{told}");
    } else {
        ground.server().administer(&format!("REVOKE ALL ON {name}.* FROM {name}@'127.0.0.1'"));
        ground.server().administer(&format!("REVOKE ALL ON {name}.* FROM {name}@'localhost'"));
        let told = ground.open(Migrate::Allowed).await.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains("look at the store's URL"), "{told}");
    }
}

pub async fn a_wrong_password_is_told_without_it(ground: &Ground) {
    if ground.server().kind() == Kind::Postgres {
        // Connections of these tests are trusted, whatever the password is.
        let url = ground.url.replace(&format!("{}:", ground.database().name), "nobody:");
        return check(&url, ground).await;
    }
    check(&ground.url.replace("s3cret", "wr0ng"), ground).await;
}

async fn check(url: &str, ground: &Ground) {
    let wrong = ground.with_url(url);
    let told = wrong.open(Migrate::Allowed).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("the user or the password is not right"), "{told}");
    assert!(!told.contains("s3cret") && !told.contains("wr0ng"), "{told}");
}

/// Case 34: a write that waits for its own row while its stream is cut over must not go through. The outbox's own runner comes later;
/// the statement is the catalogue's.
pub async fn a_cut_over_waits_for_the_writes_under_way(ground: &Ground) {
    let SqlHandle::Postgres(_) = ground.store().await else { panic!("another store") };
    ground
        .sql(
            "INSERT INTO leasehold_outbox (scope, state, owner, operation, attempt, attempt_limit, revision, policy_revision, lease_until, \
             created_at, changed_at) VALUES ('e', 'CLAIMED', 'o', 'p', 1, 8, 5, 1, 9000000000000, 0, 0)",
        )
        .await;
    let catalogue = leasehold_tests::hosts::catalogue_of(leasehold_decision::statements::Dialect::Postgres);
    let renew = catalogue.write(leasehold::Family::Outbox, leasehold_decision::StatementName::Renew).unwrap().text.to_string();
    // The poller's own row is locked by somebody for a moment; meanwhile the stream is handed over.
    let mut holder = Holder::new(ground, "UPDATE leasehold_outbox SET changed_at = changed_at").await;
    let url = ground.url.clone();
    let poller = tokio::spawn(async move {
        let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
        let renew = sqlx::query(sqlx::AssertSqlSafe(renew)).bind(6_i64).bind(9_000_000_000_001_i64).bind("t").bind("renew");
        let renew = renew.bind(None::<&str>).bind(1_i64).bind("e").bind("o").bind("p").bind(1_i64).bind(5_i64);
        renew.execute(&mut connection).await.unwrap().rows_affected()
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let cut = tokio::spawn({
        let url = ground.url.clone();
        async move {
            let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
            connection.execute("UPDATE leasehold_outbox_authority SET mode = 'EXTERNAL'").await.unwrap();
        }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let cut_first = cut.is_finished();
    holder.commit().await;
    let changed = poller.await.unwrap();
    cut.await.unwrap();
    assert_eq!(u64::from(!cut_first), changed, "either the cut-over waited for the write, or the write changed nothing");
}
