//! `import dsfinvk`: the export of two cash registers, as a folder and as a zip (D22). Expected values were
//! computed by hand from tests/data/kasse/dsfinvk.

mod aufgehoben;
mod zahlen;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{PATH, column, counts, list};
use crate::harness::{Client, Server};
use crate::platform::import::{Import, run};

const FILES: [&str; 7] = [
    "cashpointclosing.csv",
    "vat.csv",
    "transactions.csv",
    "lines.csv",
    "lines_vat.csv",
    "datapayment.csv",
    "references.csv",
];

/// uuid v5 in the namespace of src/trade/kasse/dsfinvk: of K1, of K2, and of K1, 2 and 2.
const K1: &str = "16cf17d2-e35a-5fa8-9322-370321b9fb53";
const K2: &str = "38783212-427d-5c3d-9da3-ba8c4a3094ba";
const REVERSED: &str = "45485ca1-6e9b-5767-a881-0014d3d16b54";

fn fixture(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kasse/dsfinvk").join(file)).unwrap()
}

/// Writes a folder with the export, each file changed by `change`; files for which it returns `None` are left out.
fn export(server: &Server, name: &str, change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) -> PathBuf {
    let folder = server.database.with_file_name(name);
    fs::create_dir_all(&folder).unwrap();
    for file in FILES {
        if let Some(bytes) = change(file, fixture(file)) {
            fs::write(folder.join(file), bytes).unwrap();
        }
    }
    folder
}

