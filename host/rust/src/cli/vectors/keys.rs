//! One vector for a scope or a fingerprint.

use serde_json::Value;

use super::engine::Engine;
use super::parse::KeysWork;
use crate::cli::CliError;

/// What differs.
pub(super) fn run(work: &KeysWork, engine: &Engine) -> Result<Vec<String>, CliError> {
    let found = engine.key(&work.call)?.map_or(Value::Null, Value::String);
    Ok(if found == work.result { Vec::new() } else { vec![format!("result: expected {}, got {found}", work.result)] })
}
