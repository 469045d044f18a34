//! P26: no crate of the executables is in `Cargo.lock` in a version with a known advisory.
//!
//! A trial compares a version there with a RustSec advisory for its crate. The table is a snapshot of the
//! newest advisories for crates that process or store what strangers send; `cargo deny check advisories`
//! checks all crates, where the database can be fetched (`packaging/deny.toml`).

use crate::experiment::{Case, Experiment};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P26",
    what: "versions in Cargo.lock against the newest advisory for the crate",
    needs: &[],
    seeds: 1,
    case,
    fault: "each crate is taken for the last version before the one that mended it",
    control_seeds: 1,
};

/// The crate, the advisory, and the first fixed version, as of 2026-11-26.
const ADVISORIES: &[(&str, &str, [u64; 3])] = &[
    ("bytes", "RUSTSEC-2026-0007", [1, 11, 1]),
    ("calamine", "RUSTSEC-2021-0015", [0, 17, 0]),
    ("crossbeam-channel", "RUSTSEC-2025-0024", [0, 5, 15]),
    ("hyper", "RUSTSEC-2022-0022", [0, 14, 12]),
    ("idna", "RUSTSEC-2024-0421", [1, 0, 0]),
    ("lettre", "RUSTSEC-2026-0141", [0, 11, 22]),
    ("libsqlite3-sys", "RUSTSEC-2022-0090", [0, 25, 1]),
    ("mio", "RUSTSEC-2024-0019", [0, 8, 11]),
    ("quick-xml", "RUSTSEC-2026-0194, RUSTSEC-2026-0195", [0, 41, 0]),
    ("regex", "RUSTSEC-2022-0013", [1, 5, 5]),
    ("ring", "RUSTSEC-2025-0009", [0, 17, 12]),
    ("rusqlite", "RUSTSEC-2021-0128", [0, 26, 2]),
    ("rustls", "RUSTSEC-2026-0285", [0, 23, 45]),
    ("rustls-webpki", "RUSTSEC-2026-0104", [0, 103, 13]),
    ("slab", "RUSTSEC-2025-0047", [0, 4, 11]),
    ("smallvec", "RUSTSEC-2021-0003", [1, 6, 1]),
    ("time", "RUSTSEC-2026-0009", [0, 3, 47]),
    ("tokio", "RUSTSEC-2025-0023", [1, 44, 2]),
    ("zip", "RUSTSEC-2025-0168", [2, 3, 0]),
];

fn case(case: &mut Case) -> Result<u64, String> {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).unwrap();
    let mut trials = 0;
    for (name, advisory, mended) in ADVISORIES {
        let versions = versions(&lock, name);
        if versions.is_empty() {
            return Err(format!("{name} is no longer in Cargo.lock: its advisory says nothing"));
        }
        for version in versions {
            let version = if case.has_fault { before(*mended) } else { version };
            if version < *mended {
                return Err(format!("{name} {version:?}: {advisory}, mended in {mended:?}"));
            }
            trials += 1;
        }
    }
    Ok(trials)
}

/// The versions of a crate in a `Cargo.lock`.
fn versions(lock: &str, name: &str) -> Vec<[u64; 3]> {
    let package = format!("[[package]]\nname = \"{name}\"\nversion = \"");
    lock.split(&package).skip(1).map(|rest| numbers(rest.split('"').next().unwrap())).collect()
}

/// Major, minor and patch of a version; the part after `-` or `+` is ignored.
fn numbers(version: &str) -> [u64; 3] {
    let mut numbers = version.split(['-', '+']).next().unwrap().split('.').map(|part| part.parse().unwrap());
    [(); 3].map(|()| numbers.next().unwrap())
}

fn before([major, minor, patch]: [u64; 3]) -> [u64; 3] {
    match (minor, patch) {
        (0, 0) => [major - 1, u64::MAX, 0],
        (_, 0) => [major, minor - 1, u64::MAX],
        _ => [major, minor, patch - 1],
    }
}
