//! A corpus of broken files against the real command line and a real SQLite file (D22): each is imported exactly, or
//! refused by name; none ends with exit 0 and a record lost.
//!
//! `PARTNERD=path cargo test --test import` asks another executable: the control is one that reads otherwise.

#[path = "../process/mod.rs"]
mod process;

mod bombs;
mod corpus;
mod sheets;
mod templates;

use std::path::Path;
use std::process::{Command, Output};

use corpus::{Case, Expected};
use rusqlite::Connection;

fn run(database: &Path, arguments: &[&str]) -> Output {
    let executable = std::env::var("PARTNERD").unwrap_or_else(|_| env!("CARGO_BIN_EXE_partnerd").to_owned());
    let mut command = Command::new(executable);
    command.arg("--db").arg(database).args(arguments).env_remove("PARTNERD").output().unwrap()
}

/// What a company has, one line a record.
fn stored(database: &Path, kind: &str, tenant: &str) -> Vec<String> {
    let statement = match kind {
        "kunden" => {
            "select k.kundennr || '|' || k.nachname_firma || '|' || coalesce(k.plz, '') || '|' || coalesce(k.ort, '')
             from kunde k join tenant t on t.id = k.tenant_id where t.name = ?1 order by k.kundennr"
        }
        _ => {
            "select a.artikelnummer || '|' || coalesce(a.preis, '') || '|' || a.chargenpflichtig
             from artikel a join tenant t on t.id = a.tenant_id where t.name = ?1 order by a.artikelnummer"
        }
    };
    let connection = Connection::open(database).unwrap();
    let mut statement = connection.prepare(statement).unwrap();
    statement.query_map([tenant], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// What is wrong with the outcome of a case; none if it is as expected.
fn judge(case: &Case, output: &Output, stored: &[String]) -> Option<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    match (&case.expected, output.status.code()) {
        (Expected::Stored(expected), Some(0)) if expected == stored => None,
        (Expected::Stored(expected), Some(0)) => Some(format!("LOST: {stored:?} instead of {expected:?}")),
        (Expected::Refused(_), Some(0)) => Some(format!("LOST: exit 0 and {stored:?}")),
        (Expected::Refused(named), Some(1)) if stored.is_empty() => {
            let missing = named.iter().find(|name| !said.contains(*name))?;
            Some(format!("refused, but {missing:?} is not in: {said}"))
        }
        (_, code) => Some(format!("{code:?} and {} rows: {said}", stored.len())),
    }
}

#[test]
fn each_file_is_imported_exactly_or_refused_by_name() {
    let folder = tempfile::TempDir::new().unwrap();
    let database = folder.path().join("partnerd.db");
    assert!(run(&database, &["migrate"]).status.success());
    let cases = corpus::cases();
    assert!(cases.len() >= 60, "{} files", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let tenant = format!("Firma {}", case.name);
        assert!(run(&database, &["tenant", "create", &tenant]).status.success(), "{tenant}");
        let file = folder.path().join(case.file);
        std::fs::write(&file, &case.bytes).unwrap();
        let file = file.to_str().unwrap();
        let output = run(&database, &[&["import", case.kind, file, "--tenant", &tenant], case.more].concat());
        let stored = stored(&database, case.kind, &tenant);
        wrong.extend(judge(case, &output, &stored).map(|why| format!("{}: {why}", case.name)));
    }
    let lost = wrong.iter().filter(|why| why.contains("LOST")).count();
    assert!(wrong.is_empty(), "{} of {} wrong, {lost} lost\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
