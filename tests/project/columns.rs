//! Columns are declared once, with `columns!`: none of a table is missing there, and the schema guards the
//! columns that a final document must keep.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use partnerd::platform::db::migrate::MIGRATIONS;
use rusqlite::Connection;

/// Columns that belong to no field of a declaration, with their table and what writes them.
const BESIDE: &[(&str, &str, &str)] = &[
    ("anhang", "artikel_id beleg_id kunde_id", "whose it is, of which the struct says nothing"),
    ("anhang", "inhalt sha256", "a new one comes with its content; it is read as base64 and as hex"),
    ("annahme_analyse", "annahmeschein_id", "whose it is, of which the struct says nothing"),
    ("annahmeschein", "abrechnung_id", "written with its final settlement"),
    ("annahmeschein", "anfrage_sha256", "what a repeated request is compared with"),
    ("annahmeschein", "storno_grund", "written by the storno alone"),
    (
        "artikel",
        "artikelnr_key artikelnummer_key artikelnummer_sort such_text",
        "found and put in order by these",
    ),
    ("artikelgruppe", "kuerzel_key name_key", "found by these"),
    ("beleg", "anfrage_sha256", "what a repeated request is compared with"),
    ("beleg", "blatt_am erechnung_fehlt firma_nr", "written when a document becomes final"),
    (
        "beleg",
        "kunden_bic kunden_e_adresse kunden_email kunden_iban kunden_kaeuferreferenz kunden_kundennr kunden_name \
         kunden_ort kunden_plz kunden_staat kunden_steuernummer kunden_strasse kunden_ust_id",
        "copied from the partner when a document becomes final",
    ),
    ("beleg", "fremdbeleg_key", "found by it"),
    ("beleg", "hat_rest", "follows from what its positions are tied to"),
    ("beleg", "such_text", "searched by it"),
    ("biozertifikat", "id", "named by who asks for it"),
    ("bon", "bon_nr_sort datum", "put in order by these"),
    ("bon", "storniert zeilen", "computed from its lines"),
    ("charge", "bestand", "written with each movement"),
    ("charge", "charge_nr_key fremde_charge_key", "found by these"),
    ("charge", "eingang_beleg_id", "written when the oldest receipt is another"),
    ("charge", "eroeffnung", "written by the import of opening stock"),
    ("charge", "inventur_id", "written by a stocktaking"),
    ("kontrakt", "such_text", "searched by it"),
    ("kontrakt_position", "kontrakt_id", "whose it is, of which the struct says nothing"),
    ("kunde", "kundennr_key kundennr_sort such_text", "found and put in order by these"),
    ("rezeptur", "bezeichnung_key", "found by it"),
    ("rezeptur_zeile", "art position rezeptur_id version", "its place, of which the struct says nothing"),
];

/// Columns of a document that may change after it is final.
const AFTER_THE_END: [&str; 9] = [
    "ereignis_am",
    "fremdbeleg_key",
    "geaendert_am",
    "hat_rest",
    "ohne_gegenbeleg",
    "status",
    "storno_grund",
    "such_text",
    "version",
];

/// Columns of master data that a tax auditor does not get (D36), with their table and the reason.
const NOT_FOR_AUDITORS: &[(&str, &str, &str)] = &[
    ("artikel", "langtext", "what is said of goods, not what they cost"),
    ("artikelgruppe", "nummer", "how another program calls it"),
    ("kontrakt", "notizen", "for people of the firm alone"),
    ("kontrakt", "schema_id", "each settlement has its scheme"),
    ("kunde", "anrede email telefon telefon2 notizen", "how people talk, no matter of taxes"),
    ("kunde", "bic e_adresse e_rechnung kaeuferreferenz", "each document has those that it went out with"),
    ("kunde", "nachname_firma", "the name on documents is the other one"),
    ("kunde", "angelegt_am geaendert_am kunden_id version vb_id", "of this program and of the firm alone"),
];

/// Columns of a partner that stay while records that the law keeps name him (D27).
const KEPT_WITH_THE_NAME: &str = "angelegt_am anrede besteuerungen betriebsnummer debitor_konto e_rechnung geaendert_am \
    gutschrift_vereinbart_am id kaeuferreferenz kreditor_konto kunden_id kundennr nachname_firma name ort plz \
    skonto_prozent skonto_tage staat status steuernummer strasse ust_id vb_id version vorname \
    zahlungsziel_tage";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    MIGRATIONS.iter().for_each(|migration| connection.execute_batch(migration.sql).unwrap());
    connection
}

fn columns_of(schema: &Connection, table: &str) -> BTreeSet<String> {
    let mut statement = schema.prepare("select name from pragma_table_info(?1)").unwrap();
    let names = statement.query_map([table], |row| row.get(0)).unwrap();
    let columns: BTreeSet<String> = names.collect::<Result<_, _>>().unwrap();
    assert!(columns.len() > 1, "there is no table {table}");
    columns
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The columns written by the declaration of each table, such as `pub struct Wiegung in wiegung as w { … }`.
fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let mut paths = Vec::new();
    sources(&root().join("src"), &mut paths);
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in paths {
        let code = fs::read_to_string(path).unwrap();
        for declaration in code.split("\nrecord! {\n").skip(1) {
            let declaration = declaration.split("\n}\n").next().unwrap();
            let (head, entries) = declaration.split_once(" {\n").unwrap();
            let Some((_, table)) = head.rsplit_once(" in ") else { continue };
            let table = table.split(' ').next().unwrap();
            let columns = declared.entry(table.to_owned()).or_default();
            for (name, kind) in entries.lines().filter_map(|line| line.trim().split_once(": ")) {
                // The kind follows the type of a field, and precedes the value written for a column without a field.
                let words: Vec<_> = kind.trim_end_matches(',').split(' ').collect();
                let Some(at) = words.iter().position(|word| ["fixed", "mutable"].contains(word)) else {
                    continue;
                };
                let column = if words.get(at + 1) == Some(&"as") { words[at + 2] } else { name };
                columns.insert(column.to_owned());
            }
        }
    }
    assert!(declared.len() > 15, "the declarations were not found: {declared:?}");
    declared
}

