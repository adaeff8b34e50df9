//! The walk over a JSON text. Knows nothing of what is made of it.

use alloc::string::String;

use super::{DEPTH_LEVELS_MAX, JsonError};

/// A value without members or elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// As written.
    Number(&'a str),
    /// Without its escapes.
    String(String),
}

/// What a value begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    /// It is this.
    Scalar(Scalar<'a>),
    /// `[`: [`Lexer::element`] leads through it.
    ArrayStart,
    /// `{`: [`Lexer::member`] leads through it.
    ObjectStart,
}

/// A position in a JSON text.
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Lexer<'a> {
    /// At the start of a text.
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    fn error(&self, what: &'static str) -> JsonError {
        JsonError { at: self.at, what }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.advance(1);
        }
        found
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.advance(1);
        }
    }

    /// Whether nothing but white space is left.
    pub fn at_end(&mut self) -> bool {
        self.skip_white_space();
        self.peek().is_none()
    }

    /// The next value, or its beginning.
    ///
    /// # Errors
    /// There is none.
    pub fn value(&mut self) -> Result<Token<'a>, JsonError> {
        self.skip_white_space();
        match self.peek() {
            Some(b'"') => Ok(Token::Scalar(Scalar::String(self.string()?))),
            Some(b'-' | b'0'..=b'9') => Ok(Token::Scalar(Scalar::Number(self.number()?))),
            Some(b'[') => self.enter(Token::ArrayStart),
            Some(b'{') => self.enter(Token::ObjectStart),
            Some(b'n') => self.literal("null", Scalar::Null),
            Some(b't') => self.literal("true", Scalar::Bool(true)),
            Some(b'f') => self.literal("false", Scalar::Bool(false)),
            Some(_) | None => Err(self.error("a value is expected")),
        }
    }

    fn enter(&mut self, token: Token<'a>) -> Result<Token<'a>, JsonError> {
        if self.depth >= DEPTH_LEVELS_MAX {
            return Err(self.error("nested deeper than 128 levels"));
        }
        self.depth = self.depth.saturating_add(1);
        self.advance(1);
        Ok(token)
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn literal(&mut self, word: &'static str, scalar: Scalar<'a>) -> Result<Token<'a>, JsonError> {
        if self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            self.advance(word.len());
            return Ok(Token::Scalar(scalar));
        }
        Err(self.error("a value is expected"))
    }

    /// Whether another element follows in the array that was entered. `first` starts as true.
    ///
    /// # Errors
    /// Neither a comma nor the end follows.
    pub fn element(&mut self, first: &mut bool) -> Result<bool, JsonError> {
        self.skip_white_space();
        if self.take(b']') {
            self.leave();
            return Ok(false);
        }
        if !core::mem::take(first) && !self.take(b',') {
            return Err(self.error("',' or ']' is expected"));
        }
        Ok(true)
    }

    /// The name of the next member of the object that was entered. `first` starts as true.
    ///
    /// # Errors
    /// Neither a member nor the end follows.
    pub fn member(&mut self, first: &mut bool) -> Result<Option<String>, JsonError> {
        self.skip_white_space();
        if self.take(b'}') {
            self.leave();
            return Ok(None);
        }
        if !core::mem::take(first) && !self.take(b',') {
            return Err(self.error("',' or '}' is expected"));
        }
        self.skip_white_space();
        if self.peek() != Some(b'"') {
            return Err(self.error("a member's name is expected"));
        }
        let name = self.string()?;
        self.skip_white_space();
        if !self.take(b':') {
            return Err(self.error("':' is expected"));
        }
        Ok(Some(name))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.error("a digit is expected"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.advance(1);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, JsonError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        self.text.get(start..self.at).ok_or(JsonError { at: start, what: "a number is expected" })
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.advance(1);
        let mut out = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.advance(1);
            }
            out.push_str(self.text.get(start..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.advance(1);
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.advance(1);
                    out.push(self.escape()?);
                }
                Some(_) => return Err(self.error("a control character in a string")),
                None => return Err(self.error("a string without an end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let escaped = self.peek();
        self.advance(1);
        match escaped {
            Some(b'"') => Ok('"'),
            Some(b'\\') => Ok('\\'),
            Some(b'/') => Ok('/'),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode(),
            Some(_) | None => Err(self.error("an unknown escape")),
        }
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let unit = self.unit()?;
        let code = match unit {
            0xd800..=0xdbff => {
                if !(self.take(b'\\') && self.take(b'u')) {
                    return Err(self.error("a lone surrogate"));
                }
                let low = self.unit()?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(self.error("a lone surrogate"));
                }
                let pair = ((unit & 0x3ff) << 10) | (low & 0x3ff);
                pair.saturating_add(0x1_0000)
            }
            _ => unit,
        };
        char::from_u32(code).ok_or_else(|| self.error("a lone surrogate"))
    }

    fn unit(&mut self) -> Result<u32, JsonError> {
        let mut unit = 0u32;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.error("four hex digits are expected"));
            };
            unit = (unit << 4) | digit;
            self.advance(1);
        }
        Ok(unit)
    }
}
