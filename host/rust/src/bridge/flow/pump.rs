//! The answer's body: through to the client, with a copy for the store.
//!
//! Its last bytes go out only once the answer is stored. What the last bytes are: of a small body of known length all of it (so that
//! an upstream that breaks off is still answered with a problem document), of a large one the part that ends it, of a stream the
//! mark that ends it, so that events pass without delay.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::Response;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;
use leasehold_decision::http::Failure;
use tokio::sync::{mpsc, oneshot};

use super::execute::{Fault, full};
use super::{Flow, Protected};
use crate::bridge::envelope::{Body as StoredBody, StoredAnswer};
use crate::bridge::forward::{BodyBroke, BoxError};
use crate::executor::handle::Started;
use crate::executor::settle::End;

/// A body of known length up to this is held until it is stored. Bytes.
const WHOLE_BODY_BYTES_MAX: u64 = 64 << 10;
/// Parts of a body that wait for a slow client.
const WAITING_FRAMES_MAX: usize = 16;

type Part = Result<Frame<Bytes>, BoxError>;

/// What the client gets of the body: `None` is its end. Without one the body breaks off, since it must never look whole.
struct ToClient {
    sender: Option<mpsc::Sender<Option<Part>>>,
    stall_max: Duration,
}

impl ToClient {
    async fn send(&mut self, part: Option<Part>) {
        let Some(sender) = &self.sender else {
            return;
        };
        match tokio::time::timeout(self.stall_max, sender.send(part)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => self.sender = None,
        }
    }

    async fn pass(&mut self, frame: Frame<Bytes>) {
        self.send(Some(Ok(frame))).await;
    }
}

/// The copy, as long as it is not too large.
struct Copy {
    bytes: Option<Vec<u8>>,
    length: u64,
    most: usize,
}

impl Copy {
    const fn new(most: usize) -> Self {
        Self { bytes: Some(Vec::new()), length: 0, most }
    }

    fn push(&mut self, data: &Bytes) {
        self.length = self.length.saturating_add(data.len() as u64);
        if self.length > self.most as u64 {
            self.bytes = None;
        }
        if let Some(bytes) = &mut self.bytes {
            bytes.extend_from_slice(data);
        }
    }

    fn into_stored(self) -> StoredBody {
        match self.bytes {
            Some(bytes) => StoredBody::Kept(bytes.into()),
            None => StoredBody::NotKept { length: Some(self.length) },
        }
    }
}

/// Why a body ended early. What others than the upstream's transport say stays out of the log.
fn broke_off(why: &axum::Error) -> Fault {
    let why = BodyBroke::find(why).map_or_else(|| "its body failed".to_owned(), ToString::to_string);
    Fault { failure: Failure::Broke, reason: "UPSTREAM_BROKE", detail: format!("in the middle of its answer: {why}") }
}

fn fell_silent() -> Fault {
    Fault { failure: Failure::Silent, reason: "UPSTREAM_SILENT", detail: "in the middle of its answer".to_owned() }
}

/// A body of one's own service may panic: that ends the body, and not the task that holds the record.
async fn next_part(body: &mut Body, timeout: Duration) -> Result<Option<Frame<Bytes>>, Fault> {
    let next = poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut *body).poll_frame(context)));
        polled.map_or_else(|_| Poll::Ready(Err(Fault::panicked())), |part| part.map(Ok))
    });
    match tokio::time::timeout(timeout, next).await {
        Ok(Ok(None)) => Ok(None),
        Ok(Ok(Some(Ok(frame)))) => Ok(Some(frame)),
        Ok(Ok(Some(Err(error)))) => Err(broke_off(&error)),
        Ok(Err(panicked)) => Err(panicked),
        Err(_) => Err(fell_silent()),
    }
}

impl Flow {
    /// Passes a successful answer on, and stores it.
    pub(super) async fn keep_and_pass(
        &self,
        protected: &Protected,
        started: Started,
        answer: Response<Body>,
        answer_to: oneshot::Sender<Response<Body>>,
    ) {
        let whole =
            answer.body().is_end_stream() || answer.body().size_hint().exact().is_some_and(|length| length <= WHOLE_BODY_BYTES_MAX);
        if whole {
            let _ = answer_to.send(self.pass_whole(protected, started, answer).await);
        } else {
            self.pass_stream(protected, started, answer, answer_to).await;
        }
    }

    async fn pass_whole(&self, protected: &Protected, started: Started, answer: Response<Body>) -> Response<Body> {
        let (parts, mut body) = answer.into_parts();
        let (mut copy, mut bytes, mut trailers) = (Copy::new(protected.route.keep_body_max), Vec::new(), None);
        loop {
            match next_part(&mut body, protected.route.upstream_timeout).await {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        copy.push(data);
                        bytes.extend_from_slice(data);
                    } else if let Ok(fields) = frame.into_trailers() {
                        trailers = Some(fields);
                    }
                }
                Err(fault) => return self.upstream_failed(started, &fault).await,
            }
        }
        let stored = StoredAnswer::new(parts.status, &parts.headers, copy.into_stored());
        self.settle(started, End::Success(stored.encode()), "executed").await;
        let body = full(bytes.into());
        Response::from_parts(
            parts,
            match trailers {
                None => body,
                Some(fields) => Body::new(body.with_trailers(std::future::ready(Some(Ok(fields))))),
            },
        )
    }

    async fn pass_stream(
        &self,
        protected: &Protected,
        started: Started,
        answer: Response<Body>,
        answer_to: oneshot::Sender<Response<Body>>,
    ) {
        let (parts, mut body) = answer.into_parts();
        let (sender, receiver) = mpsc::channel(WAITING_FRAMES_MAX);
        let mut head = Response::new(Body::new(Parts { receiver, ended: false }));
        *head.status_mut() = parts.status;
        *head.headers_mut() = parts.headers.clone();
        *head.version_mut() = parts.version;
        let _ = answer_to.send(head);
        let mut client = ToClient { sender: Some(sender), stall_max: protected.route.client_stall_max };
        let mut copy = Copy::new(protected.route.keep_body_max);
        let total = body.size_hint().exact();
        let mut held: Option<Frame<Bytes>> = None;
        loop {
            match next_part(&mut body, protected.route.upstream_timeout).await {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        copy.push(data);
                    }
                    let ends = frame.is_trailers() || total.is_some_and(|total| copy.length >= total);
                    match (ends, held.take()) {
                        (true, None) => held = Some(frame),
                        (true, Some(before)) => {
                            client.pass(before).await;
                            held = Some(frame);
                        }
                        (false, _) => client.pass(frame).await,
                    }
                }
                Err(fault) => {
                    let why = fault.detail.clone();
                    drop(self.upstream_failed(started, &fault).await);
                    client.send(Some(Err(why.into()))).await;
                    return;
                }
            }
        }
        let stored = StoredAnswer::new(parts.status, &parts.headers, copy.into_stored());
        self.settle(started, End::Success(stored.encode()), "executed").await;
        if let Some(frame) = held {
            client.pass(frame).await;
        }
        client.send(None).await;
    }
}

/// The parts that come through the channel, as a body.
struct Parts {
    receiver: mpsc::Receiver<Option<Part>>,
    ended: bool,
}

/// A body whose rest will not come: the client took nothing for too long, or the request's task ended.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the rest of the answer was given up")]
struct GivenUp;

impl http_body::Body for Parts {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Part>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let received = ready!(self.receiver.poll_recv(context));
        self.ended = !matches!(received, Some(Some(Ok(_))));
        Poll::Ready(received.unwrap_or_else(|| Some(Err(GivenUp.into()))))
    }
}