#[test]
fn every_column_of_master_data_is_handed_to_auditors_or_named_as_kept_back() {
    let tables = fs::read_to_string(root().join("src/office/z3/tabellen/stamm.rs")).unwrap();
    let declared = declared();
    let mut found = 0;
    for block in tables.split("\npub const ").skip(1) {
        let (_, from) = block.split_once("from: \"from ").unwrap();
        let (table, alias) = from.split_once(' ').unwrap();
        let alias = alias.split(' ').next().unwrap();
        let named: BTreeSet<&str> = block
            .split(&['"', ' ', '(', ')', ','])
            .filter_map(|word| word.strip_prefix(alias)?.strip_prefix('.'))
            .collect();
        let kept_back = NOT_FOR_AUDITORS.iter().filter(|(of, ..)| *of == table);
        let kept_back: BTreeSet<&str> = kept_back.flat_map(|(_, columns, _)| columns.split(' ')).collect();
        let both: Vec<_> = kept_back.intersection(&named).collect();
        assert!(both.is_empty(), "{table}: {both:?} are handed over: take them out of NOT_FOR_AUDITORS");
        let Some(declared) = declared.get(table) else { continue };
        let known = declared.iter().map(String::as_str).collect::<BTreeSet<_>>();
        let missing: Vec<_> =
            known.iter().filter(|name| !named.contains(*name) && !kept_back.contains(*name)).collect();
        assert!(missing.is_empty(), "{table}: does an auditor get {missing:?}?");
        let gone: Vec<_> = kept_back.difference(&known).collect();
        assert!(gone.is_empty(), "{table} has no {gone:?}: take them out of NOT_FOR_AUDITORS");
        found += 1;
    }
    assert_eq!(found, 6, "the tables of master data were not found");
}

#[test]
fn every_column_of_a_partner_is_erased_with_his_contact_or_named_as_kept() {
    let code = fs::read_to_string(root().join("src/master/kunden/vergessen.rs")).unwrap();
    let (_, contact) = code.split_once("fn without_contact").unwrap();
    let (contact, _) = contact.split_once("\n}\n").unwrap();
    let erased = contact.lines().filter_map(|line| line.trim().strip_suffix(": None,"));
    let erased: BTreeSet<&str> = erased.collect();
    let kept: BTreeSet<&str> = KEPT_WITH_THE_NAME.split_whitespace().collect();
    let both: Vec<_> = erased.intersection(&kept).collect();
    assert!(both.is_empty(), "{both:?} are erased: take them out of KEPT_WITH_THE_NAME");
    let roles = ["ist_kunde", "ist_lieferant", "ist_spediteur"];
    let declared = &declared()["kunde"];
    let known = declared.iter().map(String::as_str).filter(|name| !roles.contains(name));
    let said: BTreeSet<&str> = erased.union(&kept).copied().collect();
    assert_eq!(known.collect::<BTreeSet<_>>(), said, "is a new column erased with the contact of a partner?");
}

#[test]
fn every_column_of_a_declared_table_is_written() {
    let schema = schema();
    let declared = declared();
    for (table, written) in &declared {
        let mut missing = columns_of(&schema, table);
        missing.remove("tenant_id");
        let unknown: Vec<_> = written.difference(&missing).collect();
        assert!(unknown.is_empty(), "{table} has no columns {unknown:?}");
        missing.retain(|column| !written.contains(column));
        let beside =
            BESIDE.iter().filter(|(of, ..)| of == table).flat_map(|(_, columns, _)| columns.split(' '));
        for column in beside {
            assert!(missing.remove(column), "{table}.{column} is declared or gone: take it out of BESIDE");
        }
        assert!(
            missing.is_empty(),
            "{table}: {missing:?} are not declared: a field of which struct has them?"
        );
    }
    let known = |(table, ..): &&(&str, &str, &str)| !declared.contains_key(*table);
    assert_eq!(BESIDE.iter().find(known), None, "nothing is declared in this table");
}

#[test]
fn a_final_document_keeps_every_column_but_its_state() {
    let schema = schema();
    let trigger = "select sql from sqlite_schema where type = 'trigger' and name = 'beleg_abgeschlossen'";
    let guarded: String = schema.query_row(trigger, [], |row| row.get(0)).unwrap();
    for column in columns_of(&schema, "beleg") {
        let is_guarded = [" <> ", " is not "]
            .iter()
            .any(|differs| guarded.contains(&format!("new.{column}{differs}old.{column}")));
        let may_change = AFTER_THE_END.contains(&column.as_str());
        assert!(
            is_guarded != may_change,
            "beleg.{column}: beleg_abgeschlossen guards it, or AFTER_THE_END names it"
        );
    }
}
