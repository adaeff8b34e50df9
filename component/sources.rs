//! What the committed component is made from, and whether it still is: one digest over all of it.
//!
//! The tool that builds the component writes that digest beside it (`leasehold.json`), and a host's build script computes it
//! again: both include this file, so that they cannot disagree. Knows nothing of compilers. Tests: in `tools/component`.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

/// The component, from the root of the workspace.
pub const COMPONENT: &str = "component/leasehold.wasm";
/// What is known of it, from the root of the workspace.
pub const RECORD: &str = "component/leasehold.json";
/// What to type when the component is stale.
pub const BUILD_COMMAND: &str = "cargo run -p leasehold-component -- build";
/// Whatever can change an answer of [`staleness`], from the root of the workspace.
pub const WATCHED: [&str; 9] =
    ["wit", "guest/src", "guest/Cargo.toml", "guest/rules", "Cargo.toml", "Cargo.lock", "component/sources.rs", COMPONENT, RECORD];

/// Flags for the last step of every build, on either toolchain; part of the digest. The stack is small because nothing recurses
/// deeper than a JSON document may (128 levels); it stands below the data, so that running out of it would trap. Addresses are
/// written as short as they are, not padded for a linker that is done: a tenth of the size.
pub const RUSTC_FLAGS: [&str; 2] = ["-Clink-arg=-zstack-size=131072", "-Clink-arg=--compress-relocations"];

/// Raised when the tool makes other bytes from the same sources; part of the digest.
const RECIPE: &str = "2";

/// Sections of the root's manifest that the build depends on as a whole.
const MANIFEST_SECTIONS: [&str; 3] = ["[workspace.package]", "[profile.release]", "[profile.component]"];

/// Why the committed component is not what its sources would give.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stale {
    /// There is no component, or no record of it.
    Absent {
        /// Which file is missing.
        file: &'static str,
    },
    /// The component's bytes are not those that were recorded.
    Altered,
    /// A source changed after the component was built.
    Outdated,
}

impl fmt::Display for Stale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { file } => write!(formatter, "{file} is missing")?,
            Self::Altered => write!(formatter, "{COMPONENT} is not the file that {RECORD} describes")?,
            Self::Outdated => write!(formatter, "{COMPONENT} is stale: its sources have changed since it was built")?,
        }
        write!(formatter, "; build it anew: {BUILD_COMMAND}")
    }
}

/// A source that cannot be read, or does not say what it must.
#[derive(Debug)]
pub enum SourceFault {
    /// A file or folder could not be read.
    Unreadable(PathBuf, io::Error),
    /// A manifest or the lock file lacks an entry.
    Lacking(&'static str, String),
}

impl fmt::Display for SourceFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, fault) => write!(formatter, "cannot read {}: {fault}", path.display()),
            Self::Lacking(file, entry) => write!(formatter, "{file} has no {entry}"),
        }
    }
}

impl std::error::Error for SourceFault {}

/// Whether the sources are here at all: a packaged host carries the component without them.
#[must_use]
pub fn are_present(root: &Path) -> bool {
    ["wit", "guest/src", "guest/Cargo.toml", "guest/rules/Cargo.toml", "Cargo.lock"].iter().all(|part| root.join(part).exists())
}

/// Compares the committed component with its record, and the record with the sources.
///
/// # Errors
/// A source cannot be read.
pub fn staleness(root: &Path) -> Result<Option<Stale>, SourceFault> {
    let Ok(component) = fs::read(root.join(COMPONENT)) else {
        return Ok(Some(Stale::Absent { file: COMPONENT }));
    };
    let Ok(record) = fs::read_to_string(root.join(RECORD)) else {
        return Ok(Some(Stale::Absent { file: RECORD }));
    };
    Ok(if recorded(&record, "component") != Some(&*sha256(&component)) {
        Some(Stale::Altered)
    } else if recorded(&record, "sources") != Some(&*digest(root)?) {
        Some(Stale::Outdated)
    } else {
        None
    })
}

/// The text that stands behind a name in the record, which has one pair a line.
#[must_use]
pub fn recorded<'a>(record: &'a str, name: &str) -> Option<&'a str> {
    record.lines().find_map(|line| {
        let value = line.trim().strip_prefix('"')?.strip_prefix(name)?.strip_prefix("\": ")?;
        Some(value.trim_end_matches(',').trim_matches('"'))
    })
}

