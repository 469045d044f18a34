//! Seals with the real executable: the secret stands beside the database and goes nowhere by itself; without it, as on
//! another machine, the service goes on and says so.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::process::Folder;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::audit::Row;
use partnerd::rules::day;
use rusqlite::Connection;
use serde_json::{Value, json};

/// A mill with a final document and its PDF, and rows in its log.
fn mill() -> (Folder, String) {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    work(&folder, &key);
    (folder, key)
}

/// Serves some requests.
fn work(folder: &Folder, key: &str) {
    let mut server = folder.serve(&[]);
    let client = server.client(key);
    let kunde = client.post("/api/v1/kunden", &json!({"name": "Huber"})).body["id"].clone();
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "1.00"}]);
    let answer =
        client.post("/api/v1/belege", &json!({"beleg_typ": "AN", "kunden_id": kunde, "items": items}));
    let path = format!("/api/v1/belege/{}/pdf", answer.body["id"].as_str().unwrap());
    assert_eq!(client.post(&path, &json!({"datei_base64": "JVBERi0xLjQKJSVFT0YK"})).status, 201);
    assert_eq!(client.get("/api/v1/laender?limit=1").status, 200);
    server.signal("TERM");
    assert!(server.end().0.success());
}

fn verify(folder: &Folder, database: &str) -> Value {
    let printed = folder.result(&["--json", "--db", database, "audit", "verify"]);
    serde_json::from_str(&printed).unwrap()
}

/// What `check` and `doctor` say of the seals.
fn said(folder: &Folder, database: &str) -> (String, String) {
    let check: Value = serde_json::from_str(&folder.result(&["--json", "--db", database, "check"])).unwrap();
    let rule =
        check.as_array().unwrap().iter().find(|line| line["rule"].as_str().unwrap().contains("Siegel"));
    let doctor = folder.run(&["--json", "--db", database, "doctor"]);
    let doctor: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let look = doctor.as_array().unwrap().iter().find(|finding| finding["look"] == "seals").unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&rule.unwrap()["finding"]), format!("{}: {}", text(&look["state"]), text(&look["finding"])))
}

/// A server whose log goes to a file; it is killed when it is dropped.
struct Logged<'f>(Child, &'f Folder);

