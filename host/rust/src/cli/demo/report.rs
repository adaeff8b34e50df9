//! The table at the end, and whether the ledger agrees.

use std::path::{Path, PathBuf};
use std::time::Instant;

use comfy_table::{Table, presets};
use serde::Serialize;

use super::error::DemoError;
use super::ledger::{Charge, disagreements};
use super::show::Show;
use super::stage::Order;
use crate::cli::output;

/// How many scenes there are: fewer rows mean that one could not be played.
const SCENES: usize = 6;

/// One thing that was sent or done, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Step {
    sent: String,
    clients_got: String,
}

/// One scene.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Row {
    scene: u8,
    title: String,
    steps: Vec<Step>,
    /// What the payment API's ledger said, in turn.
    ledger: Vec<String>,
    /// Promises that were not kept.
    broken: Vec<String>,
}

impl Row {
    pub(super) fn new(scene: u8, title: &str) -> Self {
        Self { scene, title: title.to_owned(), steps: Vec::new(), ledger: Vec::new(), broken: Vec::new() }
    }

    pub(super) fn sent(&mut self, text: &str) {
        self.steps.push(Step { sent: text.to_owned(), clients_got: String::new() });
    }

    pub(super) fn got(&mut self, text: &str) {
        if let Some(step) = self.steps.last_mut() {
            step.clients_got = text.to_owned();
        }
    }

    /// What is said again is not repeated.
    pub(super) fn ledger(&mut self, text: &str) {
        if !self.ledger.iter().any(|said| said == text) {
            self.ledger.push(text.to_owned());
        }
    }

    pub(super) fn broke(&mut self, how: &str) {
        self.broken.push(how.to_owned());
    }

    const fn verdict(&self) -> &'static str {
        if self.broken.is_empty() { "as promised" } else { "BROKEN" }
    }

    fn cells(&self) -> [String; 5] {
        let column =
            |part: fn(&Step) -> &String| self.steps.iter().map(|step| output::plain(part(step))).collect::<Vec<_>>().join("\n");
        [
            format!("{} {}", self.scene, self.title),
            column(|step| &step.sent),
            column(|step| &step.clients_got),
            self.ledger.join("\n"),
            self.verdict().to_owned(),
        ]
    }
}

/// What became of the temporary folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Folder {
    Kept,
    Removed,
}

/// All that was found out.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) rows: Vec<Row>,
    folder: PathBuf,
    begun: Instant,
    /// How many orders there were, how many charges, and what is wrong.
    closing: (usize, usize, Vec<String>),
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Document<'a> {
    agrees: bool,
    orders: usize,
    charges: usize,
    wrong: Vec<String>,
    seconds: f64,
    /// Where everything was, if it is still there.
    folder: Option<&'a Path>,
    scenes: Vec<Judged<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Judged<'a> {
    #[serde(flatten)]
    row: &'a Row,
    verdict: &'static str,
}

impl Report {
    pub(super) fn new(folder: &Path) -> Self {
        let unfinished = vec!["the demo did not come to its end".to_owned()];
        Self { rows: Vec::new(), folder: folder.to_owned(), begun: Instant::now(), closing: (0, 0, unfinished) }
    }

    /// Compares the orders with the ledger. `ended`: how leasehold ended by itself, if it did.
    pub(super) fn close(&mut self, orders: &[Order], charges: &[Charge], ended: Option<String>) {
        let mut wrong: Vec<String> = disagreements(orders, charges).iter().map(|what| format!("the ledger: {what}")).collect();
        if self.rows.len() < SCENES {
            wrong.push(format!("only {} of {SCENES} scenes could be played", self.rows.len()));
        }
        wrong.extend(ended.map(|how| format!("the server {how} before it was told to stop")));
        self.closing = (orders.len(), charges.len(), wrong);
    }

    /// Everything that is not as it should be.
    fn wrong(&self) -> Vec<String> {
        let broken = self.rows.iter().flat_map(|row| row.broken.iter().map(|what| format!("scene {}: {what}", row.scene)));
        broken.chain(self.closing.2.iter().cloned()).collect()
    }

    /// Whether the ledger agrees and every promise was kept.
    pub(super) fn agrees(&self) -> bool {
        self.wrong().is_empty()
    }

