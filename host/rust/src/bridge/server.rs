//! The server: the proxy on its public address, the admin routes on their own, the sweep and the purge beside them.
//!
//! Knows no command line. Tests: `tests/tests/bridge/`.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use leasehold_decision::Family;
use tokio_util::sync::CancellationToken;

use super::admin;
use super::forward::{Forward, ForwardOptions, UpstreamUrl};
use super::layer::IdempotencyLayer;
use super::listen::{ListenError, Listener};
use super::proxy::Proxy;
use super::settings::BridgeSettings;
use super::tls::{TlsError, TlsFiles};
use crate::host::Leasehold;

/// How often executions whose lease is over are looked for.
pub const SWEEP_INTERVAL: Duration = Duration::from_secs(5);
/// How often ended records are removed.
pub const PURGE_INTERVAL: Duration = Duration::from_secs(60);
/// How long the store is given to take what is left, once requests have ended.
const CLOSE_GRACE: Duration = Duration::from_secs(5);

/// What a server is put together from.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The public address.
    pub listen: SocketAddr,
    /// Certificate and key, for TLS.
    pub tls: Option<TlsFiles>,
    /// The address of `/health`, `/ready` and `/metrics`.
    pub admin: Option<SocketAddr>,
    /// Where requests go.
    pub upstream: UpstreamUrl,
    /// How they are handed on.
    pub forward: ForwardOptions,
    /// How they are treated.
    pub settings: BridgeSettings,
    /// How long requests under way may take once the server is told to stop.
    pub grace: Duration,
}

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// An address cannot be used.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The upstream's certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A server whose addresses are open, and which takes no requests yet.
#[derive(Debug)]
pub struct Server {
    host: Leasehold,
    public: Listener,
    admin: Option<Listener>,
    proxy: Proxy,
    layer: IdempotencyLayer,
    grace: Duration,
}

impl Server {
    /// Opens the addresses.
    ///
    /// # Errors
    /// An address or a certificate cannot be used.
    pub async fn bind(host: Leasehold, options: ServerOptions) -> Result<Self, ServerError> {
        let forward = Forward::new(options.upstream, &options.forward)?;
        let settings = options.settings.with_connect_timeout(options.forward.connect_timeout);
        let layer = IdempotencyLayer::new(host.clone(), settings);
        let public = Listener::bind(options.listen, options.tls.as_ref()).await?;
        let admin = match options.admin {
            Some(address) => Some(Listener::bind(address, None).await?),
            None => None,
        };
        Ok(Self { host, public, admin, proxy: Proxy::new(&layer, forward), layer, grace: options.grace })
    }

    /// The public address, as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.public.transport().scheme(), self.public.local_addr())
    }

    /// The admin address, as a URL.
    #[must_use]
    pub fn admin_url(&self) -> Option<String> {
        self.admin.as_ref().map(|listener| format!("http://{}", listener.local_addr()))
    }

    /// Serves until `shutdown`; then takes no more requests, and finishes what is executing. `false` where the grace was over first:
    /// what was cut is in the recovery list once its lease is over.
    pub async fn run(self, shutdown: CancellationToken) -> bool {
        let background = tokio::spawn(keep_house(self.host.clone(), shutdown.clone()));
        let admin_stop = CancellationToken::new();
        let admin = self.admin.map(|listener| {
            let routes = admin::router(self.host.clone(), self.layer.metrics().clone());
            tokio::spawn(listener.serve(routes, admin_stop.clone(), Duration::from_secs(1)))
        });
        let (stop, grace) = (shutdown.clone(), self.grace);
        // The grace begins with the stop, for connections and for what goes on without one.
        let over = async move {
            stop.cancelled().await;
            Instant::now().checked_add(grace)
        };
        let (ended, over) = tokio::join!(self.public.serve(self.proxy, shutdown, grace), over);
        if ended.cut > 0 {
            tracing::warn!(connections = ended.cut, "the grace was over: connections were cut");
        }
        let _ = background.await;
        let left = over.map_or(grace, |over| over.saturating_duration_since(Instant::now()));
        let finished = self.host.close(CLOSE_GRACE.max(left)).await;
        admin_stop.cancel();
        if let Some(admin) = admin {
            let _ = admin.await;
        }
        finished
    }
}

/// Buries executions that nobody asks about, and removes what has ended.
async fn keep_house(host: Leasehold, stop: CancellationToken) {
    let mut sweep = tokio::time::interval(SWEEP_INTERVAL);
    let mut purge = tokio::time::interval(PURGE_INTERVAL);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = sweep.tick() => swept(&host).await,
            _ = purge.tick() => purged(&host).await,
        }
    }
}

async fn swept(host: &Leasehold) {
    for family in [Family::Idempotency, Family::Inbox] {
        match host.sweep(family).await {
            Ok(swept) => {
                for corrupt in swept.corrupt {
                    tracing::error!(family = family.name(), scope = corrupt.scope, what = corrupt.what, "a record is corrupt");
                }
            }
            Err(error) => tracing::warn!(family = family.name(), %error, "a sweep failed; the next one tries again"),
        }
    }
}

async fn purged(host: &Leasehold) {
    for family in Family::ALL {
        match host.purge(family).await {
            Ok(0) => {}
            Ok(records) => tracing::info!(family = family.name(), records, "purged"),
            Err(error) => tracing::warn!(family = family.name(), %error, "a purge failed; the next one tries again"),
        }
    }
}
