use std::time::{Duration, Instant as Moment};

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::seals::seal::{Secret, install};
use partnerd::platform::gate::administration::{self, Akteur};
use partnerd::rules::admin_event::{AdminAction, AdminEvent, Art};
use partnerd::rules::day::{Day, Instant};
use serde_json::{Value, json};

use crate::commands::{rows, said};
use crate::process::Folder;

/// The rows of the administration log for the command line, oldest first: the command, the action on an
/// object, and the values before and after.
fn noted(folder: &Folder) -> Vec<(String, String, Value)> {
    let rows = rows(folder, &["audit", "changes"]);
    let changes = rows.iter().rev().map(|row| {
        let command = &row["akteur"]["befehl"];
        assert!(command["konto"].as_str().unwrap().len() > 1, "{row}");
        let subject = &row["gegenstand"];
        let parts = [&row["tat"], &subject["art"], &subject["id"], &subject["name"]];
        let parts: Vec<_> = parts.into_iter().filter_map(Value::as_str).collect();
        (
            command["name"].as_str().unwrap().to_owned(),
            parts.join(" "),
            json!([row["vorher"], row["nachher"]]),
        )
    });
    changes.collect()
}

#[test]
fn a_setting_says_what_it_was_and_what_it_is() {
    let folder = Folder::new();
    folder.company("Mühle");
    let set = |settings: &[&str]| said(&folder.run(&[&["tenant", "set", "Mühle"], settings].concat()), 0);
    assert_eq!(
        set(&["negativbestand=ablehnen", "gesperrt_bis=2025-12-31", "ort=Hof", "lagerbuchung=beleg"]),
        "negativbestand: hinweis -> ablehnen\ngesperrt_bis: nichts -> 2025-12-31\nort: nichts -> Hof\n"
    );
    assert_eq!(
        set(&["gesperrt_bis=", "ort=Naila"]),
        "gesperrt_bis: 2025-12-31 -> nichts\nort: Hof -> Naila\n"
    );
    let before = noted(&folder).len();
    assert!(set(&["ort=Naila"]).contains("Nichts hat sich geändert"));
    assert_eq!(noted(&folder).len(), before, "what changes nothing is no change");
}

#[test]
fn tenant_show_names_value_default_and_meaning_of_each_setting() {
    let folder = Folder::new();
    folder.company("Mühle");
    folder.result(&["tenant", "set", "Mühle", "negativbestand=ablehnen", "iban=DE89 3704 0044 0532 0130 00"]);
    let shown = rows(&folder, &["tenant", "show", "Mühle"]);
    assert_eq!(shown.len(), partnerd::master::tenants::all_settings().count());
    for setting in partnerd::master::tenants::all_settings() {
        let row = shown.iter().find(|row| row["setting"] == setting.name).unwrap();
        let expected = match setting.name {
            "negativbestand" => "ablehnen",
            "iban" => "DE89370400440532013000",
            _ => setting.default,
        };
        assert_eq!((row["value"].as_str(), row["default"].as_str()), (Some(expected), Some(setting.default)));
        assert_eq!(row["help"], setting.meaning);
    }
}

#[test]
fn changes_of_settings_keys_and_imports_are_rows_of_the_log_with_their_actor() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let id = key.split('_').nth(1).unwrap();
    folder.result(&["tenant", "set", "Mühle", "negativbestand=ablehnen"]);
    folder.result(&["key", "change", id, "--daily-limit", "5"]);
    folder.result(&["key", "deactivate", &key]);
    folder.result(&["key", "deactivate", &key]);
    folder.result(&["key", "activate", id]);
    folder.import("Mühle", "artikel", &json!([{"artikelnummer": "W", "bezeichnung": "Weizen"}]));
    let dry = ["import", "artikel", "import.json", "--tenant", "Mühle", "--dry-run"];
    folder.result(&dry);
    folder.run(&["tenant", "set", "Mühle", "negativbestand=nie"]);
    let all = noted(&folder);
    let label = format!("schluessel {id} test");
    let file = folder.file("import.json").display().to_string();
    let counts = json!({"changed": "0", "created": "1", "feed": "1-1", "unchanged": "0"});
    let expected = [
        ("tenant create", "angelegt firma Mühle".to_owned(), None),
        ("key create", format!("angelegt {label}"), None),
        (
            "tenant set",
            "geaendert firma".to_owned(),
            Some(json!([{"negativbestand": "hinweis"}, {"negativbestand": "ablehnen"}])),
        ),
        (
            "key change",
            format!("geaendert {label}"),
            Some(json!([{"daily-limit": "10000"}, {"daily-limit": "5"}])),
        ),
        ("key deactivate", format!("gesperrt {label}"), Some(json!([{}, {}]))),
        ("key activate", format!("freigegeben {label}"), Some(json!([{}, {}]))),
        ("import artikel", format!("importiert import artikel {file}"), Some(json!([{}, counts]))),
    ];
    assert_eq!(all.len(), expected.len(), "{all:?}");
    for ((command, what, change), (expected_command, expected_what, expected_change)) in
        all.iter().zip(expected)
    {
        assert_eq!((command.as_str(), what), (expected_command, &expected_what));
        assert!(expected_change.is_none_or(|expected| *change == expected), "{what}: {change}");
        assert!(!change.to_string().contains(&key), "a key is shown once");
    }
    let of_key = rows(&folder, &["audit", "changes", "--key", id]);
    assert_eq!(of_key.len(), 4, "{of_key:?}");
    let limited = rows(&folder, &["audit", "changes", "--tenant", "Mühle", "--limit", "1"]);
    assert_eq!(limited[0]["tat"], "importiert");
    assert!(rows(&folder, &["audit", "changes", "--since", "2999-01-01"]).is_empty());
    let table = folder.result(&["audit", "changes"]);
    assert!(
        table.contains(&format!("Schlüssel {id} test geändert")) && table.contains("daily-limit: 10000 -> 5"),
        "{table}"
    );
    assert!(table.contains("angelegt: ") && !table.contains("created"), "{table}");
    let csv = folder.result(&["audit", "changes", "--csv"]);
    assert_eq!((csv.lines().count(), csv.lines().next()), (8, Some("at (UTC),what,change,who,tenant")));
    assert!(rows(&folder, &["audit", "list"]).is_empty(), "the log of requests has requests alone");
    folder.result(&["audit", "verify"]);
    folder.result(&["check"]);
}

