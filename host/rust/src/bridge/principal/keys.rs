//! The keys that check a token's signature, from one file. The algorithms of each are those of its kind and no others.
//!
//! A file is one of
//! - PEM: one or more `-----BEGIN PUBLIC KEY-----` (RSA, EC on P-256 or P-384, Ed25519),
//! - JWKS (RFC 7517): `{"keys": [...]}` with keys of the same kinds; others, and those for encryption, are passed over,
//! - an HMAC secret: one line `hmac:` and 64 hex digits or more.
//!
//! Knows no tokens. Tests: `tests/tests/principal.rs`.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use rustls_pki_types::pem::{PemObject, SectionKind};
use serde_json::Value;

use super::spki::{self, Spki};

/// Shortest HMAC secret: the size of SHA-256 (RFC 7518, 3.2). Bytes.
pub const HMAC_SECRET_BYTES_MIN: usize = 32;
/// Smallest RSA key (RFC 7518, 3.3). Bits.
pub const RSA_BITS_MIN: usize = 2_048;
/// Most keys of one file: a token without a key id is tried with each.
pub const KEYS_MAX: usize = 32;

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JwtKeyError {
    /// It cannot be read.
    #[error("cannot read the key file {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It cannot be used.
    #[error("the key file {} {why}", path.display())]
    Unusable {
        /// Which.
        path: PathBuf,
        /// Why, and what to do.
        why: String,
    },
}

/// A key, with the algorithms that it is for.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) id: Option<String>,
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

impl Key {
    fn new(key: DecodingKey, algorithms: &[Algorithm]) -> Self {
        Self { id: None, algorithms: algorithms.to_vec(), key }
    }

    /// Whether the library can read it: a point may not be on its curve.
    fn is_readable(&self) -> bool {
        self.algorithms.iter().all(|algorithm| jsonwebtoken::crypto::verify("", b"", &self.key, *algorithm).is_ok())
    }
}

/// Never empty.
pub(super) fn read(path: &Path) -> Result<Vec<Key>, JwtKeyError> {
    let bytes = std::fs::read(path).map_err(|source| JwtKeyError::Read { path: path.to_owned(), source })?;
    parse(&bytes).map_err(|why| JwtKeyError::Unusable { path: path.to_owned(), why })
}

fn parse(bytes: &[u8]) -> Result<Vec<Key>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not text".to_owned())?.trim();
    let keys = if let Some(hex) = text.strip_prefix("hmac:") {
        vec![hmac(hex.trim())?]
    } else if text.starts_with('{') {
        jwks(text)?
    } else {
        pem(text)?
    };
    if !keys.iter().all(Key::is_readable) {
        return Err("holds a key that is damaged".to_owned());
    }
    if keys.len() > KEYS_MAX {
        return Err(format!("holds {} keys, and {KEYS_MAX} is the most: leave out those that are no longer used", keys.len()));
    }
    Ok(keys)
}

fn hmac(hex: &str) -> Result<Key, String> {
    let digits = hex.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2 && !pair.starts_with('+'))?;
        u8::from_str_radix(pair, 16).ok()
    });
    let secret: Vec<u8> = digits.collect::<Option<_>>().ok_or("does not hold hex digits, two a byte, behind hmac:")?;
    if secret.len() < HMAC_SECRET_BYTES_MIN {
        return Err(format!("holds a secret of {} bytes; {HMAC_SECRET_BYTES_MIN} is the least", secret.len()));
    }
    Ok(Key::new(DecodingKey::from_secret(&secret), AlgorithmFamily::Hmac.algorithms()))
}

