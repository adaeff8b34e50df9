//! The catalogue, on its syntax trees: every statement keeps the guard, and every planted twin that does not is refused.

use leasehold_decision::statements::{Dialect, Statement, StatementKind, catalog, schema};
use leasehold_decision::{Family, StatementName};
use leasehold_tests::guard::{check, parse_all};

fn statements() -> Vec<Statement> {
    catalog(Dialect::Sqlite).expect("the dialect is carried")
}

fn statement(id: &str) -> Statement {
    statements().into_iter().find(|statement| statement.id == id).unwrap_or_else(|| panic!("the catalogue lacks {id}"))
}

/// Changes one statement's text, and holds that it is refused for a reason that names the change.
#[track_caller]
fn refused(id: &str, from: &str, to: &str, why: &str) {
    let mut twin = statement(id);
    assert!(twin.text.contains(from), "{id} holds no {from}: {}", twin.text);
    twin.text = twin.text.replacen(from, to, 1);
    refused_for(&twin, why);
}

/// The same for the bind plan.
#[track_caller]
fn rebound(id: &str, from: &str, to: &str, why: &str) {
    let mut twin = statement(id);
    let place = twin.binds.iter().position(|source| source == from).unwrap_or_else(|| panic!("{id} does not bind {from}"));
    to.clone_into(&mut twin.binds[place]);
    refused_for(&twin, why);
}

#[track_caller]
fn refused_for(twin: &Statement, why: &str) {
    match check(Dialect::Sqlite, twin) {
        Ok(()) => panic!("let in: {twin:?}"),
        Err(refusal) => assert!(refusal.reason.contains(why), "refused, but for another reason: {refusal}\nexpected: {why}"),
    }
}

const UPDATE: &str = "idempotency.complete";

const SQL: [Dialect; 3] = [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql];

#[test]
fn every_statement_keeps_the_guard() {
    for dialect in SQL {
        for statement in catalog(dialect).expect("the dialect is carried") {
            check(dialect, &statement).unwrap_or_else(|refusal| panic!("{dialect:?}: {refusal}\n{}", statement.text));
        }
    }
}

/// Twins of each dialect's own spelling.
#[test]
fn twins_in_each_dialect_are_refused() {
    let twins = [
        (Dialect::Postgres, "idempotency.complete", "revision = ", "revision >= "),
        (Dialect::Postgres, "idempotency.complete", "owner IS NOT DISTINCT FROM ", "owner = "),
        (Dialect::Postgres, "idempotency.complete", " WHERE ", " WHERE true OR "),
        (Dialect::Postgres, "idempotency.complete", "AND attempt = ", "AND ABS(attempt) = "),
        (Dialect::Postgres, "outbox.complete", " FOR SHARE OF a", ""),
        (Dialect::Postgres, "outbox.takeover", "a.mode = 'POLLING'", "true"),
        (Dialect::Postgres, "inbox.purge", " FOR UPDATE SKIP LOCKED", ""),
        (Dialect::Postgres, "inbox.insert", " ON CONFLICT DO NOTHING", " ON CONFLICT (scope) DO UPDATE SET attempt = 1"),
        (Dialect::Mysql, "idempotency.complete", "revision = ", "revision >= "),
        (Dialect::Mysql, "idempotency.complete", "owner <=> ", "owner = "),
        (Dialect::Mysql, "idempotency.complete", " WHERE ", " WHERE true OR "),
        (Dialect::Mysql, "outbox.complete", " LOCK IN SHARE MODE", ""),
        (Dialect::Mysql, "inbox.purge", " LIMIT ?", ""),
        (Dialect::Mysql, "inbox.insert", "INSERT INTO", "REPLACE INTO"),
        (Dialect::Mysql, "inbox.insert", "INSERT INTO", "INSERT IGNORE INTO"),
    ];
    for (dialect, id, from, to) in twins {
        let listed = catalog(dialect).expect("the dialect is carried");
        let mut twin = listed.into_iter().find(|statement| statement.id == id).expect("it is listed");
        assert!(twin.text.contains(from), "{dialect:?} {id} holds no {from}: {}", twin.text);
        twin.text = twin.text.replacen(from, to, 1);
        assert!(check(dialect, &twin).is_err(), "{dialect:?} let in: {}", twin.text);
    }
}

