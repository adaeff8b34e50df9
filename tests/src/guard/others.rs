//! What is no update: inserts that never overwrite, purges that take only what has ended, readings that only read.

use leasehold_decision::statements::{Dialect, spelling};
use leasehold_decision::{Family, State};
use sqlparser::ast::{
    Delete, Expr, FromTable, Insert, OnConflict, OnConflictAction, OnInsert, SelectItem, SetExpr, Statement, TableObject, Value,
    ValueWithSpan,
};

use super::Reason;
use super::parse::{conjuncts, one, source};
use super::sources::{Place, may_set};
use super::spelling::{clock, from_nothing, or_nothing, parameter};

/// A family's record is made by a claim before its deadline, or by enqueue; a scope that is there already changes nothing.
pub(super) fn insert(
    dialect: Dialect,
    family: &Family,
    place: &Place<'_>,
    tree: &Statement,
    binds: &[String],
) -> Result<(), Reason> {
    let Statement::Insert(insert) = tree else {
        return Err("no insert".to_owned());
    };
    let columns: Vec<String> = insert.columns.iter().map(ToString::to_string).collect();
    let values = selected(insert)?;
    if columns.len() != values.len() {
        return Err("as many values as columns are expected".to_owned());
    }
    let enqueue = place.name == "enqueue" && family.is_queue();
    for (column, value) in columns.iter().zip(&values) {
        if enqueue { may_enqueue(column, value, binds)? } else { may_insert(column, value, binds)? }
    }
    let needed = ["scope", "state", "attempt", "attempt_limit", "revision", "policy_revision"];
    if let Some(column) = needed.iter().find(|needed| columns.iter().filter(|column| column == needed).count() != 1) {
        return Err(format!("does not set {column} once"));
    }
    let condition = if enqueue {
        "true".to_owned()
    } else {
        let deadline = binds.iter().position(|source| source == "host.deadline").ok_or("has no deadline")?;
        format!("{} <= {}", clock(dialect), parameter(dialect, deadline + 1))
    };
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let canonical = format!(
        "INSERT INTO {} ({}) SELECT {}{} WHERE {condition}{}",
        place.table.as_deref().unwrap_or("-"),
        columns.join(", "),
        values.join(", "),
        from_nothing(dialect),
        or_nothing(dialect)
    );
    if one(dialect, &canonical)? == *tree { Ok(()) } else { Err(format!("is not what it should be: {canonical}")) }
}

fn selected(insert: &Insert) -> Result<Vec<&Expr>, Reason> {
    let TableObject::TableName(_) = &insert.table else {
        return Err("inserts into something else than a table".to_owned());
    };
    let Some(SetExpr::Select(select)) = insert.source.as_ref().map(|query| query.body.as_ref()) else {
        return Err("inserts something else than a SELECT".to_owned());
    };
    let plain = select.projection.iter().map(|item| match item {
        SelectItem::UnnamedExpr(expr) => Ok(expr),
        other => Err(format!("inserts {other}")),
    });
    plain.collect()
}

fn may_insert(column: &str, value: &Expr, binds: &[String]) -> Result<(), Reason> {
    match (column, source(value, binds)) {
        ("scope", Some("args.scope")) => Ok(()),
        ("scope", _) => Err(format!("inserts {value} as scope")),
        (_, None) if !is_null(value) => Err(format!("inserts {value} as {column}")),
        (_, source) => may_set(column, source),
    }
}

/// Enqueue knows no decision: its record is `pending`, attempt 0, revision 1.
fn may_enqueue(column: &str, value: &Expr, binds: &[String]) -> Result<(), Reason> {
    let fits = match column {
        "state" => value.to_string() == "'PENDING'",
        "attempt" => value.to_string() == "0",
        "revision" => value.to_string() == "1",
        "created_at" | "changed_at" => source(value, binds) == Some("args.now"),
        _ => source(value, binds).is_some_and(|source| source == format!("args.{}", column.replace('_', "-"))),
    };
    if fits { Ok(()) } else { Err(format!("inserts {value} as {column}")) }
}

fn is_null(value: &Expr) -> bool {
    matches!(value, Expr::Value(ValueWithSpan { value: Value::Null, .. }))
}

