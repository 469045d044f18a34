//! Flow: the course of a request through the gate.
//!
//! Contains: `answer` (the whole course in one function), `admission` (the checks), `lanes` (slow lane and
//! writer), `completion` (answer and audit row), bulk requests, repeated requests, and turns on the slow
//! lane.
//! Does not contain: the socket (`http::server`) and what a route does (the slices).
//! Start with `answer.rs`.

pub mod admission;
pub mod answer;
pub mod bulk;
pub mod completion;
pub mod idempotency;
pub mod lanes;
pub mod shares;
pub mod turns;
pub mod waiters;
