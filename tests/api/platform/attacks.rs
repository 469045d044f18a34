//! Requests that ask for more than they may have: keys in the wrong place, methods by the back door, fields
//! that only the service sets (promise P18, mass assignment).

use serde_json::json;

use crate::harness::Server;
use crate::trade::lager::Mill;

#[test]
fn a_key_counts_in_its_header_alone() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let key = mill.key.clone().unwrap();
    let nobody = server.client(mill.tenant, None);
    let bearer = format!("Bearer {key}");
    let cookie = format!("X-API-Key={key}");
    for header in [("Authorization", bearer.as_str()), ("Cookie", &cookie), ("X-Api-Key-2", &key)] {
        nobody.send("GET", "/api/v1/kunden", &[header], None).refused(401, "API_KEY_FEHLT");
    }
    nobody.get(&format!("/api/v1/kunden?X-API-Key={key}")).refused(401, "API_KEY_FEHLT");
    for wrong in [key.to_uppercase(), format!("{key}0"), key[..key.len() - 1].to_owned(), "x".repeat(9_000)] {
        server.client(mill.tenant, Some(wrong)).get("/api/v1/kunden").refused(401, "API_KEY_UNGUELTIG");
    }
    // Blanks around the value of a header do not belong to it (RFC 9110 5.5).
    server.client(mill.tenant, Some(format!("  {key} "))).get("/api/v1/kunden").is(200);
}

#[test]
fn a_method_cannot_be_replaced_by_a_header() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Müller"})).id();
    let path = format!("/api/v1/kunden/{id}");
    for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"] {
        mill.send("GET", &path, &[(name, "PUT")], None).is(200);
        let body = br#"{"ort": "Hof"}"#;
        mill.send("POST", &path, &[(name, "PUT")], Some(body)).refused(405, "METHODE_NICHT_ERLAUBT");
    }
    assert_eq!(mill.get(&path).body["ort"], json!(null));
}

#[test]
fn what_the_service_sets_itself_cannot_be_sent() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let body = json!({
        "beleg_typ": "RE", "kundennummer": "Kd", "items": [{"bezeichnung": "Fracht", "menge": 2, "ep_netto": 5,
            "mwst_satz": 19, "gesamtpreis": "0.01", "id": "0197f3a0-0000-7000-8000-000000000000"}],
        "id": "0197f3a0-0000-7000-8000-000000000000", "tenant_id": 2, "tenant": "Andere", "status": "erledigt",
        "beleg_nummer": "RE-2026-99999", "summe_netto": "0.01", "summe_brutto": "0.01", "ist_gutschrift": true,
        "version": 9, "created_at": "2000-01-01T00:00:00Z", "storno_von_beleg_id": null});
    let answer = mill.client.post("/api/v1/belege", body);
    let created = answer.is(201);
    assert_eq!((&created["beleg_nummer"], &created["status"]), (&json!("RE-2026-00001"), &json!("offen")));
    assert_eq!(created["summe_brutto"], "11.90");
    let shown = mill.get(&answer.id());
    assert_eq!((&shown["ist_gutschrift"], &shown["summe_netto"]), (&json!(false), &json!("10.00")));
    assert_ne!(shown["id"], "0197f3a0-0000-7000-8000-000000000000");
    let batch = json!({"artikel_id": mill.artikel_id("W"), "charge_nr": "X", "bestand": 500,
        "eingang_beleg_id": answer.id()});
    let batch = mill.client.post("/api/v1/chargen", batch);
    assert_eq!(batch.is(201)["bestand"], "0.000");
    assert_eq!(mill.batches()[0]["eingang_beleg_id"], json!(null));
    let other = server.company("Andere");
    assert_eq!(other.get("/api/v1/belege").body["count"], 0);
}
