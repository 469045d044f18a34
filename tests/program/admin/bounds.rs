//! Values that an older version stored outside the bounds of their fields.

use serde_json::json;

use crate::process::Folder;

/// D39: a value that an older version took is no damage: it is named, and breaks neither `check` nor a backup.
#[test]
fn a_value_outside_its_bounds_is_named_and_stops_nothing() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let server = folder.serve(&[]);
    let client = server.client(&key);
    for number in ["A", "B"] {
        let article = json!({"artikelnummer": number, "bezeichnung": "A", "preis": 1});
        assert_eq!(client.post("/api/v1/artikel", &article).status, 201);
    }
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "A"})).status, 201);
    drop(server);
    let said = |command: &str| {
        let output = folder.run(&[command]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    assert!(!said("check").contains("außerhalb") && !said("doctor").contains("außerhalb"));
    folder
        .database()
        .execute_batch("update artikel set preis = -5; update kunde set zahlungsziel_tage = 9999, ort = printf('%.300c', 'x')")
        .unwrap();
    for command in ["check", "doctor"] {
        let said = said(command);
        for named in ["artikel.preis (2)", "kunde.zahlungsziel_tage (1)", "kunde.ort (1)"] {
            assert!(said.contains(named), "{command}: {said}");
        }
    }
    // The last line says what the seals are worth.
    assert!(!said("check").contains("Siegel: Werte"), "{}", said("check"));
    assert!(said("doctor").contains("Grenzen"));
    folder.result(&["backup", "b.db"]);
    // A change that leaves such a field as it is passes.
    folder.database().execute_batch("update kunde set name = printf('%.300c', 'x')").unwrap();
    let server = folder.serve(&[]);
    let client = server.client(&key);
    let id = client.get("/api/v1/kunden").body["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/kunden/{id}");
    assert_eq!(client.send("PUT", &path, Some(&json!({"ort": "Ulm"}))).unwrap().status, 200);
}
