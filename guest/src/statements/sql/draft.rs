//! A statement while it is put together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::spelling::Spelling;
use crate::statements::{Statement, StatementKind};

/// A statement under construction: text with parameters, and where each comes from.
pub(super) struct Draft {
    sql: Spelling,
    text: String,
    binds: Vec<String>,
}

impl Draft {
    #[inline(never)]
    pub(super) const fn new(sql: Spelling) -> Self {
        Self { sql, text: String::new(), binds: Vec::new() }
    }

    /// Adds a text, in which `@SOURCE` stands for a parameter, and `@clock` for the store's clock.
    #[inline(never)]
    pub(super) fn push(mut self, text: &str) -> Self {
        let mut rest = text;
        while let Some((before, marked)) = rest.split_once('@') {
            self.text.push_str(before);
            let end = marked.find(|c: char| !(c.is_ascii_lowercase() || c == '.' || c == '-')).unwrap_or(marked.len());
            let (name, after) = marked.split_at(end);
            if name == "clock" {
                self.text.push_str(self.sql.clock())
            } else {
                self.bind(name)
            }
            rest = after;
        }
        self.text.push_str(rest);
        self
    }

    /// A parameter. Where they are numbered, one source has one parameter.
    fn bind(&mut self, source: &str) {
        let known = self.binds.iter().position(|known| known == source).filter(|_| self.sql != Spelling::Mysql);
        if known.is_none() {
            self.binds.push(source.to_string());
        }
        let number = known.map_or(self.binds.len(), |at| at.saturating_add(1));
        match self.sql {
            Spelling::Sqlite => self.text.push_str(&format!("?{number}")),
            Spelling::Postgres => self.text.push_str(&format!("${number}")),
            Spelling::Mysql => self.text.push('?'),
        }
    }

    #[inline(never)]
    pub(super) fn done(self, id: &str, kind: StatementKind) -> Statement {
        Statement { id: id.to_string(), kind, text: self.text, binds: self.binds }
    }
}
