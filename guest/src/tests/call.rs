//! Lists of calls.

use crate::keys::name;
use crate::outcome::Outcome;
use crate::policy::default_settings;
use crate::record::Family;
use crate::{Call, ClaimArgs, InspectArgs, batch};

#[test]
fn a_batch_has_one_clock_and_each_item_its_own_answer() {
    let args = ClaimArgs { owner: name("owner"), operation: name("operation"), fingerprint: None, codec: None };
    let inspect = InspectArgs { owner: name("owner"), operation: name("operation"), fingerprint: None };
    let settings = default_settings(Family::Idempotency);
    let items = [(None, Call::Claim(args)), (None, Call::Inspect(inspect)), (None, Call::Claim(args))];
    let answers = batch(Family::Idempotency, &settings, &items, &[], 1_000);
    assert!(matches!(answers[0].outcome, Outcome::Acquired(grant) if grant.lease_until == 31_000));
    assert_eq!(answers[1].outcome, Outcome::Missing);
    assert_eq!(answers[2], answers[0]);
    assert!(batch(Family::Idempotency, &settings, &[], &[], 1_000).is_empty());
}
