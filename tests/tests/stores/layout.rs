//! Layouts: made once, checked at each start, refused where they are not known.

use std::time::Duration;

use leasehold::store::sql::Migrate;
use leasehold_tests::servers::Kind;
use tokio::task::JoinSet;

use crate::ground::Ground;

async fn refused(ground: &Ground, migrate: Migrate) -> String {
    match ground.open(migrate).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => {
            let told = error.to_string();
            assert!(!told.contains("s3cret"), "{told}");
            told
        }
    }
}

pub async fn a_layout_is_made_once_and_checked(ground: &Ground) {
    if ground.url.starts_with("sqlite:") {
        refused(ground, Migrate::Refused).await;
    } else {
        assert!(refused(ground, Migrate::Refused).await.contains("has no layout of leasehold yet"));
    }
    // Several hosts start on a fresh store, at once and while the first still makes its tables.
    let starts: JoinSet<_> = (0..12_u64)
        .map(|number| {
            let ground = ground.with_url(&ground.url);
            async move {
                tokio::time::sleep(Duration::from_millis(number * 7)).await;
                ground.open(Migrate::Allowed).await
            }
        })
        .collect();
    for opened in starts.join_all().await {
        opened.unwrap_or_else(|error| panic!("{error}"));
    }
    ground.open(Migrate::Refused).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ground.sql("SELECT COUNT(*) FROM leasehold_layout").await, "1");
    ground.sql("UPDATE leasehold_layout SET version = 77").await;
    let told = refused(ground, Migrate::Allowed).await;
    assert!(told.contains("has layout 77 of leasehold; this build knows layout 1"), "{told}");
}

pub async fn another_providers_tables_are_refused(ground: &Ground) {
    ground.store().await;
    ground.sql("UPDATE leasehold_layout SET provider = 'redis'").await;
    let told = refused(ground, Migrate::Allowed).await;
    assert!(told.contains("was laid out by the provider \"redis\", not by"), "{told}");
}

pub async fn a_half_done_layout_is_refused(ground: &Ground) {
    ground.store().await;
    match ground.server().kind() {
        Kind::Postgres => ground.sql("TRUNCATE leasehold_layout").await,
        Kind::Mariadb => ground.sql("DELETE FROM leasehold_layout").await,
    };
    assert!(refused(ground, Migrate::Allowed).await.contains("no layout version"));
    ground.sql("DROP TABLE leasehold_layout").await;
    let told = refused(ground, Migrate::Allowed).await;
    assert!(told.contains("no layout version") && told.contains("remove the tables"), "{told}");
}
