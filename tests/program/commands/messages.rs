use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::json;

use crate::commands::said;
use crate::process::{Folder, Running};

#[test]
fn a_wrong_configuration_file_is_told_with_line_name_and_what_to_write() {
    let folder = Folder::new();
    let cases: &[(&str, &[&str])] = &[
        ("# Server\n\nlisten = \"localhost:8080\"", &["Zeile 3", "listen", "127.0.0.1:8080"]),
        ("listen = \":8080\"", &["Zeile 1", "0.0.0.0:8080", "127.0.0.1:8080"]),
        ("listen = \"8080\"", &["127.0.0.1:8080"]),
        ("listen = \"192.168.1.20\"", &["192.168.1.20:8080"]),
        ("listen = \"http://127.0.0.1:9000/\"", &["127.0.0.1:9000"]),
        ("listen = true", &["Zeile 1", "listen = \"127.0.0.1:8080\""]),
        (
            "db = \"a.db\"\n[server]\nlisten = \"127.0.0.1:1\"",
            &["Zeile 2", "[server]", "diese Zeile löschen"],
        ),
        ("[[server]]\na = 1", &["Zeile 1", "server"]),
        (
            "\nbackup_folder = \"D:\\Sicherung\\x\"",
            &["Zeile 2", "backup_folder = 'C:\\Ordner\\Datei'", "oder mit /"],
        ),
        (
            "backup_folder = \"D:\\temp\\neu\"",
            &["Zeile 1", "Steuerzeichen", "backup_folder = 'C:\\Ordner\\Datei'"],
        ),
        // Settings not in use yet are checked, too.
        ("backup_time = \"25:99\"", &["Zeile 1", "backup_time", "02:30"]),
        ("max_daily_limit = 0", &["Zeile 1", "max_daily_limit", "1 bis 4294967295"]),
        ("backup_keep = 0", &["Zeile 1", "backup_keep", "1 bis 10000"]),
        ("db = \"a.db\"\nmax_connetions = 5", &["Zeile 2", "max_connections = 12000"]),
        ("db = \"a.db\"\nkein toml", &["Zeile 2", "nicht zu lesen", "NAME = "]),
        ("header_timeout = 1.5", &["Zeile 1", "header_timeout = 30"]),
    ];
    for (text, words) in cases {
        let file = folder.write("p.toml", text);
        let complaint = said(&folder.run(&["--config", &file, "config"]), 1);
        assert_eq!(complaint.trim().lines().count(), 1, "{text:?}: {complaint}");
        for word in [&["p.toml"], *words].concat() {
            assert!(complaint.contains(word), "{text:?}: no {word:?} in {complaint}");
        }
    }
    let file = folder.write("p.toml", "\nbackup_folder = 'D:\\temp\\neu'");
    let shown = folder.result(&["--config", &file, "config"]);
    assert!(shown.contains("D:\\temp\\neu") && shown.contains("p.toml, Zeile 2"), "{shown}");
}

#[test]
fn an_address_that_cannot_be_listened_at_says_why() {
    let folder = Folder::new();
    // An address reserved for examples: no machine has it.
    let serve = |listen: &str| said(&folder.run(&["serve", "--listen", listen]), 1);
    let complaint = serve("192.0.2.1:8080");
    assert!(
        complaint.contains("keine Adresse 192.0.2.1") && complaint.contains("--listen 0.0.0.0:8080"),
        "{complaint}"
    );
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let complaint = serve(&other.local_addr().unwrap().to_string());
    assert!(complaint.contains("dort lauscht ein anderes Programm"), "{complaint}");
    assert!(!folder.file("partnerd.db").exists());
}

