//! The macro that embeds the migrations names only the files that it found: Cargo has to look for new ones itself.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
    println!("cargo::rerun-if-changed=src/db/migrate/before");
}
