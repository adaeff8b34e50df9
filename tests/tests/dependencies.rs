//! What the decisions stand on: two crates and theirs, and no standard library. A dependency that is added is a decision to be made
//! here, in sight.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// Everything that is linked into the decisions, natively, on any platform.
const KNOWN: &[&str] = &[
    "block-buffer",
    "cfg-if",
    "cmov",
    "cpufeatures",
    "crypto-common",
    "ctutils",
    "digest",
    "hmac",
    "hybrid-array",
    "libc",
    "sha2",
    "typenum",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn table(file: &str) -> Table {
    let text = fs::read_to_string(workspace().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    text.parse().unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn names(section: Option<&Value>) -> Vec<String> {
    section.and_then(Value::as_table).map(|table| table.keys().cloned().collect()).unwrap_or_default()
}

#[test]
fn the_decisions_name_hmac_and_sha2_alone() {
    let guest = table("guest/Cargo.toml");
    assert_eq!(names(guest.get("dependencies")), ["hmac", "leasehold-rules", "sha2"]);
    let rules = table("guest/rules/Cargo.toml");
    for section in ["dependencies", "target", "build-dependencies", "dev-dependencies"] {
        assert_eq!(names(rules.get(section)), [""; 0], "{section} of the rules");
    }
    let targets = guest["target"].as_table().expect("one target has dependencies of its own");
    let wasm = targets.get(r#"cfg(target_arch = "wasm32")"#).expect("it is wasm32");
    assert_eq!((targets.len(), names(wasm.get("dependencies"))), (1, vec!["wit-bindgen".to_owned()]));
    assert_eq!(names(guest.get("build-dependencies")), [""; 0]);
    for name in ["hmac", "sha2"] {
        let features = &table("Cargo.toml")["workspace"]["dependencies"][name];
        assert_eq!(features.get("default-features").and_then(Value::as_bool), Some(false), "{name}: std comes with its defaults");
    }
}

#[test]
fn what_stands_behind_them_is_known() {
    let lock = table("Cargo.lock");
    let mut packages: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
    for package in lock["package"].as_array().expect("a lock file lists packages") {
        let text = |key| package.get(key).and_then(Value::as_str).unwrap_or_default();
        packages.insert((text("name"), text("version")), package);
    }
    let needs = |package: &Value| -> Vec<(String, String)> {
        let needed = package.get("dependencies").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        needed.map(|text| find(&packages, text)).collect()
    };
    let guest = packages.iter().find(|((name, _), _)| *name == "leasehold-decision").expect("the guest is in the lock file").1;
    let mut waiting: Vec<(String, String)> =
        needs(guest).into_iter().filter(|(name, _)| ["hmac", "sha2"].contains(&name.as_str())).collect();
    let mut found = BTreeSet::new();
    while let Some((name, version)) = waiting.pop() {
        if found.insert(name.clone()) {
            waiting.extend(needs(packages[&(name.as_str(), version.as_str())]));
        }
    }
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), KNOWN, "what stands behind the decisions has changed");
}

/// A dependency in a lock file is `name`, or `name version` where there are several.
fn find(packages: &BTreeMap<(&str, &str), &Value>, text: &str) -> (String, String) {
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default();
    let version = words.next();
    let fits = |(known, of): &&(&str, &str)| *known == name && version.is_none_or(|version| version == *of);
    let (name, version) = packages.keys().find(fits).unwrap_or_else(|| panic!("the lock file lacks {text}"));
    ((*name).to_owned(), (*version).to_owned())
}

/// Files that are compiled for tests or for wasm32 alone.
fn is_apart(path: &Path) -> bool {
    let path = path.to_string_lossy();
    path.contains("src/tests") || path.contains("src/component")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_decisions_do_without_std() {
    let mut files = Vec::new();
    sources(&workspace().join("guest/src"), &mut files);
    sources(&workspace().join("guest/rules/src"), &mut files);
    let mut checked = 0;
    for path in files.iter().filter(|path| !is_apart(path)) {
        let text = fs::read_to_string(path).expect("a source is text");
        let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in shipped.lines().filter(|line| !line.trim_start().starts_with("//")) {
            assert!(!line.contains("std::"), "{}: {line}", path.display());
        }
        checked += 1;
    }
    assert!(checked > 20, "{checked} files of {}", files.len());
    let root = fs::read_to_string(workspace().join("guest/src/lib.rs")).expect("the crate has a root");
    assert!(root.contains("\n#![no_std]\n"));
    for (opening, item) in [
        ("#[cfg(any(test, target_arch = \"wasm32\"))]\n", "extern crate std;"),
        ("#[cfg(target_arch = \"wasm32\")]\n", "mod component;"),
    ] {
        assert_eq!(root.matches(item).count(), 1, "{item}");
        assert!(root.contains(&[opening, item].concat()), "{item} is not for tests or wasm32 alone");
    }
}
