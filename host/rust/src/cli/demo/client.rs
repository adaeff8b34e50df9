//! Who buys: a request on a connection of its own, as from a hundred phones; and what came back, told in a word.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE, HOST, RETRY_AFTER};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, JoinSet};

use crate::bridge::envelope::REPLAYED;

/// How long a client waits for its answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// What stands before the name of a problem of leasehold's.
const PROBLEM: &str = "urn:leasehold:problem:";

/// A request for a charge.
#[derive(Clone, Debug)]
pub(super) struct Buy {
    /// Where leasehold listens.
    pub(super) server: SocketAddr,
    /// The Idempotency-Key.
    pub(super) key: String,
    /// The body.
    pub(super) payload: String,
}

/// What a client got.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Got {
    /// An answer.
    Answer(Answer),
    /// None: why.
    Nothing(String),
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(rename = "type")]
    type_uri: String,
    #[serde(default)]
    title: String,
    reference: Option<String>,
}

impl Problem {
    fn name(&self) -> &str {
        self.type_uri.strip_prefix(PROBLEM).unwrap_or(&self.type_uri)
    }
}

impl Buy {
    /// Sends it and waits for the answer.
    pub(super) async fn send(&self) -> Got {
        match tokio::time::timeout(PATIENCE, self.exchange()).await {
            Ok(Ok(answer)) => Got::Answer(answer),
            Ok(Err(error)) => Got::Nothing(error),
            Err(_) => Got::Nothing(format!("no answer within {} s", PATIENCE.as_secs())),
        }
    }

    /// The same from many clients at once.
    pub(super) async fn send_at_once(&self, clients: usize) -> Vec<Got> {
        let mut sending = JoinSet::new();
        for _ in 0..clients {
            let buy = self.clone();
            sending.spawn(async move { buy.send().await });
        }
        sending.join_all().await
    }

    /// Sends it, and lets the caller do something else meanwhile.
    pub(super) fn begin(&self) -> UnderWay {
        let buy = self.clone();
        UnderWay(tokio::spawn(async move { buy.send().await }))
    }

    async fn exchange(&self) -> Result<Answer, String> {
        let lost = |error: &dyn std::error::Error| format!("the connection broke: {error}");
        let stream = TcpStream::connect(self.server).await.map_err(|error| format!("no connection: {error}"))?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| lost(&error))?;
        let request = self.request()?;
        let answer = async {
            let (head, body) = sender.send_request(request).await?.into_parts();
            Ok(Answer { status: head.status, headers: head.headers, body: body.collect().await?.to_bytes() })
        };
        // The connection lives in this future: who drops it has hung up.
        let connection = async {
            drop(connection.await);
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            answer = answer => answer.map_err(|error: hyper::Error| lost(&error)),
            never = connection => match never {},
        }
    }

    fn request(&self) -> Result<Request<Full<Bytes>>, String> {
        Request::builder()
            .method(Method::POST)
            .uri("/v1/charges")
            .header(HOST, self.server.to_string())
            .header(CONTENT_TYPE, "application/json")
            .header("idempotency-key", format!("\"{}\"", self.key))
            .body(Full::from(self.payload.clone()))
            .map_err(|error| format!("no request: {error}"))
    }
}

/// A request whose answer is not there yet.
#[derive(Debug)]
pub(super) struct UnderWay(JoinHandle<Got>);

impl UnderWay {
    /// Closes the connection, and is gone when this returns.
    pub(super) async fn hang_up(self) -> Got {
        self.0.abort();
        match self.0.await {
            Ok(got) => got,
            Err(_) => Got::Nothing("it hung up".to_owned()),
        }
    }

    /// Waits for the answer.
    pub(super) async fn answer(self) -> Got {
        self.0.await.unwrap_or_else(|_| Got::Nothing("the client ended".to_owned()))
    }
}

impl Got {
    /// In a word: `201`, `201 replayed`, `409 request-in-progress`, `no answer`.
    pub(super) fn label(&self) -> String {
        let Self::Answer(answer) = self else {
            return "no answer".to_owned();
        };
        let status = answer.status.as_u16();
        match (answer.replayed(), answer.problem()) {
            (true, _) => format!("{status} replayed"),
            (false, Some(problem)) => format!("{status} {}", problem.name()),
            (false, None) => status.to_string(),
        }
    }

    /// The reference that is to be given to an operator.
    pub(super) fn reference(&self) -> Option<String> {
        let Self::Answer(answer) = self else { return None };
        answer.problem()?.reference
    }

