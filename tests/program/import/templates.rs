//! Templates (D22): the output of `import KIND --template FILE` can be imported, and nothing in it becomes a
//! record unless somebody filled it in.

use std::io::{Cursor, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use partnerd::interface::imports;
use partnerd::rules::text::folded_key;
use zip::ZipArchive;

use super::run;
use super::sheets::zipped;

/// A company in a new database, and the folder of its files.
struct Company {
    folder: tempfile::TempDir,
}

impl Company {
    fn new() -> Company {
        let company = Company { folder: tempfile::TempDir::new().unwrap() };
        assert!(run(&company.database(), &["migrate"]).status.success());
        assert!(run(&company.database(), &["tenant", "create", "Mühle"]).status.success());
        company
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("partnerd.db")
    }

    /// Writes the template of a kind.
    fn template(&self, kind: &str, ending: &str) -> PathBuf {
        let path = self.folder.path().join(format!("{kind}.{ending}"));
        let written = run(&self.database(), &["import", kind, "--template", path.to_str().unwrap()]);
        assert!(written.status.success(), "{kind}: {}", String::from_utf8_lossy(&written.stderr));
        path
    }

    fn import(&self, kind: &str, path: &Path) -> Output {
        run(&self.database(), &["import", kind, path.to_str().unwrap(), "--tenant", "Mühle"])
    }

    /// Imports a file that must be stored; returns `created C, changed C, unchanged U`, and the messages.
    #[track_caller]
    fn stored(&self, kind: &str, path: &Path) -> (String, String) {
        let output = self.import(kind, path);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{kind}: {said}");
        (String::from_utf8(output.stdout).unwrap().trim().to_owned(), said)
    }
}

/// The parts of a spreadsheet.
fn parts(path: &Path) -> Vec<(String, String)> {
    let mut zip = ZipArchive::new(Cursor::new(std::fs::read(path).unwrap())).unwrap();
    let part = |at| {
        let mut file = zip.by_index(at).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        (name, text)
    };
    (0..7).map(part).collect()
}

/// Columns that contain lists, which a table cannot.
const LISTS: [&str; 7] =
    ["positionen", "inputs", "outputs", "artikel", "grenzen", "schritte", "staffelpreise"];

const NOTHING: &str = "0 neu, 0 geändert, 0 unverändert";

#[test]
fn a_template_as_it_stands_stores_nothing_and_says_so() {
    let company = Company::new();
    for kind in imports::all().map(|kind| kind.kind) {
        for ending in ["csv", "xlsx"] {
            let path = company.template(kind, ending);
            let (counts, said) = company.stored(kind, &path);
            assert_eq!(counts, NOTHING, "{kind}.{ending}");
            assert!(said.contains("Ausgelassenes Beispiel: Zeile"), "{kind}: {said}");
            assert!(!said.contains("Nicht benutzte"), "{kind}.{ending}: {said}");
        }
        // Without its example.
        let text = std::fs::read_to_string(company.template(kind, "CSV")).unwrap();
        let rows: Vec<&str> =
            text.lines().filter(|line| !line.contains("BEISPIEL") || line.starts_with('#')).collect();
        let path = company.folder.path().join("without.csv");
        std::fs::write(&path, rows.join("\r\n")).unwrap();
        let (counts, said) = company.stored(kind, &path);
        assert_eq!((counts.as_str(), said.contains("Ausgelassenes")), (NOTHING, false), "{kind}: {said}");
    }
}

#[test]
fn the_example_of_a_template_is_a_record_once_it_is_filled_in_the_same_in_both_forms() {
    let company = Company::new();
    let kinds: Vec<&str> = imports::all().map(|kind| kind.kind).collect();
    assert_eq!(kinds.len(), 19);
    for kind in kinds {
        let text = std::fs::read_to_string(company.template(kind, "csv")).unwrap();
        let path = company.folder.path().join("filled.csv");
        std::fs::write(&path, text.replace("BEISPIEL", "MUSTER")).unwrap();
        let mut created = "1 neu, 0 geändert, 0 unverändert";
        // A recipe and a scheme need lines, which a table cannot contain; a table can change their other fields.
        let lines = match kind {
            "rezepturen" => {
                r#"[{"id": 900, "bezeichnung": "alt", "inputs": [{"artikelnummer": "MUSTER", "menge": 1}]}]"#
            }
            "abrechnungsschemata" => {
                r#"[{"nummer": "MUSTER", "bezeichnung": "alt", "artikel": ["MUSTER"], "gueltig_von": "2026-06-01",
                  "schritte": [{"nr": 1, "code": "protein", "text": "Protein", "wirkung": "preis", "regel": "tabelle",
                  "merkmal": "protein", "einheit": "EUR/t", "zeilen": [{"von": 11, "bis": 12.9, "satz": -5}]}]}]"#
            }
            _ => "",
        };
        if kind == "abrechnungstabellen" {
            created = "0 neu, 1 geändert, 0 unverändert";
        }
        if !lines.is_empty() {
            let said = String::from_utf8(company.import(kind, &path).stderr).unwrap();
            assert!(
                said.contains("filled.csv hat Fehler") && said.contains("nur in einer JSON-Datei"),
                "{said}"
            );
            let json = company.folder.path().join("lines.json");
            std::fs::write(&json, lines).unwrap();
            assert_eq!(company.stored(kind, &json).0, created);
            created = "0 neu, 1 geändert, 0 unverändert";
        }
        let (counts, said) = company.stored(kind, &path);
        assert_eq!(counts, created, "{kind}: {said}");
        assert!(!said.contains("Ausgelassenes"), "{kind}: {said}");
        let parts = parts(&company.template(kind, "xlsx"));
        let parts: Vec<_> =
            parts.into_iter().map(|(name, text)| (name, text.replace("BEISPIEL", "MUSTER"))).collect();
        let parts: Vec<_> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let path = company.folder.path().join("filled.xlsx");
        std::fs::write(&path, zipped(&parts)).unwrap();
        assert_eq!(company.stored(kind, &path).0, "0 neu, 0 geändert, 1 unverändert", "{kind}.xlsx");
    }
}

