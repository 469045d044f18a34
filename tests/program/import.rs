//! A corpus of broken files against the real command line and a real SQLite file (D22): each is imported
//! exactly, or refused by name; none ends with exit 0 and a lost record.
//!
//! `PARTNERD=path cargo test --test program import` tests another executable: the control is one that reads differently.

mod bombs;
mod corpus;
mod files;
mod sheets;
mod templates;
mod understood;

use std::path::Path;
use std::process::{Command, Output};

use corpus::{Case, Expected};
use rusqlite::Connection;

fn run(database: &Path, arguments: &[&str]) -> Output {
    let executable = std::env::var("PARTNERD").unwrap_or_else(|_| env!("CARGO_BIN_EXE_partnerd").to_owned());
    let mut command = Command::new(executable);
    command.arg("--db").arg(database).args(arguments).env_remove("PARTNERD").output().unwrap()
}

/// The records of a company, one line each.
fn stored(database: &Path, kind: &str, tenant: &str) -> Vec<String> {
    let statement = match kind {
        "kunden" => {
            "select k.kundennr || '|' || k.nachname_firma || '|' || coalesce(k.plz, '') || '|' || coalesce(k.ort, '')
             from kunde k join tenant t on t.id = k.tenant_id where t.name = ?1 order by k.kundennr"
        }
        "kontrakte" => {
            "select k.kontrakt_nr || '|' || k.gueltig_von
             from kontrakt k join tenant t on t.id = k.tenant_id where t.name = ?1 order by k.kontrakt_nr"
        }
        "barverkaeufe" => {
            "select b.bon_nr || '|' || strftime('%Y-%m-%dT%H:%M:%S', b.kassiert_am / 1000, 'unixepoch')
             from bon b join tenant t on t.id = b.tenant_id where t.name = ?1 order by b.bon_nr"
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

/// What is wrong with the result of a case; `None` if it is as expected.
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

#[test]
fn what_a_file_was_taken_for_is_said() {
    // For each file: messages that must appear, and messages that must not.
    let table: &[(&str, &str, &[&str], &[&str])] = &[
        (
            "kunden",
            "Kundenliste 2026\n\nNr.;Firma;PLZ\n1;Hof;01234\n",
            &[
                "Kopfzeile: Zeile 3 sieht nach der Kopfzeile aus",
                "Zeile 1 \"Kundenliste 2026\"",
                "\"Nr.\" ist kundennr",
                "\"Firma\" ist nachname_firma",
            ],
            &["PLZ", "Nicht benutzte", "Dezimalen"],
        ),
        (
            "kunden",
            "kundennr;name;Lieblingsfarbe;Postleitzal;palz\n1;Hof;rot;1;1\n",
            &["Nicht benutzte Spalten: lieblingsfarbe, palz (gemeint: plz?), postleitzal (gemeint: plz?)"],
            &["Kopfzeile", "Spalten: \""],
        ),
        (
            "artikel",
            "artikelnummer;bezeichnung;VK\n1;A;24.860\n2;B;0,5\n",
            &[
                "Dezimalen trennt: Komma, wie in Zeile 3, Spalte VK (preis): \"0,5\"",
                "vierundzwanzigtausend und mehr (24860)",
            ],
            &["Nicht benutzte"],
        ),
        (
            "artikel",
            "artikelnummer;bezeichnung;preis\n1;A;0.5\n",
            &["Dezimalen trennt: Punkt, wie in Zeile 2, Spalte preis: \"0.5\"", "24,86"],
            &["Spalten: \""],
        ),
        ("kontrakte", "kontrakt_nr;gueltig_von\n1;46349\n", &["gueltig_von", "23.11.2026"], &["Dezimalen"]),
        ("kunden", "kundennr;name\n", &["Unter der Kopfzeile stehen keine Zeilen"], &[]),
        ("kunden", "kundennr;name\n1;Hof\n", &[], &["Zeile", "Spalten", "Dezimalen"]),
        (
            "kunden",
            "kundennr;name;IBAN;Mail;Kundentyp\n1;Hof;DE89370400440532013001;kein mail;Kunde,LIEFERANT\n\
             2;Gut;DE89370400440532013001;;kunde\n",
            &[
                "Zeile 2, Spalte iban, Wert \"DE89370400440532013001\": Die Prüfziffer dieser IBAN",
                "Zeile 3, Spalte iban, Wert \"DE89370400440532013001\": Die Prüfziffer dieser IBAN",
                "Zeile 2, Spalte Mail (email), Wert \"kein mail\": Die E-Mail-Adresse",
                "\"Kundentyp\" ist partner_typen",
            ],
            &[],
        ),
        ("artikel", "artikelnummer;bezeichnung;mwst_satz\n1;A;19 %\n2;B;7%\n", &[], &["Zeile"]),
    ];
    let folder = tempfile::TempDir::new().unwrap();
    let database = folder.path().join("partnerd.db");
    assert!(run(&database, &["migrate"]).status.success());
    let file = folder.path().join("data.csv");
    for (at, (kind, text, said, not_said)) in table.iter().enumerate() {
        let tenant = format!("Firma {at}");
        assert!(run(&database, &["tenant", "create", &tenant]).status.success());
        std::fs::write(&file, text).unwrap();
        let output = run(&database, &["import", kind, file.to_str().unwrap(), "--tenant", &tenant]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}: {stderr}");
        let missing: Vec<_> = said.iter().filter(|said| !stderr.contains(**said)).collect();
        let wrong: Vec<_> = not_said.iter().filter(|said| stderr.contains(**said)).collect();
        assert!(missing.is_empty() && wrong.is_empty(), "{text}: {missing:?} {wrong:?} in\n{stderr}");
    }
}

#[test]
fn a_unit_is_asked_about_once() {
    let folder = tempfile::TempDir::new().unwrap();
    let (database, file) = (folder.path().join("partnerd.db"), folder.path().join("data.csv"));
    let import = |firma: &str, rows: &str, more: &[&str]| {
        std::fs::write(&file, format!("artikelnummer;bezeichnung;einheit\n{rows}")).unwrap();
        let arguments = ["import", "artikel", file.to_str().unwrap(), "--tenant", firma];
        let output = run(&database, &[&arguments, more].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for firma in ["Mühle", "Hof"] {
        assert!(run(&database, &["tenant", "create", firma]).status.success());
    }
    let many: String = (0..200).map(|at| format!("{at};A;Gebinde\n")).collect();
    let (code, said) = import("Mühle", &format!("{many}Summe;200 Artikel;\n"), &[]);
    assert_eq!((code, said.matches("\"Gebinde\"").count()), (Some(1), 1), "{said}");
    assert!(said.contains("Zeile 2, Spalte einheit") && said.contains("Zeile 202"), "{said}");
    let (code, said) = import("Mühle", &many, &["--dry-run"]);
    assert!(code == Some(0) && said.contains("Gespeichert würde das nicht."), "{said}");
    let (code, said) = import("Mühle", &many, &["--accept-warnings"]);
    assert!(code == Some(0) && !said.contains("Gespeichert würde das nicht."), "{said}");
    // This company has it now; another one has not.
    assert_eq!(import("Mühle", "neu;A;gebinde\n", &[]).0, Some(0));
    assert_eq!(import("Hof", "neu;A;gebinde\n", &[]).0, Some(1));
    let (code, said) = import("Mühle", "neu;A;Schaufel\n", &[]);
    assert!(code == Some(1) && said.contains("\"Schaufel\""), "{said}");
}
