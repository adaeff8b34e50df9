//! The choice of a principal, as it stands on a command line or in a file.
//!
//! Knows no keys. Tests: below.

use std::fmt;
use std::str::FromStr;

use http::HeaderName;

/// How the caller is named: `none`, `header:NAME`, `basic-user`, `jwt:CLAIM`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PrincipalRule {
    /// Not at all.
    None,
    /// By a header.
    Header(HeaderName),
    /// By the user of `Authorization: Basic`.
    BasicUser,
    /// By a claim of the token in `Authorization: Bearer`.
    Jwt {
        /// Which.
        claim: String,
    },
}

/// A text that is no such choice.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} names no principal{why}: write none, header:NAME, basic-user or jwt:CLAIM")]
pub struct PrincipalRuleError {
    given: String,
    why: &'static str,
}

impl FromStr for PrincipalRule {
    type Err = PrincipalRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = |why| PrincipalRuleError { given: text.to_owned(), why };
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "basic-user" => Ok(Self::BasicUser),
            Some(("header", name)) => match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) => Ok(Self::Header(name)),
                Err(_) => Err(refused(" (what follows header: is no header's name)")),
            },
            Some(("jwt", "")) => Err(refused(" (the claim is missing, as in jwt:sub)")),
            Some(("jwt", claim)) => Ok(Self::Jwt { claim: claim.to_owned() }),
            None | Some(_) => Err(refused("")),
        }
    }
}

impl fmt::Display for PrincipalRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Header(name) => write!(formatter, "header:{name}"),
            Self::BasicUser => formatter.write_str("basic-user"),
            Self::Jwt { claim } => write!(formatter, "jwt:{claim}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_reads_as_it_is_written() {
        for text in ["none", "header:x-account", "basic-user", "jwt:sub", "jwt:https://example.com/account"] {
            assert_eq!(text.parse::<PrincipalRule>().map(|rule| rule.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("header:X-Account".parse::<PrincipalRule>().unwrap().to_string(), "header:x-account");
    }

    #[test]
    fn anything_else_is_refused_with_what_to_write() {
        for text in ["", "None", "header", "header:", "header:a b", "jwt", "jwt:", "basic", "none:x", "cookie:sid"] {
            let error = text.parse::<PrincipalRule>().expect_err(text).to_string();
            assert!(error.ends_with("write none, header:NAME, basic-user or jwt:CLAIM"), "{error}");
        }
    }
}
