//! Importing recipes (D22), and which version an order uses (D13).

use serde_json::{Value, json};

use super::{assert_fields, miller, order, post, recipe, show};
use crate::harness::Server;
use crate::trade::lager::{Mill, and};

const CREATED: &str = "1 neu, 0 geändert, 0 unverändert\n";
const CHANGED: &str = "0 neu, 1 geändert, 0 unverändert\n";
const UNCHANGED: &str = "0 neu, 0 geändert, 1 unverändert\n";

/// A version of a recipe that turns a quantity of wheat into as much flour.
fn version(version: i64, menge: i64) -> Value {
    json!({"bezeichnung": "Schrot", "version": version, "inputs": [{"artikelnummer": "W", "menge": menge}],
        "outputs": [{"artikelnummer": "M", "menge": menge}]})
}

/// Imports a file that must be refused; returns the message.
fn refused(mill: &Mill<'_>, file: &str) -> String {
    let path = mill.server.database.with_file_name("refused.import");
    std::fs::write(&path, file).unwrap();
    let tenant = mill.client.tenant.to_string();
    let output = mill.server.cli(&["import", "rezepturen", path.to_str().unwrap(), "--tenant", &tenant]);
    assert_eq!(output.status.code(), Some(1), "{file}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_newest_active_version_is_taken() {
    let server = Server::start();
    let mill = miller(&server);
    let with_id =
        |number: i64, menge: i64, more: Value| and(and(version(number, menge), json!({"id": 5})), more);
    let takes = |expected: Option<(i64, &str)>| match expected {
        Some((number, soll)) => {
            let shown = order(&mill, 5);
            assert_eq!(shown["rezeptur_version"], number);
            assert_eq!(shown["inputs"][0]["soll_menge"], soll);
        }
        None => {
            post(&mill, json!({"rezeptur_id": 5})).refused(400, "REZEPTUR_NICHT_GEFUNDEN");
        }
    };
    assert_eq!(recipe(&mill, with_id(2, 20, json!({}))), CREATED);
    takes(Some((2, "20.000")));
    assert_eq!(recipe(&mill, with_id(1, 10, json!({}))), CREATED);
    takes(Some((2, "20.000")));
    assert_eq!(recipe(&mill, with_id(10, 100, json!({}))), CREATED);
    takes(Some((10, "100.000")));
    assert_eq!(recipe(&mill, with_id(10, 100, json!({"aktiv": false}))), CHANGED);
    takes(Some((2, "20.000")));
    for number in [1, 2] {
        assert_eq!(recipe(&mill, json!({"id": 5, "version": number, "aktiv": false})), CHANGED);
    }
    takes(None);
    assert_eq!(recipe(&mill, json!({"id": 5, "version": 1, "aktiv": true})), CHANGED);
    takes(Some((1, "10.000")));
}

#[test]
fn a_second_run_changes_nothing_and_a_recipe_is_found_by_id_or_name() {
    let server = Server::start();
    let mill = miller(&server);
    let file = json!([version(1, 10), version(2, 20)]).to_string();
    let import = |file: &str| server.import(&mill.client, "rezepturen", file);
    assert_eq!(import(&file), "2 neu, 0 geändert, 0 unverändert\n");
    assert_eq!(import(&file), "0 neu, 0 geändert, 2 unverändert\n");
    assert_eq!(server.sql::<i64>("select count(distinct id) from rezeptur where bezeichnung = 'Schrot'"), 1);
    let id: i64 = server.sql("select id from rezeptur where bezeichnung = 'Schrot' and version = 1");
    assert_eq!(recipe(&mill, and(version(2, 20), json!({"id": id}))), UNCHANGED);
    assert_eq!(recipe(&mill, and(version(2, 25), json!({"id": id}))), CHANGED);
    assert_eq!(order(&mill, id)["inputs"][0]["soll_menge"], "25.000");
    // The same as JSON lines.
    let lines = [version(1, 10), version(2, 25)].map(|row| row.to_string()).join("\n");
    assert_eq!(import(&lines), "0 neu, 0 geändert, 2 unverändert\n");
    // Without a unit, the unit of the article applies.
    assert_eq!(order(&mill, id)["inputs"][0]["einheit"], "kg");
}

#[test]
fn an_order_keeps_the_recipe_it_was_made_of() {
    let server = Server::start();
    let mill = miller(&server);
    recipe(&mill, and(version(1, 10), json!({"id": 5, "typ": "Schrotung"})));
    let before = order(&mill, 5);
    let expected = json!({"rezeptur_id": 5, "rezeptur_version": 1, "rezeptur_bezeichnung": "Schrot",
        "rezeptur_typ": "Schrotung"});
    assert_fields(&before, expected);
    let changed = json!({"id": 5, "bezeichnung": "Grob", "typ": "Neu", "aktiv": false, "outputs": []});
    assert_eq!(recipe(&mill, and(version(1, 99), changed)), CHANGED);
    recipe(&mill, and(version(2, 50), json!({"id": 5})));
    assert_eq!(show(&mill, before["id"].as_str().unwrap()), before);
}

#[test]
fn a_mistake_is_refused_with_its_line_and_nothing_is_kept() {
    let server = Server::start();
    let mill = miller(&server);
    let other = Mill::with(&server, "Andere", &[]);
    server.import(&other.client, "artikel", "artikelnummer;bezeichnung\nFR;Fremd\n");
    let before: i64 = server.sql("select count(*) from rezeptur");
    let rows = [
        (json!({"inputs": [{"artikelnummer": "X", "menge": 1}]}), "artikelnummer"),
        (json!({"outputs": [{"artikelnummer": "FR", "menge": 1}]}), "artikelnummer"),
        (json!({"inputs": [{"menge": 1}]}), "artikelnummer"),
        (json!({"inputs": [{"artikelnummer": "W"}]}), "menge"),
        (json!({"inputs": [{"artikelnummer": "W", "menge": "viel"}]}), "menge"),
        (json!({"inputs": [{"artikelnummer": "W", "menge": 1, "einheit": "Stk"}]}), "einheit"),
        (json!({"inputs": [], "outputs": []}), "inputs"),
        (json!({"version": "neu"}), "version"),
        (json!({"bezeichnung": null}), "bezeichnung"),
    ];
    for (more, column) in rows {
        let good =
            json!({"bezeichnung": "Gut", "version": 1, "inputs": [{"artikelnummer": "W", "menge": 1}]});
        let file = [good, and(version(1, 5), more.clone())];
        let said = refused(&mill, &file.map(|row| row.to_string()).join("\n"));
        assert!(said.contains("Zeile 2") && said.contains(column), "{more}: {said}");
        assert_eq!(server.sql::<i64>("select count(*) from rezeptur"), before, "{more}");
    }
}

#[test]
fn a_version_without_lines_is_no_version() {
    let server = Server::start();
    let mill = miller(&server);
    assert_eq!(recipe(&mill, and(version(1, 10), json!({"id": 5}))), CREATED);
    let rows = [
        json!({"bezeichnung": "Schrot", "version": 2}),
        json!({"id": 5, "bezeichnung": "Schrot", "version": 2, "inputs": [], "outputs": []}),
        json!({"id": 5, "bezeichnung": "Schrot", "version": 2, "inputs": null}),
        json!({"bezeichnung": "Neu"}),
        // A version must not lose all its lines either.
        json!({"id": 5, "version": 1, "inputs": [], "outputs": []}),
    ];
    for row in rows {
        let said = refused(&mill, &json!([row]).to_string());
        assert!(
            said.contains("Zeile 1") && said.contains("inputs") && said.contains("FELD_FEHLT"),
            "{row}: {said}"
        );
    }
    // A table cannot contain lists, so it can change versions but not create them.
    let said = refused(&mill, "bezeichnung;version\nSchrot;2\n");
    assert!(said.contains("Zeile 2") && said.contains("inputs"), "{said}");
    let shown = order(&mill, 5);
    assert_fields(&shown, json!({"rezeptur_version": 1}));
    assert_eq!(shown["inputs"][0]["soll_menge"], "10.000");
    let table = "id;version;typ\n5;1;Grob\n";
    assert_eq!(server.import(&mill.client, "rezepturen", table), CHANGED);
    assert_fields(&order(&mill, 5), json!({"rezeptur_version": 1, "rezeptur_typ": "Grob"}));
}
