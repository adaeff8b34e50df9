//! A JSON reader and writer after RFC 8259, stricter where the contract is: no byte-order mark, no lone surrogate, at most 128
//! levels. Numbers stay the text that they are, since both users must not round them.
//!
//! [`Lexer`] walks a text; [`Value`] is a tree for those who need one. Tests: `keys::canonical`, `packed`.

use alloc::string::String;

mod lexer;
mod value;

pub use lexer::{Lexer, Scalar, Token};
pub use value::Value;

/// Deepest nesting, each array or object one level.
pub const DEPTH_LEVELS_MAX: usize = 128;

/// A text that is no JSON: what is wrong, and at which byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonError {
    /// Offset in bytes.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// Writes a string with the fewest escapes: `"`, `\` and controls below U+0020.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{0}'..='\u{1f}' => {
                out.push_str("\\u00");
                let code = u32::from(character);
                for digit in [code >> 4, code & 0xf] {
                    out.push(char::from_digit(digit, 16).unwrap_or('0'));
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
