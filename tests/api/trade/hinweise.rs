//! Doubtful data are stored as sent, with a hint (D7, D18): rates nobody defined, expired certificates,
//! customers that exist already, impossible numbers.

use partnerd::platform::db::file::connection::open_writer;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

const BELEGE: &str = "/api/v1/belege";
const KUNDEN: &str = "/api/v1/kunden";
const NOTES: &str = "/api/v1/annahmescheine";

/// Creates a company with a supplier, a customer and articles with a rate, without one, and with one of its group.
fn mill(server: &Server) -> Client {
    let mill = server.company("Mühle");
    server.import(&mill, "artikelgruppen", "id;name;kuerzel;mwst_satz\n1;Korn;K;19\n");
    let articles = "artikelnummer;bezeichnung;einheit;mwst_satz;gruppe;chargenpflichtig\n\
        A;Mit Satz;kg;19;;nein\nB;Ohne Satz;kg;;;nein\nC;Der Gruppe;kg;;K;nein\nD;Fremd;kg;10;;nein\n\
        W;Weizen;kg;7;;ja\n";
    server.import(&mill, "artikel", articles);
    server.import(&mill, "kunden", "kundennr;name;ort\nK-1;Kunde;Ulm\nL-1;Hof;Ulm\n");
    mill
}

/// The uuid of the supplier.
fn supplier(mill: &Client) -> String {
    mill.get(&format!("{KUNDEN}?suche=L-1")).is(200)["data"][0]["id"].as_str().unwrap().to_owned()
}

fn post(mill: &Client, typ: &str, item: Value, more: Value) -> Answer {
    let mut body = json!({"beleg_typ": typ, "kundennummer": "K-1", "items": [item]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    mill.post(BELEGE, body)
}

/// Code and field of each hint.
fn hints(answer: &Answer) -> Vec<String> {
    let hints = answer.body["hinweise"].as_array().unwrap().iter();
    hints
        .filter(|hint| hint["code"] != "BESTAND_NEGATIV")
        .map(|hint| format!("{} {}", hint["code"].as_str().unwrap(), hint["feld"].as_str().unwrap()))
        .collect()
}

fn message(answer: &Answer) -> &str {
    answer.body["message"].as_str().unwrap()
}

#[test]
fn a_rate_that_nobody_named_and_one_that_no_table_has_are_said() {
    let server = Server::start();
    let mill = mill(&server);
    let of_article = |nr: &str| json!({"artikelnr": nr, "menge": 1, "ep_netto": 1});
    let freight =
        |rate: Value| json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1, "mwst_satz": rate});
    let in_2020 = json!({"beleg_datum": "2020-08-01"});
    let field = |code: &str| if code == "STEUERGRUND_FEHLT" { "steuer_kategorie" } else { "mwst_satz" };
    let table = [
        (of_article("A"), json!({}), "19.00", ""),
        (of_article("C"), json!({}), "19.00", ""),
        (of_article("B"), json!({}), "7.00", "MWST_SATZ_ANGENOMMEN"),
        (freight(Value::Null), json!({}), "7.00", "MWST_SATZ_ANGENOMMEN"),
        (freight(Value::Null), in_2020, "5.00", "MWST_SATZ_ANGENOMMEN"),
        (freight(json!(0)), json!({}), "0.00", "STEUERGRUND_FEHLT"),
        (freight(json!("16")), json!({}), "16.00", ""),
        (freight(json!("7.8")), json!({}), "7.80", ""),
        (freight(json!(8)), json!({}), "8.00", "MWST_SATZ_UNBEKANNT"),
        (of_article("D"), json!({}), "10.00", "MWST_SATZ_UNBEKANNT"),
    ];
    for (item, header, rate, expected) in table {
        let answer = post(&mill, "RE", item.clone(), header);
        answer.is(201);
        let expected: Vec<_> =
            expected.split_terminator(' ').map(|code| format!("{code} items[0].{}", field(code))).collect();
        assert_eq!(hints(&answer), expected, "{item}");
        let position = mill.get(&format!("{BELEGE}/{}", answer.id())).body["positionen"][0].clone();
        assert_eq!(position["mwst_satz"], rate, "{item}");
    }
    // A farmer's flat rate on a day when there was none.
    mill.put(&format!("{KUNDEN}/{}", supplier(&mill)), json!({"steuerart": "pauschal_24"})).is(200);
    let long_ago = json!({"kundennummer": "L-1", "lieferdatum": "1980-01-01"});
    assert_eq!(
        hints(&post(&mill, "ER", of_article("A"), long_ago)),
        ["MWST_SATZ_ANGENOMMEN items[0].mwst_satz", "STEUERGRUND_FEHLT items[0].steuer_kategorie"]
    );
    // A rate added by the company is known, whenever it is valid.
    let own =
        "schluessel;bezeichnung;satz;gueltig_von;gueltig_bis;kategorie\nalt;Alt;8;2000-01-01;2000-12-31;S\n";
    server.import(&mill, "steuersaetze", own);
    assert_eq!(hints(&post(&mill, "RE", freight(json!(8)), json!({}))), [""; 0]);
}

