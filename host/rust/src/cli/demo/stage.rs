//! Everything that plays, put together: the folder, the payment API and its ledger, leasehold, and the orders.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::binary::{Binary, Server};
use super::client::{Buy, Got};
use super::error::{DemoError, until};
use super::ledger::{Charge, Ledger};
use super::payment::PaymentApi;
use super::show::Show;

/// The command that lists what is in doubt.
pub(super) const RECOVERY_LIST: [&str; 3] = ["recovery", "list", "--json"];
/// How long the payment API may take to charge.
const CHARGE_LIMIT: Duration = Duration::from_secs(30);

/// What somebody wants to pay for, once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Order {
    /// Its name.
    pub(super) name: String,
    /// In cents.
    pub(super) amount: u64,
}

impl Order {
    /// The key that the shop sends with every try to charge for it.
    pub(super) fn key(&self) -> String {
        format!("charge-{}", self.name)
    }

    /// The body of the request.
    pub(super) fn payload(&self) -> String {
        format!(r#"{{"order":"{}","amount":{}}}"#, self.name, self.amount)
    }
}

/// An order of which leasehold does not know whether it was charged.
#[derive(Clone, Debug)]
pub(super) struct InDoubt {
    pub(super) order: Order,
    /// What leasehold told the client to give to an operator.
    pub(super) reference: String,
}

/// Everything.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) folder: PathBuf,
    pub(super) ledger: Ledger,
    pub(super) payments: PaymentApi,
    pub(super) binary: Binary,
    pub(super) server: Server,
    /// Every order so far: at the end each must have been charged exactly once.
    pub(super) orders: Vec<Order>,
    /// Those that wait for an operator.
    pub(super) in_doubt: Vec<InDoubt>,
}

impl Stage {
    /// Starts the payment API, and leasehold in front of it.
    pub(super) async fn set(folder: &Path) -> Result<Self, DemoError> {
        let ledger = Ledger::create(folder.join("ledger.jsonl"))?;
        let payments = PaymentApi::open(ledger.clone()).await?;
        let binary = Binary::in_folder(folder)?;
        let server = binary.serve(&payments.url()).await?;
        let (orders, in_doubt) = (Vec::new(), Vec::new());
        Ok(Self { folder: folder.to_owned(), ledger, payments, binary, server, orders, in_doubt })
    }

    /// Says who plays.
    pub(super) fn introduce(&self, show: &Show) -> Result<(), DemoError> {
        show.told("API", &format!("{}/v1/charges; it knows no keys", self.payments.url()))?;
        show.told("ledger", &format!("{}: the API's own, a line for each charge", self.ledger.path().display()))?;
        show.told("server", &format!("http://{}, process {}:", self.server.address, self.server.process))?;
        show.told("", &format!("leasehold {}", self.binary.serve_args(&self.payments.url()).join(" ")))
    }

    /// A new order.
    pub(super) fn order(&mut self, amount: u64) -> Order {
        let order = Order { name: format!("order-{}", self.orders.len().saturating_add(1)), amount };
        self.orders.push(order.clone());
        order
    }

    /// The request that charges for an order.
    pub(super) fn buy(&self, order: &Order) -> Buy {
        Buy { server: self.server.address, key: order.key(), payload: order.payload() }
    }

    /// Waits until the ledger has a charge for an order.
    pub(super) async fn charged(&self, order: &Order) -> Result<Charge, DemoError> {
        let what = format!("the payment API to charge {}", order.name);
        until(&what, CHARGE_LIMIT, || async { Ok(self.ledger.of(order)?.into_iter().next()) }).await
    }

    /// The references that `leasehold recovery list` has, of orders and of anything else.
    pub(super) async fn waiting(&self) -> Result<Vec<String>, DemoError> {
        let text = self.binary.run(&RECOVERY_LIST).await?;
        let failed = |how: String| DemoError::Failed { what: "recovery list".to_owned(), how, said: text.clone() };
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(&text).map_err(|error| failed(format!("gave no JSON array ({error})")))?;
        let reference = |row: &serde_json::Value| row.get("reference").and_then(|value| value.as_str()).map(str::to_owned);
        rows.iter().map(|row| reference(row).ok_or_else(|| failed("gave a row without a reference".to_owned()))).collect()
    }

    /// Notes that an order is in doubt, where the client got a reference.
    pub(super) fn doubt(&mut self, order: &Order, got: &Got) {
        if let Some(reference) = got.reference() {
            self.in_doubt.push(InDoubt { order: order.clone(), reference });
        }
    }

    /// Waits until all that has reached the payment API is in its ledger, and ends leasehold; how that had ended before, if it had.
    pub(super) async fn strike(&mut self) -> Option<String> {
        let ended = self.server.ended();
        self.payments.close().await;
        // It goes with its handle at the latest.
        let _ = self.server.kill().await;
        ended
    }
}
