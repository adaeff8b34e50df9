//! What the tables of the model ask of a document, and what they do to its row.

use serde_json::{Map, Value, json};

/// The last instant and the highest limit there are.
pub(super) const TIME_MAX: u64 = i64::MAX as u64;
pub(super) const LIMIT_MAX: u64 = u32::MAX as u64;
/// A new record's revision is the clock, between these two.
pub(super) const FIRST_REVISION: (u64, u64) = (1, 1 << 53);

/// What is told, and the row that is written (none: nothing is).
pub(super) struct Answer {
    pub(super) outcome: Value,
    pub(super) after: Option<Value>,
}

/// A document, with names for what the rules ask of it.
pub(super) struct Case<'a> {
    pub(super) call: &'a str,
    pub(super) queue: bool,
    pub(super) scope: &'a Value,
    pub(super) settings: &'a Value,
    pub(super) args: &'a Value,
    pub(super) row: &'a Value,
    pub(super) now: u64,
}

impl<'a> Case<'a> {
    pub(super) fn read(document: &'a Value) -> Self {
        let args = &document["args"];
        Self {
            call: document["call"].as_str().expect("a document names its call"),
            queue: ["outbox", "cleanup"].contains(&document["family"].as_str().expect("a document names its family")),
            scope: &document["scope"],
            settings: &document["settings"],
            args,
            row: &document["before"],
            now: args["now"].as_u64().expect("each call has a clock reading"),
        }
    }

