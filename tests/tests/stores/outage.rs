//! The server is killed and comes back: while it is gone nothing runs, and nothing that was confirmed is lost.

use std::sync::Arc;

use leasehold::{Execution, Outcome, State};
use leasehold_tests::hosts::{Ledger, charge, row, settings, until};
use leasehold_tests::servers::Server;

use crate::ground::Ground;

pub async fn a_crash_of_the_server_loses_nothing(shared: &Ground) {
    let server = Server::start(shared.server().kind()).expect("the shared one runs");
    let ground = Ground::on(Arc::new(server));
    let (host, ledger) = (ground.host(settings(30_000)).await, Ledger::new());
    for key in ["a", "b"] {
        assert!(matches!(charge(&host, &ledger, key).await.unwrap(), Execution::Executed { .. }));
    }
    ground.server().crash();
    let error = charge(&host, &ledger, "c").await.unwrap_err().to_string();
    assert!(error.contains("unavailable"), "{error}");
    assert_eq!(ledger.times("c"), 0, "nothing runs without a confirmed start");
    ground.server().run();
    until("it takes claims again", || async { charge(&host, &ledger, "c").await.ok() }).await;
    until("c is answered", || async {
        let execution = charge(&host, &ledger, "c").await.ok()?;
        matches!(execution, Execution::Answered(answered) if matches!(answered.settled.outcome, Outcome::CompletedReplay(_)))
            .then_some(())
    })
    .await;
    for key in ["a", "b", "c"] {
        assert_eq!(row(&host, key).await.unwrap().row.state, State::Completed, "{key}");
        assert_eq!(ledger.times(key), 1, "{key}");
    }
}
