//! How each status of the upstream's counts: as success, as no effect, as an effect that nobody knows.

use http::HeaderValue;
use leasehold_decision::http::{Effect, Rules};
use leasehold_tests::bridge::{Bridge, Setup};
use leasehold_tests::upstream::{Upstream, answer};

/// `/ROUTE/STATUS` is answered with that status; with a query, with `Retry-After` too.
async fn start() -> (Upstream, Bridge) {
    let upstream = Upstream::start(|asked| async move {
        let status: u16 = asked.target.path().rsplit('/').next().unwrap().parse().unwrap();
        let body = if [204, 304].contains(&status) { String::new() } else { format!("answer {}", asked.number) };
        let mut answer = answer(status, body);
        if asked.target.query().is_some() {
            answer.headers_mut().insert("retry-after", HeaderValue::from_static("7"));
        }
        Ok(answer)
    })
    .await;
    let mut setup = Setup::before(upstream.address);
    for (name, effect) in [("success", Effect::Success), ("no-effect", Effect::NoEffect), ("unknown", Effect::Unknown)] {
        setup = setup
            .route(&format!("/5xx-{name}/*"), |route| route.rules = Rules { on_5xx: effect, ..Rules::default() })
            .route(&format!("/gateway-{name}/*"), |route| route.rules = Rules { on_gateway_error: effect, ..Rules::default() });
    }
    (upstream, setup.start().await)
}

/// The first answer goes to its caller as it is; what the second one is told shows how the first counted.
async fn check(upstream: &Upstream, bridge: &Bridge, path: &str, effect: Effect) {
    let before = upstream.effects();
    let (first, second) = (bridge.post(path, path, "{}").await, bridge.post(path, path, "{}").await);
    let status: u16 = path.split('?').next().unwrap().rsplit('/').next().unwrap().parse().unwrap();
    let passed = |number: usize| if [204, 304].contains(&status) { String::new() } else { format!("answer {number}") };
    first.is(status, &passed(before + 1));
    assert_eq!(first.header("retry-after"), path.contains('?').then_some("7"), "{path}");
    let effects = upstream.effects() - before;
    match effect {
        Effect::Success => {
            second.is_replay(status, &passed(before + 1));
            assert_eq!(second.header("retry-after"), first.header("retry-after"), "{path}");
            assert_eq!((effects, first.header("leasehold-reference")), (1, None), "{path}");
        }
        Effect::NoEffect => {
            second.is(status, &passed(before + 2));
            assert_eq!((effects, first.header("leasehold-reference")), (2, None), "{path}");
        }
        Effect::Unknown => {
            let reference = second.recovery();
            assert_eq!((effects, first.header("leasehold-reference")), (1, Some(reference.as_str())), "{path}");
        }
    }
}

#[tokio::test]
async fn answers_that_are_kept() {
    let (upstream, bridge) = start().await;
    for status in [200, 201, 202, 204, 299, 301, 302, 303, 304, 307, 308, 400, 402, 403, 404, 405, 409, 410, 418, 422, 428, 451] {
        check(&upstream, &bridge, &format!("/charges/{status}"), Effect::Success).await;
    }
    for status in [500, 501, 505, 507, 599] {
        check(&upstream, &bridge, &format!("/charges/{status}"), Effect::Success).await;
    }
    check(&upstream, &bridge, "/charges/500?retry-after", Effect::Success).await;
}

#[tokio::test]
async fn answers_that_say_that_nothing_happened() {
    let (upstream, bridge) = start().await;
    for status in ["401", "407", "425", "429", "429?retry-after", "503?retry-after"] {
        check(&upstream, &bridge, &format!("/charges/{status}"), Effect::NoEffect).await;
    }
}

#[tokio::test]
async fn answers_of_which_nobody_knows() {
    let (upstream, bridge) = start().await;
    for status in ["408", "502", "503", "504", "408?retry-after", "502?retry-after", "504?retry-after"] {
        check(&upstream, &bridge, &format!("/charges/{status}"), Effect::Unknown).await;
    }
}

#[tokio::test]
async fn a_route_says_how_5xx_counts() {
    let (upstream, bridge) = start().await;
    for (name, effect) in [("success", Effect::Success), ("no-effect", Effect::NoEffect), ("unknown", Effect::Unknown)] {
        for status in [500, 501, 505, 599] {
            check(&upstream, &bridge, &format!("/5xx-{name}/{status}"), effect).await;
        }
        check(&upstream, &bridge, &format!("/5xx-{name}/502"), Effect::Unknown).await;
        check(&upstream, &bridge, &format!("/5xx-{name}/503?retry-after"), Effect::NoEffect).await;
        check(&upstream, &bridge, &format!("/5xx-{name}/404"), Effect::Success).await;
    }
}

#[tokio::test]
async fn a_route_says_how_a_gateways_error_counts() {
    let (upstream, bridge) = start().await;
    for (name, effect) in [("success", Effect::Success), ("no-effect", Effect::NoEffect), ("unknown", Effect::Unknown)] {
        for status in [408, 502, 503, 504] {
            check(&upstream, &bridge, &format!("/gateway-{name}/{status}"), effect).await;
        }
        check(&upstream, &bridge, &format!("/gateway-{name}/503?retry-after"), Effect::NoEffect).await;
        check(&upstream, &bridge, &format!("/gateway-{name}/500"), Effect::Success).await;
    }
}
