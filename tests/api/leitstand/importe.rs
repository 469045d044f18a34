//! Files that are uploaded, checked and imported in the Leitstand.

use std::time::Duration;

use partnerd::platform::db::file::connection::open_writer;
use rusqlite::{Connection, params};
use serde_json::json;

use super::partner::shows;
use super::sicherung::ended;
use super::{Browser, Shown, form_with_file, person};
use crate::harness::Server;

const HERE: &str = "/leitstand/f/1/import";

fn here(firma: i64) -> String {
    format!("/leitstand/f/{firma}/import")
}

/// Uploads a file and waits until it was checked.
pub fn looked_at(browser: &mut Browser, kind: &str, name: &str, content: &[u8]) -> Shown {
    looked_at_by(browser, HERE, kind, name, content)
}

/// The same for the company of this page.
fn looked_at_by(browser: &mut Browser, here: &str, kind: &str, name: &str, content: &[u8]) -> Shown {
    let fields = [("art", kind), ("blatt", ""), ("dezimal", "")];
    let work = browser.upload(here, &fields, ("datei", name, content)).is(303).header("location").to_owned();
    ended(browser, &work)
}

/// Starts importing a checked file; returns the page of that job.
fn begun(browser: &mut Browser, looked_at: &Shown) -> String {
    begun_by(browser, HERE, looked_at)
}

fn begun_by(browser: &mut Browser, here: &str, looked_at: &Shown) -> String {
    let [token, file] = ["token", "datei"].map(|name| looked_at.hidden(name).unwrap());
    let fields = [("token", token.as_str()), ("datei", file.as_str())];
    browser.post(&format!("{here}/speichern"), &fields).is(303).header("location").to_owned()
}

/// Imports a checked file, and waits for the end.
pub fn imported(browser: &mut Browser, looked_at: &Shown) -> Shown {
    let work = begun(browser, looked_at);
    ended(browser, &work)
}

#[test]
fn a_file_is_shown_as_it_is_understood_and_then_imported() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let csv =
        "Name;PLZ;Ort;Kundennr;Lieblingsfarbe\n<b>Huber</b>;01234;Süd;K-7;rot\nMeier;98765;Nord;K-8;blau\n";
    let seen = looked_at(&mut browser, "kunden", "Kunden <i>.csv", csv.as_bytes());
    for text in ["&lt;b&gt;Huber", "01234", "lieblingsfarbe", "Kunden &lt;i&gt;.csv", ">Importieren<"] {
        assert!(seen.text.contains(text), "{text}: {}", seen.text);
    }
    assert!(!seen.text.contains("<b>Huber") && !seen.text.contains("<i>"), "{}", seen.text);
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 0, "it was only looked at");
    let done = imported(&mut browser, &seen);
    assert!(done.text.contains("ist importiert"), "{}", done.text);
    let stored = mill.get("/api/v1/kunden").body;
    assert_eq!(stored["count"], 2);
    assert!(stored.to_string().contains("01234"), "{stored}");
    // A file is imported once; going back requires uploading it again.
    let [token, file] = ["token", "datei"].map(|name| seen.hidden(name).unwrap());
    let again = browser.post(&format!("{HERE}/speichern"), &[("token", &token), ("datei", &file)]);
    assert!(again.is(404).text.contains("Bitte noch einmal hochladen."), "{}", again.text);
    let log = server.cli(&["audit", "changes", "--json", "--limit", "1"]).stdout;
    let log: serde_json::Value = serde_json::from_slice(&log).unwrap();
    assert_eq!(
        (&log[0]["tat"], &log[0]["gegenstand"]["name"]),
        (&json!("importiert"), &json!("Kunden <i>.csv"))
    );
    assert_eq!(log[0]["nachher"], json!({"changed": "0", "created": "2", "feed": "1-2", "unchanged": "0"}));
}

