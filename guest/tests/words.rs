//! Decisions in numbers: every vector, alone and in lists, and words that are none.

use std::fs;
use std::path::Path;

use leasehold_decision::packed::Request;
use leasehold_decision::words::{ANSWER_WORDS, QUESTION_WORDS, answer, answer_all, decode, encode};
use leasehold_decision::{Call, Record, Token, decide};

/// A vector's question and what it asks with.
struct Asked {
    request: Request,
    before: Option<Record>,
    call: Call,
    readable: Vec<Token>,
    words: Option<[u64; QUESTION_WORDS]>,
}

fn asked() -> Vec<Asked> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let texts = ["lease-1.jsonl", "edges-1.jsonl", "corrupt-1.jsonl"]
        .map(|file| fs::read_to_string(folder.join(file)).expect("the vectors are in the checkout"));
    let ask = |line: &str| {
        let request = Request::parse(line).expect("a vector is a request");
        let before = request.before.as_ref().map(|row| row.record().unwrap());
        let (call, readable) = (request.call.tokens(), request.call.readable_codecs());
        let words = encode(request.family, &request.settings, before.as_ref(), &call, &readable, request.now);
        Asked { request, before, call, readable, words }
    };
    texts.iter().flat_map(|text| text.lines()).map(ask).collect()
}

#[test]
fn every_vector_is_decided_alike_in_words() {
    let all = asked();
    assert_eq!(all.len(), 2060);
    let mut too_large = 0;
    for Asked { request, before, call, readable, words } in &all {
        let expected = decide(request.family, &request.settings, before.as_ref(), call, readable, request.now);
        match words {
            Some(words) => assert_eq!(decode(&answer(words), before.as_ref()), Some(expected)),
            None => too_large += 1,
        }
    }
    assert!(too_large < 40, "{too_large} vectors have attempts or limits past 32 bits");
}

#[test]
fn an_attempt_or_a_limit_past_32_bits_has_no_words() {
    let all = asked();
    let Asked { request, before: Some(before), call, .. } = &all[300] else { panic!("that vector has a record") };
    let words = |record: &Record, call: &Call| encode(request.family, &request.settings, Some(record), call, &[], 1);
    let most = u64::from(u32::MAX);
    assert!(words(&Record { attempt: most, attempt_limit: most, ..*before }, call).is_some());
    assert!(words(&Record { attempt: most + 1, ..*before }, call).is_none());
    assert!(words(&Record { attempt_limit: most + 1, ..*before }, call).is_none());
    let held = |attempt| {
        let resolve = leasehold_decision::ResolveArgs {
            transition: Token::from_words([1; 4]),
            attempt,
            revision: u64::MAX,
            verdict: leasehold_decision::Verdict::NoEffect,
            digest: None,
            extra_attempts: u64::MAX,
        };
        words(before, &Call::Resolve(resolve))
    };
    assert!(held(most).is_some());
    assert!(held(most + 1).is_none());
}

#[test]
fn a_list_has_an_answer_for_each_question_in_its_order() {
    let all: Vec<_> = asked().into_iter().filter(|asked| asked.words.is_some()).collect();
    for some in all.chunks(64) {
        let words: Vec<u64> = some.iter().flat_map(|asked| asked.words.unwrap()).collect();
        let answers = answer_all(&words);
        assert_eq!(answers.len(), some.len() * ANSWER_WORDS);
        for (asked, answered) in some.iter().zip(answers.as_chunks::<ANSWER_WORDS>().0) {
            assert_eq!(*answered, answer(&asked.words.unwrap()));
        }
    }
    assert!(answer_all(&[]).is_empty());
}

#[test]
fn words_that_are_no_question_are_answered_with_zeros() {
    let good = asked()[300].words.unwrap();
    assert_ne!(answer(&good)[0], 0);
    // Byte 0: the family, 1: the state, 2: the last transition, 3: the call.
    for (byte, value) in [(0, 0), (0, 5), (1, 7), (1, 255), (2, 10), (3, 0), (3, 6)] {
        let mut bad = good;
        let mut bytes = bad[0].to_le_bytes();
        bytes[byte] = value;
        bad[0] = u64::from_le_bytes(bytes);
        assert_eq!(answer(&bad), [0; ANSWER_WORDS], "byte {byte} as {value}");
        assert!(answer_all(&[good, bad].concat()).is_empty(), "one that is none spoils the list");
    }
    for cut in 1..QUESTION_WORDS {
        assert!(answer_all(&[&good[..], &good[..cut]].concat()).is_empty(), "cut at {cut}");
    }
    assert_eq!(answer_all(&[good, good].concat()).len(), 2 * ANSWER_WORDS);
    assert_eq!(decode(&[0; ANSWER_WORDS], None), None);
}

#[test]
fn whatever_the_words_are_there_is_an_answer() {
    let good = asked()[300].words.unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..500_000 {
        let mut spoilt = good;
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap() % QUESTION_WORDS;
            spoilt[at] = match seed & 3 {
                0 => seed,
                1 => seed >> 56,
                _ => spoilt[at] ^ (1 << (seed >> 8 & 63)),
            };
        }
        let one = answer(&spoilt);
        assert!(one == [0; ANSWER_WORDS] || decode(&one, None).is_some());
    }
}
