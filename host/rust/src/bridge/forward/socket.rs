//! A socket that does not miss what the upstream has done already.
//!
//! tokio learns from time to time what became of its sockets, and hyper asks a kept connection whether it was closed before it
//! writes a request to it. In between lies a gap, wide on a busy machine, in which the close has arrived and is not known: the
//! request would be written into nothing, and count as "effect unknown". So where tokio knows of nothing to read, the system
//! is asked, at the price of one call. What is left is the close that is still on its way through the network.
//!
//! Knows nothing of HTTP. Tests: `tests/tests/forward/connections.rs`.

use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::coop::has_budget_remaining;

/// Most that is read at once past tokio. Bytes.
const PART_BYTES_MAX: usize = 4_096;

/// A connection to the upstream.
#[derive(Debug)]
pub(super) struct Socket(pub(super) TcpStream);

impl Socket {
    /// What there is to read, by the system's word; `None` for nothing yet.
    fn read_now(&self, buffer: &mut ReadBuf<'_>) -> Option<io::Result<()>> {
        let most = buffer.remaining().min(PART_BYTES_MAX);
        if most == 0 {
            return None;
        }
        match (&*SockRef::from(&self.0)).read(buffer.initialize_unfilled_to(most)) {
            Ok(read) => {
                buffer.advance(read);
                Some(Ok(()))
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.0).poll_read(context, buffer) {
            // Without budget tokio says "pending" to let others run, and has arranged for another turn.
            Poll::Pending if has_budget_remaining() => self.read_now(buffer).map_or(Poll::Pending, Poll::Ready),
            polled => polled,
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl Connection for Socket {
    fn connected(&self) -> Connected {
        self.0.connected()
    }
}
