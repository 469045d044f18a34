//! Whether the project is what its documents, its map and its description say.

#[path = "../process/mod.rs"]
mod process;
#[path = "../programs/mod.rs"]
mod programs;

mod architecture;
mod citations;
mod columns;
mod description;
mod documents;
mod spec;
