//! `import rueckgaengig` (D22): an import is taken back completely or not at all, with the reason.

use std::fmt::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::{rows, said};
use crate::process::Folder;

fn import(folder: &Folder, kind: &str, rows: &Value) -> String {
    folder.import("Mühle", kind, rows);
    newest(folder)
}

/// The number of the newest import.
fn newest(folder: &Folder) -> String {
    rows(folder, &["audit", "changes", "--limit", "1"])[0]["nr"].to_string()
}

fn take_back(folder: &Folder, more: &[&str]) -> std::process::Output {
    folder.run(&[&["import", "rueckgaengig", "--tenant", "Mühle"], more].concat())
}

/// The rows of a table in order, without columns that only count changes.
fn content(folder: &Folder, table: &str) -> Vec<Value> {
    let database = folder.database();
    let columns = "select group_concat('''' || name || ''', ' || iif(type = 'BLOB', 'hex(' || name || ')', \
                   name)) from pragma_table_info(?1)
        where name not in ('version', 'geaendert_am')";
    let columns: String = database.query_row(columns, [table], |row| row.get(0)).unwrap();
    let rows = format!("select json_object({columns}) from {table} order by 1");
    let mut statement = database.prepare(&rows).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|row| serde_json::from_str(&row.unwrap()).unwrap()).collect()
}

const TABLES: [&str; 6] =
    ["artikel", "kontrakt", "kontrakt_position", "kunde", "kunde_suche", "staffelpreis"];

fn contents(folder: &Folder) -> Vec<Vec<Value>> {
    TABLES.iter().map(|table| content(folder, table)).collect()
}

