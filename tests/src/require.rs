//! What a test needs from outside, and what it says where that is missing.

use std::io::Write as _;

/// Says that what is missing is an error.
const REQUIRE: &str = "LEASEHOLD_REQUIRE_SERVERS";

/// Says aloud that a test is skipped, what is missing, and how it is had.
///
/// # Panics
/// What is missing must be there.
pub fn skipped(missing: &str, how: &str) {
    assert!(std::env::var_os(REQUIRE).is_none_or(|value| value != "1"), "no {missing}, though {REQUIRE} is 1 ({how})");
    // Past the test harness, which keeps what is printed to itself.
    let _ = writeln!(std::io::stderr(), "skipped: no {missing} ({how})");
}
