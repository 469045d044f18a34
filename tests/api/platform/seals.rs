//! Chains that hold (P12, P13): whatever somebody does to the file with plain SQL who knows how checksums are made, and
//! who has the program but not the secret, is found by `audit verify` or `check`.

mod documents;

use std::path::{Path, PathBuf};

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::audit::Row;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{Client, Server, cli};
use crate::platform::audit::{of_row, row, write_segment};

const PDF: &str = "JVBERi0xLjQKJSVFT0YK";
const OTHER_PDF: &str = "JVBERi0xLjQKWAolJUVPRgo=";

/// A mill that worked for three days: the log has twelve rows on each, there are final documents, one of them settled,
/// PDFs, history and attachments.
fn mill() -> Server {
    let mut server = Server::start_at("2026-07-08T10:00:00Z");
    let mill = server.company("Mühle");
    for day in ["2026-07-08", "2026-07-09", "2026-07-10"] {
        if day == "2026-07-10" {
            let settled = server.cli(&["beleg", "erledigen", "RE-2026-00001", "--tenant", "Mühle"]);
            assert!(settled.status.success(), "{}", String::from_utf8_lossy(&settled.stderr));
        }
        server.set_clock(&format!("{day}T10:00:00Z"));
        day_of(&server.client(mill.tenant, mill.key.clone()), day);
        server.restart();
    }
    server
}

fn day_of(mill: &Client, day: &str) {
    let kunde = mill.post("/api/v1/kunden", json!({"name": format!("Hof {day}")})).id();
    let file = json!({"dateiname": format!("{day}.txt"), "inhalt_base64": "SGFsbG8="});
    mill.post(&format!("/api/v1/kunden/{kunde}/dokumente"), file).is(201);
    mill.put(&format!("/api/v1/kunden/{kunde}"), json!({"telefon": "0815"})).is(200);
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19}]);
    let document = |typ: &str| {
        let body = json!({"beleg_typ": typ, "kunden_id": kunde, "items": items});
        mill.post("/api/v1/belege", body).id()
    };
    let (first, second, last) = (document("RE"), document("RE"), document("AN"));
    mill.put(&format!("/api/v1/belege/{first}"), json!({"notizen": "eilt"})).is(200);
    mill.post(&format!("/api/v1/belege/{first}/pdf"), json!({"datei_base64": PDF})).is(201);
    for id in [second, last] {
        mill.post(&format!("/api/v1/belege/{id}/abschliessen"), json!({})).is(200);
        mill.post(&format!("/api/v1/belege/{id}/pdf"), json!({"datei_base64": OTHER_PDF})).is(201);
    }
}

/// Rows of the log of each day of [`mill`].
const ROWS: i64 = 12;
const LAST: i64 = 3 * ROWS;

/// Whoever has the file and the program, but not the secret.
struct Forger {
    file: PathBuf,
}

impl Forger {
    /// A copy of the database of a server, without the secret.
    fn of(server: &Server) -> Forger {
        let file = server.database.with_file_name("copy.db");
        for ending in ["", "-wal", "-shm", "-secret", "-lock", "-use-lock"] {
            let _ = std::fs::remove_file(file.with_file_name(format!("copy.db{ending}")));
        }
        let target = file.to_str().unwrap();
        open_writer(&server.database).unwrap().execute("vacuum into ?1", [target]).unwrap();
        Forger { file }
    }

