//! Every operation of the executor's cycle goes wrong in every way, on this store.

use leasehold_tests::mishaps::{Action, every_operation};

use crate::ground::Ground;

pub async fn any_operation_may_go_wrong(ground: &Ground) {
    let store = ground.store().await;
    every_operation(&store, Action::Short, 4, &[1, 3]).await;
    every_operation(&store, Action::Long, 8, &[1]).await;
}
