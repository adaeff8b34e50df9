//! What is not protected passes through.

use http::{Method, Request};
use leasehold::bridge::KeyRule;
use leasehold_tests::bridge::{Bridge, Reply, Setup};
use leasehold_tests::scripted::Kind;
use leasehold_tests::upstream::Upstream;

async fn ask(bridge: &Bridge, method: &Method, key: Option<&str>) -> Reply {
    let mut request = Request::builder().method(method).uri(format!("{}/charges", bridge.url)).body("".into()).unwrap();
    if let Some(key) = key {
        request.headers_mut().insert("idempotency-key", key.parse().unwrap());
    }
    bridge.send(request).await
}

#[tokio::test]
async fn safe_methods_pass_even_where_a_key_is_demanded_and_given() {
    let upstream = Upstream::charging().await;
    let all = [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE, Method::POST];
    let bridge = Setup::before(upstream.address)
        .with(|route| {
            route.key = KeyRule::Required;
            route.methods = all.to_vec();
        })
        .start()
        .await;
    let mut effects = 0;
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE] {
        for key in [None, Some("k"), Some("k"), Some("")] {
            effects += 1;
            let body = if method == Method::HEAD { String::new() } else { format!("charge {effects}") };
            ask(&bridge, &method, key).await.is(201, &body);
        }
    }
    assert_eq!(upstream.effects(), effects);
    assert_eq!(bridge.store.asked(Kind::Read), 0);
}

#[tokio::test]
async fn other_methods_pass_unless_they_are_listed() {
    let upstream = Upstream::charging().await;
    let bridge =
        Setup::before(upstream.address).route("/listed/*", |route| route.methods = vec![Method::PUT, Method::DELETE]).start().await;
    for method in [Method::PUT, Method::DELETE] {
        for _ in 0..2 {
            assert!(!ask(&bridge, &method, Some("k")).await.replayed());
        }
        let listed = |key: &str| {
            let request = Request::builder().method(&method).uri(format!("{}/listed/1", bridge.url));
            request.header("idempotency-key", key).body("".into()).unwrap()
        };
        assert!(!bridge.send(listed(method.as_str())).await.replayed());
        assert!(bridge.send(listed(method.as_str())).await.replayed());
    }
    let post = || bridge.posting("/listed/1", "post", "{}");
    assert!(!bridge.send(post()).await.replayed() && !bridge.send(post()).await.replayed());
    assert_eq!(upstream.effects(), 8);
}

#[tokio::test]
async fn requests_without_a_key_pass_where_none_is_demanded() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    for number in 1..=2 {
        ask(&bridge, &Method::POST, None).await.is(201, &format!("charge {number}"));
    }
    assert_eq!(bridge.store.asked(Kind::Read), 0);
}

// What the upstream is told.

#[tokio::test]
async fn the_upstream_gets_the_request_with_a_fencing_token() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let mut request = bridge.posting("/charges?a=1", "k", "{\"b\":1, \"a\":2}");
    request.headers_mut().insert("authorization", "Bearer t".parse().unwrap());
    request.headers_mut().insert("leasehold-fencing-token", "99999999999999".parse().unwrap());
    bridge.send(request).await.is(201, "charge 1");
    bridge.post("/charges", "other", "{}").await;
    let booked = upstream.booked();
    let asked = &booked[0];
    assert_eq!((asked.method.as_str(), asked.target.to_string().as_str()), ("POST", "/charges?a=1"));
    assert_eq!(asked.body, "{\"b\":1, \"a\":2}", "the body goes as it came, not in its canonical form");
    assert_eq!((asked.header("idempotency-key"), asked.header("authorization")), ("k", "Bearer t"));
    assert_eq!(asked.header("x-forwarded-for"), "127.0.0.1");
    let token = |number: usize| booked[number].header("leasehold-fencing-token").parse::<u64>().unwrap();
    assert!(token(0) > 1_000_000_000_000 && token(0) < 99_999_999_999_999, "{}", token(0));
    assert_eq!(asked.headers.get_all("leasehold-fencing-token").iter().count(), 1);
}

/// `Connection` names what is for this hop alone: a client that named the token had it taken out again on the way to the upstream.
#[tokio::test]
async fn a_client_cannot_have_the_fencing_token_taken_out() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    let mut request = bridge.posting("/charges", "k", "{}");
    request.headers_mut().insert("connection", "Leasehold-Fencing-Token, x-mine".parse().unwrap());
    request.headers_mut().insert("x-mine", "1".parse().unwrap());
    bridge.send(request).await.is(201, "charge 1");
    let asked = &upstream.booked()[0];
    assert!(asked.header("leasehold-fencing-token").parse::<u64>().is_ok(), "{:?}", asked.headers);
    assert_eq!((asked.header("x-mine"), asked.header("connection")), ("", ""));
}

/// A request that is not protected has no token: a client's own one would shut out those that are.
#[tokio::test]
async fn a_client_cannot_bring_a_fencing_token_of_its_own() {
    let upstream = Upstream::charging().await;
    let bridge = Bridge::before(upstream.address).await;
    for method in [Method::GET, Method::POST] {
        let request = Request::builder().method(method).uri(format!("{}/charges", bridge.url));
        bridge.send(request.header("leasehold-fencing-token", "99999999999999").body("".into()).unwrap()).await;
    }
    for asked in upstream.booked() {
        assert_eq!(asked.header("leasehold-fencing-token"), "", "{}", asked.method);
    }
}
