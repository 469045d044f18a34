//! Settlement schemes (D29): versions and their dates, what protects them, files, the calculator, the sheet.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

const PATH: &str = "/api/v1/abrechnungsschemata";

/// Creates a company with the articles of the examples.
fn mill(server: &Server) -> Client {
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikel",
        "artikelnummer;bezeichnung;einheit\nWEIZEN;Weizen;kg\nGERSTE;Gerste;kg\nRAPS;Raps;kg\nMAIS;Mais;kg\n",
    );
    mill
}

fn wheat(nummer: &str, gueltig_von: &str, satz: &str) -> Value {
    json!({"nummer": nummer, "bezeichnung": "Weizen", "artikel": ["WEIZEN"], "gueltig_von": gueltig_von, "schritte": [
        {"nr": 1, "code": "feuchte", "text": "Schwund", "wirkung": "menge", "regel": "faktor", "merkmal": "feuchte",
         "richtung": "ueber", "basis": "14.5", "satz": satz}]})
}

fn probe(mill: &Client, id: &str, kg: &str, preis: &str, werte: &[(&str, &str)], more: Value) -> Answer {
    let werte: Vec<Value> =
        werte.iter().map(|(merkmal, wert)| json!({"merkmal": merkmal, "wert": wert})).collect();
    let mut body = json!({"menge_kg": kg, "preis_je_t": preis, "werte": werte});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    mill.post(&format!("{PATH}/{id}/probe"), body)
}

/// Imports the shipped examples; returns their ids by number.
fn examples(server: &Server, mill: &Client) -> Vec<(String, String)> {
    server.import(
        mill,
        "abrechnungsschemata",
        include_str!("../../../docs/handbuch/beispiele/abrechnungsschemata.json"),
    );
    let rows = mill.get(PATH).is(200)["data"].as_array().unwrap().clone();
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    rows.iter().map(|row| (text(row, "nummer"), text(row, "id"))).collect()
}

#[test]
fn a_change_is_a_new_version_and_the_old_one_ends_the_day_before() {
    let server = Server::start_at("2026-08-15T10:00:00Z");
    let mill = mill(&server);
    let made = mill.post(PATH, wheat("W", "2026-07-01", "1.3"));
    assert_eq!(made.is(201)["version"], 1);
    let id = made.id();
    let versionen = format!("{PATH}/{id}/versionen");
    // What was read is a valid body for the next version.
    let mut next = mill.get(&format!("{PATH}/{id}")).is(200).clone();
    next["gueltig_von"] = json!("2026-09-01");
    next["schritte"][0]["satz"] = json!("1.4");
    assert_eq!(mill.post(&versionen, next).is(201)["version"], 2);
    let read = mill.get(&format!("{PATH}/{id}"));
    let days = |index: usize| {
        let version = &read.body["versionen"][index];
        [version["version"].clone(), version["gueltig_von"].clone(), version["gueltig_bis"].clone()]
    };
    assert_eq!(days(0), [json!(2), json!("2026-09-01"), Value::Null]);
    assert_eq!(days(1), [json!(1), json!("2026-07-01"), json!("2026-08-31")]);
    // The calculator takes the version of the delivery day, by default that of today.
    let netto = |more: Value| {
        let answer = probe(&mill, &id, "10000", "200", &[("feuchte", "15.5")], more);
        [answer.is(200)["version"].clone(), answer.body["netto_kg"].clone()]
    };
    assert_eq!(netto(json!({})), [json!(1), json!("9870.000")]);
    assert_eq!(netto(json!({"lieferdatum": "2026-09-01"})), [json!(2), json!("9860.000")]);
    assert_eq!(netto(json!({"version": 2})), [json!(2), json!("9860.000")]);
    // A past period cannot be changed, and neither can the period of a version that has an end.
    let refused = |von: &str| {
        mill.post(&versionen, wheat("W", von, "1.5")).refused(400, "SCHEMA_UEBERSCHNEIDET").clone()
    };
    assert_eq!(refused("2026-08-01")["feld"], "gueltig_von");
    refused("2026-06-01");
    // A version with an end fits before a later one; it ends the version that it falls into, whatever end
    // that one had.
    let mut between = wheat("W", "2026-08-20", "1.6");
    between["gueltig_bis"] = json!("2026-08-31");
    assert_eq!(mill.post(&versionen, between).is(201)["version"], 3);
    assert_eq!(netto(json!({"lieferdatum": "2026-08-19"}))[0], 1);
    assert_eq!(netto(json!({"lieferdatum": "2026-08-20"}))[0], 3);
    assert_eq!(netto(json!({"lieferdatum": "2026-09-01"}))[0], 2);
    // A version that begins on the same day replaces one that was wrong.
    assert_eq!(mill.post(&versionen, wheat("W", "2026-09-01", "1.5")).is(201)["version"], 4);
    // The same once more is no version.
    assert_eq!(mill.post(&versionen, wheat("W", "2026-09-01", "1.5")).is(200)["version"], 4);
    assert_eq!(mill.get(&format!("{PATH}/{id}")).body["versionen"].as_array().unwrap().len(), 4);
    assert_eq!(netto(json!({"lieferdatum": "2026-09-01"})), [json!(4), json!("9850.000")]);
}

