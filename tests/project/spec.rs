//! `spec.md` names, for every sentence of the specification and of the decisions, the test that fails without
//! it. This checks that those tests exist, and that every rule has one.

use std::fs;
use std::path::Path;

/// Headings of the specification that concern today's routes.
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

/// The decisions by their headings: `## D8 Stock and batches …`.
fn decisions() -> Vec<&'static str> {
    let headings =
        include_str!("../../docs/decisions.md").lines().filter_map(|line| line.strip_prefix("## D"));
    let numbers = headings.filter(|heading| heading.starts_with(|first: char| first.is_ascii_digit()));
    let names = numbers.map(|heading| heading.split(' ').next().unwrap());
    let decisions: Vec<_> = names.collect();
    assert!(decisions.len() >= 28, "only {decisions:?} were read");
    decisions
}

#[test]
fn every_decision_has_rows() {
    let rows = rows();
    for number in decisions() {
        let decision = format!("D{number}");
        assert!(rows.iter().any(|(rule, ..)| *rule == decision), "{decision} has no row in spec.md");
    }
}

#[test]
fn every_heading_of_the_specification_has_rows() {
    let rows = rows();
    for heading in HEADINGS {
        assert!(rows.iter().any(|(rule, ..)| rule.starts_with(heading)), "{heading} has no row");
    }
}
