//! What leasehold cannot know, a person finds out: an operator looks at the payment API's ledger and says what happened.

use std::path::PathBuf;

use http_body_util::BodyExt as _;

use super::super::ledger::Charge;
use super::super::payment::{charge_body, charged};
use super::super::stage::InDoubt;
use super::{DemoError, Got, Scene, Stage};
use crate::bridge::envelope::{Body, StoredAnswer};

pub(super) async fn play(stage: &mut Stage, scene: &mut Scene<'_>) -> Result<(), DemoError> {
    for doubt in std::mem::take(&mut stage.in_doubt) {
        let charges = scene.ledger(stage, &doubt.order)?;
        match charges.first() {
            Some(charge) => completed(stage, scene, &doubt, charge).await?,
            None => no_effect(stage, scene, &doubt).await?,
        }
        let charges = scene.ledger(stage, &doubt.order)?;
        scene.promise("one charge", charges.len() == 1)?;
    }
    let waiting = stage.waiting().await?;
    scene.promise("nothing is left in the recovery list", waiting.is_empty())
}

/// It was charged: the operator writes the answer that the client should have got.
async fn completed(stage: &Stage, scene: &mut Scene<'_>, doubt: &InDoubt, charge: &Charge) -> Result<(), DemoError> {
    let (file, head) = answer_file(stage, charge).await?;
    let file = file.to_string_lossy();
    scene.aside(&format!("The operator writes the answer that was lost (docs/http-1.md): {head}, and below it the charge."))?;
    let reason = format!("{} is in the ledger", charge.charge);
    resolve(stage, scene, doubt, "completed", &["--reason", &reason, "--response", &file]).await?;
    let retry = retry(stage, scene, doubt).await?;
    let body = charge_body(charge);
    let is_it = matches!(&retry, Got::Answer(answer) if answer.body == body);
    scene.promise("the retry gets the answer that the operator stored", retry.label() == "201 replayed" && is_it)
}

/// It was not: the next try may charge.
async fn no_effect(stage: &Stage, scene: &mut Scene<'_>, doubt: &InDoubt) -> Result<(), DemoError> {
    resolve(stage, scene, doubt, "no-effect", &["--reason", "the ledger has no such order"]).await?;
    let first = retry(stage, scene, doubt).await?;
    scene.promise("the retry is executed", first.label() == "201")?;
    let second = retry(stage, scene, doubt).await?;
    scene.promise("the next one gets its answer", second.label() == "201 replayed" && second.is_the_answer(&first))
}

async fn resolve(stage: &Stage, scene: &mut Scene<'_>, doubt: &InDoubt, verdict: &str, more: &[&str]) -> Result<(), DemoError> {
    let mut args = vec!["recovery", "resolve", &doubt.reference, "--verdict", verdict];
    args.extend(more);
    scene.does(&format!("{}: {verdict}", doubt.order.name), &stage.binary.typed(&args))?;
    stage.binary.run(&args).await?;
    scene.got_in_words("resolved")
}

async fn retry(stage: &Stage, scene: &mut Scene<'_>, doubt: &InDoubt) -> Result<Got, DemoError> {
    let buy = stage.buy(&doubt.order);
    scene.sends("retry", &format!("POST /v1/charges, key \"{}\", {}", buy.key, buy.payload))?;
    let got = buy.send().await;
    scene.got(std::slice::from_ref(&got))?;
    Ok(got)
}

/// A file with the answer to a charge as leasehold stores it (`docs/http-1.md`), and its first line.
async fn answer_file(stage: &Stage, charge: &Charge) -> Result<(PathBuf, String), DemoError> {
    let (head, body) = charged(charge).into_parts();
    // INVARIANT: the body is in memory; reading it cannot fail.
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let bytes = StoredAnswer::new(head.status, &head.headers, Body::Kept(body)).encode();
    let first_line = String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned();
    let path = stage.folder.join(format!("{}.http-1", charge.order));
    std::fs::write(&path, bytes).map_err(|source| DemoError::File { what: "write", path: path.clone(), source })?;
    Ok((path, first_line))
}
