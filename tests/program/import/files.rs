//! What a file says by its form: percentages, code pages, lost zeros, columns twice, and DATEV's list of partners (D22).

use std::path::Path;

use rusqlite::Connection;

use super::run;
use super::sheets::{ods, sheet_data, xlsx_with};

struct Firm {
    folder: tempfile::TempDir,
}

impl Firm {
    fn new() -> Firm {
        let firm = Firm { folder: tempfile::TempDir::new().unwrap() };
        assert!(run(&firm.database(), &["tenant", "create", "Mühle"]).status.success());
        firm
    }

    fn database(&self) -> std::path::PathBuf {
        self.folder.path().join("partnerd.db")
    }

    /// Imports a file; returns the exit code and what was said.
    fn import(&self, kind: &str, bytes: impl AsRef<[u8]>, more: &[&str]) -> (i32, String) {
        let file = self.folder.path().join("data.file");
        std::fs::write(&file, bytes).unwrap();
        let arguments = ["import", kind, file.to_str().unwrap(), "--tenant", "Mühle"];
        let output = run(&self.database(), &[&arguments, more].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code().unwrap(), said + &printed)
    }

    #[track_caller]
    fn imports(&self, kind: &str, bytes: impl AsRef<[u8]>, more: &[&str]) -> String {
        let (code, said) = self.import(kind, bytes, more);
        assert_eq!(code, 0, "{said}");
        said
    }

    #[track_caller]
    fn refuses(&self, kind: &str, bytes: impl AsRef<[u8]>, named: &[&str]) {
        let (code, said) = self.import(kind, bytes, &[]);
        let missing: Vec<_> = named.iter().filter(|named| !said.contains(**named)).collect();
        assert!(code == 1 && missing.is_empty(), "{missing:?} in {code}: {said}");
    }

    fn value(&self, statement: &str) -> String {
        let connection = Connection::open(Path::new(&self.database())).unwrap();
        connection.query_row(statement, [], |row| row.get(0)).unwrap()
    }
}

/// Styles of an .xlsx: 1 is `0%`, 2 `0.00%`, 3 `0.0 %`, 4 `0" %"`.
const STYLES: &str = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2"><numFmt numFmtId="164" formatCode="0.0 %"/><numFmt numFmtId="165" formatCode="0&quot; %&quot;"/></numFmts><cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="10"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>"#;

fn xlsx(rows: &[&[&str]]) -> Vec<u8> {
    xlsx_with(&[("Tabelle1", "visible", &sheet_data(rows))], &[("xl/styles.xml", STYLES)])
}

const AS_PERCENT: &str = "das Format Prozent; gelesen wurde";

