//! Random walks: many actors on one record, with crashes, lost replies, writes that arrive late, zombies that act on what they once
//! held, verdicts, purges, changes of policy and jumps of the clock; the [`ledger`] watches what must never happen.
//!
//! The store here is one row and a compare-and-swap. Knows no rule of the decisions: those come in as a closure, so that a broken
//! one can be shown to be noticed. Tests: `tests/tests/properties.rs`.

use std::collections::BTreeMap;

use leasehold_decision::packed::{Answer, Call, Request};
use leasehold_decision::{AdvanceKind, Decision, Family, Outcome, Row, Settings, State, Verdict};

use crate::random::Random;

mod actor;
mod ledger;

use actor::{Actor, Doing};
use ledger::Ledger;

/// The one record that all of this is about.
pub const SCOPE: &str = "d1:op:0";

/// Somebody who decides, as `packed::answer` does.
pub type Decide<'d> = &'d mut dyn FnMut(&Request) -> Answer;

/// A walk that broke an invariant, and its steps.
#[derive(Debug)]
pub struct Broken {
    /// What must never happen.
    pub invariant: String,
    /// What led there, one line a step.
    pub trace: Vec<String>,
}

/// How often each statement changed the row, and how many executions began.
pub type Tally = BTreeMap<String, u64>;

/// A decision that has been made, and whose write has not reached the store.
struct Plan {
    request: Request,
    decision: Decision,
    after: Row,
}

struct Walk<'d> {
    random: Random,
    decide: Decide<'d>,
    family: Family,
    settings: Settings,
    now: u64,
    row: Option<Row>,
    ledger: Ledger,
    in_flight: Vec<Plan>,
    /// Tuples of handles that were given up: somebody may still act on them.
    zombies: Vec<leasehold_decision::packed::Tuple>,
    drawn: u64,
    trace: Vec<String>,
    tally: Tally,
}

/// Takes so many steps from a seed.
///
/// # Errors
/// The first invariant that breaks.
pub fn walk(seed: u64, steps: usize, decide: Decide<'_>) -> Result<Tally, Broken> {
    let mut random = Random::new(seed);
    let family = random.of(&Family::ALL);
    let settings = settings(&mut random);
    let mut walk = Walk {
        random,
        decide,
        family,
        settings,
        now: 1_000,
        row: None,
        ledger: Ledger::new(family),
        in_flight: Vec::new(),
        zombies: Vec::new(),
        drawn: 0,
        trace: vec![format!("{family:?}")],
        tally: Tally::new(),
    };
    let mut actors: Vec<Actor> = (0..3).map(|_| Actor::default()).collect();
    for _ in 0..steps {
        if let Err(invariant) = walk.step(&mut actors) {
            return Err(Broken { invariant, trace: walk.trace });
        }
    }
    Ok(walk.tally)
}

fn settings(random: &mut Random) -> Settings {
    Settings {
        revision: 1 + random.number() % 5,
        lease: random.of(&[10, 20]),
        attempt_limit: random.of(&[1, 1, 2, 3]),
        backoff_base: random.of(&[0, 5]),
        backoff_cap: 15,
        replay_retention: random.of(&[20, 50]),
        failure_retention: random.of(&[20, 30]),
    }
}

/// What a producer puts into a queue (section 2 of the contract); no decision makes it.
#[must_use]
pub fn enqueued(settings: &Settings, retry_at: u64) -> Row {
    Row {
        scope: SCOPE.to_owned(),
        state: State::Pending,
        owner: None,
        operation: None,
        attempt: 0,
        attempt_limit: settings.attempt_limit,
        revision: 1,
        fingerprint: None,
        codec: None,
        policy_revision: settings.revision,
        lease_until: None,
        retry_at: Some(retry_at),
        expires_at: None,
        reason: None,
        transition: None,
        result_digest: None,
    }
}