#[test]
fn a_template_has_every_column_with_its_meaning_and_an_example() {
    let company = Company::new();
    for import in imports::all() {
        let kind = import.kind;
        let text = std::fs::read_to_string(company.template(kind, "csv")).unwrap();
        let header: Vec<&str> = text
            .lines()
            .map(|line| line.trim_start_matches('\u{feff}'))
            .find(|line| !line.starts_with(['#', '"']))
            .unwrap()
            .split(';')
            .collect();
        let parts = parts(&company.template(kind, "xlsx"));
        let sheet = |at: u8| {
            &parts.iter().find(|(name, _)| *name == format!("xl/worksheets/sheet{at}.xml")).unwrap().1
        };
        let sheets = [sheet(1), sheet(2)];
        let lists = import.fields.iter().filter(|field| LISTS.contains(field)).count();
        assert_eq!(text.contains("# Vorlage") && text.contains(". Listen ("), lists > 0, "{kind}");
        for field in import.fields {
            let is_list = LISTS.contains(field);
            assert_eq!(header.contains(field), !is_list, "{kind}: {field} in {header:?}");
            let cell = format!(">{field}</t>");
            assert_eq!(sheets[0].contains(&cell), !is_list, "{kind}: {field}");
            let explained =
                sheets[1].split(&cell).nth(1).unwrap_or_else(|| panic!("{kind}: {field} is not explained"));
            let row = explained.split("</row>").next().unwrap();
            assert_eq!(row.matches("<t ").count(), 2, "{kind}: {field} lacks a meaning or an example: {row}");
            let line = text.lines().map(|line| line.trim_start_matches('"'));
            let line = line.filter(|line| line.starts_with(&format!("# {field}: "))).collect::<Vec<_>>();
            assert!(line.len() == 1 && line[0].contains(" Beispiel: "), "{kind}: {field}: {line:?}");
        }
        assert_eq!(header.len(), import.fields.len() - text.matches("nur in JSON.").count(), "{kind}");
    }
}

#[test]
fn a_template_is_never_written_over_a_file_nor_beside_an_import() {
    let company = Company::new();
    let path = company.folder.path().join("kunden.csv");
    std::fs::write(&path, "mine").unwrap();
    let file = path.to_str().unwrap();
    let table: [(&[&str], i32, &str); 6] = [
        (&["import", "kunden", "--template", file], 1, "gibt es schon"),
        (&["import", "kunden", "--template", "kunden.ods"], 1, "endet auf .csv oder .xlsx"),
        (&["import", "dsfinvk", "--template", "x.csv"], 1, "keine Vorlage"),
        (
            &["import", "kunden", file, "--tenant", "Mühle", "--template", "y.csv"],
            2,
            "geht nicht zusammen mit",
        ),
        (&["import", "kunden", file], 2, "--tenant"),
        (&["import", "kunden"], 2, "<DATEI>"),
    ];
    for (arguments, code, named) in table {
        let output = run(&company.database(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(named), "{arguments:?}: {said}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    for name in ["z.csv", "z.xlsx"] {
        let path = company.folder.path().join(name);
        assert!(
            run(&company.database(), &["import", "kunden", "--template", path.to_str().unwrap()])
                .status
                .success()
        );
        let rights = std::fs::metadata(path).unwrap().permissions();
        assert_eq!(rights.mode() & 0o777, 0o600, "{name} is its owner's alone");
    }
}

/// A heading that two columns claim would be read as one of them without a word: what one column is called here is
/// no other's name and no other's heading in other programs.
#[test]
fn no_label_takes_a_heading_from_another_column() {
    let plain =
        |text: &str| -> String { folded_key(text).chars().filter(char::is_ascii_alphanumeric).collect() };
    let mut labels = 0;
    for import in imports::all() {
        let said = |field: &&'static str| Some((*field, (import.said)(field)?));
        for (field, own) in import.fields.iter().filter_map(said) {
            labels += 1;
            let label = plain(own.label);
            for other in import.fields.iter().filter(|other| **other != field) {
                // `land` is another name of `staat` (D18), whose label is Land.
                if (field, *other) == ("staat", "land") {
                    continue;
                }
                let other_said = (import.said)(other);
                let claims = other_said.is_some_and(|said| {
                    plain(said.label) == label || said.aliases.split_whitespace().any(|alias| alias == label)
                });
                assert!(
                    !claims && plain(other) != label,
                    "{}: {field} and {other} are both {label}",
                    import.kind
                );
            }
        }
    }
    assert!(labels > 50, "only {labels} labels were looked at");
}
