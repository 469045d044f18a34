//! Outgoing papers never change (D24): master data change, servers restart, and any tampering is reported.

use std::path::PathBuf;

use partnerd::platform::db::file::connection::open_writer;
use rusqlite::Connection;
use serde_json::json;

use super::{BELEGE, document, finished, firma, partner, sheet, text, xml};
use crate::harness::{COMPLETE, Client, Server, cli};
use crate::programs::needs;
use crate::trade::lager::{Mill, sell};

/// XML and PDF of documents.
fn files(client: &Client, ids: &[String]) -> Vec<(String, Vec<u8>)> {
    ids.iter().map(|id| (xml(client, id), sheet(client, id))).collect()
}

fn settle(mill: &Mill<'_>) -> (Vec<String>, String) {
    let kunde = json!({"name": "Bäckerei Alt", "strasse": "Weg 1", "plz": "86650", "ort": "Wemding",
        "ust_id": "DE987654321"});
    mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), kunde).is(200);
    let charge = mill.receive("FELD-7", 1000);
    let rechnung = mill.post("RE", sell(300, &charge)).id();
    mill.finalise(&rechnung);
    let cancelled = mill.post("RE", sell(200, &charge)).id();
    mill.finalise(&cancelled);
    let counter = mill.storno(&cancelled).is(200)["storno_beleg_id"].as_str().unwrap().to_owned();
    (vec![rechnung, cancelled, counter], charge)
}

#[test]
fn master_data_that_change_leave_what_was_written_as_it_is() {
    needs!("pdftotext");
    let mut server = Server::start();
    let (client, ids, before) = {
        let mill = Mill::with(&server, "Mühle", COMPLETE);
        let (ids, charge) = settle(&mill);
        let before = files(&mill.client, &ids);
        let kunde = json!({"name": "Bäckerei Neu", "strasse": "Weg 2", "plz": "10115", "ort": "Berlin",
            "ust_id": "DE111111111", "e_rechnung": "xrechnung"});
        mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), kunde).is(200);
        let new_batch = json!({"mhd": "2029-12-31", "herkunftsland": "FR", "charge_nr": "NEU"});
        mill.client.put(&format!("/api/v1/chargen/{charge}"), new_batch).is(200);
        let artikel = "artikelnummer;bezeichnung;einheit;mwst_satz;preis;chargenpflichtig;ean\n\
            W;Dinkel;kg;7;9;ja;4012345678901\n";
        server.import(&mill.client, "artikel", artikel);
        let settings = [
            ("firma", "Neue Mühle AG"),
            ("strasse", "Neuweg 9"),
            ("iban", "DE02500105170137075030"),
            ("e_rechnung", "aus"),
            ("kleinunternehmer", "true"),
        ];
        server.set(&mill.client, &settings);
        (mill.client.clone(), ids, before)
    };
    assert!(files(&client, &ids) == before, "after the master data changed");
    assert!(text(&before[0].1).contains("Bäckerei Alt") && before[0].0.contains("Weizen"));
    server.restart();
    let client = server.client(client.tenant, client.key);
    assert!(files(&client, &ids) == before, "after a restart");
    // Control: a new document uses the current data.
    let new = client.post(BELEGE, document("RE", &partner(&client, json!({})), "10", json!({}))).id();
    client.post(&format!("{BELEGE}/{new}/abschliessen"), json!({})).is(200);
    assert!(text(&sheet(&client, &new)).contains("Neue Mühle AG"));
}

/// Copies the database of a server, with its secret.
fn copy(server: &Server, name: &str) -> PathBuf {
    let file = server.database.with_file_name(format!("{name}.db"));
    let target = file.to_str().unwrap();
    open_writer(&server.database).unwrap().execute("vacuum into ?1", [target]).unwrap();
    let secret = server.database.with_file_name("test.db-secret");
    std::fs::copy(secret, file.with_file_name(format!("{name}.db-secret"))).unwrap();
    file
}

/// Runs plain SQL without triggers, and restores them afterwards.
fn alter(file: &PathBuf, statement: &str) {
    let connection = Connection::open(file).unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    let drops = names("select 'drop trigger ' || name from sqlite_schema where type = 'trigger'");
    let triggers = names("select sql from sqlite_schema where type = 'trigger'");
    drops.iter().for_each(|drop| connection.execute_batch(drop).unwrap());
    let rows = connection.execute(statement, []).unwrap_or_else(|error| panic!("{statement}: {error}"));
    assert!(rows > 0, "{statement}");
    triggers.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
}

#[test]
fn whatever_is_altered_of_what_left_the_house_is_named() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    finished(&mill, document("RE", &partner(&mill, json!({})), "1000", json!({})));
    finished(&mill, document("RE", &partner(&mill, json!({"plz": null})), "1000", json!({})));
    let intact = copy(&server, "intact");
    let checked = cli(&intact, &["check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let chain = "abgeschlossene Belege, Verläufe, PDF und Anhänge sind, wie sie geschrieben wurden";
    let table = [
        ("update beleg set kunden_name = 'X' where beleg_nummer = 'RE-2026-00001'", chain),
        ("update beleg set kunden_iban = 'X' where beleg_nummer = 'RE-2026-00001'", chain),
        ("update beleg set blatt_am = blatt_am + 1", chain),
        ("update ausfertigung set angaben = replace(angaben, '2026', '2027')", chain),
        ("update ausfertigung set grund = 'X' where grund is not null", chain),
        ("update ausfertigung set profil = 'xrechnung' where profil is not null", chain),
        ("delete from ausfertigung where grund is not null", chain),
        ("update firma set firma = 'X'", chain),
        ("update firma set iban = null", chain),
        (
            "update ausfertigung set erechnung = substr(erechnung, 2) where erechnung is not null",
            "RE-2026-00001",
        ),
        ("update ausfertigung set sha256 = zeroblob(32) where erechnung is not null", "RE-2026-00001"),
    ];
    for (at, (statement, named)) in table.into_iter().enumerate() {
        let file = copy(&server, &format!("altered-{at}"));
        alter(&file, statement);
        let checked = cli(&file, &["check"]);
        let said = String::from_utf8(checked.stdout).unwrap();
        assert!(!checked.status.success(), "{statement} is not found: {said}");
        let is_named = said.lines().any(|line| {
            let found = line.trim().strip_prefix(named).map_or("0", str::trim);
            !found.starts_with('0') || named != chain && line.contains(named)
        });
        assert!(is_named, "{statement}: {named} is not in {said}");
    }
}
