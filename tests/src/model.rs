//! The reference model: section 2 of the design as tables, first line that fits decides.
//!
//! Written apart from `guest/`, from the design's text alone, on plain JSON rows and with no type of the
//! guest's, so that a misreading shared by both is unlikely and a difference means that one of them is wrong.
//! It knows no statement, no store and no wire form beyond the vector document (section 7), takes a document
//! that is well formed, and is not total: only the guest has to be.
//! Compared with the component's code by `tests/tests/model.rs`.

use serde_json::{Value, json};

mod case;

use case::{Answer, Case, FIRST_REVISION, LIMIT_MAX, TIME_MAX, held, recovery, standing, tell};

/// Takes the document of a vector (`family`, `scope`, `settings`, `before`, `call`, `args`) and gives `outcome`, `rule` (the name of
/// the line that decided) and, where something is written, `after`.
pub fn decide(document: &Value) -> Value {
    let case = Case::read(document);
    let rules = match case.call {
        "claim" => CLAIM,
        "advance" => ADVANCE,
        "release" => RELEASE,
        "inspect" => INSPECT,
        "resolve" => RESOLVE,
        other => unreachable!("a call that the design does not have: {other}"),
    };
    let (rule, _, answer) =
        REFUSED.iter().chain(rules).find(|(_, fits, _)| fits(&case)).expect("each table's last line always fits");
    let Answer { outcome, after } = answer(&case);
    let mut told = json!({"outcome": outcome, "rule": format!("{}: {rule}", case.call)});
    if let Some(after) = after {
        told["after"] = after;
    }
    told
}

/// Every kind of outcome that the design has.
pub const OUTCOMES: &[&str] = &[
    "acquired",
    "already-applied",
    "applied",
    "claimed-same-operation",
    "codec-unreadable",
    "completed-replay",
    "corrupt-record",
    "executing-same-operation",
    "execution-started",
    "fingerprint-mismatch",
    "in-progress",
    "invalid-settings",
    "invalid-state",
    "missing",
    "not-owner",
    "operation-conflict",
    "recovery-required",
    "released",
    "replayed-acquire",
    "resolved",
    "retry-later",
    "retryable",
    "stale-revision",
    "taken-over",
    "transition-conflict",
];

/// Every line of every table, as `rule` names it.
pub fn lines() -> impl Iterator<Item = String> {
    let tables = [("claim", CLAIM), ("advance", ADVANCE), ("release", RELEASE), ("inspect", INSPECT), ("resolve", RESOLVE)];
    tables.into_iter().flat_map(|(call, rules)| REFUSED.iter().chain(rules).map(move |(rule, ..)| format!("{call}: {rule}")))
}

