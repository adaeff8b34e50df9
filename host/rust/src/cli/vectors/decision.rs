//! One vector for a decision: by the typed form and the store, and by the packed form.

use leasehold_decision::packed::Request;
use leasehold_decision::{Decision, Row, RowFault};
use serde_json::{Map, Value, json};

use super::engine::Engine;
use super::parse::DecisionWork;
use super::stage::Stage;
use super::{compare, outcome};
use crate::cli::CliError;
use crate::executor::recovery::RowView;
use crate::store::{StoredRow, Swap};

/// What differs, by either form.
pub(super) async fn run(line: usize, work: &DecisionWork, engine: &Engine, stage: &Stage) -> Result<Vec<String>, CliError> {
    let mut differences =
        if stage.plays(work) { on_the_store(line, work, engine, stage).await? } else { without_a_store(work, engine)? };
    differences.extend(packed(work, engine)?.into_iter().map(|difference| format!("packed: {difference}")));
    Ok(differences)
}

async fn on_the_store(line: usize, work: &DecisionWork, engine: &Engine, stage: &Stage) -> Result<Vec<String>, CliError> {
    let stored = stage.read(line, work).await?;
    let before = stored.as_ref().map(|stored| &stored.row);
    if before != work.request.before.as_ref() {
        return Ok(vec![format!("the store gave back another record than was put: {}", view(stored.as_ref()))]);
    }
    let decided = decide(&work.request, before, engine)?;
    let mut differences = compare::outcome(&work.outcome, &told(&decided, &work.request, before));
    if let Some(write) = decided.ok().and_then(|decision| decision.write) {
        match stage.swap(line, work, before, &write).await? {
            Swap::Applied => {}
            Swap::Refused => differences.push(format!("the statement {} changed 0 rows", write.statement.name())),
            Swap::Unknown(why) => differences.push(format!("whether {} changed a row is not known: {why}", write.statement.name())),
        }
    }
    differences.extend(compare::record(&work.after, &view(stage.read(line, work).await?.as_ref())));
    Ok(differences)
}

fn without_a_store(work: &DecisionWork, engine: &Engine) -> Result<Vec<String>, CliError> {
    let before = work.request.before.as_ref();
    let decided = decide(&work.request, before, engine)?;
    let mut differences = compare::outcome(&work.outcome, &told(&decided, &work.request, before));
    if let Some(write) = decided.ok().and_then(|decision| decision.write) {
        differences.push(format!("{} would be written on a record that no store can hold", write.statement.name()));
    }
    let unchanged = before.map(|row| StoredRow { row: row.clone(), response: None, created_at: 0, changed_at: 0 });
    differences.extend(compare::record(&work.after, &view(unchanged.as_ref())));
    Ok(differences)
}

/// A decision; or the column that makes the row no record, which is the outcome `corrupt-record`.
type Decided = Result<Decision, RowFault>;

fn decide(request: &Request, before: Option<&Row>, engine: &Engine) -> Result<Decided, CliError> {
    Ok(match before.map(Row::record).transpose() {
        Ok(record) => Ok(engine.decide(request, record.as_ref())?),
        Err(fault) => Err(fault),
    })
}

fn told(decided: &Decided, request: &Request, before: Option<&Row>) -> Map<String, Value> {
    match decided {
        Ok(decision) => outcome::members(&decision.outcome, request, before),
        Err(fault) => {
            let told = json!({ "kind": "corrupt-record", "detail": format!("{} {}", fault.field, RowFault::MESSAGE) });
            told.as_object().cloned().unwrap_or_default()
        }
    }
}

fn view(stored: Option<&StoredRow>) -> Value {
    stored.map_or(Value::Null, |stored| serde_json::to_value(RowView::of(stored)).unwrap_or_default())
}

fn packed(work: &DecisionWork, engine: &Engine) -> Result<Vec<String>, CliError> {
    let text = engine.packed(&work.document.to_string())?;
    let answer: Value = serde_json::from_str(&text).map_err(|error| CliError::Other(error.into()))?;
    let Some(found) = answer.get("outcome").and_then(Value::as_object) else {
        return Ok(vec![format!("there is no outcome in {text}")]);
    };
    let mut differences = compare::outcome(&work.outcome, found);
    differences.extend(compare::record(&work.after, answer.get("after").unwrap_or(&Value::Null)));
    Ok(differences)
}
