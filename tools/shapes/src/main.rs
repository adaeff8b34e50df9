//! Measures shapes of a decision call in WIT: tokens as text, as four u64, and, for scale, everything as one list of u64.
//!
//!     cargo run --release -p leasehold-shapes
//!
//! Builds one small component a shape (by the way in which the real one is built), asks each the same questions, checks that
//! they answer alike, and prints the median time of a call that does nothing, of one question, and of one in a list of 256.
//! Knows nothing of leasehold's decisions. The results stand in docs/shapes.md.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use leasehold_component::compile::{Job, core_module};
use leasehold_component::encode;
use leasehold_component::toolchain::Toolchain;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

mod shape;

use shape::{Flat, Shape, Text, Words};

const LIST_ITEMS: usize = 256;
const ROUNDS: usize = 31;
/// Enough for some tens of milliseconds a round: Linux counts a thread's time in ticks.
const CALLS_A_ROUND: u32 = 50_000;
const LISTS_A_ROUND: u32 = 400;
/// Before this the leases of the sample are running, so that both ways through the decision are measured.
const NOW: u64 = 1_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Medians, in nanoseconds: a call that does nothing, one question, one of a list.
struct Row {
    name: &'static str,
    nothing: f64,
    single: f64,
    listed: f64,
}

fn main() -> Outcome<()> {
    let toolchain = Toolchain::find()?;
    let engine = engine()?;
    let (text, text_answers) = measure::<Text>(&engine, &build(&toolchain, "text")?)?;
    let (words, words_answers) = measure::<Words>(&engine, &build(&toolchain, "words")?)?;
    let (flat, flat_answers) = measure::<Flat>(&engine, &build(&toolchain, "flat")?)?;
    if text_answers != words_answers || text_answers != flat_answers {
        return Err("the shapes do not answer alike: nothing was measured".into());
    }
    print(&[text, words, flat]);
    Ok(())
}

fn engine() -> Outcome<Engine> {
    let mut config = Config::new();
    config.concurrency_support(false);
    Ok(Engine::new(&config)?)
}

fn build(toolchain: &Toolchain, shape: &str) -> Outcome<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let target_dir = root.join("target/component");
    let job = Job { root: &root, package: "leasehold-shapes-guest", features: &[shape], target_dir: &target_dir };
    Ok(encode::component(&core_module(toolchain, &job)?)?)
}

/// The medians, and the answers to the sample.
fn measure<S: Shape>(engine: &Engine, component: &[u8]) -> Outcome<(Row, Vec<shape::Plain>)> {
    let component = Component::new(engine, component)?;
    let mut store = Store::new(engine, ());
    let shape = S::instantiate(&mut store, &component, &Linker::new(engine))?;
    let questions: Vec<S::Question> = (0..LIST_ITEMS as u64).map(S::question).collect();
    let answers = shape.ask_all(&mut store, &questions, NOW)?;
    let nothing = median(CALLS_A_ROUND, || shape.nothing(&mut store))?;
    let mut turn = questions.iter().cycle();
    let single = median(CALLS_A_ROUND, || match turn.next() {
        Some(question) => shape.ask(&mut store, question, NOW).map(drop),
        None => Ok(()),
    })?;
    let listed = median(LISTS_A_ROUND, || shape.ask_all(&mut store, &questions, NOW).map(drop))? / LIST_ITEMS as f64;
    Ok((Row { name: S::NAME, nothing, single, listed }, answers))
}

/// Median over the rounds of the mean time of one call, in nanoseconds of processor time; the first round is not counted.
fn median(calls: u32, mut call: impl FnMut() -> wasmtime::Result<()>) -> Outcome<f64> {
    let clock = Clock::new();
    let mut rounds = Vec::with_capacity(ROUNDS);
    for round in 0..=ROUNDS {
        let start = clock.now();
        for _ in 0..calls {
            black_box(call())?;
        }
        if round > 0 {
            rounds.push(clock.now().saturating_sub(start) as f64 / f64::from(calls));
        }
    }
    rounds.sort_by(f64::total_cmp);
    rounds.get(ROUNDS / 2).copied().ok_or_else(|| "no round was measured".into())
}

/// Nanoseconds that this thread has run, where Linux says so (other programs do not disturb that); else those that passed.
struct Clock {
    start: Instant,
}

impl Clock {
    fn new() -> Self {
        Self { start: Instant::now() }
    }

    fn now(&self) -> u128 {
        let run = fs::read_to_string("/proc/thread-self/schedstat").ok();
        let run = run.and_then(|text| text.split(' ').next()?.parse().ok());
        run.unwrap_or_else(|| self.start.elapsed().as_nanos())
    }
}

fn print(rows: &[Row]) {
    let base = rows.first();
    let against = |own: f64, of: fn(&Row) -> f64| base.map_or(1.0, |base| own / of(base));
    println!("| shape | nothing, ns | one question, ns | against text | one of {LIST_ITEMS}, ns | against text |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for row in rows {
        let (single, listed) = (against(row.single, |row| row.single), against(row.listed, |row| row.listed));
        println!("| {} | {:.0} | {:.0} | {single:.2} | {:.0} | {listed:.2} |", row.name, row.nothing, row.single, row.listed);
    }
}
