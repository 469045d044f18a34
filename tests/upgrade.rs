//! Upgrades with the real executable (P11): a database of every older schema, one that is killed at
//! its steps, one that is newer.

mod process;
mod programs;

mod upgrade {
    mod before;
    mod older;
    mod steps;
    mod to_come;
}
