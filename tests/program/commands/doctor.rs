use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;

use serde_json::Value;

use crate::process::Folder;

/// State and finding of every line about this subject.
fn looked(output: &std::process::Output, look: &str) -> Vec<(String, String)> {
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    let found = findings.iter().filter(|finding| finding["look"] == look);
    found.map(|finding| (text(finding, "state"), text(finding, "finding"))).collect()
}

/// Whether this runs as root, who alone can change the owner of a file.
fn is_root(folder: &Folder) -> bool {
    std::fs::metadata(folder.path()).unwrap().uid() == 0
}

#[test]
fn a_healthy_file_of_another_user_is_no_damage() {
    let folder = Folder::new();
    folder.company("Mühle");
    if !is_root(&folder) {
        return;
    }
    // Anybody may enter the folder and run the program, but only the owner may read the files.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let program = folder.file("partnerd");
    std::fs::copy(env!("CARGO_BIN_EXE_partnerd"), &program).unwrap();
    let run = || {
        let mut other = std::process::Command::new(&program);
        other.current_dir(folder.path()).args(["--json", "doctor"]).uid(65_534).output()
    };
    // A process that another test starts at this moment may have the copy open for a while.
    let other = loop {
        match run() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            ran => break ran.unwrap(),
        }
    };
    let [(state, finding)] = looked(&other, "database").try_into().unwrap();
    assert_eq!(state, "wrong");
    for word in ["partnerd.db", "des Benutzers root", "nicht lesen darf", "sudo -u"] {
        assert!(finding.contains(word), "{finding}");
    }
    assert!(!finding.contains("restore"), "{finding}");
    // Control: the damaged file is replaced.
    std::fs::write(folder.file("partnerd.db"), vec![7; 8_192]).unwrap();
    let [(state, finding)] = looked(&folder.run(&["--json", "doctor"]), "database").try_into().unwrap();
    assert!(state == "wrong" && finding.contains("partnerd restore"), "{finding}");
}

#[test]
fn files_with_the_wrong_owner_are_named() {
    let folder = Folder::new();
    folder.company("Mühle");
    let owner = || looked(&folder.run(&["--json", "doctor"]), "owner");
    assert_eq!(owner()[0].0, "ok");
    if !is_root(&folder) {
        return;
    }
    chown(folder.file("partnerd.db-secret"), Some(65_534), None).unwrap();
    let [(state, finding)] = owner().try_into().unwrap();
    assert_eq!(state, "wrong");
    assert!(finding.contains("partnerd.db-secret") && finding.contains("chown root"), "{finding}");
    assert!(!finding.contains("partnerd.db-lock"), "{finding}");
}

#[test]
fn files_that_nobody_uses_are_named_with_what_to_do() {
    let folder = Folder::new();
    folder.company("Mühle");
    let files = || looked(&folder.run(&["--json", "doctor"]), "files");
    assert_eq!(files(), [("ok".to_owned(), "daneben liegt nichts, was niemand benutzt".to_owned())]);
    let cases = [
        ("partnerd.db-audit-damaged-7", "Zeilen des Protokolls"),
        ("partnerd.db-restore-part-12", "abgebrochen"),
        ("partnerd.db-before-v3-2026-01-01", "vor einem Zurückholen"),
        ("partnerd.db-audit-journal-x", "keine Datei von partnerd"),
        ("partnerd.db-kopie", "keine Datei von partnerd"),
    ];
    for (name, _) in cases {
        folder.write(name, "");
    }
    // A file of another database, and one that belongs there.
    folder.write("partnerd.db2-kopie", "");
    folder.write("partnerd.db-audit-journal-99", "");
    let found = files();
    assert_eq!(found.len(), 4, "{found:?}");
    for (name, word) in cases {
        let named =
            found.iter().find(|(_, finding)| finding.contains(name)).unwrap_or_else(|| panic!("{name}"));
        assert!(named.0 == "warning" && named.1.contains(word), "{name}: {named:?}");
    }
    assert!(
        !found.iter().any(|(_, finding)| finding.contains("db2") || finding.contains("journal-99")),
        "{found:?}"
    );
}

