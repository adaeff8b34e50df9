//! The command line, by the real binary.
//!
//! | module | what is held |
//! | --- | --- |
//! | [`help`] | what is said of the commands, and what is asked wrongly |
//! | [`config`] | one error for all that is wrong with a server's settings |
//! | [`log`] | what the server's log never holds |
//! | [`vectors`] | every vector passes, an altered one fails |
//! | [`recovery`] | what waits for a person, and how it ends |
//! | [`upkeep`] | inspect, purge, sweep, migrate |
//! | [`secret`] | rotation |
//! | [`decide`] | decisions over a pipe |

mod config;
mod decide;
mod help;
mod log;
mod recovery;
mod secret;
mod store;
mod upkeep;
mod vectors;

#[path = "../net/mod.rs"]
mod net;