#[test]
fn mistakes_stand_in_their_cells_and_nothing_is_stored() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let csv = "name;plz;ort;kunden_id\nHuber;86609;Süd;sieben\nMeier;98765;Nord;8\n";
    let seen = looked_at(&mut browser, "kunden", "kunden.csv", csv.as_bytes());
    assert!(seen.text.contains("<td class=\"wrong\" data-head=\"kunden_id\">sieben</td>"), "{}", seen.text);
    assert!(seen.hidden("datei").is_none(), "it must not be imported");
    let seen = looked_at(&mut browser, "kunden", "kunden.csv", b"name;plz\n\"Huber;86609\n");
    assert!(seen.text.contains("Zeile 2: das Anführungszeichen vor"), "{}", seen.text);
    // Mistakes that only the database reveals are reported, too.
    let csv = "artikelnummer;charge_nr;bestand\nGIBT-ES-NICHT;C-1;5\n";
    let seen = looked_at(&mut browser, "chargen", "chargen.csv", csv.as_bytes());
    shows(&seen.text, &["Den Artikel GIBT-ES-NICHT gibt es nicht.", "Es wurde nichts gespeichert."]);
    assert!(seen.hidden("datei").is_none(), "it must not be imported");
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 0);
    let none = browser.upload(HERE, &[("art", "kunden")], ("", "", b""));
    assert!(none.is(400).text.contains("id=\"fehler-datei\""), "{}", none.text);
}

#[test]
fn a_template_that_was_filled_in_is_imported() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let template = browser.get_bytes(&format!("{HERE}/vorlage/kunden"));
    let seen = looked_at(&mut browser, "kunden", "kunden.xlsx", &template);
    assert!(seen.text.contains("BEISPIEL") && seen.text.contains("keine Zeilen"), "{}", seen.text);
    let csv = String::from_utf8(browser.get_bytes(&format!("{HERE}/vorlage/kunden?art=csv"))).unwrap();
    let filled = csv.replace("BEISPIEL", "K-77");
    let seen = looked_at(&mut browser, "kunden", "kunden.csv", filled.as_bytes());
    let done = imported(&mut browser, &seen);
    assert!(done.text.contains("ist importiert"), "{}", done.text);
    assert!(mill.get("/api/v1/kunden").body.to_string().contains("K-77"));
    browser.get(&format!("{HERE}/vorlage/gibt-es-nicht")).is(404);
}

#[test]
fn a_price_that_the_writer_has_cached_is_replaced_by_an_import() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    mill.post("/api/v1/kunden", serde_json::json!({"name": "Huber"})).is(201);
    for (price, shown) in [("10,50", "\"10.5000\""), ("11,25", "\"11.2500\"")] {
        let csv = format!("artikelnummer;bezeichnung;einheit;preis\nW;Weizen;kg;{price}\n");
        let seen = looked_at(&mut browser, "artikel", "artikel.csv", csv.as_bytes());
        let done = imported(&mut browser, &seen);
        assert!(done.text.contains("ist importiert"), "{}", done.text);
        let items = serde_json::json!([{"artikelnr": "W", "menge": 1}]);
        let body = serde_json::json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items});
        let beleg = mill.post("/api/v1/belege", body).id();
        let beleg = mill.get(&format!("/api/v1/belege/{beleg}")).body;
        assert_eq!(beleg["positionen"][0]["ep_netto"].to_string(), shown, "{beleg}");
    }
    let id = mill.get("/api/v1/artikel").body["data"][0]["id"].as_str().unwrap().to_owned();
    let shown = browser.get(&format!("/leitstand/f/1/artikel/{id}"));
    shows(
        &shown.is(200).text,
        &[">Verkaufspreis netto (EUR)</td>", ">10,50</td>", ">11,25</td>", ">Erika</td>"],
    );
    let stored = mill.get(&format!("/api/v1/artikel/{id}/verlauf")).body;
    assert_eq!((&stored["count"], &stored["data"][0]["geaendert_von"]), (&1.into(), &"person 1".into()));
}

