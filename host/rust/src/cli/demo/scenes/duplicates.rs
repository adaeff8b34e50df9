//! 100 clients send the same request with the same key, at once; later all of them send it again.

use super::super::client::Got;
use super::{DemoError, Scene, Stage};

const CLIENTS: usize = 100;

pub(super) async fn play(stage: &mut Stage, scene: &mut Scene<'_>) -> Result<(), DemoError> {
    let order = stage.order(1_999);
    let buy = stage.buy(&order);
    scene.sends("100 at once", &format!("{CLIENTS} x POST /v1/charges, Idempotency-Key \"{}\", {}", buy.key, buy.payload))?;
    let got = buy.send_at_once(CLIENTS).await;
    scene.got(&got)?;
    let labels: Vec<String> = got.iter().map(Got::label).collect();
    let executed = labels.iter().filter(|label| *label == "201").count();
    let others = labels.iter().filter(|label| *label == "409 request-in-progress" || *label == "201 replayed").count();
    scene.promise(
        "one reached the payment API; the others were told to wait, or got its answer",
        executed == 1 && others == CLIENTS - 1,
    )?;

    scene.sends("all again", &format!("all {CLIENTS} once more"))?;
    let again = buy.send_at_once(CLIENTS).await;
    scene.got(&again)?;
    let first = got.iter().find(|got| got.label() == "201");
    let same = |got: &Got| got.label() == "201 replayed" && first.is_some_and(|first| got.is_the_answer(first));
    scene.promise("all got the first one's answer, byte for byte", again.iter().all(same))?;
    let charges = scene.ledger(stage, &order)?;
    scene.promise("one charge", charges.len() == 1)
}
