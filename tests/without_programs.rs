//! Counts the tests that were skipped because a program is missing. Cargo runs test binaries in the order of
//! their names, this one last.

use std::collections::BTreeSet;
use std::fs;

mod programs;

#[test]
fn tests_that_lacked_a_program_are_counted() {
    let Ok(records) = fs::read_dir(programs::records()) else { return };
    let mut programs = BTreeSet::new();
    let mut tests = 0;
    for record in records {
        let record = record.unwrap().path();
        let missing = fs::read_to_string(&record).unwrap();
        fs::remove_file(record).unwrap();
        // A program missing in an earlier run may have been installed since.
        let missing: Vec<_> =
            missing.lines().filter(|program| programs::is_missing(program)).map(str::to_owned).collect();
        tests += usize::from(!missing.is_empty());
        programs.extend(missing);
    }
    if tests > 0 {
        let missing = programs.into_iter().collect::<Vec<_>>().join(", ");
        programs::say(&format!("{tests} tests were passed over: install {missing}"));
    }
}