    /// The table, and the last word.
    pub(super) fn print(&self, show: &Show, json: bool, folder: Folder) -> Result<(), DemoError> {
        if json {
            return Ok(output::json(&self.document(folder))?);
        }
        show.line(&format!("\n{}", self.table()))?;
        for what in self.wrong() {
            show.verdict(&format!("✗ {what}"), false)?;
        }
        show.verdict(&self.last_word(folder), self.agrees())
    }

    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::ASCII_MARKDOWN).set_header(["SCENE", "SENT", "CLIENTS GOT", "LEDGER", "VERDICT"]);
        for row in &self.rows {
            table.add_row(row.cells());
        }
        table.to_string()
    }

    fn last_word(&self, folder: Folder) -> String {
        let (orders, charges, _) = &self.closing;
        let path = self.folder.display();
        let place = match folder {
            Folder::Kept => format!("It is in {path}, beside leasehold's file and log."),
            Folder::Removed => format!("It was in {path}, which is removed again; --keep keeps it."),
        };
        if self.agrees() {
            format!("The ledger agrees: {orders} orders, {charges} charges, every order charged exactly once. {place}")
        } else {
            format!("NOT as promised, see above: {orders} orders, {charges} charges in the ledger. {place}")
        }
    }

    fn document(&self, folder: Folder) -> Document<'_> {
        let (orders, charges, _) = self.closing;
        Document {
            agrees: self.agrees(),
            orders,
            charges,
            wrong: self.wrong(),
            seconds: self.begun.elapsed().as_secs_f64(),
            folder: (folder == Folder::Kept).then_some(self.folder.as_path()),
            scenes: self.rows.iter().map(|row| Judged { row, verdict: row.verdict() }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        Order { name: "order-1".to_owned(), amount: 1 }
    }

    fn charge() -> Charge {
        Charge { charge: "ch_1".to_owned(), order: "order-1".to_owned(), amount: 1, at: "now".to_owned() }
    }

    fn report(charges: &[Charge], rows: usize, broken: Option<&str>, ended: Option<&str>) -> Report {
        let mut report = Report::new(Path::new("folder"));
        report.rows.extend((1..).take(rows).map(|number| Row::new(number, "a scene")));
        if let (Some(promise), Some(row)) = (broken, report.rows.last_mut()) {
            row.broke(promise);
        }
        report.close(&[order()], charges, ended.map(str::to_owned));
        report
    }

    #[test]
    fn one_charge_an_order_and_every_promise_kept_agrees() {
        let report = report(&[charge()], SCENES, None, None);
        assert!(report.agrees());
        let word = report.last_word(Folder::Removed);
        assert!(
            word.starts_with("The ledger agrees: 1 orders, 1 charges, every order charged exactly once. It was in folder"),
            "{word}"
        );
    }

    #[test]
    fn anything_else_does_not() {
        let check = |report: Report, expected: &str| {
            assert!(!report.agrees(), "{expected}");
            assert_eq!(report.wrong(), [expected]);
            assert!(report.last_word(Folder::Kept).starts_with("NOT as promised"), "{expected}");
        };
        check(report(&[charge(), charge()], SCENES, None, None), "the ledger: order-1 was charged 2 times");
        check(report(&[], SCENES, None, None), "the ledger: order-1 was charged 0 times");
        check(report(&[charge()], SCENES - 1, None, None), "only 5 of 6 scenes could be played");
        check(report(&[charge()], SCENES, Some("one charge"), None), "scene 6: one charge");
        let ended = "the server ended with 1 before it was told to stop";
        check(report(&[charge()], SCENES, None, Some("ended with 1")), ended);
    }

    #[test]
    fn a_report_that_was_never_closed_does_not_agree() {
        assert!(!Report::new(Path::new("folder")).agrees());
    }

    #[test]
    fn steps_stand_side_by_side() {
        let mut row = Row::new(1, "a scene");
        row.sent("one");
        row.got("201");
        row.sent("two");
        row.ledger("1 charge");
        row.ledger("1 charge");
        assert_eq!(row.cells(), ["1 a scene", "one\ntwo", "201\n", "1 charge", "as promised"]);
    }
}
