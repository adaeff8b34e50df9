//! The store's clock: the server's, in integer milliseconds since the epoch, whatever the session is set to.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use leasehold_tests::servers::Kind;

use crate::ground::Ground;

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_millis()).expect("a time")
}

async fn is_right(ground: &Ground) {
    let store = ground.store().await.store();
    let mut last = 0;
    for _ in 0..5 {
        let (before, read) = (now(), store.clock().await.unwrap());
        // The server runs on this machine, so that both clocks are one; a reading may be cut to the millisecond.
        assert!(read + 1 >= before && read <= now() + 1, "{read} is not {before}");
        assert!(read >= last, "it goes on");
        last = read;
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    let reading = store.read(leasehold::Family::Idempotency, "none").await.unwrap();
    assert!(reading.now.abs_diff(now()) < 1_000 && reading.stored.is_none());
}

pub async fn the_clock_is_the_servers(ground: &Ground) {
    is_right(ground).await;
}

/// Case 20: an odd time zone, an odd way to write dates, a strict or an old mode.
pub async fn an_odd_session_changes_no_reading(ground: &Ground) {
    is_right(ground).await;
    let name = &ground.database().name;
    match ground.server().kind() {
        Kind::Postgres => {
            for setting in ["timezone = 'America/St_Johns'", "datestyle = 'SQL, DMY'", "intervalstyle = 'sql_standard'"] {
                ground.server().administer(&format!("ALTER DATABASE {name} SET {setting}"));
            }
        }
        Kind::Mariadb => {
            for zone in ["-09:30", "+13:00"] {
                ground.server().administer(&format!("SET GLOBAL time_zone = '{zone}'"));
                ground.server().administer("SET GLOBAL sql_mode = 'ANSI,TRADITIONAL,NO_UNSIGNED_SUBTRACTION,ONLY_FULL_GROUP_BY'");
                is_right(ground).await;
            }
            ground.server().administer("SET GLOBAL sql_mode = ''");
            is_right(ground).await;
            ground.server().administer("SET GLOBAL sql_mode = DEFAULT");
            ground.server().administer("SET GLOBAL time_zone = DEFAULT");
        }
    }
    is_right(ground).await;
}
