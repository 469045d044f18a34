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
    folder.result(&["backup", "b.db"]);
}
