//! A claim of a token names the caller, once everything about the token was checked. The RSA tokens under `fixtures/jwt/` were
//! signed by openssl, whose private key was thrown away; the others are signed here.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use leasehold::bridge::principal::{JwtOptions, LEEWAY_SECONDS, Principal, PrincipalError};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PublicKeyData};
use serde_json::{Value, json};
use tempfile::TempDir;

const SECRET: &[u8] = &[0x5a; 32];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/jwt").join(name)
}

/// A folder for key files.
struct Keys(TempDir);

impl Keys {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, text: &str) -> JwtOptions {
        let path = self.0.path().join(format!("key-{}", std::fs::read_dir(self.0.path()).unwrap().count()));
        std::fs::write(&path, text).unwrap();
        JwtOptions::new(path)
    }

    fn hmac(&self) -> JwtOptions {
        self.file(&format!("hmac:{}\n", "5a".repeat(32)))
    }
}

fn principal(claim: &str, options: &JwtOptions) -> Principal {
    Principal::new(format!("jwt:{claim}").parse().unwrap(), Some(options)).unwrap()
}

fn bearer(principal: &Principal, token: &str) -> Result<String, PrincipalError> {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
    principal.extract(&headers).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Claims that are in order, and those of a test on top.
fn claims(more: Value) -> Value {
    let mut claims = json!({"sub": "acme", "exp": now() + 600});
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claims
}

fn hs256(claims: &Value) -> String {
    encode(&Header::new(Algorithm::HS256), claims, &EncodingKey::from_secret(SECRET)).unwrap()
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

// Keys of every kind.

struct Pair {
    private: EncodingKey,
    algorithm: Algorithm,
    pem: String,
    jwk: Value,
}

fn pairs() -> [Pair; 3] {
    let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let ec = |kind, curve: &str, algorithm| {
        let pair = KeyPair::generate_for(kind).unwrap();
        let (x, y) = pair.der_bytes()[1..].split_at(pair.der_bytes().len() / 2);
        let jwk = json!({"kty": "EC", "crv": curve, "x": encoded(x), "y": encoded(y)});
        let private = EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).unwrap();
        Pair { private, algorithm, pem: pair.public_key_pem(), jwk }
    };
    let ed = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    [
        ec(&PKCS_ECDSA_P256_SHA256, "P-256", Algorithm::ES256),
        ec(&PKCS_ECDSA_P384_SHA384, "P-384", Algorithm::ES384),
        Pair {
            private: EncodingKey::from_ed_pem(ed.serialize_pem().as_bytes()).unwrap(),
            algorithm: Algorithm::EdDSA,
            pem: ed.public_key_pem(),
            jwk: json!({"kty": "OKP", "crv": "Ed25519", "x": encoded(ed.der_bytes())}),
        },
    ]
}

fn signed(pair: &Pair, id: Option<&str>) -> String {
    let header = Header { kid: id.map(str::to_owned), ..Header::new(pair.algorithm) };
    encode(&header, &claims(json!({})), &pair.private).unwrap()
}

#[test]
fn a_token_is_checked_by_the_key_of_its_kind() {
    let keys = Keys::new();
    let pairs = pairs();
    for pair in &pairs {
        let mine = signed(pair, None);
        for (other, form) in
            pairs.iter().flat_map(|other| [(other, other.pem.clone()), (other, json!({"keys": [other.jwk]}).to_string())])
        {
            let named = bearer(&principal("sub", &keys.file(&form)), &mine);
            let expected = if other.algorithm == pair.algorithm { Ok("acme".to_owned()) } else { Err(PrincipalError::Algorithm) };
            assert_eq!(named, expected, "{:?} by {form}", pair.algorithm);
        }
    }
}

#[test]
fn rsa_tokens_of_openssl_are_taken() {
    let principal = principal("sub", &JwtOptions::new(fixture("rsa.pem")));
    for name in ["rs256.jwt", "ps256.jwt"] {
        let token = std::fs::read_to_string(fixture(name)).unwrap();
        let token = token.trim();
        assert_eq!(bearer(&principal, token).as_deref(), Ok("acme"), "{name}");
        let (before, signature) = token.rsplit_once('.').unwrap();
        let (header, _) = before.split_once('.').unwrap();
        let forged = format!("{header}.{}.{signature}", part(&json!({"sub": "other", "exp": 9_999_999_999_u64})));
        assert_eq!(bearer(&principal, &forged), Err(PrincipalError::Signature), "{name}");
    }
}

#[test]
fn a_shared_secret_checks_tokens() {
    let keys = Keys::new();
    let principal = principal("sub", &keys.hmac());
    assert_eq!(bearer(&principal, &hs256(&claims(json!({})))).as_deref(), Ok("acme"));
    let other = encode(&Header::default(), &claims(json!({})), &EncodingKey::from_secret(&[1; 32])).unwrap();
    assert_eq!(bearer(&principal, &other), Err(PrincipalError::Signature));
}

/// The oldest attack: a public key taken for a shared secret, and `none`.
#[test]
fn the_algorithm_is_not_the_tokens_choice() {
    let rsa = principal("sub", &JwtOptions::new(fixture("rsa.pem")));
    let pem = std::fs::read(fixture("rsa.pem")).unwrap();
    for secret in [pem.as_slice(), pem.trim_ascii_end()] {
        let token = encode(&Header::default(), &claims(json!({})), &EncodingKey::from_secret(secret)).unwrap();
        assert_eq!(bearer(&rsa, &token), Err(PrincipalError::Algorithm));
    }
    for none in ["none", "None", "NONE", ""] {
        let token = format!("{}.{}.", part(&json!({"alg": none, "typ": "JWT"})), part(&claims(json!({}))));
        assert_eq!(bearer(&rsa, &token), Err(PrincipalError::Token), "{none}");
    }
}

// Which of several keys.

#[test]
fn the_key_that_the_token_names_is_taken_and_no_other() {
    let keys = Keys::new();
    let [mut first, mut second] = [0, 1].map(|_| {
        let [pair, ..] = pairs();
        pair
    });
    first.jwk["kid"] = json!("1");
    second.jwk["kid"] = json!("2");
    let both = principal("sub", &keys.file(&json!({"keys": [first.jwk, second.jwk]}).to_string()));
    assert_eq!(bearer(&both, &signed(&first, Some("1"))).as_deref(), Ok("acme"));
    assert_eq!(bearer(&both, &signed(&second, Some("2"))).as_deref(), Ok("acme"));
    assert_eq!(bearer(&both, &signed(&second, None)).as_deref(), Ok("acme"));
    assert_eq!(bearer(&both, &signed(&first, Some("2"))), Err(PrincipalError::Signature));
    assert_eq!(bearer(&both, &signed(&first, Some("3"))), Err(PrincipalError::Key));
}

#[test]
fn two_keys_in_a_pem_file_are_both_tried() {
    let keys = Keys::new();
    let [first, second, _] = pairs();
    let [third, ..] = pairs();
    let file = format!("old\n{}\nnew\n{}{}", first.pem, second.pem, third.pem);
    let principal = principal("sub", &keys.file(&file));
    for pair in [&first, &second, &third] {
        assert_eq!(bearer(&principal, &signed(pair, Some("any"))).as_deref(), Ok("acme"));
    }
}

#[test]
fn keys_that_check_no_signature_are_passed_over() {
    let keys = Keys::new();
    let [good, ..] = pairs();
    let with = |name: &str, value: Value| {
        let [mut pair, ..] = pairs();
        pair.jwk[name] = value;
        pair.jwk
    };
    let odd = json!([
        with("use", json!("enc")), with("key_ops", json!(["encrypt"])), with("alg", json!("RS256")), with("crv", json!("P-521")),
        {"kty": "oct", "k": "AAAA"}, {"kty": "new"}, {}, "x", 1
    ]);
    let mut all = odd.as_array().unwrap().clone();
    let none = keys.file(&json!({"keys": all}).to_string());
    let error = Principal::new("jwt:sub".parse().unwrap(), Some(&none)).unwrap_err().to_string();
    assert!(error.contains("no key that can check a signature"), "{error}");
    all.push(good.jwk.clone());
    let principal = principal("sub", &keys.file(&json!({"keys": all}).to_string()));
    assert_eq!(bearer(&principal, &signed(&good, None)).as_deref(), Ok("acme"));
}

// Times, issuer, audience.

#[test]
fn times_are_checked_with_a_little_leeway() {
    let keys = Keys::new();
    let principal = principal("sub", &keys.hmac());
    let check = |more: Value, expected: Result<&str, PrincipalError>| {
        assert_eq!(bearer(&principal, &hs256(&claims(more.clone()))).as_deref(), expected.as_ref().copied(), "{more}");
    };
    // The clock of the test runs on: margins are half the leeway.
    let half = LEEWAY_SECONDS / 2;
    check(json!({"exp": now() - half}), Ok("acme"));
    check(json!({"exp": now() - LEEWAY_SECONDS - 1}), Err(PrincipalError::Expired));
    check(json!({"nbf": now() + half}), Ok("acme"));
    check(json!({"nbf": now() + 2 * LEEWAY_SECONDS + 60}), Err(PrincipalError::NotYet));
    check(json!({"exp": null}), Err(PrincipalError::ClaimAbsent("exp".to_owned())));
    check(json!({"exp": "soon"}), Err(PrincipalError::ClaimAbsent("exp".to_owned())));
    check(json!({"nbf": "soon"}), Err(PrincipalError::ClaimForm("nbf".to_owned())));
}

#[test]
fn issuer_and_audience_are_checked_where_they_are_set() {
    let keys = Keys::new();
    let any = principal("sub", &keys.hmac());
    let set = JwtOptions { issuer: Some("us".to_owned()), audience: Some("pay".to_owned()), ..keys.hmac() };
    let set = principal("sub", &set);
    let check = |more: Value, expected: Result<&str, PrincipalError>| {
        let token = hs256(&claims(more.clone()));
        assert_eq!(bearer(&set, &token).as_deref(), expected.as_ref().copied(), "{more}");
        assert_eq!(bearer(&any, &token).as_deref(), Ok("acme"), "{more}");
    };
    check(json!({"iss": "us", "aud": "pay"}), Ok("acme"));
    check(json!({"iss": "us", "aud": ["other", "pay"]}), Ok("acme"));
    check(json!({"iss": "them", "aud": "pay"}), Err(PrincipalError::Issuer));
    check(json!({"aud": "pay"}), Err(PrincipalError::Issuer));
    check(json!({"iss": "us", "aud": "other"}), Err(PrincipalError::Audience));
    check(json!({"iss": "us", "aud": []}), Err(PrincipalError::Audience));
    check(json!({"iss": "us"}), Err(PrincipalError::Audience));
}

// The claim.

#[test]
fn the_claim_is_a_text_or_a_whole_number() {
    let keys = Keys::new();
    let principal = principal("https://example.com/account", &keys.hmac());
    let check = |value: Value, expected: Result<&str, PrincipalError>| {
        let token = hs256(&claims(json!({"https://example.com/account": value})));
        assert_eq!(bearer(&principal, &token).as_deref(), expected.as_ref().copied(), "{value}");
    };
    let name = || "https://example.com/account".to_owned();
    check(json!("caf\u{e9} 1"), Ok("caf\u{e9} 1"));
    check(json!(7), Ok("7"));
    check(json!(-7), Ok("-7"));
    check(json!(u64::MAX), Ok("18446744073709551615"));
    check(json!(9_007_199_254_740_993_u64), Ok("9007199254740993"));
    for odd in [json!(""), json!(1.5), json!(1e300), json!(true), json!(["a"]), json!({"a": 1})] {
        check(odd, Err(PrincipalError::ClaimForm(name())));
    }
    check(Value::Null, Err(PrincipalError::ClaimAbsent(name())));
    assert_eq!(bearer(&principal, &hs256(&claims(json!({})))), Err(PrincipalError::ClaimAbsent(name())));
}

/// Two accounts that are one as floating-point numbers.
#[test]
fn a_number_that_cannot_be_told_exactly_is_refused() {
    let keys = Keys::new();
    let principal = principal("sub", &keys.hmac());
    for number in ["18446744073709551616", "18446744073709551617", "7.0"] {
        let claims = format!("{{\"exp\":{},\"sub\":{number}}}", now() + 600);
        let message = format!("{}.{}", part(&json!({"alg": "HS256"})), URL_SAFE_NO_PAD.encode(claims));
        let signature =
            jsonwebtoken::crypto::sign(message.as_bytes(), &EncodingKey::from_secret(SECRET), Algorithm::HS256).unwrap();
        assert_eq!(bearer(&principal, &format!("{message}.{signature}")), Err(PrincipalError::ClaimForm("sub".to_owned())));
    }
}

// What is no token; messages.

#[test]
fn what_is_no_token_is_refused_without_showing_it() {
    let keys = Keys::new();
    let principal = principal("sub", &keys.hmac());
    let good = hs256(&claims(json!({})));
    let (head, signature) = good.rsplit_once('.').unwrap();
    for token in [
        "secret",
        "secret.secret",
        "secret.secret.secret",
        "a.b.c.d",
        "",
        head,
        &format!("{head}."),
        &format!("{good}.{signature}"),
    ] {
        let error = bearer(&principal, token).expect_err(token);
        assert!(matches!(error, PrincipalError::Token | PrincipalError::Signature | PrincipalError::Scheme(_)), "{token}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let critical = Header { crit: Some(vec!["b64".to_owned()]), ..Header::default() };
    let critical = encode(&critical, &claims(json!({})), &EncodingKey::from_secret(SECRET)).unwrap();
    assert_eq!(bearer(&principal, &critical), Err(PrincipalError::Critical));
}

#[test]
fn a_key_file_that_cannot_be_used_says_what_to_do() {
    let keys = Keys::new();
    let [pair, ..] = pairs();
    let private = KeyPair::generate().unwrap().serialize_pem();
    let mut private_jwk = pair.jwk.clone();
    private_jwk["d"] = json!("secret");
    let mut damaged = pair.jwk.clone();
    damaged["x"] = damaged["y"].clone();
    let check = |text: &str, expected: &str| {
        let options = keys.file(text);
        let error = Principal::new("jwt:sub".parse().unwrap(), Some(&options)).expect_err(text).to_string();
        assert!(error.contains(options.key_file.to_str().unwrap()) && error.contains(expected), "{error}");
        assert!(!error.contains("secret") || expected.contains("secret"), "{error}");
    };
    check("", "holds no key");
    check("password", "holds no key");
    check(&private, "openssl pkey -pubout");
    check("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "openssl x509 -pubkey");
    check("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "kind that is not known");
    check("-----BEGIN PUBLIC KEY-----\n!!!\n-----END PUBLIC KEY-----\n", "not well-formed PEM");
    check(&std::fs::read_to_string(fixture("rsa-1024.pem")).unwrap(), "1024 bits; 2048 is the least");
    check("{\"keys\": 1}", "not a list");
    check("{\"keys\":", "not JSON");
    check(&json!({"keys": [private_jwk]}).to_string(), "private key");
    check(&json!({"keys": [damaged]}).to_string(), "damaged");
    check(&json!({"keys": vec![&pair.jwk; 33]}).to_string(), "32 is the most");
    check("hmac:zz", "hex digits");
    check("hmac:5a5", "hex digits");
    check(&format!("hmac:{}", "5a".repeat(31)), "secret of 31 bytes; 32 is the least");
}
