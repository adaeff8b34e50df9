//! A client closes its connection while the payment API is at work, and tries again.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::client::Buy;
use super::super::error::until;
use super::super::payment::Act;
use super::{DemoError, Got, Scene, Stage};

/// How long leasehold may take to store an answer that has come.
const STORED_LIMIT: Duration = Duration::from_secs(20);

pub(super) async fn play(stage: &mut Stage, scene: &mut Scene<'_>) -> Result<(), DemoError> {
    let order = stage.order(4_200);
    let answer_now = CancellationToken::new();
    stage.payments.next(&order, Act::ChargeAndHold(answer_now.clone()));
    let buy = stage.buy(&order);
    scene.sends("one", &format!("POST /v1/charges, key \"{}\", {}", buy.key, buy.payload))?;
    let under_way = buy.begin();
    stage.charged(&order).await?;
    let hung_up = under_way.hang_up().await;
    scene.got_in_words("nothing: hung up while the card was charged")?;
    scene.promise("the client was gone before there was an answer", matches!(hung_up, Got::Nothing(_)))?;

    scene.sends("retry at once", "the same again, at once")?;
    let early = buy.send().await;
    scene.got(std::slice::from_ref(&early))?;
    scene.promise("too early: it is told so, and nothing is charged", early.label() == "409 request-in-progress")?;

    answer_now.cancel();
    scene.sends("retry later", "the same again, now that the payment API has answered, until it is no longer under way")?;
    let late = settled(&buy).await?;
    scene.got(std::slice::from_ref(&late))?;
    scene.promise("the work went on without the client: its answer was kept", late.label() == "201 replayed")?;
    let charges = scene.ledger(stage, &order)?;
    scene.promise("one charge", charges.len() == 1)
}

/// Sends it until it is answered with something else than "under way".
async fn settled(buy: &Buy) -> Result<Got, DemoError> {
    until("the answer of a client that hung up", STORED_LIMIT, || async {
        let got = buy.send().await;
        Ok((got.label() != "409 request-in-progress").then_some(got))
    })
    .await
}
