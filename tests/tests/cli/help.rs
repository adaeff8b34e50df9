//! What is said of the commands, and what is asked wrongly.

use leasehold_tests::binary::program;

const COMMANDS: [&[&str]; 16] = [
    &["serve"],
    &["demo"],
    &["inspect"],
    &["recovery"],
    &["recovery", "list"],
    &["recovery", "show"],
    &["recovery", "resolve"],
    &["purge"],
    &["sweep"],
    &["migrate"],
    &["secret"],
    &["secret", "list"],
    &["secret", "rotate"],
    &["decide"],
    &["vectors"],
    &["bench"],
];

#[test]
fn every_command_says_what_it_does() {
    for command in COMMANDS {
        let help = program(&[command, &["--help"]].concat()).done();
        let usage = format!("Usage: leasehold {}", command.join(" "));
        assert!(help.contains(&usage), "{help}");
        assert!(help.lines().next().is_some_and(|about| about.len() >= 15), "{help}");
        let wide = help.lines().filter(|line| line.len() > 100).count();
        assert_eq!(wide, 0, "{help}");
        let short = program(&[command, &["-h"]].concat()).done();
        assert!(short.len() <= help.len(), "{short}");
    }
}

#[test]
fn the_program_lists_its_commands_and_its_exit_statuses() {
    let help = program(&["--help"]).done();
    for command in COMMANDS.iter().filter(|command| command.len() == 1) {
        assert!(help.contains(&format!("\n  {} ", command[0])), "{help}");
    }
    assert!(help.contains("Exit status: 0 done;"), "{help}");
    assert!(program(&["--version"]).done().starts_with("leasehold "));
}

#[test]
fn the_server_tells_each_setting_with_its_default() {
    let help = program(&["serve", "--help"]).done();
    let words: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for (flag, default) in [
        ("listen <ADDRESS:PORT>", "127.0.0.1:8080"),
        ("key <required|optional>", "optional"),
        ("methods <LIST>", "POST,PATCH"),
        ("lease <DURATION>", "30s"),
        ("attempt-limit <NUMBER>", "none"),
        ("replay-retention <DURATION>", "24h"),
        ("upstream-timeout <DURATION>", "60s"),
        ("connect-timeout <DURATION>", "5s"),
        ("upstream-host <upstream|client>", "upstream"),
        ("backoff-base <DURATION>", "0s"),
        ("backoff-cap <DURATION>", "0s"),
        ("store-timeout <DURATION>", "5s, or half the shortest lease"),
        ("on-5xx <success|no-effect|effect-unknown>", "success"),
        ("on-gateway-error <success|no-effect|effect-unknown>", "effect-unknown"),
        ("wait <DURATION>", "0s"),
        ("keep-body-max <SIZE>", "1MiB"),
        ("grace <DURATION>", "30s"),
    ] {
        let (_, rest) = words.split_once(&format!("--{flag}")).unwrap_or_else(|| panic!("{flag}: {help}"));
        let told = rest.split_once("[default: ").map(|(_, told)| told);
        assert!(told.is_some_and(|told| told.starts_with(&format!("{default}]"))), "{flag}: {help}");
    }
    assert!(help.contains("LEASEHOLD_UPSTREAM_TIMEOUT") && help.contains("[[route]]"), "{help}");
}

#[test]
fn what_is_asked_wrongly_ends_with_2() {
    for args in [
        &["no-such-command"][..],
        &[],
        &["serve", "--no-such-flag"],
        &["recovery", "list"],
        &["inspect", "--store", "sqlite:x.db"],
        &["recovery", "list", "--store", "oracle:x"],
        &["recovery", "resolve", "nothing", "--verdict", "completed", "--reason", "x", "--store", "sqlite:x.db"],
        &["recovery", "resolve", "d1:http:0", "--verdict", "perhaps", "--reason", "x", "--store", "sqlite:x.db"],
        &["recovery", "resolve", "d1:http:0", "--verdict", "forget", "--reason", "x", "--store", "sqlite:x.db", "--revision", "1"],
        &["sweep", "--store", "sqlite:x.db", "--family", "orders"],
        &["purge", "--store", "sqlite:x.db", "--failure-retention", "5"],
        &["secret", "rotate", "--to", "0", "--at", "+1h", "--store", "sqlite:x.db"],
        &["decide", "--log", "xml"],
        &["decide", "--log-level", "loud"],
    ] {
        let told = program(args).fails(2);
        assert!(!told.is_empty(), "{args:?}");
    }
}

#[test]
fn a_password_in_a_stores_address_is_not_repeated() {
    let told = program(&["recovery", "list", "--store", "pg://me:hunter2@db/x"]).fails(2);
    assert!(told.starts_with("error: --store: ") && !told.contains("hunter2"), "{told}");
}
