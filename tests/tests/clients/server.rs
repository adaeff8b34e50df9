//! `leasehold serve` as a child process, on a file of its own; it ends when its handle is dropped.

use std::net::SocketAddr;
use std::process::Stdio;

use leasehold::component::CodeCache;
use leasehold_tests::binary::leasehold;
use leasehold_tests::hosts::code_cache;
use leasehold_tests::wait::within;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// What it says once it takes requests.
const LISTENING: &str = "listening on http://";

/// A server that takes requests.
#[derive(Debug)]
pub struct Server {
    /// Where.
    pub address: SocketAddr,
    /// They end with it; the output stays open, so that it may go on printing.
    _held: (Child, Lines<BufReader<ChildStdout>>, TempDir),
}

impl Server {
    /// One in front of this upstream.
    ///
    /// # Panics
    /// It does not start.
    pub async fn before(upstream: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let mut command = Command::new(leasehold());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LEASEHOLD_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--key", "required", "--upstream", &format!("http://{upstream}")]);
        command.args(["--store", &format!("sqlite:{}", folder.path().join("leasehold.db").display())]);
        if let CodeCache::Folder(folder) = code_cache() {
            command.arg("--cache-dir").arg(folder);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(std::fs::File::create(&log).expect("a log")).kill_on_drop(true);
        let mut child = command.spawn().expect("leasehold starts");
        let mut said = BufReader::new(child.stdout.take().expect("its output is a pipe")).lines();
        let listening = async {
            while let Some(line) = said.next_line().await.expect("its output is text") {
                if let Some(address) = line.strip_prefix(LISTENING) {
                    return address.parse().expect("an address");
                }
            }
            panic!("it ended before it took requests: {}", std::fs::read_to_string(&log).unwrap_or_default())
        };
        let address = within("leasehold to take requests", listening).await;
        Self { address, _held: (child, said, folder) }
    }
}
