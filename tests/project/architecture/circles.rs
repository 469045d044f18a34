//! Files use each other in one direction, without circles. Counted are `use` and paths in the code, but not
//! methods defined for a type in another file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::architecture::{Source, sources};

/// The modules by their paths below `crate`, each with its file.
type Modules = BTreeMap<Vec<String>, String>;

/// The path below `crate` of a file's module; `None` for the root and the executable.
fn module(source: &Source) -> Option<Vec<String>> {
    let name = source.name();
    let name = name.trim_end_matches(".rs").trim_end_matches("/mod");
    let is_root = name == "lib" || name == "main";
    (!is_root).then(|| name.split('/').map(str::to_owned).collect())
}

/// The paths in a piece of code; `use a::{b, c::d}` gives each path separately.
pub fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    // The text before each open brace.
    let mut prefixes: Vec<String> = Vec::new();
    let mut rest = code;
    while let Some(letter) = rest.chars().next() {
        if !letter.is_alphanumeric() && letter != '_' {
            if letter == '}' {
                prefixes.pop();
            }
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let mut path = prefixes.last().cloned().unwrap_or_default();
        loop {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            path.push_str(&rest[..end]);
            rest = &rest[end..];
            match rest.strip_prefix("::") {
                Some(after) if after.starts_with('{') => {
                    prefixes.push(path + "::");
                    rest = &after[1..];
                    break;
                }
                Some(after) if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                    path.push_str("::");
                    rest = after;
                }
                _ => {
                    found.push(path);
                    break;
                }
            }
        }
    }
    found.retain(|path| path.contains("::"));
    found
}

/// The file of the innermost module on a path, as seen from the module `here`.
fn file_of<'m>(path: &str, here: &[String], modules: &'m Modules) -> Option<&'m String> {
    let mut segments = path.split("::").peekable();
    let mut at = match *segments.peek()? {
        "crate" => Vec::new(),
        _ => here.to_vec(),
    };
    while let Some(first) = segments.next_if(|first| ["crate", "self", "super"].contains(first)) {
        if first == "super" {
            at.pop();
        }
    }
    for segment in segments {
        at.push(segment.to_owned());
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
    }
    // A path into another crate, or to an item of this file, leads to this file.
    modules.get(&at)
}

/// Which files each file uses.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let sources = sources();
    let modules: Modules = sources.iter().filter_map(|s| Some((module(s)?, s.name()))).collect();
    let used = |source: &Source| {
        let here = module(source)?;
        let code = source.code();
        let mut files: BTreeSet<_> =
            paths(&code).iter().filter_map(|path| file_of(path, &here, &modules)).cloned().collect();
        files.remove(&source.name());
        Some((source.name(), files))
    };
    sources.iter().filter_map(used).collect()
}

/// The shortest path from a file through the files it uses back to itself, if there is one.
fn circle(from: &str, uses: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut ways = VecDeque::from([vec![from]]);
    while let Some(way) = ways.pop_front() {
        for next in uses.get(*way.last()?).into_iter().flatten() {
            if next == from {
                return Some(format!("{} -> {from}", way.join(" -> ")));
            }
            if seen.insert(next) {
                ways.push_back([&way[..], &[next]].concat());
            }
        }
    }
    None
}

#[test]
fn no_file_is_reached_again_from_what_it_uses() {
    let uses = uses();
    let arrows: usize = uses.values().map(BTreeSet::len).sum();
    assert!(arrows > 1_000, "only {arrows} uses were found");
    let circles: Vec<_> = uses.keys().filter_map(|file| circle(file, &uses)).collect();
    assert!(circles.is_empty(), "put what they share into a file of its own:\n{}", circles.join("\n"));
}
