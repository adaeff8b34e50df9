//! Bodies on their way: the request's, which tells when it moved last, and the answer's, whose breaking is an error of its own.
//!
//! Knows no limits. Tests: `tests/tests/forward/`.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::error::BodyBroke;

/// When something of a request moved last: the wait for its answer begins then.
#[derive(Clone, Debug)]
pub(super) struct Progress(Arc<Mutex<Instant>>);

impl Progress {
    pub(super) fn begin() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    pub(super) fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn moved(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// A request's body, as hyper pulls it.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) body: Body,
    pub(super) progress: Progress,
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_ready() {
            self.progress.moved();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body, as the upstream sends it.
#[derive(Debug)]
pub(super) struct Answer(pub(super) Incoming);

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = BodyBroke;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyBroke>>> {
        Pin::new(&mut self.0).poll_frame(context).map_err(BodyBroke::from)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
