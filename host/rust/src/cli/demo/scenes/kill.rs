//! `kill -9` of leasehold after the card was charged and before it knows of it; then a restart on the same file.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::super::payment::Act;
use super::super::stage::RECOVERY_LIST;
use super::{DemoError, Got, Order, Scene, Stage};

/// How long a client goes on trying.
const RETRY_LIMIT: Duration = Duration::from_secs(20);
/// A client's pause where it was told none.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) async fn play(stage: &mut Stage, scene: &mut Scene<'_>) -> Result<(), DemoError> {
    let order = stage.order(9_900);
    // Nobody ever lets the payment API answer: it was not slow, leasehold is gone.
    stage.payments.next(&order, Act::ChargeAndHold(CancellationToken::new()));
    let buy = stage.buy(&order);
    scene.sends("one", &format!("POST /v1/charges, key \"{}\", {}", buy.key, buy.payload))?;
    let under_way = buy.begin();
    stage.charged(&order).await?;
    scene.aside(&format!("The card is charged; kill -9 {}.", stage.server.process))?;
    stage.server.kill().await?;
    let cut = under_way.answer().await;
    scene.got(std::slice::from_ref(&cut))?;
    scene.promise("leasehold died while the charge was executing", matches!(cut, Got::Nothing(_)))?;

    stage.server = stage.binary.serve(&stage.payments.url()).await?;
    scene.does(
        "restart, retries",
        &format!("restart on the same file (process {}), and the same request as often as Retry-After says", stage.server.process),
    )?;
    let got = retries(stage, &order, scene).await?;
    scene.got(&got)?;
    let patient = got.iter().rev().skip(1).all(|got| got.label() == "409 request-in-progress");
    let last = got.last().map(Got::label).unwrap_or_default();
    scene.promise(
        "in progress until the lease is over, then in doubt: never tried again",
        patient && last == "409 recovery-required",
    )?;
    let charges = scene.ledger(stage, &order)?;
    scene.promise("no second charge", charges.len() == 1)?;

    scene.does("recovery list", &stage.binary.typed(&RECOVERY_LIST))?;
    let reference = got.last().and_then(Got::reference);
    let waiting = stage.waiting().await?;
    scene.got_in_words(&format!("{} references", waiting.len()))?;
    let listed = reference.is_some_and(|reference| waiting.contains(&reference));
    scene.promise("it is listed for recovery, by the reference that the client got", listed)?;
    if let Some(last) = got.last() {
        stage.doubt(&order, last);
    }
    Ok(())
}

/// What a patient client gets, up to the first answer that is not "in progress".
async fn retries(stage: &Stage, order: &Order, scene: &Scene<'_>) -> Result<Vec<Got>, DemoError> {
    let (buy, begun) = (stage.buy(order), Instant::now());
    let mut all: Vec<Got> = Vec::new();
    loop {
        let got = buy.send().await;
        let pause = got.retry_after().unwrap_or(PAUSE);
        let told = if got.retry_after().is_some() { format!(", Retry-After: {}", pause.as_secs()) } else { String::new() };
        scene.aside(&format!("        after {:.1} s: {}{told}", begun.elapsed().as_secs_f64(), got.label()))?;
        let goes_on = got.label() == "409 request-in-progress" && begun.elapsed() < RETRY_LIMIT;
        all.push(got);
        if !goes_on {
            return Ok(all);
        }
        tokio::time::sleep(pause).await;
    }
}
