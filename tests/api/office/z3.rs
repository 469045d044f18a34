//! The data of a period for an auditor (D36), read back from the file: complete, exact, of one company only,
//! and as described by its index.

mod fluss;
mod lesen;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Duration;

use partnerd::platform::db::file::connection::open_writer;
use partnerd::rules::bytes::{base64, hex};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Answer, COMPLETE, Client, NOON, Server};
use crate::interface::tabelle::data::{BEGIN, Company, INVOICE};
use crate::leitstand::person;
use crate::programs::needs;
use lesen::{Art, Lesbar};

/// Waits until a hand-over is done.
pub fn ended(client: &Client, id: &str) -> Answer {
    for _ in 0..6_000 {
        let answer = client.get(&format!("/api/v1/z3/{id}"));
        if !answer.is(200)["beendet_am"].is_null() {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the hand-over does not end");
}

fn asked(von: &str, bis: &str) -> Value {
    json!({"von": von, "bis": bis, "mit_belegen": true})
}

/// Makes a hand-over, and reads its file.
fn made(client: &Client, von: &str, bis: &str) -> Lesbar {
    let id = client.post("/api/v1/z3", asked(von, bis)).id();
    let answer = ended(client, &id);
    assert_eq!(answer.body["stand"], "fertig", "{}", answer.body);
    assert_eq!(answer.body["schritt"], answer.body["schritte"]);
    let file = client.get(&format!("/api/v1/z3/{id}/datei"));
    file.is(200);
    assert_eq!(answer.body["sha256"], hex(&Sha256::digest(&file.bytes)));
    assert_eq!(answer.body["bytes"], file.bytes.len());
    Lesbar::read(&file.bytes)
}

/// Tables of the file with their tables in the database, of which it contains all rows if the period covers
/// all days.
const ALL_ROWS: &[(&str, &str)] = &[
    ("belege", "beleg"),
    ("positionen", "beleg_position"),
    ("lagerbewegungen", "lagerbewegung"),
    ("wiegungen", "wiegung"),
    ("annahmescheine", "annahmeschein"),
    ("produktionsauftraege", "produktionsauftrag"),
    ("bons", "bon"),
    ("bonzeilen", "barverkauf"),
    ("verlauf_belege", "beleg_verlauf"),
    ("steuersaetze", "steuersatz"),
    ("datev_stapel", "datev_stapel"),
    ("datev_belege", "datev_beleg"),
];

/// Sums of columns in smallest units, computed by the database.
const SUMS: &[(&str, &str, &str)] = &[
    ("belege", "Netto", "sum(summe_netto) from beleg"),
    ("belege", "MwSt", "sum(summe_mwst) from beleg"),
    ("belege", "Brutto", "sum(summe_brutto) from beleg"),
    ("positionen", "Menge", "sum(menge) from beleg_position"),
    ("positionen", "Netto", "sum(gesamtpreis) from beleg_position"),
    ("steuergruppen", "Steuer", "sum(summe_mwst) from beleg"),
    ("steuergruppen", "Basis", "sum(summe_netto) from beleg"),
    ("lagerbewegungen", "Menge", "sum(menge) from lagerbewegung"),
    ("wiegungen", "Netto_kg", "sum(gewicht_netto_kg) from wiegung"),
    ("annahmescheine", "Anlieferung_kg", "sum(anliefermenge_kg) from annahmeschein"),
    ("bonzeilen", "Brutto", "sum(gesamt) from barverkauf"),
    ("datev_stapel", "Umsatz", "sum(summe) from datev_stapel"),
    ("datev_belege", "Betrag", "sum(betrag) from datev_beleg"),
    ("bonzeilen", "Steuer", "sum(steuer) from barverkauf"),
];

#[test]
fn a_file_has_the_rows_and_sums_of_the_database_and_its_index_tells_how_to_read_it() {
    let server = Server::start_at(BEGIN);
    let company = Company::of(&server);
    let tenant = company.client.tenant;
    // Orders are planned ahead, and imports by the command line have the date of this machine.
    server.set_clock("2031-07-14T10:00:00Z");
    let file = made(&company.client, "2022-01-01", "2031-07-14");
    file.check();
    for (csv, table) in ALL_ROWS {
        let rows: i64 = server.sql(&format!("select count(*) from {table} where tenant_id = {tenant}"));
        assert_eq!(file.table(csv).rows.len() as i64, rows, "{csv}");
        assert!(rows > 0, "{csv}");
    }
    for (csv, column, sum) in SUMS {
        let stored: i64 = server.sql(&format!("select {sum} where tenant_id = {tenant}"));
        assert_eq!(file.table(csv).sum(column), stored, "{csv} {column}");
        assert_ne!(stored, 0, "{csv} {column}");
    }
    let lines: i64 = server.sql("select (select count(*) from pa_input) + (select count(*) from pa_output)");
    assert_eq!(file.table("pa_zeilen").rows.len() as i64, lines);
    let changes: i64 = server.sql("select count(*) from kunde_verlauf v, json_each(v.felder)");
    assert!(file.table("verlauf_partner").rows.len() as i64 == changes && changes > 0);

    // The tax of each document is that of its groups, and the report adds up to the same sum.
    for beleg in &file.table("belege").rows {
        let taxes = file.table("steuergruppen").of("Beleg_ID", &beleg[0]).sum("Steuer");
        assert_eq!(taxes, lesen::units(file.table("belege").value(beleg, "MwSt")), "{beleg:?}");
    }
    let report = file.text("bericht.txt");
    let brutto = file.table("belege").sum("Brutto");
    let shown = format!("Summe Brutto: {},{:02}", brutto / 100, brutto % 100);
    assert!(report.contains(&shown), "{shown}: {report}");

    // The names of files are listed with their documents, and each file exists.
    let belege = file.table("belege");
    let named: BTreeSet<String> = ["Datei_PDF", "Datei_E_Rechnung", "Dateien_Anhang"]
        .iter()
        .flat_map(|column| belege.rows.iter().map(|row| belege.value(row, column).to_owned()))
        .flat_map(|names| names.split(", ").map(str::to_owned).collect::<Vec<_>>())
        .filter(|name| !name.is_empty())
        .collect();
    let there: BTreeSet<String> = file.names().filter(|name| name.contains('/')).map(str::to_owned).collect();
    assert_eq!(named, there);
    for folder in ["pdf/RE-2031-00001.pdf", "erechnung/RE-2031-00002.xml", "anhang/ER-2031-00001-1-r.xml"] {
        assert!(there.contains(folder), "{folder}: {there:?}");
    }
    assert_eq!(file.bytes("pdf/RE-2031-00001.pdf"), b"%PDF-1.4\n");
}

#[test]
fn a_validating_parser_accepts_the_index_and_no_other_order() {
    needs!("java", "javac");
    let server = Server::start_at(BEGIN);
    let file = made(&Company::of(&server).client, "2031-01-01", "2031-07-10");
    let folder = tempfile::TempDir::new().unwrap();
    let judge = folder.path().join("Judge.java");
    fs::write(&judge, include_str!("z3/Judge.java")).unwrap();
    fs::write(folder.path().join("gdpdu-01-09-2004.dtd"), file.bytes("gdpdu-01-09-2004.dtd")).unwrap();
    let mistakes = |index: &str| -> usize {
        let path = folder.path().join("index.xml");
        fs::write(&path, index).unwrap();
        let output = Command::new("java").arg(&judge).arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap_or_else(|_| panic!("{said}"))
    };
    let index = file.text("index.xml");
    assert_eq!(mistakes(&index), 0);
    let [name, url] = ["<Name>Partner</Name>", "<URL>partner.csv</URL>"];
    let swapped = index.replacen(&format!("{url}{name}"), &format!("{name}{url}"), 1);
    assert_ne!(swapped, index);
    assert_eq!(mistakes(&swapped), 1);
}

/// Creates a customer and an invoice of a company on a day.
fn invoice(client: &Client, name: &str, day: &str) -> String {
    let kunde = client.post("/api/v1/kunden", json!({"name": name, "ort": "Dorf"})).id();
    let items = json!([{"bezeichnung": "Fracht", "menge": 3, "ep_netto": "0.345", "mwst_satz": 19}]);
    client
        .post(
            "/api/v1/belege",
            json!({"beleg_typ": "RE", "kunden_id": kunde, "beleg_datum": day, "items": items}),
        )
        .id()
}

#[test]
fn another_company_and_another_period_are_never_in_it() {
    let server = Server::start_at(BEGIN);
    let company = Company::of(&server);
    let other = server.company_with("Andere Mühle", COMPLETE);
    let [before, first, last, after] = ["2031-05-31", "2031-06-01", "2031-06-30", "2031-07-01"]
        .map(|day| invoice(&other, &format!("Kunde vom {day}"), day));
    let file = made(&other, "2031-06-01", "2031-06-30");
    file.check();
    let ids: BTreeSet<_> = file.table("belege").rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(ids, BTreeSet::from([first.clone(), last]));
    let everything: String =
        file.names().filter(|name| name.ends_with(".csv")).map(|name| file.text(name)).collect();
    for id in company.ids.values().filter(|id| id.len() == 36).chain([&before, &after]) {
        assert!(!everything.contains(id.as_str()), "{id}");
    }
    assert!(everything.contains("Kunde vom 2031-06-01") && !everything.contains("Kunde vom 2031-05-31"));
    assert_eq!(file.table("partner").rows.len(), 2);
    // 19 % of 1.04 is 0.1976 on each.
    assert_eq!((file.table("belege").sum("MwSt"), file.table("steuergruppen").sum("Steuer")), (40, 40));
    // The log has no rows for June, since everything was written in July.
    assert!(file.table("protokoll").rows.is_empty());
    let whole = made(&other, "2031-01-01", "2031-07-10");
    assert!(whole.text("protokoll.csv").contains(&first));

    let id = other.post("/api/v1/z3", asked("2031-06-01", "2031-06-30")).id();
    ended(&other, &id);
    for path in [format!("/api/v1/z3/{id}"), format!("/api/v1/z3/{id}/datei")] {
        other.get(&path).is(200);
        company.client.get(&path).refused(404, "NICHT_GEFUNDEN");
    }
}

#[test]
fn what_programs_cannot_read_in_a_text_is_replaced_and_counted() {
    let server = Server::start();
    let mill = server.company_with("Mühle", COMPLETE);
    let id = invoice(&mill, "Huber", "2026-07-01");
    let notes = "5 \"Säcke\"; je\t25 kg\nbar";
    mill.put(&format!("/api/v1/belege/{id}"), json!({"notizen": notes})).is(200);
    invoice(&mill, "Meier; Söhne", "2026-07-01");
    let file = made(&mill, "2026-01-01", "2026-07-10");
    file.check();
    let belege = file.table("belege");
    let row = belege.rows.iter().find(|row| row[0] == id).unwrap();
    assert_eq!(belege.value(row, "Notizen"), "5 'Säcke', je 25 kg bar");
    let report = file.text("bericht.txt");
    for counted in
        ["Ersetzt in Notizen: 1 Texte", "Ersetzt in Partnername: 1 Texte", "Ersetzt in Name: 1 Texte"]
    {
        assert!(report.contains(counted), "{counted}: {report}");
    }
    let stored: String = server.sql("select notizen from beleg where notizen is not null");
    assert_eq!(stored, notes);
    // Digits are exact, even where a binary float would change them.
    let positionen = file.table("positionen");
    assert_eq!(positionen.value(&positionen.rows[0], "Einzelpreis_netto"), "0,345000");
    assert!(positionen.columns.iter().any(|column| column.art == Art::Zahl(6)));
}

#[test]
fn a_file_with_a_long_name_can_be_unpacked() {
    let server = Server::start_at(BEGIN);
    let mill = server.company_with("Mühle", COMPLETE);
    let partner =
        mill.post("/api/v1/kunden", json!({"name": "Hof Ahrens", "partner_typen": ["lieferant"]})).id();
    let names = ["r".repeat(251) + ".xml", "ä".repeat(255)];
    for (at, name) in names.iter().enumerate() {
        let invoice = String::from_utf8(INVOICE.to_vec()).unwrap().replace("<ID>88<", &format!("<ID>8{at}<"));
        let body = json!({"datei_base64": base64(invoice.as_bytes()), "dateiname": name, "anlegen": true,
            "kunden_id": partner});
        mill.post("/api/v1/belege/einlesen", body).is(201);
    }
    server.set_clock("2031-07-14T10:00:00Z");
    let file = made(&mill, "2031-01-01", "2031-07-14");
    let attached: Vec<_> = file.names().filter_map(|name| name.strip_prefix("anhang/")).collect();
    assert_eq!(attached.len(), 2);
    assert!(attached.iter().all(|name| name.len() <= 255), "{attached:?}");
    assert!(
        attached[0].starts_with("ER-2031-00001-1-rrr") && attached[0].ends_with("rr.xml"),
        "{attached:?}"
    );
}

#[test]
fn a_period_that_is_none_and_a_company_without_a_name_are_refused() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let ask = |von: &str, bis: &str| mill.post("/api/v1/z3", asked(von, bis));
    ask("2026-01-01", "2026-07-10").refused(400, "FIRMA_UNVOLLSTAENDIG");
    server.set(&mill, &[("firma", "Mühle GmbH")]);
    ask("2026-01-01", "2026-07-10").refused(400, "FIRMA_UNVOLLSTAENDIG");
    server.set(&mill, &[("ort", "Dorf")]);
    ask("2026-07-11", "2026-07-11").refused(400, "DATUM_UNGUELTIG");
    ask("2026-07-02", "2026-07-01").refused(400, "WERT_UNGUELTIG");
    ask("2016-07-10", "2026-07-10").refused(400, "WERT_UNGUELTIG");
    ask("2016-07-11", "2026-07-10").is(201);
    let waiting: i64 = server.sql("select count(*) from z3");
    assert_eq!(waiting, 1);
}

#[test]
fn the_newest_files_are_kept_and_one_that_a_stop_interrupted_says_so() {
    let mut server = Server::start();
    let mill = server.company_with("Mühle", COMPLETE);
    let mut ids = Vec::new();
    for _ in 0..4 {
        let id = mill.post("/api/v1/z3", asked("2026-01-01", "2026-07-10")).id();
        assert_eq!(ended(&mill, &id).body["stand"], "fertig");
        ids.push(id);
    }
    mill.get(&format!("/api/v1/z3/{}/datei", ids[0])).refused(404, "NICHT_GEFUNDEN");
    assert_eq!(mill.get(&format!("/api/v1/z3/{}", ids[0])).body["stand"], "fertig");
    ids[1..].iter().for_each(|id| drop(mill.get(&format!("/api/v1/z3/{id}/datei")).is(200).clone()));

    let key = mill.key.clone();
    let tenant = mill.tenant;
    server.restart();
    // The state that a killed server leaves.
    let interrupted = "insert into z3 (tenant_id, id, von, bis, mit_belegen, angelegt_am, schritt)
        values (?1, x'00000000000000000000000000000001', '2026-01-01', '2026-07-10', 0, 0, 3)";
    open_writer(&server.database).unwrap().execute(interrupted, [tenant]).unwrap();
    let left = server.database.with_file_name("test.db-z3-left.zip-part-4711");
    fs::write(&left, "half").unwrap();
    server.restart();
    let mill = server.client(tenant, key);
    let answer = ended(&mill, "00000000-0000-0000-0000-000000000001");
    assert_eq!(answer.body["stand"], "fehlgeschlagen");
    assert!(answer.body["fehler"].as_str().unwrap().contains("neu zusammenstellen"), "{}", answer.body);
    assert!(!left.exists());
    mill.get("/api/v1/z3/00000000-0000-0000-0000-000000000001/datei").refused(404, "NICHT_GEFUNDEN");
}

#[test]
fn no_more_wait_than_may() {
    let server = Server::start();
    let mill = server.company_with("Mühle", COMPLETE);
    let fill = "insert into z3 (tenant_id, id, von, bis, mit_belegen, angelegt_am)
        select ?1, unhex(printf('%032x', value)), '2026-01-01', '2026-07-10', 0, 0 from json_each(?2)";
    let numbers = json!((1..=10).collect::<Vec<_>>()).to_string();
    open_writer(&server.database).unwrap().execute(fill, (mill.tenant, numbers)).unwrap();
    let body = asked("2026-01-01", "2026-07-10").to_string();
    let answer = mill.send_unchecked("POST", "/api/v1/z3", &[], Some(body.as_bytes()));
    assert_eq!(answer.body["error"], "NICHT_VERFUEGBAR", "{}", answer.body);
}

#[test]
fn the_command_line_writes_the_same_file_and_both_are_in_the_log() {
    // Earlier than the clock of any machine, which is the only one the command line knows.
    let server = Server::start_at("2024-05-06T10:00:00Z");
    let mill = server.company_with("Mühle", COMPLETE);
    invoice(&mill, "Huber", "2024-05-01");
    let by_server = made(&mill, "2024-01-01", "2024-05-05");
    let out = server.database.with_file_name("z3.zip");
    let tenant = mill.tenant.to_string();
    let run = |von: &str, bis: &str| {
        let period = ["--tenant", &tenant, "--von", von, "--bis", bis, "--out", out.to_str().unwrap()];
        server.cli(&[&["export", "z3", "--belege"], &period[..]].concat())
    };
    for (von, bis, code) in [
        ("2024-02-01", "2024-01-01", "WERT_UNGUELTIG"),
        ("2024-02-01", "9999-01-01", "DATUM_UNGUELTIG"),
        ("2009-02-01", "2024-01-01", "WERT_UNGUELTIG"),
    ] {
        let refused = run(von, bis);
        assert_eq!(refused.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(code));
        assert!(!out.exists());
    }
    assert_eq!(run("2024-13-01", "2024-05-05").status.code(), Some(2));
    let written = run("2024-01-01", "2024-05-05");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let bytes = fs::read(&out).unwrap();
    assert!(String::from_utf8_lossy(&written.stderr).contains(&hex(&Sha256::digest(&bytes))));
    let by_command = Lesbar::read(&bytes);
    by_command.check();
    for name in by_server.names().filter(|name| !["bericht.txt", "index.xml"].contains(name)) {
        assert_eq!(by_server.bytes(name), by_command.bytes(name), "{name}");
    }
    assert_eq!(run("2024-01-01", "2024-05-05").status.code(), Some(1), "it is there already");
    let noted = "select group_concat(gegenstand ->> 'name' || ' ' || (nachher ->> 'file')) from verwaltung
        where gegenstand ->> 'art' = 'ueberlassung'";
    let noted: String = server.sql(noted);
    assert_eq!(noted, format!("01.01.2024 bis 05.05.2024 {}", out.display()));
    let copies = fs::read_dir(server.database.parent().unwrap()).unwrap();
    let copies: Vec<_> = copies.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(copies.iter().all(|name| !name.contains("pruefung") && !name.contains("part")), "{copies:?}");
}

#[test]
fn on_the_page_only_who_manages_begins_one_and_downloads_it() {
    let server = Server::start_at(NOON);
    let mill = server.company_with("Mühle", COMPLETE);
    invoice(&mill, "Huber", "2025-07-01");
    let here = format!("/leitstand/f/{}/betriebspruefung", mill.tenant);
    let mut erika = person(&server, &["Erika", "--role", "verwalten"]);
    let page = erika.get(&here);
    assert!(
        page.text.contains("Nicht enthalten: Zahlungen") && page.text.contains("DSFinV-K"),
        "{}",
        page.text
    );
    // The last completed year.
    assert!(page.is(200).text.contains("value=\"2025-01-01\"") && page.text.contains("value=\"2025-12-31\""));
    let refused = erika.fill(&here, &[("von", "2025-02-01"), ("bis", "2025-01-01")]);
    assert!(refused.is(400).text.contains("liegt vor dem ersten"), "{}", refused.text);
    erika.fill(&here, &[("von", "2025-01-01"), ("bis", "2025-12-31"), ("mit_belegen", "ja")]).is(303);
    let shown = crate::leitstand::sicherung::ended(&mut erika, &here);
    let mut links = shown.text.split("href=\"").filter_map(|rest| rest.split('"').next());
    let file = links.find(|to| to.ends_with("/datei")).unwrap().to_owned();
    let file_read = Lesbar::read(&erika.get_bytes(&file));
    file_read.check();
    assert_eq!(file_read.table("belege").rows.len(), 1);
    let noted: String = server.sql(
        "select akteur || (gegenstand ->> 'name') from verwaltung where gegenstand ->> 'art' = 'ueberlassung'",
    );
    assert_eq!(noted, "{\"person\":1}01.01.2025 bis 31.12.2025");

    let mut anna = person(&server, &["Anna", "--role", "ansehen"]);
    let shown = anna.get(&here);
    assert!(!shown.is(200).text.contains("/datei") && !shown.text.contains("Zusammenstellen</button>"));
    anna.get(&file).is(404);
    let mut bert = person(&server, &["Bert", "--role", "buero"]);
    bert.get(&here).is(403);
    bert.get(&file).is(403);
}
