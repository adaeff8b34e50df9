//! A socket that does not end an answer by being closed.
//!
//! An answer of unknown length to HTTP/1.0 ends with its connection (RFC 9112, 6.3), and a plain close says that all of it is there.
//! So where such an answer is under way and has not ended, whatever closes the socket (a body that failed, a panic, a grace that is
//! over) closes it with a reset.
//!
//! Knows nothing of HTTP. Tests: `tests/tests/listen.rs`, `tests/tests/bridge/upstream.rs`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Whether an answer is under way that the close of its connection would end. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Unended(Arc<AtomicBool>);

impl Unended {
    /// What holds from now on: an answer has begun, or all of it was written.
    pub(super) fn set(&self, under_way: bool) {
        self.0.store(under_way, Ordering::Relaxed);
    }
}

/// A connection from a client.
#[derive(Debug)]
pub(super) struct Socket {
    tcp: TcpStream,
    answer: Unended,
}

impl Socket {
    pub(super) const fn new(tcp: TcpStream, answer: Unended) -> Self {
        Self { tcp, answer }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.answer.0.load(Ordering::Relaxed)
            && let Err(error) = self.tcp.set_zero_linger()
        {
            tracing::warn!(%error, "an answer that broke off may look whole to its client");
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
