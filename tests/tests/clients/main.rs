//! Real clients that retry on their own, against the real binary: curl, one from PyPI (urllib3), one from npm (got).
//!
//! Each mishap makes such a client repeat its request by itself. At the end the upstream's ledger has exactly one effect for the
//! key, and the client holds the answer to it.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `mishap` | what goes wrong, and what must have come of it |
//! | `client` | the three clients: where they are found, how they are started |
//! | `line` | the way between client and bridge: it loses and cuts answers, and notes what went over it |
//! | `payments` | the upstream, and its ledger |
//!
//! The clients' programs are in `tests/clients/`, whose `install` installs them. Where one is missing its tests say `skipped: no ...`
//! aloud, and fail if `LEASEHOLD_REQUIRE_SERVERS` is 1. No retries and no waiting for time here: the clients do both.

mod client;
mod line;
mod mishap;
mod payments;

use client::Client;

/// One test for each mishap of a client.
macro_rules! mishaps {
    ($name:ident, $client:expr) => {
        mod $name {
            use super::{Client, mishap};

            #[tokio::test(flavor = "multi_thread")]
            async fn comes_again_when_a_busy_upstream_says_so() {
                mishap::busy($client).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn comes_again_when_the_upstream_refused_the_connection() {
                mishap::refused($client).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn gets_the_answer_of_a_request_that_it_gave_up() {
                mishap::slow($client).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn gets_an_answer_that_was_lost_on_the_way() {
                mishap::lost($client).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn gets_an_answer_that_was_cut_on_the_way() {
                mishap::cut($client).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn is_told_whom_to_ask_when_the_upstream_died() {
                mishap::died($client).await;
            }
        }
    };
}

mishaps!(curl, Client::Curl);
mishaps!(urllib3, Client::Urllib3);
mishaps!(got, Client::Got);

#[tokio::test(flavor = "multi_thread")]
async fn all_clients_at_once_with_one_key_get_the_one_answer() {
    mishap::crowd(&[Client::Curl, Client::Urllib3, Client::Got]).await;
}
