use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::commands::{rows, said};
use crate::process::{Folder, Running};

/// Creates a key of the company Mühle; it is in the file NAME.key.
fn key(folder: &Folder, name: &str, more: &[&str]) -> String {
    let file = format!("{name}.key");
    let create = ["key", "create", "--tenant", "Mühle", "--label", name, "--out", &file];
    folder.result(&[&create, more].concat());
    std::fs::read_to_string(folder.file(&file)).unwrap().trim().to_owned()
}

fn id(key: &str) -> &str {
    key.split('_').nth(1).unwrap()
}

/// The row of `key list` for a key.
fn listed(folder: &Folder, key: &str) -> Value {
    let rows = rows(folder, &["key", "list"]);
    rows.into_iter().find(|row| row["id"] == id(key)).unwrap()
}

#[test]
fn the_key_of_a_shop_does_what_a_shop_does() {
    let folder = Folder::new();
    folder.company("Mühle");
    let wheat = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30"}]);
    folder.import("Mühle", "artikel", &wheat);
    let shop = key(&folder, "shop", &["--for", "shop"]);
    let server = folder.serve(&[]);
    let client = server.client(&shop);
    for path in ["artikel", "artikelgruppen", "chargen", "laender", "steuersaetze", "kunden"] {
        assert_eq!(client.get(&format!("/api/v1/{path}")).status, 200, "{path}");
    }
    let customer = client.post("/api/v1/kunden", &json!({"name": "Huber"}));
    assert_eq!(customer.status, 201);
    let items = json!([{"artikelnr": "W", "menge": 5}]);
    for typ in ["AU", "RE"] {
        let body = json!({"beleg_typ": typ, "kundennummer": "K-1001", "items": items});
        let document = client.post("/api/v1/belege", &body);
        assert_eq!(document.status, 201, "{}", document.body);
        let id = document.body["id"].as_str().unwrap();
        assert_eq!(client.get(&format!("/api/v1/belege/{id}")).status, 200);
    }
    assert_eq!(client.get("/api/v1/dokumente?since=2026-01-01").status, 200);
    // And nothing else.
    for path in ["wiegungen", "barverkaeufe", "kontrakte", "annahmescheine", "produktionsauftraege"] {
        assert_eq!(client.get(&format!("/api/v1/{path}")).body["error"], "SCOPE_FEHLT", "{path}");
    }
}

