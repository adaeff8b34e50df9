//! The purge: in bounded batches, on every host at once, and only what has ended long enough ago.

use std::time::Duration;

use leasehold::Family;
use leasehold_tests::hosts::{hold, row, settings};

use crate::ground::Ground;

pub async fn hosts_that_purge_at_once_take_each_row_once(ground: &Ground) {
    let store = ground.store().await.store();
    let host = ground.host(settings(30_000)).await;
    for number in 0..60 {
        hold(&host, &format!("ended {number}")).await.fail("X").await.unwrap();
    }
    let _held = hold(&host, "held").await;
    ground.sql("UPDATE leasehold_idempotency SET expires_at = 1 WHERE state = 'FAILED_RETRYABLE'").await;
    hold(&host, "young").await.fail("X").await.unwrap();
    let other = ground.store().await.store();
    let purge = |store: std::sync::Arc<dyn leasehold::Store>| async move {
        let mut taken = 0;
        loop {
            match store.purge(Family::Idempotency, Duration::from_secs(60), 7).await.unwrap() {
                0 => return taken,
                some => taken += some,
            }
        }
    };
    let (one, two) = tokio::join!(purge(store), purge(other));
    assert_eq!(one + two, 60, "{one} and {two}");
    assert!(row(&host, "held").await.is_some() && row(&host, "young").await.is_some());
}
