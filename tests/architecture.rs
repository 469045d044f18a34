//! The map in `src/lib.rs` is true: who may use whom, what is pure, who writes and reads which table, that
//! statements name the tenant, that only the socket awaits, that files use each other in one direction and that files and
//! functions stay small.

mod architecture {
    mod circles;
    mod functions;
    mod reads;
    mod statements;
    mod types;
}

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use partnerd::db::followed::Art;
use partnerd::db::migrate::fresh_schema;
use partnerd::rules::choice::Choice;

/// A file of the source, and the module of the map it belongs to.
struct Source {
    path: PathBuf,
    module: String,
    text: String,
}

impl Source {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The code without comments and without its unit tests.
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

/// The files of a folder that end like this; none if there is no folder.
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
    let source = |path: PathBuf| {
        let inside = path.strip_prefix(&src).unwrap().to_path_buf();
        let module = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = module.trim_end_matches(".rs").to_owned();
        Source { text: fs::read_to_string(&path).unwrap(), path: inside, module }
    };
    let sources: Vec<_> = files(&src, "rs").into_iter().map(source).collect();
    assert!(sources.len() > 40, "the sources were not found");
    sources
}

/// The modules in the order of the map.
fn order() -> Vec<String> {
    let lib = read("src/lib.rs");
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    modules.map(str::to_owned).collect()
}

#[test]
fn each_module_uses_only_what_stands_above_it_in_the_map() {
    let order = order();
    let place = |module: &str| order.iter().position(|known| known == module);
    for source in sources().iter().filter(|source| !["lib", "main"].contains(&source.module.as_str())) {
        let own = place(&source.module).unwrap_or_else(|| panic!("{} is not on the map", source.module));
        // Macros stand at the top of the crate wherever they are defined.
        for used in source.code().split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if ["eingabe", "choice", "shape", ""].contains(&used.as_str()) {
                continue;
            }
            let other = place(&used).unwrap_or_else(|| panic!("{}: crate::{used}", source.name()));
            assert!(other <= own, "{} uses {used}, which stands below it", source.name());
        }
    }
}

#[test]
fn lists_of_modules_in_braces_obey_the_map_too() {
    let order = order();
    let place = |module: &str| order.iter().position(|known| known == module);
    for source in sources() {
        let Some(own) = place(&source.module) else { continue };
        for list in source.code().split("use crate::{").skip(1) {
            let list = list.split('}').next().unwrap();
            for used in list.split(',').map(str::trim).filter(|used| !used.is_empty()) {
                let used = used.split("::").next().unwrap();
                let other = place(used).unwrap_or_else(|| panic!("{}: {used}", source.name()));
                assert!(other <= own, "{} uses {used}, which stands below it", source.name());
            }
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
    let pure = ["rules", "erechnung", "blatt"];
    for source in sources().iter().filter(|source| pure.contains(&source.module.as_str())) {
        for word in forbidden {
            assert!(!source.code().contains(word), "{} contains {word}", source.name());
        }
    }
}

/// Below the handlers and the imports of a slice there are no requests and no answers: what a body says is a struct
/// of plain values. The structs are declared together with how their fields are read, in model.rs or eingabe.rs.
#[test]
fn only_handlers_and_imports_of_a_slice_know_http() {
    let order = order();
    let place = |module: &str| order.iter().position(|known| known == module).unwrap();
    let slices = &order[place("import") + 1..place("app")];
    for source in sources().iter().filter(|source| slices.contains(&source.module)) {
        let name = source.name();
        let file = name.strip_prefix(&format!("{}/", source.module)).unwrap();
        let may_know: &[&str] = match file {
            "handlers.rs" | "import.rs" | "mod.rs" => continue,
            "model.rs" | "eingabe.rs" => &["json", "upload", "wire"],
            _ => &[],
        };
        let code = source.code();
        assert!(!code.contains("crate::{http"), "{name} imports http in a list");
        for used in code.split("crate::http").skip(1) {
            let used: String =
                used.trim_start_matches(':').chars().take_while(|c| c.is_alphanumeric()).collect();
            assert!(may_know.contains(&used.as_str()), "{name} uses http::{used}");
        }
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
    // The way to a mail server, which has deadlines; the socket and the clients at its other end; the way of a request,
    // with a key and with a session; and the places where it waits for a thread, for the writer or for a change.
    let expected = [
        "gate/answer.rs",
        "gate/lanes.rs",
        "gate/stapel.rs",
        "gate/verifying.rs",
        "gate/waiters.rs",
        "http/client.rs",
        "http/off_sockets.rs",
        "http/plain.rs",
        "http/server.rs",
        "http/socket.rs",
        "leitstand/password_thread.rs",
        "leitstand/server.rs",
        "versand/smtp.rs",
    ];
    assert_eq!(awaiting, expected.map(str::to_owned).into());
}

#[test]
fn the_clock_is_read_in_one_place() {
    let readers: BTreeSet<_> =
        sources().iter().filter(|s| s.code().contains("Timestamp::now()")).map(Source::name).collect();
    assert_eq!(readers, BTreeSet::from(["db/mod.rs".to_owned()]));
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

/// Rows of companies that are no data of theirs: which company a key opens is asked of it, and logs and evidence are chains
/// over all of them.
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
        // The proof of a whole file compares all companies, row by row with their own.
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
            // A select without conditions is the beginning of a statement: `Filter::of` and the
            // functions beside it add the tenant, and their literals are looked at here as well.
            let is_beginning = ["select ", "from "].iter().any(|word| literal.starts_with(word))
                && !outer.contains(" where ");
            assert!(names || is_beginning, "{}: {literal}", source.name());
        }
    }
    assert!(seen > 60, "only {seen} statements were found");
}

#[test]
fn the_checks_of_every_slice_are_run() {
    let runs = read("src/app/check.rs");
    let with_checks: Vec<_> = sources().into_iter().filter(|s| s.path.ends_with("checks.rs")).collect();
    assert!(with_checks.len() > 5, "the checks were not found");
    for source in with_checks {
        assert!(runs.contains(&format!("{}::CHECKS,", source.module)), "{} is not run", source.name());
    }
}

/// Tables that only triggers and migrations fill, and the slice that they belong to.
const FILLED_BY_THE_SCHEMA: [(&str, &str); 4] = [
    ("belegtyp", "belege"),
    ("kassentag", "kasse"),
    ("kunde_suche", "kunden"),
    ("steuersatz_vorlage", "steuersaetze"),
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
                    writers.entry(table).or_default().insert(source.module.clone());
                }
            }
        }
        for call in ["tx.insert(", "tx.insert_all(", "tx.update(", "tx.upsert(", "Verlauf::of("] {
            for after in code.split(call).skip(1) {
                let table = after.split('"').nth(1).unwrap().to_owned();
                writers.entry(table).or_default().insert(source.module.clone());
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

/// Statements that write a table whose records are followed, past the functions of `WriteTx` that note it.
const PAST_THE_FEED: [&str; 1] = ["belege/ausfertigung/sql.rs"];

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
    // A document that becomes final is written again by the same request.
    assert_eq!(past, PAST_THE_FEED.map(str::to_owned).into());
}
