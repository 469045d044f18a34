//! Everything that code and tests cite can be looked up: `D8` and `D21g` have a heading in docs/decisions.md,
//! `P7` in docs/promises.md, `wall 5` in docs/ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The first letter of a citation, the file with its heading, and the minimum number of citations in code and
/// tests: with fewer, the test has not read everything.
const KINDS: &[(char, &str, usize)] =
    &[('D', "docs/decisions.md", 300), ('P', "docs/promises.md", 15), ('w', "docs/ARCHITECTURE.md", 2)];

/// Folders with files that cite, the file extension, and the comment mark. Only comments count: in strings D1
/// may be the number of a customer.
const FOLDERS: &[(&str, &str, &str)] =
    &[("src", "rs", "//"), ("tests", "rs", "//"), ("migrations", "sql", "--"), ("config", "toml", "#")];

/// Further files that cite, with their comment mark. Without a mark the whole text counts.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "#"),
    ("tests/project/spec.md", ""),
    ("docs/decisions.md", ""),
    ("docs/promises.md", ""),
    ("docs/command-line.md", ""),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found
}

/// The comment of a line; the slashes of an address such as https://shop.example begin none.
fn comment<'l>(line: &'l str, mark: &str) -> &'l str {
    let mut marks = line.match_indices(mark);
    let first = marks.find(|(at, _)| !line[..*at].ends_with(':'));
    first.map_or("", |(at, _)| &line[at + mark.len()..])
}

/// Whether a word names a decision or a promise: D or P, a number, and optionally a small letter.
fn is_name(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(['D', 'P']) else { return false };
    let number = rest.strip_suffix(|last: char| last.is_ascii_lowercase()).unwrap_or(rest);
    (1..=3).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// The decisions, promises and walls that a text names, in order.
fn cited(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut before = "";
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    for word in text.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()) {
        if is_name(word) {
            names.push(word.to_owned());
        } else if before.eq_ignore_ascii_case("wall") && word.bytes().all(|digit| digit.is_ascii_digit()) {
            names.push(format!("wall {word}"));
        }
        before = word;
    }
    names
}

/// The names explained in a document, at the beginning of a heading, or in bold at the beginning of a paragraph.
fn explained(document: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in document.lines() {
        let title = line.trim_start_matches(['#', '*', '-', ' ']);
        let is_lead = line.trim_start_matches(['-', ' ']).starts_with("**");
        let first = cited(title).into_iter().next();
        let begins = |name: &String| title.to_lowercase().starts_with(&name.to_lowercase());
        if line.starts_with('#') || is_lead {
            names.extend(first.filter(begins));
        }
    }
    names
}

/// Every file that cites, with its comment mark.
fn citing() -> Vec<(PathBuf, &'static str)> {
    let mut citing = Vec::new();
    for (folder, ending, mark) in FOLDERS {
        let found = files(&root().join(folder), ending);
        assert!(!found.is_empty(), "{folder} has no file that ends with .{ending}");
        citing.extend(found.into_iter().map(|path| (path, *mark)));
    }
    citing.extend(FILES.iter().map(|(path, mark)| (root().join(path), *mark)));
    citing
}

#[test]
fn every_citation_has_its_heading() {
    let mut known = BTreeSet::new();
    for (kind, document, _) in KINDS {
        let names = explained(&read(&root().join(document)));
        known.extend(names.into_iter().filter(|name| name.starts_with(*kind)));
    }
    let mut unknown = BTreeSet::new();
    let mut seen: BTreeMap<char, usize> = BTreeMap::new();
    for (path, mark) in citing() {
        let text = read(&path);
        // A wall and its number may be on two lines.
        let comments: Vec<&str> = text.lines().map(|line| comment(line, mark)).collect();
        for name in cited(&comments.join("\n")) {
            // The documents cite themselves by their headings, which does not count.
            if !path.starts_with(root().join("docs")) {
                *seen.entry(name.chars().next().unwrap()).or_default() += 1;
            }
            if !known.contains(&name) {
                unknown.insert(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "these have no heading in docs: {unknown:#?}");
    for (kind, _, least) in KINDS {
        let found = seen.get(kind).copied().unwrap_or_default();
        assert!(found >= *least, "only {found} citations that begin with {kind} were read");
    }
}

#[test]
fn only_names_in_comments_are_citations() {
    assert_eq!(cited("(D8, D21g; P7's: wall 5, Wall\n! 11)"), ["D8", "D21g", "P7", "wall 5", "wall 11"]);
    assert!(cited("D D_1 AD8 D8ab D1234 p99 K-1001 PDF/A-3b 5 walls, wall of 5").is_empty());
    assert_eq!(comment("kunde(D1); -- as D8 says", "--"), " as D8 says");
    assert_eq!(comment("kunde(D1)", "--"), "");
    assert_eq!(comment("| D8 | a row |", ""), "| D8 | a row |");
    let address = ["see https:", "shop.example ", " D8"].join("//");
    assert_eq!(comment(&address, "//"), " D8");
}

#[test]
fn only_headings_and_bold_beginnings_explain() {
    let leads = "# Law\n## D8 Stock\n### Wall 5: one place\n- **D21g** contracts\n";
    let mentions = "as D9 says\n## After D10\n**so D11**\n- D12\n";
    let expected = ["D21g", "D8", "wall 5"].map(str::to_owned);
    assert_eq!(explained(&format!("{leads}{mentions}")), BTreeSet::from(expected));
}