#[test]
fn every_family_has_its_statements_once() {
    let ids: Vec<String> = statements().into_iter().map(|statement| statement.id).collect();
    for family in Family::ALL {
        let mut wanted: Vec<&str> =
            StatementName::ALL.into_iter().filter(|name| name.is_of(family)).map(StatementName::name).collect();
        wanted.extend(["read", "waiting", "waiting-count", "lapsed", "purge"]);
        wanted.extend(family.is_queue().then_some("enqueue"));
        wanted.sort_unstable();
        let mut found: Vec<&str> =
            ids.iter().filter_map(|id| id.strip_prefix(family.name())).filter_map(|rest| rest.strip_prefix('.')).collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{family:?}");
    }
}

#[test]
fn or_true_is_refused() {
    refused(UPDATE, " WHERE ", " WHERE true OR ", "no null-safe equality");
    refused(UPDATE, " AND owner", " OR true AND owner", "no null-safe equality");
    refused(UPDATE, " AND revision", " OR true AND revision", "no null-safe equality");
    let mut twin = statement(UPDATE);
    twin.text.push_str(" OR true");
    refused_for(&twin, "no null-safe equality");
}

#[test]
fn a_parenthesised_or_is_refused() {
    refused(UPDATE, "AND attempt IS", "AND (true OR attempt = 1) AND attempt IS", "no null-safe equality");
    let mut twin = statement(UPDATE);
    let (head, tail) =
        twin.text.split_once("revision IS NOT").map(|(head, tail)| (head.to_owned(), tail.to_owned())).expect("it is guarded");
    twin.text = format!("{head}(revision IS NOT{tail} OR true)");
    refused_for(&twin, "no null-safe equality");
}

#[test]
fn another_comparison_is_refused() {
    for operator in [">=", "=", "IS DISTINCT FROM", "<>", "LIKE", "IS"] {
        refused(UPDATE, "revision IS NOT DISTINCT FROM", &format!("revision {operator}"), "");
    }
    refused(UPDATE, "revision IS NOT DISTINCT FROM", "revision >=", "no null-safe equality");
    refused(UPDATE, "revision IS NOT DISTINCT FROM", "revision =", "no null-safe equality");
}

#[test]
fn a_call_around_a_column_is_refused() {
    refused(UPDATE, "AND revision IS NOT", "AND ABS(revision) IS NOT", "calls ABS");
    refused(UPDATE, "AND revision IS NOT", "AND MAX(revision) IS NOT", "not a bare column");
    refused(UPDATE, "AND revision IS NOT", "AND (revision) IS NOT", "not a bare column");
    refused(UPDATE, "AND revision IS NOT", "AND CAST(revision AS INTEGER) IS NOT", "not a bare column");
    refused(UPDATE, "AND revision IS NOT", "AND revision + 0 IS NOT", "not a bare column");
    refused(UPDATE, "AND revision IS NOT", "AND leasehold_idempotency.revision IS NOT", "not a bare column");
    refused(UPDATE, "AND revision IS NOT", "AND 'revision' IS NOT", "not a bare column");
    refused(UPDATE, "AND revision IS NOT", "AND \"revision\" IS NOT", "is quoted");
    refused(UPDATE, "AND revision IS NOT", "AND revision COLLATE NOCASE IS NOT", "not a bare column");
}

#[test]
fn a_comment_is_refused() {
    let mut twin = statement(UPDATE);
    twin.text = twin.text.replace("AND attempt IS", "/* AND attempt IS").replace(" AND revision", "*/ AND revision");
    refused_for(&twin, "holds /*");
    let mut twin = statement(UPDATE);
    twin.text = twin.text.replace(" AND revision", " -- AND revision");
    refused_for(&twin, "holds --");
    assert_eq!(parse_all(Dialect::Sqlite, "SELECT 1 /* and more */"), Err("a comment".to_owned()));
    assert_eq!(parse_all(Dialect::Sqlite, "SELECT 1 -- and more"), Err("a comment".to_owned()));
}

