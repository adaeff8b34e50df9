//! The SQLite catalogue on a real SQLite: the schema is executed, every statement is prepared, and the plan that the store makes
//! of it uses the index that it is there for.

use leasehold_decision::Family;
use leasehold_decision::statements::{Dialect, Statement, StatementKind, catalog, schema};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Either, Executor, Row, SqlSafeStr, Statement as _};

async fn store() -> SqliteConnection {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.expect("a store in memory");
    for text in schema(Dialect::Sqlite).expect("the dialect is carried").statements {
        connection.execute(AssertSqlSafe(text.clone())).await.unwrap_or_else(|error| panic!("{error}: {text}"));
    }
    connection
}

fn statements() -> Vec<Statement> {
    catalog(Dialect::Sqlite).expect("the dialect is carried")
}

/// What the store says it will do, one line a step.
async fn plan(connection: &mut SqliteConnection, statement: &Statement) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {}", statement.text);
    let rows = connection.fetch_all(AssertSqlSafe(explain)).await.unwrap_or_else(|error| panic!("{error}: {}", statement.text));
    rows.into_iter().map(|row| row.get::<String, _>("detail")).collect()
}

#[tokio::test]
async fn every_statement_is_prepared_with_the_parameters_of_its_plan() {
    let mut store = store().await;
    for statement in statements() {
        let prepared = store
            .prepare(AssertSqlSafe(statement.text.clone()).into_sql_str())
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", statement.id));
        assert!(matches!(prepared.parameters(), Some(Either::Right(count)) if count == statement.binds.len()), "{}", statement.id);
        let gives_rows = !prepared.columns().is_empty();
        assert_eq!(gives_rows, statement.kind == StatementKind::Read, "{}", statement.id);
    }
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let mut store = store().await;
    for statement in statements() {
        let Some((family, name)) = statement.id.split_once('.').and_then(|(family, name)| Some((Family::from_name(family)?, name)))
        else {
            continue;
        };
        let table = format!("leasehold_{}", family.name());
        let key = format!("SEARCH {table} USING INDEX sqlite_autoindex_{table}_1 (scope=?)");
        let plan = plan(&mut store, &statement).await;
        let index = |name: &str| format!("INDEX {table}_{name}");
        let wanted = match (statement.kind, name) {
            (StatementKind::Update, _) => vec![key],
            (_, "read") => vec![format!("{key} LEFT-JOIN")],
            (_, "waiting" | "waiting-count") => vec![index("waiting")],
            (_, "lapsed") => vec![index("lapsed")],
            (StatementKind::Purge, _) => vec![key, index("expired")],
            _ => continue,
        };
        let told = || format!("{}:\n  {}", statement.id, plan.join("\n  "));
        for part in wanted {
            assert!(plan.iter().any(|step| step.contains(&part)), "no step has {part}\n{}", told());
        }
        let scans = plan.iter().filter(|step| step.contains(&format!("SCAN {table}")) && name != "waiting-count").count();
        assert_eq!(scans, 0, "reads the whole table\n{}", told());
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "sorts by itself\n{}", told());
    }
}

#[tokio::test]
async fn shared_statements_find_their_rows_by_an_index() {
    let mut store = store().await;
    for (id, step) in [
        ("audit.list", "SEARCH leasehold_audit USING INDEX leasehold_audit_scope (family=? AND scope=?)"),
        ("evidence.list", "SEARCH leasehold_evidence USING INDEX leasehold_evidence_scope (family=? AND scope=?)"),
        ("evidence.insert", "SEARCH leasehold_evidence USING COVERING INDEX leasehold_evidence_scope (family=? AND scope=?)"),
        ("evidence.purge", "SEARCH leasehold_evidence USING INTEGER PRIMARY KEY (rowid=?)"),
    ] {
        let statement = statements().into_iter().find(|statement| statement.id == id).expect("it is in the catalogue");
        let plan = plan(&mut store, &statement).await;
        assert!(plan.iter().any(|found| found == step), "{id}:\n  {}", plan.join("\n  "));
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{id}: {plan:?}");
    }
}