#[test]
fn a_certificate_past_its_day_is_said_where_goods_come_in() {
    let server = Server::start();
    let mill = mill(&server);
    server.import(&mill, "biozertifikate", "id;nummer;gueltig_bis\n1;ALT-1;2026-06-30\n2;OFFEN;\n");
    let item = |id: i64| json!({"artikelnr": "W", "menge": 1, "ep_netto": 1, "biozertifikat_id": id});
    let of_supplier = |more: Value| {
        let mut header = json!({"kundennummer": "L-1"});
        header.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        header
    };
    let said = ["BIOZERTIFIKAT_ABGELAUFEN items[0].biozertifikat_id"];
    for (typ, id, header, expected) in [
        ("EL", 1, json!({}), &said[..]),
        ("ER", 1, json!({}), &said),
        ("BS", 1, json!({}), &[]),
        ("EL", 2, json!({}), &[]),
        // The delivery date counts, and the last day is included.
        ("EL", 1, json!({"lieferdatum": "2026-06-30"}), &[]),
        ("EL", 1, json!({"lieferdatum": "2026-07-01"}), &said),
        ("EL", 1, json!({"beleg_datum": "2026-06-01"}), &[]),
    ] {
        let answer = post(&mill, typ, item(id), of_supplier(header.clone()));
        answer.is(201);
        assert_eq!(hints(&answer), expected, "{typ} {id} {header}");
    }
    let note = json!({"kundennummer": "L-1", "artikelnr": "W", "anliefermenge_kg": 1000, "preis_je_t": 200,
        "biozertifikat_id": 1});
    for el_erzeugen in [false, true] {
        let mut body = note.clone();
        body["el_erzeugen"] = json!(el_erzeugen);
        let answer = mill.post(NOTES, body.clone());
        answer.is(201);
        assert_eq!(hints(&answer), ["BIOZERTIFIKAT_ABGELAUFEN biozertifikat_id"], "{el_erzeugen}");
        body["lieferdatum"] = json!("2026-06-30");
        assert_eq!(hints(&mill.post(NOTES, body)), [""; 0], "{el_erzeugen}");
    }
}

#[test]
fn a_customer_with_the_same_name_and_place_is_said() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let double = ["KUNDE_DOPPELT nachname_firma"];
    let table = [
        (json!({"name": "Meier", "ort": "Ulm", "plz": "89073"}), &[][..]),
        (json!({"name": "Meier", "ort": "Ulm"}), &double),
        (json!({"nachname_firma": " MEIER ", "ort": "ulm", "plz": "89073"}), &double),
        (json!({"name": "Meier", "ort": "Ulm", "plz": "99999"}), &double),
        (json!({"name": "Meier", "ort": "Bonn"}), &[]),
        (json!({"nachname_firma": "Meier", "vorname": "Eva", "ort": "Ulm"}), &[]),
        (json!({"nachname_firma": "Meier", "vorname": "eva", "ort": "Ulm"}), &double),
        (json!({"name": "Meier"}), &[]),
        (json!({"name": "Meier"}), &[]),
        (json!({"name": "Meie_", "ort": "Ulm"}), &[]),
    ];
    for (body, expected) in table {
        let answer = mill.post(KUNDEN, body.clone());
        answer.is(201);
        assert_eq!(hints(&answer), expected, "{body}");
    }
    let said = mill.post(KUNDEN, json!({"name": "Meier", "ort": "Ulm", "plz": "89073"}));
    assert!(said.body["hinweise"][0]["message"].as_str().unwrap().contains("K-1001"), "{}", said.body);
    let elsewhere = server.company("Andere").post(KUNDEN, json!({"name": "Meier", "ort": "Ulm"}));
    assert_eq!(hints(&elsewhere), [""; 0]);
    // However many customers have the name, the index finds the one at that place.
    let connection = open_writer(&server.database).unwrap();
    let statement = "explain query plan select kundennr from kunde where tenant_id = 1
        and nachname_firma = 'Meier' collate nocase and ort = 'Ulm' collate nocase";
    let plan: String = connection.query_row(statement, [], |row| row.get(3)).unwrap();
    assert!(plan.contains("USING INDEX kunde_name (tenant_id=? AND nachname_firma=? AND ort=?)"), "{plan}");
}

