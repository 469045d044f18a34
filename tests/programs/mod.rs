//! Programs that a test needs and a machine may lack (strace, curl, qpdf, pdftotext). Such a test says so and
//! passes; tests/without_programs.rs counts them at the end of `cargo test`. With PARTNERD_REQUIRE_PROGRAMS
//! it fails instead, as in `.ci/run`.

// Each test binary uses only a part of this.
#![allow(dead_code, unused_imports, unused_macros)]

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Folder with a file for each skipped test, named after it, which lists the missing programs.
pub fn records() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("passed-over")
}

/// Listed among the programs by a test that mounts a file system; usually only root may.
pub const MOUNT: &str = "the right to mount";

pub fn is_missing(program: &str) -> bool {
    if program == MOUNT {
        return !may_mount();
    }
    let started = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    started.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

fn may_mount() -> bool {
    let place = tempfile::TempDir::new().unwrap();
    let runs = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).arg(place.path()).output().is_ok_and(|output| output.status.success())
    };
    runs("mount", &["-t", "tmpfs", "-o", "size=1m", "none"]) && runs("umount", &[])
}

/// Ends a test that lacks one of its programs.
macro_rules! needs {
    ($($program:literal),+) => {
        if $crate::programs::are_missing(&[$($program),+]) {
            return;
        }
    };
}
pub(crate) use needs;

/// Whether a test lacks a program. If so, says which, or fails if all are required.
pub fn are_missing(programs: &[&str]) -> bool {
    let missing: Vec<&str> = programs.iter().copied().filter(|program| is_missing(program)).collect();
    if missing.is_empty() {
        return false;
    }
    let test = format!("{}::{}", env!("CARGO_CRATE_NAME"), std::thread::current().name().unwrap());
    let list = missing.join(", ");
    assert!(std::env::var_os("PARTNERD_REQUIRE_PROGRAMS").is_none(), "{test} needs {list}");
    fs::create_dir_all(records()).unwrap();
    fs::write(records().join(test.replace("::", ".")), missing.join("\n")).unwrap();
    say(&format!("test {test} passed over: it needs {list}"));
    true
}

/// Writes a line to stderr.
#[expect(clippy::explicit_write, reason = "the test harness holds back what eprintln writes")]
pub fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").unwrap();
}
