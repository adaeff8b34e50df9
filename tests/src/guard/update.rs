//! Updates: compare-and-swap on the whole owner tuple, and nothing beside it.

use std::collections::BTreeSet;

use leasehold_decision::Family;
use leasehold_decision::statements::Dialect;
use sqlparser::ast::{Assignment, AssignmentTarget, BinaryOperator, Expr, Statement, TableFactor, Update, Value, ValueWithSpan};

use super::parse::{conjuncts, one, parameter, source};
use super::sources::{Place, TUPLE, may_set};
use super::{Reason, spelling};

/// A claim needs its stream's authority to poll; what is under way may end while the stream drains.
const CLAIMS: [&str; 2] = ["takeover", "relet"];

pub(super) fn check(
    dialect: Dialect,
    family: &Family,
    place: &Place<'_>,
    tree: &Statement,
    binds: &[String],
) -> Result<(), Reason> {
    let Statement::Update(update) = tree else {
        return Err("no update".to_owned());
    };
    let table = table(update)?;
    if Some(table.as_str()) != place.table.as_deref() {
        return Err(format!("updates the table {table}"));
    }
    let sets = update.assignments.iter().map(|assignment| set(assignment, binds)).collect::<Result<Vec<_>, _>>()?;
    let mut columns = BTreeSet::new();
    if let Some((column, _)) = sets.iter().find(|(column, _)| !columns.insert(column)) {
        return Err(format!("sets {column} twice"));
    }
    if !columns.contains(&"revision".to_owned()) {
        return Err("does not set revision".to_owned());
    }
    let selection = update.selection.as_ref().ok_or("has no WHERE")?;
    let guard = (*family == Family::Outbox).then(|| authority(dialect, place.name));
    let tuple = tuple(dialect, selection, guard.is_some(), binds)?;
    let written: Vec<String> = sets.iter().map(|(column, value)| format!("{column} = {value}")).collect();
    let kept: Vec<String> =
        tuple.iter().map(|(column, value)| format!("{column} {} {value}", spelling::same(dialect, column))).collect();
    let guard = guard.map(|guard| format!(" AND {guard}")).unwrap_or_default();
    let canonical = format!("UPDATE {table} SET {} WHERE {}{guard}", written.join(", "), kept.join(" AND "));
    if one(dialect, &canonical)? == *tree { Ok(()) } else { Err(format!("is not what it should be: {canonical}")) }
}

fn table(update: &Update) -> Result<String, Reason> {
    match &update.table.relation {
        TableFactor::Table { name, .. } if update.table.joins.is_empty() => Ok(name.to_string()),
        other => Err(format!("updates {other}")),
    }
}

/// The column that is set, and its parameter or NULL.
fn set(assignment: &Assignment, binds: &[String]) -> Result<(String, String), Reason> {
    let AssignmentTarget::ColumnName(column) = &assignment.target else {
        return Err(format!("sets {}", assignment.target));
    };
    let column = column.to_string();
    let from = match &assignment.value {
        Expr::Value(ValueWithSpan { value: Value::Null, .. }) => None,
        value => Some(source(value, binds).ok_or_else(|| format!("sets {column} to {value}"))?),
    };
    may_set(&column, from)?;
    Ok((column, assignment.value.to_string()))
}

/// The tuple's columns with their parameters, in the order in which they stand. Beside them only the authority, last.
fn tuple(dialect: Dialect, selection: &Expr, guarded: bool, binds: &[String]) -> Result<Vec<(String, String)>, Reason> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut conjuncts = conjuncts(selection);
    if guarded && !conjuncts.pop().is_some_and(|last| matches!(last, Expr::Exists { negated: false, .. })) {
        return Err("does not end with the EXISTS of its authority".to_owned());
    }
    for conjunct in conjuncts {
        let (column, value) = match conjunct {
            Expr::IsNotDistinctFrom(column, value) => (column, value),
            Expr::BinaryOp { left, op: BinaryOperator::Spaceship, right } => (left, right),
            // Only of a column that cannot be absent; the canonical form holds which.
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } if spelling::same(dialect, &left.to_string()) == "=" => {
                (left, right)
            }
            _ => return Err(format!("its WHERE holds {conjunct}, which is no null-safe equality")),
        };
        let (Expr::Identifier(column), Some(_)) = (column.as_ref(), parameter(value)) else {
            return Err(format!("its WHERE holds {conjunct}, which is not a bare column with a parameter"));
        };
        let wanted = format!("before.{}", column.value);
        match source(value, binds) {
            Some(source) if source == wanted => found.push((column.value.clone(), value.to_string())),
            other => return Err(format!("compares {} with {}, not with {wanted}", column.value, other.unwrap_or("nothing"))),
        }
    }
    let columns: Vec<&str> = found.iter().map(|(column, _)| column.as_str()).collect();
    match TUPLE.iter().find(|wanted| columns.iter().filter(|column| column == wanted).count() != 1) {
        Some(column) => Err(format!("does not compare {column} once")),
        None if columns.len() == TUPLE.len() => Ok(found),
        None => Err(format!("compares {columns:?}")),
    }
}

fn authority(dialect: Dialect, name: &str) -> String {
    let mode = if CLAIMS.contains(&name) { "a.mode = 'POLLING'" } else { "a.mode IN ('POLLING', 'DRAINING')" };
    format!(
        "EXISTS (SELECT 1 FROM leasehold_outbox_authority AS a WHERE a.stream = leasehold_outbox.stream \
         AND a.generation = leasehold_outbox.generation AND {mode}{})",
        spelling::lock(dialect)
    )
}
