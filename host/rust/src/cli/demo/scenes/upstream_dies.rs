//! The payment API closes the connection without an answer: once after it has charged, once before. From outside both look alike.

use super::super::payment::Act;
use super::super::stage::RECOVERY_LIST;
use super::{DemoError, Order, Scene, Stage};

pub(super) async fn play(stage: &mut Stage, scene: &mut Scene<'_>) -> Result<(), DemoError> {
    let after = stage.order(7_900);
    scene.aside("This one dies after it has charged:")?;
    dies(stage, scene, &after, Act::ChargeAndDie, 1).await?;
    let before = stage.order(1_250);
    scene.aside("This one dies before, which only its ledger can tell:")?;
    dies(stage, scene, &before, Act::Die, 0).await?;

    scene.does("recovery list", &stage.binary.typed(&RECOVERY_LIST))?;
    let waiting = stage.waiting().await?;
    scene.got_in_words(&format!("{} references", waiting.len()))?;
    let listed = stage.in_doubt.len() == 2 && stage.in_doubt.iter().all(|doubt| waiting.contains(&doubt.reference));
    scene.promise("both are listed for recovery, by the references that the clients got", listed && waiting.len() == 2)
}

async fn dies(stage: &mut Stage, scene: &mut Scene<'_>, order: &Order, act: Act, charged: usize) -> Result<(), DemoError> {
    stage.payments.next(order, act);
    let buy = stage.buy(order);
    scene.sends(&order.name, &format!("POST /v1/charges, key \"{}\", {}", buy.key, buy.payload))?;
    let broke = buy.send().await;
    scene.got(std::slice::from_ref(&broke))?;
    scene.promise(
        "the client is told that nobody knows, with a reference",
        broke.label() == "502 upstream-broke" && broke.reference().is_some(),
    )?;

    scene.sends("retry", "the same again")?;
    let retry = buy.send().await;
    scene.got(std::slice::from_ref(&retry))?;
    let held = retry.label() == "409 recovery-required" && retry.reference() == broke.reference();
    scene.promise("it is not tried again; the reference is the same", held)?;
    let charges = scene.ledger(stage, order)?;
    scene.promise(if charged == 0 { "no charge" } else { "no second charge" }, charges.len() == charged)?;
    stage.doubt(order, &broke);
    Ok(())
}
