//! Waiting for conditions: what does not come in time fails with a sentence, instead of hanging.

use std::future::Future;
use std::time::Duration;

/// Longer than anything takes on a busy machine: no test passes because of it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at what cannot be waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What this future gives.
///
/// # Panics
/// It does not come.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain for {what}"))
}

/// Looks until there is something.
///
/// # Panics
/// There never is.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    within(what, async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    })
    .await
}
