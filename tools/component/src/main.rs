//! `leasehold-component`: builds the committed component, says whether it is stale, compares a build of today with it.
//!
//! Exit status: 0, all is well; 1, it is stale, or the bytes differ; 2, it could not be found out; 3, `compare` found another
//! compiler than the one that built the committed component, so that only the vectors can tell.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, error};

use leasehold_component::committed::{Built, Comparison, build, compare, write};
use leasehold_component::sources::{self, BUILD_COMMAND, COMPONENT, recorded};

const USAGE: &str = "\
usage: leasehold-component build [--out FOLDER] | check | compare

  build     build the component from its sources, and write component/leasehold.wasm and component/leasehold.json
            (under FOLDER instead, where one is given: to look at a build without committing to it)
  check     say whether the committed component is stale; exit 1 when it is
  compare   build it from nothing in a temporary folder, and compare the bytes with the committed ones: exit 0 when they
            are the same, 1 when they differ, 3 when another compiler built the committed ones (run the vectors then)

exit status 2: it could not be done; the message says why";

const STALE: u8 = 1;
const FAILED: u8 = 2;
const ANOTHER_COMPILER: u8 = 3;

type Outcome = Result<ExitCode, Box<dyn error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = root();
    let outcome = match words.as_slice() {
        ["build"] => run_build(&root, &root),
        ["build", "--out", folder] => run_build(&root, Path::new(folder)),
        ["check"] => run_check(&root),
        ["compare"] => run_compare(&root),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(USAGE.into()),
    };
    outcome.unwrap_or_else(|fault| {
        eprintln!("{fault}");
        ExitCode::from(FAILED)
    })
}

/// The workspace that this program was run from: cargo says so, even where the program itself was built elsewhere.
fn root() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = here.join("../..");
    root.canonicalize().unwrap_or(root)
}

fn run_build(root: &Path, folder: &Path) -> Outcome {
    let built = build(root, &root.join("target/component"))?;
    write(folder, &built)?;
    println!("{}: {}", folder.join(COMPONENT).display(), summary(&built));
    Ok(ExitCode::SUCCESS)
}

fn summary(built: &Built) -> String {
    let said = |name| recorded(&built.record, name).unwrap_or_default();
    format!("{} bytes, sha256 {}, by {}", built.component.len(), said("component"), said("compiler"))
}

fn run_check(root: &Path) -> Outcome {
    Ok(match sources::staleness(root)? {
        None => {
            println!("{COMPONENT} is what its sources give");
            ExitCode::SUCCESS
        }
        Some(stale) => {
            eprintln!("{stale}");
            ExitCode::from(STALE)
        }
    })
}

fn run_compare(root: &Path) -> Outcome {
    let folder = tempfile::tempdir()?;
    let built = build(root, folder.path())?;
    println!("built anew: {}", summary(&built));
    Ok(match compare(root, &built)? {
        Comparison::Same => {
            println!("{COMPONENT} is the same, byte for byte");
            ExitCode::SUCCESS
        }
        Comparison::Differs { at, committed, anew } => {
            eprintln!(
                "{COMPONENT} differs from byte {at} on ({committed} bytes committed, {anew} anew); build it: {BUILD_COMMAND}"
            );
            ExitCode::from(STALE)
        }
        Comparison::AnotherCompiler { committed, here } => {
            println!(
                "{COMPONENT} was built by another compiler ({committed}; here: {here}): run the vectors instead, `cargo test`"
            );
            ExitCode::from(ANOTHER_COMPILER)
        }
    })
}
