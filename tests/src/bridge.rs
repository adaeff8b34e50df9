//! A whole bridge in this process: a real server on real ports, on a SQLite file of its own, with a store that can be made to fail.
//! And a client that says what it got.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use leasehold::bridge::forward::ForwardOptions;
use leasehold::bridge::server::{Server, ServerOptions};
use leasehold::bridge::tls::TlsFiles;
use leasehold::bridge::{BridgeSettings, PathPattern, RouteSettings};
use leasehold::host::Parts;
use leasehold::store::sqlite::{Migrate, SqliteStore};
use leasehold::{Leasehold, Secrets};
use leasehold_decision::{Family, policy};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

mod reply;

pub use reply::Reply;

pub use crate::hosts::folder;

use crate::faulty::FaultyStore;
use crate::hosts::{catalogue, component};
use crate::wait::within;

/// A host on a file, with a store that can be made to fail.
///
/// # Panics
/// It cannot be put together.
pub async fn host_on(file: &Path) -> (Leasehold, FaultyStore) {
    let component = component();
    let store = FaultyStore::new(Arc::new(SqliteStore::open(file, catalogue(), Migrate::Allowed).await.expect("the file opens")));
    let secret = ("LEASEHOLD_SECRET_1".to_owned(), "5e".repeat(32));
    let parts = Parts {
        decide: Arc::clone(&component) as Arc<dyn leasehold::decide::Decide>,
        component,
        store: store.store(),
        sql: None,
        secrets: Secrets::from_variables([secret]).expect("a secret"),
        settings: HashMap::new(),
        write_timeout: Duration::from_secs(10),
    };
    (Leasehold::from_parts(parts).await.expect("a host"), store)
}

/// The settings that ship.
#[must_use]
pub fn route() -> RouteSettings {
    RouteSettings::new(policy::default_settings(Family::Idempotency))
}

/// What a bridge is put together from.
#[derive(Debug)]
pub struct Setup {
    upstream: String,
    default: RouteSettings,
    routes: Vec<(PathPattern, RouteSettings)>,
    tls: Option<TlsFiles>,
    forward: ForwardOptions,
    grace: Duration,
    folder: Option<TempDir>,
}

impl Setup {
    /// In front of `http://ADDRESS`, or of a whole URL; with the settings that ship.
    pub fn before(upstream: impl Display) -> Self {
        let upstream = upstream.to_string();
        let upstream = if upstream.contains("://") { upstream } else { format!("http://{upstream}") };
        Self {
            upstream,
            default: route(),
            routes: Vec::new(),
            tls: None,
            forward: ForwardOptions::default(),
            grace: Duration::from_secs(30),
            folder: None,
        }
    }

    /// Changes the settings of all routes that have none of their own.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut RouteSettings)) -> Self {
        change(&mut self.default);
        self
    }

    /// A route with settings of its own.
    ///
    /// # Panics
    /// The pattern is none.
    #[must_use]
    pub fn route(mut self, pattern: &str, change: impl FnOnce(&mut RouteSettings)) -> Self {
        let mut settings = route();
        change(&mut settings);
        self.routes.push((PathPattern::parse(pattern).expect("a pattern"), settings));
        self
    }

    /// Serves through TLS.
    #[must_use]
    pub fn tls(mut self, files: TlsFiles) -> Self {
        self.tls = Some(files);
        self
    }

    /// Hands requests on so.
    #[must_use]
    pub fn forward(mut self, forward: ForwardOptions) -> Self {
        self.forward = forward;
        self
    }

    /// Gives what is under way so long once it is told to stop.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// On the file of a bridge that has ended.
    #[must_use]
    pub fn on_the_file_of(mut self, ended: TempDir) -> Self {
        self.folder = Some(ended);
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// It does not start.
    pub async fn start(self) -> Bridge {
        let folder = self.folder.unwrap_or_else(folder);
        let (host, store) = host_on(&folder.path().join("store.db")).await;
        let any = "127.0.0.1:0".parse().expect("an address");
        let options = ServerOptions {
            listen: any,
            tls: self.tls,
            admin: Some(any),
            upstream: self.upstream.parse().expect("a URL"),
            forward: self.forward,
            settings: BridgeSettings::new(self.default, self.routes),
            grace: self.grace,
        };
        let server = Server::bind(host.clone(), options).await.expect("the ports open");
        let (url, admin) = (server.url(), server.admin_url().unwrap_or_default());
        let stop = CancellationToken::new();
        let ended = tokio::spawn(server.run(stop.clone()));
        Bridge { url, admin, host, store, stop, ended, client: Client::builder(TokioExecutor::new()).build_http(), folder }
    }
}

/// A bridge that runs.
#[derive(Debug)]
#[allow(missing_docs, reason = "its parts")]
pub struct Bridge {
    pub url: String,
    pub admin: String,
    pub host: Leasehold,
    pub store: FaultyStore,
    /// Tells it to end.
    pub stop: CancellationToken,
    ended: JoinHandle<bool>,
    client: Client<HttpConnector, Body>,
    folder: TempDir,
}

impl Bridge {
    /// In front of an upstream, with the settings that ship.
    pub async fn before(upstream: impl Display) -> Self {
        Setup::before(upstream).start().await
    }

    /// Its file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    /// Its public address without a scheme.
    ///
    /// # Panics
    /// It is no address.
    #[must_use]
    pub fn address(&self) -> std::net::SocketAddr {
        let (_, address) = self.url.split_once("://").expect("a scheme");
        address.parse().expect("an address")
    }

    /// A POST with a key and a JSON body.
    ///
    /// # Panics
    /// The parts are none of a request's.
    #[must_use]
    pub fn posting(&self, path: &str, key: &str, body: impl Into<Body>) -> Request<Body> {
        let builder = Request::post(format!("{}{path}", self.url)).header("idempotency-key", key);
        builder.header("content-type", "application/json").body(body.into()).expect("a request")
    }

    /// Sends such a POST.
    pub async fn post(&self, path: &str, key: &str, body: impl Into<Body>) -> Reply {
        self.send(self.posting(path, key, body)).await
    }

    /// Sends a request, and waits for the whole answer.
    pub async fn send(&self, request: Request<Body>) -> Reply {
        Reply::of(self.open(request).await).await
    }

    /// The same in a task of its own.
    pub fn sending(&self, request: Request<Body>) -> JoinHandle<Reply> {
        let client = self.client.clone();
        tokio::spawn(async move {
            let answer = within("an answer", client.request(request)).await.expect("an answer");
            Reply::of(answer).await
        })
    }

    /// Sends a request, and waits for the answer's head.
    ///
    /// # Panics
    /// There is none.
    pub async fn open(&self, request: Request<Body>) -> Response<Incoming> {
        within("an answer", self.client.request(request)).await.expect("an answer")
    }

    /// A GET, of the public address or of the admin one.
    ///
    /// # Panics
    /// The URL is none.
    pub async fn get(&self, url: impl Display) -> Reply {
        self.send(Request::get(url.to_string()).body(Body::empty()).expect("a request")).await
    }

    /// Lets so much happen on real sockets that whatever was on its way has arrived.
    pub async fn settle_down(&self) {
        for _ in 0..30 {
            self.get(format!("{}/health", self.admin)).await.is(200, "ok\n");
        }
    }

    /// Ends it, and says whether everything under way was finished; its file can be opened anew.
    ///
    /// # Panics
    /// It does not end.
    pub async fn end(self) -> (bool, TempDir) {
        self.stop.cancel();
        (within("the end", self.ended).await.expect("it ends"), self.folder)
    }
}
