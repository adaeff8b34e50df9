//! A JSON text as a tree.

use alloc::string::String;
use alloc::vec::Vec;

use super::{JsonError, Lexer, Scalar, Token};

/// A value of a JSON text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value<'a> {
    /// Null, a bool, a number or a string.
    Scalar(Scalar<'a>),
    /// The elements, in their order.
    Array(Vec<Value<'a>>),
    /// The members, in their order. A name may stand twice.
    Object(Vec<(String, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Reads a whole text.
    ///
    /// # Errors
    /// The text is no JSON.
    pub fn parse(text: &'a str) -> Result<Self, JsonError> {
        let mut lexer = Lexer::new(text);
        let value = Self::read(&mut lexer)?;
        if lexer.at_end() { Ok(value) } else { Err(JsonError { at: text.len(), what: "something stands behind the document" }) }
    }

    fn read(lexer: &mut Lexer<'a>) -> Result<Self, JsonError> {
        match lexer.value()? {
            Token::Scalar(scalar) => Ok(Self::Scalar(scalar)),
            Token::ArrayStart => {
                let mut elements = Vec::new();
                let mut first = true;
                while lexer.element(&mut first)? {
                    elements.push(Self::read(lexer)?);
                }
                Ok(Self::Array(elements))
            }
            Token::ObjectStart => {
                let mut members = Vec::new();
                let mut first = true;
                while let Some(name) = lexer.member(&mut first)? {
                    members.push((name, Self::read(lexer)?));
                }
                Ok(Self::Object(members))
            }
        }
    }

    /// The member of that name; `None` where it is absent or null, or where this is no object.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(given, _)| given == name).map(|(_, value)| value).filter(|value| !value.is_null())
            }
            Self::Scalar(_) | Self::Array(_) => None,
        }
    }

    /// Whether it is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(Scalar::Null))
    }
}
