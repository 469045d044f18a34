//! Upgrades (P11): a database that gets the migration to come, whole, killed at its steps and by many at once; one that
//! is newer, and one from before 1.0.

mod process;
mod programs;

mod upgrade {
    mod steps;
    mod to_come;
}