impl<'f> Logged<'f> {
    fn start(folder: &'f Folder, database: &str) -> Logged<'f> {
        let log = File::create(folder.file("log")).unwrap();
        let mut command = folder.command(&["--db", database, "serve", "--listen", "127.0.0.1:0"]);
        Logged(command.stdout(Stdio::null()).stderr(log).spawn().unwrap(), folder)
    }

    /// Waits until the log says this.
    fn says(&self, words: &str) {
        let until = Instant::now() + Duration::from_secs(120);
        loop {
            let log = std::fs::read_to_string(self.1.file("log")).unwrap();
            if log.contains(words) {
                return;
            }
            assert!(Instant::now() < until, "{words:?} is not in the log: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn secret_of(folder: &Folder, database: &str) -> String {
    std::fs::read_to_string(folder.file(&format!("{database}-secret"))).unwrap()
}

#[test]
fn the_secret_is_made_once_for_its_owner_and_is_in_no_database_and_no_backup() {
    let (folder, _) = mill();
    let rights = std::fs::metadata(folder.file("partnerd.db-secret")).unwrap().permissions();
    assert_eq!(rights.mode() & 0o777, 0o600);
    let text = secret_of(&folder, "partnerd.db");
    let secret = text.lines().find_map(|line| line.strip_prefix("secret ")).unwrap();
    let bytes: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).unwrap()).collect();
    folder.result(&["backup", "b.db"]);
    assert!(!folder.file("b.db-secret").exists());
    for file in ["partnerd.db", "b.db"] {
        let content = std::fs::read(folder.file(file)).unwrap();
        let has = |needle: &[u8]| content.windows(needle.len()).any(|part| part == needle);
        assert!(!has(&bytes) && !has(secret.as_bytes()), "{file}");
        assert!(has("Huber".as_bytes()), "the search finds what is there");
    }
    let id = Connection::open(folder.file("partnerd.db"))
        .unwrap()
        .query_row("select lower(hex(geheimnis)) from siegel_beginn", [], |row| row.get::<_, String>(0))
        .unwrap();
    let (check, doctor) = said(&folder, "partnerd.db");
    for said in [&check, &doctor, verify(&folder, "partnerd.db")["seals"].as_str().unwrap()] {
        assert!(said.contains(&id) && said.contains("seit die Datenbank angelegt wurde"), "{said}");
    }
    assert!(doctor.starts_with("ok"), "{doctor}");
    std::fs::set_permissions(folder.file("partnerd.db-secret"), Permissions::from_mode(0o644)).unwrap();
    assert!(said(&folder, "partnerd.db").1.contains("chmod 600"));
}

#[test]
fn a_backup_with_its_secret_goes_on_sealed_and_one_without_begins_anew() {
    let (folder, key) = mill();
    folder.result(&["backup", "mit.db", "--with-secret"]);
    let rights = std::fs::metadata(folder.file("mit.db-secret")).unwrap().permissions();
    assert_eq!(rights.mode() & 0o777, 0o600);
    folder.result(&["backup", "ohne.db"]);
    folder.result(&["--db", "a.db", "restore", "mit.db"]);
    assert_eq!(secret_of(&folder, "a.db"), secret_of(&folder, "partnerd.db"));
    let sealed = verify(&folder, "a.db");
    assert!(
        sealed["sealed"] == true
            && sealed["seals"].as_str().unwrap().contains("seit die Datenbank angelegt wurde")
    );
    // Another machine: nothing but the backup is there.
    let other = Folder::new();
    std::fs::copy(folder.file("ohne.db"), other.file("ohne.db")).unwrap();
    let unsealed = verify(&other, "ohne.db");
    assert!(
        unsealed["sealed"] == false
            && unsealed["seals"].as_str().unwrap().contains("kein lesbares Geheimnis"),
        "{unsealed}"
    );
    other.result(&["restore", "ohne.db"]);
    assert_ne!(secret_of(&other, "partnerd.db"), secret_of(&folder, "partnerd.db"));
    let (check, doctor) = said(&other, "partnerd.db");
    for said in [check, doctor] {
        assert!(
            said.contains("seit ein anderes Geheimnis daneben liegt; Älteres beweisen nur Prüfsummen"),
            "{said}"
        );
    }
    assert_eq!(verify(&other, "partnerd.db")["sealed"], true);
    let named = "select count(*) || group_concat(anlass) || count(distinct geheimnis) from siegel_beginn";
    let named: String = other.database().query_row(named, [], |row| row.get(0)).unwrap();
    assert_eq!(named, "2neu,geheimnis2", "each beginning names its secret");
    work(&other, &key);
    other.result(&["check"]);
    let last: i64 = other.database().query_row("select max(nr) from audit", [], |row| row.get(0)).unwrap();
    // What came after the restore is sealed, what was there is bound by the head that was sealed then.
    for row in [1, last] {
        let copy = other.file("copy.db");
        let _ = std::fs::remove_file(&copy);
        other.database().execute("vacuum into ?1", [copy.to_str().unwrap()]).unwrap();
        std::fs::copy(other.file("partnerd.db-secret"), other.file("copy.db-secret")).unwrap();
        let change = format!("update audit set status = 418 where nr = {row}");
        assert!(Connection::open(&copy).unwrap().execute(&change, []).unwrap() > 0);
        assert!(!other.run(&["--db", "copy.db", "audit", "verify"]).status.success(), "row {row}");
    }
    // A restore over a database of another secret keeps the secret that is there.
    let kept = secret_of(&other, "partnerd.db").lines().nth(1).unwrap().to_owned();
    std::fs::copy(folder.file("mit.db"), other.file("mit.db")).unwrap();
    std::fs::copy(folder.file("mit.db-secret"), other.file("mit.db-secret")).unwrap();
    other.result(&["restore", "mit.db"]);
    assert_eq!(secret_of(&other, "partnerd.db").lines().nth(1).unwrap(), kept);
    assert_eq!(verify(&other, "partnerd.db")["sealed"], true);
    other.result(&["check"]);
}

/// Whoever copies the file by hand has no secret there, or one that belongs to another.
#[test]
fn a_database_without_its_secret_is_served_and_begins_anew() {
    let (folder, _) = mill();
    let other = Folder::new();
    let copy = other.file("partnerd.db");
    folder.database().execute("vacuum into ?1", [copy.to_str().unwrap()]).unwrap();
    let (check, doctor) = said(&other, "partnerd.db");
    assert!(
        check.contains("kein lesbares Geheimnis")
            && doctor.contains("warning: neben der Datenbank liegt kein lesbares Geheimnis"),
        "{check} {doctor}"
    );
    // Nothing is broken, and nobody is told that more was proved than was.
    for (arguments, words) in [
        (&["check"][..], "Siegel: neben der Datenbank liegt kein lesbares Geheimnis"),
        (&["audit", "verify"], "nach ihren Prüfsummen keine geändert"),
    ] {
        let output = other.run(arguments);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success() && said.contains(words), "{said}");
    }
    let log = Logged::start(&other, "partnerd.db");
    log.says("a new chain of seals begins");
    log.says("versiegelt wurde mit einem anderen Geheimnis");
    log.says("Älteres beweisen nur Prüfsummen");
    drop(log);
    assert_eq!(verify(&other, "partnerd.db")["sealed"], true);
    other.result(&["check"]);
    // Another database in the same place, with the secret of before.
    std::fs::copy(folder.file("partnerd.db"), &copy).unwrap();
    for ending in ["wal", "shm"] {
        let _ = std::fs::remove_file(other.file(&format!("partnerd.db-{ending}")));
    }
    Logged::start(&other, "partnerd.db").says("hier wurde von Hand eine andere Datenbank hingelegt");
    let output = other.run(&["audit", "verify"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("partnerd restore"), "{said}");
    // Who knows what they do moves the secret away.
    std::fs::rename(other.file("partnerd.db-secret"), other.file("old-secret")).unwrap();
    Logged::start(&other, "partnerd.db").says("a new chain of seals begins");
    assert_eq!(verify(&other, "partnerd.db")["sealed"], true);
    // What was sealed with another secret cannot be altered either: its head was sealed anew.
    let change = |sql: &str| other.database().execute_batch(sql).unwrap();
    for (alter, undo) in [
        (
            "update audit set pfad = 'x' || pfad where nr = 2",
            "update audit set pfad = substr(pfad, 2) where nr = 2",
        ),
        ("update kette set mac_ab_nr = mac_ab_nr + 1", "update kette set mac_ab_nr = mac_ab_nr - 1"),
    ] {
        change(alter);
        assert!(!other.run(&["audit", "verify"]).status.success(), "{alter}");
        change(undo);
        other.result(&["audit", "verify"]);
    }
}

/// As a command leaves it that is killed when it has made the database and not yet the secret: what others
/// wrote then has no seals, and the log that begins later has.
#[test]
fn a_database_that_was_used_before_it_had_a_secret_is_sealed_from_its_first_start_on() {
    let folder = Folder::new();
    partnerd::platform::db::migrate::migrate(&folder.file("partnerd.db"), day::Instant::from_millis(0))
        .unwrap();
    let key = folder.company("Mühle");
    assert!(!folder.file("partnerd.db-secret").exists());
    work(&folder, &key);
    folder.result(&["check"]);
    folder.result(&["backup", "b.db"]);
    let verified = folder.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn a_secret_that_cannot_be_read_keeps_no_server_from_starting() {
    let (folder, key) = mill();
    let whole = secret_of(&folder, "partnerd.db");
    folder.write("partnerd.db-secret", "secret 12\n");
    let log = Logged::start(&folder, "partnerd.db");
    log.says("nothing is sealed");
    log.says("partnerd.db-secret ist beschädigt");
    drop(log);
    let doctor = folder.run(&["--json", "doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("partnerd.db-secret ist beschädigt"));
    work(&folder, &key);
    // Nobody can tell what came in meanwhile from what was forged.
    folder.write("partnerd.db-secret", &whole);
    let output = folder.run(&["audit", "verify"]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("wurde geändert"));
}

/// What a command wrote without the seals of the others would be taken for forged.
#[test]
fn a_command_that_cannot_read_the_secret_writes_nothing() {
    let (folder, _) = mill();
    let whole = secret_of(&folder, "partnerd.db");
    folder.write("partnerd.db-secret", "secret 12\n");
    let output = folder.run(&["tenant", "create", "Zwei"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("partnerd.db-secret ist beschädigt"), "{said}");
    folder.write("partnerd.db-secret", &whole);
    folder.result(&["check"]);
    folder.result(&["tenant", "create", "Zwei"]);
    folder.result(&["check"]);
}

#[test]
fn where_the_log_ends_is_said_in_the_log_of_the_server() {
    let (folder, _) = mill();
    let am = jiff::Timestamp::now().as_millisecond() - 2 * 86_400_000;
    let row = Row { am, pfad: "/x".to_owned(), status: 401, anzahl: 1, ..Row::default() };
    row.insert(&open_writer(&folder.file("partnerd.db")).unwrap()).unwrap();
    let last =
        "select 'Zeile ' || nr || ' Prüfsumme ' || lower(hex(pruefsumme)) from audit where pfad = '/x'";
    let last: String = folder.database().query_row(last, [], |row| row.get(0)).unwrap();
    let log = Logged::start(&folder, "partnerd.db");
    log.says(&format!("the audit log ends with: Kette der Anfragen {last}"));
}
