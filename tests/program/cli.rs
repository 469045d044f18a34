//! The command line as scripts use it (docs/command-line.md): stdout, exit codes, messages.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::process::{Folder, Running};
use partnerd::platform::db::file::lock;
use serde_json::{Value, json};

/// Asserts exit code 1, nothing on stdout, and one sentence on stderr with these words, possibly followed by a rule.
#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(said.trim().lines().filter(|line| !line.starts_with("  ")).count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is not named: {said}");
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Creates a company with an article and 500 kg of opening stock; returns its key.
fn mill(folder: &Folder) -> String {
    let key = folder.company("Mühle");
    let article = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30",
        "chargenpflichtig": true}]);
    folder.import("Mühle", "artikel", &article);
    folder.import("Mühle", "chargen", &json!([{"artikelnummer": "W", "charge_nr": "A1", "bestand": 500}]));
    key
}

#[test]
fn stdout_carries_the_result_alone() {
    let folder = Folder::new();
    assert!(folder.result(&["migrate"]).contains('1'));
    assert_eq!(folder.result(&["tenant", "create", "Mühle"]), "1\n");
    assert_eq!(folder.result(&["tenant", "create", "Handel", "--set", "negativbestand=ablehnen"]), "2\n");
    assert_eq!(folder.result(&["tenant", "set", "Handel", "lagerbuchung=lieferung"]), "2\n");
    assert_eq!(folder.result(&["tenant", "set", "1", "gesperrt_bis=2025-12-31"]), "1\n");
    let settings = "select negativbestand || ' ' || lagerbuchung from tenant where id = 2";
    let stored: String = folder.database().query_row(settings, [], |row| row.get(0)).unwrap();
    assert_eq!(stored, "ablehnen lieferung");
    let companies = folder.result(&["tenant", "list"]);
    assert!(companies.contains("Mühle") && companies.contains("Handel"), "{companies}");
    let create = [
        "key",
        "create",
        "--tenant",
        "Mühle",
        "--label",
        "shop",
        "--scope",
        "kunden:read",
        "--scope",
        "belege:write",
    ];
    let key = folder.result(&create);
    let parts: Vec<&str> = key.trim_end().split('_').collect();
    assert_eq!((parts.len(), parts[0], key.lines().count()), (3, "ak", 1), "{key}");
    // 160 random bits and a MAC: more than 40 digits even in hexadecimal.
    assert!(parts[2].len() > 27, "{key}");
    let keys = folder.result(&["key", "list", "--tenant", "Mühle"]);
    assert!(keys.contains(parts[1]) && keys.contains("shop") && !keys.contains(parts[2]), "{keys}");
    assert!(!folder.result(&["key", "list", "--tenant", "Handel"]).contains(parts[1]));
    for command in ["deactivate", "activate"] {
        let output = folder.run(&["key", command, parts[1]]);
        assert_eq!(output.status.code(), Some(0), "{command}");
    }
    assert_eq!(folder.run(&["check"]).status.code(), Some(0));
}

