//! A claim of a signed token (RFC 7519), once its signature, its times and, where asked for, issuer and audience are checked.
//!
//! The algorithm is never the token's choice: a key is used for the algorithms of its own kind alone, and `none` is of no key
//! (RFC 8725, 3.1). Knows no headers. Tests: `tests/tests/principal.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Header, Validation, decode, decode_header};
use serde_json::{Map, Value};

use super::PrincipalError;
use super::keys::{self, JwtKeyError, Key};

/// How far the clocks of issuer and server may differ. Seconds.
pub const LEEWAY_SECONDS: u64 = 30;

/// How tokens are checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JwtOptions {
    /// PEM, JWKS, or `hmac:HEX`.
    pub key_file: PathBuf,
    /// What `iss` must be.
    pub issuer: Option<String>,
    /// What `aud` must hold.
    pub audience: Option<String>,
}

impl JwtOptions {
    /// With the keys of this file, and any issuer and audience.
    #[must_use]
    pub fn new(key_file: impl Into<PathBuf>) -> Self {
        Self { key_file: key_file.into(), issuer: None, audience: None }
    }
}

/// Names callers by a claim of their tokens. Clones share the keys.
#[derive(Clone, Debug)]
pub struct JwtPrincipal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    claim: String,
    keys: Vec<(Key, Validation)>,
}

impl JwtPrincipal {
    /// Reads the keys.
    ///
    /// # Errors
    /// They cannot be used.
    pub fn new(claim: String, options: &JwtOptions) -> Result<Self, JwtKeyError> {
        let keys = keys::read(&options.key_file)?.into_iter().map(|key| {
            let validation = validation(&key, options);
            (key, validation)
        });
        Ok(Self { shared: Arc::new(Shared { claim, keys: keys.collect() }) })
    }

    pub(super) fn principal(&self, token: &[u8]) -> Result<Vec<u8>, PrincipalError> {
        let header = decode_header(token).map_err(|error| refused(&error))?;
        if header.crit.is_some() {
            return Err(PrincipalError::Critical);
        }
        let claims = self.claims(token, &header)?;
        let claim = &self.shared.claim;
        match claims.get(claim) {
            None | Some(Value::Null) => Err(PrincipalError::ClaimAbsent(claim.clone())),
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone().into_bytes()),
            // A number that is not whole, or too large to be exact, could stand for two callers.
            Some(Value::Number(number)) if number.is_u64() || number.is_i64() => Ok(number.to_string().into_bytes()),
            Some(_) => Err(PrincipalError::ClaimForm(claim.clone())),
        }
    }

    fn claims(&self, token: &[u8], header: &Header) -> Result<Map<String, Value>, PrincipalError> {
        let named = |key: &Key| header.kid.is_none() || key.id.is_none() || key.id == header.kid;
        let (mut known, mut tried) = (false, false);
        for (key, validation) in self.shared.keys.iter().filter(|(key, _)| named(key)) {
            known = true;
            if !key.algorithms.contains(&header.alg) {
                continue;
            }
            tried = true;
            match decode::<Map<String, Value>>(token, &key.key, validation) {
                Ok(token) => return Ok(token.claims),
                Err(error) => match refused(&error) {
                    PrincipalError::Signature => {}
                    other => return Err(other),
                },
            }
        }
        Err(match (known, tried) {
            (_, true) => PrincipalError::Signature,
            (true, false) => PrincipalError::Algorithm,
            (false, false) => PrincipalError::Key,
        })
    }
}

fn validation(key: &Key, options: &JwtOptions) -> Validation {
    let mut validation = Validation::default();
    validation.algorithms.clone_from(&key.algorithms);
    validation.leeway = LEEWAY_SECONDS;
    validation.validate_nbf = true;
    validation.validate_aud = options.audience.is_some();
    let mut required = vec!["exp"];
    if let Some(issuer) = &options.issuer {
        validation.set_issuer(&[issuer]);
        required.push("iss");
    }
    if let Some(audience) = &options.audience {
        validation.set_audience(&[audience]);
        required.push("aud");
    }
    validation.set_required_spec_claims(&required);
    validation
}

/// The library's messages may quote the token; these do not.
fn refused(error: &Error) -> PrincipalError {
    match error.kind() {
        ErrorKind::InvalidSignature => PrincipalError::Signature,
        ErrorKind::ExpiredSignature => PrincipalError::Expired,
        ErrorKind::ImmatureSignature => PrincipalError::NotYet,
        ErrorKind::InvalidIssuer => PrincipalError::Issuer,
        ErrorKind::InvalidAudience => PrincipalError::Audience,
        ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => PrincipalError::Algorithm,
        ErrorKind::MissingRequiredClaim(claim) => match claim.as_str() {
            "iss" => PrincipalError::Issuer,
            "aud" => PrincipalError::Audience,
            other => PrincipalError::ClaimAbsent(other.to_owned()),
        },
        ErrorKind::InvalidClaimFormat(claim) => PrincipalError::ClaimForm(claim.clone()),
        _ => PrincipalError::Token,
    }
}