/// The newest rows of the feed, in ascending order.
fn feed(folder: &Folder, count: usize) -> Vec<[String; 2]> {
    let database = folder.database();
    let rows =
        "select nummer, aktion from (select * from aenderung order by nr desc limit ?1) order by nummer";
    let mut statement = database.prepare(rows).unwrap();
    let rows = statement.query_map([count as i64], |row| Ok([row.get(0)?, row.get(1)?])).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Creates a mill with two partners, two articles, one of them with a tier, and a contract; returns its key.
fn mill() -> (Folder, String) {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let partner = |nr: &str| {
        json!({"kundennr": nr, "name": nr, "plz": "01234", "skonto_prozent": "2.5",
        "partner_typen": ["kunde", "lieferant"]})
    };
    folder.import("Mühle", "kunden", &json!([partner("A"), partner("B")]));
    let artikel = |nr: &str| {
        json!({"artikelnummer": nr, "bezeichnung": nr, "einheit": "dt", "gruppe": "Saat",
        "preis": "19.5"})
    };
    folder.import("Mühle", "artikel", &json!([artikel("W"), artikel("R")]));
    let tier = json!([{"artikelnummer": "W", "ab_menge": "10", "preis": "18"}]);
    folder.import("Mühle", "staffelpreise", &tier);
    let positionen = json!([{"artikelnummer": "W", "menge": "100", "preis": "18.25"}]);
    folder.import(
        "Mühle",
        "kontrakte",
        &json!([{"kontrakt_nr": "V-1", "partner": "A", "gueltig_bis": "2027-06-30",
        "positionen": positionen}]),
    );
    (folder, key)
}

#[test]
fn what_an_import_made_is_deleted_and_what_it_changed_is_as_before() {
    let (folder, _) = mill();
    let before = contents(&folder);
    for (kind, rows, came_to, feed_rows) in [
        (
            "kunden",
            json!([
                {"kundennr": "A", "nachname_firma": "Anders", "plz": "99999", "skonto_prozent": "3",
                    "telefon": "1", "staat": "AT",
                 "status": "gesperrt", "partner_typen": ["spediteur"], "zahlungsziel_tage": 7},
                {"kundennr": "B", "name": "B"},
                {"kundennr": "C", "name": "Neu", "status": "inaktiv"},
            ]),
            [1, 1],
            &[["A", "geaendert"], ["C", "geloescht"]][..],
        ),
        (
            "artikel",
            json!([
                {"artikelnummer": "W", "bezeichnung": "Weizen", "preis": "20", "gruppe": "Futter",
                    "status": "inaktiv", "ean": "1"},
                {"artikelnummer": "N", "bezeichnung": "Neu"},
            ]),
            [1, 1],
            &[["N", "geloescht"], ["W", "geaendert"]],
        ),
        (
            "staffelpreise",
            json!([
                {"artikelnummer": "W", "ab_menge": "10", "preis": "17"},
                {"artikelnummer": "W", "ab_menge": "20", "preis": "16"},
                {"artikelnummer": "R", "ab_menge": "5", "preis": "1"},
            ]),
            [0, 2],
            &[["R", "geaendert"], ["W", "geaendert"]],
        ),
        (
            "kontrakte",
            json!([
                {"kontrakt_nr": "V-1", "partner": "B", "gueltig_bis": "2028-06-30", "gesamtmenge": "5", "positionen": [
                    {"position": 1, "artikelnummer": "R", "menge": "1"}, {"position": 2, "artikelnummer": "W"}]},
                {"kontrakt_nr": "V-2", "positionen": [{"artikelnummer": "W"}]},
            ]),
            [1, 1],
            &[["V-1", "geaendert"], ["V-2", "geloescht"]],
        ),
    ] {
        let number = import(&folder, kind, &rows);
        let after = contents(&folder);
        assert_ne!(after, before, "{kind} changes nothing");
        let expected = |done: bool| json!({"done": done, "deleted": came_to[0], "put_back": came_to[1]});
        for (more, done) in [(&[][..], false), (&["--yes"], true)] {
            let tried = take_back(&folder, &[&["--json", &number], more].concat());
            assert!(tried.status.success(), "{kind}: {}", said(&tried, 0));
            assert_eq!(serde_json::from_slice::<Value>(&tried.stdout).unwrap(), expected(done), "{kind}");
            assert_eq!(contents(&folder), if done { before.clone() } else { after.clone() }, "{kind} {done}");
        }
        assert_eq!(feed(&folder, feed_rows.len()), feed_rows, "{kind}");
        let log = &rows_of_log(&folder)[0];
        assert_eq!(
            (&log["tat"], &log["nachher"]["import"]),
            (&json!("zurueckgenommen"), &json!(number)),
            "{kind}"
        );
        let again = said(&take_back(&folder, &[&number, "--yes"]), 1);
        assert!(again.contains(&format!("Der Import {number} ist schon zurückgenommen")), "{again}");
        // A file taken back can be imported again, and taken back again.
        let number = import(&folder, kind, &rows);
        assert_eq!(contents(&folder)[5], after[5], "{kind}: a tier came back as it was");
        assert!(take_back(&folder, &[&number, "--yes"]).status.success(), "{kind}");
        assert_eq!(contents(&folder), before, "{kind}");
    }
    folder.result(&["check"]);
    folder.result(&["audit", "verify"]);
}

fn rows_of_log(folder: &Folder) -> Vec<Value> {
    rows(folder, &["audit", "changes"])
}

#[test]
fn what_cannot_go_back_is_named_with_its_reason_and_nothing_goes_back() {
    let (folder, key) = mill();
    let partner = import(
        &folder,
        "kunden",
        &json!([{"kundennr": "C", "name": "C"}, {"kundennr": "D", "name": "D"},
        {"kundennr": "A", "telefon": "1"}]),
    );
    let artikel = import(
        &folder,
        "artikel",
        &json!([{"artikelnummer": "N", "bezeichnung": "N", "chargenpflichtig": true},
        {"artikelnummer": "M", "bezeichnung": "M"}, {"artikelnummer": "W", "einheit": "t"}]),
    );
    let tiers =
        import(&folder, "staffelpreise", &json!([{"artikelnummer": "M", "ab_menge": "1", "preis": "1"}]));
    let kontrakt = import(
        &folder,
        "kontrakte",
        &json!([{"kontrakt_nr": "V-2", "partner": "C", "positionen": [{"artikelnummer": "R"}]},
        {"kontrakt_nr": "V-1", "positionen": [{"position": 1, "artikelnummer": "R"}]}]),
    );
    let server = folder.serve(&[]);
    let client = server.client(&key);
    let id = |list: &str, field: &str, number: &str| {
        let found = client.get(&format!("/api/v1/{list}?limit=100")).body;
        let found = found["data"].as_array().unwrap().iter().find(|one| one[field] == number).cloned();
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (one, two) = (id("kontrakte", "kontrakt_nr", "V-1"), id("kontrakte", "kontrakt_nr", "V-2"));
    for kontrakt in [&one, &two] {
        let items =
            json!([{"artikelnr": "R", "menge": 1, "ep_netto": 1, "mwst_satz": 7, "kontrakt_id": kontrakt}]);
        let beleg =
            client.post("/api/v1/belege", &json!({"beleg_typ": "AN", "kundennummer": "D", "items": items}));
        assert_eq!(beleg.status, 201, "{}", beleg.body);
    }
    let telefon = json!({"telefon": "2"});
    let changed =
        client.send("PUT", &format!("/api/v1/kunden/{}", id("kunden", "kundennr", "A")), Some(&telefon));
    assert_eq!(changed.unwrap().status, 200);
    folder.import("Mühle", "chargen", &json!([{"artikelnummer": "N", "charge_nr": "L-1", "bestand": "5"}]));
    let items = json!([{"artikelnr": "W", "menge": 1, "ep_netto": 1}]);
    let sold = json!({"beleg_typ": "LS", "kundennummer": "D", "items": items, "abschliessen": true});
    assert_eq!(client.post("/api/v1/belege", &sold).status, 201);
    let before = contents(&folder);
    for (number, expected) in [
        (
            &partner,
            &[
                "Partner A: Seither geändert.",
                "Partner D: Wird genannt: Beleg.",
                "Partner C: Wird genannt: Kontrakt.",
                "inaktiv",
            ][..],
        ),
        (
            &artikel,
            &[
                "Artikel N: Wird genannt: Bestand, Charge, Lagerbewegung.",
                "Artikel M: Seither geändert.",
                "Artikel W: Von W gibt es schon Lagerbewegungen; einheit lässt sich nicht mehr ändern.",
            ],
        ),
        (
            &kontrakt,
            &[
                "Kontrakt V-2: Wird genannt: Beleg.",
                "Kontrakt V-1: ",
                "Es wurde nichts zurückgenommen, denn das geht nicht:",
            ],
        ),
    ] {
        for more in [&[][..], &["--yes"]] {
            let said = said(&take_back(&folder, &[&[number.as_str()], more].concat()), 1);
            for part in expected {
                assert!(said.contains(part), "{part}: {said}");
            }
            assert_eq!(contents(&folder), before, "{said}");
        }
    }
    // Beside a server, and several imports at once: none is taken back if one cannot be.
    let said = said(&take_back(&folder, &[&tiers, &kontrakt, "--yes"]), 1);
    assert!(said.contains("Kontrakt V-2"), "{said}");
    assert_eq!(contents(&folder), before);
    assert!(take_back(&folder, &[&tiers, "--yes"]).status.success());
    assert_eq!(
        client.get(&format!("/api/v1/artikel/{}", id("artikel", "artikelnummer", "M"))).body["staffelpreise"],
        json!([])
    );
    folder.result(&["check"]);
}

#[test]
fn another_name_of_a_partner_or_a_group_keeps_nothing_from_going_back() {
    let (folder, _) = mill();
    let before = contents(&folder);
    let kontrakt = import(&folder, "kontrakte", &json!([{"kontrakt_nr": "V-1", "partner": "B"}]));
    let artikel = import(&folder, "artikel", &json!([{"artikelnummer": "W", "gruppe": "Futter"}]));
    folder.import("Mühle", "kunden", &json!([{"kundennr": "A", "name": "Anders"}]));
    folder.database().execute("update artikelgruppe set name = 'Saatgut' where id = 1", []).unwrap();
    assert!(take_back(&folder, &[&kontrakt, &artikel, "--yes"]).status.success());
    for table in [0, 1, 2, 5] {
        assert_eq!(contents(&folder)[table], before[table], "{}", TABLES[table]);
    }
}

#[test]
fn what_is_no_import_that_can_go_back_is_refused_in_words() {
    let (folder, _) = mill();
    folder.company("Hof");
    folder.import("Hof", "kunden", &json!([{"kundennr": "A", "name": "A"}]));
    let foreign = newest(&folder);
    folder.import("Mühle", "chargen", &json!([{"artikelnummer": "R", "charge_nr": "L-1"}]));
    let chargen = newest(&folder);
    let same = import(&folder, "kunden", &json!([{"kundennr": "A", "name": "A"}]));
    let [old, dropped] =
        ["X", "Y"].map(|nr| import(&folder, "kunden", &json!([{"kundennr": nr, "name": nr}])));
    let database = folder.database();
    let trigger: String = database
        .query_row("select sql from sqlite_schema where name = 'verwaltung_nie_aendern'", [], |row| {
            row.get(0)
        })
        .unwrap();
    database.execute_batch("drop trigger verwaltung_nie_aendern").unwrap();
    let without = "update verwaltung set nachher = json_remove(nachher, '$.feed') where nr = ?1";
    assert_eq!(database.execute(without, [&old]).unwrap(), 1);
    database.execute_batch(&trigger).unwrap();
    let before = contents(&folder);
    for (number, expected) in [
        (foreign.as_str(), "hat diese Firma nicht"),
        ("1", "hat diese Firma nicht"),
        ("-1", "hat diese Firma nicht"),
        ("9223372036854775807", "hat diese Firma nicht"),
        (
            &chargen,
            "Ein Import von chargen lässt sich nicht zurücknehmen: Nur artikel, staffelpreise, kunden, kontrakte",
        ),
        (&same, "Er hat keine geändert"),
        (&old, "oder er ist von vor der Fassung"),
    ] {
        let said = said(&take_back(&folder, &["--yes", "--", number]), 1);
        assert!(said.contains(expected), "{number}: {said}");
    }
    let first = "delete from aenderung where nr < (select max(nr) from aenderung where tenant_id = 1) and \
                 tenant_id = 1";
    assert!(import(&folder, "kunden", &json!([{"kundennr": "Z", "name": "Z"}])) > dropped);
    database.execute(first, []).unwrap();
    let said = said(&take_back(&folder, &["--yes", &dropped]), 1);
    assert!(said.contains("Das bleibt 90 Tage"), "{said}");
    assert_eq!(contents(&folder)[3].len(), before[3].len() + 1);
    for number in ["x", "", "1.5"] {
        assert_eq!(take_back(&folder, &["--yes", number]).status.code(), Some(2), "{number}");
    }
}

/// Creates a company, and writes a file of customers for it.
fn many(folder: &Folder, rows: usize) {
    folder.company("Mühle");
    let mut text = "kundennr;nachname_firma\n".to_owned();
    (0..rows).for_each(|at| writeln!(text, "N-{at};Hof {at}").unwrap());
    folder.write("kunden.csv", &text);
}

fn count(folder: &Folder) -> i64 {
    folder.database().query_row("select count(*) from kunde", [], |row| row.get(0)).unwrap()
}

#[test]
fn the_parts_that_a_killed_import_stored_go_back_together() {
    let folder = Folder::new();
    many(&folder, 20_000);
    let arguments = ["import", "kunden", "kunden.csv", "--tenant", "Mühle", "--in-parts"];
    let mut child = folder.command(&arguments).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    while count(&folder) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first part");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let numbers: Vec<_> = rows_of_log(&folder)
        .iter()
        .filter(|row| row["gegenstand"]["art"] == "import")
        .map(|row| row["nr"].to_string())
        .collect();
    let kept = count(&folder);
    assert!((1..20_000).contains(&kept) && !numbers.is_empty(), "{kept}");
    let numbers: Vec<_> = numbers.iter().map(String::as_str).chain(["--yes"]).collect();
    let done = take_back(&folder, &numbers);
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), format!("{kept} gelöscht, 0 zurückgestellt"));
    assert_eq!((count(&folder), content(&folder, "kunde_suche").len()), (0, 0));
    folder.result(&["check"]);
}

#[test]
fn a_kill_leaves_an_import_whole() {
    let folder = Folder::new();
    many(&folder, 10_000);
    let stored = folder.run(&["import", "kunden", "kunden.csv", "--tenant", "Mühle"]);
    let number = newest(&folder);
    assert!(said(&stored, 0).contains(&format!("partnerd import rueckgaengig {number}")));
    let arguments = ["import", "rueckgaengig", &number, "--tenant", "Mühle", "--yes"];
    let mut child = folder.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
    // It holds the write lock from the beginning.
    let beside = folder.database();
    beside.busy_timeout(Duration::ZERO).unwrap();
    while beside.execute_batch("begin immediate; rollback").is_ok() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(count(&folder), 10_000);
    folder.result(&["check"]);
    assert!(take_back(&folder, &[&number, "--yes"]).status.success());
    assert_eq!(count(&folder), 0);
}
