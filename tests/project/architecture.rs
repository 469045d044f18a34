//! Checks the map in `src/lib.rs`: who may use whom, what is pure, who writes and reads which table, that
//! statements name the tenant, that only the socket awaits, that files use each other in one direction, and
//! that files and functions stay small.

pub mod circles;
mod functions;
mod reads;
mod statements;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use circles::paths;
use partnerd::platform::db::feed::followed::Art;
use partnerd::platform::db::migrate::fresh_schema;
use partnerd::rules::choice::Choice;

/// A source file, and its room on the map: `goods/waage`, or `rules` for a group without rooms.
struct Source {
    path: PathBuf,
    room: String,
    text: String,
}

impl Source {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The code without comments and unit tests.
    fn code(&self) -> String {
        let code = self.text.split("#[cfg(test)]").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The files in a folder, and below it, with this extension; none if there is no folder.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|known| known == ending) {
            found.push(path);
        }
    }
    found
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let order = order();
    let source = |path: PathBuf| {
        let inside = path.strip_prefix(&src).unwrap().to_path_buf();
        let names: Vec<_> =
            inside.iter().map(|part| part.to_str().unwrap().trim_end_matches(".rs")).collect();
        let within = |parts: usize| names.get(..parts).map(|parts| parts.join("/"));
        let on_map = |room: &String| order.contains(room);
        // A file outside of all rooms is the root, the executable or the head of a group with rooms.
        let room = within(2).filter(on_map).unwrap_or_else(|| names[0].to_owned());
        Source { text: fs::read_to_string(&path).unwrap(), path: inside, room }
    };
    let sources: Vec<_> = files(&src, "rs").into_iter().map(source).collect();
    assert!(sources.len() > 40, "the sources were not found");
    sources
}

/// The public modules that a file declares, in order.
fn declared(path: &str) -> Vec<String> {
    let text = read(path);
    let modules = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    modules.map(str::to_owned).collect()
}

/// Whether the head of a group only declares its rooms. Then their order counts, too.
fn has_rooms(group: &str) -> bool {
    let text = read(&format!("src/{group}/mod.rs"));
    text.lines().all(|line| line.is_empty() || line.starts_with("//!") || line.starts_with("pub mod "))
        && !["rules", "leitstand"].contains(&group)
}

/// The rooms in the order of the map: groups as declared in `lib.rs`, rooms as declared in the head of their group.
fn order() -> Vec<String> {
    let rooms = |group: String| match has_rooms(&group) {
        false => vec![group],
        true => {
            let rooms = declared(&format!("src/{group}/mod.rs"));
            rooms.into_iter().map(|room| format!("{group}/{room}")).collect()
        }
    };
    declared("src/lib.rs").into_iter().flat_map(rooms).collect()
}

/// Macros are at the top of the crate, wherever they are defined.
const MACROS: [&str; 4] = ["auswahl", "eingabe", "choice", "shape"];

/// The room that a path into the crate leads to: `crate::goods::waage::Storno` leads to `goods/waage`.
fn room_of(path: &str, order: &[String]) -> Option<usize> {
    let names: Vec<_> = path.strip_prefix("crate::")?.split("::").collect();
    let place = |room: &str| order.iter().position(|known| known == room);
    names.get(..2).and_then(|names| place(&names.join("/"))).or_else(|| place(names[0]))
}

#[test]
fn each_room_uses_only_what_stands_above_it_in_the_map() {
    let order = order();
    let place = |room: &str| order.iter().position(|known| known == room);
    let mut arrows = 0;
    for source in sources() {
        let Some(own) = place(&source.room) else {
            let heads = ["lib.rs", "main.rs"].contains(&source.name().as_str()) || has_rooms(&source.room);
            assert!(heads, "{} is not on the map", source.name());
            continue;
        };
        for path in paths(&source.code()) {
            let first = path.strip_prefix("crate::").map(|path| path.split("::").next().unwrap());
            if first.is_none_or(|first| MACROS.contains(&first)) {
                continue;
            }
            let other = room_of(&path, &order).unwrap_or_else(|| panic!("{}: {path}", source.name()));
            assert!(other <= own, "{} uses {path}, which stands below it", source.name());
            arrows += usize::from(other < own);
        }
    }
    assert!(arrows > 2_000, "only {arrows} paths from one room into another were found");
}

