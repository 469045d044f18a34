//! Settings of a company, and when they take effect (D4, D8).

use serde_json::json;

use crate::harness::Server;
use crate::trade::lager::{Mill, moves, plain, sell};

#[test]
fn the_setting_names_the_types_that_are_final_after_the_day_of_their_creation() {
    let mut server = Server::start_at("2026-07-10T10:00:00Z");
    let (ids, tenant) = {
        let mill = Mill::with(&server, "Mühle", &[("abschluss_tagesende", "LS,AU")]);
        let create = |typ: &str, day: &str| {
            let items = json!([{"artikelnr": "S", "menge": 1}]);
            let body = json!({"beleg_typ": typ, "kundennummer": "Kd", "beleg_datum": day, "items": items});
            mill.client.post("/api/v1/belege", body).id()
        };
        let rows = [("LS", "2026-07-10"), ("AU", "2026-06-01"), ("LS", "2026-08-01"), ("RE", "2026-07-10")];
        let ids = rows.map(|(typ, day)| create(typ, day));
        // The end of the day ignores the locked period.
        server.set(&mill.client, &[("gesperrt_bis", "2026-06-30")]);
        (ids, mill.client.tenant)
    };
    let mut seen = Vec::new();
    // The last second of the day of creation, regardless of the document date; then a missed day.
    for instant in ["2026-07-10T21:59:59Z", "2026-07-12T09:00:00Z"] {
        server.set_clock(instant);
        server.restart();
        let client = server.key(tenant, &[partnerd::rules::scope::Scope::BelegeRead]);
        let status = |id: &String| client.get(&format!("/api/v1/belege/{id}")).is(200)["status"].clone();
        seen.push(json!(ids.iter().map(status).collect::<Vec<_>>()));
    }
    assert_eq!(seen[0], json!(["offen", "offen", "offen", "offen"]));
    assert_eq!(seen[1], json!(["abgeschlossen", "abgeschlossen", "abgeschlossen", "offen"]));
}

#[test]
fn a_setting_holds_for_the_positions_that_were_written_under_it() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("lagerbuchung", "lieferung")]);
    let charge = mill.receive("C1", 100);
    let silent = mill.post("RE", sell(10, &charge));
    assert_eq!(moves(&silent), [""; 0]);
    server.set(&mill.client, &[("lagerbuchung", "beleg")]);
    assert_eq!(moves(&mill.post("LS", sell(10, &charge))), ["-10.000"], "the invoice before stays out");
    assert_eq!(moves(&mill.post("RE", plain(10))), [""; 0], "the delivery was open for this one");
    assert_eq!(mill.storno(&silent.id()).is(200)["lagerbewegungen"], json!([]));
    assert_eq!(mill.stock("C1"), "90.000");
}
