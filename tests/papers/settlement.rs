//! Settlement of raw goods (D29) as arithmetic: the published examples, and random cases against exact fractions.

#[path = "../torture/dice.rs"]
mod dice;

mod chance;
mod examples;
mod fraction;
mod published;
mod refused;
mod schemes;