#[test]
fn from_where_the_pages_are_reached_is_said() {
    let folder = Folder::new();
    folder.company("Mühle");
    folder.result(&["tls", "self-signed", "--name", "muehle.local"]);
    let tls =
        "tls_certificate = \"partnerd-cert.pem\"\ntls_key = \"partnerd-key.pem\"\nleitstand = \"netz\"\n";
    let proxy = "leitstand = \"netz\"\ntrusted_proxies = \"127.0.0.1\"\n";
    for (settings, state, words) in [
        ("", "ok", &["nur für diesen Rechner", "http://127.0.0.1:8080/leitstand"][..]),
        ("listen = \"0.0.0.0:81\"", "ok", &["nur für diesen Rechner", "http://localhost:81/leitstand"]),
        ("listen = \"[::1]:81\"", "ok", &["http://[::1]:81/leitstand"]),
        (
            "listen = \"192.0.2.7:81\"",
            "warning",
            &["192.0.2.7:81", "leitstand = \"netz\"", "listen = \"0.0.0.0:81\""],
        ),
        ("leitstand = \"aus\"", "ok", &["aus", "leitstand"]),
        (
            &format!("{tls}listen = \"0.0.0.0:8443\""),
            "ok",
            &["für das Netz", "https://ADRESSE:8443/leitstand", "hosts"],
        ),
        (&format!("{tls}listen = \"192.0.2.7:8443\""), "ok", &["https://192.0.2.7:8443/leitstand", "hosts"]),
        (
            &format!("{tls}listen = \"0.0.0.0:8443\"\nhosts = \"Muehle.local, WAAGE_1, [2001:DB8::4]\""),
            "ok",
            &["https://muehle.local:8443/leitstand, https://waage_1:8443/leitstand, \
               https://[2001:db8::4]:8443/leitstand"],
        ),
        (
            tls,
            "warning",
            &["127.0.0.1:8080", "nur Verbindungen dieses Rechners", "listen = \"0.0.0.0:8080\""],
        ),
        (proxy, "warning", &["hinter dem Proxy", "hosts nennt keinen"]),
        (&format!("{proxy}hosts = \"muehle.example\""), "ok", &["hinter dem Proxy", "als muehle.example"]),
    ] {
        let config = folder.write("partnerd.toml", settings);
        let output = folder.run(&["--json", "--config", &config, "doctor"]);
        let [(found, finding)] = looked(&output, "leitstand").try_into().unwrap();
        assert_eq!(found, state, "{settings}: {finding}");
        for word in words {
            assert!(finding.contains(word), "{settings}: {word:?} is not named: {finding}");
        }
        let has_people = !looked(&output, "people").is_empty();
        assert_eq!(has_people, !settings.contains("aus"), "{settings}");
    }
}

#[test]
fn settings_of_the_pages_that_cannot_hold_are_named_before_the_start() {
    let folder = Folder::new();
    folder.company("Mühle");
    let cases = [
        ("leitstand = \"netz\"", &["netz", "ohne TLS", "tls_certificate", "trusted_proxies"][..]),
        ("leitstand = \"offen\"", &["leitstand", "lokal", "netz", "aus"]),
        ("hosts = \"https://muehle.local\"", &["hosts", "https://muehle.local", "ohne http"]),
        ("hosts = \"muehle.local:8443\"", &["muehle.local:8443", "Port"]),
        ("hosts = \"muehle.local/leitstand\"", &["muehle.local/leitstand", "Pfad"]),
        ("hosts = \"waage.local, muehle local\"", &["muehle local", "Leerzeichen"]),
        ("hosts = \"muehle.local.\"", &["muehle.local."]),
        ("hosts = \"*.muehle.local\"", &["*.muehle.local"]),
        ("hosts = \".local\"", &["\".local\""]),
        ("hosts = \"mühle.local\"", &["mühle.local"]),
    ];
    for (settings, words) in cases {
        let config = folder.write("partnerd.toml", settings);
        for command in ["doctor", "serve"] {
            let output = folder.run(&["--config", &config, command]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{settings}: {said}");
            for word in words {
                assert!(said.contains(word), "{settings}: {command}: {word:?} is not named: {said}");
            }
        }
    }
}