/// The digest of everything that the component is made from, as 64 lowercase hex digits: the contract, the guest's sources and
/// manifest, the locked packages that it is built with, its profile, and the compiler's flags.
///
/// # Errors
/// A source cannot be read, or a manifest lacks what the build needs.
pub fn digest(root: &Path) -> Result<String, SourceFault> {
    let mut hash = Sha256::new();
    for folder in ["wit", "guest/src", "guest/rules/src"] {
        let mut files = Vec::new();
        list(&root.join(folder), &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            frame(&mut hash, &name);
            frame(&mut hash, &text(&file)?);
        }
    }
    let guest = text(&root.join("guest/Cargo.toml"))?;
    let workspace = text(&root.join("Cargo.toml"))?;
    let lock = text(&root.join("Cargo.lock"))?;
    let rules = text(&root.join("guest/rules/Cargo.toml"))?;
    let direct = [direct_dependencies(&guest), direct_dependencies(&rules)].concat();
    frame(&mut hash, &guest);
    frame(&mut hash, &rules);
    frame(&mut hash, &settings(&workspace, &direct));
    frame(&mut hash, &locked(&lock, &direct)?);
    frame(&mut hash, RECIPE);
    RUSTC_FLAGS.iter().for_each(|flag| frame(&mut hash, flag));
    Ok(hex(&hash.finalize()))
}

/// SHA-256 as 64 lowercase hex digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Length-prefixed, so that no two lists of parts have one digest.
fn frame(hash: &mut Sha256, part: &str) {
    hash.update((part.len() as u64).to_be_bytes());
    hash.update(part);
}

/// A text with line ends as git stores them.
fn text(path: &Path) -> Result<String, SourceFault> {
    let text = fs::read_to_string(path).map_err(|fault| SourceFault::Unreadable(path.to_owned(), fault))?;
    Ok(text.replace("\r\n", "\n"))
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), SourceFault> {
    let unreadable = |fault| SourceFault::Unreadable(folder.to_owned(), fault);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "wit") {
            files.push(path);
        }
    }
    Ok(())
}

/// Lines of a manifest, each with the header of the section that it stands in.
fn sections(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    manifest.lines().scan("", |section, line| {
        if line.starts_with('[') {
            *section = line.trim_end();
        }
        Some((*section, line))
    })
}

/// The package that an entry of a dependency table names.
fn entry_name(line: &str) -> Option<&str> {
    let name = line.split([' ', '.', '=']).next().unwrap_or_default();
    (!name.is_empty() && !line.starts_with(['[', '#'])).then_some(name)
}

/// The packages that the guest depends on, its tests apart.
fn direct_dependencies(guest: &str) -> Vec<&str> {
    sections(guest)
        .filter(|(section, _)| section.ends_with("dependencies]") && !section.contains("dev-dependencies"))
        .filter_map(|(_, line)| entry_name(line))
        .collect()
}

/// What the root's manifest says of the guest's build, without comments.
fn settings(workspace: &str, direct: &[&str]) -> String {
    let counts = |section: &str, line: &str| {
        MANIFEST_SECTIONS.contains(&section)
            || section.starts_with("[profile.component.")
            || (section == "[workspace.dependencies]" && entry_name(line).is_some_and(|name| direct.contains(&name)))
    };
    let lines = sections(workspace).filter(|(section, line)| counts(section, line)).map(|(_, line)| line.trim_end());
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// A package in the lock file.
struct Locked<'a> {
    name: &'a str,
    version: &'a str,
    checksum: &'a str,
    dependencies: Vec<&'a str>,
}

fn packages(lock: &str) -> Vec<Locked<'_>> {
    let quoted = |block: &'_ str, name: &str| -> Option<(usize, usize)> {
        let start = block.find(&format!("\n{name} = \""))? + name.len() + 5;
        Some((start, start + block.get(start..)?.find('"')?))
    };
    let field = |block, name| quoted(block, name).and_then(|(start, end)| str::get(block, start..end)).unwrap_or_default();
    let blocks = lock.split("[[package]]").skip(1);
    blocks
        .map(|block| Locked {
            name: field(block, "name"),
            version: field(block, "version"),
            checksum: field(block, "checksum"),
            dependencies: block.lines().filter_map(|line| line.strip_prefix(" \"")?.strip_suffix("\",")).collect(),
        })
        .collect()
}

/// The guest's direct dependencies and all that they need, one a line: name, version, checksum.
fn locked(lock: &str, direct: &[&str]) -> Result<String, SourceFault> {
    let packages = packages(lock);
    let find = |wanted: &str| {
        let mut words = wanted.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        let fits = |package: &&Locked<'_>| package.name == name && version.is_none_or(|version| package.version == version);
        packages.iter().find(fits).ok_or_else(|| SourceFault::Lacking("Cargo.lock", format!("package {wanted}")))
    };
    let guest = find("leasehold-decision")?;
    let is_direct = |wanted: &&str| direct.contains(&wanted.split(' ').next().unwrap_or_default());
    let mut open: Vec<&str> = guest.dependencies.iter().copied().filter(is_direct).collect();
    let mut lines = std::collections::BTreeSet::new();
    while let Some(wanted) = open.pop() {
        let package = find(wanted)?;
        if lines.insert(format!("{} {} {}\n", package.name, package.version, package.checksum)) {
            open.extend(&package.dependencies);
        }
    }
    Ok(lines.into_iter().collect())
}
