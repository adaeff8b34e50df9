//! What happens, scene by scene, and what must hold in each.
//!
//! | module | scene |
//! | --- | --- |
//! | [`duplicates`] | 100 duplicates at once |
//! | [`hang_up`] | a client that hangs up while the charge is executing |
//! | [`other_payload`] | the same key with another payload |
//! | [`upstream_dies`] | an upstream that dies in the middle |
//! | [`kill`] | `kill -9` of leasehold while a charge is executing |
//! | [`verdicts`] | an operator settles what is in doubt |

use super::client::{Got, summary};
use super::error::DemoError;
use super::ledger::{Charge, money};
use super::report::{Report, Row};
use super::show::Show;
use super::stage::{Order, Stage};

mod duplicates;
mod hang_up;
mod kill;
mod other_payload;
mod upstream_dies;
mod verdicts;

/// A scene while it is played: what it shows goes into its row of the table.
pub(super) struct Scene<'a> {
    show: &'a Show,
    row: Row,
}

/// All of them in turn, up to the first that cannot be played to its end.
pub(super) async fn all(stage: &mut Stage, show: &Show, report: &mut Report) -> Result<(), DemoError> {
    macro_rules! play {
        ($($number:literal $module:ident $title:literal $why:literal,)*) => {
            $(
                let mut scene = Scene::begin(show, $number, $title, $why)?;
                let played = $module::play(stage, &mut scene).await;
                if !scene.end(played, stage, report)? {
                    return Ok(());
                }
            )*
        };
    }
    play! {
        1 duplicates "100 duplicates at once" "A hundred phones, or one that stutters: the same request with the same key, at the same time.",
        2 hang_up "a client hangs up" "It closes the connection while its card is being charged, and tries again.",
        3 other_payload "same key, other payload" "By mistake, or because the cart was changed and the key was not.",
        4 upstream_dies "the upstream dies" "It closes the connection without an answer; from outside nobody can tell whether it has charged.",
        5 kill "kill -9 of leasehold" "After the card was charged, and before leasehold knows of it; then a restart on the same file.",
        6 verdicts "an operator settles it" "What leasehold cannot know, a person finds out: it is in the payment API's ledger.",
    }
    Ok(())
}

impl<'a> Scene<'a> {
    fn begin(show: &'a Show, number: u8, title: &str, why: &str) -> Result<Self, DemoError> {
        show.heading(&format!("{number}. {title}"), why)?;
        Ok(Self { show, row: Row::new(number, title) })
    }

    /// What is about to be sent: in short for the table, and in full.
    fn sends(&mut self, short: &str, full: &str) -> Result<(), DemoError> {
        self.row.sent(short);
        self.show.told("sent", full)
    }

    /// What happens besides requests.
    fn does(&mut self, short: &str, full: &str) -> Result<(), DemoError> {
        self.row.sent(short);
        self.show.told("then", full)
    }

    /// What may be skipped.
    fn aside(&self, text: &str) -> Result<(), DemoError> {
        self.show.aside(text)
    }

    /// What the clients got for what was sent last.
    fn got(&mut self, got: &[Got]) -> Result<(), DemoError> {
        self.got_in_words(&summary(got))?;
        match got {
            [one] => self.show.details(&one.details()),
            _ => Ok(()),
        }
    }

    /// The same where words tell it better.
    fn got_in_words(&mut self, text: &str) -> Result<(), DemoError> {
        self.row.got(text);
        self.show.told("got", text)
    }

    /// What the ledger says of an order, now.
    fn ledger(&mut self, stage: &Stage, order: &Order) -> Result<Vec<Charge>, DemoError> {
        let charges = stage.ledger.of(order)?;
        let amounts = charges.iter().map(|charge| money(charge.amount)).collect::<Vec<_>>().join(", ");
        let text = match charges.len() {
            0 => format!("{}: no charge", order.name),
            1 => format!("{}: 1 charge of {amounts}", order.name),
            several => format!("{}: {several} charges of {amounts}", order.name),
        };
        self.row.ledger(&text);
        self.show.told("ledger", &text)?;
        Ok(charges)
    }

    /// A promise, and whether it was kept.
    fn promise(&mut self, promise: &str, kept: bool) -> Result<(), DemoError> {
        if kept {
            return self.show.kept(promise);
        }
        self.breaks(&format!("not so: {promise}"))
    }

    fn breaks(&mut self, how: &str) -> Result<(), DemoError> {
        self.row.broke(how);
        self.show.broken(how)
    }

    /// Closes the row. Whether the play goes on.
    fn end(mut self, played: Result<(), DemoError>, stage: &Stage, report: &mut Report) -> Result<bool, DemoError> {
        let goes_on = match played {
            Ok(()) => true,
            Err(error @ DemoError::Output(_)) => return Err(error),
            Err(error) => {
                self.breaks(&error.to_string())?;
                self.show.line(&format!("   the end of leasehold's log:\n{}", stage.binary.log_end()))?;
                false
            }
        };
        report.rows.push(self.row);
        Ok(goes_on)
    }
}
