//! What is wrong, gathered, so that one error tells all of it.

use crate::cli::CliError;

/// A value as it was given, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Given {
    /// Where: `--lease`, `LEASEHOLD_LEASE`, or a line of the file.
    pub(super) origin: String,
    /// What.
    pub(super) text: String,
}

impl Given {
    pub(super) fn new(origin: impl Into<String>, text: impl Into<String>) -> Self {
        Self { origin: origin.into(), text: text.into() }
    }
}

/// Everything that is wrong, once each, in the order in which it was found.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<String>);

impl Faults {
    /// Something is wrong there.
    pub(super) fn add(&mut self, origin: &str, what: impl std::fmt::Display) {
        self.add_line(format!("{origin}: {what}"));
    }

    /// Something is wrong; the line says where.
    pub(super) fn add_line(&mut self, line: String) {
        // What the whole server says holds for each route, and is told once.
        if !self.0.contains(&line) {
            self.0.push(line);
        }
    }

    /// The value, where it can be read; else it is wrong.
    pub(super) fn read<T>(&mut self, given: &Given, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        match parse(&given.text) {
            Ok(value) => Some(value),
            Err(what) => {
                self.add(&given.origin, what);
                None
            }
        }
    }

    /// The value of what was given, `default` where nothing was; `stand_in` where it is wrong, so that the rest can be looked at.
    pub(super) fn read_or<T>(
        &mut self,
        given: Option<&Given>,
        default: T,
        stand_in: T,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> T {
        match given {
            None => default,
            Some(given) => self.read(given, parse).unwrap_or(stand_in),
        }
    }

    /// An error that tells all of it, if anything is wrong.
    pub(super) fn into_result(self) -> Result<(), CliError> {
        match self.0.as_slice() {
            [] => Ok(()),
            lines => {
                let told: String = lines.iter().map(|line| format!("\n  {line}")).collect();
                Err(CliError::Usage(format!("these settings cannot be used; nothing was opened:{told}")))
            }
        }
    }

    #[cfg(test)]
    pub(super) fn lines(&self) -> &[String] {
        &self.0
    }
}

/// The known name that was probably meant.
pub(super) fn meant<'k>(given: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let (distance, name) = known.map(|name| (distance(given, name), name)).min()?;
    (distance <= 2 && distance < given.len()).then_some(name)
}

/// How many characters must be put in, taken out or replaced (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, character) in one.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line.saturating_add(1);
        for (cell, against) in row.iter_mut().skip(1).zip(&other) {
            let replaced = diagonal.saturating_add(usize::from(character != *against));
            diagonal = *cell;
            left = replaced.min(cell.saturating_add(1)).min(left.saturating_add(1));
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = line.saturating_add(1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_two_words_is_counted_in_characters() {
        let check =
            |one, other, expected| assert_eq!((distance(one, other), distance(other, one)), (expected, expected), "{one} {other}");
        check("", "", 0);
        check("", "abc", 3);
        check("lease", "lease", 0);
        check("leese", "lease", 1);
        check("wiat", "wait", 2);
        check("kitten", "sitting", 3);
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        let known = || ["lease", "wait", "key"].into_iter();
        assert_eq!(meant("leas", known()), Some("lease"));
        assert_eq!(meant("release-date", known()), None);
        assert_eq!(meant("k", known()), None);
    }

    #[test]
    fn what_is_wrong_in_one_place_is_told_once() {
        let mut faults = Faults::default();
        faults.add("--lease", "no");
        faults.add("--lease", "no");
        faults.add("--wait", "no");
        assert_eq!(faults.lines(), ["--lease: no", "--wait: no"]);
        assert_eq!(
            faults.into_result().unwrap_err().to_string(),
            "these settings cannot be used; nothing was opened:\n  --lease: no\n  --wait: no"
        );
    }
}
