//! Upgrades (P11): a database that gets a future migration, undisturbed, killed at its steps and by many
//! processes at once; a newer one, and one from before 1.0.

mod steps;
mod to_come;
