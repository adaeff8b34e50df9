//! Tidy: what every source file of the workspace keeps to.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// A module fits on a few screens.
const LINES_MAX: usize = 400;

/// Written in two parts, so that this file does not break its own rules.
const LEFT_BEHIND: &[&str] = &[concat!("todo", "!("), concat!("dbg", "!("), concat!("unimplemented", "!(")];
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];
/// Made by builds and package managers.
const MADE: &[&str] = &["target", "node_modules", ".git"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// As one says it: from the workspace's root.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Every file below a folder, but for what builds leave there.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let made = path.file_name().is_some_and(|name| MADE.iter().any(|made| name == *made));
        if path.is_dir() && !path.is_symlink() && !made {
            files(&path, found)?;
        } else if path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// What git tracks, or would; everything where there is no git.
fn tracked() -> Vec<PathBuf> {
    let listed = Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root()).output();
    match listed {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8(output.stdout).expect("names are text");
            names.lines().map(|name| root().join(name)).filter(|path| path.is_file()).collect()
        }
        Ok(_) | Err(_) => {
            let mut found = Vec::new();
            files(&root(), &mut found).expect("the workspace can be read");
            found
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&root(), &mut found).expect("the workspace can be read");
    found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    assert!(found.len() > 40, "{} sources", found.len());
    found
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))))
        .collect()
}

/// Fails once, with every file that breaks a rule.
fn none(what: &str, broken: Vec<String>) {
    assert!(broken.is_empty(), "{what}:\n  {}", broken.join("\n  "));
}

#[test]
fn a_source_fits_on_a_few_screens() {
    let long = |(path, text): &(PathBuf, String)| {
        let lines = text.lines().count();
        (lines > LINES_MAX).then(|| format!("{}: {lines} lines", shown(path)))
    };
    none(&format!("longer than {LINES_MAX} lines; split it by topic"), sources().iter().filter_map(long).collect());
}

#[test]
fn a_source_says_what_it_is() {
    let silent = |(path, text): &(PathBuf, String)| (!text.starts_with("//!")).then(|| shown(path));
    none("does not open with //!", sources().iter().filter_map(silent).collect());
}

#[test]
fn nothing_is_left_behind() {
    let mut broken = Vec::new();
    for (path, text) in sources() {
        for word in LEFT_BEHIND.iter().filter(|word| text.contains(**word)) {
            broken.push(format!("{}: {word}", shown(&path)));
        }
    }
    none("left behind", broken);
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let mut broken = Vec::new();
    for path in tracked() {
        let Ok(text) = fs::read_to_string(&path) else {
            continue; // no text
        };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| MACHINE_PATHS.iter().any(|found| line.contains(found))) {
            broken.push(format!("{}:{}: {}", shown(&path), number + 1, line.trim()));
        }
    }
    none("a path of somebody's machine", broken);
}
