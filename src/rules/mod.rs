//! The rules of the trade as arithmetic: values in, values out. No SQL, no HTTP, no clock.

pub mod bytes;
pub mod change;
pub mod changed;
pub mod choice;
pub mod day;
pub mod deed;
pub mod document;
pub mod error;
pub mod felder;
pub mod fixed;
pub mod kasse;
pub mod number;
pub mod pairing;
pub mod plausible;
pub mod price;
pub mod receipt;
pub mod recipe;
pub mod repeat;
pub mod scope;
pub mod settlement;
pub mod stammdaten;
pub mod tax;
pub mod text;
pub mod unit;
pub mod verweis;
pub mod weighing;
