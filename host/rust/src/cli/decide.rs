//! `leasehold decide`: decisions over a pipe, for programs in any language.
//!
//! What a document and an answer are is said by [`leasehold_decision::packed`]. Tests: below, and `tests/tests/cli/`.

use std::io::{BufRead, Read as _};
use std::process::ExitCode;

use serde_json::json;

use super::open::code_cache;
use super::{CliError, Outcome, output};
use crate::component::{CallError, Component};

/// Longest document, in bytes.
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;

/// Decide documents on standard input
///
/// Reads packed documents, a line each (`family`, `scope`, `settings`, `before`, `call`, `args` of a test vector), and answers each
/// with a line on standard output: `outcome`, `write` and `after`; or `error`, where the line is no such document. A blank line is
/// passed over, without an answer. An answer is written before the next line is read. No store is involved.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    /// Decide by the code that is compiled in, not by the component
    #[arg(long)]
    native: bool,
}

const EXAMPLE: &str = "\
Example:
  head -n 1 tests/vectors/lease-1.jsonl | leasehold decide";

/// Answers until the input ends.
pub(super) fn run(args: &Args) -> Outcome {
    let component = if args.native { None } else { Some(Component::built_in(&code_cache())?) };
    let decide = |document: &str| match &component {
        Some(component) => component.packed(document),
        None => Ok(leasehold_decision::packed::packed(document)),
    };
    let mut input = std::io::stdin().lock();
    while let Some(line) = next(&mut input).map_err(CliError::Input)? {
        if let Some(answer) = answer(&line, decide) {
            output::line(&answer)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A line of the input, without its end.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// Longer than a document may be; passed over.
    TooLong,
}

fn next(input: &mut impl BufRead) -> std::io::Result<Option<Line>> {
    let mut line = Vec::new();
    let most = DOCUMENT_BYTES_MAX.saturating_add(1);
    input.by_ref().take(most).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_none() && line.len() as u64 == most {
        skip_line(input)?;
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(Line::Whole(line)))
}

/// What is left of a line, without holding it.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let held = input.fill_buf()?;
        let end = held.iter().position(|byte| *byte == b'\n');
        let (taken, done) = (end.map_or(held.len(), |end| end.saturating_add(1)), end.is_some() || held.is_empty());
        input.consume(taken);
        if done {
            return Ok(());
        }
    }
}

/// The answer to a line; none to a blank one.
fn answer(line: &Line, decide: impl FnOnce(&str) -> Result<String, CallError>) -> Option<String> {
    let fault = |at: &str, what: &str| json!({ "error": { "at": at, "what": what } }).to_string();
    let Line::Whole(bytes) = line else {
        return Some(fault("line", &format!("is longer than {DOCUMENT_BYTES_MAX} bytes")));
    };
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    Some(match std::str::from_utf8(bytes) {
        Ok(document) => decide(document).unwrap_or_else(|error| fault("component", &error.to_string())),
        Err(error) => fault(&format!("byte {}", error.valid_up_to()), "is not UTF-8"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<Line> {
        let mut input = std::io::BufReader::with_capacity(16, input);
        std::iter::from_fn(|| next(&mut input).unwrap()).collect()
    }

    #[test]
    fn a_line_ends_with_its_end_or_with_the_input() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"a\n\nb"), [whole("a"), whole(""), whole("b")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let most = usize::try_from(DOCUMENT_BYTES_MAX).unwrap();
        let input = [vec![b'x'; most].as_slice(), b"\n", vec![b'y'; most + 1].as_slice(), b"\nz\n"].concat();
        assert_eq!(lines(&input), [Line::Whole(vec![b'x'; most]), Line::TooLong, Line::Whole(b"z".to_vec())]);
        assert_eq!(lines(&vec![b'y'; most + 1]), [Line::TooLong]);
    }

    #[test]
    fn every_line_but_a_blank_one_has_an_answer() {
        let echo = |document: &str| Ok(document.to_owned());
        assert_eq!(answer(&Line::Whole(b" \t\r".to_vec()), echo), None);
        assert_eq!(answer(&Line::Whole(b"{}".to_vec()), echo).as_deref(), Some("{}"));
        let told = |line: Line| answer(&line, |_| Err(CallError::Trapped("why".to_owned()))).unwrap();
        assert_eq!(told(Line::Whole(b"a\xff".to_vec())), r#"{"error":{"at":"byte 1","what":"is not UTF-8"}}"#);
        assert!(told(Line::Whole(b"{}".to_vec())).starts_with(r#"{"error":{"at":"component","what":"#));
        assert!(told(Line::TooLong).starts_with(r#"{"error":{"at":"line","what":"#));
    }
}