/// One line of a table: its name, when it fits, what it answers.
type Rule = (&'static str, fn(&Case) -> bool, fn(&Case) -> Answer);

/// What precedes every call.
const REFUSED: &[Rule] = &[
    ("settings: nothing allowed", |c| c.setting("lease") == 0 || c.setting("attempt-limit") == 0, refused),
    ("settings: replay", |c| c.setting("replay-retention") < c.setting("lease"), refused),
    ("settings: failure", |c| c.setting("failure-retention") < c.setting("lease"), refused),
    ("corrupt: revision", |c| c.found() && (c.number("revision") == 0 || c.number("revision") >= TIME_MAX), corrupt),
    ("corrupt: attempt limit", |c| c.found() && c.number("attempt-limit") == 0, corrupt),
    ("corrupt: attempt", |c| c.found() && (c.number("attempt") == 0) != c.is(&["pending"]), corrupt),
    ("corrupt: pending outside the queues", |c| c.is(&["pending"]) && !c.queue, corrupt),
    ("corrupt: executing in a queue", |c| c.is(&["executing"]) && c.queue, corrupt),
    ("corrupt: held by nobody", |c| HELD.iter().any(|s| c.is(&[s])) && c.lacks(&["owner", "operation", "lease-until"]), corrupt),
];
const HELD: &[&str] = &["claimed", "executing"];

const CLAIM: &[Rule] = &[
    ("1 no record in a queue", |c| !c.found() && c.queue, missing),
    ("1 no record", |c| !c.found(), |c| c.new_life(c.now.clamp(FIRST_REVISION.0, FIRST_REVISION.1))),
    ("2 expired in a queue", |c| c.reached("expires-at") && c.queue, missing),
    ("2 expired", |c| c.reached("expires-at"), |c| c.new_life(c.number("revision") + 1)),
    ("3 other payload", |c| c.row["fingerprint"] != c.args["fingerprint"], mismatch),
    (
        "4 completed, codec not readable",
        |c| c.is(&["completed"]) && !c.row["codec"].is_null() && !c.readable(),
        |c| tell(json!({"kind": "codec-unreadable", "codec": c.row["codec"]})),
    ),
    ("4 completed", |c| c.is(&["completed"]), replay),
    ("5 abandoned", |c| c.is(&["abandoned"]), |c| tell(recovery(c.row))),
    ("6 own, another operation", |c| c.own() && !c.same_operation(), conflict),
    ("6 own, failed", |c| c.own() && c.is(&["failed-retryable"]), conflict),
    ("6 own, claimed, running", |c| c.own() && c.is(&["claimed"]) && c.running(), |c| tell(held("replayed-acquire", c.row))),
    (
        "6 own, claimed, lapsed",
        |c| c.own() && c.is(&["claimed"]),
        |c| c.write(json!({"lease-until": c.after("lease")}), |row| held("replayed-acquire", row)),
    ),
    (
        "6 own, executing, running",
        |c| c.own() && c.is(&["executing"]) && c.running(),
        |c| tell(held("executing-same-operation", c.row)),
    ),
    ("7 wait", |c| c.is(WAITING) && c.ahead("retry-at"), |c| tell(json!({"kind": "retry-later", "retry-at": c.row["retry-at"]}))),
    ("7 exhausted", |c| c.is(WAITING) && c.exhausted(), |c| c.bury("ATTEMPTS_EXHAUSTED")),
    ("7 from pending", |c| c.is(&["pending"]), |c| c.take_over("acquired")),
    ("7 from failed", |c| c.is(&["failed-retryable"]), |c| c.take_over("taken-over")),
    ("8 lease running", |c| c.running(), in_progress),
    ("9 executing", |c| c.is(&["executing"]), |c| c.bury("EXECUTION_LEASE_EXPIRED")),
    ("10 exhausted", |c| c.exhausted(), |c| c.bury("ATTEMPTS_EXHAUSTED")),
    ("10 take over", always, |c| c.take_over("taken-over")),
];
const WAITING: &[&str] = &["pending", "failed-retryable"];

const ADVANCE: &[Rule] = &[
    ("1 missing", |c| !c.found(), missing),
    ("2 owner or attempt", |c| c.tuple_differs(&["owner", "attempt"]), not_owner),
    ("3 operation", |c| c.tuple_differs(&["operation"]), conflict),
    ("4 repeated", |c| c.seen() && c.row["transition"] == c.transition(c.kind(), "digest"), already),
    ("4 the id of another", |c| c.seen(), transition_conflict),
    ("5 revision", |c| c.tuple_differs(&["revision"]), stale),
    ("6 state", |c| !KINDS.iter().any(|k| k.kind == c.kind() && c.is(k.sources(c.queue))), invalid),
    (
        "7 fail, exhausted",
        |c| c.kind() == "fail" && c.exhausted(),
        |c| {
            c.move_to(json!({"state": "abandoned", "reason": "ATTEMPTS_EXHAUSTED", "lease-until": null, "retry-at": null, "expires-at": null}))
        },
    ),
    ("7 applied", always, |c| c.move_to((KINDS.iter().find(|k| k.kind == c.kind()).expect("line 6 let it pass").sets)(c))),
];

/// The table of transitions.
struct Kind {
    kind: &'static str,
    from: &'static [&'static str],
    from_in_queues: &'static [&'static str],
    sets: fn(&Case) -> Value,
}

const KINDS: &[Kind] = &[
    Kind {
        kind: "start",
        from: &["claimed"],
        from_in_queues: &[],
        sets: |c| json!({"state": "executing", "lease-until": c.after("lease")}),
    },
    Kind {
        kind: "renew",
        from: &["claimed", "executing"],
        from_in_queues: &["claimed"],
        sets: |c| json!({"lease-until": c.after("lease").max(c.number("lease-until"))}),
    },
    Kind {
        kind: "complete",
        from: &["executing"],
        from_in_queues: &["claimed"],
        sets: |c| {
            json!({"state": "completed", "result-digest": c.args["digest"], "expires-at": c.after("replay-retention"),
                "lease-until": null, "reason": null})
        },
    },
    Kind {
        kind: "fail",
        from: &["claimed", "executing"],
        from_in_queues: &["claimed"],
        sets: |c| {
            json!({"state": "failed-retryable", "reason": c.args["reason"], "retry-at": c.retry_at(),
                "expires-at": c.failure_expiry(c.retry_at()), "lease-until": null})
        },
    },
    Kind {
        kind: "abandon",
        from: &["executing"],
        from_in_queues: &["claimed"],
        sets: |c| {
            let reason = if c.args["reason"].is_null() { json!("EFFECT_UNKNOWN") } else { c.args["reason"].clone() };
            json!({"state": "abandoned", "reason": reason, "lease-until": null, "retry-at": null, "expires-at": null})
        },
    },
];

