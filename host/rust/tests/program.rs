//! That there is a program. With a test of this package, `cargo test` builds the binary itself, under the same features as all else,
//! and the tests of other crates find it.

use std::process::Command;

#[test]
fn the_program_says_its_version() {
    let said = Command::new(env!("CARGO_BIN_EXE_leasehold")).arg("--version").output().expect("it can be run");
    assert!(said.status.success());
    assert_eq!(String::from_utf8_lossy(&said.stdout), format!("leasehold {}\n", env!("CARGO_PKG_VERSION")));
}
