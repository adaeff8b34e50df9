//! The payment API's own book of what it charged: an append-only file, a line of JSON for each charge.
//!
//! It knows nothing of leasehold, and is read anew whenever it is asked: what stands in the file is what happened.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::error::DemoError;
use super::stage::Order;

/// A line of the ledger: money has moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Charge {
    /// The charge's own id.
    pub(super) charge: String,
    /// What for.
    pub(super) order: String,
    /// How much, in cents.
    pub(super) amount: u64,
    /// When.
    pub(super) at: String,
}

/// The file.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    /// How many charges were written; held while one is.
    written: Arc<Mutex<u64>>,
}

impl Ledger {
    /// An empty one.
    pub(super) fn create(path: PathBuf) -> Result<Self, DemoError> {
        std::fs::write(&path, "").map_err(|source| DemoError::File { what: "make", path: path.clone(), source })?;
        Ok(Self { path, written: Arc::default() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Charges: the line is on the disk when this returns.
    pub(super) fn charge(&self, order: &str, amount: u64) -> std::io::Result<Charge> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let charge = Charge {
            charge: format!("ch_{:04}", written.saturating_add(1)),
            order: order.to_owned(),
            amount,
            at: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        };
        let mut line = serde_json::to_vec(&charge)?;
        line.push(b'\n');
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(&line)?;
        file.sync_data()?;
        *written = written.saturating_add(1);
        Ok(charge)
    }

    /// Every charge, as the file has it now.
    pub(super) fn charges(&self) -> Result<Vec<Charge>, DemoError> {
        let text = std::fs::read_to_string(&self.path).map_err(|source| DemoError::File {
            what: "read",
            path: self.path.clone(),
            source,
        })?;
        let read = |(index, line)| {
            let refused = |source| DemoError::Ledger { path: self.path.clone(), line: index + 1, source };
            serde_json::from_str(line).map_err(refused)
        };
        text.lines().enumerate().map(read).collect()
    }

    /// The charges of one order.
    pub(super) fn of(&self, order: &Order) -> Result<Vec<Charge>, DemoError> {
        Ok(self.charges()?.into_iter().filter(|charge| charge.order == order.name).collect())
    }
}

/// What of the ledger does not agree with the orders: each is to be charged exactly once, with its own amount, and nothing else.
pub(super) fn disagreements(orders: &[Order], charges: &[Charge]) -> Vec<String> {
    let mut found = Vec::new();
    for order in orders {
        let of_order: Vec<&Charge> = charges.iter().filter(|charge| charge.order == order.name).collect();
        match of_order.as_slice() {
            [charge] if charge.amount == order.amount => {}
            [charge] => found.push(format!("{} was charged {}, not {}", order.name, money(charge.amount), money(order.amount))),
            several => found.push(format!("{} was charged {} times", order.name, several.len())),
        }
    }
    let unknown = charges.iter().filter(|charge| orders.iter().all(|order| order.name != charge.order));
    found.extend(unknown.map(|charge| format!("{} was charged, which nobody ordered", charge.order)));
    found
}

/// Cents, for people.
pub(super) fn money(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(name: &str, amount: u64) -> Order {
        Order { name: name.to_owned(), amount }
    }

    fn check(orders: &[Order], charged: &[(&str, u64)], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::create(folder.path().join("ledger.jsonl")).unwrap();
        for (name, amount) in charged {
            ledger.charge(name, *amount).unwrap();
        }
        assert_eq!(disagreements(orders, &ledger.charges().unwrap()), expected);
    }

    #[test]
    fn each_order_charged_once_agrees() {
        check(&[order("a", 1), order("b", 2)], &[("b", 2), ("a", 1)], &[]);
    }

    #[test]
    fn a_second_charge_is_found() {
        check(&[order("a", 1)], &[("a", 1), ("a", 1)], &["a was charged 2 times"]);
    }

    #[test]
    fn a_charge_that_is_missing_is_found() {
        check(&[order("a", 1)], &[], &["a was charged 0 times"]);
    }

    #[test]
    fn another_amount_is_found() {
        check(&[order("a", 1_999)], &[("a", 5)], &["a was charged 0.05, not 19.99"]);
    }

    #[test]
    fn a_charge_that_nobody_ordered_is_found() {
        check(&[], &[("a", 1)], &["a was charged, which nobody ordered"]);
    }

    #[test]
    fn a_line_that_is_no_charge_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::create(folder.path().join("ledger.jsonl")).unwrap();
        ledger.charge("a", 1).unwrap();
        std::fs::write(ledger.path(), "{}\n").unwrap();
        assert!(ledger.charges().unwrap_err().to_string().starts_with("line 1 of the ledger"));
    }
}
