//! The clients: where they are found, how they are started, and what they hold in the end.
//!
//! Each is one process that makes one call; all repetitions are its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use leasehold_tests::require::skipped;
use leasehold_tests::wait::within;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

/// Names an interpreter with urllib3.
const PYTHON: &str = "LEASEHOLD_CLIENT_PYTHON";

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Client {
    /// curl, with `--retry --retry-all-errors`.
    Curl,
    /// urllib3 from PyPI, with its `Retry`.
    Urllib3,
    /// got from npm, with its `retry`.
    Got,
}

/// What is asked.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the parts of a request")]
pub struct Call {
    pub url: String,
    pub key: String,
    pub payload: String,
    /// After which the client gives up one try.
    pub timeout: Duration,
    /// How often it may repeat it.
    pub retries: u8,
}

/// The answer that a client holds.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the parts of an answer")]
pub struct Held {
    pub status: u16,
    pub replayed: bool,
    pub body: String,
}

impl Client {
    /// Whether it heeds the Retry-After of an answer with this status. curl does where it takes a status for passing by itself
    /// (408, 429, 500, 502, 503, 504); what only `--retry-all-errors` makes it repeat it repeats after its own delay.
    pub const fn heeds_retry_after(self, status: u16) -> bool {
        match self {
            Self::Curl => status == 503,
            Self::Urllib3 | Self::Got => true,
        }
    }

    /// Whether it can be had; says aloud what is missing.
    ///
    /// # Panics
    /// Something is missing that must be there.
    pub async fn is_there(self) -> bool {
        let Err(missing) = self.found().await else { return true };
        skipped(missing, "tests/clients/install installs it");
        false
    }

    /// The program and its first arguments, or what is missing.
    async fn found(self) -> Result<Vec<OsString>, &'static str> {
        match self {
            Self::Curl if runs("curl", &["--version"]).await => Ok(vec!["curl".into()]),
            Self::Curl => Err("curl"),
            Self::Urllib3 => {
                let named = std::env::var_os(PYTHON).map(|named| vec![named]);
                let any = || vec![root().join("target/clients/venv/bin/python").into(), "python3".into()];
                for python in named.unwrap_or_else(any) {
                    if runs(&python, &["-c", "import urllib3; urllib3.request"]).await {
                        return Ok(vec![python, clients().join("python/client.py").into()]);
                    }
                }
                Err("python3 with urllib3 2")
            }
            Self::Got if !runs("node", &["--version"]).await => Err("node"),
            Self::Got if !clients().join("node/node_modules/got").is_dir() => Err("node_modules with got"),
            Self::Got => Ok(vec!["node".into(), clients().join("node/client.mjs").into()]),
        }
    }

    /// Makes the call; what it holds when it has ended.
    ///
    /// # Panics
    /// It holds no answer.
    pub async fn call(self, call: &Call) -> Held {
        let program = self.found().await.expect("it was there");
        let (first, rest) = program.split_first().expect("a program");
        let mut command = Command::new(first);
        command.args(rest).kill_on_drop(true).stdin(Stdio::null());
        let folder = tempfile::tempdir().expect("a folder");
        match self {
            Self::Curl => command.args(curl_args(call, &folder)),
            Self::Urllib3 | Self::Got => command.args([&call.url, &call.key, &call.payload]).args(timeout_and_retries(call)),
        };
        let output = within("the client's end", command.output()).await.expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        let failed = || format!("{self:?}: {}\n{said}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        let mut held: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {}", failed()));
        if self == Self::Curl {
            let body = std::fs::read_to_string(folder.path().join(BODY)).unwrap_or_default();
            held["replayed"] = json!(held["replayed"] == "true");
            held["body"] = json!(body);
        }
        let part = |name: &str| held.get(name).cloned().unwrap_or_else(|| panic!("no {name}: {}", failed()));
        Held {
            status: part("status").as_u64().and_then(|status| status.try_into().ok()).unwrap_or_default(),
            replayed: part("replayed") == true,
            body: part("body").as_str().unwrap_or_default().to_owned(),
        }
    }
}

/// Where curl writes the answer's body.
const BODY: &str = "body";

fn curl_args(call: &Call, folder: &TempDir) -> Vec<OsString> {
    let [timeout, retries] = timeout_and_retries(call);
    let header = |name: &str, value: &str| format!("{name}: {value}");
    let said = r#"{"status":%{http_code},"replayed":"%header{idempotency-replayed}"}"#;
    // No .curlrc, no proxy. `--fail-with-body` makes a 409 an error, which `--retry-all-errors` repeats, as it does a lost answer.
    let mut args: Vec<OsString> = ["-q", "--noproxy", "*", "--silent", "--show-error", "--fail-with-body"].map(Into::into).into();
    args.extend(["--retry-all-errors", "--retry-delay", "1", "--retry", &retries, "--max-time", &timeout].map(Into::into));
    args.extend(["--header", &header("content-type", "application/json")].map(Into::into));
    args.extend(["--header", &header("idempotency-key", &call.key), "--data-binary", &call.payload].map(Into::into));
    args.extend(["--write-out", said, "--output"].map(Into::into));
    args.extend([folder.path().join(BODY).into(), call.url.clone().into()]);
    args
}

fn timeout_and_retries(call: &Call) -> [String; 2] {
    [call.timeout.as_secs_f32().to_string(), call.retries.to_string()]
}

async fn runs(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().await.is_ok_and(|status| status.success())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}