#[test]
fn nothing_alters_a_version() {
    let server = Server::start();
    let mill = mill(&server);
    let id = mill.post(PATH, wheat("W", "2026-07-01", "1.3")).id();
    mill.post(&format!("{PATH}/{id}/versionen"), wheat("W", "2026-08-01", "1.4")).is(201);
    server.import(
        &mill,
        "merkmale",
        r#"[{"code": "farbe", "bezeichnung": "Farbe", "einheit": "b*", "stellen": 1, "mittel": "keins"}]"#,
    );
    let database = Connection::open(&server.database).unwrap();
    for statement in [
        "update abrechnungsschema_version set inhalt = '{}' where version = 2",
        "update abrechnungsschema_version set gueltig_bis = '2026-12-31' where version = 1",
        "update abrechnungsschema_version set gueltig_bis = gueltig_bis, bezeichnung = 'x' where version = 1",
        "update abrechnungsschema_version set gueltig_bis = null where version = 1",
        "update abrechnungsschema_version set gueltig_von = '2026-07-02', gueltig_bis = '2027-01-01' where version = 2",
        "delete from abrechnungsschema_version where version = 1",
        "update abrechnungsschema_artikel set version = 9",
        "delete from abrechnungsschema_artikel",
        "update merkmal set stellen = 2",
        "update merkmal set einheit = '%'",
    ] {
        let error = database.execute(statement, []).unwrap_err().to_string();
        assert!(
            ["stays", "stay", "never deleted"].iter().any(|why| error.contains(why)),
            "{statement}: {error}"
        );
    }
    let sha256 = mill.get(&format!("{PATH}/{id}?version=1")).is(200)["sha256"].clone();
    assert_eq!(sha256.as_str().unwrap().len(), 64);
    assert_ne!(mill.get(&format!("{PATH}/{id}")).is(200)["sha256"], sha256);
}

#[test]
fn files_bring_schemes_tables_and_what_is_measured() {
    let server = Server::start_at("2026-08-15T10:00:00Z");
    let mill = mill(&server);
    let measured = server.database.with_file_name("merkmale.csv");
    std::fs::write(&measured, "code;bezeichnung;einheit;stellen;mittel\nfarbe;Farbe;b*;2;gewogen\n").unwrap();
    let arguments = ["import", "merkmale", measured.to_str().unwrap(), "--tenant", &mill.tenant.to_string()];
    assert!(server.cli(&arguments).status.success(), "a unit of what is measured is none of trade");
    let mut scheme = wheat("W", "2026-07-01", "1.3");
    scheme["schritte"] = json!([{"nr": 1, "code": "farbe", "text": "Farbe", "wirkung": "preis", "regel": "tabelle",
        "merkmal": "farbe", "einheit": "EUR/t", "zeilen": [{"von": "0", "bis": "1.00", "satz": "-5"}]}]);
    let file = json!([scheme]).to_string();
    let told = server.import(&mill, "abrechnungsschemata", &file);
    assert!(told.contains("1 neu"), "{told}");
    // Importing the same file again makes no new version.
    server.import(&mill, "abrechnungsschemata", &file);
    let id = mill.get(PATH).is(200)["data"][0]["id"].as_str().unwrap().to_owned();
    let versions = || mill.get(&format!("{PATH}/{id}")).is(200)["versionen"].as_array().unwrap().len();
    assert_eq!(versions(), 1);
    // A spreadsheet imports the rows of a table as one version, in any order.
    let table = "nummer;gueltig_von;schritt;von;bis;satz\nW;01.09.2026;farbe;1,01;2;-2,50\nW;01.09.2026;farbe;0;1;-6\n";
    server.import(&mill, "abrechnungstabellen", table);
    server.import(&mill, "abrechnungstabellen", table);
    assert_eq!(versions(), 2);
    let rows = mill.get(&format!("{PATH}/{id}")).is(200)["schritte"][0]["zeilen"].clone();
    let expected =
        json!([{"von": "0.0", "bis": "1.0", "satz": "-6.0"}, {"von": "1.01", "bis": "2.0", "satz": "-2.5"}]);
    assert_eq!(rows, expected);
    for (kind, file, why) in [
        (
            "abrechnungstabellen",
            "nummer;gueltig_von;schritt;von;bis;satz\nX;01.10.2026;farbe;0;1;-6\n",
            "gibt es nicht",
        ),
        (
            "abrechnungstabellen",
            "nummer;gueltig_von;schritt;von;bis;satz\nW;01.10.2026;glanz;0;1;-6\n",
            "Code prüfen",
        ),
        (
            "abrechnungstabellen",
            "nummer;gueltig_von;schritt;von;bis;satz\nW;01.10.2026;farbe;0;1;-6\nW;01.10.2026;farbe;1,02;2;-6\n",
            "fehlt eine Zeile",
        ),
        (
            "abrechnungstabellen",
            "nummer;gueltig_von;schritt;von;bis;satz\nW;01.10.2026;farbe;0;1;-6\nW;02.10.2026;farbe;1,01;2;-6\n",
            "dasselbe gueltig_von",
        ),
        ("merkmale", "code;bezeichnung;einheit;stellen;mittel\nfarbe;Farbe;b*;1;gewogen\n", "bleiben"),
        (
            "merkmale",
            "code;bezeichnung;einheit;stellen;mittel\nfeuchte;Feuchte;%;1;gewogen\n",
            "kennt der Dienst schon",
        ),
        ("merkmale", "code;bezeichnung;einheit;stellen;mittel\nÖl;Öl;%;1;gewogen\n", "von a bis z"),
    ] {
        let path = server.database.with_file_name("wrong.import");
        std::fs::write(&path, file).unwrap();
        let output =
            server.cli(&["import", kind, path.to_str().unwrap(), "--tenant", &mill.tenant.to_string()]);
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert!(!output.status.success() && told.contains(why), "{kind}: {told}");
    }
    assert_eq!(versions(), 2);
}