#[test]
fn json_is_a_flag_of_every_command() {
    let folder = Folder::new();
    mill(&folder);
    let rows = folder.write("w.json", r#"[{"artikelnummer": "R", "bezeichnung": "Roggen"}]"#);
    let import = ["--json", "import", "artikel", &rows, "--tenant", "Mühle"];
    assert_eq!(json_of(&folder.result(&import)), json!({"created": 1, "changed": 0, "unchanged": 0}));
    assert_eq!(json_of(&folder.result(&import)), json!({"created": 0, "changed": 0, "unchanged": 1}));
    for command in
        [&["tenant", "list"][..], &["key", "list"], &["migrate", "--status"], &["config"], &["check"]]
    {
        let before = json_of(&folder.result(&[&["--json"], command].concat()));
        assert!(before.as_array().is_some_and(|rows| !rows.is_empty()), "{command:?}: {before}");
        assert_eq!(json_of(&folder.result(&[command, &["--json"]].concat())), before, "{command:?}");
    }
    assert_eq!(json_of(&folder.result(&["tenant", "list", "--json"]))[0]["name"], "Mühle");
    // The JSON of results that are otherwise a single text.
    let of = |arguments: &str| json_of(&folder.result(&arguments.split(' ').collect::<Vec<_>>()));
    assert_eq!(of("--json tenant create Kornhaus"), json!({"id": 2}));
    assert_eq!(of("--json tenant set Kornhaus charge_automatik=fefo"), json!({"id": 2}));
    let key = of("--json key create --tenant Kornhaus --label a --all-scopes");
    let id = key["id"].as_str().unwrap();
    assert!(key["key"].as_str().unwrap().starts_with(&format!("ak_{id}_")), "{key}");
    assert_eq!(of(&format!("--json key deactivate {id}")), json!({"id": id, "active": false}));
    let certificate = of("--json tls self-signed --name a");
    assert!(certificate["certificate"].as_str().unwrap().ends_with("partnerd-cert.pem"), "{certificate}");
}

#[test]
fn wrong_usage_ends_with_2() {
    let folder = Folder::new();
    folder.company("Mühle");
    let cases: &[&[&str]] = &[
        &[],
        &["migrate", "--nope"],
        &["tenant"],
        &["tenant", "create"],
        &["tenant", "set", "Mühle"],
        &["key", "create", "--tenant", "Mühle", "--all-scopes"],
        &["key", "create", "--tenant", "Mühle", "--label", "x", "--all-scopes", "--scope", "kunden:read"],
        &["key", "deactivate"],
        &["import", "artikel", "--tenant", "Mühle"],
        &["--db"],
        &["check", "extra"],
    ];
    for arguments in cases {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    assert!(folder.result(&["--help"]).contains("serve"));
    assert!(folder.result(&["--version"]).contains("partnerd"));
}

#[test]
fn a_refusal_is_one_sentence_that_names_what_was_wrong() {
    let folder = Folder::new();
    let database = ["tenant list", "key list", "check", "migrate --status", "key deactivate abc"];
    for command in database {
        let arguments: Vec<&str> = command.split(' ').collect();
        refused(&folder.run(&arguments), &["partnerd.db"]);
    }
    mill(&folder);
    let key = |more: &[&'static str]| [&["key", "create", "--label", "x", "--tenant"], more].concat();
    let good = folder.write("gut.json", r#"[{"artikelnummer": "R", "bezeichnung": "Roggen"}]"#);
    let cases: Vec<(Vec<&str>, &[&str])> = vec![
        (vec!["tenant", "create", "Neu", "--set", "negativ=ja"], &["negativ", "negativbestand"]),
        (vec!["tenant", "create", "Neu", "--set", "negativbestand=nie"], &["negativbestand", "ablehnen"]),
        (vec!["tenant", "create", "Neu", "--set", "negativbestand"], &["negativbestand"]),
        (vec!["tenant", "set", "Mühle", "gesperrt_bis=2026-02-30"], &["gesperrt_bis"]),
        (vec!["tenant", "set", "Mühle", "abschluss_bei_anlage=XX"], &["abschluss_bei_anlage"]),
        (vec!["tenant", "set", "Niemand", "lagerbuchung=lieferung"], &["Niemand"]),
        (key(&["Niemand", "--all-scopes"]), &["Niemand"]),
        (vec!["key", "list", "--tenant", "Niemand"], &["Niemand"]),
        (vec!["key", "activate", "abcdef"], &["abcdef"]),
        (vec!["import", "artikel", &good, "--tenant", "Niemand"], &["Niemand"]),
    ];
    let counts = "select (select count(*) from tenant) || ' ' || (select count(*) from api_key) || ' ' ||
        (select count(*) from artikel)";
    let count = || folder.database().query_row(counts, [], |row| row.get::<_, String>(0)).unwrap();
    let before = count();
    for (arguments, words) in cases {
        eprintln!("{arguments:?}");
        refused(&folder.run(&arguments), words);
    }
    assert_eq!(count(), before);
}

#[test]
fn a_dry_run_stores_nothing() {
    let folder = Folder::new();
    mill(&folder);
    let file = folder.write("neu.csv", "artikelnummer;bezeichnung\nR;Roggen\nW;Winterweizen\n");
    let import = ["import", "artikel", &file, "--tenant", "Mühle", "--json"];
    let expected = json!({"created": 1, "changed": 1, "unchanged": 0});
    assert_eq!(json_of(&folder.result(&[&import[..], &["--dry-run"]].concat())), expected);
    let count = "select count(*) from artikel where bezeichnung <> 'Weizen'";
    assert_eq!(folder.database().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    assert_eq!(json_of(&folder.result(&import)), expected);
}

/// The line of `partnerd config` for a setting.
fn setting(output: Output, name: &str) -> String {
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name));
    line.unwrap_or_else(|| panic!("{name} is not in {text}")).to_owned()
}

#[test]
fn a_flag_beats_the_environment_that_beats_the_file_that_beats_the_default() {
    let folder = Folder::new();
    let file = folder.write("p.toml", "db = \"datei.db\"\nheader_timeout = 7\nlisten = \"127.0.0.1:7001\"\n");
    let flag = ["--db", "flagge.db", "--config", &file, "config"];
    let config = |arguments: &[&str], environment: &[(&str, &str)]| {
        folder.command(arguments).envs(environment.iter().copied()).output().unwrap()
    };
    let environment = [("PARTNERD_DB", "umwelt.db"), ("PARTNERD_HEADER_TIMEOUT", "9")];
    let by_name = [("PARTNERD_CONFIG", file.as_str())];
    let cases = [
        (config(&flag, &environment), "db", "flagge.db", "Schalter"),
        (config(&flag[2..], &environment), "db", "umwelt.db", "PARTNERD_DB"),
        (config(&flag[2..], &environment), "header_timeout", "9", "PARTNERD_HEADER_TIMEOUT"),
        (config(&flag[2..], &[]), "db", "datei.db", "p.toml"),
        (config(&flag[2..], &[]), "header_timeout", "7", "p.toml"),
        (config(&flag[2..], &[]), "body_timeout", "60", "Voreinstellung"),
        (config(&["config"], &by_name), "listen", "127.0.0.1:7001", "p.toml"),
        (config(&["config"], &[]), "listen", "127.0.0.1:8080", "Voreinstellung"),
        (config(&["config"], &[]), "db", "partnerd.db", "Voreinstellung"),
    ];
    for (output, name, value, source) in cases {
        assert!(output.status.success());
        let line = setting(output, name);
        assert!(line.contains(value) && line.contains(source), "{name} = {value} from {source}: {line}");
    }
    assert!(!folder.file("partnerd.db").exists());
}

#[test]
fn a_setting_that_nobody_knows_is_refused_with_the_nearest_name() {
    let folder = Folder::new();
    let cases = [
        ("max_conections = 5", &["max_conections", "max_connections"][..]),
        ("Listen = \"127.0.0.1:1\"", &["Listen", "listen"]),
        ("header_timout = 1", &["header_timout", "header_timeout"]),
        ("header_timeout = 0", &["header_timeout"]),
        ("body_timeout = \"viel\"", &["body_timeout", "viel"]),
        ("listen = \"überall\"", &["listen", "überall"]),
        ("listen = true", &["listen"]),
        ("cors_origins = \"https://shop.example/app\"", &["cors_origins", "/app", "ohne Pfad"]),
    ];
    for (text, words) in cases {
        let file = folder.write("p.toml", text);
        for command in [&["config"][..], &["serve"], &["tenant", "list"]] {
            refused(&folder.run(&[&["--config", &file], command].concat()), words);
        }
    }
    let file = folder.write("p.toml", "kein toml");
    assert_eq!(folder.run(&["--config", &file, "config"]).status.code(), Some(1));
}

#[test]
fn the_database_belongs_to_its_owner_alone() {
    for command in ["migrate", "tenant create Mühle", "serve --listen 127.0.0.1:0"] {
        let folder = Folder::new();
        let open_mask = format!("umask 000; exec {} {command}", env!("CARGO_BIN_EXE_partnerd"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &open_mask]).current_dir(folder.path());
        let running = command.starts_with("serve").then(|| Running::start(shell));
        if running.is_none() {
            let mut shell = Command::new("sh");
            assert!(
                shell.args(["-c", &open_mask]).current_dir(folder.path()).output().unwrap().status.success()
            );
        }
        for name in ["partnerd.db", "partnerd.db-wal"] {
            if let Ok(metadata) = std::fs::metadata(folder.file(name)) {
                assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{command}: {name}");
            }
        }
        assert!(folder.file("partnerd.db").exists(), "{command}");
    }
}

#[test]
fn a_key_is_shown_once_and_kept_as_a_hash() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let secret = key.split('_').nth(2).unwrap();
    let server = folder.serve(&[]);
    assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
    assert_eq!(server.client(&key).get(&format!("/api/v1/kunden?suche={key}")).status, 200);
    let listed = folder.result(&["key", "list", "--json"]);
    assert!(!listed.contains(secret));
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "the secret stands in {}", path.display());
    }
    let hash: String = folder.database().query_row("select hash from api_key", [], |row| row.get(0)).unwrap();
    assert!(hash.starts_with("$argon2id$"), "{hash}");
}

