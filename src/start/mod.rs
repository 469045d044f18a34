//! Start: how the process begins and ends.
//!
//! Contains: settings ([`config`]), the service with its threads ([`service`]) and the command line ([`cli`]),
//! one command per file.
//! Does not contain: what a command does; it calls `operations` and the slices.
//! Start with `cli/mod.rs` for the commands, with `service.rs` for the threads.

pub mod service;

pub mod config;

pub mod cli;
