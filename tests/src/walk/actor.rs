//! One host's worker, as section 4 of the contract has it: claim, confirmed start, effect, end; what was sent and not answered is
//! asked about, or sent again with the same ids.

use leasehold_decision::packed::{Call, Tuple};
use leasehold_decision::{AdvanceKind, Outcome};

use super::{Plan, Walk};

/// What an actor is at.
#[derive(Default)]
pub(super) enum Doing {
    #[default]
    Nothing,
    /// A claim call, not answered.
    Claiming { owner: String, operation: String },
    /// It holds the record; `started` once its start is confirmed.
    Holding { tuple: Tuple, started: bool },
    /// A transition, not answered.
    Advancing { tuple: Tuple, started: bool, call: Call },
}

#[derive(Default)]
pub(super) struct Actor {
    pub(super) doing: Doing,
    plan: Option<Plan>,
}

impl Walk<'_> {
    /// One step of one actor: decide, or write what was decided.
    pub(super) fn act(&mut self, number: usize, actor: &mut Actor) -> Result<(), String> {
        if self.random.once_in(15) {
            self.tell(format!("actor {number} crashes"));
            let sent = actor.plan.take().filter(|_| self.random.once_in(2));
            self.in_flight.extend(sent);
            self.give_up(actor);
            return Ok(());
        }
        if let Some(plan) = actor.plan.take() {
            let outcome = plan.decision.outcome;
            let changed = self.execute(&format!("actor {number}"), plan)?;
            let lost = self.random.once_in(5);
            return if changed && !lost { self.learn(number, actor, &outcome) } else { Ok(()) };
        }
        let call = self.next_call(actor);
        let (outcome, plan) = self.plan(call)?;
        if plan.is_some() {
            actor.plan = plan;
            return Ok(());
        }
        self.tell(format!("actor {number} is told {}", outcome.kind()));
        self.learn(number, actor, &outcome)
    }

    fn next_call(&mut self, actor: &mut Actor) -> Call {
        match std::mem::take(&mut actor.doing) {
            Doing::Nothing => {
                let number = self.draw();
                let (owner, operation) = (format!("{number:064x}"), format!("op-{number}"));
                actor.doing = Doing::Claiming { owner: owner.clone(), operation: operation.clone() };
                claim(owner, operation)
            }
            Doing::Claiming { owner, operation } => {
                actor.doing = Doing::Claiming { owner: owner.clone(), operation: operation.clone() };
                if self.random.once_in(3) { Call::Inspect { owner, operation, fingerprint: None } } else { claim(owner, operation) }
            }
            Doing::Holding { tuple, started } => {
                let call = self.transition(tuple.clone(), started);
                actor.doing = Doing::Advancing { tuple, started, call: call.clone() };
                call
            }
            Doing::Advancing { tuple, started, call } => {
                actor.doing = Doing::Advancing { tuple, started, call: call.clone() };
                call
            }
        }
    }

    fn transition(&mut self, tuple: Tuple, started: bool) -> Call {
        use AdvanceKind::{Abandon, Complete, Fail, Renew, Start};
        let transition = format!("t-{}", self.draw());
        let kind = match (started, self.family.is_queue()) {
            (false, false) => self.random.of(&[Start, Start, Start, Renew, Fail]),
            (true, false) | (_, true) => self.random.of(&[Renew, Renew, Complete, Fail, Fail, Abandon]),
        };
        if !started && self.random.once_in(6) {
            return Call::Release { tuple, transition };
        }
        Call::Advance { tuple, kind, transition, digest: None, reason: None }
    }

    /// The answer arrives.
    fn learn(&mut self, number: usize, actor: &mut Actor, outcome: &Outcome) -> Result<(), String> {
        match (std::mem::take(&mut actor.doing), outcome) {
            (
                Doing::Claiming { owner, operation },
                Outcome::Acquired(grant)
                | Outcome::TakenOver(grant)
                | Outcome::ReplayedAcquire(grant)
                | Outcome::ClaimedSameOperation(grant),
            ) => {
                self.ledger.granted(&owner)?;
                let tuple = Tuple { owner, operation, attempt: grant.attempt, revision: grant.revision };
                actor.doing = Doing::Holding { tuple, started: false };
            }
            (Doing::Claiming { owner, operation }, Outcome::Retryable(_)) => actor.doing = Doing::Claiming { owner, operation },
            (Doing::Advancing { tuple, started, call }, Outcome::Applied(applied) | Outcome::AlreadyApplied(applied)) => {
                let tuple = Tuple { revision: applied.revision, ..tuple };
                match call {
                    Call::Advance { kind: AdvanceKind::Start, .. } => {
                        self.tell(format!("actor {number} begins its execution"));
                        *self.tally.entry("execution".to_owned()).or_default() += 1;
                        self.ledger.begins(&tuple.owner)?;
                        actor.doing = Doing::Holding { tuple, started: true };
                    }
                    Call::Advance { kind: AdvanceKind::Renew, .. } => actor.doing = Doing::Holding { tuple, started },
                    Call::Advance { .. } | Call::Release { .. } => self.zombies.push(tuple),
                    Call::Claim { .. } | Call::Inspect { .. } | Call::Resolve { .. } => {}
                }
            }
            (Doing::Advancing { tuple, .. } | Doing::Holding { tuple, .. }, _) => self.zombies.push(tuple),
            (Doing::Nothing | Doing::Claiming { .. }, _) => {}
        }
        Ok(())
    }
}

fn claim(owner: String, operation: String) -> Call {
    Call::Claim { owner, operation, fingerprint: None, codec: None, readable_codecs: Vec::new() }
}
