//! Access: who may use the interface, and how often.
//!
//! Contains: keys and their verification, the daily quota, the limit per address, CORS.
//! Does not contain: the scopes of routes (`http::route`) and the sessions of people (`leitstand::access`).
//! Start with `key.rs`.

pub mod address;
pub mod cors;
pub mod ip_limit;
pub mod key;
pub mod key_changes;
pub mod quota;
pub mod verifying;
