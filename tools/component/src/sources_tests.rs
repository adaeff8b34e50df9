//! Tests of the shared `component/sources.rs`: a small workspace in a temporary folder, and one change at a time.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::sources::{COMPONENT, RECORD, Stale, are_present, digest, recorded, sha256, staleness};

const GUEST: &str = "[package]\nname = \"leasehold-decision\"\n[dependencies]\nhash.workspace = true\n\
                     [dev-dependencies]\ntester.workspace = true\n";
const RULES: &str = "[package]\nname = \"leasehold-rules\"\n";
const WORKSPACE: &str = "[workspace.package]\nversion = \"1.0.0\"\n[workspace.dependencies]\nhash = \"1\"\nother = \"1\"\n\
                         [profile.component]\nopt-level = 3\n[profile.dev]\ndebug = true\n";
const LOCK: &str = "[[package]]\nname = \"deep\"\nversion = \"1.0.0\"\nchecksum = \"aa\"\n\n\
                    [[package]]\nname = \"hash\"\nversion = \"1.0.0\"\nchecksum = \"bb\"\ndependencies = [\n \"deep\",\n]\n\n\
                    [[package]]\nname = \"hash\"\nversion = \"2.0.0\"\nchecksum = \"cc\"\n\n\
                    [[package]]\nname = \"leasehold-decision\"\nversion = \"1.0.0\"\ndependencies = [\n \"hash 1.0.0\",\n \"tester\",\n]\n\n\
                    [[package]]\nname = \"tester\"\nversion = \"1.0.0\"\nchecksum = \"dd\"\n";

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn workspace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [("wit/a.wit", "a"), ("guest/src/lib.rs", "b"), ("guest/src/deep/c.rs", "c"), ("guest/rules/src/d.rs", "d")];
    for (name, text) in files.into_iter().chain([
        ("guest/Cargo.toml", GUEST),
        ("guest/rules/Cargo.toml", RULES),
        ("Cargo.toml", WORKSPACE),
        ("Cargo.lock", LOCK),
    ]) {
        put(folder.path(), name, text);
    }
    folder
}

/// Whether replacing a text in a file changes the digest.
fn counts(name: &str, from: &str, to: &str) -> bool {
    let folder = workspace();
    let before = digest(folder.path()).unwrap();
    let text = fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(text.contains(from), "{name} has no {from:?}");
    put(folder.path(), name, &text.replace(from, to));
    digest(folder.path()).unwrap() != before
}

#[test]
fn every_source_counts() {
    assert!(counts("wit/a.wit", "a", "A"));
    assert!(counts("guest/src/deep/c.rs", "c", "C"));
    assert!(counts("guest/rules/src/d.rs", "d", "D"));
    assert!(counts("guest/rules/Cargo.toml", "rules", "rule"));
    assert!(counts("guest/Cargo.toml", "hash", "# hash\nhash"));
    assert!(counts("Cargo.toml", "opt-level = 3", "opt-level = 2"));
    assert!(counts("Cargo.toml", "hash = \"1\"", "hash = \"1.1\""));
    assert!(counts("Cargo.lock", "\"bb\"", "\"xx\""));
    assert!(counts("Cargo.lock", "\"aa\"", "\"xx\""));
}

#[test]
fn nothing_else_counts() {
    assert!(!counts("guest/src/lib.rs", "b", "b"));
    assert!(!counts("Cargo.toml", "debug = true", "debug = false"));
    assert!(!counts("Cargo.toml", "other = \"1\"", "other = \"2\""));
    assert!(!counts("Cargo.toml", "opt-level", "# a comment\nopt-level"));
    assert!(!counts("Cargo.lock", "\"cc\"", "\"xx\""));
    assert!(!counts("Cargo.lock", "\"dd\"", "\"xx\""));
    assert!(!counts("wit/a.wit", "a", "a") && !counts("Cargo.lock", "\n", "\r\n"));
}

#[test]
fn a_new_file_and_a_moved_one_count() {
    let folder = workspace();
    let before = digest(folder.path()).unwrap();
    put(folder.path(), "guest/src/new.rs", "");
    let added = digest(folder.path()).unwrap();
    assert_ne!(added, before);
    fs::rename(folder.path().join("guest/src/new.rs"), folder.path().join("guest/src/newer.rs")).unwrap();
    assert_ne!(digest(folder.path()).unwrap(), added);
}

#[test]
fn a_component_is_stale_when_it_or_its_sources_change() {
    let folder = workspace();
    let root = folder.path();
    assert!(are_present(root));
    assert_eq!(staleness(root).unwrap(), Some(Stale::Absent { file: COMPONENT }));
    put(root, COMPONENT, "wasm");
    assert_eq!(staleness(root).unwrap(), Some(Stale::Absent { file: RECORD }));
    let record = format!("{{\n  \"component\": \"{}\",\n  \"sources\": \"{}\"\n}}\n", sha256(b"wasm"), digest(root).unwrap());
    put(root, RECORD, &record);
    assert_eq!(staleness(root).unwrap(), None);
    put(root, COMPONENT, "mast");
    assert_eq!(staleness(root).unwrap(), Some(Stale::Altered));
    put(root, COMPONENT, "wasm");
    put(root, "wit/a.wit", "b");
    let stale = staleness(root).unwrap().unwrap();
    assert_eq!(stale, Stale::Outdated);
    assert!(stale.to_string().contains("cargo run -p leasehold-component -- build"), "{stale}");
}

#[test]
fn a_record_has_one_pair_a_line() {
    let record = "{\n  \"component\": \"ab\",\n  \"component-bytes\": 12\n}\n";
    assert_eq!(recorded(record, "component"), Some("ab"));
    assert_eq!(recorded(record, "component-bytes"), Some("12"));
    assert_eq!(recorded(record, "bytes"), None);
}
