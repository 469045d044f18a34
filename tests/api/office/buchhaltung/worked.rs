//! The worked documents of the design (accounting, part C): the files equal them byte for byte.

use serde_json::{Value, json};

use super::{BELEGE, STAPEL, advised, files, stapel};
use crate::datev;
use crate::harness::{Client, Server};

const OCTOBER: &[u8] = include_bytes!("../../../data/datev/EXTF_Buchungsstapel_2026-10_7.csv");
const NOVEMBER: &[u8] = include_bytes!("../../../data/datev/EXTF_Buchungsstapel_2026-11_8.csv");
const STAMM: &[u8] = include_bytes!("../../../data/datev/EXTF_Debitoren_Kreditoren_7.csv");

pub const PARTNERS: &str = r#"[
  {"kunden_id": 23, "kundennr": "23", "nachname_firma": "Müller Mühle GmbH", "anrede": "Firma", "zahlungsziel_tage": 30},
  {"kunden_id": 24, "kundennr": "24", "nachname_firma": "Mühle Wien GmbH", "anrede": "Firma", "staat": "AT",
   "ust_id": "ATU13585627", "strasse": "Mühlgasse 1", "plz": "1010", "ort": "Wien", "zahlungsziel_tage": 30,
   "skonto_tage": 10, "skonto_prozent": "2"},
  {"kunden_id": 25, "kundennr": "25", "nachname_firma": "Müli Bern AG", "staat": "CH", "zahlungsziel_tage": 30},
  {"kunden_id": 7, "kundennr": "7", "nachname_firma": "Bio-Hof Huber", "anrede": "Firma", "steuerart": "pauschal_24",
   "strasse": "Am Feld 3", "plz": "93183", "ort": "Kallmünz", "iban": "DE02120300000000202051",
   "steuernummer": "244/123/45678", "gutschrift_vereinbart_am": "2026-01-01", "zahlungsziel_tage": 14},
  {"kunden_id": 12, "kundennr": "12", "nachname_firma": "Landhandel Süd eG", "zahlungsziel_tage": 30},
  {"kunden_id": 15, "kundennr": "15", "nachname_firma": "Agro Sp. z o.o.", "staat": "PL", "zahlungsziel_tage": 30},
  {"kunden_id": 16, "kundennr": "16", "nachname_firma": "Trans Polska", "staat": "PL", "zahlungsziel_tage": 30},
  {"kunden_id": 17, "kundennr": "17", "name": "Imkerei Süß", "nachname_firma": "Süß", "vorname": "Anna", "anrede": "Frau",
   "strasse": "Hauptstraße 5", "plz": "93183", "ort": "Kallmünz", "steuerart": "kleinunternehmer", "zahlungsziel_tage": 30}
]"#;

fn item(artikel: &str, ep_netto: &str) -> Value {
    json!({"artikelnr": artikel, "menge": 1, "ep_netto": ep_netto})
}

fn service(ep_netto: &str, satz: &str, kategorie: Option<&str>) -> Value {
    let mut item = json!({"bezeichnung": "Leistung", "menge": 1, "einheit": "Stück", "ep_netto": ep_netto,
        "mwst_satz": satz});
    if let Some(kategorie) = kategorie {
        item["steuer_kategorie"] = kategorie.into();
    }
    item
}

/// Creates documents from before the first day handed over, so that the next one gets this number.
fn up_to(mill: &Client, typ: &str, count: usize) {
    let body = json!({"beleg_typ": typ, "kundennummer": "23", "beleg_datum": "2026-09-01", "items": [item("A", "1")]});
    for _ in 0..count {
        mill.post(BELEGE, body.clone()).is(201);
    }
}

