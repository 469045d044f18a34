use partnerd::db::connection::open_writer;
use partnerd::gate::audit::{Akteur, Row};
use serde_json::json;
use uuid::Uuid;

use crate::process::Folder;
use crate::{rows, said};

/// What the log says of changes by the command line, the oldest first: command without the account, and what changed.
fn noted(folder: &Folder) -> Vec<(String, String)> {
    let rows = rows(folder, &["audit", "list"]);
    let changes = rows.iter().rev().filter_map(|row| Some((row["command"].as_str()?, row["path"].as_str()?)));
    let changes = changes.map(|(command, what)| {
        let (command, account) = command.split_once(" (").unwrap();
        assert!(account.len() > 1 && account.ends_with(')'), "{command}: {account}");
        (command.to_owned(), what.to_owned())
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
        "negativbestand: hinweis -> ablehnen\ngesperrt_bis: nothing -> 2025-12-31\nort: nothing -> Hof\n"
    );
    assert_eq!(
        set(&["gesperrt_bis=", "ort=Naila"]),
        "gesperrt_bis: 2025-12-31 -> nothing\nort: Hof -> Naila\n"
    );
    let before = noted(&folder).len();
    assert!(set(&["ort=Naila"]).contains("Nothing changed"));
    assert_eq!(noted(&folder).len(), before, "what changes nothing is no change");
}

#[test]
fn tenant_show_names_value_default_and_meaning_of_each_setting() {
    let folder = Folder::new();
    folder.company("Mühle");
    folder.result(&["tenant", "set", "Mühle", "negativbestand=ablehnen", "iban=DE89 3704 0044 0532 0130 00"]);
    let shown = rows(&folder, &["tenant", "show", "Mühle"]);
    assert_eq!(shown.len(), partnerd::tenants::all_settings().count());
    for setting in partnerd::tenants::all_settings() {
        let row = shown.iter().find(|row| row["setting"] == setting.name).unwrap();
        let expected = match setting.name {
            "negativbestand" => "ablehnen",
            "iban" => "DE89370400440532013000",
            _ => setting.default,
        };
        assert_eq!((row["value"].as_str(), row["default"].as_str()), (Some(expected), Some(setting.default)));
        assert_eq!(row["help"], setting.help);
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
    let label = format!("key {id} \"test\"");
    let file = folder.file("import.json").display().to_string();
    let expected = [
        ("tenant create", "company \"Mühle\" created".to_owned()),
        ("key create", format!("{label} created: ")),
        ("tenant set", "negativbestand: hinweis -> ablehnen".to_owned()),
        ("key change", format!("{label} daily-limit: 10000 -> 5")),
        ("key deactivate", format!("{label} deactivated")),
        ("key activate", format!("{label} activated")),
        ("import artikel", format!("{file}: created 1, changed 0, unchanged 0")),
    ];
    assert_eq!(all.len(), expected.len(), "{all:?}");
    for ((command, what), (expected_command, begins)) in all.iter().zip(&expected) {
        assert_eq!(command, expected_command);
        assert!(what.starts_with(begins), "{what} instead of {begins}");
        assert!(!what.contains(&key), "a key is shown once");
    }
    let of_key = rows(&folder, &["audit", "list", "--key", id]);
    assert_eq!(of_key.len(), 4, "what was done to a key stands with what it did: {of_key:?}");
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
        ("beleg abschliessen", number.as_str()),
        ("beleg erledigen", &number),
        ("backup", "b.db"),
        ("tls self-signed", "waage.local"),
    ];
    assert_eq!(all.len(), before + expected.len(), "{all:?}");
    for ((command, what), (expected_command, named)) in all[before..].iter().zip(expected) {
        assert!(command == expected_command && what.contains(named), "{command}: {what}");
    }
    let of_company = rows(&folder, &["audit", "list", "--tenant", "Mühle"]);
    assert!(of_company.iter().any(|row| row["path"] == number.as_str()), "{of_company:?}");
    folder.result(&["audit", "verify"]);
}

/// A log of two days long ago: on the first a request, a change and another request, on the second a change.
fn old_log() -> Folder {
    let folder = Folder::new();
    folder.company("Mühle");
    let connection = open_writer(&folder.file("partnerd.db")).unwrap();
    let day = 86_400_000;
    for (am, what, is_change) in [
        (day, "GET", false),
        (day + 1, "ort: A -> B", true),
        (day + 2, "GET", false),
        (2 * day, "ort: B -> C", true),
    ] {
        let akteur = is_change.then(|| Akteur::Befehl("tenant set (root)".to_owned()));
        let pfad = what.to_owned();
        let row =
            Row { am, request_id: Uuid::now_v7(), pfad, status: 200, anzahl: 1, akteur, ..Row::default() };
        row.insert(&connection).unwrap();
    }
    folder
}

#[test]
fn changes_outlive_the_days_that_the_log_is_kept() {
    let folder = old_log();
    let now = noted(&folder).len() - 2;
    let dropped = folder.result(&["audit", "rollover"]);
    assert!(dropped.starts_with("dropped 4,"), "{dropped}");
    let all = noted(&folder);
    assert_eq!(all.len(), now + 2);
    assert_eq!([&all[0].1, &all[1].1], ["ort: A -> B", "ort: B -> C"]);
    let verified = folder.result(&["audit", "verify"]);
    assert!(verified.starts_with(&format!("{} rows", now + 2)), "{verified}");
    folder.result(&["check"]);
    assert_eq!(rows(&folder, &["audit", "list", "--limit", "1"]).len(), 1);
    // They stay, however often the others go.
    folder.result(&["audit", "rollover"]);
    assert_eq!(noted(&folder), all);
    folder.result(&["backup", "b.db"]);
    std::fs::create_dir(folder.file("neu")).unwrap();
    folder.result(&["--db", "neu/partnerd.db", "restore", "b.db"]);
    folder.result(&["--db", "neu/partnerd.db", "audit", "verify"]);
}

#[test]
fn what_is_kept_cannot_be_altered_removed_or_inserted() {
    let unprotected = "drop trigger audit_bleibt_nie_aendern; drop trigger audit_bleibt_nie_loeschen; ";
    let cases = [
        ("update audit_bleibt set pfad = 'ort: A -> X' where nr = 1", "was altered"),
        ("update audit_bleibt set befehl = 'tenant set (anna)' where nr = 2", "was altered"),
        ("delete from audit_bleibt where nr = 1", "was removed"),
        ("delete from audit_bleibt where nr = 2", "was removed"),
        ("delete from audit_bleibt", "was removed"),
        ("delete from audit_bleibt; update audit_kopf set bleibend = 0", "head of the log was altered"),
    ];
    for (statement, finding) in cases {
        let folder = old_log();
        folder.result(&["audit", "rollover"]);
        folder.result(&["audit", "verify"]);
        let refused = folder.database().execute_batch(statement);
        assert!(refused.is_err(), "{statement}: a trigger refuses it");
        folder.database().execute_batch(&format!("{unprotected}{statement}")).unwrap();
        let complaint = said(&folder.run(&["audit", "verify"]), 1);
        assert!(complaint.contains(finding), "{statement}: {complaint}");
    }
}
