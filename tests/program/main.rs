//! The executable, as scripts, administrators, partners' programs and accidents meet it.

#[path = "../process/mod.rs"]
mod process;
#[path = "../programs/mod.rs"]
mod programs;

mod admin;
mod bounds;
mod cli;
mod commands;
mod cost;
mod crash;
mod feed;
mod firma;
mod gate;
mod import;
mod seals;
mod socket;
mod systemd;
mod tls;
mod upgrade;
