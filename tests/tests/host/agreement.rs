//! The component, the native code and the model decide alike; its size, its imports, the ends of the ranges, its memory, its cache.

use std::path::Path;
use std::time::Instant;

use leasehold::Family;
use leasehold::component::{BUILT_IN, CodeCache, Component};
use leasehold::decide::{Call, Decide, Native};
use leasehold_decision::packed::{self, Request, packed};
use leasehold_decision::policy::default_settings;
use leasehold_decision::{AdvanceArgs, AdvanceKind, ClaimArgs, Decision, OwnerTuple, Record, Token, keys};
use leasehold_tests::documents::well_formed;
use leasehold_tests::hosts::component;
use leasehold_tests::model;
use leasehold_tests::random::{Random, first_seed, replay};
use serde_json::Value;

/// What an edge runtime takes without being asked.
const COMPONENT_BYTES_MAX: usize = 160 << 10;
const CASES: u64 = 20_000;
const BATCH: usize = 100;

#[test]
fn the_committed_component_imports_nothing_and_is_small() {
    assert!(BUILT_IN.len() <= COMPONENT_BYTES_MAX, "{} bytes", BUILT_IN.len());
    let engine = wasmtime::Engine::default();
    let compiled = wasmtime::component::Component::new(&engine, BUILT_IN).unwrap();
    let imports: Vec<_> = compiled.component_type().imports(&engine).map(|(name, _)| name.to_owned()).collect();
    assert!(imports.is_empty(), "{imports:?}");
    assert_eq!(component().contract_version().unwrap(), leasehold_decision::policy::CONTRACT_VERSION);
    for family in Family::ALL {
        assert_eq!(component().default_settings(family).unwrap(), default_settings(family));
    }
}

/// What the rich form is asked.
struct Asked {
    request: Request,
    before: Option<Record>,
    call: leasehold_decision::Call,
    readable: Vec<Token>,
}

impl Asked {
    fn parse(document: &str) -> Option<Self> {
        let request = Request::parse(document).ok()?;
        let before = request.before.as_ref().map(leasehold_decision::Row::record).transpose().ok()?;
        Some(Self { call: request.call.tokens(), readable: request.call.readable_codecs(), request, before })
    }

    fn by(&self, decide: &dyn Decide) -> Decision {
        let call = match &self.call {
            leasehold_decision::Call::Claim(args) => Call::Claim(args, &self.readable),
            leasehold_decision::Call::Advance(args) => Call::Advance(args),
            leasehold_decision::Call::Release(args) => Call::Release(args),
            leasehold_decision::Call::Inspect(args) => Call::Inspect(args),
            leasehold_decision::Call::Resolve(args) => Call::Resolve(args),
        };
        let request = &self.request;
        decide.decide(request.family, &request.settings, self.before.as_ref(), call, request.now).expect("a decision")
    }
}

/// Packed and rich, in the component and natively.
fn check(document: &str) {
    let component = component();
    let expected = packed(document);
    assert_eq!(component.packed(document).unwrap(), expected, "{document}");
    if let Some(asked) = Asked::parse(document) {
        let native = asked.by(&Native);
        assert_eq!(asked.by(component.as_ref()), native, "{document}");
        assert_eq!(packed::decide(&asked.request, asked.before.as_ref()), native, "{document}");
    }
}

#[test]
fn the_component_and_the_native_code_agree_on_every_vector() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    for (file, lines) in [("lease-1.jsonl", 1_000), ("edges-1.jsonl", 100), ("corrupt-1.jsonl", 100)] {
        let text = std::fs::read_to_string(vectors.join(file)).unwrap();
        assert!(text.lines().count() >= lines, "{file}");
        text.lines().for_each(check);
    }
}

#[test]
fn the_component_the_native_code_and_the_model_agree_on_random_cases() {
    let first = first_seed();
    for seed in (0..CASES).map(|number| first.wrapping_add(number)) {
        let document = well_formed(&mut Random::new(seed));
        let text = document.to_string();
        let told = || replay(seed, "host");
        let answer: Value = serde_json::from_str(&component().packed(&text).unwrap()).unwrap();
        let expected = model::decide(&document);
        for (member, value) in expected["outcome"].as_object().unwrap() {
            assert_eq!(answer["outcome"].get(member), Some(value), "{text}\n{}", told());
        }
        assert_eq!(answer["after"], *expected.get("after").unwrap_or(&document["before"]), "{text}\n{}", told());
        check(&text);
    }
}

