//! The PDF archive of documents (specification, BelegPdf; D21c).

use serde_json::{Value, json};

use super::{create, tell};
use crate::harness::Server;
use crate::trade::lager::{Mill, and};

/// `%PDF-1.4 eins`, `%PDF-1.4 zwei`, and the digest of the first.
const ONE: &str = "JVBERi0xLjQgZWlucw==";
const TWO: &str = "JVBERi0xLjQgendlaQ==";
const DIGEST: &str = "934c91ee8530098093f5d57a77eefbfc224df6f010dac1b599af26bb54bbb3a7";

fn content(base64: &str) -> Value {
    json!({"datei_base64": base64})
}

#[test]
fn the_first_pdf_is_archived_and_finalises() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE");
    let path = format!("/api/v1/belege/{id}/pdf");
    mill.client.get(&path).refused(404, "KEIN_PDF");
    assert_eq!(mill.get(&id)["pdf_url"], Value::Null);
    let answer = tell(&mill, &id, "pdf", content(ONE));
    let body = answer.is(201).as_object().unwrap();
    let expected = json!({"beleg_id": id, "beleg_nummer": "RE-2026-00001", "pdf_archiv_count": "1",
        "sha256": DIGEST, "status": "abgeschlossen"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&body[field], value, "{field}");
    }
    let beleg = mill.get(&id);
    assert_eq!(beleg["status"], "abgeschlossen");
    assert_eq!(beleg["pdf_url"].as_str().map(|url| url.ends_with(&path)), Some(true), "{beleg}");
    let newest = mill.client.get(&path).is(200).clone();
    let expected = json!({"beleg_id": id, "dateiname": "RE-2026-00001.pdf", "mime_type": "application/pdf",
        "datei_base64": ONE, "erstellt_am": "2026-07-10T10:00:00.000Z"});
    assert_eq!(newest, expected);
}

#[test]
fn the_archive_grows_with_each_new_content_and_serves_the_newest() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "LS");
    let path = format!("/api/v1/belege/{id}/pdf");
    let rows = [
        (ONE, 201, "1"),
        (ONE, 200, "1"),
        (TWO, 201, "2"),
        (TWO, 200, "2"),
        (ONE, 201, "3"),
        (ONE, 200, "3"),
    ];
    let mut ids = Vec::new();
    for (at, (base64, status, count)) in rows.into_iter().enumerate() {
        let name = format!("datei {at}.pdf");
        let answer = tell(&mill, &id, "pdf", and(content(base64), json!({"dateiname": name})));
        assert_eq!((answer.status, &answer.body["pdf_archiv_count"]), (status, &json!(count)), "row {at}");
        let newest = mill.client.get(&path);
        assert_eq!(newest.is(200)["datei_base64"], base64, "row {at}");
        if status == 201 {
            assert_eq!(newest.body["dateiname"], name, "row {at}");
        }
        ids.push(answer.id());
    }
    assert_eq!((&ids[0], &ids[2], &ids[4]), (&ids[1], &ids[3], &ids[5]), "a repeat is the same record");
}

#[test]
fn two_calls_at_once_archive_one_version() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE");
    std::thread::scope(|scope| {
        let call = || tell(&mill, &id, "pdf", content(ONE)).status;
        let mut codes = [scope.spawn(call), scope.spawn(call)].map(|thread| thread.join().unwrap());
        codes.sort();
        assert_eq!(codes, [200, 201]);
    });
    assert_eq!(server.sql::<i64>("select count(*) from beleg_pdf"), 1);
}

#[test]
fn what_is_no_pdf_is_refused() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE");
    let rows = [
        ("no PDF", json!("a2VpbiBQREY=")),
        ("nothing", json!("JVBER")),
        ("no base64", json!("%PDF-1.4")),
        ("wrong padding", json!("JVBERi0xLjQgZWlucw=")),
        ("a number", json!(5)),
    ];
    for (name, base64) in rows {
        let answer = tell(&mill, &id, "pdf", json!({"datei_base64": base64}));
        assert_eq!(
            (answer.status, &answer.body["feld"]),
            (400, &json!("datei_base64")),
            "{name}: {}",
            answer.body
        );
    }
    assert_eq!(mill.get(&id)["status"], "offen");
}

#[test]
fn an_open_document_keeps_open_on_request_and_shows_no_pdf_until_it_is_final() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE");
    let path = format!("/api/v1/belege/{id}/pdf");
    let body = and(content(ONE), json!({"abschliessen": false}));
    assert_eq!(tell(&mill, &id, "pdf", body).is(201)["status"], "offen");
    assert_eq!(mill.get(&id)["status"], "offen");
    mill.client.get(&path).refused(404, "KEIN_PDF");
    mill.finalise(&id);
    assert_eq!(mill.client.get(&path).is(200)["datei_base64"], ONE);
}

#[test]
fn a_cancelled_document_still_takes_a_pdf() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for finalised in [false, true] {
        let id = create(&mill, "RE");
        if finalised {
            mill.finalise(&id);
        }
        mill.storno(&id).is(200);
        assert_eq!(tell(&mill, &id, "pdf", content(ONE)).is(201)["status"], "storniert", "{finalised}");
        assert_eq!(mill.client.get(&format!("/api/v1/belege/{id}/pdf")).is(200)["datei_base64"], ONE);
    }
}

/// Runs a statement on the database file itself; returns whether it succeeded.
fn execute(server: &Server, statement: &str) -> bool {
    partnerd::platform::db::file::connection::open_writer(&server.database)
        .unwrap()
        .execute_batch(statement)
        .is_ok()
}

#[test]
fn the_database_itself_protects_finalised_documents() {
    let server = Server::start();
    let mill = Mill::of(&server);
    create(&mill, "AU");
    assert!(execute(&server, "update beleg set notizen = 'x'"), "an open one can be changed");
    mill.finalise(&create(&mill, "RE"));
    let final_id = "(select id from beleg where beleg_typ = 'RE')";
    for statement in [
        format!("update beleg set notizen = 'x' where id = {final_id}"),
        format!("update beleg_position set menge = menge + 1 where beleg_id = {final_id}"),
        format!("delete from beleg_position where beleg_id = {final_id}"),
        format!("delete from beleg where id = {final_id}"),
    ] {
        assert!(!execute(&server, &statement), "{statement}");
    }
}

#[test]
fn check_finds_a_finalised_document_that_was_tampered_with() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for typ in ["RE", "LS", "RE"] {
        mill.finalise(&create(&mill, typ));
    }
    // A tamperer would remove the triggers first.
    let triggers = "from sqlite_master where type = 'trigger' and tbl_name in ('beleg', 'beleg_position')";
    let joined = |column: &str| -> String {
        server.sql(&format!("select coalesce(group_concat({column}, ';'), '') {triggers}"))
    };
    let (drop, restore) = (joined("'drop trigger ' || name"), joined("sql"));
    let check = || server.cli(&["check"]).status.success();
    assert!(check());
    let tamper = |text: &str| {
        let first = "(select min(beleg_id) from beleg_position)";
        let change = format!("update beleg_position set bezeichnung = '{text}' where beleg_id = {first}");
        assert!(execute(&server, &format!("{drop}; {change}; {restore}")));
    };
    tamper("Säcke");
    assert!(!check(), "the checksum no longer fits");
    tamper("Sack");
    assert!(check());
}
