//! Decisions over a pipe.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use leasehold_tests::binary::program;

use super::vectors::{lines, vectors};

#[test]
fn every_line_but_a_blank_one_has_an_answer_and_a_bad_one_stops_nothing() {
    let good = lines("lease-1.jsonl").remove(0);
    let input = ["", &good, "{", "  ", "{\"args\":{}}", "nonsense \u{fffd}", &good].join("\n");
    let said = program(&["decide"]).input(input).done();
    let answers: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 5, "{said}");
    assert_eq!(answers[0]["outcome"]["kind"], "missing");
    for answer in &answers[1..4] {
        assert!(answer["error"]["at"].is_string() && answer["error"]["what"].is_string(), "{answer}");
    }
    assert_eq!(answers[4], answers[0]);
    let bytes = [b"\xff\n".as_slice(), good.as_bytes()].concat();
    assert_eq!(program(&["decide"]).input(bytes).done().lines().count(), 2);
    assert_eq!(program(&["decide"]).done(), "");
}

/// It said "answers each with a line", and a reader that counted lines waited for an answer to a blank one.
#[test]
fn the_help_says_that_a_blank_line_has_no_answer() {
    let help = program(&["decide", "--help"]).done();
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("A blank line is passed over, without an answer"), "{help}");
}

#[test]
fn the_component_and_the_native_code_answer_alike() {
    let input = lines("edges-1.jsonl").join("\n");
    let component = program(&["decide"]).input(input.clone()).done();
    assert_eq!(component, program(&["decide", "--native"]).input(input).done());
    for (vector, answer) in vectors("edges-1.jsonl").iter().zip(component.lines()) {
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        assert_eq!((&answer["outcome"]["kind"], &answer["after"]), (&vector["outcome"]["kind"], &vector["after"]));
    }
}

#[test]
fn an_answer_is_there_before_the_next_line_is_written() {
    let mut child = program(&["decide"]).start();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for line in lines("lease-1.jsonl").iter().take(3) {
        writeln!(input, "{line}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.starts_with("{\"outcome\":"), "{answer}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = program(&["decide", "--native"]).start();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let line = lines("lease-1.jsonl").remove(0) + "\n";
    // Until the pipe is closed from the other side, too.
    while input.write_all(line.as_bytes()).is_ok() {}
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(child.wait().unwrap().success(), "{told}");
    assert_eq!(told, "");
}
