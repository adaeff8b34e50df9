//! What must never happen, told from the writes alone: who holds, how often an execution began, and whether its effect is settled.

use leasehold_decision::packed::{Call, Request};
use leasehold_decision::{AdvanceKind, Family, Row, State, StatementName, Verdict};

/// What is known of the effect of the executions in this life of the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    /// None has begun, or those that did are known to have had none.
    None,
    /// One has begun, and may have had its effect.
    Open,
    /// It happened.
    Done,
}

pub(super) struct Ledger {
    family: Family,
    holder: Option<String>,
    effect: Effect,
    begun: u64,
}

impl Ledger {
    pub(super) const fn new(family: Family) -> Self {
        Self { family, holder: None, effect: Effect::None, begun: 0 }
    }

    /// The record is made anew, by no decision.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.family);
    }

    /// A write has changed the row.
    pub(super) fn written(
        &mut self,
        request: &Request,
        statement: StatementName,
        before: Option<&Row>,
        after: &Row,
    ) -> Result<(), String> {
        let ended = before.is_some_and(|row| row.expires_at.is_some_and(|at| at <= request.now));
        let new_life = matches!(statement, StatementName::Insert | StatementName::Rebirth);
        if let Some(before) = before {
            if after.revision != before.revision + 1 {
                return Err(format!("the revision goes from {} to {}", before.revision, after.revision));
            }
            if new_life != ended && matches!(request.call, Call::Claim { .. }) {
                return Err("a life ends at its expiry, and not otherwise".to_owned());
            }
            if !new_life {
                Self::same_life(request, before, after)?;
            }
        }
        if after.attempt > after.attempt_limit {
            return Err(format!("past the limit: attempt {} of {}", after.attempt, after.attempt_limit));
        }
        if let Some(corruption) = after.record().map_err(|fault| format!("{fault:?}"))?.corruption(self.family) {
            return Err(format!("a write made a record that cannot be: {}", corruption.message()));
        }
        self.settle(request, before, after, new_life)
    }

    fn same_life(request: &Request, before: &Row, after: &Row) -> Result<(), String> {
        if after.attempt < before.attempt {
            return Err(format!("the attempt falls from {} to {}", before.attempt, after.attempt));
        }
        let resolved = matches!(request.call, Call::Resolve { .. });
        if before.state == State::Abandoned && !resolved {
            return Err("abandoned is left without a verdict".to_owned());
        }
        if before.state == State::Completed {
            return Err("completed is left before its expiry".to_owned());
        }
        match &request.call {
            Call::Advance { tuple, .. } | Call::Release { tuple, .. } => {
                let owned = before.owner.as_deref() == Some(&tuple.owner) && before.operation.as_deref() == Some(&tuple.operation);
                if !owned || before.attempt != tuple.attempt || before.revision != tuple.revision {
                    return Err("a write on a stale tuple is accepted".to_owned());
                }
            }
            Call::Claim { .. } | Call::Inspect { .. } | Call::Resolve { .. } => {}
        }
        Ok(())
    }

    fn settle(&mut self, request: &Request, before: Option<&Row>, after: &Row, new_life: bool) -> Result<(), String> {
        let executes = !self.family.is_queue();
        match &request.call {
            Call::Claim { owner, .. } if after.state == State::Claimed => {
                if executes && self.effect == Effect::Open {
                    return Err("the record is granted while an execution may have had its effect".to_owned());
                }
                if new_life {
                    (self.effect, self.begun) = (Effect::None, 0);
                } else if executes && self.effect == Effect::Done {
                    return Err("the record is granted again though its effect happened".to_owned());
                }
                self.holder = Some(owner.clone());
            }
            Call::Advance { tuple, kind, .. } => {
                if self.holder.as_ref() != Some(&tuple.owner) {
                    return Err("somebody else than the holder moves the record on".to_owned());
                }
                match kind {
                    AdvanceKind::Complete => self.effect = Effect::Done,
                    AdvanceKind::Fail if before.is_some_and(|row| row.state == State::Executing) => self.effect = Effect::None,
                    AdvanceKind::Start | AdvanceKind::Renew | AdvanceKind::Fail | AdvanceKind::Abandon => {}
                }
            }
            Call::Resolve { verdict, .. } => {
                self.effect = match verdict {
                    Verdict::Completed => Effect::Done,
                    Verdict::NoEffect | Verdict::Forget => Effect::None,
                };
            }
            Call::Claim { .. } | Call::Release { .. } | Call::Inspect { .. } => {}
        }
        if self.begun > after.attempt {
            return Err(format!("{} executions in {} attempts", self.begun, after.attempt));
        }
        Ok(())
    }

    /// A claim was answered with the record.
    pub(super) fn granted(&self, owner: &str) -> Result<(), String> {
        if self.holder.as_deref() == Some(owner) { Ok(()) } else { Err("the record is granted to two".to_owned()) }
    }

    /// A start was confirmed: the effect may be happening from now on.
    pub(super) fn begins(&mut self, owner: &str) -> Result<(), String> {
        if self.effect != Effect::None {
            return Err(format!("an execution begins while an earlier one is {:?}", self.effect));
        }
        if self.holder.as_deref() != Some(owner) {
            return Err("an execution begins on a record that somebody else holds".to_owned());
        }
        self.effect = Effect::Open;
        self.begun += 1;
        Ok(())
    }
}
