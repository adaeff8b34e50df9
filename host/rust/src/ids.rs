//! Owner, scope, fingerprint, operation and transition: parsed once, at the edge, or drawn here.
//!
//! Knows nothing of stores or decisions. Tests: below.

use std::fmt;

use leasehold_decision::{Token, keys};

/// Random bytes of an owner token.
const OWNER_BYTES: usize = 32;
/// Random bytes of an operation or transition id: 120 bits, whose hex (30 digits) packs without a hash.
const ID_BYTES: usize = 15;

/// The operating system has no randomness to give: nothing can be claimed without it.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gives no random bytes: {0}")]
pub struct NoRandomness(String);

fn random_hex<const BYTES: usize>() -> Result<String, NoRandomness> {
    let mut bytes = [0u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| NoRandomness(error.to_string()))?;
    Ok(keys::hex(&bytes))
}

/// A text that is not of the form its kind needs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {expected}")]
pub struct Malformed {
    what: &'static str,
    expected: &'static str,
}

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The text as it is stored.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

text_type! {
    /// The key of a record: what must happen at most once. A keyed hash (section 5 of the contract), or an id of the caller's own.
    Scope
}
text_type! {
    /// Who holds a record: 64 lowercase hex digits, drawn for each claim call before it is sent, and kept for its repeats.
    Owner
}
text_type! {
    /// The caller's id of one claim call.
    OperationId
}
text_type! {
    /// The id of one transition: drawn at random before it is sent, and sent again when its answer is lost.
    TransitionId
}
text_type! {
    /// Keyed hash of a payload: 64 lowercase hex digits.
    Fingerprint
}
text_type! {
    /// SHA-256 of a stored result: 64 lowercase hex digits.
    Digest
}

/// Longest scope, operation id or transition id, in bytes: what every store's key column holds.
pub const ID_BYTES_MAX: usize = 255;

fn plain(what: &'static str, text: &str) -> Result<String, Malformed> {
    if (1..=ID_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(Malformed { what, expected: "1 to 255 bytes without control characters" })
    }
}

fn hex64(what: &'static str, text: &str) -> Result<String, Malformed> {
    match Token::from_hex(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(Malformed { what, expected: "64 lowercase hex digits" }),
    }
}

impl Scope {
    /// A scope of the caller's own, or one that was computed before.
    ///
    /// # Errors
    /// It is empty, longer than 255 bytes, or has control characters.
    pub fn new(text: &str) -> Result<Self, Malformed> {
        plain("scope", text).map(Self)
    }

    /// The operation code in a computed scope (`d1:CODE:HASH`).
    #[must_use]
    pub fn operation_code(&self) -> Option<&str> {
        let (version, rest) = self.0.split_once(':')?;
        version.strip_prefix('d').filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))?;
        rest.rsplit_once(':').map(|(code, _)| code)
    }
}

impl Owner {
    /// A fresh one.
    ///
    /// # Errors
    /// The operating system gives no random bytes.
    pub fn random() -> Result<Self, NoRandomness> {
        random_hex::<OWNER_BYTES>().map(Self)
    }

    /// One that was drawn before.
    ///
    /// # Errors
    /// It is not 64 lowercase hex digits.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        hex64("owner", text).map(Self)
    }
}

impl OperationId {
    /// A fresh one.
    ///
    /// # Errors
    /// The operating system gives no random bytes.
    pub fn random() -> Result<Self, NoRandomness> {
        random_hex::<ID_BYTES>().map(Self)
    }

    /// One of the caller's own.
    ///
    /// # Errors
    /// It is empty, longer than 255 bytes, or has control characters.
    pub fn new(text: &str) -> Result<Self, Malformed> {
        plain("operation", text).map(Self)
    }
}

impl TransitionId {
    /// A fresh one.
    ///
    /// # Errors
    /// The operating system gives no random bytes.
    pub fn random() -> Result<Self, NoRandomness> {
        random_hex::<ID_BYTES>().map(Self)
    }
}

impl Fingerprint {
    /// One that was computed before.
    ///
    /// # Errors
    /// It is not 64 lowercase hex digits.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        hex64("fingerprint", text).map(Self)
    }
}

impl Digest {
    /// Of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(keys::digest(bytes))
    }

    /// One that was computed before.
    ///
    /// # Errors
    /// It is not 64 lowercase hex digits.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        hex64("digest", text).map(Self)
    }
}

pub(crate) fn token(hex: &str) -> Token {
    // INVARIANT: the types above hold 64 lowercase hex digits wherever a token is meant.
    Token::from_hex(hex).unwrap_or(Token::from_words([0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_random_and_of_their_form() {
        let (one, other) = (Owner::random().unwrap(), Owner::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(Owner::parse(one.as_str()), Ok(one));
        assert_eq!(TransitionId::random().unwrap().as_str().len(), 30);
    }

    #[test]
    fn texts_of_another_form_are_refused() {
        assert!(Owner::parse("AB").is_err());
        assert!(Scope::new("").is_err());
        assert!(Scope::new(&"s".repeat(255)).is_ok());
        assert!(Scope::new(&"s".repeat(256)).is_err());
        assert!(OperationId::new("a\nb").is_err());
    }

    #[test]
    fn the_operation_code_stands_in_a_computed_scope() {
        let code = |text: &str| Scope::new(text).unwrap().operation_code().map(str::to_owned);
        assert_eq!(code("d1:http:00ff").as_deref(), Some("http"));
        assert_eq!(code("order-17"), None);
        assert_eq!(code("dx:http:00ff"), None);
    }
}