#[test]
fn an_equality_under_not_is_refused() {
    refused(UPDATE, "AND revision IS NOT", "AND NOT revision IS NOT", "no null-safe equality");
    let mut twin = statement(UPDATE);
    twin.text = format!("{})", twin.text.replace("AND revision IS NOT", "AND NOT (revision IS NOT"));
    refused_for(&twin, "no null-safe equality");
}

#[test]
fn a_missing_column_is_refused() {
    for column in ["owner", "operation", "attempt", "revision"] {
        let mut twin = statement(UPDATE);
        let place = twin.binds.iter().position(|source| *source == format!("before.{column}")).expect("it is bound") + 1;
        twin.text = twin.text.replace(&format!(" AND {column} IS NOT DISTINCT FROM ?{place}"), "");
        twin.text =
            (place + 1..=twin.binds.len()).fold(twin.text, |text, n| text.replace(&format!("?{n}"), &format!("?{}", n - 1)));
        twin.binds.remove(place - 1);
        refused_for(&twin, &format!("does not compare {column} once"));
    }
    let mut twin = statement(UPDATE);
    twin.text = twin.text.split(" WHERE ").next().expect("it has one").to_owned();
    twin.binds.retain(|source| !source.starts_with("before."));
    refused_for(&twin, "has no WHERE");
    refused(UPDATE, "attempt IS NOT", "revision IS NOT", "compares revision with before.attempt");
}

#[test]
fn a_bind_to_something_else_than_the_record_as_read_is_refused() {
    rebound(UPDATE, "before.owner", "args.owner", "compares owner with args.owner");
    rebound(UPDATE, "before.operation", "args.operation", "compares operation with args.operation");
    rebound(UPDATE, "before.revision", "next.revision", "compares revision with next.revision");
    rebound(UPDATE, "before.attempt", "before.revision", "compares attempt with before.revision");
    rebound(UPDATE, "before.scope", "args.scope", "binds args.scope");
    rebound(UPDATE, "before.scope", "before.state", "binds before.state");
    let mut twin = statement(UPDATE);
    twin.text = twin.text.replace(&format!("?{}", twin.binds.len()), "1");
    twin.binds.pop();
    refused_for(&twin, "not a bare column with a parameter");
}

#[test]
fn the_tuple_in_a_subquery_alone_is_refused() {
    let mut twin = statement(UPDATE);
    let (head, guard) = twin.text.split_once(" WHERE ").expect("it has one");
    twin.text = format!("{head} WHERE EXISTS (SELECT 1 FROM leasehold_idempotency WHERE {guard})");
    refused_for(&twin, "no null-safe equality");
    let mut twin = statement(UPDATE);
    let (head, guard) = twin.text.split_once(" WHERE ").expect("it has one");
    twin.text = format!("{head} WHERE scope IN (SELECT scope FROM leasehold_idempotency WHERE {guard})");
    refused_for(&twin, "no null-safe equality");
}

#[test]
fn two_statements_are_refused() {
    let mut twin = statement(UPDATE);
    twin.text.push_str("; DELETE FROM leasehold_idempotency");
    refused_for(&twin, "holds ;");
    let mut twin = statement(UPDATE);
    twin.text.push_str(" DELETE FROM leasehold_idempotency");
    refused_for(&twin, "");
}

#[test]
fn another_table_is_refused() {
    refused(UPDATE, "leasehold_idempotency", "leasehold_inbox", "names the table leasehold_inbox");
    refused(UPDATE, "leasehold_idempotency", "leasehold_idempotency_old", "names the table");
    refused(UPDATE, "leasehold_idempotency", "main.leasehold_idempotency", "names the table");
    refused(UPDATE, " WHERE ", " FROM leasehold_outbox WHERE ", "names the table leasehold_outbox");
    refused("outbox.complete", "UPDATE leasehold_outbox", "UPDATE leasehold_outbox_authority", "updates the table");
    refused("inbox.read", "leasehold_inbox", "leasehold_audit", "names the table leasehold_audit");
    refused("cleanup.purge", "leasehold_cleanup", "leasehold_outbox", "names the table leasehold_outbox");
}

