//! Measures two shapes of a decision call in WIT: tokens as text, and as four u64.

fn main() {}