/// Creates the documents of October in the order of their numbers; returns their ids.
pub fn october(mill: &Client) -> Vec<String> {
    let ig =
        json!({"artikelnr": "A", "menge": 1, "ep_netto": "10000", "mwst_satz": 0, "steuer_kategorie": "K"});
    let export =
        json!({"artikelnr": "A", "menge": 1, "ep_netto": "2500", "mwst_satz": 0, "steuer_kategorie": "G"});
    let acquired =
        json!({"artikelnr": "A", "menge": 1, "ep_netto": "5000", "mwst_satz": 0, "steuer_kategorie": "K"});
    let table = [
        ("RE", "23", 12, json!([item("A", "6103.13")]), Value::Null),
        ("RE", "23", 13, json!([item("A", "1000"), service("80", "19", None)]), Value::Null),
        ("RE", "23", 13, json!([item("A", "100"), item("B", "200")]), Value::Null),
        ("RE", "23", 13, json!([item("A", "10.10"), item("B", "20.25")]), Value::Null),
        ("RE", "24", 19, json!([ig]), Value::Null),
        ("RE", "25", 20, json!([export]), Value::Null),
        ("RE", "23", 23, json!([item("A", "0.99")]), Value::Null),
        ("RE", "23", 24, json!([item("A", "100"), item("B", "-100")]), Value::Null),
        ("RE", "23", 26, json!([item("A", "10.10"), item("B", "20.25"), item("C", "-30.35")]), Value::Null),
        ("ER", "7", 14, json!([item("W", "4972")]), json!({"gutschrift": true})),
        (
            "ER",
            "7",
            15,
            json!([item("W", "4972"), service("-124.30", "7.8", None)]),
            json!({"gutschrift": true}),
        ),
        ("ER", "7", 15, json!([item("W", "4972"), item("R", "-124.30")]), json!({"gutschrift": true})),
        ("ER", "12", 16, json!([service("100", "19", None)]), json!({"fremdbelegnummer": "R 2026/4711-ä"})),
        ("ER", "12", 16, json!([item("P", "50")]), json!({"fremdbelegnummer": "R2026/4712"})),
        ("ER", "15", 21, json!([acquired]), json!({"fremdbelegnummer": "FV202610/88"})),
        ("ER", "16", 21, json!([service("800", "0", Some("AE"))]), json!({"fremdbelegnummer": "TR-5512"})),
        ("ER", "17", 22, json!([service("300", "0", Some("E"))]), json!({"fremdbelegnummer": "7"})),
    ];
    let post = |(typ, kunde, day, items, more): (&str, &str, i32, Value, Value)| {
        let mut body = json!({"beleg_typ": typ, "kundennummer": kunde, "beleg_datum": format!("2026-10-{day}"),
            "items": items});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let answer = mill.post(BELEGE, body);
        assert_eq!(answer.is(201)["status"], "abgeschlossen");
        answer.id()
    };
    table.into_iter().map(post).collect()
}

/// Compares line by line, and fails with the first line that differs.
fn assert_same(found: &[u8], expected: &[u8]) {
    let lines = |bytes: &[u8]| -> Vec<String> {
        let (text, ..) = encoding_rs::WINDOWS_1252.decode(bytes);
        text.split("\r\n").map(str::to_owned).collect()
    };
    for (found, expected) in lines(found).iter().zip(lines(expected)) {
        assert_eq!(*found, expected);
    }
    assert_eq!(found, expected);
}

#[test]
fn the_worked_documents_become_the_worked_files() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    server.import(&mill, "kunden", PARTNERS);
    server.set(&mill, &[("datev_ab", "2026-10-01")]);
    up_to(&mill, "RE", 16);
    up_to(&mill, "ER", 41);
    let ids = october(&mill);
    let before =
        "insert into datev_stapel (tenant_id, id, nr, am, bis, belege, zeilen, summe, hinweise, verworfen_am,
        verworfen_grund) values (?1, randomblob(16), 6, 0, '2026-09-30', 0, 0, 0, '[]', 0, 'Probe')";
    rusqlite::Connection::open(&server.database).unwrap().execute(before, [mill.tenant]).unwrap();
    server.set_clock("2026-11-02T06:00:00Z");
    let made = stapel(&mill, "2026-10-31");
    let body = made.is(201);
    assert_eq!((&body["nr"], &body["belege"], &body["zeilen"]), (&json!(7), &json!(17), &json!(23)));
    assert_eq!(made.hint_codes().into_iter().collect::<Vec<_>>(), ["BELEGFELD_GEAENDERT"]);
    let files_7 = files(&mill, &made.id());
    let [(month, bookings), (name, stamm)] = files_7.as_slice() else { panic!("two files") };
    assert_eq!(month, "EXTF_Buchungsstapel_2026-10_7.csv");
    assert_same(bookings, OCTOBER);
    assert_eq!(name, "EXTF_Debitoren_Kreditoren_7.csv");
    datev::check(stamm, &[]).unwrap();
    for line in STAMM.split_inclusive(|byte| *byte == b'\n') {
        let is_there = stamm.windows(line.len()).any(|part| part == line);
        assert!(is_there, "{}", encoding_rs::WINDOWS_1252.decode(line).0);
    }

    server.set_clock("2026-11-03T10:00:00Z");
    up_to(&mill, "RE", 5);
    mill.post(&format!("{BELEGE}/{}/storno", ids[0]), json!({"grund": "Falscher Preis"})).is(200);
    server.set_clock("2026-11-04T10:00:00Z");
    let back = json!([{"artikelnr": "A", "menge": -1, "ep_netto": "100", "bezug_beleg_id": ids[1]}]);
    let credit = json!({"beleg_typ": "RE", "kundennummer": "23", "beleg_datum": "2026-11-04", "items": back});
    mill.post(BELEGE, credit).is(201);
    server.set_clock("2026-12-02T06:00:00Z");
    let later = stapel(&mill, "2026-11-30");
    later.is(201);
    let files_8 = files(&mill, &later.id());
    // The tax adviser knows the partner already.
    let [(month, bookings)] = files_8.as_slice() else { panic!("one file") };
    assert_eq!(month, "EXTF_Buchungsstapel_2026-11_8.csv");
    assert_same(bookings, NOVEMBER);

    // The same bytes are returned again, over HTTP and by the command line.
    assert_eq!(files(&mill, &made.id()), files_7);
    let folder = server.database.parent().unwrap();
    let tenant = mill.tenant.to_string();
    let arguments =
        ["export", "datev", "--tenant", &tenant, "--stapel", "7", "--out", folder.to_str().unwrap()];
    let printed = server.cli(&arguments);
    let path = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(super::unzipped(&std::fs::read(path.trim()).unwrap()), files_7);
    assert_eq!(mill.get(STAPEL).is(200)["data"].as_array().unwrap().len(), 3);
}

