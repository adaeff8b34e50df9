//! leasehold as others see it: this very program, started as a child process. It is stopped when its handle is dropped.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::error::DemoError;

/// How long leasehold may take to start: the first time it compiles its component.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// How long a killed server is waited for, and how often it is looked at.
const GONE_LIMIT: Duration = Duration::from_secs(2);
const GONE_PAUSE: Duration = Duration::from_millis(5);
/// What the server says once it takes requests.
const LISTENING: &str = "listening on http://";
/// How much of the log is told when something failed. Lines.
const LOG_LINES_TOLD: usize = 8;

/// This program, and where its children work.
#[derive(Debug)]
pub(super) struct Binary {
    program: PathBuf,
    store: String,
    log: PathBuf,
    code_cache: PathBuf,
}

impl Binary {
    /// This program, with a SQLite file in this folder.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, DemoError> {
        let program = std::env::current_exe().map_err(|source| DemoError::Child { what: "serve".to_owned(), source })?;
        Ok(Self {
            program,
            store: format!("sqlite:{}", folder.join("leasehold.db").display()),
            log: folder.join("leasehold.log"),
            code_cache: folder.join("code"),
        })
    }

    /// A command on the store, as it is typed in a shell.
    pub(super) fn typed(&self, args: &[&str]) -> String {
        let quoted = |arg: &&str| if arg.contains(' ') { format!("'{arg}'") } else { (*arg).to_owned() };
        let args: Vec<String> = args.iter().chain(&["--store", &self.store]).map(quoted).collect();
        format!("leasehold {}", args.join(" "))
    }

    /// What is typed to start the server.
    pub(super) fn serve_args(&self, upstream: &str) -> Vec<String> {
        let args = ["serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--store", &self.store, "--lease", "3s"];
        args.into_iter().chain(["--key", "required"]).map(str::to_owned).collect()
    }

    /// Starts the server, and waits until it takes requests.
    pub(super) async fn serve(&self, upstream: &str) -> Result<Server, DemoError> {
        let child = |source| DemoError::Child { what: "serve".to_owned(), source };
        let log = OpenOptions::new().create(true).append(true).open(&self.log).map_err(child)?;
        let mut command = self.command();
        command.args(self.serve_args(upstream)).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().map_err(child)?;
        let mut said = child.stdout.take().map(|stdout| BufReader::new(stdout).lines());
        let listening = tokio::time::timeout(START_LIMIT, listening(said.as_mut())).await;
        let failed = |how: &str| DemoError::Failed { what: "serve".to_owned(), how: how.to_owned(), said: self.log_end() };
        match listening {
            Ok(Some(address)) => Ok(Server { address, process: child.id().unwrap_or_default(), child, _stdout: said }),
            Ok(None) => Err(failed("ended, or closed its output, before it took requests")),
            Err(_) => Err(failed(&format!("took no requests within {} s", START_LIMIT.as_secs()))),
        }
    }

    /// Runs a command on the store to its end; its standard output.
    pub(super) async fn run(&self, args: &[&str]) -> Result<String, DemoError> {
        let what = args.iter().take_while(|arg| !arg.starts_with('-')).take(2).copied().collect::<Vec<_>>().join(" ");
        let mut command = self.command();
        command.args(args).args(["--store", &self.store]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = tokio::time::timeout(COMMAND_LIMIT, command.output());
        let limit = COMMAND_LIMIT;
        let output = running.await.map_err(|_| DemoError::Waited { what: format!("`leasehold {what}`"), limit })?;
        let output = output.map_err(|source| DemoError::Child { what: what.clone(), source })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(DemoError::Failed { what, how: ended(output.status), said });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The last lines of the server's log.
    pub(super) fn log_end(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines.iter().skip(lines.len().saturating_sub(LOG_LINES_TOLD)).map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    }

    /// This program, without what its user has set for another leasehold.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for name in std::env::vars_os().map(|(name, _)| name).filter(is_ours) {
            command.env_remove(name);
        }
        command.env("LEASEHOLD_CACHE_DIR", &self.code_cache).stdin(Stdio::null()).kill_on_drop(true);
        command
    }
}

fn is_ours(name: &OsString) -> bool {
    name.to_string_lossy().starts_with("LEASEHOLD_")
}

/// Where it listens, as it says itself; `None` where it ends before.
async fn listening(said: Option<&mut Lines<BufReader<ChildStdout>>>) -> Option<SocketAddr> {
    let said = said?;
    loop {
        let line = said.next_line().await.ok()??;
        if let Some(address) = line.strip_prefix(LISTENING) {
            return address.trim_end_matches('/').parse().ok();
        }
    }
}

fn ended(status: ExitStatus) -> String {
    format!("ended with {status}")
}

/// A server that takes requests.
#[derive(Debug)]
pub(super) struct Server {
    /// Where.
    pub(super) address: SocketAddr,
    /// Its process.
    pub(super) process: u32,
    child: Child,
    /// Held open, so that it may go on printing.
    _stdout: Option<Lines<BufReader<ChildStdout>>>,
}

impl Server {
    /// `kill -9`: it has no chance to put anything in order. It is gone when this returns.
    pub(super) async fn kill(&mut self) -> Result<(), DemoError> {
        self.child.kill().await.map_err(|source| DemoError::Child { what: "serve".to_owned(), source })
    }

    /// Whether it ended by itself, and how.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(ended)
    }
}

/// Whatever ends the demo ends the server first: it must not write into a folder that is being removed.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.start_kill();
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < GONE_LIMIT {
            std::thread::sleep(GONE_PAUSE);
        }
    }
}
