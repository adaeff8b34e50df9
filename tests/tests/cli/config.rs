//! One error for all that is wrong with a server's settings, before anything is opened.

use std::path::Path;

use leasehold_tests::binary::program;

use crate::net::Certificates;

const FILE: &str = "\
leese = \"1s\"
wait = \"5\"

[[route]]
path = \"v1\"
lease = \"1d\"
";

#[test]
fn one_error_lists_everything_and_nothing_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let (file, store) = (folder.path().join("leasehold.toml"), folder.path().join("leasehold.db"));
    std::fs::write(&file, FILE).unwrap();
    let short = "0123456789abcdef".repeat(3);
    let told = program(&["serve", "--listen", "0.0.0.0:0", "--config", file.to_str().unwrap(), "--tls-key", "/nowhere/key.pem"])
        .variable("LEASEHOLD_STORE", format!("sqlite:{}", store.display()))
        .variable("LEASEHOLD_KEY", "always")
        .variable("LEASEHOLD_LEESE", "1s")
        .variable("LEASEHOLD_SECRET_1", &short)
        .fails(2);
    for fault in [
        "error: these settings cannot be used; nothing was opened:",
        "  leasehold.toml line 1, leese: there is no such setting; write lease",
        "  leasehold.toml line 2, wait: \"5\" is no length of time",
        "  leasehold.toml line 5, route.path: \"v1\" is no path",
        "  LEASEHOLD_LEESE: there is no such setting; write LEASEHOLD_LEASE",
        "  LEASEHOLD_KEY: \"always\" is neither of the two: write required or optional",
        "  LEASEHOLD_SECRET_1: 32 bytes or more in hex",
        "  --upstream is missing: write --upstream http://127.0.0.1:9000",
        "  --principal is missing: 0.0.0.0:0 is no loopback address",
        "  --tls-key: cannot read /nowhere/key.pem",
        "  --tls-key: a key needs its certificate",
    ] {
        assert!(told.lines().any(|line| line.starts_with(fault)), "{fault:?} is not told:\n{told}");
    }
    assert_eq!(told.lines().count(), 11, "{told}");
    assert!(!told.contains(&short), "a secret is told:\n{told}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something was opened");
}

#[test]
fn an_empty_command_line_says_what_is_needed() {
    let told = program(&["serve"]).fails(2);
    assert!(told.contains("--upstream is missing") && told.contains("--store is missing"), "{told}");
}

/// They were first found out when the port was opened, one at a time.
#[test]
fn certificates_and_keys_that_cannot_be_used_are_among_all_that_is_wrong() {
    let (mine, other) = (Certificates::for_localhost(), Certificates::for_localhost());
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (certificate, key, another) = (text(&mine.server.certificates), text(&mine.server.key), text(&other.server.key));
    let store = format!("sqlite:{}", mine.folder.path().join("leasehold.db").display());
    let told = |certificate: &str, key: &str| {
        let args = ["serve", "--store", &store, "--wait", "5", "--tls-cert", certificate, "--tls-key", key];
        program(&args).fails(2)
    };
    for (certificate, key, fault) in [
        (&certificate, &another, "  --tls-cert with --tls-key: the certificate in "),
        (&key, &key, "  --tls-cert: "),
        (&certificate, &certificate, "  --tls-key: "),
    ] {
        let told = told(certificate, key);
        for fault in [fault, "  --upstream is missing", "  --wait: "] {
            assert!(told.lines().any(|line| line.starts_with(fault)), "{fault:?} is not told:\n{told}");
        }
    }
    let told = told(&certificate, &key);
    assert!(!told.contains("--tls-"), "they belong together:\n{told}");
    let line = std::fs::read_to_string(&other.server.key).unwrap();
    assert!(!told.contains(line.lines().nth(1).unwrap()));
}