#[test]
fn a_purpose_gives_the_scopes_that_its_program_needs_and_the_help_lists_them() {
    let folder = Folder::new();
    folder.company("Mühle");
    let help = folder.result(&["help", "key", "create"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = [
        ("waage", "waage:write", "belege:write"),
        ("dms", "belege:read", "kunden:write"),
        ("buchhaltung", "kasse:read", "belege:write"),
        ("kasse", "artikel:read", "belege:read"),
        ("shop", "belege:write", "waage:read"),
    ];
    for (purpose, has, lacks) in table {
        let key = key(&folder, purpose, &["--for", purpose]);
        let scopes = listed(&folder, &key)["scopes"].as_str().unwrap().to_owned();
        assert!(scopes.contains(has) && !scopes.contains(lacks), "{purpose}: {scopes}");
        assert!(help.contains(&format!("{purpose}: {}", scopes.replace(' ', ", "))), "{purpose}: {help}");
        assert!(folder.result(&["key", "list"]).contains(&format!("für {purpose}")));
    }
    let both = key(&folder, "both", &["--for", "dms", "--for", "kasse", "--scope", "waage:read"]);
    let scopes = listed(&folder, &both)["scopes"].clone();
    assert_eq!(
        scopes,
        "kunden:read artikel:read artikelgruppen:read belege:read chargen:read dokumente:write kasse:read waage:read"
    );
    let create = ["key", "create", "--tenant", "Mühle", "--label", "x"];
    for wrong in [&["--for", "traktor"][..], &["--for", "shop", "--all-scopes"], &[]] {
        said(&folder.run(&[&create[..], wrong].concat()), 2);
    }
}

#[test]
fn a_key_in_a_file_is_for_its_owner_alone_and_a_redirected_one_is_warned_of() {
    let folder = Folder::new();
    folder.company("Mühle");
    let create = ["key", "create", "--tenant", "Mühle", "--label", "a", "--all-scopes"];
    let output = folder.run(&[&create[..], &["--out", "a.key"]].concat());
    assert!(said(&output, 0).contains("a.key"));
    let text = std::fs::read_to_string(folder.file("a.key")).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), id(&text));
    let mode = |file: &str| std::fs::metadata(folder.file(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("a.key"), 0o600);
    // An existing file is kept, and no key is created that nobody would know.
    let keys = rows(&folder, &["key", "list"]).len();
    let complaint = said(&folder.run(&[&create[..], &["--out", "a.key"]].concat()), 1);
    assert!(complaint.contains("a.key gibt es schon"), "{complaint}");
    assert_eq!(std::fs::read_to_string(folder.file("a.key")).unwrap(), text);
    said(&folder.run(&[&create[..], &["--out", "gibt/es/nicht.key"]].concat()), 1);
    assert_eq!(rows(&folder, &["key", "list"]).len(), keys);
    // The file after > is created by the shell.
    let program = env!("CARGO_BIN_EXE_partnerd");
    for (mask, target, is_warned) in
        [("022", "> b.key", true), ("077", "> c.key", false), ("022", "| cat", false)]
    {
        let line =
            format!("umask {mask}; {program} key create --tenant Mühle --label b --all-scopes {target}");
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
        let warned = said(&output, 0);
        let words = ["chmod 600", "--out"].iter().all(|word| warned.contains(word));
        assert_eq!(words, is_warned, "{line}: {warned}");
    }
}

#[test]
fn the_list_says_in_which_state_a_key_is_and_how_it_is_used() {
    let folder = Folder::new();
    folder.company("Mühle");
    let create = ["key", "create", "--tenant", "Mühle", "--label", "x", "--all-scopes", "--expires"];
    let complaint = said(&folder.run(&[&create[..], &["2020-01-01"]].concat()), 1);
    assert!(
        complaint.contains("2020-01-01 ist vorbei") && complaint.contains("key deactivate"),
        "{complaint}"
    );
    let [used, expired, deactivated] =
        ["used", "expired", "deactivated"].map(|name| key(&folder, name, &["--all-scopes"]));
    folder
        .database()
        .execute("update api_key set gueltig_bis = '2020-01-01' where id = ?1", [id(&expired)])
        .unwrap();
    folder.result(&["key", "deactivate", &deactivated]);
    let mut server = folder.serve(&[]);
    for _ in 0..3 {
        assert_eq!(server.client(&used).get("/api/v1/laender").status, 200);
    }
    server.signal("TERM");
    server.end();
    let of = |key: &str| listed(&folder, key);
    assert_eq!(
        (of(&used)["state"].as_str(), of(&used)["requests_today"].as_i64()),
        (Some("active"), Some(3))
    );
    assert!(of(&used)["last_used"].is_string());
    assert_eq!((&of(&expired)["state"], &of(&expired)["last_used"]), (&json!("expired"), &Value::Null));
    assert_eq!(of(&deactivated)["state"], "deactivated");
    let table = folder.result(&["key", "list"]);
    for word in ["Stand", "abgelaufen am", "gesperrt", "3 von 10000", "zuletzt"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let output = folder.run(&["key", "activate", id(&expired)]);
    assert!(said(&output, 0).contains("key change"), "that it is expired is said");
}

#[test]
fn a_change_of_a_key_holds_from_the_next_request_on() {
    let folder = Folder::new();
    folder.company("Mühle");
    let key = key(&folder, "shop", &["--scope", "kunden:read", "--expires", "2099-12-31"]);
    let server = folder.serve(&[]);
    let client = server.client(&key);
    assert_eq!(client.get("/api/v1/artikel").status, 403);
    let change = |more: &[&str]| folder.run(&[&["key", "change", id(&key)], more].concat());
    let output = change(&["--for", "shop", "--label", "webshop", "--daily-limit", "2", "--expires", "never"]);
    let changes = said(&output, 0);
    for line in ["label: shop -> webshop", "expires: 2099-12-31 -> nichts", "daily-limit: 10000 -> 2"] {
        assert!(changes.lines().any(|said| said == line), "{line}: {changes}");
    }
    assert!(changes.contains("scopes: kunden:read -> kunden:read kunden:write"), "{changes}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), id(&key));
    assert_eq!(client.get("/api/v1/artikel").status, 200);
    assert_eq!(client.get("/api/v1/artikel").status, 429);
    assert!(said(&change(&["--label", "webshop"]), 0).contains("Nichts hat sich geändert"));
    assert!(said(&change(&["--expires", "2020-01-01"]), 1).contains("ist vorbei"));
    assert!(said(&change(&["--label", " "]), 1).contains("label"));
    said(&change(&[]), 2);
    assert!(
        said(&folder.run(&["key", "change", "abc", "--label", "x"]), 1)
            .contains("den Schlüssel abc gibt es nicht")
    );
    for log in ["list", "changes"] {
        let complaint = said(&folder.run(&["audit", log, "--key", "webshop"]), 1);
        assert!(complaint.contains("den Schlüssel webshop gibt es nicht"), "{complaint}");
    }
}

#[test]
fn expired_and_deactivated_are_told_apart_in_answer_log_and_audit_row() {
    let folder = Folder::new();
    folder.company("Mühle");
    let [expired, deactivated, good] =
        ["alt", "gesperrt", "gut"].map(|name| key(&folder, name, &["--all-scopes"]));
    folder
        .database()
        .execute("update api_key set gueltig_bis = '2020-01-01' where id = ?1", [id(&expired)])
        .unwrap();
    folder.result(&["key", "deactivate", &deactivated]);
    let line = format!("exec {} serve --listen 127.0.0.1:0 2> log", env!("CARGO_BIN_EXE_partnerd"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(folder.path());
    let mut server = Running::start(shell);
    let (whole, last) = good.split_at(good.len() - 1);
    let wrong = format!("{whole}{}", if last == "0" { "1" } else { "0" });
    let cases = [
        (&expired, 401, Some("API_KEY_ABGELAUFEN"), Some("alt")),
        (&deactivated, 401, Some("API_KEY_DEAKTIVIERT"), Some("gesperrt")),
        (&wrong, 401, Some("API_KEY_UNGUELTIG"), None),
        (&good, 200, None, Some("gut")),
    ];
    for (key, status, code, _) in &cases {
        let answer = server.client(key).get("/api/v1/laender");
        assert_eq!((answer.status, answer.body["error"].as_str()), (*status, *code));
    }
    // Beside the server, at once.
    let log = rows(&folder, &["audit", "list", "--limit", "4"]);
    let table = folder.result(&["audit", "list"]);
    for ((key, status, code, label), row) in cases.iter().rev().zip(&log) {
        assert_eq!(
            (row["status"].as_i64(), row["code"].as_str()),
            (Some(i64::from(*status)), *code),
            "{row}"
        );
        assert_eq!(row["key_id"].as_str(), label.map(|_| id(key)), "{row}");
        assert_eq!(row["key_label"].as_str(), *label, "{row}");
        let who = label.map(|label| format!("{} {label}", id(key))).unwrap_or_default();
        assert!(table.contains(code.unwrap_or_default()) && table.contains(&who), "{table}");
    }
    server.signal("TERM");
    server.end();
    let logged = std::fs::read_to_string(folder.file("log")).unwrap();
    for (key, _, code, label) in cases {
        let Some(code) = code else { continue };
        let line = logged.lines().find(|line| line.contains(&format!("code=\"{code}\""))).unwrap_or_default();
        assert_eq!(line.contains(&format!("key=\"{}\"", id(key))), label.is_some(), "{code}: {logged}");
        assert!(!line.is_empty(), "{code}: {logged}");
    }
}

#[test]
fn the_log_is_shown_newest_first_whatever_the_journal_holds() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let server = folder.serve(&[]);
    let client = server.client(&key);
    // Writes are in the table at once; reads and refusals wait in the journal.
    let mut asked = Vec::new();
    for at in 0..4 {
        assert_eq!(client.post("/api/v1/kunden", &json!({"name": format!("Hof {at}")})).status, 201);
        assert_eq!(client.get(&format!("/api/v1/kunden?suche={at}")).status, 200);
        assert_eq!(client.get(&format!("/api/v1/nichts/{at}")).status, 404);
        let of_round = ["POST /api/v1/kunden".to_owned(), "GET /api/v1/kunden".to_owned()];
        asked.extend(of_round.into_iter().chain([format!("GET /api/v1/nichts/{at}")]));
    }
    asked.reverse();
    let shown = rows(&folder, &["audit", "list", "--limit", "12"]);
    let shown: Vec<_> = shown
        .iter()
        .map(|row| format!("{} {}", row["method"].as_str().unwrap(), row["path"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, asked);
}