#[test]
fn a_browser_is_led_to_the_docs() {
    let folder = Folder::new();
    let server = folder.serve(&[]);
    let answer = request(&server.address, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 303 "), "{answer}");
    assert!(answer.lines().any(|line| line == "location: /docs"), "{answer}");
    let answer = request(
        &server.address,
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

fn request(address: &str, text: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_and_the_demo_name_the_docs() {
    let folder = Folder::new();
    for command in ["serve", "demo"] {
        let line = format!("exec {} {command} --listen 127.0.0.1:0 2> log", env!("CARGO_BIN_EXE_partnerd"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path());
        let mut server = Running::start(shell);
        let docs = format!("http://{}/docs", server.address);
        server.signal("TERM");
        server.end();
        let logged = std::fs::read_to_string(folder.file("log")).unwrap();
        assert!(logged.contains(&docs), "{command}: {docs} is not named: {logged}");
    }
    let complaint = said(&folder.run(&["--db", "eigene.db", "demo"]), 1);
    assert!(complaint.contains("partnerd-demo.db") && complaint.contains("partnerd serve"), "{complaint}");
}

#[test]
fn http_on_the_port_for_https_is_told_so() {
    let folder = Folder::new();
    folder.result(&["tls", "self-signed", "--name", "a"]);
    let file =
        folder.write("p.toml", "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"partnerd-key.pem\"");
    let mut command = folder.command(&["--config", &file, "serve", "--listen", "127.0.0.1:0"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    let address = line.trim().strip_prefix("partnerd listening on https://").unwrap().to_owned();
    let answer = request(&address, "GET /api/v1 HTTP/1.1\r\nhost: a\r\n\r\n");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https://"), "{answer}");
}

#[test]
fn check_ends_with_one_sentence() {
    let folder = Folder::new();
    folder.company("Mühle");
    let whole = said(&folder.run(&["check"]), 0);
    assert!(whole.trim().lines().count() == 1 && whole.contains("partnerd.db ist heil"), "{whole}");
    let wrong = "insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (1, 'RE', 2026, 7)";
    folder.database().execute_batch(wrong).unwrap();
    let broken = said(&folder.run(&["check"]), 1);
    assert!(broken.trim().lines().count() == 1 && broken.contains("Verstöße in"), "{broken}");
}

#[test]
fn a_rule_that_is_quoted_has_a_line_of_its_own() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let server = folder.serve(&[]);
    let client = server.client(&key);
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "Huber"})).status, 201);
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "1.00"}]);
    let body = json!({"beleg_typ": "RE", "kundennummer": "K-1001", "items": items});
    let number = client.post("/api/v1/belege", &body).body["beleg_nummer"].as_str().unwrap().to_owned();
    // The document is still open.
    let complaint = said(&folder.run(&["beleg", "erledigen", &number, "--tenant", "Mühle"]), 1);
    let lines: Vec<_> = complaint.lines().collect();
    let [refusal, rule] = lines.as_slice() else { panic!("{complaint}") };
    assert!(
        refusal.starts_with(&format!("partnerd: {number}: abgelehnt mit ")) && refusal.ends_with(':'),
        "{complaint}"
    );
    assert!(rule.starts_with("  ") && rule.contains(" ist "), "{complaint}");
    // Missing company data are reported the same way.
    let doctor = folder.run(&["doctor"]);
    let table = String::from_utf8(doctor.stdout).unwrap();
    assert!(table.contains("ust_id oder steuernummer"), "{table}");
}

#[test]
fn pages_for_people_are_not_opened_to_the_network_without_tls() {
    let folder = Folder::new();
    let refused = |text: &str| said(&folder.run(&["--config", &folder.write("netz.toml", text), "serve"]), 1);
    let complaint = refused("leitstand = \"netz\"");
    assert!(complaint.contains("tls_certificate") && complaint.contains("trusted_proxies"), "{complaint}");
    assert!(refused("leitstand = \"alle\"").contains("lokal"));
    // If a proxy speaks TLS, or only this machine is served, nothing is refused.
    for text in [
        "leitstand = \"netz\"\ntrusted_proxies = \"127.0.0.1\"",
        "leitstand = \"lokal\"",
        "leitstand = \"aus\"",
    ] {
        folder.result(&["--config", &folder.write("gut.toml", text), "config"]);
    }
}