impl Walk<'_> {
    fn step(&mut self, actors: &mut [Actor]) -> Result<(), String> {
        match self.random.below(24) {
            0..=2 => self.clock_jumps(),
            3 => self.settings = settings(&mut self.random),
            4 => self.purge(),
            5 if self.family.is_queue() => self.enqueue(),
            6..=7 => return self.verdict(),
            8 => return self.zombie(),
            9..=10 => return self.late_write(),
            _ => {
                let number = self.random.below(actors.len());
                return self.act(number, &mut actors[number]);
            }
        }
        Ok(())
    }

    fn tell(&mut self, step: String) {
        self.trace.push(format!("t={} {step}", self.now));
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn ask(&mut self, call: Call) -> Result<(Request, Answer), String> {
        let (family, settings, now) = (self.family, self.settings, self.now);
        let request = Request {
            family,
            scope: "d1:op:0".to_owned(),
            settings,
            before: self.row.clone(),
            call,
            now,
            big_integers_as_strings: false,
        };
        let answer = (self.decide)(&request);
        Ok((request, answer))
    }

    /// A decision on the row as it is now: with a write, a plan.
    fn plan(&mut self, call: Call) -> Result<(Outcome, Option<Plan>), String> {
        let (request, answer) = self.ask(call)?;
        let decision = answer.decided.map_err(|fault| format!("the row cannot be read: {fault:?}"))?;
        *self.tally.entry(format!("outcome {}", decision.outcome.kind())).or_default() += 1;
        let after = answer.after.filter(|_| decision.write.is_some());
        Ok((decision.outcome, after.map(|after| Plan { request, decision, after })))
    }

    /// The compare-and-swap: whether the row changed.
    fn execute(&mut self, who: &str, plan: Plan) -> Result<bool, String> {
        let Plan { request, decision, after } = plan;
        let statement = decision.write.expect("a plan has a write").statement;
        let same = match (&request.before, &self.row) {
            (None, None) => true,
            (Some(read), Some(is)) => {
                let tuple = |row: &Row| (row.scope.clone(), row.owner.clone(), row.operation.clone(), row.attempt, row.revision);
                tuple(read) == tuple(is)
            }
            (None, Some(_)) | (Some(_), None) => false,
        };
        if !same {
            self.tell(format!("{who}: {} changes 0 rows", statement.name()));
            return Ok(false);
        }
        self.tell(format!(
            "{who}: {} -> {:?} attempt {}/{} revision {}",
            statement.name(),
            after.state,
            after.attempt,
            after.attempt_limit,
            after.revision
        ));
        *self.tally.entry(format!("statement {}", statement.name())).or_default() += 1;
        self.ledger.written(&request, statement, self.row.as_ref(), &after)?;
        self.row = Some(after);
        Ok(true)
    }

    fn clock_jumps(&mut self) {
        let due = |pick: fn(&Row) -> Option<u64>| self.row.as_ref().and_then(pick).map_or(0, |at| at.saturating_sub(self.now));
        let spans = [1, due(|row| row.lease_until), due(|row| row.retry_at), due(|row| row.expires_at), self.settings.lease, 100];
        self.now += self.random.of(&spans);
    }

    fn purge(&mut self) {
        let ended = |row: &Row| matches!(row.state, State::Completed | State::FailedRetryable);
        let long_ago = self.now.saturating_sub(self.settings.failure_retention);
        if self.row.as_ref().is_some_and(|row| ended(row) && row.expires_at.is_some_and(|at| at <= long_ago)) {
            self.tell("purge".to_owned());
            self.row = None;
        }
    }

    fn enqueue(&mut self) {
        if self.row.is_none() {
            self.tell("enqueue".to_owned());
            self.ledger.forget();
            self.row = Some(enqueued(&self.settings, self.now + self.random.of(&[0, 5])));
        }
    }

    /// Somebody decides about what is in doubt, on what they see now or saw some revisions ago.
    fn verdict(&mut self) -> Result<(), String> {
        let Some(row) = self.row.as_ref().filter(|row| row.state == State::Abandoned) else {
            return Ok(());
        };
        let (attempt, revision) = (row.attempt, row.revision - u64::from(self.random.once_in(8)));
        let verdict = self.random.of(&Verdict::ALL);
        let extra_attempts = self.random.of(&[0, 1]);
        let transition = format!("verdict-{}", self.draw());
        let call = Call::Resolve { transition, attempt, revision, verdict, digest: None, extra_attempts };
        let (_, plan) = self.plan(call)?;
        self.later_or_now("operator", plan)
    }

    /// Somebody acts on what it once held.
    fn zombie(&mut self) -> Result<(), String> {
        if self.zombies.is_empty() {
            return Ok(());
        }
        let tuple = self.zombies[self.random.below(self.zombies.len())].clone();
        let transition = format!("zombie-{}", self.draw());
        let call = match self.random.once_in(6) {
            true => Call::Release { tuple, transition },
            false => Call::Advance { tuple, kind: self.random.of(&AdvanceKind::ALL), transition, digest: None, reason: None },
        };
        // None waits for an answer, so that no effect begins here: a start that is applied is one whose worker is gone.
        let (_, plan) = self.plan(call)?;
        self.later_or_now("zombie", plan)
    }

    fn later_or_now(&mut self, who: &str, plan: Option<Plan>) -> Result<(), String> {
        match plan {
            Some(plan) if self.random.once_in(3) => self.in_flight.push(plan),
            Some(plan) => {
                self.execute(who, plan)?;
            }
            None => {}
        }
        Ok(())
    }

    /// A write reaches the store after whoever sent it has gone.
    fn late_write(&mut self) -> Result<(), String> {
        if self.in_flight.is_empty() {
            return Ok(());
        }
        let place = self.random.below(self.in_flight.len());
        let plan = self.in_flight.swap_remove(place);
        self.execute("late", plan).map(|_| ())
    }

    fn give_up(&mut self, actor: &mut Actor) {
        match std::mem::take(&mut actor.doing) {
            Doing::Holding { tuple, .. } | Doing::Advancing { tuple, .. } => self.zombies.push(tuple),
            Doing::Nothing | Doing::Claiming { .. } => {}
        }
    }
}
