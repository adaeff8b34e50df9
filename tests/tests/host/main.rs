//! The host library on real SQLite files: one test binary, since each links everything.
//!
//! | module | what is held |
//! | --- | --- |
//! | [`agreement`] | the component, the native code and the model decide alike; limits, ends of the ranges, memory |
//! | [`hostile`] | components that trap, loop or are no components |
//! | [`lifecycle`] | claim, start, action, heartbeat, end |
//! | [`leases`] | leases, takeover, fencing: cases 1, 3 and 5 to 12, 19 |
//! | [`budget`] | tries: cases 14, 15, 17, and settings that are refused |
//! | [`sweep`] | executions that nobody asks about: case 13 |
//! | [`faults`] | every store operation goes wrong in every way, one after the other |
//! | [`transaction`] | start, the action's writes and complete commit together |
//! | [`rotation`] | secrets and their versions |
//! | [`file`] | files that cannot be used |
//! | [`processes`] | several processes on one file; a rolling upgrade |
//! | [`kills`] | `kill -9` before and after every statement |
//! | [`child`] | what the child processes of these tests do |

mod agreement;
mod budget;
mod child;
mod faults;
mod file;
mod hostile;
mod kills;
mod leases;
mod lifecycle;
mod processes;
mod rotation;
mod sweep;
mod transaction;
