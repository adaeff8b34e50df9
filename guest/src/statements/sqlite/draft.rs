//! A statement while it is put together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::statements::{Statement, StatementKind};

/// A statement under construction: text with numbered parameters, and where each comes from.
pub(super) struct Draft {
    text: String,
    binds: Vec<String>,
}

impl Draft {
    #[inline(never)]
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_string(), binds: Vec::new() }
    }

    #[inline(never)]
    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    #[inline(never)]
    pub(super) fn bind(&mut self, source: &str) -> &mut Self {
        self.binds.push(source.to_string());
        let number = self.binds.len();
        self.text.push_str(&format!("?{number}"));
        self
    }

    #[inline(never)]
    pub(super) fn value(&mut self, source: Option<&str>) -> &mut Self {
        match source {
            Some(source) => self.bind(source),
            None => self.push("NULL"),
        }
    }

    #[inline(never)]
    pub(super) fn done(self, id: &str, kind: StatementKind) -> Statement {
        Statement { id: id.to_string(), kind, text: self.text, binds: self.binds }
    }
}