#[test]
fn documents_moved_on_backups_and_certificates_are_rows_of_the_log() {
    let folder = Folder::new();
    // A certificate may be made before there is a database.
    folder.result(&[
        "tls",
        "self-signed",
        "--name",
        "frueh.local",
        "--folder",
        folder.path().to_str().unwrap(),
    ]);
    assert!(!folder.file("partnerd.db").exists());
    let key = folder.company("Mühle");
    folder.import("Mühle", "kunden", &json!([{"kundennr": "K-1", "nachname_firma": "Hof"}]));
    let server = folder.serve(&[]);
    let item = json!({"bezeichnung": "Weizen", "menge": 1, "ep_netto": 2});
    let body = json!({"beleg_typ": "RE", "kundennummer": "K-1", "items": [item]});
    let answer = server.client(&key).post("/api/v1/belege", &body);
    assert!(answer.status < 300, "{:?}", answer.body);
    let number = answer.body["beleg_nummer"].as_str().unwrap().to_owned();
    let before = noted(&folder).len();
    folder.result(&["beleg", "abschliessen", &number, "--tenant", "Mühle"]);
    folder.result(&["beleg", "erledigen", &number, "--tenant", "Mühle"]);
    assert_eq!(folder.run(&["beleg", "erledigen", "RE-1", "--tenant", "Mühle"]).status.code(), Some(1));
    folder.result(&["backup", "b.db"]);
    assert_eq!(folder.run(&["backup", "b.db"]).status.code(), Some(1));
    std::fs::create_dir(folder.file("tls")).unwrap();
    folder.result(&["tls", "self-signed", "--name", "waage.local", "--folder", "tls"]);
    let all = noted(&folder);
    let expected = [
        ("beleg abschliessen", format!("abgeschlossen beleg {number}")),
        ("beleg erledigen", format!("erledigt beleg {number}")),
        ("backup", "b.db".to_owned()),
        ("tls self-signed", "waage.local".to_owned()),
    ];
    assert_eq!(all.len(), before + expected.len(), "{all:?}");
    for ((command, what, change), (expected_command, named)) in all[before..].iter().zip(expected) {
        assert!(
            command == expected_command && format!("{what} {change}").contains(&named),
            "{command}: {what}"
        );
    }
    let of_company = rows(&folder, &["audit", "changes", "--tenant", "Mühle"]);
    assert_eq!(of_company[0]["gegenstand"]["name"], number, "{of_company:?}");
    folder.result(&["audit", "verify"]);
}

#[test]
fn what_is_forgotten_of_a_partner_is_not_in_the_log() {
    let folder = Folder::new();
    folder.company("Mühle");
    folder.import("Mühle", "kunden", &json!([{"kundennr": "K-1", "nachname_firma": "Huber"}]));
    folder.result(&["kunde", "vergessen", "K-1", "--tenant", "Mühle", "--yes"]);
    let (command, what, change) = noted(&folder).pop().unwrap();
    assert_eq!((command.as_str(), change), ("kunde vergessen", json!([{}, {}])));
    let id = what.strip_prefix("vergessen partner ").unwrap();
    assert!(id.parse::<uuid::Uuid>().is_ok(), "{what}");
}