#[test]
fn the_head_of_a_group_says_what_is_in_it_what_is_not_and_where_to_begin() {
    for group in declared("src/lib.rs") {
        let head = read(&format!("src/{group}/mod.rs"));
        let doc: Vec<_> = head.lines().take_while(|line| line.starts_with("//!")).collect();
        assert!((4..=9).contains(&doc.len()), "{group}: {} lines", doc.len());
        for said in ["//! Contains: ", "//! Does not contain: ", "//! Start with "] {
            assert!(doc.iter().any(|line| line.starts_with(said)), "{group} lacks {said}");
        }
    }
}

#[test]
fn rules_and_what_leaves_the_house_know_neither_sql_nor_http_nor_the_time() {
    let forbidden = [
        "rusqlite",
        "hyper",
        "tokio",
        "r2d2",
        "std::time",
        "std::env",
        "std::fs",
        "std::net",
        "::now(",
        "std::thread",
        "static mut",
        "println!",
    ];
    let pure = ["rules", "papers/erechnung", "papers/blatt"];
    for source in sources().iter().filter(|source| pure.contains(&source.room.as_str())) {
        for word in forbidden {
            assert!(!source.code().contains(word), "{} contains {word}", source.name());
        }
    }
}

/// Whether a room is a slice, which implements a noun of the specification.
fn is_slice(room: &str) -> bool {
    ["master/", "goods/", "trade/", "office/"].iter().any(|group| room.starts_with(group))
        || room == "interface/aenderungen"
}

/// Only handlers and imports of a slice know requests and answers; below them a body is a struct of plain
/// values. These structs are declared in model.rs or eingabe.rs, together with how their fields are read.
#[test]
fn only_handlers_and_imports_of_a_slice_know_http() {
    for source in sources().iter().filter(|source| is_slice(&source.room)) {
        let name = source.name();
        // The name of a file at the top of the slice is its role.
        let file = name.strip_prefix(&format!("{}/", source.room)).unwrap();
        let may_know: &[&str] = match file {
            "handlers.rs" | "import.rs" | "mod.rs" => continue,
            "model.rs" | "eingabe.rs" => &["json", "query", "upload", "wire"],
            _ => &[],
        };
        for path in paths(&source.code()) {
            let Some(used) = path.strip_prefix("crate::platform::http") else { continue };
            let used = used.trim_start_matches("::").split("::").next().unwrap();
            assert!(may_know.contains(&used), "{name} uses http::{used}");
        }
    }
}

/// What a list is filtered by is an `Auswahl` of the model, and its conditions stand with the statement.
#[test]
fn handlers_build_no_filters() {
    let sources = sources();
    let has_statements = |room: &str| sources.iter().any(|source| source.name() == format!("{room}/sql.rs"));
    for source in sources.iter().filter(|source| is_slice(&source.room) && has_statements(&source.room)) {
        let name = source.name();
        let is_handler = name.ends_with("/handlers.rs") || name == format!("{}/mod.rs", source.room);
        let filter = "crate::platform::db::list::Filter";
        assert!(!is_handler || !paths(&source.code()).contains(&filter.to_owned()), "{name} uses {filter}");
    }
}

