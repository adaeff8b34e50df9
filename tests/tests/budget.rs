//! The budget of a record's life, told as it is spent: failures and crashes draw on the same tries, in any order.
//!
//! The cases are those of attempts that ran past their limit in other systems. Random walks on the same: `properties.rs`.

use leasehold_decision::packed::{Call, Request, Tuple, answer};
use leasehold_decision::policy::default_settings;
use leasehold_decision::{AdvanceKind, Family, Outcome, Row, Settings, State};
use leasehold_tests::walk::{SCOPE, enqueued};

/// How a try ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Its worker reports that it had no effect.
    Failure,
    /// Its worker is gone before it started (in a queue: while it delivers).
    Crash,
    /// Its worker gives it back, unspent.
    Release,
}

/// One record, and the settings and the clock under which it is claimed.
struct Life {
    family: Family,
    settings: Settings,
    row: Option<Row>,
    now: u64,
    tries: u64,
}

impl Life {
    fn new(family: Family, attempt_limit: u64) -> Self {
        let settings = Settings { attempt_limit, ..default_settings(family) };
        let row = family.is_queue().then(|| enqueued(&settings, 0));
        Self { family, settings, row, now: 1_000, tries: 0 }
    }

    fn ask(&mut self, call: Call) -> Outcome {
        let (family, settings, now) = (self.family, self.settings, self.now);
        let before = self.row.take();
        let answer =
            answer(&Request { family, scope: SCOPE.to_owned(), settings, before, call, now, big_integers_as_strings: false });
        self.row = answer.after;
        answer.decided.expect("the row is a record").outcome
    }

    /// A claim by somebody new, once whatever there was to wait for is over; whether a try begins.
    fn try_begins(&mut self) -> bool {
        self.now += 10 * self.settings.lease;
        self.tries += 1;
        matches!(self.ask(claim(self.tries)), Outcome::Acquired(_) | Outcome::TakenOver(_))
    }

    fn end(&mut self, end: End) {
        let row = self.row.as_ref().expect("a try has a record");
        let (owner, operation) = (row.owner.clone().expect("it is held"), row.operation.clone().expect("it is held"));
        let tuple = Tuple { owner, operation, attempt: row.attempt, revision: row.revision };
        let transition = format!("t-{}", self.tries);
        match end {
            End::Failure => {
                self.ask(Call::Advance { tuple, kind: AdvanceKind::Fail, transition, digest: None, reason: None });
            }
            End::Release => {
                self.ask(Call::Release { tuple, transition });
            }
            End::Crash => {}
        }
    }

    fn state(&self) -> State {
        self.row.as_ref().expect("the record lives").state
    }
}

fn claim(number: u64) -> Call {
    let (owner, operation) = (format!("{number:064x}"), format!("op-{number}"));
    Call::Claim { owner, operation, fingerprint: None, codec: None, readable_codecs: Vec::new() }
}

/// Tries as often as it may, each ending as the list says, and once more; gives the number of tries.
fn spend(life: &mut Life, ends: impl IntoIterator<Item = End>) -> usize {
    ends.into_iter()
        .take_while(|end| {
            life.try_begins() && {
                life.end(*end);
                true
            }
        })
        .count()
}

#[test]
fn case_14_a_limit_of_one_allows_one_try_however_often_the_worker_crashes() {
    for family in Family::ALL {
        let mut life = Life::new(family, 1);
        assert_eq!((spend(&mut life, [End::Crash; 32]), life.state()), (1, State::Abandoned), "{family:?}");
    }
}

#[test]
fn case_15_failures_and_crashes_share_the_budget_in_any_order() {
    const LIMIT: u64 = 5;
    for family in Family::ALL {
        for order in 0..1_u32 << (LIMIT + 2) {
            let mut life = Life::new(family, LIMIT);
            let ends = (0..LIMIT + 2).map(|place| if order >> place & 1 == 0 { End::Failure } else { End::Crash });
            assert_eq!((spend(&mut life, ends), life.state()), (5, State::Abandoned), "{family:?} {order:b}");
        }
    }
}

#[test]
fn case_17_exactly_as_many_tries_as_the_limit_allows() {
    for family in Family::ALL {
        for limit in [1, 2, 25] {
            let mut life = Life::new(family, limit);
            assert_eq!(spend(&mut life, [End::Failure; 40]) as u64, limit, "{family:?}");
            let row = life.row.expect("the record lives");
            assert_eq!(
                (row.attempt, row.attempt_limit, row.reason.as_deref()),
                (limit, limit, Some("ATTEMPTS_EXHAUSTED")),
                "{family:?}"
            );
        }
    }
}

#[test]
fn a_try_that_is_given_back_is_not_spent() {
    for family in Family::ALL {
        let mut life = Life::new(family, 2);
        let ends = [End::Release, End::Release, End::Failure, End::Release, End::Crash, End::Crash];
        assert_eq!((spend(&mut life, ends), life.state()), (5, State::Abandoned), "{family:?}");
    }
}
