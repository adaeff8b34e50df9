//! Connections to a server: one pool a host, for readings and writes alike.

use std::time::Duration;

use sqlx::Connection as _;
use sqlx::pool::PoolOptions;

use super::{ACQUIRE_TIMEOUT, Driver};

/// Connections of one host to a server.
pub const CONNECTIONS_MAX: u32 = 16;
/// A connection that has been idle for longer is asked first whether it is still there.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// What every server's pool is set to. Nobody waits longer for a connection than a statement may take.
pub(in crate::store) fn pool_of_a_server<D: Driver>(command_timeout: Duration) -> PoolOptions<D> {
    PoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(command_timeout.min(ACQUIRE_TIMEOUT))
        .test_before_acquire(false)
        .before_acquire(|connection: &mut D::Connection, about| {
            Box::pin(async move {
                if about.idle_for > TRUSTED_IDLE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}
