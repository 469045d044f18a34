//! Which records keep the name of a partner who asks to be forgotten, and until when (D27).

use serde_json::{Value, json};

use crate::harness::{Client, Server};

/// Forgets K-1001 by the command line, which uses the clock of the machine.
fn forget(server: &Server, mill: &Client) -> Value {
    let tenant = mill.tenant.to_string();
    let arguments = ["--json", "kunde", "vergessen", "K-1001", "--tenant", &tenant, "--yes"];
    let output = server.cli(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Creates K-1001; returns its id.
fn erika(mill: &Client) -> String {
    mill.post("/api/v1/kunden", json!({"name": "Erika", "partner_typen": ["kunde", "lieferant"]})).id()
}

fn invoice(mill: &Client, kunde: &str, datum: &str, is_final: bool) -> String {
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "RE", "kunden_id": kunde, "beleg_datum": datum, "items": items,
        "abschliessen": is_final});
    mill.post("/api/v1/belege", body).id()
}

fn weighing(mill: &Client, kunde: &str) -> String {
    let body = json!({"waage_id": 1, "gewicht_erst_kg": 30000, "partner_id": kunde});
    mill.post("/api/v1/wiegungen", body).id()
}

#[test]
fn the_name_goes_when_the_years_are_over() {
    let server = Server::start_at("2016-05-05T10:00:00Z");
    let mill = server.company("Mühle");
    let id = erika(&mill);
    let beleg = invoice(&mill, &id, "2016-05-05", true);
    let done = forget(&server, &mill);
    assert_eq!(done["kept"], json!([{"kind": "Belege", "count": 1, "open": 0, "until": "2024-12-31"}]));
    assert_eq!(mill.get(&format!("/api/v1/kunden/{id}")).body["name"], "(vergessen)");
    // The document keeps the copy of the name from its finalisation.
    assert_eq!(mill.get(&format!("/api/v1/belege/{beleg}")).body["kunden_name"], "Erika");
}

/// What is recorded at which times, and until when the law requires it.
type Case = (&'static str, fn(&Server, &Client, &str), &'static str);

#[test]
fn years_count_from_the_day_in_berlin_on_which_the_newest_record_came_to_be() {
    let cases: [Case; 5] = [
        (
            "an invoice that is dated long before it was written",
            |_, mill, id| drop(invoice(mill, id, "2016-12-31", true)),
            "2034-12-31",
        ),
        (
            "half past midnight in Berlin is the day before in UTC",
            |server, mill, id| {
                server.set_clock("2025-12-31T23:30:00Z");
                let path = format!("/api/v1/wiegungen/{}", weighing(mill, id));
                mill.put(&format!("{path}/storno"), json!({"grund": "leer"})).is(200);
            },
            "2034-12-31",
        ),
        (
            "the second weighing counts",
            |server, mill, id| {
                server.set_clock("2025-12-30T10:00:00Z");
                let path = format!("/api/v1/wiegungen/{}/zweitwiegung", weighing(mill, id));
                server.set_clock("2026-01-02T10:00:00Z");
                mill.put(&path, json!({"gewicht_zweit_kg": 10000})).is(200);
            },
            "2034-12-31",
        ),
        (
            "a contract of old",
            |server, mill, _| {
                drop(server.import(mill, "kontrakte", &contracts(&[("A", Some("2012-07-01"))])))
            },
            "2020-12-31",
        ),
        (
            "a certificate without an end",
            |server, mill, _| {
                server.import(
                    mill,
                    "biozertifikate",
                    "id;nummer;partner;gueltig_bis\n5;DE-1;K-1001;2012-01-01\n",
                );
                server.import(mill, "biozertifikate", "id;nummer;partner;gueltig_bis\n6;DE-2;K-1001;\n");
            },
            "today",
        ),
    ];
    for (what, happens, until) in cases {
        let server = Server::start_at("2026-02-03T10:00:00Z");
        let mill = server.company("Mühle");
        let id = erika(&mill);
        happens(&server, &mill, &id);
        let kept = forget(&server, &mill)["kept"].clone();
        let today = format!("{}-12-31", jiff::Zoned::now().date().year() + 10);
        let until = if until == "today" { &today } else { until };
        assert_eq!(kept[0]["until"], *until, "{what}: {kept}");
    }
}

fn contracts(days: &[(&str, Option<&str>)]) -> String {
    let contract = |(nr, day): &(&str, Option<&str>)| {
        json!({"kontrakt_nr": nr, "kontrakt_typ": "verkauf", "partner": "K-1001", "erntejahr": 2012, "erledigt": true,
            "erfassungsdatum": day})
    };
    Value::from_iter(days.iter().map(contract)).to_string()
}

#[test]
fn a_history_that_names_a_former_partner_is_kept_and_named() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let (erika, huber) = (erika(&mill), mill.post("/api/v1/kunden", json!({"name": "Huber"})).id());
    let today = jiff::Zoned::now().date().to_string();
    let path = format!("/api/v1/belege/{}", invoice(&mill, &erika, &today, false));
    mill.put(&path, json!({"kunden_id": huber})).is(200);
    assert_eq!(mill.get(&format!("{path}/verlauf")).body["data"][0]["beleg"]["kunden_name"], "Erika");
    let kept = forget(&server, &mill)["kept"].clone();
    assert_eq!(
        (&kept[0]["kind"], &kept[0]["count"], &kept[0]["open"]),
        (&json!("Belege"), &json!(1), &json!(0))
    );
    assert_eq!(mill.get(&format!("/api/v1/kunden/{erika}")).body["name"], "Erika");
}

#[test]
fn who_is_locked_stays_locked() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("/api/v1/kunden/{}", erika(&mill));
    mill.put(&path, json!({"status": "gesperrt"})).is(200);
    forget(&server, &mill);
    assert_eq!(mill.get(&path).body["status"], "gesperrt");
}

#[test]
fn a_partner_who_was_changed_often_is_forgotten_and_the_file_is_whole() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("/api/v1/kunden/{}", erika(&mill));
    for turn in 0..100 {
        mill.put(&path, json!({"telefon": turn.to_string()})).is(200);
    }
    assert_eq!(forget(&server, &mill)["erased"]["changes"], 100);
    mill.put(&path, json!({"telefon": "neu"})).is(200);
    assert_eq!(forget(&server, &mill)["erased"]["changes"], 1);
    let check = server.cli(&["check"]);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}