fn pem(text: &str) -> Result<Vec<Key>, String> {
    let mut keys = Vec::new();
    for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(text.as_bytes()) {
        // The error could quote a line of a key: it is dropped.
        let (kind, der) = section.map_err(|_| "is not well-formed PEM".to_owned())?;
        match kind {
            SectionKind::PublicKey => keys.push(public_key(&der)?),
            SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey => {
                return Err("holds a private key: keep it where tokens are made, and write the public one here \
                    (openssl pkey -pubout -in FILE)"
                    .to_owned());
            }
            SectionKind::Certificate => {
                return Err("holds a certificate: write its key (openssl x509 -pubkey -noout -in FILE)".to_owned());
            }
            _ => {}
        }
    }
    if keys.is_empty() {
        return Err("holds no key: it must be PEM (-----BEGIN PUBLIC KEY-----), a JWKS, or a line hmac:HEX".to_owned());
    }
    Ok(keys)
}

fn public_key(der: &[u8]) -> Result<Key, String> {
    match spki::read(der) {
        Some(Spki::Rsa { bits, .. }) if bits < RSA_BITS_MIN => {
            Err(format!("holds an RSA key of {bits} bits; {RSA_BITS_MIN} is the least"))
        }
        Some(Spki::Rsa { pkcs_1, .. }) => Ok(Key::new(DecodingKey::from_rsa_der(pkcs_1), AlgorithmFamily::Rsa.algorithms())),
        Some(Spki::P256(point)) => Ok(Key::new(DecodingKey::from_ec_der(point), &[Algorithm::ES256])),
        Some(Spki::P384(point)) => Ok(Key::new(DecodingKey::from_ec_der(point), &[Algorithm::ES384])),
        Some(Spki::Ed25519(key)) => Ok(Key::new(DecodingKey::from_ed_der(key), &[Algorithm::EdDSA])),
        None => Err("holds a public key of a kind that is not known: RSA, EC on P-256 or P-384, and Ed25519 are".to_owned()),
    }
}

fn jwks(text: &str) -> Result<Vec<Key>, String> {
    let set: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON (line {})", error.line()))?;
    let listed = match set.get("keys") {
        Some(Value::Array(keys)) => keys.iter().collect(),
        Some(_) => return Err("is no JWKS: \"keys\" is not a list".to_owned()),
        None => vec![&set],
    };
    if listed.iter().any(|key| key.get("d").is_some()) {
        return Err("holds a private key (\"d\"): keep it where tokens are made, and write the public part here".to_owned());
    }
    let keys: Vec<Key> = listed.into_iter().filter_map(jwk).collect();
    if keys.is_empty() {
        let kinds = "RSA of 2048 bits or more, EC on P-256 or P-384, Ed25519";
        return Err(format!("holds no key that can check a signature ({kinds}); a shared secret is written as hmac:HEX"));
    }
    Ok(keys)
}

/// `None` for a key that is not for signatures, or of a kind that is not known: an issuer may publish such beside the others.
fn jwk(value: &Value) -> Option<Key> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let lists_verify = |operations: &Vec<Value>| operations.iter().any(|operation| operation == "verify");
    let for_signatures = text("use").is_none_or(|used_for| used_for == "sig")
        && value.get("key_ops").and_then(Value::as_array).is_none_or(lists_verify);
    let kind: &[Algorithm] = match (text("kty")?, text("crv")) {
        ("RSA", _) => {
            let modulus = URL_SAFE_NO_PAD.decode(text("n")?).ok()?;
            if spki::bits_of(&modulus) >= RSA_BITS_MIN { AlgorithmFamily::Rsa.algorithms() } else { &[] }
        }
        ("EC", Some("P-256")) => &[Algorithm::ES256],
        ("EC", Some("P-384")) => &[Algorithm::ES384],
        ("OKP", Some("Ed25519")) => &[Algorithm::EdDSA],
        _ => &[],
    };
    let algorithms: Vec<Algorithm> = match text("alg") {
        Some(name) => {
            kind.iter().copied().filter(|algorithm| name.parse().is_ok_and(|named: Algorithm| named == *algorithm)).collect()
        }
        None => kind.to_vec(),
    };
    if !for_signatures || algorithms.is_empty() {
        return None;
    }
    let parsed: Jwk = serde_json::from_value(value.clone()).ok()?;
    let key = DecodingKey::from_jwk(&parsed).ok()?;
    Some(Key { id: text("kid").map(str::to_owned), algorithms, key })
}
