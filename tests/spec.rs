//! `spec.md` names, for every sentence of the specification and of the decisions, the test that
//! fails without it. This looks whether those tests are there, and whether a rule was forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Decisions that today's routes touch.
const DECISIONS: &[&str] = &[
    "D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D10", "D11", "D12", "D13", "D14", "D15", "D16",
    "D17", "D18", "D19", "D20", "D21", "D22", "D23",
];

/// Headings of the specification that today's routes touch.
const HEADINGS: &[&str] = &[
    "S What the service does",
    "S Resources",
    "S States",
    "S Endpoints Kunden",
    "S Endpoints Artikel",
    "S Endpoints Belege",
    "S Endpoints Rohwaren",
    "S Endpoints Chargen",
    "S Endpoints Produktion",
    "S Endpoints Kasse",
    "S Endpoints Waage",
    "S Endpoints Sonstiges",
    "S Authentication",
    "S Errors",
    "S Limits",
    "S Versioning",
];

/// Rule, sentence, and the tests of a row.
fn rows() -> Vec<(String, String, Vec<String>)> {
    let table = include_str!("spec.md").lines().filter(|line| line.starts_with("| ")).skip(1);
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [rule, sentence, tests] = cells.as_slice() else { panic!("not three cells: {line}") };
        let tests = tests.split_whitespace().map(str::to_owned).collect();
        ((*rule).to_owned(), (*sentence).to_owned(), tests)
    };
    table.map(row).collect()
}

fn is_a_test(name: &str) -> bool {
    let (file, function) = name.split_once("::").unwrap_or_else(|| panic!("{name} is no file::function"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file).with_extension("rs");
    let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    source.contains(&format!("#[test]\nfn {function}()"))
}

#[test]
fn every_sentence_has_a_test_that_is_there() {
    let rows = rows();
    assert!(rows.len() > 100, "only {} rows were read", rows.len());
    for (rule, sentence, tests) in &rows {
        assert!(!tests.is_empty(), "{rule}: {sentence} has no test");
        for test in tests {
            assert!(is_a_test(test), "{rule}: {sentence}: there is no test {test}");
        }
    }
}

#[test]
fn no_rule_was_forgotten() {
    let rows = rows();
    let named: BTreeSet<&str> = rows.iter().map(|(rule, _, _)| rule.as_str()).collect();
    for decision in DECISIONS {
        assert!(named.contains(decision), "{decision} has no row");
    }
    for heading in HEADINGS {
        assert!(named.iter().any(|rule| rule.starts_with(heading)), "{heading} has no row");
    }
}
