//! The real server, twice, on one store: clients that repeat themselves at both have one effect.

use std::collections::BTreeMap;

use leasehold_tests::binary::leasehold;
use leasehold_tests::served::Served;
use leasehold_tests::upstream::{Upstream, charged};

use crate::ground::Ground;

const SECRET: (&str, &str) = ("LEASEHOLD_SECRET_1", "abcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcd");

pub async fn duplicates_at_two_servers_have_one_effect(ground: &Ground) {
    let upstream = Upstream::start(|asked| async move { Ok(charged(&asked)) }).await;
    let store = ground.url.as_str();
    let first = Served::start_on(leasehold(), store, upstream.address, &[], &[SECRET]).await;
    let second = Served::start_on(leasehold(), store, upstream.address, &[], &[SECRET]).await;
    let client = reqwest::Client::new();
    let mut tasks = Vec::new();
    for number in 0..100 {
        let address = if number % 2 == 0 { first.address } else { second.address };
        let request = client.post(format!("http://{address}/charges")).header("Idempotency-Key", format!("order-{}", number % 5));
        let request = request.header("content-type", "application/json").body(format!("{{\"order\":{}}}", number % 5));
        tasks.push(tokio::spawn(async move { request.send().await.unwrap().status().as_u16() }));
    }
    let mut statuses: BTreeMap<u16, u32> = BTreeMap::new();
    for task in tasks {
        *statuses.entry(task.await.unwrap()).or_default() += 1;
    }
    assert!(statuses.keys().all(|status| matches!(status, 200 | 201 | 409)), "{statuses:?}");
    assert_eq!(upstream.booked().len(), 5, "{statuses:?}");
    // One dies; the other replays what it stored.
    first.kill().await;
    for order in 0..5 {
        let request = client.post(format!("http://{}/charges", second.address)).header("Idempotency-Key", format!("order-{order}"));
        let reply = request.header("content-type", "application/json").body(format!("{{\"order\":{order}}}")).send().await.unwrap();
        assert_eq!(reply.headers().get("idempotency-replayed").map(|value| value.as_bytes()), Some(&b"true"[..]), "{reply:?}");
    }
    assert_eq!(upstream.booked().len(), 5);
}
