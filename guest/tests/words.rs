//! Decisions as words: every vector, alone and in lists, and words that are none.

use std::fs;
use std::path::Path;

use leasehold_decision::packed::Request;
use leasehold_decision::words::{DECISION_WORDS, HEAD_WORDS, ITEM_WORDS, decide_words, decode, decode_one, encode};
use leasehold_decision::{Family, batch, policy};

fn requests() -> Vec<Request> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    ["lease-1.jsonl", "edges-1.jsonl", "corrupt-1.jsonl"]
        .into_iter()
        .flat_map(|file| {
            let text = fs::read_to_string(folder.join(file)).expect("the vectors are in the checkout");
            text.lines().map(|line| Request::parse(line).expect("a vector is a request")).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_vector_is_decided_alike_as_words() {
    let requests = requests();
    assert_eq!(requests.len(), 2060);
    for request in &requests {
        let before = request.before.as_ref().map(|row| row.record().unwrap());
        let (call, readable) = (request.call.tokens(), request.call.readable_codecs());
        let expected = batch(request.family, &request.settings, &[(before, call)], &readable, request.now);
        let answer = decide_words(&encode(request.family, &request.settings, &readable, request.now, &[(before.as_ref(), call)]));
        assert_eq!(decode_one(&answer), Some(expected[0]));
        assert_eq!(decode(&answer), Some(expected));
    }
}

#[test]
fn a_list_has_an_answer_for_each_item_in_its_order() {
    for requests in requests().chunks(64) {
        let settings = policy::default_settings(Family::Idempotency);
        let records: Vec<_> = requests.iter().map(|request| request.before.as_ref().map(|row| row.record().unwrap())).collect();
        let items: Vec<_> = records.iter().zip(requests).map(|(before, request)| (*before, request.call.tokens())).collect();
        let by_reference: Vec<_> = items.iter().map(|(before, call)| (before.as_ref(), *call)).collect();
        let words = encode(Family::Idempotency, &settings, &[], 5_000, &by_reference);
        assert_eq!(words.len(), HEAD_WORDS + requests.len() * ITEM_WORDS);
        let answer = decide_words(&words);
        assert_eq!(answer.len(), requests.len() * DECISION_WORDS);
        assert_eq!(decode(&answer), Some(batch(Family::Idempotency, &settings, &items, &[], 5_000)));
    }
}

#[test]
fn words_that_are_no_request_have_an_empty_answer() {
    let request = &requests()[300];
    let before = request.before.as_ref().map(|row| row.record().unwrap());
    let call = request.call.tokens();
    let good = encode(request.family, &request.settings, &request.call.readable_codecs(), request.now, &[(before.as_ref(), call)]);
    assert!(!decide_words(&good).is_empty());
    for cut in 0..good.len() {
        assert!(decide_words(&good[..cut]).is_empty(), "cut at {cut}");
    }
    for (at, word) in [(0, 4), (0, u64::MAX), (9, u64::MAX), (9, 1 << 62), (10, 0), (10, 2), (10, u64::MAX)] {
        let mut bad = good.clone();
        bad[at] = word;
        assert!(decide_words(&bad).is_empty(), "word {at} as {word}");
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(decide_words(&longer).is_empty());
}

#[test]
fn whatever_the_words_are_there_is_an_answer() {
    let request = &requests()[300];
    let before = request.before.as_ref().map(|row| row.record().unwrap());
    let good = encode(request.family, &request.settings, &[], request.now, &[(before.as_ref(), request.call.tokens())]);
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..200_000 {
        let mut spoilt = good.clone();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap() % spoilt.len();
            spoilt[at] = if seed & 1 == 0 { seed } else { seed >> 56 };
        }
        let answer = decide_words(&spoilt);
        assert!(answer.is_empty() || answer.len() == DECISION_WORDS);
        assert!(answer.is_empty() || decode_one(&answer).is_some());
    }
    assert_eq!(decode(&[0; DECISION_WORDS + 1]), None);
    assert_eq!(decode_one(&[]), None);
}