    pub(super) fn found(&self) -> bool {
        !self.row.is_null()
    }
    pub(super) fn is(&self, states: &[&str]) -> bool {
        self.row["state"].as_str().is_some_and(|state| states.contains(&state))
    }
    pub(super) fn lacks(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| self.row[field].is_null())
    }
    pub(super) fn number(&self, field: &str) -> u64 {
        self.row[field].as_u64().unwrap_or_else(|| panic!("{field} is no number in {}", self.row))
    }

    pub(super) fn reached(&self, field: &str) -> bool {
        self.row[field].as_u64().is_some_and(|t| t <= self.now)
    }
    pub(super) fn ahead(&self, field: &str) -> bool {
        self.row[field].as_u64().is_some_and(|t| t > self.now)
    }
    pub(super) fn running(&self) -> bool {
        self.ahead("lease-until")
    }
    pub(super) fn exhausted(&self) -> bool {
        self.number("attempt") >= self.number("attempt-limit")
    }

    pub(super) fn own(&self) -> bool {
        !self.is(&["pending"]) && self.row["owner"] == self.args["owner"]
    }
    pub(super) fn same_operation(&self) -> bool {
        self.row["operation"] == self.args["operation"]
    }
    pub(super) fn readable(&self) -> bool {
        self.args["readable-codecs"].as_array().is_some_and(|codecs| codecs.contains(&self.row["codec"]))
    }
    pub(super) fn tuple_differs(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| self.row[field] != self.args["tuple"][field])
    }

    pub(super) fn kind(&self) -> &str {
        self.args["kind"].as_str().expect("an advance names its kind")
    }
    pub(super) fn seen(&self) -> bool {
        self.row["transition"]["id"] == self.args["transition"]
    }
    pub(super) fn transition(&self, kind: &str, digest: &str) -> Value {
        json!({"id": self.args["transition"], "kind": kind, "digest": self.args[digest]})
    }
    pub(super) fn verdict_transition(&self) -> Value {
        let verdict = self.args["verdict"].as_str().expect("a resolve names its verdict");
        self.transition(&format!("resolve-{verdict}"), if verdict == "completed" { "digest" } else { "-" })
    }

    pub(super) fn setting(&self, name: &str) -> u64 {
        self.settings[name].as_u64().unwrap_or_else(|| panic!("setting {name} is missing"))
    }
    /// The clock, as a time that can be stored.
    pub(super) fn at(&self) -> u64 {
        self.now.min(TIME_MAX)
    }
    pub(super) fn after(&self, span: &str) -> u64 {
        self.now.saturating_add(self.setting(span)).min(TIME_MAX)
    }
    /// now + min(base * 2^(n-1), cap)
    pub(super) fn retry_at(&self) -> u64 {
        let doubled =
            (1..self.number("attempt").min(200)).fold(u128::from(self.setting("backoff-base")), |wait, _| wait.saturating_mul(2));
        let wait = u64::try_from(doubled).unwrap_or(u64::MAX).min(self.setting("backoff-cap"));
        self.now.saturating_add(wait).min(TIME_MAX)
    }
    pub(super) fn failure_expiry(&self, retry_at: u64) -> Option<u64> {
        (!self.queue).then(|| retry_at.saturating_add(self.setting("failure-retention")).min(TIME_MAX))
    }

    /// The row with these fields in place of the old ones, and the next revision.
    pub(super) fn write(&self, fields: Value, outcome: fn(&Value) -> Value) -> Answer {
        let mut row = self.row.clone();
        row["revision"] = json!(self.number("revision") + 1);
        merge(&mut row, fields);
        Answer { outcome: outcome(&row), after: Some(row) }
    }
    pub(super) fn new_life(&self, revision: u64) -> Answer {
        let row = json!({
            "scope": self.scope, "state": "claimed", "owner": self.args["owner"], "operation": self.args["operation"], "attempt": 1,
            "attempt-limit": self.setting("attempt-limit").min(LIMIT_MAX), "revision": revision, "fingerprint": self.args["fingerprint"],
            "codec": self.args["codec"], "policy-revision": self.settings["revision"], "lease-until": self.after("lease"),
            "retry-at": null, "expires-at": null, "reason": null, "transition": null, "result-digest": null,
        });
        Answer { outcome: held("acquired", &row), after: Some(row) }
    }
    pub(super) fn take_over(&self, kind: &str) -> Answer {
        let fields = json!({
            "state": "claimed", "owner": self.args["owner"], "operation": self.args["operation"], "attempt": self.number("attempt") + 1,
            "codec": self.args["codec"], "policy-revision": self.settings["revision"], "lease-until": self.after("lease"),
            "retry-at": null, "expires-at": null, "reason": null, "transition": null, "result-digest": null,
        });
        let mut answer = self.write(fields, |row| held("", row));
        answer.outcome["kind"] = json!(kind);
        answer
    }
    pub(super) fn bury(&self, reason: &str) -> Answer {
        let fields = json!({"state": "abandoned", "reason": reason, "lease-until": null, "retry-at": null, "expires-at": null, "transition": null});
        self.write(fields, recovery)
    }
    pub(super) fn move_to(&self, fields: Value) -> Answer {
        let mut all = json!({"transition": self.transition(self.kind(), "digest")});
        merge(&mut all, fields);
        self.write(all, |row| standing("applied", row))
    }
    pub(super) fn resolve(&self, fields: Value) -> Answer {
        let mut all = json!({"lease-until": null, "transition": self.verdict_transition()});
        merge(&mut all, fields);
        self.write(all, |row| json!({"kind": "resolved", "revision": row["revision"]}))
    }
}

pub(super) fn tell(outcome: Value) -> Answer {
    Answer { outcome, after: None }
}
pub(super) fn held(kind: &str, row: &Value) -> Value {
    json!({"kind": kind, "attempt": row["attempt"], "revision": row["revision"], "lease-until": row["lease-until"]})
}
pub(super) fn standing(kind: &str, row: &Value) -> Value {
    json!({"kind": kind, "state": row["state"], "revision": row["revision"], "lease-until": row["lease-until"]})
}
pub(super) fn recovery(row: &Value) -> Value {
    json!({"kind": "recovery-required", "attempt": row["attempt"], "revision": row["revision"], "reason": row["reason"]})
}

fn merge(row: &mut Value, fields: Value) {
    let fields: Map<String, Value> = serde_json::from_value(fields).expect("an object of fields");
    row.as_object_mut().expect("a row is an object").extend(fields);
}
