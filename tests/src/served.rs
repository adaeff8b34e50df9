//! `leasehold serve` as a child process; it ends when its handle is dropped, or is killed.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use leasehold::component::CodeCache;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::hosts::code_cache;
use crate::wait::within;

/// What it says once it takes requests.
const LISTENING: &str = "listening on http://";

/// A server that takes requests.
#[derive(Debug)]
pub struct Served {
    /// Where.
    pub address: SocketAddr,
    child: Child,
    /// It stays open, so that the child may go on printing.
    _output: Lines<BufReader<ChildStdout>>,
    _log: TempDir,
}

impl Served {
    /// This binary, on a store's file, in front of an upstream, with further arguments.
    ///
    /// # Panics
    /// It does not start.
    pub async fn start(binary: &Path, file: &Path, upstream: SocketAddr, args: &[&str]) -> Self {
        Self::start_on(binary, &format!("sqlite:{}", file.display()), upstream, args, &[]).await
    }

    /// As [`Served::start`], on any store, with variables.
    ///
    /// # Panics
    /// It does not start.
    pub async fn start_on(binary: &Path, store: &str, upstream: SocketAddr, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let mut command = Command::new(binary);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LEASEHOLD_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--upstream", &format!("http://{upstream}")]).args(args);
        command.args(["--store", store]).envs(variables.iter().copied());
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
        Self { address, child, _output: said, _log: folder }
    }

    /// Ends it as `kill -9` does.
    ///
    /// # Panics
    /// It cannot be killed.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it is there to be killed");
    }
}
