//! Standard output: tables for people, JSON for programs. A reader that goes away ends the program quietly.

use std::io::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use comfy_table::{Table, presets};
use serde::Serialize;

use super::CliError;

/// The last instant that has four digits in its year. Milliseconds since the epoch.
const RFC_3339_MS_END: u64 = 253_402_300_800_000;

/// Prints text, which brings its own line ends.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(CliError::Output)
}

/// Prints one line.
pub(super) fn line(text: &str) -> Result<(), CliError> {
    print(&format!("{text}\n"))
}

/// Prints JSON for programs.
pub(super) fn json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| CliError::Other(error.into()))?;
    line(&text)
}

/// Lines up rows below their headings.
pub(super) fn table<const N: usize>(headings: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(headings);
    for row in rows {
        table.add_row(row.map(|cell| plain(&cell)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt() + "\n"
}

/// Names and values, one below the other; what is absent is left out.
pub(super) fn fields(pairs: &[(&str, Option<String>)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let present = pairs.iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    present.map(|(name, value)| format!("{name:width$}  {}\n", plain(value))).collect()
}

/// Without control characters: what comes from a store must not steer a terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

/// An instant for people. Milliseconds since the epoch.
pub(super) fn instant(at: u64) -> String {
    if at >= RFC_3339_MS_END {
        return format!("{at} ms");
    }
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(at)).to_string()
}

/// A length of time for people, to the second where it is longer than one.
pub(super) fn length(milliseconds: u64) -> String {
    let rounded = if milliseconds >= 1_000 { milliseconds - milliseconds % 1_000 } else { milliseconds };
    humantime::format_duration(Duration::from_millis(rounded)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up_and_cannot_steer_a_terminal() {
        let rows = [["a".to_owned(), "1".to_owned()], ["bcd".to_owned(), "\u{1b}[2J".to_owned()]];
        assert_eq!(table(["NAME", "N"], rows), "NAME  N\na     1\nbcd   \u{fffd}[2J\n");
    }

    #[test]
    fn what_is_absent_is_left_out() {
        assert_eq!(fields(&[("a", Some("1".to_owned())), ("longer", None)]), "a       1\n");
    }

    #[test]
    fn any_instant_can_be_told() {
        assert_eq!(instant(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(instant(RFC_3339_MS_END - 1), "9999-12-31T23:59:59.999Z");
        assert_eq!(instant(u64::MAX), "18446744073709551615 ms");
    }

    #[test]
    fn a_length_is_told_to_the_second() {
        assert_eq!(length(250), "250ms");
        assert_eq!(length(61_250), "1m 1s");
        assert_eq!(length(0), "0s");
    }
}