#[test]
fn commands_work_beside_a_running_server() {
    let folder = Folder::new();
    let server = folder.serve(&[]);
    let key = mill(&folder);
    let client = server.client(&key);
    assert_eq!(client.get("/api/v1/artikel").body["count"], 1);
    assert_eq!(client.get("/api/v1/chargen").body[0]["bestand"], "500.000");
    let wheat = folder.write("w.csv", "artikelnummer;bezeichnung\nW;Winterweizen\n");
    folder.result(&["import", "artikel", &wheat, "--tenant", "Mühle"]);
    assert_eq!(client.get("/api/v1/artikel").body["data"][0]["bezeichnung"], "Winterweizen");
    let id = key.split('_').nth(1).unwrap();
    folder.result(&["key", "deactivate", id]);
    assert_eq!(client.get("/api/v1/artikel").status, 401);
    folder.result(&["key", "activate", id]);
    assert_eq!(client.get("/api/v1/artikel").status, 200);
    for command in ["check", "config", "tenant list", "key list", "migrate", "migrate --status"] {
        folder.result(&command.split(' ').collect::<Vec<_>>());
    }
}

/// Some commands hold the server's lock for a moment (migrations, the audit journal); a start at that moment waits.
#[test]
fn a_start_waits_for_a_command_that_holds_the_lock() {
    let folder = Folder::new();
    folder.result(&["migrate"]);
    let held = lock::without_server(&folder.file("partnerd.db")).unwrap();
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
    });
    let server = folder.serve(&[]);
    assert_eq!(server.client("").get("/healthz").status, 200);
    release.join().unwrap();
    refused(
        &folder.run(&["serve", "--listen", "127.0.0.1:0"]),
        &["wird schon von einem anderen partnerd benutzt", "--db"],
    );
}

