//! The schema and the catalogue as they are written down in `golden/`: another host may share a table with this one, so that a
//! change of a text is a change of the contract, and must be seen.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use leasehold_decision::statements::{Dialect, StatementKind, catalog, schema};

const BLESS: &str = "LEASEHOLD_BLESS=1 cargo test -p leasehold-tests --test golden";

fn check(file: &str, text: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "golden", file].iter().collect();
    if env::var_os("LEASEHOLD_BLESS").is_some() {
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("tests/golden/{file}: {error}\nto write it: {BLESS}"));
    let difference = golden.lines().zip(text.lines()).find(|(golden, is)| golden != is);
    assert!(
        golden == text,
        "tests/golden/{file} differs from what the component carries, first here (golden, then now):\n{difference:#?}\n\
         If the contract is meant to change (the layout version, too?): {BLESS}"
    );
}

const SQL: [(Dialect, &str); 3] = [(Dialect::Sqlite, "sqlite"), (Dialect::Postgres, "postgres"), (Dialect::Mysql, "mysql")];

#[test]
fn the_schemas_are_as_written_down() {
    for (dialect, name) in SQL {
        let layout = schema(dialect).expect("the dialect is carried");
        let mut text = format!("-- layout {}\n", layout.version);
        for statement in layout.statements {
            writeln!(text, "{statement};").expect("a text takes it");
        }
        check(&format!("{name}-schema.sql"), &text);
    }
}

#[test]
fn the_catalogues_are_as_written_down() {
    for (dialect, name) in SQL {
        let mut text = String::new();
        for statement in catalog(dialect).expect("the dialect is carried") {
            let kind = match statement.kind {
                StatementKind::Read => "read",
                StatementKind::Insert => "insert",
                StatementKind::Update => "update",
                StatementKind::Purge => "purge",
            };
            writeln!(text, "{} ({kind})\n  {}\n  {}\n", statement.id, statement.text, statement.binds.join(" "))
                .expect("a text takes it");
        }
        check(&format!("{name}-catalogue.txt"), &text);
    }
}