#[test]
fn rules_statements_and_handlers_never_await() {
    let mut awaiting = BTreeSet::new();
    for source in sources() {
        let code = source.code();
        if code.contains(".await") || code.contains("async fn") || code.contains("async move") {
            awaiting.insert(source.name());
        }
    }
    // The connection to a mail server, which has deadlines; the socket and its clients; the course of a
    // request, with a key and with a session; and the places where it waits for a thread, for the writer or
    // for a change.
    let expected = [
        "platform/gate/flow/answer.rs",
        "platform/gate/flow/lanes.rs",
        "platform/gate/flow/bulk.rs",
        "platform/gate/access/verifying.rs",
        "platform/gate/flow/waiters.rs",
        "platform/http/client.rs",
        "platform/http/cpu_pool.rs",
        "platform/http/plain.rs",
        "platform/http/server.rs",
        "platform/http/socket.rs",
        "leitstand/access/password_thread.rs",
        "leitstand/kit/front.rs",
        "leitstand/kit/server.rs",
        "office/versand/smtp.rs",
    ];
    assert_eq!(awaiting, expected.map(str::to_owned).into());
}

#[test]
fn the_clock_is_read_in_one_place() {
    let readers: BTreeSet<_> =
        sources().iter().filter(|s| s.code().contains("Timestamp::now()")).map(Source::name).collect();
    assert_eq!(readers, BTreeSet::from(["platform/db/mod.rs".to_owned()]));
}

#[test]
fn files_stay_small() {
    for folder in ["src", "tests"] {
        for path in files(&root().join(folder), "rs") {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 500, "{} has {lines} lines", path.display());
        }
    }
}

/// Rows of companies that are no data of theirs: the key determines the company, and logs and evidence are
/// chains over all companies.
const OF_THE_HOUSE: [&str; 4] = ["api_key", "audit", "audit_flut", "nachweis"];

/// Tables of the schema whose rows belong to a company.
fn tenant_tables() -> Vec<String> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(root().join("migrations")).unwrap() {
        let schema = fs::read_to_string(entry.unwrap().path()).unwrap();
        for part in schema.split("\ncreate table ").skip(1) {
            let (name, columns) = part.split_once(" (").unwrap();
            let columns = columns.split("strict").next().unwrap();
            let has_tenant = columns.lines().any(|line| line.trim_start().starts_with("tenant_id "));
            if has_tenant && !OF_THE_HOUSE.contains(&name) {
                tables.push(name.to_owned());
            }
        }
    }
    assert!(tables.len() > 15, "{tables:?}");
    tables
}

/// The string literals of a source.
fn literals(code: &str) -> Vec<String> {
    // A quote as a character begins no string.
    let code = code.replace("'\"'", "' '");
    let mut literals = Vec::new();
    let mut rest = code.as_str();
    while let Some(start) = rest.find('"') {
        let mut end = start + 1;
        let bytes = rest.as_bytes();
        while bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        literals.push(rest[start + 1..end].split_whitespace().collect::<Vec<_>>().join(" "));
        rest = &rest[end + 1..];
    }
    literals
}

fn mentions(statement: &str, table: &str) -> bool {
    ["from ", "join ", "into ", "update "].iter().any(|verb| {
        statement
            .split(&format!("{verb}{table}"))
            .skip(1)
            .any(|after| after.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_'))
    })
}

/// A statement without its inner selects.
fn outside_parentheses(statement: &str) -> String {
    let mut depth = 0;
    let mut outer = String::new();
    for letter in statement.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => outer.push(letter),
            _ => {}
        }
    }
    outer
}

#[test]
fn every_statement_on_tenant_data_names_the_tenant() {
    let tables = tenant_tables();
    let mut seen = 0;
    for source in sources() {
        // Checks of a whole file compare the rows of all companies, each with rows of the same company.
        let proves_all = source.path.ends_with("checks.rs");
        for literal in literals(&source.code()) {
            let is_statement = ["select ", "insert ", "update ", "delete ", "from ", "{LIST"]
                .iter()
                .any(|word| literal.starts_with(word));
            let on_tenant_data = literal.contains("{LIST") || tables.iter().any(|t| mentions(&literal, t));
            if !is_statement || !on_tenant_data {
                continue;
            }
            seen += 1;
            let outer = outside_parentheses(&literal);
            let names = outer.contains("tenant_id = :tenant")
                || literal.starts_with("insert into") && literal.contains("(tenant_id")
                || proves_all && literal.contains(".tenant_id");
            // A select without conditions is the beginning of a statement: `Filter::of` and the functions
            // beside it add the tenant, and their literals are checked here as well.
            let is_beginning = ["select ", "from "].iter().any(|word| literal.starts_with(word))
                && !outer.contains(" where ");
            assert!(names || is_beginning, "{}: {literal}", source.name());
        }
    }
    assert!(seen > 60, "only {seen} statements were found");
}

