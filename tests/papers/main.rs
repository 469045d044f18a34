//! What is printed, billed, booked and read in, held against samples, official totals and published examples.

#[path = "../programs/mod.rs"]
mod programs;

mod blatt;
mod datev;
mod einlesen;
mod erechnung;
mod settlement;