#[test]
fn a_cell_shown_in_percent_is_what_it_shows_in_each_kind_of_import() {
    let firm = Firm::new();
    let head = ["kundennr", "name", "skonto_tage", "skonto_prozent"];
    let said = firm.imports(
        "kunden",
        xlsx(&[
            &head,
            &["1", "A", "n:14", r#"<c s="1"><v>0.02</v></c>"#],
            &["2", "B", "n:14", r#"<c s="2"><v>0.025</v></c>"#],
            &["3", "C", "n:14", r#"<c s="3"><v>2.4E-2</v></c>"#],
            &["4", "D", "n:14", r#"<c s="4"><v>3</v></c>"#],
            &["5", "E", "n:14", "n:3"],
        ]),
        &[],
    );
    assert_eq!(said.matches(AS_PERCENT).count(), 1, "{said}");
    assert!(said.contains("skonto_prozent: "), "{said}");
    let percentage = r#"<table:table-cell office:value-type="percentage" office:value="0.024"><text:p>2 %</text:p></table:table-cell>"#;
    let said = firm.imports("kunden", ods(&[&head, &["6", "F", "n:14", percentage]]), &[]);
    assert_eq!(said.matches(AS_PERCENT).count(), 1, "{said}");
    firm.imports("kunden", "kundennr;name;skonto_tage;skonto_prozent\n7;G;14;2,5 %\n", &[]);
    let read =
        "select group_concat(skonto_prozent, ' ') from (select skonto_prozent from kunde order by kundennr)";
    assert_eq!(firm.value(read), "2000000 2500000 2400000 3000000 3000000 2400000 2500000");

    let rate = r#"<c s="1"><v>0.19</v></c>"#;
    firm.imports(
        "artikel",
        xlsx(&[&["artikelnummer", "bezeichnung", "einheit", "mwst_satz"], &["W", "Weizen", "kg", rate]]),
        &[],
    );
    assert_eq!(firm.value("select cast(mwst_satz as text) from artikel"), "19000000");
    firm.imports(
        "annahmescheine",
        xlsx(&[
            &[
                "belegnummer",
                "status",
                "partner",
                "artikelnummer",
                "lieferdatum",
                "anliefermenge_kg",
                "netto_menge_kg",
                "besatz_prozent",
                "basisbesatz_prozent",
            ],
            &[
                "A-1",
                "offen",
                "1",
                "W",
                "2026-08-01",
                "n:1000",
                "n:990",
                r#"<c s="3"><v>0.024</v></c>"#,
                r#"<c s="1"><v>0.02</v></c>"#,
            ],
        ]),
        &[],
    );
    assert_eq!(
        firm.value("select besatz_prozent || ' ' || basisbesatz_prozent from annahmeschein"),
        "2400000 2000000"
    );
    let said = firm.imports(
        "steuersaetze",
        xlsx(&[
            &["schluessel", "bezeichnung", "satz", "gueltig_von", "kategorie"],
            &["NEU", "Neu", r#"<c s="1"><v>0.08</v></c>"#, "2027-01-01", "S"],
        ]),
        &[],
    );
    assert!(said.contains(AS_PERCENT), "{said}");
}

#[test]
fn a_percentage_in_another_column_is_a_mistake() {
    let firm = Firm::new();
    let half = r#"<c s="1"><v>0.5</v></c>"#;
    for (kind, head, row) in [
        ("artikel", ["artikelnummer", "bezeichnung", "preis"], ["1", "A", half]),
        ("artikel", ["artikelnummer", "preis", "bezeichnung"], ["1", "1", half]),
        ("kunden", ["kundennr", "name", "skonto_tage"], ["1", "A", half]),
        ("kunden", ["kundennr", "name", "plz"], ["1", "A", half]),
        ("staffelpreise", ["artikelnummer", "preis", "ab_menge"], ["1", "1", half]),
    ] {
        firm.refuses(kind, xlsx(&[&head, &row]), &["Zeile 2, Spalte ", head[2], "das Format Prozent", "50%"]);
    }
    firm.refuses("artikel", "artikelnummer;bezeichnung;preis\n1;A;2,5 %\n", &["preis", "eine Zahl erwartet"]);
}

const PLACES: &str =
    "select group_concat(nachname_firma || ', ' || ort, '; ') from (select * from kunde order by kundennr)";

#[test]
fn a_file_that_is_no_utf8_is_said_or_refused_with_how_it_reads() {
    let firm = Firm::new();
    let head = b"kundennr;name;ort\n".to_vec();
    let file = |row: &[u8]| [&head[..], row].concat();
    let said = firm.imports("kunden", file(b"1;M\xfcller;K\xf6ln\n"), &[]);
    assert!(
        said.contains("Kodierung: Windows-1252, denn UTF-8 ist es nicht: \"Müller\", \"Köln\""),
        "{said}"
    );
    let said = firm.imports("kunden", file(b"2;M\x81ller;K\x94ln\n"), &[]);
    assert!(said.contains("Kodierung: CP850"), "{said}");
    let said = firm.imports("kunden", file(b"3;M\x9fller;K\x9aln\n"), &[]);
    assert!(said.contains("Kodierung: Mac Roman"), "{said}");
    assert_eq!(firm.value(PLACES), "Müller, Köln; Müller, Köln; Müller, Köln");
    assert!(!firm.imports("kunden", "kundennr;name;ort\n1;Müller;Köln\n", &[]).contains("Kodierung"));

    let either = file(b"4;Hof;K\x9aln\n");
    firm.refuses(
        "kunden",
        &either,
        &["Windows-1252 \"Kšln\"", "Mac Roman \"Köln\"", "--encoding", "Es wurde nichts"],
    );
    let said = firm.imports("kunden", &either, &["--encoding", "macroman"]);
    assert!(said.contains("Kodierung: Mac Roman, wie angegeben: \"Köln\""), "{said}");
    assert!(firm.value(PLACES).ends_with("Hof, Köln"), "{}", firm.value(PLACES));
    for (bytes, named) in [
        ("kundennr;name;ort\n5;Hof;Köln\n".as_bytes().to_vec(), "Die Datei ist UTF-8"),
        (xlsx(&[&["kundennr", "name"], &["5", "Hof"]]), "sagt selbst, welche Kodierung"),
    ] {
        let (code, said) = firm.import("kunden", bytes, &["--encoding", "cp850"]);
        assert!(code == 1 && said.contains(named), "{said}");
    }
}

#[test]
fn utf8_that_was_encoded_twice_is_asked_about() {
    let firm = Firm::new();
    let twice = "kundennr;name;ort\n1;MÃ¼ller;KÃ¶ln\n2;„Spaß“ – Süd;Ulm\n";
    firm.refuses(
        "kunden",
        twice,
        &["Zeile 2, Spalte name", "\"Müller\"", "Spalte ort", "\"Köln\"", "--accept-warnings"],
    );
    let (_, said) = firm.import("kunden", twice, &[]);
    assert!(!said.contains("Zeile 3"), "{said}");
    firm.imports("kunden", twice, &["--accept-warnings"]);
    firm.refuses("artikel", "artikelnummer;bezeichnung\n1;RÃ¼ben\n", &["zweimal kodiert", "\"Rüben\""]);
}

#[test]
fn a_german_postcode_without_its_zero_is_a_mistake_where_it_is_new() {
    let firm = Firm::new();
    let lost = ["Zeile 2, Spalte plz", "fünf Ziffern"];
    firm.refuses("kunden", "kundennr;name;plz\n1;Hof;1067\n", &lost);
    firm.refuses("kunden", xlsx(&[&["kundennr", "name", "plz"], &["1", "Hof", "n:1067"]]), &lost);
    firm.imports("kunden", "kundennr;name;plz;staat\n1;Hof;1010;AT\n2;Gut;01067;DE\n", &[]);
    firm.refuses("kunden", "kundennr;staat\n1;DE\n", &lost);
    firm.refuses("kunden", "kundennr;plz\n2;1067\n", &lost);
    let connection = Connection::open(firm.database()).unwrap();
    connection.execute("update kunde set plz = '1067' where kundennr = '2'", []).unwrap();
    let said = firm.imports("kunden", "kundennr;plz;ort\n2;1067;Dresden\n", &[]);
    assert!(said.contains("1 geändert") && !said.contains("fünf Ziffern"), "{said}");
    let said = firm.imports("kunden", r#"{"kundennr": "3", "name": "Alm", "plz": "1067"}"#, &[]);
    assert!(said.contains("plz") && said.contains("fünf Ziffern"), "{said}");
}

#[test]
fn two_columns_of_one_name_matter_only_where_they_are_used() {
    let firm = Firm::new();
    let said = firm.imports("kunden", "kundennr;name;Leerfeld;Leerfeld\n1;Hof;a;b\n", &[]);
    assert!(said.contains("Nicht benutzte Spalten: leerfeld"), "{said}");
    firm.refuses(
        "kunden",
        "kundennr;name;ort;ort\n2;Gut;Celle;Uelzen\n",
        &["die Spalte ort steht doppelt da"],
    );
    firm.refuses("kunden", "kundennr;name;Postleitzahl;Postleitzahl\n2;Gut;1;2\n", &["steht doppelt da"]);
}

#[test]
fn numbers_of_authorities_and_banks_have_one_form() {
    let firm = Firm::new();
    let head = "kundennr;name;staat;ust_id;iban;steuernummer\n";
    let row = "1;Hof;BE;BE 0417.497.106;be68\u{a0}5390 0754 7034;24/290/12345\n";
    let said = firm.imports("kunden", format!("{head}{row}"), &[]);
    assert!(!said.contains("ust_id") && !said.contains("iban"), "form alone is no hint: {said}");
    assert_eq!(
        firm.value("select ust_id || ' ' || iban || ' ' || steuernummer from kunde"),
        "BE0417497106 BE68539007547034 2429012345"
    );
    let said =
        firm.imports("kunden", format!("{head}1;Hof;BE;BE0417497106;BE68539007547034;2429012345\n"), &[]);
    assert!(said.contains("1 unverändert"), "{said}");
    let settings = ["tenant", "set", "Mühle", "iban=de02 1203 0000 0000 2020 51", "ust_id=DE 136.695.976"];
    assert!(
        run(&firm.database(), &[&settings[..], &["steuernummer=24/290/12345"]].concat()).status.success()
    );
    assert_eq!(
        firm.value("select iban || ' ' || ust_id || ' ' || steuernummer from firma order by nr desc limit 1"),
        "DE02120300000000202051 DE136695976 2429012345"
    );
}

#[test]
fn datevs_list_of_debtors_and_creditors_is_read() {
    let firm = Firm::new();
    let sample = include_bytes!("../../data/datev/EXTF_DebKred_Stamm.csv");
    let said = firm.imports("kunden", sample, &[]);
    assert!(said.contains("Kodierung: Windows-1252") && said.contains("Nicht benutzte Spalten: "), "{said}");
    let read = "select group_concat(coalesce(debitor_konto, kreditor_konto) || ' ' || name || ' ' || coalesce(ort, ''), '; ')
                from (select * from kunde order by debitor_konto)";
    let first = firm.value(read);
    assert!(first.contains("10000 Möbel Testgruber Nürnberg"), "{first}");
    assert!(
        said.contains("Zeile 4, Spalte Kunden-/Lief.-Nr. (kundennr), Wert \"KDN 12345\": Diese Nummer"),
        "{said}"
    );
    let said = firm.imports("kunden", sample, &[]);
    assert!(said.contains("0 neu, 0 geändert"), "{said}");
}

/// DATEV's header, and the columns of a list that a program writes.
const LIST: &str = "\"EXTF\";700;16;\"Debitoren/Kreditoren\";5;20261127101500000;;\"RE\";\"\";\"\";1001;1;20260101;4\n\
    Konto;Name (Adressattyp Unternehmen);Name (Adressattyp natürl. Person);Vorname (Adressattyp natürl. Person);EU-Land;\
    EU-UStID;Anrede;Straße;Postleitzahl;Ort;Land;Leerfeld;Leerfeld;Kunden-/Lief.-Nr.;Fälligkeit in Tagen (Debitor);\
    Kreditoren-Ziel 3 Brutto Tg.;Kurzbezeichnung\n";

#[test]
fn the_two_accounts_of_a_partner_are_one_partner() {
    let firm = Firm::new();
    let file = |rows: &str| format!("{LIST}{rows}");
    let rows = "10001;Hof Süd KG;;;DE;129273398;Firma;Weg 2;01067;Dresden;DE;;;K-7;14;0;HOF\n\
                70001;Hof Süd KG;;;DE;129273398;Firma;Weg 2;01067;Dresden;DE;;;L-9;0;30;HOF\n\
                10002;;Meier;Eva;;;Frau;Weg 3;01067;Dresden;DE;;;K-8;0;0;\n\
                10003;;Meier;Hans;;;Herr;Weg 3;01067;Dresden;DE;;;K-9;0;0;\n";
    let said = firm.imports("kunden", file(rows), &[]);
    assert!(said.contains("Kurzbezeichnung"), "{said}");
    let partners = "select group_concat(kundennr || ' ' || name || ' ' || coalesce(debitor_konto, '-') || ' '
                      || coalesce(kreditor_konto, '-') || ' ' || ist_kunde || ist_lieferant, '; ')
                    from (select * from kunde order by kundennr)";
    let stored = "K-7 Hof Süd KG 10001 70001 11; K-8 Eva Meier 10002 - 10; K-9 Hans Meier 10003 - 10";
    assert_eq!(firm.value(partners), stored);
    assert_eq!(
        firm.value("select ust_id || ' ' || zahlungsziel_tage from kunde where kundennr = 'K-7'"),
        "DE129273398 30"
    );
    // The account identifies: a new name and an empty town change the one and clear nothing.
    firm.imports("kunden", file("70001;Hof Süd GmbH;;;;;;;;;;;;;0;30;\n"), &[]);
    assert_eq!(
        firm.value("select name || ' ' || ort from kunde where kreditor_konto = 70001"),
        "Hof Süd GmbH Dresden"
    );
    firm.refuses("kunden", file("4400;Erlöse;;;;;;;;;;;;;0;0;\n"), &["Zeile 3", "4400 ist kein Konto"]);
    firm.refuses(
        "kunden",
        file("10009;Alm;;;;;;;1067;Ulm;DE;;;;0;0;\n"),
        &["Zeile 3, Spalte Postleitzahl (plz)"],
    );
    firm.refuses(
        "kunden",
        file("10010;A;;;;;;;;;;;;;0;0;\n10010;B;;;;;;;;;;;;;0;0;\n"),
        &["Zeile 4", "denselben"],
    );
}