    /// Plain SQL; triggers do not hinder it, and stand there afterwards as before.
    fn sql(&self, statements: &str) {
        let connection = Connection::open(&self.file).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        let triggers: Vec<(String, String)> = connection
            .prepare("select name, sql from sqlite_schema where type = 'trigger'")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        triggers
            .iter()
            .for_each(|(name, _)| connection.execute_batch(&format!("drop trigger {name}")).unwrap());
        connection.execute_batch(statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
        triggers.iter().for_each(|(_, sql)| connection.execute_batch(sql).unwrap());
    }

    /// Writes the rows anew from a number on, as they should have been, with the checksums that belong to them.
    fn rewrite(&self, from: i64, forge: impl FnOnce(&mut Vec<Row>)) {
        let mut rows = self.rows(from);
        forge(&mut rows);
        self.sql(&format!(
            "delete from audit where nr >= {from};
             update kette set letzte_nr = {from} - 1, pruefsumme = coalesce(
               (select pruefsumme from audit where nr = {from} - 1), ab_pruefsumme) where name = 'audit'"
        ));
        self.add(&rows);
    }

    /// Adds rows as the program does that does not know the secret.
    fn add(&self, rows: &[Row]) {
        let connection = open_writer(&self.file).unwrap();
        rows.iter().for_each(|row| row.insert(&connection).unwrap());
    }

    /// The rows from a number on.
    fn rows(&self, from: i64) -> Vec<Row> {
        let connection = Connection::open(&self.file).unwrap();
        let select = format!(
            "select am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, dauer_us, bytes_ein,
               bytes_aus, subjekt, anzahl from audit where nr >= {from} order by nr"
        );
        let mut statement = connection.prepare(&select).unwrap();
        let rows = statement.query_map([], |row| {
            Ok(Row {
                am: row.get(0)?,
                request_id: row.get(1)?,
                key_id: row.get(2)?,
                tenant_id: row.get(3)?,
                adresse: row.get(4)?,
                methode: row.get(5)?,
                route_id: row.get(6)?,
                pfad: row.get(7)?,
                status: row.get(8)?,
                dauer_us: row.get(9)?,
                bytes_ein: row.get(10)?,
                bytes_aus: row.get(11)?,
                subjekt: row.get(12)?,
                anzahl: row.get(13)?,
                ..Row::default()
            })
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// What `audit verify` and `check` say, both together; nothing where both are content.
    fn said(&self) -> String {
        let mut said = String::new();
        for command in [&["audit", "verify"][..], &["check"]] {
            let output = cli(&self.file, command);
            if !output.status.success() {
                said += &String::from_utf8_lossy(&output.stderr);
                said += &String::from_utf8_lossy(&output.stdout);
            }
        }
        said
    }

    /// The same where the secret is.
    fn said_with_secret(&self, server: &Server) -> String {
        std::fs::copy(secret(&server.database), secret(&self.file)).unwrap();
        let said = self.said();
        std::fs::remove_file(secret(&self.file)).unwrap();
        said
    }
}

fn secret(database: &Path) -> PathBuf {
    database.with_file_name(format!("{}-secret", database.file_name().unwrap().to_str().unwrap()))
}

/// What was done, what must be said of it, and whether checksums alone find it as well.
type Attack = (&'static str, String, bool, Box<dyn Fn(&Forger)>);

fn sql(statements: &str) -> Box<dyn Fn(&Forger)> {
    let statements = statements.to_owned();
    Box::new(move |forger| forger.sql(&statements))
}

/// Cuts the rows up to a number, as the rollover does.
fn cut_until(number: i64) -> String {
    format!(
        "update kette set ab_nr = {number}, ab_pruefsumme = (select pruefsumme from audit where nr = {number})
           where name = 'audit';
         delete from audit where nr <= {number}"
    )
}

/// Cuts the rows behind a number.
fn cut_behind(number: i64) -> String {
    format!(
        "delete from audit where nr > {number};
         update kette set letzte_nr = {number}, pruefsumme = (select pruefsumme from audit where nr = {number})
           where name = 'audit'"
    )
}

const NEWEST: &str = "id = (select max(id) from beleg where ereignis_am is not null)";

const ALTERED_END: &str = "das Ende der Kette der Anfragen wurde geändert";

fn attacks_on_the_log() -> Vec<Attack> {
    let altered_end = || ALTERED_END.to_owned();
    let altered = |number, day| of_row(number, &format!("geändert (vom 2026-07-{day})"));
    let no_seals = || "die Siegel wurden entfernt".to_owned();
    vec![
        ("the last row is cut", altered_end(), false, sql(&cut_behind(LAST - 1))),
        ("the last row of a day is cut, and the days behind it chained anew", altered(2 * ROWS, "10"), false,
         Box::new(|forger| forger.rewrite(2 * ROWS, |rows| drop(rows.remove(0))))),
        ("the first rows are cut", altered_end(), false, sql(&cut_until(3))),
        ("the first day is dropped", altered_end(), false, sql(&format!(
            "{}; update kette set ab_tag = (select max(tag) - 2 from audit) where name = 'audit'", cut_until(ROWS),
        ))),
        ("all days but the last are dropped", altered_end(), false, sql(&format!(
            "{}; update kette set ab_tag = (select max(tag) - 1 from audit) where name = 'audit'", cut_until(2 * ROWS),
        ))),
        ("days are said to have been dropped", altered_end(), false, sql("update kette set ab_tag = 1 where \
             name = 'audit'")),
        ("a day in the middle is removed, and the next one chained to the one before \
             it", altered(ROWS + 1, "10"), false,
         Box::new(|forger| forger.rewrite(ROWS + 1, |rows| drop(rows.drain(..ROWS as usize))))),
        ("the last day is removed", altered_end(), false, sql(&cut_behind(2 * ROWS))),
        ("the whole log is removed", altered_end(), false, sql(
            "delete from audit; update kette set letzte_nr = 0, pruefsumme = zeroblob(32) where name = 'audit'",
        )),
        ("the whole log is dropped", altered_end(), false, sql(&cut_until(LAST))),
        ("the whole log is removed with its head", "das Ende der Kette der Anfragen wurde \
             entfernt".to_owned(), true, sql(
            "delete from audit; delete from kette where name = 'audit'",
        )),
        ("the whole log and all seals are removed", no_seals(), false, sql(
            "delete from audit; update kette set letzte_nr = 0, pruefsumme = zeroblob(32) where name = 'audit';
             delete from siegel_beginn; update nachweis set mac = null; update kette set mac = null",
        )),
        ("all seals are removed", no_seals(), false, sql(
            "delete from siegel_beginn; update audit set mac = null; update nachweis set mac = null; update \
                 kette set mac = null",
        )),
        ("a row is altered and all behind it chained anew", altered(15, "09"), false, Box::new(|forger| {
            forger.rewrite(15, |rows| rows[0].pfad = "/api/v1/artikel".to_owned());
        })),
        ("a row is inserted and all behind it chained anew", altered(16, "09"), false, Box::new(|forger| {
            forger.rewrite(16, |rows| rows.insert(0, rows[1].clone()));
        })),
        ("a row is removed and all behind it chained anew", altered(17, "09"), false, Box::new(|forger| {
            forger.rewrite(17, |rows| drop(rows.remove(0)));
        })),
        ("a row is appended", altered(LAST + 1, "10"), false, Box::new(|forger| forger.add(&forger.rows(LAST)))),
        ("a row of an earlier day is appended", altered(LAST + 1, "08"), false, Box::new(|forger| {
            forger.add(&forger.rows(1)[..1]);
        })),
        ("a row is altered and has the seals of before", altered(LAST, "10"), false, Box::new(|forger| {
            forger.sql("create table seals as select nr, mac from audit; create table heads as select name, \
                 mac from kette");
            forger.rewrite(LAST, |rows| rows[0].status = 418);
            forger.sql("update audit set mac = (select s.mac from seals s where s.nr = audit.nr);
                        update kette set mac = (select h.mac from heads h where h.name = kette.name);
                        drop table seals; drop table heads");
        })),
        ("rows are said to be older than the seals", altered_end(), false, Box::new(|forger| {
            forger.rewrite(15, |rows| rows[0].status = 418);
            forger.sql("update kette set mac_ab_nr = letzte_nr where name = 'audit'");
        })),
        ("the seal of a row is gone", altered(2, "08"), false, sql("update audit set mac = null where nr = 2")),
        ("the seal of the log is gone", altered_end(), false, sql("update kette set mac = null where name = 'audit'")),
        ("the log has the seal of the evidence", altered_end(), false, sql(
            "update kette set mac = (select k.mac from kette k where k.name = 'nachweis') where name = 'audit'",
        )),
        ("a person is said to have acted", altered(2, "08"), true, sql(
            "update audit set person = 7, key_id = null where nr = 2",
        )),
        ("the seals are said to be of another secret", no_seals(), false, sql(
            "update siegel_beginn set geheimnis = randomblob(8)",
        )),
        ("the seals are said to have begun later", no_seals(), false, sql("update siegel_beginn set am = am + 1")),
        ("a further beginning is inserted", no_seals(), false, sql(
            "insert into siegel_beginn values (2, 1783677600000, randomblob(8), 'geheimnis', randomblob(32))",
        )),
        ("the first beginning is removed", "Anfang 1 der Siegel wurde entfernt".to_owned(), true, sql(
            "update siegel_beginn set nr = 2",
        )),
    ]
}

/// Opens the newest final document with SQL, alters it, and lets the program finalise it once more.
fn refinalise(forger: &Forger, more: &str) {
    let beleg = format!("(select id from beleg where {NEWEST})");
    let number: String = Connection::open(&forger.file)
        .unwrap()
        .query_row(&format!("select beleg_nummer from beleg where {NEWEST}"), [], |row| row.get(0))
        .unwrap();
    forger.sql(&format!(
        "{more}
         delete from beleg_verlauf where beleg_id = {beleg};
         update beleg set status = 'offen', ereignis_am = null, version = 1,
           notizen = 'bar bezahlt' where {NEWEST}"
    ));
    let output = cli(&forger.file, &["beleg", "abschliessen", &number, "--tenant", "Mühle"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn whoever_does_not_know_the_secret_cannot_alter_cut_or_forge_anything() {
    let server = mill();
    assert_eq!(server.sql::<i64>("select count(*) from audit"), LAST);
    let control = Forger::of(&server);
    assert_eq!(control.said_with_secret(&server), "", "the copy itself is whole");
    let proof = || -> Value {
        serde_json::from_slice(&cli(&control.file, &["--json", "audit", "verify"]).stdout).unwrap()
    };
    assert_eq!(proof()["sealed"], false, "and without the secret it is not sealed");
    let of_documents = documents::attacks().into_iter();
    let of_documents =
        of_documents.map(|(what, expected, found, attack)| (what, expected.to_owned(), found, attack));
    let attacks: Vec<_> = attacks_on_the_log().into_iter().chain(of_documents).collect();
    assert!(attacks.len() >= 40);
    for (what, expected, by_checksums, attack) in &attacks {
        let forger = Forger::of(&server);
        attack(&forger);
        // What checksums alone do not find is what the seals are for.
        assert_eq!(!forger.said().is_empty(), *by_checksums, "{what}, by checksums alone: {}", forger.said());
        let said = forger.said_with_secret(&server);
        assert!(said.contains(expected.as_str()), "{what}: {said:?}, expected: {expected}");
    }
}

/// What was altered is not sealed with what comes after it: the seal of a head is made anew only where it holds.
#[test]
fn what_was_forged_is_not_sealed_by_what_comes_after_it() {
    let server = mill();
    let forged = |statements: &str| {
        let forger = Forger::of(&server);
        forger.sql(statements);
        std::fs::copy(secret(&server.database), secret(&forger.file)).unwrap();
        // From here on the program writes that knows the secret: further rows, a further day, a further version.
        let row = forger.rows(2 * ROWS + 1).remove(0);
        let tomorrow = Row { am: row.am + 86_400_000, ..row.clone() };
        forger.add(&[row, tomorrow]);
        let settled = cli(&forger.file, &["beleg", "erledigen", "RE-2026-00002", "--tenant", "Mühle"]);
        assert!(settled.status.success(), "{settled:?}");
        forger.said()
    };
    assert_eq!(forged(""), "", "the control: what comes after is sealed");
    let cases = [
        (cut_behind(LAST - 1), ALTERED_END),
        (
            format!(
                "{}; update kette set ab_tag = (select max(tag) - 2 from audit) where name = 'audit'",
                cut_until(ROWS)
            ),
            ALTERED_END,
        ),
        (
            "update kette set mac = zeroblob(32) where name = 'nachweis'".to_owned(),
            "das Ende der Kette der Nachweise wurde geändert",
        ),
    ];
    for (statements, expected) in cases {
        let said = forged(&statements);
        assert!(said.contains(expected), "{statements}: {said:?}, expected: {expected}");
    }
}

#[test]
fn a_forged_line_of_the_journal_is_not_taken_in() {
    let mut server = Server::start();
    server.company("Mühle");
    write_segment(&server, 900, ["/wahr", "/auch-wahr", "/nochmal"].map(row).to_vec());
    let file = server.database.with_file_name("test.db-audit-journal-900");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let bare = lines[0].split('\t').next().unwrap();
    let forged = [
        bare.to_owned(),
        lines[0].replace("/wahr", "/falsch"),
        lines[0].replace("\t1\t", "\t4\t"),
        format!("{bare}\t4\t{}", "0".repeat(32)),
        // The same once more.
        lines[0].to_owned(),
    ];
    std::fs::write(&file, format!("{text}{}\n", forged.join("\n"))).unwrap();
    // A line that is true, but of another segment.
    std::fs::write(server.database.with_file_name("test.db-audit-journal-901"), &text).unwrap();
    server.restart();
    let paths =
        "select group_concat(pfad, ' ') from (select pfad from audit where methode = 'GET' order by nr)";
    assert_eq!(server.sql::<String>(paths), "/wahr /auch-wahr /nochmal");
    for kept in ["900", "901"] {
        assert!(server.database.with_file_name(format!("test.db-audit-damaged-{kept}")).exists(), "{kept}");
    }
    assert!(server.cli(&["audit", "verify"]).status.success());
}

/// Old rows with their old head hold by themselves: a backup tells.
#[test]
fn what_was_removed_since_a_backup_is_found_against_it() {
    let server = mill();
    let old = Forger::of(&server);
    std::fs::copy(secret(&server.database), secret(&old.file)).unwrap();
    let backup = server.database.with_file_name("backup.db");
    let backup = backup.to_str().unwrap();
    let verify = |file: &Path, against: &str| cli(file, &["audit", "verify", "--against", against]);
    let mill = server.client(1, Some(server.company("Andere").key.unwrap()));
    day_of(&mill, "später");
    server.cli(&["tenant", "set", "Mühle", "negativbestand=ablehnen"]);
    let report = server.cli(&["--json", "backup", backup]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let head = "select letzte_nr, lower(hex(pruefsumme)) from kette_kopie where name = 'audit'";
    let head = Connection::open(backup).unwrap().query_row(head, [], |row| Ok((row.get(0)?, row.get(1)?)));
    let (last, checksum): (i64, String) = head.unwrap();
    let end = format!(" Zeile {last} Prüfsumme {checksum}");
    assert!(report[0]["audit_head"].as_str().unwrap().ends_with(&end), "{report}");
    assert!(report[0]["evidence_head"].as_str().unwrap().starts_with("Kette der Nachweise"), "{report}");
    assert!(verify(&server.database, backup).status.success());
    assert_eq!(old.said(), "", "the old file alone is whole");
    let said_of_old = || String::from_utf8_lossy(&verify(&old.file, backup).stderr).into_owned();
    let said = said_of_old();
    let missing = format!(
        "die Kette der Anfragen bis Zeile {last} wurde seit der Sicherung ab Zeile {} entfernt",
        LAST + 1
    );
    assert!(said.contains(&missing), "{said}");
    let columns = "nr, am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, code, \
         dauer_us, bytes_ein,
        bytes_aus, subjekt, anzahl, person, pruefsumme, mac";
    old.sql(&format!(
        "attach '{backup}' as b; delete from audit; insert into audit ({columns}) select {columns} from b.audit;
         insert or replace into kette select * from b.kette where name = 'audit'"
    ));
    let said = said_of_old();
    assert!(said.contains("die Kette der Änderungen bis Zeile 2 wurde seit"), "{said}");
    let changes = "insert or ignore into verwaltung select * from b.verwaltung";
    let head = "insert or replace into kette select * from b.kette where name = 'verwaltung'";
    old.sql(&format!("attach '{backup}' as b; {changes}; {head}"));
    let said = said_of_old();
    assert!(said.contains("die Kette der Nachweise bis Zeile") && said.contains("entfernt"), "{said}");
    let output = verify(&Server::start().database, backup);
    assert!(String::from_utf8_lossy(&output.stderr).contains("einer anderen Datenbank"), "{output:?}");
}