/// The shipped examples are marked as such, and the calculator returns the published figures for them.
#[test]
fn the_examples_are_marked_and_come_to_published_figures() {
    let server = Server::start_at("2026-08-15T10:00:00Z");
    let mill = mill(&server);
    let examples = examples(&server, &mill);
    let numbers: Vec<&str> = examples.iter().map(|(nummer, _)| nummer.as_str()).collect();
    assert_eq!(numbers, ["BEISPIEL-GERSTE", "BEISPIEL-MAIS", "BEISPIEL-RAPS", "BEISPIEL-WEIZEN"]);
    for (_, id) in &examples {
        let bezeichnung = mill.get(&format!("{PATH}/{id}")).is(200)["bezeichnung"].clone();
        assert!(bezeichnung.as_str().unwrap().starts_with("BEISPIEL, bitte prüfen"), "{bezeichnung}");
    }
    let of = |nummer: &str| examples.iter().find(|(known, _)| known == nummer).unwrap().1.clone();
    // Landesbetrieb Landwirtschaft Hessen, "Rapsrechner"; Wochenblatt, "Schwundabzug berechtigt?".
    let rape = [("oelgehalt", "44.1"), ("besatz", "0.14"), ("feuchte", "6.5")];
    let answer = probe(&mill, &of("BEISPIEL-RAPS"), "24500", "450", &rape, json!({}));
    let rows: Vec<String> = answer.is(200)["zeilen"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {} {} {}", row["satz"], row["bezug"], row["ergebnis"], row["danach"]))
        .collect();
    assert_eq!(
        rows.join("\n").replace('"', ""),
        "6.15 450.0000 27.6800 477.6800\n0 450.0000 0.0000 477.6800\n0.93 450.0000 4.1900 481.8700\n\
         0 450.0000 0.0000 481.8700\n1.25 450.0000 5.6300 487.5000"
    );
    assert_eq!((&answer.body["preis_je_t"], &answer.body["summe"]), (&json!("487.5000"), &json!("11943.75")));
    // top agrar, "Körnermais: Kompass im Abrechnungs-Dschungel": 1 % waste up to 30 %, then the factor.
    let maize = probe(&mill, &of("BEISPIEL-MAIS"), "26420", "190", &[("feuchte", "28.4")], json!({}));
    assert_eq!(maize.is(200)["netto_kg"], "21260.000");
    // Goods that are too wet are not calculated: the answer says so, and nothing is extrapolated.
    let wet = probe(&mill, &of("BEISPIEL-MAIS"), "26420", "190", &[("feuchte", "40.1")], json!({}));
    let codes: Vec<&str> = wet.is(200)["befunde"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["code"].as_str().unwrap())
        .collect();
    assert_eq!((codes, &wet.body["netto_kg"]), (vec!["GRENZWERT", "TABELLE_ENDET"], &Value::Null));
    let bad = [
        ("besatz", "0.6"),
        ("feuchte", "14.5"),
        ("protein", "12.7"),
        ("hl_gewicht", "78"),
        ("mutterkorn", "0.51"),
    ];
    let wheat = probe(&mill, &of("BEISPIEL-WEIZEN"), "24860", "200", &bad, json!({}));
    let actions: Vec<&str> = wheat.is(200)["befunde"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["aktion"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["sperren", "abweisen", "sperren"]);
}

#[test]
fn what_looks_like_storage_is_named_and_what_is_left_is_not_below_nothing() {
    let server = Server::start();
    let mill = mill(&server);
    let mut scheme = wheat("L", "2026-07-01", "1.3");
    scheme["schritte"] = json!([
        {"nr": 1, "code": "lagergeld", "text": "Geld", "wirkung": "kosten", "regel": "fest", "satz": "-3",
            "einheit": "EUR/t", "bezug": "netto"},
        {"nr": 2, "code": "abzug", "text": "Abzug", "wirkung": "menge", "regel": "fest", "satz": "100.1"},
        {"nr": 3, "code": "preis", "text": "Preis", "wirkung": "preis", "regel": "fest", "satz": "-10",
            "einheit": "EUR/t"}]);
    let made = mill.post(PATH, scheme.clone());
    assert_eq!(made.hint_codes(), ["LAGERKOSTEN_PRUEFEN"]);
    probe(&mill, &made.id(), "1000", "200", &[], json!({})).refused(400, "NETTO_NEGATIV");
    scheme["schritte"][1]["satz"] = json!("100");
    scheme["nummer"] = json!("L2");
    let made = mill.post(PATH, scheme).id();
    probe(&mill, &made, "1000", "9.99", &[], json!({})).refused(400, "PREIS_NEGATIV");
    assert_eq!(probe(&mill, &made, "1000", "10", &[], json!({})).is(200)["summe"], "0.00");
    probe(&mill, &made, "999999999999", "999999999999", &[], json!({})).is(200);
    let twice = [("feuchte", "15"), ("feuchte", "16")];
    probe(&mill, &made, "1000", "10", &twice, json!({})).refused(400, "FELD_WIDERSPRUCH");
}

#[test]
fn the_table_is_handed_out_with_version_and_day() {
    let server = Server::start_at("2026-08-15T10:00:00Z");
    let mill = mill(&server);
    let examples = examples(&server, &mill);
    let path = format!("{PATH}/{}/pdf", examples[3].1);
    assert_eq!(mill.get(&path).refused(404, "KEIN_PDF")["error"], "KEIN_PDF");
    server.set(
        &mill,
        &[
            ("firma", "Mühle"),
            ("strasse", "Am Bach 1"),
            ("plz", "93183"),
            ("ort", "Kallmünz"),
            ("steuernummer", "12/345"),
        ],
    );
    for (_, id) in &examples {
        let sheet = mill.get(&format!("{PATH}/{id}/pdf"));
        assert_eq!((sheet.status, sheet.headers["content-type"].as_str()), (200, "application/pdf"));
    }
    let name = &mill.get(&path).headers["content-disposition"];
    assert!(name.contains("Schema-BEISPIEL-WEIZEN-1.pdf"), "{name}");
}

#[test]
fn schemes_are_read_and_written_with_their_own_scopes() {
    use partnerd::rules::scope::Scope;
    let server = Server::start();
    let mill = mill(&server);
    let id = mill.post(PATH, wheat("W", "2026-07-01", "1.3")).id();
    let read = server.key(mill.tenant, &[Scope::AbrechnungRead]);
    let write = server.key(mill.tenant, &[Scope::AbrechnungWrite]);
    read.get(&format!("{PATH}/{id}")).is(200);
    probe(&read, &id, "1", "1", &[], json!({})).is(200);
    read.post(PATH, wheat("V", "2026-07-01", "1.3")).refused(403, "SCOPE_FEHLT");
    write.post(PATH, wheat("V", "2026-07-01", "1.3")).is(201);
    write.get(PATH).refused(403, "SCOPE_FEHLT");
    let waage = server.key(mill.tenant, &[Scope::WaageRead, Scope::RohwarenWrite]);
    waage.get(PATH).refused(403, "SCOPE_FEHLT");
}
