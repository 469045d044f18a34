//! The history of an article and its tiers: what imports changed, from what to what, and who.

use serde_json::{Value, json};

use crate::harness::{Client, Server};

const WEIZEN: &str = "artikelnummer;bezeichnung;einheit;preis;gruppe\nW;Weizen;kg;0,32;Getreide\n";

/// Creates a company with the article W; returns its path.
fn weizen(server: &Server) -> (Client, String) {
    let mill = server.company("Mühle");
    server.import(&mill, "artikel", WEIZEN);
    let id = mill.get("/api/v1/artikel").body["data"][0]["id"].as_str().unwrap().to_owned();
    (mill, format!("/api/v1/artikel/{id}"))
}

fn history(mill: &Client, path: &str) -> Vec<Value> {
    let answer = mill.get(&format!("{path}/verlauf"));
    let rows = answer.is(200)["data"].as_array().unwrap().clone();
    assert_eq!(answer.body["count"], rows.len());
    rows
}

#[test]
fn a_price_that_an_import_changed_is_seen() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    assert_eq!(history(&mill, &path), [] as [Value; 0], "it was not changed yet");
    server.import(&mill, "artikel", WEIZEN);
    assert_eq!(history(&mill, &path).len(), 0, "the second import changed nothing");
    let table = "artikelnummer;preis;gruppe;langtext\nW;0,35;Ölsaaten;aus der Region\n";
    server.import(&mill, "artikel", table);
    let rows = history(&mill, &path);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["nr"], &rows[0]["key_id"]), (&json!(1), &Value::Null));
    assert_eq!(rows[0]["geaendert_von"], "Kommandozeile");
    let shown = mill.get(&path).body;
    assert_eq!(
        rows[0]["felder"],
        json!([
            {"feld": "artikelgruppe_id", "alt": 1, "neu": 2},
            {"feld": "gruppe", "alt": "Getreide", "neu": "Ölsaaten"},
            {"feld": "langtext", "alt": null, "neu": "aus der Region"},
            {"feld": "preis", "alt": "0.3200", "neu": shown["preis"]},
        ])
    );
    assert_eq!(shown["gruppe"], "Ölsaaten");
}

#[test]
fn tiers_are_part_of_the_history_of_their_article() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    for table in [
        "artikelnummer;ab_menge;preis\nW;100;0,30\nW;1000;0,28\n",
        "artikelnummer;ab_menge;preis\nW;100;0,30\nW;1000;0,27\n",
        "artikelnummer;ab_menge;preis;aktiv\nW;100;0,30;nein\n",
    ] {
        server.import(&mill, "staffelpreise", table);
    }
    let tier = |ab: &str, preis: &str, aktiv: bool| json!({"ab_menge": ab, "preis": preis, "aktiv": aktiv});
    let expected = [
        (Value::Null, tier("100.000", "0.3000", true)),
        (Value::Null, tier("1000.000", "0.2800", true)),
        (tier("1000.000", "0.2800", true), tier("1000.000", "0.2700", true)),
        (tier("100.000", "0.3000", true), tier("100.000", "0.3000", false)),
    ];
    let rows = history(&mill, &path);
    assert_eq!(rows.len(), expected.len());
    for (at, (alt, neu)) in expected.into_iter().enumerate() {
        assert_eq!(rows[at]["nr"], at + 1);
        assert_eq!(rows[at]["felder"], json!([{"feld": "staffelpreise", "alt": alt, "neu": neu}]));
    }
}

#[test]
fn the_history_of_an_article_stays_as_it_is() {
    let server = Server::start();
    let (mill, _) = weizen(&server);
    server.import(&mill, "artikel", "artikelnummer;preis\nW;0,35\n");
    let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    for change in ["update artikel_verlauf set felder = '[]'", "delete from artikel_verlauf"] {
        let refused = connection.execute(change, []).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{change}: {refused}");
    }
}

#[test]
fn an_import_that_is_refused_leaves_no_history() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    let file = server.database.with_file_name("artikel.csv");
    std::fs::write(&file, "artikelnummer;preis\nW;0,35\nW;teuer\n").unwrap();
    let arguments = ["import", "artikel", file.to_str().unwrap(), "--tenant", &mill.tenant.to_string()];
    assert!(!server.cli(&arguments).status.success());
    assert_eq!(history(&mill, &path).len(), 0);
}
