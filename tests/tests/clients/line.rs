//! The way between a client and the bridge: hands bytes on as they are, loses or cuts the first answer where it is told to, and
//! notes when requests and answers went by.
//!
//! Reads only the heads of answers, and takes each to come in one piece, as hyper sends it. A client that hangs up is hung up on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leasehold_tests::wait::within;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

/// What the line does to the first answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Nothing.
    None,
    /// Nothing of it arrives.
    Lost,
    /// It breaks off after the first byte of its body.
    Cut,
}

/// What went by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passed {
    /// A request of the client.
    Asked {
        /// When.
        at: Instant,
    },
    /// An answer of the bridge, delivered or not.
    Answered(Answered),
}

/// The head of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// How long the client is to wait.
    pub retry_after: Option<Duration>,
    /// When it went by.
    pub at: Instant,
}

/// The client's end.
#[derive(Debug)]
pub struct Line {
    /// Where clients connect.
    pub address: SocketAddr,
    passed: watch::Receiver<Vec<Passed>>,
}

type Book = Arc<watch::Sender<Vec<Passed>>>;

impl Line {
    /// A line to this address.
    pub async fn to(target: SocketAddr, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self::on(listener, target, fault)
    }

    fn on(listener: TcpListener, target: SocketAddr, fault: Fault) -> Self {
        let address = listener.local_addr().expect("a bound port has an address");
        let (book, passed) = watch::channel(Vec::new());
        let book = Arc::new(book);
        tokio::spawn(async move {
            let mut fault = fault;
            while let Ok((client, _)) = listener.accept().await {
                let this = std::mem::replace(&mut fault, Fault::None);
                tokio::spawn(connection(client, target, this, Arc::clone(&book)));
            }
        });
        Self { address, passed }
    }

    /// The answers so far.
    pub fn answers(&self) -> Vec<Answered> {
        let answered = |passed: &Passed| match passed {
            Passed::Answered(answered) => Some(answered.clone()),
            Passed::Asked { .. } => None,
        };
        self.passed.borrow().iter().filter_map(answered).collect()
    }

    /// Their statuses.
    pub fn statuses(&self) -> Vec<u16> {
        self.answers().iter().map(|answered| answered.status).collect()
    }

    /// How long the client waited after each answer before it asked again, with that answer.
    pub fn waits(&self) -> Vec<(Answered, Duration)> {
        let passed = self.passed.borrow();
        let pairs = passed.windows(2).filter_map(|pair| match pair {
            [Passed::Answered(answered), Passed::Asked { at }] => Some((answered.clone(), at.duration_since(answered.at))),
            _ => None,
        });
        pairs.collect()
    }

    /// Waits until there was an answer with this status.
    pub async fn has_answered(&self, status: u16) {
        let is = |passed: &Passed| matches!(passed, Passed::Answered(answered) if answered.status == status);
        let mut passed = self.passed.clone();
        let waited = within("the bridge's answer", passed.wait_for(|passed| passed.iter().any(is))).await;
        waited.expect("the line is there");
    }
}

/// A port where connections are refused, as long as it is not opened; nobody else gets it.
#[derive(Debug)]
pub struct Closed {
    /// Where.
    pub address: SocketAddr,
    socket: TcpSocket,
}

impl Closed {
    /// One.
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");
        Self { address: socket.local_addr().expect("a bound port has an address"), socket }
    }

    /// From now on it leads to this address.
    pub fn open(self, target: SocketAddr) -> Line {
        Line::on(self.socket.listen(64).expect("it listens"), target, Fault::None)
    }
}

async fn connection(mut client: TcpStream, target: SocketAddr, fault: Fault, book: Book) {
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    let (_, _) = (client.set_nodelay(true), server.set_nodelay(true));
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let asking = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            if buffer[..read].starts_with(b"POST ") {
                book.send_modify(|passed| passed.push(Passed::Asked { at: Instant::now() }));
            }
            if to_server.write_all(&buffer[..read]).await.is_err() {
                break;
            }
        }
    };
    let answering = async {
        let (mut buffer, mut answer) = (vec![0; 64 * 1024], Vec::new());
        while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
            if let Some(answered) = head(&buffer[..read]) {
                book.send_modify(|passed| passed.push(Passed::Answered(answered)));
            }
            let sent = match fault {
                Fault::None => to_client.write_all(&buffer[..read]).await,
                Fault::Lost => break,
                Fault::Cut => {
                    answer.extend_from_slice(&buffer[..read]);
                    match body_at(&answer) {
                        Some(body) if body < answer.len() => {
                            let _ = to_client.write_all(&answer[..=body]).await;
                            break;
                        }
                        Some(_) | None => Ok(()),
                    }
                }
            };
            if sent.is_err() {
                break;
            }
        }
    };
    // Whoever ends first ends both sides.
    tokio::select! {
        () = asking => {}
        () = answering => {}
    }
}

/// Where the body begins.
fn body_at(answer: &[u8]) -> Option<usize> {
    answer.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

fn head(bytes: &[u8]) -> Option<Answered> {
    let status = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let text = String::from_utf8_lossy(&bytes[..body_at(bytes)?]).to_ascii_lowercase();
    let seconds = text.lines().find_map(|line| line.strip_prefix("retry-after:")).map(str::trim);
    Some(Answered {
        status: std::str::from_utf8(status).ok()?.parse().ok()?,
        retry_after: seconds.map(|seconds| Duration::from_secs(seconds.parse().expect("whole seconds"))),
        at: Instant::now(),
    })
}
