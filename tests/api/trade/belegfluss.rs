//! Belegfluss: positions know where they come from (D38).

mod ids;