/// Creates a log with rows of these instants before those of a new company.
fn log_from(times: &[Instant]) -> Folder {
    let folder = Folder::new();
    folder.result(&["migrate"]);
    let database = folder.file("partnerd.db");
    let connection = open_writer(&database).unwrap();
    install(&connection, Secret::read(&database).unwrap().as_ref()).unwrap();
    for am in times {
        let akteur = Akteur::Befehl { name: "beleg erledigen".to_owned(), konto: "root".to_owned() };
        let event = AdminEvent::new(AdminAction::Erledigt, Art::Beleg).name(am.to_string());
        administration::note(&connection, *am, &akteur, Some(1), &event).unwrap();
    }
    folder.company("Mühle");
    folder
}

/// Rows are dropped in the year after their tenth, those of two days at each start of the server.
#[test]
fn changes_are_kept_ten_years() {
    let year = Day::in_berlin(partnerd::platform::db::system_clock()()).year();
    let at = |years: i64, rest: &str| Instant::parse(&format!("{}-{rest}T10:00:00Z", year - years)).unwrap();
    let times = [at(12, "01-10"), at(12, "01-11"), at(12, "06-01"), at(11, "12-31"), at(10, "01-01")];
    let folder = log_from(&times);
    let whole = || folder.result(&["audit", "verify"]);
    let oldest = || noted(&folder)[0].1.clone();
    for left in [2, 3, 4, 4] {
        let mut server = folder.serve(&[]);
        let until = Moment::now() + Duration::from_secs(60);
        while oldest() != format!("erledigt beleg {}", times[left]) {
            assert!(Moment::now() < until, "row {left} is not the oldest one: {}", oldest());
            std::thread::sleep(Duration::from_millis(20));
        }
        server.signal("TERM");
        assert!(server.end().0.success());
        whole();
    }
    folder.result(&["audit", "rollover", "--days", "1"]);
    assert_eq!(oldest(), format!("erledigt beleg {}", times[4]), "they are no requests");
    folder.result(&["check"]);
    folder.result(&["backup", "b.db"]);
    std::fs::create_dir(folder.file("neu")).unwrap();
    folder.result(&["--db", "neu/partnerd.db", "restore", "b.db"]);
    folder.result(&["--db", "neu/partnerd.db", "audit", "verify"]);
    let newest = rows(&folder, &["--db", "neu/partnerd.db", "audit", "changes", "--limit", "1"]).remove(0);
    assert_eq!(
        (&newest["tat"], &newest["akteur"]["befehl"]["name"], &newest["gegenstand"]["name"]),
        (&json!("zurueckgespielt"), &json!("restore"), &json!("b.db")),
    );
}

#[test]
fn changes_cannot_be_altered_removed_or_inserted() {
    let unprotected = "drop trigger verwaltung_nie_aendern; drop trigger verwaltung_nie_loeschen; ";
    let cases = [
        (
            "update verwaltung set gegenstand = json_set(gegenstand, '$.name', 'X') where nr = 1",
            "wurde geändert",
        ),
        (
            "update verwaltung set akteur = json_set(akteur, '$.befehl.konto', 'anna') where nr = 2",
            "wurde geändert",
        ),
        ("update verwaltung set nachher = '{\"scopes\":\"\"}' where nr = 4", "wurde geändert"),
        ("update verwaltung set am = am + 1 where nr = 2", "wurde geändert"),
        ("update verwaltung set tat = 'geloescht' where nr = 2", "wurde geändert"),
        ("delete from verwaltung where nr = 1", "Zeile 1 der Kette der Änderungen wurde entfernt"),
        ("delete from verwaltung where nr = 2", "Zeile 2 der Kette der Änderungen wurde entfernt"),
        ("delete from verwaltung", "Zeile 1 bis 4 der Kette der Änderungen wurde entfernt"),
        (
            "delete from verwaltung; update kette set letzte_nr = 0, pruefsumme = zeroblob(32)
             where name = 'verwaltung'",
            "das Ende der Kette der Änderungen wurde geändert",
        ),
        (
            "delete from verwaltung; update kette set ab_nr = letzte_nr, ab_pruefsumme = pruefsumme
             where name = 'verwaltung'",
            "das Ende der Kette der Änderungen wurde geändert",
        ),
    ];
    for (statement, finding) in cases {
        let folder = log_from(&[Instant::from_millis(0), Instant::from_millis(1)]);
        folder.result(&["audit", "verify"]);
        let refused = folder.database().execute_batch(statement);
        assert!(refused.is_err(), "{statement}: a trigger refuses it");
        folder.database().execute_batch(&format!("{unprotected}{statement}")).unwrap();
        let complaint = said(&folder.run(&["audit", "verify"]), 1);
        assert!(complaint.contains(finding), "{statement}: {complaint}");
    }
}
