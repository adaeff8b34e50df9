//! `leasehold demo`, the built binary: it agrees with its ledger, notices when it does not, and leaves nothing behind.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use leasehold_tests::binary::program;
use leasehold_tests::wait::eventually;
use tempfile::TempDir;

/// A demo whose temporary folder lies in a folder of the test's own.
struct Demo {
    child: Child,
    within: TempDir,
}

fn demo(args: &[&str]) -> Demo {
    let within = tempfile::tempdir().unwrap();
    let run = program(&[&["demo"], args].concat()).variable("TMPDIR", within.path());
    // What its user has set for another server must not reach the children.
    let child = run.variable("LEASEHOLD_UPSTREAM", "http://127.0.0.1:1").variable("LEASEHOLD_KEY", "nonsense").start();
    Demo { child, within }
}

impl Demo {
    /// Its folder, if it is there.
    fn folder(&self) -> Option<PathBuf> {
        folder_in(self.within.path())
    }

    /// Waits until its folder has a file with this in it.
    async fn has(&self, file: &str, text: &str) -> PathBuf {
        eventually(file, async || {
            let path = self.folder()?.join(file);
            fs::read_to_string(&path).ok().filter(|found| found.contains(text)).map(|_| path)
        })
        .await
    }

    fn end(self) -> (Output, TempDir) {
        (self.child.wait_with_output().unwrap(), self.within)
    }
}

fn folder_in(within: &Path) -> Option<PathBuf> {
    let entry = fs::read_dir(within).unwrap().next()?;
    Some(entry.unwrap().path())
}

fn text(output: &Output) -> (String, String) {
    (String::from_utf8(output.stdout.clone()).unwrap(), String::from_utf8(output.stderr.clone()).unwrap())
}

#[test]
fn every_order_is_charged_once_and_every_promise_kept() {
    let (output, within) = demo(&[]).end();
    let (stdout, stderr) = text(&output);
    assert!(output.status.success(), "{stdout}{stderr}");
    let last = stdout.lines().last().unwrap();
    assert!(last.starts_with("The ledger agrees: 6 orders, 6 charges, every order charged exactly once. It was in "), "{stdout}");
    assert_eq!(stdout.matches("as promised").count(), 6, "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "colours where there is no terminal");
    assert_eq!(folder_in(within.path()), None, "the folder is removed");
}

#[test]
fn as_json_for_programs_with_the_folder_kept() {
    let (output, _within) = demo(&["--json", "--keep"]).end();
    let (stdout, stderr) = text(&output);
    assert!(output.status.success(), "{stdout}{stderr}");
    let told: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(told["agrees"], true);
    let scenes = told["scenes"].as_array().unwrap();
    assert!(scenes.len() == 6 && scenes.iter().all(|scene| scene["verdict"] == "as promised"), "{stdout}");
    let ledger = fs::read_to_string(Path::new(told["folder"].as_str().unwrap()).join("ledger.jsonl")).unwrap();
    assert_eq!(ledger.lines().count(), 6, "{ledger}");
}

#[tokio::test]
async fn a_second_charge_is_noticed() {
    let demo = demo(&[]);
    let ledger = demo.has("ledger.jsonl", "order-1\"").await;
    let first = fs::read_to_string(&ledger).unwrap().lines().next().unwrap().to_owned() + "\n";
    fs::OpenOptions::new().append(true).open(&ledger).unwrap().write_all(first.as_bytes()).unwrap();
    let (output, within) = demo.end();
    let (stdout, stderr) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("order-1 was charged 2 times"), "{stdout}");
    assert!(stdout.lines().last().unwrap().starts_with("NOT as promised"), "{stdout}");
    assert!(folder_in(within.path()).is_some(), "what went wrong can be looked at");
}

#[tokio::test]
async fn told_to_stop_it_leaves_nothing_behind() {
    let demo = demo(&[]);
    demo.has("ledger.jsonl", "order-2\"").await;
    let process = demo.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    let (output, within) = demo.end();
    let (stdout, stderr) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    assert!(stderr.contains("stopped before its end"), "{stderr}");
    assert_eq!(folder_in(within.path()), None, "the folder is removed");
    let server = stdout.split("process ").nth(1).unwrap().split(':').next().unwrap();
    let there = Command::new("kill").args(["-0", server]).stderr(Stdio::null()).status().unwrap();
    assert!(!there.success(), "process {server} is still there");
}