#[test]
fn a_file_of_5_000_rows_is_kept_whole_or_not_at_all_and_a_larger_one_in_parts() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    for (rows, other) in [(5_000, "X-1"), (5_001, "X-2")] {
        let good: String = (1..rows).map(|row| format!("{rows}-{row};Meier;\n")).collect();
        // Only the database shows that this one is wrong, after the file was checked: the customer has
        // another kunden_id.
        let csv = format!("kundennr;name;kunden_id\n{good}{other};Huber;900000\n");
        let seen = looked_at(&mut browser, "kunden", "viele.csv", csv.as_bytes());
        mill.post("/api/v1/kunden", serde_json::json!({"name": "Huber", "kundennr": other})).is(201);
        assert_eq!(seen.text.contains("Sie werden in Teilen gespeichert"), rows > 5_000, "{rows}");
        let ended = imported(&mut browser, &seen).text;
        assert!(ended.contains("Die Datei passt nicht zu dem, was da ist."), "{ended}");
        assert!(ended.contains(&format!(">{}</td>", rows + 1)), "the line is not named: {ended}");
        let kept: i64 = server.sql(&format!("select count(*) from kunde where kundennr like '{rows}-%'"));
        if rows > 5_000 {
            let said = ended.replace('.', "").contains(&format!("{kept} von 5001 Zeilen sind gespeichert"));
            assert!(kept > 0 && said, "{kept}: {ended}");
        } else {
            assert!(kept == 0 && ended.contains("Es wurde nichts gespeichert."), "{kept}: {ended}");
        }
        // Only stored parts have a row in the log.
        let log = String::from_utf8(server.cli(&["audit", "changes"]).stdout).unwrap();
        assert_eq!(log.contains("Import kunden viele.csv gespeichert"), kept > 0, "{rows}: {log}");
    }
}

#[test]
fn who_may_only_look_imports_nothing_and_a_file_is_its_person_s() {
    let server = Server::start();
    server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let seen = looked_at(&mut browser, "kunden", "kunden.csv", b"name;plz\nHuber;86609\n");
    let file = seen.hidden("datei").unwrap();
    let mut paul = person(&server, &["Paul", "--role", "verwalten"]);
    let token = paul.get("/leitstand/konto").hidden("token").unwrap();
    let fields = [("token", token.as_str()), ("datei", &file)];
    paul.post(&format!("{HERE}/speichern"), &fields).is(404);
    // A checked file is kept for an hour.
    let late = looked_at(&mut browser, "kunden", "kunden.csv", b"name;plz\nMeier;86609\n");
    server.set_clock("2026-07-10T10:59:59Z");
    imported(&mut browser, &seen);
    server.set_clock("2026-07-10T11:00:00Z");
    let [token, file] = ["token", "datei"].map(|name| late.hidden(name).unwrap());
    let fields = [("token", token.as_str()), ("datei", file.as_str())];
    browser.post(&format!("{HERE}/speichern"), &fields).is(404);
    let mut anna = person(&server, &["Anna"]);
    assert!(anna.get(HERE).is(200).text.contains("Importieren darf"));
}