/// Outside the families: adds rows, and changes none.
pub(super) fn is_insert(dialect: Dialect, tree: &Statement) -> Result<(), Reason> {
    let nothing = OnConflict { conflict_target: None, action: OnConflictAction::DoNothing };
    match tree {
        Statement::Insert(Insert { or: None, on: None, replace_into: false, .. }) => Ok(()),
        Statement::Insert(Insert { or: None, on: Some(OnInsert::OnConflict(on)), replace_into: false, .. })
            if dialect == Dialect::Postgres && *on == nothing =>
        {
            Ok(())
        }
        _ => Err("no plain insert".to_owned()),
    }
}

/// Gives rows, and changes none.
pub(super) fn is_query(tree: &Statement) -> Result<(), Reason> {
    match tree {
        Statement::Query(query) if matches!(query.body.as_ref(), SetExpr::Select(_)) => Ok(()),
        _ => Err("no query".to_owned()),
    }
}

/// Takes what ended at least one failure-retention ago: by state and expiry, both at the top of its WHERE, and never more than a
/// batch.
pub(super) fn purge(dialect: Dialect, place: &Place<'_>, tree: &Statement, binds: &[String]) -> Result<(), Reason> {
    let Statement::Delete(Delete { from: FromTable::WithFromKeyword(tables), using: None, selection: Some(selection), .. }) = tree
    else {
        return Err("no delete with a WHERE".to_owned());
    };
    if tables.len() != 1 || !binds.iter().any(|source| source == "host.limit") {
        return Err("is not one bounded batch of one table".to_owned());
    }
    let (Some(family), Some(table)) = (place.family, &place.table) else {
        return Ok(());
    };
    let spelled = |state| spelling(family, state).map(|word| format!("'{word}'"));
    let ended: Vec<String> = [State::Completed, State::FailedRetryable].into_iter().filter_map(spelled).collect();
    let retention = binds.iter().position(|source| source == "host.failure-retention").ok_or("has no retention")?;
    let limit = binds.iter().position(|source| source == "host.limit").ok_or("has no limit")?;
    let (retention, limit) = (parameter(dialect, retention + 1), parameter(dialect, limit + 1));
    let ended = format!("state IN ({})", ended.join(", "));
    let expired = format!("expires_at <= {} - {retention}", clock(dialect));
    let batch = format!("SELECT scope FROM {table} WHERE {ended} AND {expired} ORDER BY expires_at LIMIT {limit}");
    let batch = match dialect {
        Dialect::Postgres => format!("scope = ANY(ARRAY({batch} FOR UPDATE SKIP LOCKED))"),
        Dialect::Sqlite | Dialect::Mysql | Dialect::Redis => format!("scope IN ({batch})"),
    };
    // MySQL bounds the statement itself, which it does not let read its own table.
    let (wanted, end) = match dialect {
        Dialect::Mysql => (vec![&ended, &expired], format!(" ORDER BY expires_at LIMIT {limit}")),
        Dialect::Sqlite | Dialect::Postgres | Dialect::Redis => (vec![&ended, &batch, &expired], String::new()),
    };
    let conjuncts: Vec<String> = conjuncts(selection).iter().map(ToString::to_string).collect();
    let asked: Vec<String> = conjuncts.iter().map(|conjunct| with_sources(dialect, conjunct, binds)).collect();
    for wanted in wanted {
        let wanted = with_sources(dialect, &normal(dialect, wanted)?, binds);
        if !asked.contains(&wanted) {
            return Err(format!("does not ask for {wanted}"));
        }
    }
    let canonical = format!("DELETE FROM {table} WHERE {}{end}", conjuncts.join(" AND "));
    if one(dialect, &canonical)? == *tree { Ok(()) } else { Err(format!("is not what it should be: {canonical}")) }
}

/// A condition, as its syntax tree is written out.
fn normal(dialect: Dialect, condition: &str) -> Result<String, Reason> {
    match one(dialect, &format!("DELETE FROM t WHERE {condition}"))? {
        Statement::Delete(Delete { selection: Some(selection), .. }) => Ok(selection.to_string()),
        other => Err(format!("{other} is no delete")),
    }
}

/// The text with each parameter's source in its place.
fn with_sources(dialect: Dialect, text: &str, binds: &[String]) -> String {
    let numbered = binds.iter().enumerate().rev();
    numbered.fold(text.to_owned(), |text, (place, source)| text.replace(&parameter(dialect, place + 1), source))
}
