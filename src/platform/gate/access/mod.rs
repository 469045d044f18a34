//! Access: who may use the interface, and how often.
//!
//! In it: keys and their verification, the daily quota, the limit per address, CORS.
//! Not in it: the scopes of routes (`http::route`) and the sessions of people (`leitstand::access`).
//! Begin with `key.rs`.

pub mod address;
pub mod cors;
pub mod ip_limit;
pub mod key;
pub mod key_changes;
pub mod quota;
pub mod verifying;