#[test]
fn the_checks_of_every_slice_are_run() {
    let runs = read("src/operations/check.rs");
    let with_checks: Vec<_> = sources().into_iter().filter(|s| s.path.ends_with("checks.rs")).collect();
    assert!(with_checks.len() > 5, "the checks were not found");
    for source in with_checks {
        let slice = source.room.split('/').next_back().unwrap();
        assert!(runs.contains(&format!("{slice}::CHECKS,")), "{} is not run", source.name());
    }
}

/// Tables filled only by triggers and migrations, and the slice they belong to.
const FILLED_BY_THE_SCHEMA: [(&str, &str); 5] = [
    ("belegtyp", "trade/belege"),
    ("kassentag", "trade/kasse"),
    ("kunde_suche", "master/kunden"),
    ("pa_input_geloescht", "goods/produktion"),
    ("steuersatz_vorlage", "master/steuersaetze"),
];

/// The slices that write each table.
fn writers() -> BTreeMap<String, BTreeSet<String>> {
    let mut writers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (table, slice) in FILLED_BY_THE_SCHEMA {
        writers.entry(table.to_owned()).or_default().insert(slice.to_owned());
    }
    for source in sources() {
        let code = source.code();
        for literal in literals(&code) {
            for verb in ["insert into ", "update ", "delete from "] {
                if let Some(rest) = literal.strip_prefix(verb) {
                    let table = rest.split([' ', '(']).next().unwrap().to_owned();
                    writers.entry(table).or_default().insert(source.room.clone());
                }
            }
        }
        for call in ["tx.insert(", "tx.insert_all(", "tx.update(", "tx.upsert(", "Verlauf::of("] {
            for after in code.split(call).skip(1) {
                let table = after.split('"').nth(1).unwrap().to_owned();
                writers.entry(table).or_default().insert(source.room.clone());
            }
        }
    }
    writers.remove("{table}");
    writers
}

#[test]
fn a_table_is_written_by_one_module() {
    let writers = writers();
    for (name, _) in fresh_schema().unwrap() {
        let Some(table) = name.strip_prefix("table ") else { continue };
        assert!(writers.contains_key(table), "nobody writes {table}: whose is it?");
    }
    for (table, modules) in writers {
        assert_eq!(modules.len(), 1, "{table} is written by {modules:?}");
    }
}

/// Files that write a followed table directly, without the functions of `WriteTx` that add the change to the feed.
const PAST_THE_FEED: [&str; 2] = ["trade/belege/fluss/sql.rs", "trade/belege/out/ausfertigung/sql.rs"];

#[test]
fn no_change_passes_the_feed_by() {
    let mut past = BTreeSet::new();
    for source in sources() {
        let code = source.code();
        for literal in literals(&code) {
            let writes = ["insert into ", "update ", "delete from "]
                .iter()
                .find_map(|verb| literal.strip_prefix(verb));
            let table = writes.map(|rest| rest.split([' ', '(']).next().unwrap());
            if table.is_some_and(|table| Art::parse(table).is_some()) {
                past.insert(source.name());
            }
        }
        let upserts =
            code.split("tx.upsert(").skip(1).filter_map(|after| Art::parse(after.split('"').nth(1).unwrap()));
        assert_eq!(upserts.count(), 0, "{}: upsert says not whether a record is new", source.name());
    }
    // The same request writes a document that becomes final once more, through those functions. What is left of one follows
    // from others.
    assert_eq!(past, PAST_THE_FEED.map(str::to_owned).into());
}
