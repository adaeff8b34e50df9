//! Tests of the five calls of `leasehold-rules`, one file a call, through the packed form: a line tells a decision and all that it
//! changes.

mod advance;
mod call;
mod claim;
mod fixtures;
mod inspect;
mod release;
mod resolve;
