//! The interface over HTTP: the real server on a real socket and a real SQLite file. One file per subject;
//! `harness` explains how to write a test.

#[path = "../papers/datev/checker/mod.rs"]
mod datev;
#[path = "../torture/dice.rs"]
mod dice;
mod harness;
#[path = "../programs/mod.rs"]
mod programs;

mod contract;
mod goods;
mod interface;
mod leitstand;
mod master;
mod office;
mod operations;
mod platform;
mod trade;
mod validator;
