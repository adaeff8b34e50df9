//! Who asks: the same key from two principals is two keys.
//!
//! | module | what lives there |
//! | --- | --- |
//! | [`rule`] | the choice, as a text: `none`, `header:NAME`, `basic-user`, `jwt:CLAIM` |
//! | [`jwt`] | a token's claim, once its signature is checked |
//! | [`keys`] | the keys that check signatures |
//! | [`spki`] | public keys in DER |
//!
//! A principal is looked at here and goes into a keyed hash; it is never stored, and never in a message. Knows no routes. Tests:
//! below, in the modules, and `tests/tests/principal.rs`.

mod jwt;
mod keys;
mod rule;
mod spki;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};

pub use self::jwt::{JwtOptions, JwtPrincipal, LEEWAY_SECONDS};
pub use self::keys::{HMAC_SECRET_BYTES_MIN, JwtKeyError, KEYS_MAX, RSA_BITS_MIN};
pub use self::rule::{PrincipalRule, PrincipalRuleError};

/// How the caller is named.
#[derive(Clone, Debug)]
pub enum Principal {
    /// Not at all: the key alone counts.
    None,
    /// By a header that a trusted gateway sets (and takes away where a client sends it).
    Header(HeaderName),
    /// By the user of `Authorization: Basic`. Its password is the upstream's business.
    BasicUser,
    /// By a claim of the token in `Authorization: Bearer`.
    Jwt(JwtPrincipal),
}

/// Why a rule and its keys do not go together.
#[derive(Debug, thiserror::Error)]
pub enum PrincipalSetupError {
    /// `jwt:` without keys.
    #[error("jwt:{claim} needs keys to check signatures with: name a file of public keys (PEM or JWKS) or of an hmac: secret")]
    KeysMissing {
        /// The claim.
        claim: String,
    },
    /// Keys without `jwt:`.
    #[error("there are keys for tokens, but the principal is {rule}: write jwt:CLAIM, or leave the keys out")]
    KeysUnused {
        /// The rule.
        rule: PrincipalRule,
    },
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] JwtKeyError),
}

/// Why a request names nobody. The messages go to the client, and hold nothing that it sent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PrincipalError {
    /// The header is not there, or empty.
    #[error("the header {0} is missing: it names the caller")]
    Absent(HeaderName),
    /// It is there more than once.
    #[error("the header {0} is there more than once: who asks cannot be told")]
    Doubled(HeaderName),
    /// Another scheme than the one that is asked for.
    #[error("the Authorization header is not of the scheme {0}")]
    Scheme(&'static str),
    /// Not base64 of `user:password`, or the user is empty.
    #[error("the Basic credentials are not the base64 form of USER:PASSWORD, with a user")]
    Basic,
    /// It is no token.
    #[error("the token is not a signed JWT in compact form")]
    Token,
    /// It has extensions that must be understood, and are not.
    #[error("the token has a critical extension that is not understood here")]
    Critical,
    /// No key of this server has the id that the token names.
    #[error("the token names a key that is not known here")]
    Key,
    /// None of the keys is of this algorithm's kind.
    #[error("the token is signed by an algorithm that none of the keys known here is for")]
    Algorithm,
    /// The signature is not that of any key.
    #[error("the token's signature is not valid")]
    Signature,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come.
    #[error("the token is not valid yet")]
    NotYet,
    /// By another issuer.
    #[error("the token is of another issuer, or names none")]
    Issuer,
    /// For another audience.
    #[error("the token is for another audience, or names none")]
    Audience,
    /// A claim is missing.
    #[error("the token lacks the claim {0:?}")]
    ClaimAbsent(String),
    /// A claim is of another form.
    #[error("the token's claim {0:?} is of a form that is not taken (text that is not empty, or a whole number)")]
    ClaimForm(String),
}

impl Principal {
    /// Puts a rule and, for `jwt:`, its keys together. Reads the key file.
    ///
    /// # Errors
    /// Keys are missing, left over, or cannot be used.
    pub fn new(rule: PrincipalRule, keys: Option<&JwtOptions>) -> Result<Self, PrincipalSetupError> {
        match (rule, keys) {
            (PrincipalRule::Jwt { claim }, Some(options)) => Ok(Self::Jwt(JwtPrincipal::new(claim, options)?)),
            (PrincipalRule::Jwt { claim }, None) => Err(PrincipalSetupError::KeysMissing { claim }),
            (rule, Some(_)) => Err(PrincipalSetupError::KeysUnused { rule }),
            (PrincipalRule::None, None) => Ok(Self::None),
            (PrincipalRule::Header(name), None) => Ok(Self::Header(name)),
            (PrincipalRule::BasicUser, None) => Ok(Self::BasicUser),
        }
    }

    /// The caller's name, as bytes; empty for [`Principal::None`].
    ///
    /// # Errors
    /// The request names nobody that can be believed.
    pub fn extract(&self, headers: &HeaderMap) -> Result<Vec<u8>, PrincipalError> {
        match self {
            Self::None => Ok(Vec::new()),
            Self::Header(name) => only(headers, name).map(|value| value.as_bytes().to_vec()),
            Self::BasicUser => basic_user(credentials(headers, "Basic")?),
            Self::Jwt(jwt) => jwt.principal(credentials(headers, "Bearer")?),
        }
    }

