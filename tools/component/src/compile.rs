//! A package of this workspace to a core module: the same bytes from every folder and every cargo home.
//!
//! Folders would come in through panic locations, so each is given a name that is the same everywhere. Tests: CI builds the
//! committed component anew and compares.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::{env, fs, io};

use crate::sources::RUSTC_FLAGS;
use crate::toolchain::{TARGET, Toolchain};

const PROFILE: &str = "component";

/// A build that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum CompileFault {
    /// cargo could not be run.
    #[error("cannot run cargo: {0}")]
    NoCargo(io::Error),
    /// cargo said no.
    #[error("cargo could not build {package} ({status}); what it said stands above")]
    Failed {
        /// Which package.
        package: String,
        /// How cargo ended.
        status: ExitStatus,
    },
    /// The module is not where cargo puts it.
    #[error("cannot read the built module {}: {fault}", path.display())]
    Unreadable {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        fault: io::Error,
    },
}

/// What is to be built.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Root of the workspace.
    pub root: &'a Path,
    /// A library package of it.
    pub package: &'a str,
    /// Features of the package.
    pub features: &'a [&'a str],
    /// Where cargo keeps what it builds.
    pub target_dir: &'a Path,
}

/// Builds it, and gives the core module.
///
/// # Errors
/// cargo fails; it has said why on standard error.
pub fn core_module(toolchain: &Toolchain, job: &Job<'_>) -> Result<Vec<u8>, CompileFault> {
    let status = toolchain
        .cargo("rustc")
        .current_dir(job.root)
        .args(["--locked", "--lib", "--crate-type", "cdylib", "--profile", PROFILE, "--target", TARGET])
        .args(["--package", job.package, "--features", &job.features.join(",")])
        .arg("--target-dir")
        .arg(job.target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", names(toolchain, job.root).join("\u{1f}"))
        .arg("--")
        .args(RUSTC_FLAGS)
        .status()
        .map_err(CompileFault::NoCargo)?;
    if !status.success() {
        return Err(CompileFault::Failed { package: job.package.to_owned(), status });
    }
    let file = format!("{}.wasm", job.package.replace('-', "_"));
    let path = job.target_dir.join(TARGET).join(PROFILE).join(file);
    fs::read(&path).map_err(|fault| CompileFault::Unreadable { path, fault })
}

/// A name for each folder that could come in. Of two prefixes that fit, rustc takes the last.
fn names(toolchain: &Toolchain, root: &Path) -> Vec<String> {
    let (std_sources, std_name) = toolchain.std_sources();
    let names = [(cargo_home(), "/cargo".to_owned()), (root.to_owned(), "/leasehold".to_owned()), (std_sources, std_name)];
    names.into_iter().map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display())).collect()
}

/// Where cargo unpacks the packages that it fetches.
fn cargo_home() -> PathBuf {
    let home = || env::home_dir().unwrap_or_default().join(".cargo");
    let named = env::var_os("CARGO_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = named.unwrap_or_else(home);
    std::path::absolute(&folder).unwrap_or(folder)
}
