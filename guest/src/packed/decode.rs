//! From a document to a request: every fault is named with the member that has it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::advance::AdvanceKind;
use crate::json::{Scalar, Value};
use crate::record::{Family, Settings, State, Token, TransitionKind};
use crate::resolve::Verdict;
use crate::row::{Row, RowTransition};

/// Why a document is no request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentFault {
    /// The member, as in `args.tuple.owner`; or the byte of the text.
    pub at: String,
    /// What is wrong, and what to write instead.
    pub what: String,
}

/// The owner tuple that a call gives, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tuple {
    /// 64 lowercase hex digits.
    pub owner: String,
    /// The claim call's id.
    pub operation: String,
    /// Number of the try.
    pub attempt: u64,
    /// The revision last seen.
    pub revision: u64,
}

/// A call with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the fields are those of section 7 of the contract")]
pub enum Call {
    Claim { owner: String, operation: String, fingerprint: Option<String>, codec: Option<String>, readable_codecs: Vec<String> },
    Advance { tuple: Tuple, kind: AdvanceKind, transition: String, digest: Option<String>, reason: Option<String> },
    Release { tuple: Tuple, transition: String },
    Inspect { owner: String, operation: String, fingerprint: Option<String> },
    Resolve { transition: String, attempt: u64, revision: u64, verdict: Verdict, digest: Option<String>, extra_attempts: u64 },
}

/// A document, read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Which table.
    pub family: Family,
    /// Which record.
    pub scope: String,
    /// Under which settings.
    pub settings: Settings,
    /// The row as read.
    pub before: Option<Row>,
    /// What is asked.
    pub call: Call,
    /// The clock reading. Milliseconds since the epoch.
    pub now: u64,
    /// Whether integers past 2^53 are answered as decimal strings.
    pub big_integers_as_strings: bool,
}

type Fallible<T> = Result<T, DocumentFault>;

fn fault<T>(at: &str, what: &str) -> Fallible<T> {
    Err(DocumentFault { at: at.to_owned(), what: what.to_owned() })
}

/// An object of the document, and the way to it.
struct Members<'v, 'a> {
    value: &'v Value<'a>,
    path: &'v str,
}

impl<'v, 'a> Members<'v, 'a> {
    fn of(value: &'v Value<'a>, path: &'v str) -> Fallible<Self> {
        match value {
            Value::Object(_) => Ok(Self { value, path }),
            Value::Scalar(_) | Value::Array(_) => fault(path, "an object is expected"),
        }
    }

    #[inline(never)]
    fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    #[inline(never)]
    fn present(&self, name: &str) -> Fallible<&'v Value<'a>> {
        self.value.member(name).ok_or_else(|| DocumentFault { at: self.at(name), what: "is absent".to_owned() })
    }

    #[inline(never)]
    fn text_or_none(&self, name: &str) -> Fallible<Option<String>> {
        match self.value.member(name) {
            None => Ok(None),
            Some(Value::Scalar(Scalar::String(text))) => Ok(Some(text.clone())),
            Some(_) => fault(&self.at(name), "a string is expected"),
        }
    }

    #[inline(never)]
    fn text(&self, name: &str) -> Fallible<String> {
        self.text_or_none(name)?.ok_or_else(|| DocumentFault { at: self.at(name), what: "is absent".to_owned() })
    }

    #[inline(never)]
    fn number_or_none(&self, name: &str) -> Fallible<Option<u64>> {
        let digits = match self.value.member(name) {
            None => return Ok(None),
            Some(Value::Scalar(Scalar::Number(digits))) => *digits,
            Some(Value::Scalar(Scalar::String(digits))) => digits.as_str(),
            Some(_) => return fault(&self.at(name), "an integer is expected"),
        };
        let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        match digits.parse() {
            Ok(number) if plain => Ok(Some(number)),
            Ok(_) | Err(_) => {
                fault(&self.at(name), "an integer from 0 to 18446744073709551615 is expected, plain or as a decimal string")
            }
        }
    }

    #[inline(never)]
    fn number(&self, name: &str) -> Fallible<u64> {
        self.number_or_none(name)?.ok_or_else(|| DocumentFault { at: self.at(name), what: "is absent".to_owned() })
    }

    #[inline(never)]
    fn token_or_none(&self, name: &str) -> Fallible<Option<String>> {
        match self.text_or_none(name)? {
            Some(text) if Token::from_hex(&text).is_none() => fault(&self.at(name), "64 lowercase hex digits are expected"),
            text => Ok(text),
        }
    }

    #[inline(never)]
    fn token(&self, name: &str) -> Fallible<String> {
        self.token_or_none(name)?.ok_or_else(|| DocumentFault { at: self.at(name), what: "is absent".to_owned() })
    }

    fn word<T>(&self, name: &str, from_name: impl Fn(&str) -> Option<T>, known: &str) -> Fallible<T> {
        let word = self.text(name)?;
        from_name(&word).ok_or_else(|| DocumentFault { at: self.at(name), what: format!("is none of {known}") })
    }

