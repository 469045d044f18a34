//! `kunde vergessen` (D27): data about the person are erased, records required by law are named, and the
//! evidence stays valid.

use serde_json::{Value, json};

use super::said;
use crate::process::{Client, Folder};

/// Data about the person, which must not be found anywhere afterwards.
const SAID: [&str; 7] = [
    "Geheimer",
    "erika@geheim.example",
    "0171-4711",
    "Geheimgasse",
    "DE02120300000000202051",
    "Mag keine",
    "im Vertrauen",
];

/// Creates a partner with much data, changed twice, with an attachment.
fn person(client: &Client) -> String {
    let body = json!({"nachname_firma": "Geheimer", "email": "erika@geheim.example", "telefon": "0171-4711",
        "strasse": "Geheimgasse 1", "plz": "93183", "ort": "Kallmünz", "notizen": "Mag keine Anrufe"});
    let answer = client.post("/api/v1/kunden", &body);
    let id = answer.body["kunden_id"].as_str().map_or_else(|| answer.body["id"].to_string(), str::to_owned);
    let id = id.trim_matches('"').to_owned();
    for body in [json!({"iban": "DE02120300000000202051"}), json!({"telefon": "0171-47110"})] {
        let answer = client.send("PUT", &format!("/api/v1/kunden/{id}"), Some(&body)).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let file = json!({"dateiname": "brief.txt", "inhalt_base64": "aW0gVmVydHJhdWVu"});
    let answer = client.post(&format!("/api/v1/kunden/{id}/dokumente"), &file);
    assert_eq!(answer.status, 201, "{}", answer.body);
    id
}

/// Creates a mill with this person as its first customer, and runs `then`; the server has ended afterwards.
fn mill(then: impl FnOnce(&Client, &str)) -> (Folder, String, String) {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let mut server = folder.serve(&[]);
    let client = server.client(&key);
    let id = person(&client);
    then(&client, &id);
    server.signal("TERM");
    assert!(server.end().0.success());
    (folder, key, id)
}

fn forget(folder: &Folder, more: &[&str]) -> Value {
    let arguments = [&["--json", "kunde", "vergessen", "K-1001", "--tenant", "Mühle"], more].concat();
    serde_json::from_str(&folder.result(&arguments)).unwrap()
}

/// Which of these texts are anywhere in the file.
fn found(folder: &Folder, texts: &[&'static str]) -> Vec<&'static str> {
    let content = std::fs::read(folder.file("partnerd.db")).unwrap();
    let has = |text: &&&str| content.windows(text.len()).any(|part| part == text.as_bytes());
    texts.iter().filter(has).copied().collect()
}

fn document(client: &Client, id: &str, day: &str, is_final: bool) {
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "RE", "kunden_id": id, "beleg_datum": day, "items": items,
        "abschliessen": is_final});
    let answer = client.post("/api/v1/belege", &body);
    assert_eq!(answer.status, 201, "{}", answer.body);
}

#[test]
fn whom_no_record_names_is_forgotten_whole() {
    let (folder, key, id) = mill(|client, _| drop(client.post("/api/v1/kunden", &json!({"name": "Huber"}))));
    assert_eq!(found(&folder, &SAID), SAID, "the search finds what is there");
    let tried = forget(&folder, &[]);
    assert_eq!((&tried["done"], &tried["erased"]["changes"]), (&json!(false), &json!(2)));
    assert_eq!(found(&folder, &SAID), SAID, "without --yes nothing is erased");
    let done = forget(&folder, &["--yes"]);
    assert_eq!((&done["done"], &done["kept"], &done["erased"]), (&json!(true), &json!([]), &tried["erased"]));
    assert_eq!(done["erased"]["attachments"], 1);
    assert_eq!(found(&folder, &SAID), [""; 0]);
    folder.result(&["check"]);
    folder.result(&["audit", "verify"]);
    assert_eq!(
        forget(&folder, &["--yes"])["erased"],
        json!({"fields": [], "changes": 0, "attachments": 0, "emails": 0})
    );

    let server = folder.serve(&[]);
    let client = server.client(&key);
    let kunde = client.get(&format!("/api/v1/kunden/{id}")).body;
    assert_eq!((&kunde["name"], &kunde["status"]), (&json!("(vergessen)"), &json!("inaktiv")));
    assert_eq!(
        (&kunde["kundennr"], &kunde["email"], &kunde["ort"]),
        (&json!("K-1001"), &json!(null), &json!(null))
    );
    let history = client.get(&format!("/api/v1/kunden/{id}/verlauf")).body["data"].clone();
    let fields: Vec<_> =
        history.as_array().unwrap().iter().map(|row| row["felder"].as_array().unwrap()).collect();
    assert_eq!((fields[0].len(), fields[1].len(), fields.len()), (0, 0, 3));
    assert!(fields[2].iter().any(|field| *field == json!({"feld": "email", "alt": null, "neu": null})));
    let files = client.get(&format!("/api/v1/kunden/{id}/dokumente")).body;
    assert_eq!(files, json!([]));
    let huber = client.get("/api/v1/kunden?suche=Huber").body;
    assert_eq!(huber["count"], 1);
    assert_eq!(client.get("/api/v1/kunden?suche=Geheimer").body["count"], 0);
}

#[test]
fn name_and_address_stay_while_the_law_wants_a_document() {
    let today = jiff::Zoned::now().date();
    let until = format!("{}-12-31", today.year() + 8);
    let (folder, key, id) = mill(|client, id| {
        document(client, id, &today.to_string(), true);
        document(client, id, "2010-05-05", true);
    });
    let done = forget(&folder, &["--yes"]);
    assert_eq!(done["kept"], json!([{"kind": "Belege", "count": 2, "open": 0, "until": until}]));
    // A final document has its own copy of its contents.
    assert_eq!(found(&folder, &["0171-4711", "Mag keine", "im Vertrauen"]), [""; 0]);
    let server = folder.serve(&[]);
    let kunde = server.client(&key).get(&format!("/api/v1/kunden/{id}")).body;
    assert_eq!((&kunde["name"], &kunde["strasse"]), (&json!("Geheimer"), &json!("Geheimgasse 1")));
    assert_eq!((&kunde["email"], &kunde["status"]), (&json!(null), &json!("inaktiv")));
    folder.result(&["check"]);
}

#[test]
fn who_is_still_needed_is_not_forgotten() {
    let (folder, _, _) = mill(|client, id| document(client, id, "2010-05-05", false));
    let arguments = ["kunde", "vergessen", "K-1001", "--tenant", "Mühle", "--yes"];
    let refused = said(&folder.run(&arguments), 1);
    assert!(refused.contains("Offen: 1 Belege"), "{refused}");
    assert_eq!(found(&folder, &SAID), SAID);
}

#[test]
fn only_a_partner_of_the_company_is_forgotten() {
    let (folder, _, _) = mill(|_, _| ());
    folder.company("Andere");
    for (tenant, number) in [("Andere", "K-1001"), ("Mühle", "K-1002")] {
        let refused = said(&folder.run(&["kunde", "vergessen", number, "--tenant", tenant, "--yes"]), 1);
        assert!(refused.contains(&format!("den Partner {number} gibt es nicht")), "{refused}");
    }
    assert_eq!(found(&folder, &SAID), SAID);
}

/// Runs SQL on the file, bypassing the program; returns what `check` reports then.
fn forged(sql: &str) -> String {
    let (folder, _, _) = mill(|client, _| {
        let other =
            client.post("/api/v1/kunden", &json!({"name": "Huber"})).body["id"].as_str().unwrap().to_owned();
        let file = json!({"dateiname": "b.txt", "inhalt_base64": "aGFsbG8="});
        assert_eq!(client.post(&format!("/api/v1/kunden/{other}/dokumente"), &file).status, 201);
        let change = json!({"ort": "Ulm"});
        assert_eq!(
            client.send("PUT", &format!("/api/v1/kunden/{other}"), Some(&change)).unwrap().status,
            200
        );
    });
    forget(&folder, &["--yes"]);
    folder.database().execute_batch(sql).unwrap();
    let output = folder.run(&["check"]);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn erasing_is_no_cover_for_altering() {
    let cases = [
        ("select 1", "ist heil"),
        ("delete from anhang", "wurde entfernt"),
        (
            "drop trigger kunde_verlauf_nie_aendern; update kunde_verlauf set felder = '[]' where felder like '%Ulm%'",
            "wurde geändert",
        ),
        ("drop trigger kunde_verlauf_nie_aendern; update kunde_verlauf set felder = '[]'", "wurde geändert"),
        (
            "drop trigger kunde_verlauf_nie_loeschen; delete from kunde_verlauf where version < 4",
            "wurde entfernt",
        ),
        (
            "drop trigger kunde_verlauf_nie_aendern; update kunde_verlauf set felder = 'x' where felder = '[]'",
            "wurde geändert",
        ),
    ];
    for (sql, finding) in cases {
        let said = forged(sql);
        assert!(said.contains(finding), "{sql}: {said}");
    }
    // The trigger itself protects the history of a partner who was not forgotten.
    let (folder, _, _) = mill(|_, _| ());
    let refused = folder.database().execute("update kunde_verlauf set felder = '[]'", []).unwrap_err();
    assert!(refused.to_string().contains("append-only"), "{refused}");
}