#[test]
fn what_an_update_has_besides_is_refused() {
    refused(UPDATE, "UPDATE ", "UPDATE OR REPLACE ", "is not what it should be");
    refused(UPDATE, " WHERE ", " FROM (SELECT 1) AS x WHERE ", "is not what it should be");
    refused(UPDATE, "leasehold_idempotency SET", "leasehold_idempotency AS t SET", "is not what it should be");
    for tail in [" RETURNING scope", " ORDER BY scope LIMIT 1", " LIMIT 1"] {
        let mut twin = statement(UPDATE);
        twin.text.push_str(tail);
        refused_for(&twin, "");
    }
}

#[test]
fn a_value_from_elsewhere_is_refused() {
    rebound(UPDATE, "next.revision", "before.revision", "sets revision from before.revision");
    rebound(UPDATE, "next.state", "args.owner", "sets state from args.owner");
    rebound("idempotency.takeover", "args.owner", "before.owner", "sets owner from before.owner");
    rebound(UPDATE, "host.response", "host.secret", "binds host.secret");
    refused(UPDATE, "revision = ?2, ", "", "parameters are");
    refused(UPDATE, "revision = ?2", "revision = revision + ?2", "sets revision to");
    refused(UPDATE, "revision = ?2", "attempt_limit = ?2", "sets attempt_limit from next.revision");
    refused(UPDATE, "lease_until = NULL", "owner = NULL", "clears owner");
    refused(UPDATE, "lease_until = NULL", "scope = NULL", "sets scope");
    refused(UPDATE, "lease_until = NULL", "lease_until = 0", "sets lease_until to 0");
    refused(UPDATE, "lease_until = NULL", "reason = NULL, reason = NULL", "sets reason twice");
}

#[test]
fn a_bind_plan_that_does_not_fit_is_refused() {
    let mut twin = statement(UPDATE);
    twin.binds.push("args.now".to_owned());
    refused_for(&twin, "parameters are");
    refused(UPDATE, "?2", "?", "has no number");
    refused(UPDATE, "?2", ":revision", "has no number");
    refused(UPDATE, "?2", "?02", "has no number");
    refused(UPDATE, "?2", "?99", "parameters are");
}

#[test]
fn a_statement_of_another_kind_is_refused() {
    for (id, kind, why) in [
        (UPDATE, StatementKind::Read, "which Read does not have"),
        ("inbox.insert", StatementKind::Update, "which Update does not have"),
        ("inbox.purge", StatementKind::Update, "which Update does not have"),
        ("secret.first", StatementKind::Update, "an update outside the families"),
        ("secret.list", StatementKind::Insert, "no plain insert"),
        ("inbox.waiting-count", StatementKind::Update, "no update"),
        ("inbox.waiting-count", StatementKind::Purge, "no delete"),
    ] {
        refused_for(&Statement { kind, ..statement(id) }, why);
    }
    refused_for(&Statement { id: "other.read".to_owned(), ..statement("inbox.read") }, "an id that no host knows");
    refused_for(&Statement { id: "inbox.insert".to_owned(), ..statement("inbox.read") }, "");
}