    /// What it says beyond that, in a line for each: the body of an answer, or what a problem has to say.
    pub(super) fn details(&self) -> Vec<String> {
        match self {
            Self::Nothing(why) => vec![why.clone()],
            Self::Answer(answer) => match (answer.problem(), self.reference()) {
                (Some(problem), Some(reference)) => vec![problem.title, format!("reference {reference}")],
                (Some(problem), None) => vec![problem.title],
                (None, _) => vec![String::from_utf8_lossy(&answer.body).into_owned()],
            },
        }
    }

    /// How long the client was told to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let Self::Answer(answer) = self else { return None };
        answer.headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
    }

    /// Whether this is the other's answer, byte for byte: status, body, and every header but for the date and the mark of a replay.
    pub(super) fn is_the_answer(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Answer(one), Self::Answer(other)) => one.lasting() == other.lasting(),
            (Self::Nothing(_), _) | (_, Self::Nothing(_)) => false,
        }
    }
}

impl Answer {
    fn replayed(&self) -> bool {
        self.headers.get(REPLAYED).is_some_and(|value| value == "true")
    }

    /// What it says, where it is a problem of leasehold's.
    fn problem(&self) -> Option<Problem> {
        serde_json::from_slice(&self.body).ok().filter(|problem: &Problem| problem.type_uri.starts_with(PROBLEM))
    }

    /// What a replay has in common with the first answer.
    fn lasting(&self) -> (StatusCode, HeaderMap, &Bytes) {
        let mut headers = self.headers.clone();
        headers.remove(DATE);
        headers.remove(REPLAYED);
        (self.status, headers, &self.body)
    }
}

/// How many got what: `1x 201, 99x 409 request-in-progress`; of one client what it got.
pub(super) fn summary(got: &[Got]) -> String {
    if let [one] = got {
        return one.label();
    }
    let mut counted: Vec<(String, usize)> = Vec::new();
    for label in got.iter().map(Got::label) {
        match counted.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => counted.push((label, 1)),
        }
    }
    // By status; those of one status in the order in which they came.
    counted.sort_by(|(one, _), (other, _)| one.split(' ').next().cmp(&other.split(' ').next()));
    counted.iter().map(|(label, count)| format!("{count}x {label}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &'static str) -> Got {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Got::Answer(Answer { status: StatusCode::from_u16(status).unwrap(), headers, body: Bytes::from(body) })
    }

    fn refusal() -> Got {
        answer(
            409,
            &[("retry-after", "2")],
            r#"{"type":"urn:leasehold:problem:recovery-required","title":"In doubt","reference":"r-1"}"#,
        )
    }

    #[test]
    fn what_came_is_told_in_a_word() {
        let check = |got: Got, expected: &str| assert_eq!(got.label(), expected);
        check(answer(201, &[], "{}"), "201");
        check(answer(201, &[("idempotency-replayed", "true")], "{}"), "201 replayed");
        check(refusal(), "409 recovery-required");
        check(answer(502, &[], r#"{"type":"about:blank"}"#), "502");
        check(Got::Nothing("it broke".to_owned()), "no answer");
    }

    #[test]
    fn a_refusal_says_how_long_and_which() {
        assert_eq!(refusal().reference().as_deref(), Some("r-1"));
        assert_eq!(refusal().retry_after(), Some(Duration::from_secs(2)));
        assert_eq!(answer(201, &[], "{}").reference(), None);
    }

    #[test]
    fn the_rest_is_told_in_lines() {
        assert_eq!(answer(201, &[], "{}").details(), ["{}"]);
        assert_eq!(refusal().details(), ["In doubt", "reference r-1"]);
    }

    #[test]
    fn a_replay_is_the_same_answer_and_another_body_or_header_is_not() {
        let first = answer(201, &[("date", "today"), ("location", "/1")], "{}");
        let replay = answer(201, &[("date", "tomorrow"), ("location", "/1"), ("idempotency-replayed", "true")], "{}");
        assert!(replay.is_the_answer(&first));
        assert!(!answer(201, &[("location", "/1")], "{ }").is_the_answer(&first));
        assert!(!answer(201, &[("location", "/2")], "{}").is_the_answer(&first));
        assert!(!answer(200, &[("location", "/1")], "{}").is_the_answer(&first));
    }

    #[test]
    fn many_are_counted() {
        assert_eq!(summary(&[refusal(), answer(201, &[], ""), refusal()]), "1x 201, 2x 409 recovery-required");
        assert_eq!(summary(&[refusal(), answer(409, &[], "")]), "1x 409 recovery-required, 1x 409");
        assert_eq!(summary(&[refusal()]), "409 recovery-required");
    }
}