#[test]
fn an_iban_and_an_email_that_cannot_be_are_said_and_kept() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let good = json!({"name": "A", "iban": "DE89 3704 0044 0532 0130 00", "email": "a@hof.example"});
    let created = mill.post(KUNDEN, good);
    assert_eq!(hints(&created), [""; 0]);
    let wrong = json!({"name": "B", "iban": "DE89 3704 0044 0532 0130 01", "email": "a@hof"});
    let doubted = mill.post(KUNDEN, wrong.clone());
    assert_eq!(hints(&doubted), ["WERT_FRAGLICH iban", "WERT_FRAGLICH email"]);
    let path = format!("{KUNDEN}/{}", doubted.id());
    let stored = mill.get(&path).is(200).clone();
    assert_eq!((&stored["iban"], &stored["email"]), (&json!("DE89370400440532013001"), &wrong["email"]));
    // A change is only checked for the fields it sends.
    assert_eq!(hints(&mill.put(&path, json!({"ort": "Ulm"}))), [""; 0]);
    assert_eq!(hints(&mill.put(&path, json!({"email": "keine"}))), ["WERT_FRAGLICH email"]);
    assert_eq!(hints(&mill.put(&path, json!({"email": null, "iban": " "}))), [""; 0]);
}

#[test]
fn who_changes_only_the_name_changes_the_firm_too_where_both_were_equal() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let names = |body: Value, change: Value| {
        let path = format!("{KUNDEN}/{}", mill.post(KUNDEN, body).id());
        mill.put(&path, change).is(200);
        let kunde = mill.get(&path).is(200).clone();
        json!([kunde["name"], kunde["nachname_firma"]])
    };
    let (equal, person) = (json!({"name": "Alt"}), json!({"nachname_firma": "Meier", "vorname": "Eva"}));
    for (body, change, expected) in [
        (&equal, json!({"name": "Neu"}), ["Neu", "Neu"]),
        (&equal, json!({"name": "Neu", "nachname_firma": "Firma"}), ["Neu", "Firma"]),
        (&equal, json!({"nachname_firma": "Firma"}), ["Alt", "Firma"]),
        (&equal, json!({"name": null, "nachname_firma": "Firma"}), ["Firma", "Firma"]),
        (&person, json!({"name": "Hof Meier"}), ["Hof Meier", "Meier"]),
        (&person, json!({"name": "Hof", "nachname_firma": "Hof"}), ["Hof", "Hof"]),
    ] {
        assert_eq!(names(body.clone(), change.clone()), json!(expected), "{body} {change}");
    }
}

#[test]
fn a_missing_batch_is_refused_with_where_to_find_one() {
    let server = Server::start();
    let mill = mill(&server);
    for typ in ["LS", "RE", "EL", "ER", "BS"] {
        let item = json!({"artikelnr": "W", "menge": 1, "ep_netto": 1});
        let answer = post(&mill, typ, item, json!({}));
        answer.refused(400, "CHARGE_FEHLT");
        assert!(message(&answer).contains("GET /api/v1/chargen/verfuegbar"), "{typ}: {}", answer.body);
    }
}