/// Lets two companies import, then locks the database; returns the page and the newest customer of each import.
fn while_two_import(rows: usize, browser: &mut Browser, database: &Connection) -> [(String, Vec<u8>); 2] {
    let csv: String = (0..rows).map(|row| format!("Huber {row};86609\n")).collect();
    // Enough rows to be stored in parts, with pauses between them in which the database is locked.
    let seen = [1, 2].map(|firma| {
        looked_at_by(browser, &here(firma), "kunden", "viele.csv", format!("name;plz\n{csv}").as_bytes())
    });
    let mut firmen = [1, 2].into_iter();
    let running = seen.map(|seen| begun_by(browser, &here(firmen.next().unwrap()), &seen));
    let stored = || {
        let stored = "select count(distinct tenant_id) from kunde";
        database.query_row(stored, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    while stored() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    database.execute_batch("begin immediate").unwrap();
    for work in &running {
        assert_eq!(browser.get(work).is(200).header("refresh"), "1", "it is over already");
    }
    let mut firmen = [1, 2].into_iter();
    running.map(|work| {
        let newest = "select max(id) from kunde where tenant_id = ?1";
        (work, database.query_row(newest, [firmen.next().unwrap()], |row| row.get(0)).unwrap())
    })
}

#[test]
fn a_company_imports_one_file_at_a_time_and_another_finds_a_place() {
    let server = Server::start();
    for name in ["Mühle", "Händler", "Hof"] {
        server.company(name);
    }
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let database = open_writer(&server.database).unwrap();
    let running = while_two_import(5_001, &mut browser, &database);
    let upload = |browser: &mut Browser, firma: i64| {
        let page = browser.get(&here(firma));
        let fields = [("token", page.hidden("token").unwrap()), ("art", "artikel".to_owned())];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let (kind, body) = form_with_file(&fields, ("datei", "artikel.csv", b"artikelnummer\nW\n"));
        browser.send_unchecked("POST", &here(firma), &[("content-type", kind)], body)
    };
    for (firma, why) in [(1, "Für diese Firma läuft schon"), (3, "Es laufen schon zwei Arbeiten")] {
        let refused = upload(&mut browser, firma);
        assert_eq!(refused.status, 503, "{}", refused.text);
        shows(&refused.text, &[why, "value=\"artikel\" selected", ">Ansehen<"]);
    }
    database.execute_batch("rollback").unwrap();
    for (work, _) in &running {
        ended(&mut browser, work);
    }
    // Both slots are free.
    let begun = [1, 3].map(|firma| upload(&mut browser, firma).status);
    assert_eq!(begun, [303, 303]);
}

#[test]
fn a_request_waits_for_a_part_of_one_import_at_most() {
    let server = Server::start();
    let [_, _, farm] = ["Mühle", "Händler", "Hof"].map(|name| server.company(name));
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let database = open_writer(&server.database).unwrap();
    let running = while_two_import(5_001, &mut browser, &database);
    // Long enough for a part of each to reach the writer, if both were let in.
    std::thread::sleep(Duration::from_millis(600));
    let first = std::thread::scope(|scope| {
        let posts = [0, 1].map(|_| scope.spawn(|| farm.post("/api/v1/kunden", json!({"name": "Hof"})).id()));
        // The work in progress is not counted, and a part of an import is one: a request is waiting.
        let waiting = || {
            let metrics = String::from_utf8(farm.get("/metrics").bytes).unwrap();
            let line = metrics.lines().find_map(|line| line.strip_prefix("partnerd_write_queue "));
            line.unwrap().parse::<i64>().unwrap()
        };
        while waiting() < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        database.execute_batch("rollback").unwrap();
        posts.map(|post| post.join().unwrap()).into_iter().min().unwrap()
    });
    let first = uuid::Uuid::parse_str(&first).unwrap();
    let mut firmen = [1, 2].into_iter();
    let came_before = running.map(|(work, newest)| {
        browser.fill(&work, &[]).is(303);
        let later = "select count(*) from kunde where tenant_id = ?1 and id > ?2 and id < ?3";
        let parameters = params![firmen.next().unwrap(), newest, first.as_bytes().as_slice()];
        database.query_row(later, parameters, |row| row.get::<_, i64>(0)).unwrap()
    });
    assert!(came_before.contains(&0), "rows of both imports came first: {came_before:?}");
}

#[test]
fn each_makes_room_for_their_own_files_and_works() {
    let server = Server::start();
    server.company("Mühle");
    let mut paul = person(&server, &["Paul", "--role", "verwalten"]);
    let mut erika = person(&server, &["Erika", "--role", "verwalten"]);
    let csv = |name: &str| format!("name;plz\n{name};86609\n");
    let fields = [("art", "kunden")];
    let upload = paul.upload(HERE, &fields, ("datei", "von-paul.csv", csv("Paul").as_bytes()));
    let work = upload.is(303).header("location").to_owned();
    let of_paul = ended(&mut paul, &work);
    let of_erika: Vec<Shown> = (0..25)
        .map(|row| looked_at(&mut erika, "kunden", "viele.csv", csv(&format!("Huber {row}")).as_bytes()))
        .collect();
    // The service keeps 20 jobs and four files.
    assert_eq!(erika.get("/leitstand/arbeit").text.matches("viele.csv ansehen").count(), 19);
    paul.get(&work).is(200);
    let mut is_there = |seen: &Shown| {
        let [token, file] = ["token", "datei"].map(|name| seen.hidden(name).unwrap());
        let status = erika.post(&format!("{HERE}/speichern"), &[("token", &token), ("datei", &file)]).status;
        if status == 303 {
            return true;
        }
        assert_eq!(status, 404);
        false
    };
    assert_eq!([21, 22, 23, 24].map(|at: usize| is_there(&of_erika[at])), [false, true, true, true]);
    imported(&mut paul, &of_paul);
}

#[test]
fn what_would_become_of_each_row_is_shown_as_it_would_be_stored() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let first = "artikelnummer;bezeichnung;preis\nA;Alt;1,00\nB;Bleibt;2,00\n";
    let seen = looked_at(&mut browser, "artikel", "artikel.csv", first.as_bytes());
    imported(&mut browser, &seen);
    let csv = "Unsere Artikel\n\n\
               Art.-Nr.;Bezeichnung;VK;chargenpflichtig\n\
               A;Alt;1.200,50;ja\n\
               B;Bleibt;2;\n\
               C;Neu;3,1234567;nein\n";
    let seen = looked_at(&mut browser, "artikel", "artikel.csv", csv.as_bytes());
    shows(
        &seen.text,
        &[
            "Zeile 3 sieht nach der Kopfzeile aus",
            "&quot;Art.-Nr.&quot; ist artikelnummer, &quot;VK&quot; ist preis",
            "Komma, wie in Zeile 4, Spalte VK (preis)",
            "<dt>Neu</dt><dd>1</dd>",
            "<dt>Geändert</dt><dd>1</dd>",
            "<dt>Unverändert</dt><dd>1</dd>",
            "<dt>Auffällig</dt><dd>0</dd>",
            "<td data-head=\"Stand\">geändert</td><td class=\"\" data-head=\"artikelnummer\">A</td>",
            "<td class=\"\" data-head=\"preis\">1200,5</td><td class=\"\" data-head=\"chargenpflichtig\">ja</td>",
            "<td data-head=\"Stand\">unverändert</td>",
            "<td class=\"\" data-head=\"preis\">3,123457</td><td class=\"\" data-head=\"chargenpflichtig\">nein</td>",
            ">Importieren<",
        ],
    );
    let stored = mill.get("/api/v1/artikel").body;
    assert_eq!(
        (&stored["count"], &stored["data"][0]["preis"].to_string()[..]),
        (&json!(2), "\"1.0000\""),
        "{stored}"
    );
    imported(&mut browser, &seen);
    assert_eq!(mill.get("/api/v1/artikel").body["count"], 3);
    // An import is not offered if there is nothing to import.
    let again = looked_at(&mut browser, "artikel", "artikel.csv", csv.as_bytes());
    shows(&again.text, &["Es gibt nichts zu importieren.", "<dt>Unverändert</dt><dd>3</dd>"]);
    let empty = looked_at(&mut browser, "artikel", "artikel.csv", b"artikelnummer;bezeichnung\n");
    shows(&empty.text, &["keine Zeilen"]);
    for seen in [again, empty] {
        assert!(seen.hidden("datei").is_none() && !seen.text.contains(">Importieren<"), "{}", seen.text);
    }
}

#[test]
fn what_is_suspicious_is_only_imported_where_somebody_says_so() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let csv = "artikelnummer;bezeichnung;preis;einheit;mwst_satz\n\
               A;Weizen;5;Schaufel;17\n\
               B;Roggen;1;kg;7,8\n\
               Summe;2 Artikel;;;\n";
    let seen = looked_at(&mut browser, "artikel", "artikel.csv", csv.as_bytes());
    shows(
        &seen.text,
        &[
            "<dt>Auffällig</dt><dd>3</dd>",
            "Diese Einheit ist nicht bekannt",
            "Diesen Steuersatz gibt es in der Steuertabelle der Firma nicht.",
            "Das sieht nach einer Zeile mit Summen aus.",
            "<td class=\"wrong\" data-head=\"mwst_satz\">17</td>",
            "name=\"trotzdem\" value=\"ja\" required",
        ],
    );
    let refused = imported(&mut browser, &seen);
    shows(&refused.text, &["war nicht angekreuzt. Es wurde nichts gespeichert."]);
    assert_eq!(mill.get("/api/v1/artikel").body["count"], 0);
    // The file is kept, so one can go back and tick the box.
    let [token, file] = ["token", "datei"].map(|name| seen.hidden(name).unwrap());
    let fields = [("token", token.as_str()), ("datei", file.as_str()), ("trotzdem", "ja")];
    let work = browser.post(&format!("{HERE}/speichern"), &fields).is(303).header("location").to_owned();
    shows(&ended(&mut browser, &work).text, &["ist importiert"]);
    assert_eq!(mill.get("/api/v1/artikel").body["count"], 3);
}