const RELEASE: &[Rule] = &[
    ("missing", |c| !c.found(), missing),
    ("owner, attempt or operation", |c| c.tuple_differs(&["owner", "attempt", "operation"]), not_owner),
    ("repeated", |c| c.seen() && c.row["transition"]["kind"] == "release", already),
    ("the id of another", |c| c.seen(), transition_conflict),
    ("executing", |c| c.is(&["executing"]), |_| tell(json!({"kind": "execution-started"}))),
    ("not claimed", |c| !c.is(&["claimed"]), conflict),
    ("revision", |c| c.tuple_differs(&["revision"]), stale),
    ("released", always, |c| {
        let fields = json!({"state": "failed-retryable", "reason": "RELEASED", "retry-at": c.retry_at(),
            "expires-at": c.failure_expiry(c.retry_at()), "lease-until": null,
            "attempt-limit": (c.number("attempt-limit") + 1).min(LIMIT_MAX), "transition": c.transition("release", "-")});
        c.write(fields, |row| json!({"kind": "released", "revision": row["revision"]}))
    }),
];

const INSPECT: &[Rule] = &[
    ("missing", |c| !c.found() || c.reached("expires-at"), missing),
    ("other payload", |c| c.row["fingerprint"] != c.args["fingerprint"], mismatch),
    ("completed", |c| c.is(&["completed"]), replay),
    ("abandoned", |c| c.is(&["abandoned"]), |c| tell(recovery(c.row))),
    (
        "retryable",
        |c| c.is(WAITING),
        |c| tell(json!({"kind": "retryable", "attempt": c.row["attempt"], "retry-at": c.row["retry-at"]})),
    ),
    ("own claimed", |c| c.own() && c.same_operation() && c.is(&["claimed"]), |c| tell(held("claimed-same-operation", c.row))),
    ("own executing", |c| c.own() && c.same_operation() && c.is(&["executing"]), |c| tell(held("executing-same-operation", c.row))),
    ("in progress", always, in_progress),
];

const RESOLVE: &[Rule] = &[
    ("missing", |c| !c.found(), missing),
    ("repeated", |c| c.seen() && c.row["transition"] == c.verdict_transition(), already),
    ("the id of another", |c| c.seen(), transition_conflict),
    ("not abandoned", |c| !c.is(&["abandoned"]), invalid),
    ("attempt or revision", |c| c.row["attempt"] != c.args["attempt"] || c.row["revision"] != c.args["revision"], stale),
    (
        "completed",
        |c| c.args["verdict"] == "completed",
        |c| {
            c.resolve(
                json!({"state": "completed", "reason": "RESOLVED_COMPLETED", "result-digest": c.args["digest"], "retry-at": null,
            "expires-at": c.after("replay-retention")}),
            )
        },
    ),
    (
        "no effect",
        |c| c.args["verdict"] == "no-effect",
        |c| {
            let granted = c.number("attempt").saturating_add(c.args["extra-attempts"].as_u64().unwrap_or(0)).min(LIMIT_MAX);
            c.resolve(json!({"state": "failed-retryable", "reason": "RESOLVED_NO_EFFECT", "retry-at": c.at(),
            "expires-at": c.failure_expiry(c.at()), "attempt-limit": granted.max(c.number("attempt-limit"))}))
        },
    ),
    ("forget", always, |c| {
        c.resolve(json!({"state": "failed-retryable", "reason": "RESOLVED_FORGOTTEN", "retry-at": c.at(), "expires-at": c.at()}))
    }),
];

impl Kind {
    fn sources(&self, queue: bool) -> &'static [&'static str] {
        if queue { self.from_in_queues } else { self.from }
    }
}

fn always(_: &Case) -> bool {
    true
}
fn refused(_: &Case) -> Answer {
    tell(json!({"kind": "invalid-settings"}))
}
fn corrupt(_: &Case) -> Answer {
    tell(json!({"kind": "corrupt-record"}))
}
fn missing(_: &Case) -> Answer {
    tell(json!({"kind": "missing"}))
}
fn mismatch(_: &Case) -> Answer {
    tell(json!({"kind": "fingerprint-mismatch"}))
}
fn conflict(_: &Case) -> Answer {
    tell(json!({"kind": "operation-conflict"}))
}
fn not_owner(_: &Case) -> Answer {
    tell(json!({"kind": "not-owner"}))
}
fn transition_conflict(_: &Case) -> Answer {
    tell(json!({"kind": "transition-conflict"}))
}
fn already(c: &Case) -> Answer {
    tell(standing("already-applied", c.row))
}
fn stale(c: &Case) -> Answer {
    tell(json!({"kind": "stale-revision", "revision": c.row["revision"]}))
}
fn invalid(c: &Case) -> Answer {
    tell(json!({"kind": "invalid-state", "state": c.row["state"]}))
}
fn replay(c: &Case) -> Answer {
    tell(
        json!({"kind": "completed-replay", "result-digest": c.row["result-digest"], "codec": c.row["codec"], "expires-at": c.row["expires-at"]}),
    )
}
fn in_progress(c: &Case) -> Answer {
    tell(json!({"kind": "in-progress", "retry-at": c.row["lease-until"]}))
}
