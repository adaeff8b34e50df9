//! The real binary: built where it is absent or stale, run with arguments, variables and an input, to its end.
//!
//! `cargo test` at the root builds it, for the test that host/rust has of it; `cargo test --test NAME` may not, and so it is looked at.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

use leasehold::component::CodeCache;

/// What it is made from, below the workspace's root.
const MADE_FROM: [&str; 6] = ["Cargo.toml", "Cargo.lock", "component", "guest", "host/rust", "wit"];

/// How the variables begin in which cargo tells a process about its package.
const OF_A_PACKAGE: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// The binary of the profile that this test was built in.
///
/// # Panics
/// It cannot be built.
#[must_use]
pub fn leasehold() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = profile_folder();
        let binary = folder.join(format!("leasehold{EXE_SUFFIX}"));
        if is_stale(&binary) {
            build(&folder);
        }
        assert!(binary.is_file(), "cargo built leasehold elsewhere than {}", binary.display());
        binary
    })
}

/// `target/debug` or `target/release`: tests lie in `deps` below it.
fn profile_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own file");
    test.parent().and_then(Path::parent).expect("a test lies in target/PROFILE/deps").to_owned()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn is_stale(binary: &Path) -> bool {
    let Ok(made) = binary.metadata().and_then(|data| data.modified()) else {
        return true;
    };
    MADE_FROM.iter().any(|part| is_newer(&workspace().join(part), made))
}

fn is_newer(path: &Path, than: SystemTime) -> bool {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| is_newer(&entry.path(), than)),
        Err(_) => path.metadata().and_then(|data| data.modified()).is_ok_and(|changed| changed > than),
    }
}

/// By the same selection of packages as `cargo build` and `cargo test` at the root, so that no dependency is built anew.
fn build(folder: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--bin", "leasehold"]).current_dir(workspace());
    // What cargo tells the test of its own package: build scripts would take it for theirs, and run anew each time.
    for (name, _) in std::env::vars_os() {
        if OF_A_PACKAGE.iter().any(|begins| name.to_string_lossy().starts_with(begins)) {
            command.env_remove(name);
        }
    }
    match folder.file_name().and_then(OsStr::to_str) {
        Some("debug") | None => {}
        Some(profile) => {
            command.args(["--profile", profile]);
        }
    }
    let built = command.output().expect("cargo can be run");
    assert!(built.status.success(), "leasehold cannot be built:\n{}", String::from_utf8_lossy(&built.stderr));
}

/// A run under construction.
#[derive(Debug)]
pub struct Program {
    command: Command,
    input: Vec<u8>,
}

/// The binary with these arguments, and nothing that the user has set for another leasehold.
#[must_use]
pub fn program(args: &[&str]) -> Program {
    let mut command = Command::new(leasehold());
    command.args(args);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LEASEHOLD_")) {
        command.env_remove(name);
    }
    if let CodeCache::Folder(folder) = crate::hosts::code_cache() {
        command.env("LEASEHOLD_CACHE_DIR", folder);
    }
    Program { command, input: Vec::new() }
}

/// What came of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// The exit status; `None` where a signal ended it.
    pub status: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Program {
    /// With a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With that on its standard input.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// It cannot be run.
    #[must_use]
    pub fn run(mut self) -> Said {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("leasehold can be run");
        let mut stdin = child.stdin.take().expect("its input is a pipe");
        let input = self.input;
        // Apart, since it may answer before it has read all; one that does not read its input has closed it.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("leasehold ends");
        writer.join().expect("its input is written");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
        Said { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs it beside the test, with pipes in and out.
    ///
    /// # Panics
    /// It cannot be run.
    #[must_use]
    pub fn start(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.spawn().expect("leasehold can be run")
    }

    /// Runs it to its end, which is a good one; its standard output.
    ///
    /// # Panics
    /// It failed, or had something to say on standard error.
    #[must_use]
    pub fn done(self) -> String {
        let said = self.run();
        assert!(said.status == Some(0) && said.stderr.is_empty(), "{said:#?}");
        said.stdout
    }

    /// Runs it to its end, which has that status; its standard error.
    ///
    /// # Panics
    /// It ended otherwise.
    #[must_use]
    pub fn fails(self, status: i32) -> String {
        let said = self.run();
        assert_eq!(said.status, Some(status), "{said:#?}");
        said.stderr
    }
}