/// A process started while the lock is released inherits a copy of the open file.
#[test]
fn a_lock_is_free_at_once_whatever_is_started_meanwhile() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    Command::new("true").status().unwrap();
                }
            });
        }
        let refused = (0..2_000).filter(|_| lock::without_server(&database).is_err()).count();
        done.store(true, Ordering::Relaxed);
        assert_eq!(refused, 0);
    });
}

#[test]
fn check_finds_what_was_tampered_with() {
    let folder = Folder::new();
    let key = mill(&folder);
    let server = folder.serve(&[]);
    let client = server.client(&key);
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "Hof"})).status, 201);
    let item = json!({"artikelnr": "W", "menge": 5, "fremde_charge_nr": "C1", "ep_netto": 1});
    let body = json!({"beleg_typ": "EL", "kunden_id": 1, "items": [item]});
    assert_eq!(client.post("/api/v1/belege", &body).status, 201);
    drop(server);
    assert_eq!(folder.run(&["check"]).status.code(), Some(0));
    let cases = [
        (
            "stock",
            "update charge set bestand = bestand + 1 where charge_nr = 'A1'",
            "update charge set bestand = bestand - 1 where charge_nr = 'A1'",
        ),
        (
            "number gap",
            "update nummernkreis set letzte = letzte + 1 where reihe = 'EL'",
            "update nummernkreis set letzte = letzte - 1 where reihe = 'EL'",
        ),
        (
            "reference",
            "insert into staffelpreis values (1, zeroblob(16), 1, 1, 1)",
            "delete from staffelpreis where artikel_id = zeroblob(16)",
        ),
        (
            "goods are open of another partner",
            "update lager_offen set kunde_id = zeroblob(16)",
            "update lager_offen set kunde_id = (select kunde_id from beleg)",
        ),
        (
            "goods of a position are open twice",
            "insert into lager_offen
               (tenant_id, kunde_id, beleg_typ, artikel_id, fach, beleg_id, position, nr, charge_id, menge, gesamt)
             select tenant_id, kunde_id, beleg_typ, artikel_id, 0, beleg_id, position, nr + 1, charge_id, 1, 1
             from lager_offen",
            "delete from lager_offen where nr = 1",
        ),
        (
            "more was moved than is open",
            "update beleg_position set lager_menge = lager_menge + 1",
            "update beleg_position set lager_menge = lager_menge - 1",
        ),
        (
            "more is open than a position has",
            "update lager_offen set menge = menge + 1, gesamt = gesamt + 1",
            "update lager_offen set menge = menge - 1, gesamt = gesamt - 1",
        ),
        ("schema", "create table fremd (x)", "drop table fremd"),
    ];
    for (name, tamper, undo) in cases {
        let change = |sql: &str| {
            let connection = folder.database();
            connection.execute_batch("pragma foreign_keys = off").unwrap();
            connection.execute_batch(sql).unwrap();
        };
        change(tamper);
        let output = folder.run(&["check"]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(!output.stdout.is_empty() && !output.stderr.is_empty(), "{name}");
        change(undo);
        assert_eq!(folder.run(&["check"]).status.code(), Some(0), "{name} undone");
    }
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let folder = Folder::new();
    folder.company("Mühle");
    let newer = "insert into migration (version, name, applied_on, checksum)
        select 999, 'zukunft', applied_on, checksum from migration limit 1";
    folder.database().execute_batch(newer).unwrap();
    for command in ["migrate", "serve --listen 127.0.0.1:0", "tenant create Neu", "key list"] {
        refused(&folder.run(&command.split(' ').collect::<Vec<_>>()), &["999"]);
    }
}

