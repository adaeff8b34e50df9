//! The committed component and its record: build it, and compare a build of today with it.
//!
//! The record is JSON with one pair a line, so that a build script can read it without a JSON library.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::compile::{CompileFault, Job, core_module};
use crate::encode::{self, EncodeFault};
use crate::sources::{self, COMPONENT, RECORD, SourceFault, recorded, sha256};
use crate::toolchain::{Toolchain, ToolchainFault};

const PACKAGE: &str = "leasehold-decision";

/// Why there is no component.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// See [`ToolchainFault`].
    #[error(transparent)]
    Toolchain(#[from] ToolchainFault),
    /// See [`CompileFault`].
    #[error(transparent)]
    Compile(#[from] CompileFault),
    /// See [`EncodeFault`].
    #[error(transparent)]
    Encode(#[from] EncodeFault),
    /// See [`SourceFault`].
    #[error(transparent)]
    Source(#[from] SourceFault),
    /// A file or folder that is written, or compared with.
    #[error("{}: {fault}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        fault: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> Fault {
    let path = path.to_owned();
    move |fault| Fault::File { path, fault }
}

/// A component, and what is known of it.
#[derive(Debug)]
pub struct Built {
    /// Its bytes.
    pub component: Vec<u8>,
    /// [`RECORD`]'s text.
    pub record: String,
}

/// How a build of today compares with the committed component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Byte for byte the same.
    Same,
    /// The same compiler made other bytes.
    Differs {
        /// The first byte that differs, or the end of the shorter one.
        at: usize,
        /// Size of the committed one.
        committed: usize,
        /// Size of the new one.
        anew: usize,
    },
    /// Another compiler built it, so the bytes say nothing.
    AnotherCompiler {
        /// Which one built the committed component.
        committed: String,
        /// Which one is here.
        here: String,
    },
}

/// Builds the component from the sources in `root`; cargo keeps its work in `target_dir`.
///
/// # Errors
/// There is no compiler, it fails, or the component is not accepted.
pub fn build(root: &Path, target_dir: &Path) -> Result<Built, Fault> {
    let toolchain = Toolchain::find()?;
    let digest = sources::digest(root)?;
    let module = core_module(&toolchain, &Job { root, package: PACKAGE, features: &[], target_dir })?;
    let component = encode::component(&module)?;
    encode::check_size(&component)?;
    let record = record(&toolchain, &digest, module.len(), &component);
    Ok(Built { component, record })
}

fn record(toolchain: &Toolchain, sources: &str, module_bytes: usize, component: &[u8]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let pairs = [
        ("component", quoted(&sha256(component))),
        ("sources", quoted(sources)),
        ("compiler", quoted(&toolchain.compiler)),
        ("linker", quoted(&toolchain.linker)),
        ("component-bytes", component.len().to_string()),
        ("module-bytes", module_bytes.to_string()),
    ];
    let lines: Vec<String> = pairs.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// Writes a built component and its record under `root`.
///
/// # Errors
/// A file cannot be written.
pub fn write(root: &Path, built: &Built) -> Result<(), Fault> {
    let folder = root.join("component");
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    for (name, bytes) in [(COMPONENT, built.component.as_slice()), (RECORD, built.record.as_bytes())] {
        let path = root.join(name);
        fs::write(&path, bytes).map_err(at(&path))?;
    }
    Ok(())
}

/// Compares a build of today with the committed component.
///
/// # Errors
/// There is no committed component.
pub fn compare(root: &Path, built: &Built) -> Result<Comparison, Fault> {
    let read = |name: &str| {
        let path = root.join(name);
        fs::read(&path).map_err(at(&path))
    };
    let (component, record) = (read(COMPONENT)?, read(RECORD)?);
    let maker = |record: &str| {
        let said = |name| recorded(record, name).unwrap_or("unknown").to_owned();
        format!("{}, linker {}", said("compiler"), said("linker"))
    };
    let (committed, here) = (maker(&String::from_utf8_lossy(&record)), maker(&built.record));
    Ok(if component == built.component {
        Comparison::Same
    } else if committed != here {
        Comparison::AnotherCompiler { committed, here }
    } else {
        let same = component.iter().zip(&built.component).take_while(|(one, other)| one == other).count();
        Comparison::Differs { at: same, committed: component.len(), anew: built.component.len() }
    })
}
