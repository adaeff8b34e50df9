//! The vectors, through the native code: packed document in, packed document out, compared as JSON.

use std::fs;
use std::path::Path;

use leasehold_decision::{keys, packed};
use serde_json::Value;

fn vectors(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors").join(file);
    let text = fs::read_to_string(&path).expect("the vectors are in the checkout");
    text.lines().map(|line| serde_json::from_str(line).expect("a vector is JSON")).collect()
}

/// Every member that the vector names must be answered alike; an outcome may carry more.
fn agrees(vector: &Value) -> Result<(), String> {
    let answer: Value = serde_json::from_str(&packed::packed(&vector.to_string())).map_err(|error| error.to_string())?;
    let expected = vector["outcome"].as_object().ok_or("no outcome")?;
    for (name, value) in expected {
        if answer["outcome"].get(name) != Some(value) {
            return Err(format!("{}: outcome.{name}: {answer}", vector["name"]));
        }
    }
    if answer["after"] != vector["after"] {
        return Err(format!("{}: after: {answer}", vector["name"]));
    }
    Ok(())
}

#[test]
fn decisions_agree_with_every_vector() {
    let mut count = 0;
    for file in ["lease-1.jsonl", "edges-1.jsonl", "corrupt-1.jsonl"] {
        for vector in vectors(file) {
            agrees(&vector).unwrap();
            count += 1;
        }
    }
    assert_eq!(count, 2060);
}

#[test]
fn an_altered_vector_does_not_agree() {
    for vector in vectors("lease-1.jsonl") {
        let mut altered = vector.clone();
        altered["outcome"]["kind"] = "acquired-not".into();
        assert!(agrees(&altered).is_err());
        let mut altered = vector.clone();
        altered["after"] = if vector["after"].is_null() { serde_json::json!({}) } else { Value::Null };
        assert!(agrees(&altered).is_err());
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = value.as_str().unwrap().trim_end_matches('=');
    let (mut out, mut held, mut bits) = (Vec::new(), 0u32, 0u32);
    for character in text.bytes() {
        let six = ALPHABET.iter().position(|known| *known == character).expect("base64");
        held = (held << 6) | u32::try_from(six).unwrap();
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((held >> bits) & 0xff).unwrap());
        }
    }
    out
}

#[test]
fn keys_agree_with_every_vector() {
    let vectors = vectors("keys-1.jsonl");
    assert_eq!(vectors.len(), 240);
    for vector in vectors {
        let args = &vector["args"];
        let secret = bytes(&args["secret"]);
        let result = match vector["call"].as_str().unwrap() {
            "scope" => {
                let version = u32::try_from(args["version"].as_u64().unwrap()).unwrap();
                let code = args["operation"].as_str().unwrap();
                keys::scope(version, &secret, &bytes(&args["principal"]), code, &bytes(&args["key"])).unwrap()
            }
            "fingerprint" => {
                let content_type = args["content-type"].as_str().map(str::as_bytes);
                let text = |name: &str| args[name].as_str().unwrap().as_bytes();
                keys::fingerprint(&secret, text("method"), text("target"), content_type, &bytes(&args["body"]))
            }
            other => panic!("unknown call {other}"),
        };
        assert_eq!(Some(result.as_str()), vector["result"].as_str(), "{}", vector["name"]);
    }
}
