//! Who asks: the same key from two principals is two keys, and no answer crosses.

use std::time::{SystemTime, UNIX_EPOCH};

use http::Request;
use jsonwebtoken::{EncodingKey, Header, encode};
use leasehold::bridge::principal::{JwtOptions, Principal};
use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::upstream::Upstream;

async fn start(principal: Principal) -> (Upstream, Bridge) {
    let upstream = Upstream::charging().await;
    let bridge = Setup::before(upstream.address).with(|route| route.principal = principal).start().await;
    (upstream, bridge)
}

fn by(rule: &str) -> Principal {
    Principal::new(rule.parse().unwrap(), None).unwrap()
}

async fn ask(bridge: &Bridge, header: &str, value: &str) -> Reply {
    let mut request: Request<_> = bridge.posting("/charges", "k", "{}");
    request.headers_mut().insert(http::HeaderName::try_from(header).unwrap(), value.parse().unwrap());
    bridge.send(request).await
}

#[tokio::test]
async fn two_principals_have_two_scopes() {
    let (upstream, bridge) = start(by("header:x-account")).await;
    ask(&bridge, "x-account", "acme").await.is(201, "charge 1");
    ask(&bridge, "x-account", "other").await.is(201, "charge 2");
    ask(&bridge, "x-account", "acme").await.is_replay(201, "charge 1");
    ask(&bridge, "x-account", "other").await.is_replay(201, "charge 2");
    assert_eq!(upstream.effects(), 2);
}

/// The parts are framed: no principal and key together spell another pair.
#[tokio::test]
async fn a_principal_cannot_borrow_from_its_key() {
    let (upstream, bridge) = start(by("header:x-account")).await;
    for (account, key) in [("ab", "c"), ("a", "bc"), ("abc", "k")] {
        let mut request = bridge.posting("/charges", key, "{}");
        request.headers_mut().insert("x-account", account.parse().unwrap());
        assert!(!bridge.send(request).await.replayed());
    }
    assert_eq!(upstream.effects(), 3);
}

#[tokio::test]
async fn a_request_that_names_nobody_is_refused() {
    for (rule, challenge) in [("header:x-account", None), ("basic-user", Some("Basic realm=\"leasehold\", charset=\"UTF-8\""))] {
        let (upstream, bridge) = start(by(rule)).await;
        let reply = bridge.post("/charges", "k", "{}").await;
        reply.problem(401, "principal-required");
        assert_eq!(reply.header("www-authenticate"), challenge);
        assert_eq!(upstream.effects(), 0);
    }
}

/// Without a key nothing is protected, so nobody needs to be named.
#[tokio::test]
async fn a_request_without_a_key_needs_no_principal() {
    let (upstream, bridge) = start(by("basic-user")).await;
    bridge.send(Request::post(format!("{}/charges", bridge.url)).body("{}".into()).unwrap()).await.is(201, "charge 1");
    assert_eq!(upstream.effects(), 1);
}

#[tokio::test]
async fn a_user_with_a_new_password_is_the_same_user() {
    let (upstream, bridge) = start(by("basic-user")).await;
    ask(&bridge, "authorization", "Basic YWxpY2U6b2xk").await.is(201, "charge 1");
    ask(&bridge, "authorization", "Basic YWxpY2U6bmV3").await.is_replay(201, "charge 1");
    ask(&bridge, "authorization", "Basic Ym9iOm9sZA==").await.is(201, "charge 2");
    assert_eq!(upstream.booked()[0].header("authorization"), "Basic YWxpY2U6b2xk");
}

/// A token that is refreshed between a time-out and the retry: the claim counts, not the token.
#[tokio::test]
async fn a_refreshed_token_is_the_same_principal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, format!("hmac:{}\n", "5a".repeat(32))).unwrap();
    let principal = Principal::new("jwt:sub".parse().unwrap(), Some(&JwtOptions::new(file))).unwrap();
    let (upstream, bridge) = start(principal).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let token = |subject: &str, lives: u64, secret: &[u8]| {
        let claims = serde_json::json!({"sub": subject, "exp": now + lives});
        format!("Bearer {}", encode(&Header::default(), &claims, &EncodingKey::from_secret(secret)).unwrap())
    };
    ask(&bridge, "authorization", &token("acme", 600, &[0x5a; 32])).await.is(201, "charge 1");
    ask(&bridge, "authorization", &token("acme", 900, &[0x5a; 32])).await.is_replay(201, "charge 1");
    ask(&bridge, "authorization", &token("other", 600, &[0x5a; 32])).await.is(201, "charge 2");
    let forged = ask(&bridge, "authorization", &token("acme", 600, &[0x5b; 32])).await;
    forged.problem(401, "principal-required");
    assert_eq!(forged.header("www-authenticate"), Some("Bearer"));
    assert_eq!(upstream.effects(), 2);
}

/// Two routes with operation codes of their own: the same key is two.
#[tokio::test]
async fn two_operation_codes_have_two_scopes() {
    let upstream = Upstream::charging().await;
    let bridge =
        Setup::before(upstream.address).route("/refunds", |route| route.operation_code = "refund".to_owned()).start().await;
    bridge.post("/charges", "k", "{}").await.is(201, "charge 1");
    bridge.post("/refunds", "k", "{}").await.is(201, "charge 2");
    bridge.post("/refunds", "k", "{}").await.is_replay(201, "charge 2");
}
