//! Components that trap, loop, are hungry, or are no components: a clear error within the limits, and the next decision is well.
//!
//! They are the component that ships, with the body of one exported function replaced in place: cases 36 and 37.

use std::time::{Duration, Instant};

use leasehold::Family;
use leasehold::component::{BUILT_IN, CodeCache, Component, LoadError, MEMORY_BYTES_MAX};
use leasehold_decision::http::Rules;
use leasehold_decision::policy::default_settings;
use leasehold_tests::hosts::component;

mod patch;

use patch::with_body;

/// `unreachable`.
const TRAPS: &[u8] = &[0x00];
/// `loop br 0 end`.
const LOOPS: &[u8] = &[0x03, 0x40, 0x0c, 0x00, 0x0b, 0x00];
/// `loop i32.const 16 memory.grow drop br 0 end`.
const IS_HUNGRY: &[u8] = &[0x03, 0x40, 0x41, 0x10, 0x40, 0x00, 0x1a, 0x0c, 0x00, 0x0b, 0x00];

const DEFAULT_SETTINGS: &str = "leasehold:decision/policy@1.0.0#default-settings";

fn spoilt(body: &[u8]) -> Component {
    Component::load(&with_body(BUILT_IN, DEFAULT_SETTINGS, body), &CodeCache::Off).unwrap()
}

/// The spoilt function fails, each time, within its limits; the others of the same component go on.
fn fails(body: &[u8], told: &str) {
    let spoilt = spoilt(body);
    for _ in 0..3 {
        let started = Instant::now();
        let error = spoilt.default_settings(Family::Inbox).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
        assert!(error.contains("nothing was written") && error.contains("fresh instance"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        assert_eq!(spoilt.contract_version().unwrap(), 1);
    }
}

#[test]
fn case_36_a_trap_costs_one_call() {
    fails(TRAPS, "unreachable");
}

#[test]
fn case_37_an_endless_function_ends() {
    fails(LOOPS, "fuel");
}

#[test]
fn case_37_a_hungry_function_gets_no_more_than_its_limit() {
    fails(IS_HUNGRY, "fuel");
}

#[test]
fn a_spoilt_component_harms_no_other() {
    let spoilt = spoilt(TRAPS);
    assert!(spoilt.default_settings(Family::Inbox).is_err());
    assert_eq!(component().default_settings(Family::Inbox).unwrap(), default_settings(Family::Inbox));
}

/// More than an instance may have, to the component that ships.
#[test]
fn an_input_beyond_the_memory_limit_is_refused_and_the_next_call_is_well() {
    let component = component();
    let enormous = " ".repeat(MEMORY_BYTES_MAX + 1);
    let error = component.packed(&enormous).unwrap_err().to_string();
    assert!(error.contains("nothing was written"), "{error}");
    let enormous = enormous.into_bytes();
    assert!(component.fingerprint(&[7; 32], b"POST", b"/", None, &enormous).is_err());
    assert_eq!(component.default_settings(Family::Outbox).unwrap(), default_settings(Family::Outbox));
    assert!(component.packed("{").unwrap().contains("error"));
}

/// A body of the size that bridges let in is within the limits, however deep or odd it is.
#[test]
fn a_large_body_is_within_the_limits() {
    let component = component();
    for body in [
        format!("[{}]", "{\"a\":1},".repeat(400_000).trim_end_matches(',')),
        format!("\"{}\"", "\\u00e9".repeat(500_000)),
        "[".repeat(4 << 20),
        format!("{{{}}}", (0..200_000).rev().map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",")),
    ] {
        let json = Some(&b"application/json"[..]);
        let print = component.fingerprint(&[7; 32], b"POST", b"/", json, body.as_bytes()).unwrap();
        assert_eq!(print.len(), 64);
    }
}

#[test]
fn what_is_no_component_of_this_world_is_refused_with_a_reason() {
    let mut cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "no component"),
        (b"no wasm at all".to_vec(), "no component"),
        // An empty core module, and an empty component.
        (b"\0asm\x01\0\0\0".to_vec(), "no component"),
        (b"\0asm\x0d\0\x01\0".to_vec(), "no component"),
        // A component that imports a function `clock`.
        (b"\0asm\x0d\0\x01\0\x07\x05\x01\x40\x00\x01\x00\x0a\x0a\x01\x00\x05clock\x01\x00".to_vec(), "imports clock"),
    ];
    for length in [4, 8, 1_000, BUILT_IN.len() / 2, BUILT_IN.len() - 1] {
        cases.push((BUILT_IN[..length].to_vec(), "no component"));
    }
    for (bytes, told) in cases {
        let error = Component::load(&bytes, &CodeCache::Off).unwrap_err();
        assert!(matches!(error, LoadError::Component(_) | LoadError::Imports(_)), "{error:?}");
        assert!(error.to_string().contains(told), "{error}, for {:?}", &bytes[..bytes.len().min(40)]);
    }
}

#[test]
fn calls_on_many_threads_do_not_disturb_each_other() {
    let component = component();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let component = &component;
            scope.spawn(move || {
                for _ in 0..500 {
                    let rules = Rules::default();
                    let effect = component.classify_status(200 + thread, false, rules).unwrap();
                    assert_eq!(effect, leasehold_decision::http::Effect::Success);
                    assert!(component.packed("{").unwrap().contains("error"));
                }
            });
        }
    });
}