/// Replaces a text, which must exist, in the bytes.
fn replaced(bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    assert!(text.contains(from), "no {from} in {text}");
    text.replace(from, to).chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

/// Writes the export with a text replaced in one file.
fn with(server: &Server, name: &str, changed: &str, from: &str, to: &str) -> PathBuf {
    export(server, name, |file, bytes| Some(if file == changed { replaced(bytes, from, to) } else { bytes }))
}

fn zipped(server: &Server, name: &str, entries: &[(&str, Vec<u8>)]) -> PathBuf {
    let path = server.database.with_file_name(name);
    let mut zip = ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    path
}

fn import(server: &Server, mill: &Client, path: &Path, more: &[&str]) -> Import {
    let tenant = mill.tenant.to_string();
    let arguments = ["--json", "import", "dsfinvk", path.to_str().unwrap(), "--tenant", &tenant];
    run(server, &[&arguments[..], more].concat())
}

/// Creates a company with one of the articles by its number, one by its EAN, and one of the customers.
fn shop(server: &Server) -> Client {
    let mill = server.company("Mühle");
    let artikel = "artikelnummer;bezeichnung;ean\nM100;Dinkelmehl;\nKAESE;Bergkäse;4099999000016\n";
    server.import(&mill, "artikel", artikel);
    server.import(&mill, "kunden", "kundennr;name\nK-1;Hof Meier\n");
    mill
}

/// bon_nr, bezeichnung, menge, einheit, einzelpreis, mwst_satz, gesamt, steuer, netto of each line.
fn lines(mill: &Client) -> Vec<Value> {
    let fields = [
        "bon_nr",
        "bezeichnung",
        "menge",
        "einheit",
        "einzelpreis",
        "mwst_satz",
        "gesamt",
        "steuer",
        "netto",
    ];
    list(mill, "").iter().map(|line| fields.iter().map(|field| line[field].clone()).collect()).collect()
}

fn expected() -> Vec<Value> {
    vec![
        json!(["K1-101", "Dinkelmehl 1 kg", "2.000", "Stk", "2.5000", "5.00", "5.00", "0.24", "4.76"]),
        json!(["K1-103", "Apfelsaft", "6.000", "Stk", "1.1900", "16.00", "7.14", "0.98", "6.16"]),
        json!(["K1-103", "Pfand", "6.000", "Stk", "0.1500", "16.00", "0.90", "0.12", "0.78"]),
        json!(["K1-104", "Weizenmehl 25 kg", "1.000", "Stk", "19.9000", "7.00", "19.90", "1.30", "18.60"]),
        json!(["K1-104", "Papiersack", "2.000", "Stk", "0.6000", "19.00", "1.20", "0.19", "1.01"]),
        json!(["K1-105", "Frühstückskorb", "2.000", "Stk", "7.0000", "7.00", "14.00", "0.92", "13.08"]),
        json!(["K1-105", "Frühstückskorb", "2.000", "Stk", "3.0000", "19.00", "6.00", "0.96", "5.04"]),
        json!(["K1-106", "Frühstückskorb", "-2.000", "Stk", "7.0000", "7.00", "-14.00", "-0.92", "-13.08"]),
        json!(["K1-106", "Frühstückskorb", "-2.000", "Stk", "3.0000", "19.00", "-6.00", "-0.96", "-5.04"]),
        json!(["K2-101", "Käse", "2.000", "kg", "3.333333", "7.00", "6.67", "0.44", "6.23"]),
        json!(["K2-101", "Treuerabatt", "-1.000", "Stk", "0.5000", "7.00", "-0.50", "-0.03", "-0.47"]),
        json!(["K2-102", "Eier vom Hof", "10.000", "Stk", "0.3500", "10.70", "3.50", "0.34", "3.16"]),
    ]
}

#[test]
fn the_receipts_of_two_registers_come_as_they_were_printed() {
    let server = Server::start();
    let mill = shop(&server);
    let folder = export(&server, "export", |_, bytes| Some(bytes));
    let dry = import(&server, &mill, &folder, &["--dry-run"]);
    counts(&dry, [12, 0, 0]);
    assert_eq!(mill.get(PATH).is(200)["count"], 0);
    let imported = import(&server, &mill, &folder, &[]);
    counts(&imported, [12, 0, 0]);
    assert_eq!(lines(&mill), expected());
    for note in [
        "Bons vom Typ AVBelegabbruch: 1",
        "Bons vom Typ AVTraining: 1",
        "Storniert, bevor der Bon fertig war, deshalb ausgelassen, Zeilen: 1",
        "Sofort storniert, ohne eigenen Stornobon, deshalb ausgelassen, Bons: 1",
        "Artikel S200",
    ] {
        assert!(imported.said().contains(note), "no {note} in {}", imported.said());
    }
    assert!(!imported.said().contains("UMS_BRUTTO"), "{}", imported.said());
    let receipt = |nr: &str, field: &str| column(&mill, &format!("bon_nr={nr}&limit=1"), field)[0].clone();
    // The cash day is the day of the end in Berlin, whatever the closing, and however it is written.
    for (nr, datum, kassiert_at, zahlart) in [
        ("K1-101", "2020-12-31", "2020-12-31T22:59:59.000Z", "bar"),
        ("K1-103", "2021-01-01", "2020-12-31T23:30:00.000Z", "ec"),
        ("K1-104", "2021-01-04", "2021-01-04T09:15:30.000Z", "gemischt"),
        ("K1-105", "2021-01-04", "2021-01-04T10:00:00.000Z", "unbar"),
        ("K2-101", "2021-01-04", "2021-01-04T12:00:00.000Z", "guthabenkarte"),
        ("K2-102", "2021-01-04", "2021-01-04T22:59:59.999Z", "bar"),
    ] {
        let shown = json!([receipt(nr, "datum"), receipt(nr, "kassiert_at"), receipt(nr, "zahlart")]);
        assert_eq!(shown, json!([datum, kassiert_at, zahlart]), "{nr}");
    }
    assert_eq!(json!([receipt("K1-105", "kasse_id"), receipt("K2-101", "kasse_id")]), json!([K1, K2]));
    assert_eq!(
        json!([receipt("K1-105", "bon_id"), receipt("K1-106", "storno_von_bon_id")]),
        json!([REVERSED, REVERSED])
    );
    assert_eq!(json!([receipt("K1-106", "art"), receipt("K1-105", "storniert")]), json!(["storno", true]));
    assert_eq!(
        json!([receipt("K1-104", "storniert"), receipt("K1-104", "storno_von_bon_id")]),
        json!([false, null])
    );
    // All three have BON_ID 1 in closing 1 or 2: each is a separate receipt.
    let ids = ["K1-101", "K1-104", "K2-101"].map(|nr| receipt(nr, "bon_id").to_string());
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    let kunde = mill.get("/api/v1/kunden").body["data"][0]["id"].clone();
    assert_eq!(json!([receipt("K1-104", "kunde_id"), receipt("K2-101", "kunde_id")]), json!([kunde, null]));
    let fields = |nr: &str| {
        json!([receipt(nr, "artikelnummer"), receipt(nr, "ean"), receipt(nr, "artikel_id") != json!(null)])
    };
    assert_eq!(fields("K1-101"), json!(["M100", "4012345678901", true]));
    assert_eq!(fields("K2-101"), json!(["KAESE", "4099999000016", true]));
    assert_eq!(fields("K1-103"), json!(["S200", null, false]));
    // Importing again, from the folder or from a zip, changes nothing.
    let before = list(&mill, "");
    counts(&import(&server, &mill, &folder, &[]), [0, 0, 12]);
    let files: Vec<_> = FILES.map(|file| (format!("Export 2021/{file}"), fixture(file))).to_vec();
    let entries: Vec<_> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let zip = zipped(&server, "export.zip", &entries);
    counts(&import(&server, &mill, &zip, &[]), [0, 0, 12]);
    counts(&import(&server, &mill, &zip, &["--in-parts"]), [0, 0, 12]);
    assert_eq!(list(&mill, ""), before);
    // Another company has its own receipts.
    let other = server.company("Andere");
    counts(&import(&server, &other, &zip, &[]), [12, 0, 0]);
    assert_eq!(lines(&other), expected());
}

#[test]
fn commas_points_and_missing_references_are_read() {
    let server = Server::start();
    let mill = shop(&server);
    let plain = export(&server, "plain", |_, bytes| {
        let point = |byte: u8| if byte == b',' { b'.' } else { byte };
        let comma = |byte: u8| if byte == b';' { b',' } else { byte };
        Some(bytes.into_iter().map(|byte| comma(point(byte))).collect())
    });
    let below = server.database.with_file_name("below");
    fs::create_dir_all(below.join("a")).unwrap();
    fs::rename(&plain, below.join("a/b")).unwrap();
    counts(&import(&server, &mill, &below, &[]), [12, 0, 0]);
    assert_eq!(lines(&mill), expected());
    // Without reversals the file of references may be missing.
    let none = export(&server, "none", |file, bytes| match file {
        "references.csv" => None,
        "transactions.csv" => Some(replaced(bytes, ";;K1;1;", ";;K1;0;")),
        _ => Some(bytes),
    });
    fs::write(
        none.join("transactions.csv"),
        replaced(fs::read(none.join("transactions.csv")).unwrap(), ";;K2;1;", ";;K2;0;"),
    )
    .unwrap();
    let other = server.company("Andere");
    counts(&import(&server, &other, &none, &[]), [13, 0, 0]);
    assert_eq!(column(&other, "nur_verkaeufe=true&bon_nr=K1-106", "art"), json!(["verkauf", "verkauf"]));
}

#[test]
fn what_an_export_lacks_is_named_and_nothing_is_stored() {
    let server = Server::start();
    let mill = shop(&server);
    for (at, missing) in FILES.iter().enumerate() {
        let folder =
            export(&server, &format!("without-{at}"), |file, bytes| (file != *missing).then_some(bytes));
        import(&server, &mill, &folder, &[]).refused(&[missing, "fehlt die Datei"]);
    }
    for (at, (file, column)) in [
        ("cashpointclosing.csv", "Z_NR"),
        ("vat.csv", "UST_SATZ"),
        ("transactions.csv", "BON_ENDE"),
        ("transactions.csv", "BON_STORNO"),
        ("lines.csv", "P_STORNO"),
        ("lines.csv", "FAKTOR"),
        ("lines_vat.csv", "POS_BRUTTO"),
        ("lines_vat.csv", "POS_UST"),
        ("datapayment.csv", "ZAHLART_TYP"),
        ("references.csv", "REF_BON_ID"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = with(&server, &format!("column-{at}"), file, column, "ANDERS");
        import(&server, &mill, &folder, &[]).refused(&[file, column, "fehlt die Spalte"]);
    }
    let day = "2021-01-04T18:00:00.000Z";
    let closing = format!("K1;{day};2;");
    for (at, (file, from, to, named)) in [
        (
            "cashpointclosing.csv",
            closing.as_str(),
            "K1;x;3;",
            &["cashpointclosing.csv", "Abschluss 2", "Kasse K1"][..],
        ),
        ("vat.csv", ";1001;", ";1002;", &["vat.csv", "1001", "Kasse K2"]),
        ("vat.csv", ";16,00;", ";160,00;", &["vat.csv Zeile 2", "UST_SATZ"]),
        ("vat.csv", ";16,00;", ";;", &["vat.csv Zeile 2", "UST_SATZ"]),
        ("lines_vat.csv", ";5,00000;", ";10.05,00;", &["lines_vat.csv Zeile 2", "POS_BRUTTO", "10.05,00"]),
        ("vat.csv", "Z;1;1;16,00", "Z;1.0;1;16,00", &["vat.csv Zeile 2", "Z_NR", "1.0"]),
        ("lines_vat.csv", ";5,00000;4,76190;0,23810", ";;;", &["lines_vat.csv", "Position 1", "Bon 1"]),
        ("lines_vat.csv", "1;1;2;5,00000", "1;9;2;5,00000", &["lines.csv", "Position 9", "lines_vat.csv"]),
        (
            "lines.csv",
            ";Honig;K1;Umsatz;;0;1;",
            ";Honig;K1;Umsatz;;0;ja;",
            &["lines.csv Zeile 3", "P_STORNO", "ja"],
        ),
        ("lines.csv", ";Pfand;K1;Pfand;", ";Pfand;K1;;", &["lines.csv Zeile 6", "GV_TYP"]),
        ("lines.csv", "1;3;2;;Pfand", "1;3;1;;Pfand", &["lines.csv", "Position 1", "Bon 3", "doppelt"]),
        ("lines.csv", "1;3;2;;Pfand", "1;33;2;;Pfand", &["transactions.csv", "Bon 33", "lines.csv"]),
        ("transactions.csv", "1;3;103;", "1;1;103;", &["transactions.csv", "Bon 1", "doppelt"]),
        (
            "transactions.csv",
            ";2021-01-04T12:00:00.000Z;7;",
            ";gestern;7;",
            &["transactions.csv Zeile 9", "BON_ENDE"],
        ),
        ("transactions.csv", "1;3;103;", ";3;103;", &["transactions.csv Zeile 4", "Z_NR"]),
        ("references.csv", "2;3;;Transaktion;", "2;3;;Lieferschein;", &["Bon 3", "references.csv"]),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = with(&server, &format!("changed-{at}"), file, from, to);
        import(&server, &mill, &folder, &[]).refused(named);
    }
    let twice: Vec<_> = ["a/lines.csv", "b/lines.csv"].map(|name| (name, fixture("lines.csv"))).to_vec();
    let no_zip = server.database.with_file_name("no.zip");
    fs::write(&no_zip, "no zip").unwrap();
    import(&server, &mill, &zipped(&server, "twice.zip", &twice), &[]).refused(&["zwei Dateien lines.csv"]);
    import(&server, &mill, &no_zip, &[]).refused(&["no.zip", "zip"]);
    import(&server, &mill, Path::new("nowhere"), &[]).refused(&["nowhere"]);
    // Small as a zip, too large when unpacked.
    let bomb = zipped(&server, "bomb.zip", &[("lines.csv", vec![b'0'; 257 << 20])]);
    assert!(fs::metadata(&bomb).unwrap().len() < 1 << 20);
    import(&server, &mill, &bomb, &[]).refused(&["bomb.zip", "256 MiB"]);
    assert_eq!(server.sql::<i64>("select count(*) from bon"), 0);
}

#[test]
fn a_reversal_of_lines_means_their_receipt_and_of_several_receipts_none() {
    let server = Server::start();
    // POS_ZEILE names a line; blank target fields are those of the row itself.
    for (name, references, storno_von) in [
        ("line", "2;3;1;Transaktion;;x;;;2\r\nK1;x;2;3;2;Transaktion;;x;K1;2;2", json!(REVERSED)),
        ("whole", "2;3;1;Transaktion;;x;;;1\r\nK1;x;2;3;;Transaktion;;x;K1;2;2", json!(REVERSED)),
        ("several", "2;3;1;Transaktion;;x;;;1\r\nK1;x;2;3;2;Transaktion;;x;K1;2;2", json!(null)),
    ] {
        let mill = server.company(name);
        let folder = export(&server, name, |file, bytes| {
            let old = "2;3;;Transaktion;;2021-01-04T18:00:00.000Z;K1;2;2";
            Some(if file == "references.csv" { replaced(bytes, old, references) } else { bytes })
        });
        let imported = import(&server, &mill, &folder, &[]);
        counts(&imported, [12, 0, 0]);
        assert_eq!(
            column(&mill, "bon_nr=K1-106&limit=1", "storno_von_bon_id"),
            json!([storno_von]),
            "{name}"
        );
        let noted = imported.said().contains("sodass keiner von ihnen als storniert gilt: 1");
        assert_eq!(noted, storno_von.is_null(), "{name}: {}", imported.said());
    }
}

#[test]
fn a_register_that_adds_up_differently_is_noted() {
    let server = Server::start();
    let mill = shop(&server);
    let odd = with(&server, "odd", "transactions.csv", ";7;Kasse;8,04;", ";7;Kasse;8,05;");
    let imported = import(&server, &mill, &odd, &[]);
    counts(&imported, [12, 0, 0]);
    assert!(
        imported.said().contains("UMS_BRUTTO nicht die Summe ihrer Zeilen ist: 1"),
        "{}",
        imported.said()
    );
}

#[test]
fn a_row_that_has_not_one_cell_for_each_column_is_refused_by_its_line() {
    let server = Server::start();
    let mill = shop(&server);
    for (at, (file, from, to, named)) in [
        ("transactions.csv", ";Hof Meier;K-1;", ";Meier; K-77;K-1;", ["Zeile 5", "24 Zellen", "23 Spalten"]),
        ("transactions.csv", ";3,50;;;;;;;;;", ";3,50", ["Zeile 10", "14 Zellen", "23 Spalten"]),
        ("lines.csv", "10,000;1,000;Stk;0,35000", "10,000;1,000", ["Zeile 14", "19 Zellen", "21 Spalten"]),
        ("lines_vat.csv", ";1001;3,50000;;", ";1001;3,50000", ["Zeile 16", "7 Zellen", "9 Spalten"]),
        (
            "vat.csv",
            "K1;2020-12-31T23:45:00.000Z;1;1;16,00",
            "K1;2020-12-31T23:45:00.000Z;1;1;1;6,00",
            ["Zeile 2", "7 Zellen", "6 Spalten"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = with(&server, &format!("cells-{at}"), file, from, to);
        import(&server, &mill, &folder, &[]).refused(&[&[file][..], &named].concat());
    }
    assert_eq!(server.sql::<i64>("select count(*) from bon"), 0);
    // A separator in quotes is part of the text.
    let quoted = with(&server, "quoted", "transactions.csv", ";Hof Meier;K-1;", ";\"Meier; K-77\";K-1;");
    counts(&import(&server, &mill, &quoted, &[]), [12, 0, 0]);
    let kunde = mill.get("/api/v1/kunden").body["data"][0]["id"].clone();
    assert_eq!(column(&mill, "bon_nr=K1-104&limit=1", "kunde_id"), json!([kunde]));
}

#[test]
fn quotation_marks_that_swallow_or_split_receipts_are_refused_by_their_line() {
    let server = Server::start();
    let mill = shop(&server);
    for (at, (file, from, to, named)) in [
        ("transactions.csv", ";Hof Meier;K-1;", ";\"Hof Meier;K-1;", ["Zeile 5", "wird nie geschlossen"]),
        (
            "transactions.csv",
            ";Hof Meier;K-1;",
            ";\"Hof\" Meier;K-1;",
            ["Zeile 5", "hinter ihrem schließenden"],
        ),
        ("transactions.csv", ";Hof Meier;K-1;", ";Hof \"Meier\";K-1;", ["Zeile 5", "mitten in der Zelle"]),
        ("lines.csv", ";Honig;K1;", ";\"Honig;K1;", ["Zeile 3", "wird nie geschlossen"]),
        (
            "vat.csv",
            "K1;2020-12-31T23:45:00.000Z;1;1;16,00",
            "\"K1;2020-12-31T23:45:00.000Z;1;1;16,00",
            ["Zeile 2", "wird nie geschlossen"],
        ),
        ("transactions.csv", "BON_NAME", "BON_ENDE", ["BON_ENDE", "doppelt"]),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = with(&server, &format!("quotes-{at}"), file, from, to);
        import(&server, &mill, &folder, &[]).refused(&[&[file][..], &named].concat());
    }
    assert_eq!(server.sql::<i64>("select count(*) from bon"), 0);
}

#[test]
fn two_rates_for_one_key_of_a_closing_are_refused() {
    let server = Server::start();
    let mill = shop(&server);
    let own = "K1;2021-01-04T18:00:00.000Z;2;2;7,00;";
    let (again, other) = (format!("{own}x\r\n{own}"), format!("{own}x\r\n{}", own.replace("7,00", "19,00")));
    let two = with(&server, "two", "vat.csv", own, &other);
    import(&server, &mill, &two, &[]).refused(&["vat.csv", "zwei Steuersätze 2", "Abschluss 2", "Kasse K1"]);
    assert_eq!(server.sql::<i64>("select count(*) from bon"), 0);
    let twice = with(&server, "twice", "vat.csv", own, &again);
    counts(&import(&server, &mill, &twice, &[]), [12, 0, 0]);
    assert_eq!(lines(&mill), expected());
}

#[test]
fn a_line_of_text_has_neither_quantity_nor_price() {
    let server = Server::start();
    let mill = shop(&server);
    let folder = export(&server, "text", |file, bytes| {
        let place = "K2;2021-01-04T23:10:00.000Z;1;2;2";
        let (after, row) = match file {
            "lines.csv" => {
                ("10,000;1,000;Stk;0,35000", format!("{place};;Danke;K2;Umsatz;;0;0;0;;;1;Laden;0,000;;;"))
            }
            "lines_vat.csv" => (";1001;3,50000;;", format!("{place};2;0,00000;0,00000;0,00000")),
            _ => return Some(bytes),
        };
        Some(replaced(bytes, after, &format!("{after}\r\n{row}")))
    });
    counts(&import(&server, &mill, &folder, &[]), [13, 0, 0]);
    let mut with_text = expected();
    with_text.push(json!(["K2-102", "Danke", "0.000", "Stk", "0.0000", "7.00", "0.00", "0.00", "0.00"]));
    assert_eq!(lines(&mill), with_text);
}