/// Example 15: everything missing is listed, and nothing is written.
#[test]
fn what_is_missing_is_named_at_once_and_nothing_is_written() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    server.import(&mill, "kunden", &PARTNERS.replace("ATU13585627", ""));
    server.set(&mill, &[("datev_ab", "2026-10-01")]);
    up_to(&mill, "RE", 20);
    up_to(&mill, "ER", 41);
    let database = rusqlite::Connection::open(&server.database).unwrap();
    database.execute("delete from konto where fall = 'aufwand'", []).unwrap();
    let ig =
        json!([{"artikelnr": "A", "menge": 1, "ep_netto": "10000", "mwst_satz": 0, "steuer_kategorie": "K"}]);
    let sale = json!({"beleg_typ": "RE", "kundennummer": "24", "beleg_datum": "2026-10-19", "items": ig});
    mill.post(BELEGE, sale).is(201);
    for day in [14, 15, 15] {
        let items = json!([item("W", "4972")]);
        let day = format!("2026-10-{day}");
        let body = json!({"beleg_typ": "ER", "kundennummer": "7", "beleg_datum": day, "items": items,
            "gutschrift": true});
        mill.post(BELEGE, body).is(201);
    }
    server.set_clock("2026-11-02T06:00:00Z");
    let refused = stapel(&mill, "2026-10-31");
    let fehler = refused.refused(400, "DATEV_UNVOLLSTAENDIG")["details"]["fehler"].clone();
    let named: Vec<_> =
        fehler.as_array().unwrap().iter().map(|f| (&f["error"], &f["feld"], &f["beleg_nummer"])).collect();
    let (missing, feld) = (json!("KONTO_FEHLT"), json!("aufwand/7.8/Getreide"));
    let numbers = [42, 43, 44].map(|number| json!(format!("ER-2026-000{number}")));
    let sale = [json!("UST_ID_FEHLT"), json!("ust_id"), json!("RE-2026-00021")];
    let expected = [
        (&missing, &feld, &numbers[0]),
        (&missing, &feld, &numbers[1]),
        (&missing, &feld, &numbers[2]),
        (&sale[0], &sale[1], &sale[2]),
    ];
    assert_eq!(named, expected);
    let tenant = mill.tenant.to_string();
    let printed = server.cli(&["export", "datev", "--tenant", &tenant, "--bis", "2026-10-31"]);
    assert_eq!(printed.status.code(), Some(1));
    let said = String::from_utf8(printed.stderr).unwrap();
    assert!(
        said.contains("KONTO_FEHLT  Es fehlt das Konto für: Einkauf 7,8 %, Artikelgruppe Getreide."),
        "{said}"
    );
    assert!(said.contains("ER-2026-00042 ER-2026-00043 ER-2026-00044"), "{said}");
    assert!(mill.get(STAPEL).is(200)["data"].as_array().unwrap().is_empty());
    let named: i64 = server.sql("select count(*) from kunde where kreditor_konto is not null");
    assert_eq!(named, 0, "nobody got an account");
}