    /// What a 401 says in `WWW-Authenticate`.
    #[must_use]
    pub const fn challenge(&self) -> Option<&'static str> {
        match self {
            Self::None | Self::Header(_) => None,
            Self::BasicUser => Some("Basic realm=\"leasehold\", charset=\"UTF-8\""),
            Self::Jwt(_) => Some("Bearer"),
        }
    }
}

/// The value of a header that must be there once, and not be empty.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<&'a HeaderValue, PrincipalError> {
    let mut lines = headers.get_all(name).iter();
    match (lines.next(), lines.next()) {
        (Some(value), None) if !value.as_bytes().trim_ascii().is_empty() => Ok(value),
        (Some(_) | None, None) => Err(PrincipalError::Absent(name.clone())),
        (_, Some(_)) => Err(PrincipalError::Doubled(name.clone())),
    }
}

/// What stands behind the scheme (RFC 9110, 11.4: its name in any case, then spaces).
fn credentials<'a>(headers: &'a HeaderMap, scheme: &'static str) -> Result<&'a [u8], PrincipalError> {
    let value = only(headers, &AUTHORIZATION)?.as_bytes().trim_ascii();
    match value.split_at_checked(scheme.len()) {
        Some((named, rest)) if named.eq_ignore_ascii_case(scheme.as_bytes()) && rest.starts_with(b" ") => Ok(rest.trim_ascii()),
        Some(_) | None => Err(PrincipalError::Scheme(scheme)),
    }
}

fn basic_user(encoded: &[u8]) -> Result<Vec<u8>, PrincipalError> {
    let decoded = STANDARD.decode(encoded).map_err(|_| PrincipalError::Basic)?;
    let colon = decoded.iter().position(|byte| *byte == b':');
    match colon.and_then(|end| decoded.get(..end)) {
        Some(user) if !user.is_empty() => Ok(user.to_vec()),
        Some(_) | None => Err(PrincipalError::Basic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    fn of(rule: &str) -> Principal {
        Principal::new(rule.parse().unwrap(), None).unwrap()
    }

    fn check(rule: &str, lines: &[(&'static str, &[u8])], expected: Result<&[u8], PrincipalError>) {
        assert_eq!(of(rule).extract(&headers(lines)), expected.map(<[u8]>::to_vec), "{rule}");
    }

    #[test]
    fn nobody_in_particular() {
        check("none", &[("authorization", b"Basic x")], Ok(b""));
    }

    #[test]
    fn a_header_names_the_caller() {
        let name = || HeaderName::from_static("x-account");
        check("header:X-Account", &[("x-account", b"acme \xe9")], Ok(b"acme \xe9"));
        check("header:x-account", &[], Err(PrincipalError::Absent(name())));
        check("header:x-account", &[("x-account", b"")], Err(PrincipalError::Absent(name())));
        check("header:x-account", &[("x-account", b"a"), ("x-account", b"a")], Err(PrincipalError::Doubled(name())));
    }

    #[test]
    fn a_user_names_the_caller() {
        let basic = |value: &'static [u8], expected| check("basic-user", &[("authorization", value)], expected);
        basic(b"Basic YWxpY2U6c2VjcmV0", Ok(b"alice"));
        basic(b"bASIC   YWxpY2U6YTpi", Ok(b"alice"));
        basic(b"Basic YWxpY2U6", Ok(b"alice"));
        basic(b"Basic YWxpY2U=", Err(PrincipalError::Basic));
        basic(b"Basic OnNlY3JldA==", Err(PrincipalError::Basic));
        basic(b"Basic !", Err(PrincipalError::Basic));
        basic(b"Basic", Err(PrincipalError::Scheme("Basic")));
        basic(b"BasicYWxpY2U6", Err(PrincipalError::Scheme("Basic")));
        basic(b"Bearer YWxpY2U6", Err(PrincipalError::Scheme("Basic")));
        check("basic-user", &[], Err(PrincipalError::Absent(AUTHORIZATION)));
        let twice: [(&str, &[u8]); 2] = [("authorization", b"Basic YWxpY2U6"), ("authorization", b"Basic Ym9iOg==")];
        check("basic-user", &twice, Err(PrincipalError::Doubled(AUTHORIZATION)));
    }

    #[test]
    fn no_message_holds_what_was_sent() {
        for value in [b"Basic c2VjcmV0".as_slice(), b"secret", b"Bearer secret"] {
            let error = of("basic-user").extract(&headers(&[("authorization", value)])).unwrap_err().to_string();
            assert!(!error.contains("secret") && !error.contains("c2VjcmV0"), "{error}");
        }
    }

    #[test]
    fn keys_and_rule_must_go_together() {
        let keys = JwtOptions::new("/nowhere/keys.pem");
        let setup = |rule: &str, keys| Principal::new(rule.parse().unwrap(), keys).unwrap_err();
        assert!(matches!(setup("jwt:sub", None), PrincipalSetupError::KeysMissing { .. }));
        assert!(matches!(setup("basic-user", Some(&keys)), PrincipalSetupError::KeysUnused { .. }));
        assert!(matches!(setup("jwt:sub", Some(&keys)), PrincipalSetupError::Keys(JwtKeyError::Read { .. })));
    }
}