#[test]
fn a_batch_is_its_single_calls_under_one_clock() {
    let first = first_seed();
    let asked: Vec<_> = (0..2_000)
        .filter_map(|number| Asked::parse(&well_formed(&mut Random::new(first.wrapping_add(number))).to_string()))
        .collect();
    for family in Family::ALL {
        let of_family: Vec<_> = asked.iter().filter(|asked| asked.request.family == family).collect();
        for batch in of_family.chunks(BATCH) {
            let (settings, now) = (&batch[0].request.settings, batch[0].request.now);
            let items: Vec<_> = batch.iter().map(|asked| (asked.before, asked.call)).collect();
            let readable = [keys::name("json-v1")];
            let borrowed: Vec<_> = items.iter().map(|(before, call)| (before.as_ref(), *call)).collect();
            let together = component().batch(family, settings, &borrowed, &readable, now).unwrap();
            let alone = leasehold_decision::call::batch(family, settings, &items, &readable, now);
            assert_eq!(together, alone, "{}", replay(first, "host"));
        }
    }
    assert_eq!(component().batch(Family::Outbox, &default_settings(Family::Outbox), &[], &[], 1).unwrap(), Vec::new());
}

/// Case 39: exact, or said to be out of range; never wrapped.
#[test]
fn the_ends_of_64_bits_cross_the_border_unharmed() {
    let ends = [0, 1, u64::from(u32::MAX), (1 << 53) + 1, i64::MAX as u64 - 1, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
    let (owner, other) = (Token::from_words([u64::MAX, 1 << 63, 0, 1]), Token::from_words([0; 4]));
    for end in ends {
        let record = Record {
            state: leasehold_decision::State::Claimed,
            owner: Some(owner),
            operation: Some(other),
            attempt: end,
            attempt_limit: end,
            revision: end,
            fingerprint: None,
            codec: None,
            lease_until: Some(end),
            retry_at: Some(end),
            expires_at: None,
            transition: None,
            result_digest: Some(owner),
        };
        for now in ends {
            for tuple in [end, u64::MAX] {
                let tuple = OwnerTuple { owner, operation: other, attempt: end, revision: tuple };
                let settings = leasehold_decision::Settings { lease: end.max(1), ..default_settings(Family::Inbox) };
                let args =
                    AdvanceArgs { tuple, kind: AdvanceKind::Renew, transition: owner, digest: Some(owner), reason_given: true };
                let claim = ClaimArgs { owner: other, operation: owner, fingerprint: None, codec: Some(owner) };
                for call in [Call::Advance(&args), Call::Claim(&claim, &[owner])] {
                    let ask = |decide: &dyn Decide| decide.decide(Family::Inbox, &settings, Some(&record), call, now).unwrap();
                    assert_eq!(ask(component().as_ref()), ask(&Native), "{end} {now}");
                }
            }
        }
    }
}

/// Case 38, in a process of its own: what other tests hold in memory is not counted.
#[test]
fn memory_stays_flat_over_two_hundred_thousand_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let executable = std::env::current_exe().unwrap();
    assert!(super::child::command(&executable, "memory", folder.path()).status().unwrap().success());
}

/// Case 38, the child's part.
pub fn decide_without_growing() {
    let documents: Vec<_> = (0..200).map(|seed| well_formed(&mut Random::new(seed)).to_string()).collect();
    let asked: Vec<_> = documents.iter().filter_map(|document| Asked::parse(document)).collect();
    let component = component();
    let round = |rounds: usize| {
        for asked in asked.iter().cycle().take(rounds) {
            std::hint::black_box(asked.by(component.as_ref()));
        }
        for document in documents.iter().cycle().take(rounds / 10) {
            std::hint::black_box(component.packed(document).expect("an answer"));
        }
    };
    round(20_000);
    let before = resident_bytes();
    round(200_000);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 4 << 20, "grew by {grown} bytes from {before}");
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this system tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number") * 1_024
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn compiled_code_is_kept_and_a_damaged_copy_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CodeCache::Folder(folder.path().join("code"));
    let timed = || {
        let started = Instant::now();
        let loaded = Component::built_in(&cache).unwrap();
        assert_eq!(loaded.contract_version().unwrap(), 1);
        started.elapsed()
    };
    let compiled = timed();
    let kept = files(folder.path());
    assert!(!kept.is_empty());
    let fetched = timed();
    assert!(fetched < compiled / 2, "compiled in {compiled:?}, fetched in {fetched:?}");
    for damage in [&b""[..], b"no code at all"] {
        for file in files(folder.path()) {
            std::fs::write(file, damage).unwrap();
        }
        timed();
    }
    // A named folder that cannot be one is a fault that is told.
    let file = folder.path().join("a-file");
    std::fs::write(&file, b"").unwrap();
    let error = Component::built_in(&CodeCache::Folder(file)).unwrap_err().to_string();
    assert!(error.contains("LEASEHOLD_CACHE_DIR"), "{error}");
}
