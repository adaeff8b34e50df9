//! A key is used for two payloads: by mistake, or because somebody changed the cart and not the key.

use super::super::client::Buy;
use super::super::stage::Order;
use super::{DemoError, Scene, Stage};

pub(super) async fn play(stage: &mut Stage, scene: &mut Scene<'_>) -> Result<(), DemoError> {
    let order = stage.order(2_500);
    let buy = stage.buy(&order);
    scene.sends("one", &format!("POST /v1/charges, key \"{}\", {}", buy.key, buy.payload))?;
    let first = buy.send().await;
    scene.got(std::slice::from_ref(&first))?;
    scene.promise("it was charged", first.label() == "201")?;

    let dearer = Buy { payload: Order { amount: 250_000, ..order.clone() }.payload(), ..buy.clone() };
    scene.sends("100 times the amount", &format!("the same key, {}", dearer.payload))?;
    let refused = dearer.send().await;
    scene.got(std::slice::from_ref(&refused))?;
    scene.promise("another payload is refused", refused.label() == "422 idempotency-key-reused")?;

    let reordered = Buy { payload: format!(r#"{{ "amount": {}, "order": "{}" }}"#, order.amount, order.name), ..buy };
    scene.sends("members reordered", &format!("the same key, {}", reordered.payload))?;
    let same = reordered.send().await;
    scene.got(std::slice::from_ref(&same))?;
    scene.promise("the same payload in another order of members is the same", same.label() == "201 replayed")?;
    scene.promise("it got the stored answer, byte for byte", same.is_the_answer(&first))?;
    let charges = scene.ledger(stage, &order)?;
    scene.promise("one charge, of the first amount", matches!(charges.as_slice(), [charge] if charge.amount == order.amount))
}
