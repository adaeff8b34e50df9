//! Random records and calls: the native decisions and the table-driven model, which was written apart from them, agree; and no text
//! at all makes `packed` fail.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::thread::{self, available_parallelism};

use leasehold_decision::packed::packed;
use leasehold_decision::{Family, StatementName};
use leasehold_tests::documents::{spoilt, well_formed};
use leasehold_tests::model;
use leasehold_tests::random::{Random, SEED_VARIABLE, first_seed, replay};
use serde_json::Value;

const CASES: u64 = 200_000;
const SPOILT_CASES: u64 = 20_000;
/// How often each outcome, statement and line of the contract must have been met.
const TIMES_MIN: u64 = 20;

/// Somebody who decides a document, as `packed` does: a name, and from text to text.
type Opinion = (&'static str, Box<dyn FnMut(&str) -> String>);

/// Everybody who must agree with the model; each thread asks its own.
fn opinions() -> Vec<Opinion> {
    vec![("native", Box::new(packed))]
}

/// Every outcome, statement and line that was met, and how often.
#[derive(Default)]
struct Met(BTreeMap<String, u64>);

impl Met {
    fn count(&mut self, what: &str, name: &Value) {
        *self.0.entry(format!("{what} {}", name.as_str().unwrap_or("-"))).or_default() += 1;
    }

    fn times(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    fn add(mut self, other: Self) -> Self {
        for (what, times) in other.0 {
            *self.0.entry(what).or_default() += times;
        }
        self
    }
}

/// Asks everybody about the same random documents. Each member that the model names must be answered alike, and `after` wholly.
fn compare(mut opinions: Vec<Opinion>, seeds: impl Iterator<Item = u64>) -> Met {
    let mut met = Met::default();
    for seed in seeds {
        let document = well_formed(&mut Random::new(seed));
        let text = document.to_string();
        let expected = model::decide(&document);
        for (name, decide) in &mut opinions {
            let answer = decide(&text);
            let told = || format!("asked {text}\nexpected {expected}\nanswered {answer}\n{}", replay(seed, "model"));
            let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{name}: {error}\n{}", told()));
            if let Err(difference) = agrees(&document, &expected, &answer) {
                panic!("{name}: {difference}\n{}", told());
            }
            met.count("statement", &answer["write"]["statement"]);
        }
        met.count("outcome", &expected["outcome"]["kind"]);
        met.count("line", &expected["rule"]);
    }
    met
}

/// Calls with the seeds of a run, spread over the processors.
fn spread<T: Send>(cases: u64, run: impl Fn(Box<dyn Iterator<Item = u64>>) -> T + Sync) -> Vec<T> {
    let (first, threads) = (first_seed(), available_parallelism().map_or(1, usize::from));
    thread::scope(|scope| {
        let run = &run;
        let started: Vec<_> = (0..threads)
            .map(|number| {
                scope.spawn(move || {
                    run(Box::new((0..cases).skip(number).step_by(threads).map(move |case| first.wrapping_add(case))))
                })
            })
            .collect();
        started.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

fn agrees(document: &Value, expected: &Value, answer: &Value) -> Result<(), String> {
    for (member, value) in expected["outcome"].as_object().expect("an outcome is an object") {
        if answer["outcome"].get(member) != Some(value) {
            return Err(format!("another outcome.{member}"));
        }
    }
    let after = expected.get("after").unwrap_or(&document["before"]);
    if answer["after"] == *after { Ok(()) } else { Err("another after".to_owned()) }
}

#[test]
fn native_decisions_agree_with_the_model() {
    let met = spread(CASES, |seeds| compare(opinions(), seeds)).into_iter().fold(Met::default(), Met::add);
    let statements = Family::ALL.into_iter().flat_map(|family| {
        let names = StatementName::ALL.into_iter().filter(move |name| name.is_of(family));
        names.map(move |name| format!("statement {}.{}", family.name(), name.name()))
    });
    let wanted: Vec<String> = model::OUTCOMES
        .iter()
        .map(|kind| format!("outcome {kind}"))
        .chain(statements)
        .chain(model::lines().map(|line| format!("line {line}")))
        .collect();
    let rare: Vec<_> =
        wanted.iter().filter(|what| met.times(what) < TIMES_MIN).map(|what| format!("{what}: {}", met.times(what))).collect();
    assert!(rare.is_empty(), "met fewer than {TIMES_MIN} times in {CASES} cases: {rare:#?}");
    let unknown: Vec<_> = met.0.keys().filter(|what| !wanted.contains(what) && *what != "statement -").collect();
    assert!(unknown.is_empty(), "met, but not in the contract: {unknown:?}");
}

#[test]
fn a_different_opinion_is_noticed() {
    let keeps_the_lease = |text: &str| match packed(text) {
        answer if answer.contains(".bury\"") => answer.replacen("\"lease-until\":null", "\"lease-until\":1", 2),
        answer => answer,
    };
    let noticed = catch_unwind(|| compare(vec![("keeps the lease", Box::new(keeps_the_lease))], 1..10_000));
    let message = noticed.err().and_then(|panic| panic.downcast::<String>().ok()).expect("a burial that keeps the lease differs");
    assert!(message.contains("keeps the lease: another after") && message.contains(SEED_VARIABLE), "{message}");
}

#[test]
fn any_text_is_answered_in_json() {
    let refused: u64 = spread(SPOILT_CASES, |seeds| seeds.map(|seed| u64::from(is_refused(seed))).sum::<u64>()).into_iter().sum();
    assert!((SPOILT_CASES / 10..SPOILT_CASES).contains(&refused), "{refused} of {SPOILT_CASES} documents were refused");
}

fn is_refused(seed: u64) -> bool {
    let document = spoilt(&mut Random::new(seed));
    let told = || format!("asked {document}\n{}", replay(seed, "model"));
    let answer = catch_unwind(|| packed(&document)).unwrap_or_else(|_| panic!("a panic\n{}", told()));
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}\n{}", told()));
    let decided = answer["outcome"]["kind"].is_string() && answer.get("write").is_some() && answer.get("after").is_some();
    let faulty = answer["error"]["at"].is_string() && answer["error"]["what"].is_string();
    assert!(decided != faulty, "{answer}\n{}", told());
    faulty
}