    fn texts(&self, name: &str) -> Fallible<Vec<String>> {
        match self.value.member(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(elements)) => elements
                .iter()
                .map(|element| match element {
                    Value::Scalar(Scalar::String(text)) => Ok(text.clone()),
                    Value::Scalar(_) | Value::Array(_) | Value::Object(_) => {
                        fault(&self.at(name), "an array of strings is expected")
                    }
                })
                .collect(),
            Some(_) => fault(&self.at(name), "an array of strings is expected"),
        }
    }
}

const STATES: &str = "pending, claimed, executing, completed, failed-retryable, abandoned";

impl Request {
    /// Reads a document.
    ///
    /// # Errors
    /// It is no JSON, or no request: the fault names the member.
    pub fn parse(document: &str) -> Fallible<Self> {
        let value = Value::parse(document)
            .map_err(|error| DocumentFault { at: format!("byte {}", error.at), what: error.what.to_string() })?;
        let members = Members::of(&value, "")?;
        let args = Members::of(members.present("args")?, "args")?;
        let before = members.value.member("before").map(|value| row(&Members::of(value, "before")?)).transpose()?;
        let big_integers_as_strings = match members.text_or_none("big-integers")?.as_deref() {
            None | Some("number") => false,
            Some("string") => true,
            Some(_) => return fault("big-integers", "is none of number, string"),
        };
        let scope = members.text("scope")?;
        if before.as_ref().is_some_and(|row| row.scope != scope) {
            return fault("before.scope", "is not the scope of the document");
        }
        Ok(Self {
            family: members.word("family", Family::from_name, "idempotency, inbox, outbox, cleanup")?,
            scope,
            settings: settings(&Members::of(members.present("settings")?, "settings")?)?,
            before,
            call: call(&members, &args)?,
            now: args.number("now")?,
            big_integers_as_strings,
        })
    }
}

fn settings(members: &Members<'_, '_>) -> Fallible<Settings> {
    Ok(Settings {
        revision: members.number("revision")?,
        lease: members.number("lease")?,
        attempt_limit: members.number("attempt-limit")?,
        backoff_base: members.number("backoff-base")?,
        backoff_cap: members.number("backoff-cap")?,
        replay_retention: members.number("replay-retention")?,
        failure_retention: members.number("failure-retention")?,
    })
}

/// A row's token columns are not checked here: a row with a wrong one is a corrupt record, not a wrong document.
fn row(members: &Members<'_, '_>) -> Fallible<Row> {
    let transition = match members.value.member("transition") {
        None => None,
        Some(value) => {
            let members = Members::of(value, "before.transition")?;
            Some(RowTransition {
                id: members.text("id")?,
                kind: members.word("kind", TransitionKind::from_name, "the transition kinds")?,
                digest: members.text_or_none("digest")?,
            })
        }
    };
    Ok(Row {
        scope: members.text("scope")?,
        state: members.word("state", State::from_name, STATES)?,
        owner: members.text_or_none("owner")?,
        operation: members.text_or_none("operation")?,
        attempt: members.number("attempt")?,
        attempt_limit: members.number("attempt-limit")?,
        revision: members.number("revision")?,
        fingerprint: members.text_or_none("fingerprint")?,
        codec: members.text_or_none("codec")?,
        policy_revision: members.number("policy-revision")?,
        lease_until: members.number_or_none("lease-until")?,
        retry_at: members.number_or_none("retry-at")?,
        expires_at: members.number_or_none("expires-at")?,
        reason: members.text_or_none("reason")?,
        transition,
        result_digest: members.text_or_none("result-digest")?,
    })
}

fn tuple(args: &Members<'_, '_>) -> Fallible<Tuple> {
    let members = Members::of(args.present("tuple")?, "args.tuple")?;
    Ok(Tuple {
        owner: members.token("owner")?,
        operation: members.text("operation")?,
        attempt: members.number("attempt")?,
        revision: members.number("revision")?,
    })
}

fn call(members: &Members<'_, '_>, args: &Members<'_, '_>) -> Fallible<Call> {
    match members.text("call")?.as_str() {
        "claim" => Ok(Call::Claim {
            owner: args.token("owner")?,
            operation: args.text("operation")?,
            fingerprint: args.token_or_none("fingerprint")?,
            codec: args.text_or_none("codec")?,
            readable_codecs: args.texts("readable-codecs")?,
        }),
        "advance" => Ok(Call::Advance {
            tuple: tuple(args)?,
            kind: args.word("kind", AdvanceKind::from_name, "start, renew, complete, fail, abandon")?,
            transition: args.text("transition")?,
            digest: args.token_or_none("digest")?,
            reason: args.text_or_none("reason")?,
        }),
        "release" => Ok(Call::Release { tuple: tuple(args)?, transition: args.text("transition")? }),
        "inspect" => Ok(Call::Inspect {
            owner: args.token("owner")?,
            operation: args.text("operation")?,
            fingerprint: args.token_or_none("fingerprint")?,
        }),
        "resolve" => Ok(Call::Resolve {
            transition: args.text("transition")?,
            attempt: args.number("attempt")?,
            revision: args.number("revision")?,
            verdict: args.word("verdict", Verdict::from_name, "completed, no-effect, forget")?,
            digest: args.token_or_none("digest")?,
            extra_attempts: args.number_or_none("extra-attempts")?.unwrap_or(0),
        }),
        _ => fault("call", "is none of claim, advance, release, inspect, resolve"),
    }
}
