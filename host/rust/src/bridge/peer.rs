//! Who is at the other end of a connection: an extension of every request that the listener hands on.
//!
//! Knows nothing of requests. Tests: `tests/tests/listen.rs`.

use std::net::SocketAddr;

/// The client's end of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Its address, as the socket tells it.
    pub address: SocketAddr,
    /// How it speaks.
    pub transport: Transport,
}

/// How a client speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// In plain text.
    Plain,
    /// Through TLS.
    Tls,
}

impl Transport {
    /// The scheme of its URLs.
    #[must_use]
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Plain => "http",
            Self::Tls => "https",
        }
    }
}