/// Starts the demo; returns its server, the key and the commands that it prints.
fn demo(folder: &Folder) -> (Running, String, Vec<String>) {
    let mut server = Running::start(folder.command(&["demo", "--listen", "127.0.0.1:0"]));
    let key = server.line();
    let commands = (0..3).map(|_| server.line()).collect();
    (server, key, commands)
}

#[test]
fn the_demo_names_a_key_and_three_commands_that_work() {
    let folder = Folder::new();
    let (mut server, key, commands) = demo(&folder);
    assert!(key.starts_with("ak_"), "{key}");
    for command in commands {
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        let answer = json_of(&String::from_utf8_lossy(&output.stdout));
        let rows = answer["data"].as_array().or(answer.as_array());
        assert!(rows.is_some_and(|rows| !rows.is_empty()), "{command}: {answer}");
    }
    let client = server.client(&key);
    let endpoints = client.get("/api/v1").body["endpoints"].to_string();
    for path in [
        "artikel",
        "artikelgruppen",
        "kunden",
        "wiegungen",
        "chargen",
        "belege",
        "kontrakte",
        "barverkaeufe",
        "produktionsauftraege",
        "annahmescheine",
    ] {
        if !endpoints.contains(&format!("GET /api/v1/{path}\"")) {
            continue;
        }
        let body = client.get(&format!("/api/v1/{path}")).body;
        let rows = body["data"].as_array().or(body.as_array());
        assert!(rows.is_some_and(|rows| !rows.is_empty()), "{path}: {body}");
    }
    let dokumente = client.get("/api/v1/dokumente?since=2000-01-01").body;
    let archived = dokumente.as_array().unwrap().iter().find(|row| row["pdf_url"].is_string()).unwrap();
    let pdf = client.get(archived["pdf_url"].as_str().unwrap());
    assert!(pdf.body["datei_base64"].as_str().is_some_and(|text| text.starts_with("JVBERi0")));
    assert!(!folder.file("partnerd.db").exists());
    refused(&folder.run(&["demo", "--listen", "127.0.0.1:0"]), &["partnerd-demo.db"]);
    server.signal("TERM");
    assert_eq!(server.end(), (Default::default(), String::new()));
    folder.result(&["--db", "partnerd-demo.db", "check"]);
}

#[test]
fn a_second_demo_begins_afresh() {
    let folder = Folder::new();
    let (mut first, old_key, _) = demo(&folder);
    let people = first.client(&old_key).get("/api/v1/kunden").body["count"].clone();
    assert_eq!(first.client(&old_key).post("/api/v1/kunden", &json!({"name": "Neu"})).status, 201);
    first.kill();
    let (second, key, _) = demo(&folder);
    assert_ne!(key, old_key);
    assert_eq!(second.client(&key).get("/api/v1/kunden").body["count"], people);
    assert_eq!(second.client(&old_key).get("/api/v1/kunden").status, 401);
}
