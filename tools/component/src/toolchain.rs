//! Which compiler builds for `wasm32-unknown-unknown` here. The running cargo's own, where that target is installed; else
//! Debian's, which has no such target but can build the standard library for it from its sources.
//!
//! Source: section 9 of the contract. Tests: none beside the builds themselves, since what is installed differs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What every build is for.
pub const TARGET: &str = "wasm32-unknown-unknown";

const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_LINKER: &str = "/usr/bin/wasm-ld-22";
const DEBIAN_STD: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";

/// No compiler for the target, or one that does not answer.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainFault {
    /// Neither way is open.
    #[error(
        "no compiler for {TARGET} here. Either give this toolchain ({sysroot}) the target: `rustup target add {TARGET}`; \
         or install Debian's: `apt-get install rustc-web cargo-web rust-web-src lld-22` (missing now: {missing})"
    )]
    NoTarget {
        /// Of the running toolchain.
        sysroot: String,
        /// Files of Debian's packages.
        missing: String,
    },
    /// A tool could not be asked.
    #[error("`{command}` failed: {reason}")]
    Unanswered {
        /// What was run.
        command: String,
        /// What it said.
        reason: String,
    },
}

/// A compiler that can build for [`TARGET`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toolchain {
    cargo: PathBuf,
    rustc: PathBuf,
    sysroot: PathBuf,
    builds_std: bool,
    /// `rustc --version`: a build is compared byte for byte with one of the same compiler alone.
    pub compiler: String,
    /// The linker's version line; the compiler's own has none.
    pub linker: String,
    /// The commit that the compiler was built from, under which its standard library's sources are known.
    commit: String,
}

impl Toolchain {
    /// The one that is used here.
    ///
    /// # Errors
    /// There is none, or it does not answer.
    pub fn find() -> Result<Self, ToolchainFault> {
        let (cargo, rustc) = running();
        let sysroot = ask(&rustc, &["--print", "sysroot"])?;
        if Path::new(&sysroot).join("lib/rustlib").join(TARGET).is_dir() {
            return Self::new(cargo, rustc, false);
        }
        let absent = |file: &&str| !Path::new(file).exists();
        let missing: Vec<&str> = [DEBIAN_CARGO, DEBIAN_RUSTC, DEBIAN_LINKER, DEBIAN_STD].into_iter().filter(absent).collect();
        if missing.is_empty() {
            return Self::new(DEBIAN_CARGO.into(), DEBIAN_RUSTC.into(), true);
        }
        Err(ToolchainFault::NoTarget { sysroot, missing: missing.join(", ") })
    }

    fn new(cargo: PathBuf, rustc: PathBuf, builds_std: bool) -> Result<Self, ToolchainFault> {
        let verbose = ask(&rustc, &["-vV"])?;
        let commit = verbose.lines().find_map(|line| line.strip_prefix("commit-hash: ")).unwrap_or("unknown").to_owned();
        let linker = if builds_std { ask(Path::new(DEBIAN_LINKER), &["--version"])? } else { "the compiler's own".to_owned() };
        Ok(Self {
            compiler: ask(&rustc, &["--version"])?,
            sysroot: ask(&rustc, &["--print", "sysroot"])?.into(),
            linker,
            commit,
            cargo,
            rustc,
            builds_std,
        })
    }

    /// cargo, told which compiler and which linker to use. It inherits nothing of what could change the bytes.
    pub(crate) fn cargo(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.cargo);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            let kept = matches!(&*name, "CARGO_HOME" | "RUSTUP_HOME" | "CARGO_NET_OFFLINE" | "CARGO_TERM_COLOR")
                || name.starts_with("CARGO_REGISTR")
                || name.starts_with("CARGO_HTTP_");
            if !kept && (name.starts_with("CARGO") || name.starts_with("RUST")) {
                command.env_remove(&*name);
            }
        }
        command.arg(subcommand).env("RUSTC", &self.rustc);
        if self.builds_std {
            command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", DEBIAN_LINKER);
            command.arg("-Zbuild-std=std,panic_abort");
        }
        command
    }

    /// Where the standard library's sources are, and the name that stands for them in what is built.
    pub(crate) fn std_sources(&self) -> (PathBuf, String) {
        (self.sysroot.join("lib/rustlib/src/rust"), format!("/rustc/{}", self.commit))
    }
}

/// The cargo that runs this program, and the compiler beside it.
fn running() -> (PathBuf, PathBuf) {
    let cargo = env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let beside = cargo.with_file_name("rustc");
    let rustc = if cargo.is_absolute() && beside.exists() { beside } else { PathBuf::from("rustc") };
    (cargo, rustc)
}

fn ask(program: &Path, arguments: &[&str]) -> Result<String, ToolchainFault> {
    let unanswered =
        |reason| ToolchainFault::Unanswered { command: format!("{} {}", program.display(), arguments.join(" ")), reason };
    let output = Command::new(program).args(arguments).output().map_err(|fault| unanswered(fault.to_string()))?;
    if !output.status.success() {
        return Err(unanswered(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
