//! The bridge from end to end: real sockets, a real server, a real SQLite file. Each row of both tables of section 6 of the contract,
//! and what broke bridges of this kind before.

#[path = "../net/mod.rs"]
mod net;

mod admin;
mod answers;
mod duplicates;
mod keys;
mod layer;
mod lifetime;
mod log;
mod passing;
mod principals;
mod statuses;
mod store;
mod streams;
mod transports;
mod upstream;
