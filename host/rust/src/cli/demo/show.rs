//! What is told as it goes: plain text, with colours on a terminal alone.

use std::io::IsTerminal as _;

use super::error::DemoError;
use crate::cli::output;

/// Where the names of what is told end, in columns.
const LABEL_WIDTH: usize = 8;

/// A colour, as the terminal is told.
#[derive(Clone, Copy, Debug)]
enum Ink {
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
    Cyan = 36,
}

/// Tells it, or does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Show {
    loud: bool,
    colours: bool,
}

impl Show {
    /// Tells nothing.
    pub(super) const fn silent() -> Self {
        Self { loud: false, colours: false }
    }

    /// Tells it to whoever looks on; in colours where that is a terminal, unless `NO_COLOR` is set (no-color.org).
    pub(super) fn on_standard_output() -> Self {
        let asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { loud: true, colours: std::io::stdout().is_terminal() && !asked_not_to }
    }

    /// What all of it is.
    pub(super) fn title(&self, text: &str) -> Result<(), DemoError> {
        self.line(&format!("{}\n", self.ink(Ink::Bold, text)))
    }

    /// A new scene, and what is the matter in it.
    pub(super) fn heading(&self, text: &str, why: &str) -> Result<(), DemoError> {
        self.line(&format!("\n{}\n   {}", self.ink(Ink::Bold, text), self.ink(Ink::Dim, why)))
    }

    /// Something that has a name.
    pub(super) fn told(&self, label: &str, text: &str) -> Result<(), DemoError> {
        let label = format!("{label:LABEL_WIDTH$}");
        self.line(&format!("   {}{}", self.ink(Ink::Cyan, &label), output::plain(text)))
    }

    /// What may be skipped, below what has a name.
    pub(super) fn details(&self, lines: &[String]) -> Result<(), DemoError> {
        lines.iter().try_for_each(|line| self.line(&format!("   {:LABEL_WIDTH$}{}", "", self.ink(Ink::Dim, &output::plain(line)))))
    }

    /// What is said between.
    pub(super) fn aside(&self, text: &str) -> Result<(), DemoError> {
        self.line(&format!("   {}", output::plain(text)))
    }

    /// A promise that was kept.
    pub(super) fn kept(&self, text: &str) -> Result<(), DemoError> {
        self.line(&format!("   {} {text}", self.ink(Ink::Green, "✓")))
    }

    /// One that was not.
    pub(super) fn broken(&self, text: &str) -> Result<(), DemoError> {
        text.lines().try_for_each(|line| self.line(&format!("   {}", self.ink(Ink::Red, &format!("✗ {}", output::plain(line))))))
    }

    /// How it ended.
    pub(super) fn verdict(&self, text: &str, good: bool) -> Result<(), DemoError> {
        self.line(&self.ink(if good { Ink::Green } else { Ink::Red }, text))
    }

    /// Anything else.
    pub(super) fn line(&self, text: &str) -> Result<(), DemoError> {
        if self.loud {
            output::line(text)?;
        }
        Ok(())
    }

    fn ink(&self, ink: Ink, text: &str) -> String {
        if self.colours { format!("\u{1b}[{}m{text}\u{1b}[0m", ink as u8) } else { text.to_owned() }
    }
}
