use serde_json::json;

use crate::commands::{rows, said};
use crate::process::{Client, Folder};

/// Creates a company with an article, a customer, and a final invoice with its PDF.
pub fn trade(folder: &Folder, company: &str, client: &Client) {
    let wheat = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30"}]);
    folder.import(company, "artikel", &wheat);
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "Huber"})).status, 201);
    let items = json!([{"artikelnr": "W", "menge": 5}]);
    let body = json!({"beleg_typ": "RE", "kundennummer": "K-1001", "items": items});
    let invoice = client.post("/api/v1/belege", &body);
    assert_eq!(invoice.status, 201, "{}", invoice.body);
    assert_eq!(invoice.body["beleg_nummer"].as_str().unwrap().split('-').next_back(), Some("00001"));
    let id = invoice.body["id"].as_str().unwrap();
    let pdf = json!({"datei_base64": "JVBERi0xLjQKJSVFT0YK"});
    assert_eq!(client.post(&format!("/api/v1/belege/{id}/pdf"), &pdf).status, 201);
}

fn company(folder: &Folder, name: &str, more: &[&str]) -> String {
    folder.result(&[&["tenant", "create", name], more].concat());
    let create = ["key", "create", "--tenant", name, "--label", "test", "--all-scopes"];
    folder.result(&create).trim().to_owned()
}

#[test]
fn a_test_company_is_emptied_with_its_final_documents_and_a_real_one_never() {
    let folder = Folder::new();
    let [test, real] = [company(&folder, "Probe", &["--test"]), company(&folder, "Mühle", &[])];
    let server = folder.serve(&[]);
    let [in_test, in_real] = [server.client(&test), server.client(&real)];
    trade(&folder, "Probe", &in_test);
    trade(&folder, "Mühle", &in_real);
    folder.result(&["tenant", "set", "Probe", "gesperrt_bis=2020-01-01"]);
    let complaint = said(&folder.run(&["tenant", "reset", "Mühle"]), 1);
    assert!(complaint.contains("keine Testfirma"), "{complaint}");
    let schema = "select group_concat(sql, ';') from (select sql from sqlite_schema order by type, name)";
    let schema = || folder.database().query_row(schema, [], |row| row.get::<_, String>(0)).unwrap();
    let before = schema();
    for _ in 0..2 {
        said(&folder.run(&["tenant", "reset", "Probe"]), 0);
        assert_eq!(schema(), before, "what protects real companies stands again");
        for path in ["kunden", "artikel", "belege"] {
            assert_eq!(in_test.get(&format!("/api/v1/{path}")).body["count"], 0, "{path}");
            assert_eq!(in_real.get(&format!("/api/v1/{path}")).body["count"], 1, "{path}");
        }
        assert_eq!(in_test.get("/api/v1/dokumente?since=2000-01-01").body, json!([]));
        folder.result(&["check"]);
        folder.result(&["audit", "verify"]);
        // Numbers start again; settings and tax rates are kept.
        trade(&folder, "Probe", &in_test);
    }
    assert_ne!(in_test.get("/api/v1/steuersaetze").body, json!([]));
    let shown = rows(&folder, &["tenant", "show", "Probe"]);
    assert!(shown.iter().any(|row| row["setting"] == "gesperrt_bis" && row["value"] == "2020-01-01"));
    let log = rows(&folder, &["audit", "changes", "--tenant", "Probe", "--limit", "1000"]);
    let emptied =
        log.iter().filter(|row| row["tat"] == "geleert" && row["gegenstand"]["name"] == "Probe").count();
    assert_eq!(emptied, 2);
    let delete = "delete from beleg where tenant_id = 2";
    assert!(folder.database().execute(delete, []).unwrap_err().to_string().contains("never deleted"));
}

#[test]
fn a_company_is_a_test_company_from_its_creation_on_or_never() {
    let folder = Folder::new();
    company(&folder, "Probe", &["--test"]);
    let real = company(&folder, "Mühle", &[]);
    for statement in [
        "update tenant set test = 1 where id = 2",
        "update tenant set test = 0 where id = 1",
        "update tenant set id = 3 where id = 2",
        "delete from tenant where id = 2",
    ] {
        let refused = folder.database().execute_batch(&format!("pragma foreign_keys = off; {statement}"));
        assert!(refused.is_err(), "{statement}");
    }
    assert!(
        said(&folder.run(&["tenant", "set", "Mühle", "test=1"]), 1)
            .contains("die Einstellung test gibt es nicht")
    );
    let kinds: Vec<_> = rows(&folder, &["tenant", "list"]).iter().map(|row| row["test"].clone()).collect();
    assert_eq!(kinds, [json!(true), json!(false)]);
    // Bypassing the trigger to delete a final document is detected: the seal is missing.
    let server = folder.serve(&[]);
    trade(&folder, "Mühle", &server.client(&real));
    drop(server);
    let trigger = "select sql from sqlite_schema where name = 'tenant_test_bleibt'";
    let trigger: String = folder.database().query_row(trigger, [], |row| row.get(0)).unwrap();
    let past = format!("drop trigger tenant_test_bleibt; update tenant set test = 1 where id = 2; {trigger}");
    folder.database().execute_batch(&past).unwrap();
    folder.result(&["tenant", "reset", "Mühle"]);
    let complaint = folder.run(&["check"]);
    let table = String::from_utf8(complaint.stdout.clone()).unwrap();
    said(&complaint, 1);
    assert!(table.contains("wurde entfernt"), "{table}");
}

#[test]
fn every_answer_of_a_test_company_says_so() {
    let folder = Folder::new();
    let [test, real] = [company(&folder, "Probe", &["--test"]), company(&folder, "Mühle", &[])];
    let server = folder.serve(&[]);
    let marked = |key: &str, path: &str| {
        let url = format!("http://{}{path}", server.address);
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let answer = agent.get(&url).header("x-api-key", key).call().unwrap();
        answer.headers().get("x-test").map(|value| value.to_str().unwrap().to_owned())
    };
    for path in ["/api/v1/kunden", "/api/v1/kunden/x", "/api/v1/nichts", "/api/v1/kunden?limit=-1"] {
        assert_eq!(marked(&test, path).as_deref(), Some("true"), "{path}");
        assert_eq!(marked(&real, path), None, "{path}");
    }
}