#[test]
fn an_outbox_update_without_its_authority_is_refused() {
    const OUTBOX: &str = "outbox.complete";
    let mut twin = statement(OUTBOX);
    twin.text = twin.text.split(" AND EXISTS ").next().expect("it has one").to_owned();
    refused_for(&twin, "does not end with the EXISTS");
    refused(OUTBOX, "AND EXISTS", "AND NOT EXISTS", "does not end with the EXISTS");
    refused(OUTBOX, "AND EXISTS", "OR EXISTS", "");
    refused(OUTBOX, "a.generation = leasehold_outbox.generation AND ", "", "is not what it should be");
    refused(OUTBOX, "a.stream = leasehold_outbox.stream", "a.stream = a.stream", "is not what it should be");
    refused(OUTBOX, "'DRAINING'", "'EXTERNAL'", "is not what it should be");
    refused("outbox.takeover", "a.mode = 'POLLING'", "a.mode IN ('POLLING', 'DRAINING')", "is not what it should be");
    let mut twin = statement("cleanup.complete");
    let exists = " AND EXISTS (SELECT 1 FROM leasehold_cleanup)";
    twin.text.push_str(exists);
    refused_for(&twin, "no null-safe equality");
}

#[test]
fn an_insert_that_overwrites_is_refused() {
    const INSERT: &str = "idempotency.insert";
    refused(INSERT, "INSERT INTO", "INSERT OR REPLACE INTO", "is not what it should be");
    refused(INSERT, "INSERT INTO", "REPLACE INTO", "is not what it should be");
    refused(INSERT, "DO NOTHING", "DO UPDATE SET revision = 1", "is not what it should be");
    refused(INSERT, " ON CONFLICT (scope) DO NOTHING", "", "is not what it should be");
    refused(INSERT, " <= ?", " >= ?", "is not what it should be");
    rebound(INSERT, "args.scope", "args.owner", "as scope");
    rebound(INSERT, "host.deadline", "args.now", "has no deadline");
    refused("outbox.enqueue", "'PENDING'", "'CLAIMED'", "as state");
    refused("outbox.enqueue", "WHERE true", "WHERE false", "is not what it should be");
    refused("secret.first", "INSERT INTO", "INSERT OR REPLACE INTO", "no plain insert");
}

#[test]
fn a_purge_without_bounds_is_refused() {
    const PURGE: &str = "inbox.purge";
    refused(PURGE, "WHERE state IN ('PROCESSED', 'FAILED')", "WHERE true", "does not ask for state IN");
    refused(PURGE, "WHERE state IN ('PROCESSED', 'FAILED')", "WHERE state IN ('PROCESSED', 'DEAD')", "does not ask for state IN");
    rebound(PURGE, "host.limit", "host.failure-retention", "bounded batch");
    refused(PURGE, " AND expires_at <=", " AND true OR expires_at <=", "does not ask for scope IN");
    refused(PURGE, "ORDER BY expires_at LIMIT ?2", "LIMIT ?2", "does not ask for scope IN");
    let mut twin = statement(PURGE);
    let (head, tail) = twin.text.rsplit_once("AS INTEGER) - ").expect("it ends with the expiry");
    twin.text = format!("{head}AS INTEGER) + {tail}");
    refused_for(&twin, "does not ask for expires_at");
    let mut twin = statement(PURGE);
    let end = twin.text.rfind(" AND expires_at").expect("it asks for the expiry");
    twin.text.truncate(end);
    refused_for(&twin, "does not ask for expires_at");
    let mut twin = statement(PURGE);
    twin.text.push_str(" RETURNING scope");
    refused_for(&twin, "is not what it should be");
    let mut twin = statement(PURGE);
    twin.text.push_str(" OR true");
    refused_for(&twin, "does not ask for state IN");
}

#[test]
fn the_schema_holds_one_statement_a_text_and_our_tables_alone() {
    let layout = schema(Dialect::Sqlite).expect("the dialect is carried");
    for text in &layout.statements {
        assert!(!text.contains("--") && !text.contains("/*"), "{text}");
        if text.starts_with("CREATE TRIGGER") {
            continue; // sqlparser reads no SQLite trigger; the store itself does, in `sqlite.rs`
        }
        let parsed = parse_all(Dialect::Sqlite, text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(parsed.len(), 1, "{text}");
        let named = text.split([' ', '(', ',']).filter(|word| word.contains("leasehold")).collect::<Vec<_>>();
        assert!(!named.is_empty() && named.iter().all(|name| name.starts_with("leasehold_")), "{text}");
    }
}
