//! Origin and destination of a batch (D21d): through production orders to suppliers and recipients, and the
//! sheet for the authority.

use serde_json::{Value, json};

use crate::harness::Server;
use crate::trade::lager::{Mill, buy, sell};

const REZEPTUR: &str = r#"[
 {"id": 1, "bezeichnung": "Schrot", "typ": "misch", "version": 1,
  "inputs": [{"artikelnummer": "W", "menge": 100, "einheit": "kg"}],
  "outputs": [{"artikelnummer": "R", "menge": 90, "einheit": "kg"},
              {"artikelnummer": "S", "menge": 2, "einheit": "Stk"}]},
 {"id": 2, "bezeichnung": "Rückführung", "typ": "misch", "version": 1,
  "inputs": [{"artikelnummer": "R", "menge": 10, "einheit": "kg"}],
  "outputs": [{"artikelnummer": "W", "menge": 10, "einheit": "kg"}]}]"#;

/// Makes rye meal from wheat in one order; `parts` are the batches and quantities used. Returns the id of the
/// produced batch, and the number of the order.
fn produce(mill: &Mill<'_>, rezeptur: i64, parts: Value, out: i64) -> (String, String) {
    let path = "/api/v1/produktionsauftraege";
    let order = mill.client.post(path, json!({"rezeptur_id": rezeptur, "produktions_datum": "2026-07-09"}));
    let (id, number) = (order.id(), order.body["pa_nummer"].as_str().unwrap().to_owned());
    let lines = mill.client.get(&format!("{path}/{id}")).is(200).clone();
    let outputs = lines["outputs"].as_array().unwrap().iter().zip([out, 1]);
    let outputs: Vec<_> =
        outputs.into_iter().map(|(line, menge)| json!({"id": line["id"], "ist_menge": menge})).collect();
    let body = json!({
        "status": "erledigt",
        "inputs": [{"id": lines["inputs"][0]["id"], "teile": parts}],
        "outputs": outputs,
    });
    mill.client.put(&format!("{path}/{id}/status"), body).is(200);
    let done = mill.client.get(&format!("{path}/{id}")).is(200).clone();
    (done["outputs"][0]["charge_id"].as_str().unwrap().to_owned(), number)
}

fn part(charge: &str, menge: i64) -> Value {
    json!({"charge_id": charge, "ist_menge": menge})
}

fn herkunft(mill: &Mill<'_>, charge: &str, query: &str) -> Value {
    mill.client.get(&format!("/api/v1/chargen/{charge}/herkunft{query}")).is(200).clone()
}

/// Some fields of each entry of a list, joined.
fn entries(herkunft: &Value, list: &str, fields: &[&str]) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let joined = |entry: &Value| fields.iter().map(|field| text(&entry[field])).collect::<Vec<_>>().join(" ");
    herkunft[list].as_array().unwrap().iter().map(joined).collect()
}

/// Incoming, outgoing and remaining quantity, without a count.
fn balance(eingang: &str, abgang: &str, bestand: &str) -> Value {
    json!({"eingang": eingang, "abgang": abgang, "korrektur": "0.000", "bestand": bestand})
}

/// Two deliveries of wheat, one order with one line and two batches, three sales; holds the ids of the two
/// incoming batches and of the produced one.
pub struct Scene<'s> {
    pub mill: Mill<'s>,
    pub hof: String,
    pub gut: String,
    pub meal: String,
    pub order: String,
}

pub fn scene(server: &Server) -> Scene<'_> {
    let mill = Mill::of(server);
    server.import(&mill.client, "rezepturen", REZEPTUR);
    mill.client.post("/api/v1/kunden", json!({"name": "Kd3", "kundennr": "Kd3"})).is(201);
    let hof = mill.receive("H1", 100);
    mill.post_for("Gut", "EL", buy(50, "G1")).is(201);
    let gut = mill.batch("G1")["id"].as_str().unwrap().to_owned();
    let (meal, order) = produce(&mill, 1, json!([part(&hof, 60), part(&gut, 40)]), 90);
    for (customer, menge) in [("Kd", 30), ("Kd2", 20), ("Kd3", 10)] {
        let item = json!({"artikelnr": "R", "menge": menge, "charge_id": meal});
        mill.post_for(customer, "LS", item).is(201);
    }
    Scene { mill, hof, gut, meal, order }
}

#[test]
fn forward_from_either_delivery_reaches_the_three_customers() {
    let server = Server::start();
    let Scene { mill, hof, gut, meal, order } = scene(&server);
    for (charge, eingang, abgang, bestand) in
        [(&hof, "100.000", "60.000", "40.000"), (&gut, "50.000", "40.000", "10.000")]
    {
        let found = herkunft(&mill, charge, "?richtung=vorwaerts");
        let recipients = entries(&found, "empfaenger", &["kundennr", "menge", "einheit", "beleg_nummer"]);
        let expected =
            ["Kd 30.000 kg LS-2026-00001", "Kd2 20.000 kg LS-2026-00002", "Kd3 10.000 kg LS-2026-00003"];
        assert_eq!(recipients, expected);
        let nodes = entries(&found, "vorwaerts", &["tiefe", "charge_id", "artikelnummer", "menge"]);
        assert_eq!(nodes, [format!("1 {meal} R 90.000")]);
        let over = &found["vorwaerts"][0]["ueber"];
        assert_eq!(over["art"], "produktionsauftrag");
        assert_eq!((&over["nummer"], &over["datum"]), (&json!(order), &json!("2026-07-09")));
        assert_eq!(found["bilanz"], balance(eingang, abgang, bestand));
        assert_eq!((&found["rueckwaerts"], &found["lieferanten"]), (&json!([]), &json!([])));
        assert_eq!(found["charge"]["id"], json!(charge));
    }
}

#[test]
fn backward_from_what_was_sold_reaches_both_suppliers() {
    let server = Server::start();
    let Scene { mill, hof, gut, meal, .. } = scene(&server);
    let found = herkunft(&mill, &meal, "");
    let suppliers = entries(&found, "lieferanten", &["kundennr", "menge", "beleg_nummer", "charge_id"]);
    let expected = [format!("Hof 100.000 EL-2026-00001 {hof}"), format!("Gut 50.000 EL-2026-00002 {gut}")];
    assert_eq!(suppliers, expected);
    let nodes =
        entries(&found, "rueckwaerts", &["tiefe", "charge_id", "fremde_charge_nr", "menge", "einheit"]);
    assert_eq!(nodes, [format!("1 {hof} H1 60.000 kg"), format!("1 {gut} G1 40.000 kg")]);
    assert_eq!(found["bilanz"], balance("90.000", "60.000", "30.000"));
    assert_eq!(found["empfaenger"].as_array().unwrap().len(), 3, "both directions unless one is asked for");
    let supplier = &found["lieferanten"][0];
    for field in ["partner_id", "name", "strasse", "plz", "ort", "staat", "beleg_id", "datum"] {
        assert!(supplier.get(field).is_some(), "{field}");
    }
    assert_eq!((&supplier["staat"], &supplier["datum"]), (&json!("DE"), &json!("2026-07-10")));
}

#[test]
fn goods_that_go_round_are_followed_once_and_as_far_as_asked() {
    let server = Server::start();
    let Scene { mill, hof, meal, .. } = scene(&server);
    // Meal becomes wheat again, and that wheat becomes meal again.
    let (back, _) = produce(&mill, 2, json!([part(&meal, 10)]), 10);
    let (again, _) = produce(&mill, 1, json!([part(&back, 5), part(&hof, 5)]), 9);
    let found = herkunft(&mill, &again, "?richtung=rueckwaerts");
    let depths = |found: &Value| entries(found, "rueckwaerts", &["tiefe"]).join(" ");
    // back and hof; meal; hof again (it was used in meal, too) and gut.
    assert_eq!(depths(&found), "1 1 2 3 3");
    let suppliers = entries(&found, "lieferanten", &["kundennr"]);
    assert_eq!(suppliers, ["Hof", "Gut"], "each batch's suppliers stand there once");
    assert_eq!(depths(&herkunft(&mill, &again, "?richtung=rueckwaerts&tiefe=1")), "1 1");
    assert_eq!(depths(&herkunft(&mill, &again, "?richtung=rueckwaerts&tiefe=2")), "1 1 2");
    // A circle in the file itself: the old meal is made of the new.
    let tenant = mill.client.tenant;
    let circle = |from: &str, to: &str| {
        let hex = |id: &str| id.replace('-', "");
        format!(
            "insert into lagerbewegung (tenant_id, id, artikel_id, charge_id, pa_id, menge, am)
             select {tenant}, randomblob(16), artikel_id, id, (select max(pa_id) from lagerbewegung),
               {from}, 0 from charge where id = x'{}'",
            hex(to)
        )
    };
    let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    connection.execute(&circle("1000000", &meal), []).unwrap();
    let round = herkunft(&mill, &meal, "?richtung=rueckwaerts&tiefe=50");
    assert!(entries(&round, "rueckwaerts", &["charge_id"]).contains(&meal), "{round}");
    // Deletes its stock, too.
    let meal = meal.replace('-', "");
    connection
        .execute_batch(&format!(
            "update charge set bestand = bestand + 1000000 where tenant_id = {tenant} and id = x'{meal}';
             update artikel_bestand set bestand = bestand + 1000000 where tenant_id = {tenant}
               and artikel_id = (select artikel_id from charge where id = x'{meal}')"
        ))
        .unwrap();
}

#[test]
fn what_was_reversed_is_no_part_of_it_and_returns_are_deducted() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let batch = mill.receive("C1", 100);
    let sold = mill.post("LS", sell(30, &batch)).id();
    mill.post_for("Kd2", "LS", sell(20, &batch)).is(201);
    mill.post_for("Kd2", "LS", sell(-5, &batch)).is(201);
    mill.storno(&sold).is(200);
    let found = herkunft(&mill, &batch, "");
    let recipients = entries(&found, "empfaenger", &["kundennr", "menge"]);
    assert_eq!(recipients, ["Kd2 20.000", "Kd2 -5.000"]);
    assert_eq!(found["bilanz"], balance("100.000", "15.000", "85.000"));
}

#[test]
fn the_supplier_of_opening_stock_is_named() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let row = r#"[{"artikelnummer": "W", "charge_nr": "ALT-1", "partner": "Gut", "bestand": 70}]"#;
    server.import(&mill.client, "chargen", row);
    let batch = mill.batches()[0]["id"].as_str().unwrap().to_owned();
    let found = herkunft(&mill, &batch, "");
    assert_eq!(entries(&found, "lieferanten", &["kundennr", "menge", "beleg_id"]), ["Gut 70.000 null"]);
    assert_eq!(found["bilanz"], balance("70.000", "0.000", "70.000"));
}

#[test]
fn opening_stock_of_a_batch_that_came_in_by_a_document_has_its_supplier() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let row = r#"[{"artikelnummer": "W", "charge_nr": "ALT-1", "fremde_charge_nr": "H1", "partner": "Hof",
        "bestand": 50}]"#;
    server.import(&mill.client, "chargen", row);
    let batch = mill.receive("H1", 300);
    let found = herkunft(&mill, &batch, "");
    let suppliers = entries(&found, "lieferanten", &["kundennr", "menge", "beleg_nummer"]);
    assert_eq!(suppliers, ["Hof 300.000 EL-2026-00001", "Hof 50.000 null"]);
    assert_eq!(found["bilanz"], balance("350.000", "0.000", "350.000"));
    // A purchase order creates a batch but brings no goods: nobody has delivered it yet.
    mill.post_for("Gut", "BS", buy(70, "B1")).is(201);
    let ordered = mill.batch("B1")["id"].as_str().unwrap().to_owned();
    assert_eq!(herkunft(&mill, &ordered, "")["lieferanten"], json!([]));
    mill.post_for("Gut", "EL", buy(70, "B1")).is(201);
    let found = herkunft(&mill, &ordered, "");
    assert_eq!(entries(&found, "lieferanten", &["kundennr", "menge"]), ["Gut 70.000"]);
}

#[test]
fn where_the_walk_stops_before_the_end_that_is_said() {
    let server = Server::start();
    let Scene { mill, hof, meal, .. } = scene(&server);
    let (back, _) = produce(&mill, 2, json!([part(&meal, 10)]), 10);
    let (again, _) = produce(&mill, 1, json!([part(&back, 5)]), 4);
    let rows = [
        (&again, "richtung=rueckwaerts&tiefe=1", true),
        (&again, "richtung=rueckwaerts&tiefe=2", true),
        (&again, "richtung=rueckwaerts&tiefe=3", false),
        (&again, "richtung=vorwaerts&tiefe=1", false),
        (&hof, "richtung=vorwaerts&tiefe=2", true),
        (&hof, "tiefe=2", true),
        (&hof, "tiefe=3", false),
        (&hof, "richtung=rueckwaerts&tiefe=1", false),
        (&meal, "tiefe=1", true),
        (&meal, "", false),
    ];
    for (charge, query, stops) in rows {
        let path = format!("/api/v1/chargen/{charge}/herkunft?{query}");
        let json = mill.client.get(&path);
        let header = json.headers.get("x-hinweise");
        assert_eq!(header.is_some_and(|text| text.contains("TIEFE_ERREICHT")), stops, "{query}: {header:?}");
        let sheet = mill.client.get(&format!("{path}&format=csv"));
        assert_eq!(sheet.headers.get("x-hinweise"), header, "{query}");
        let notes: Vec<_> = cells(&sheet.bytes).into_iter().filter(|row| row[0] == "Hinweis").collect();
        assert_eq!(notes.len(), usize::from(stops), "{query}: {notes:?}");
        assert!(notes.iter().all(|row| row.iter().any(|cell| cell.contains("tiefe"))), "{notes:?}");
    }
}

/// The cells of a sheet, row by row.
fn cells(bytes: &[u8]) -> Vec<Vec<String>> {
    let text = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").expect("a BOM")).unwrap();
    let mut reader =
        csv::ReaderBuilder::new().delimiter(b';').has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn the_sheet_opens_with_quantities_that_balance() {
    let server = Server::start();
    let Scene { mill, meal, order, .. } = scene(&server);
    let number = mill.batches()[2]["charge_nr"].as_str().unwrap().to_owned();
    let answer = mill.client.get(&format!("/api/v1/chargen/{meal}/herkunft?format=csv"));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
    let disposition = format!("attachment; filename=\"herkunft-{number}.csv\"");
    assert_eq!(answer.headers["content-disposition"], disposition);
    let rows = cells(&answer.bytes);
    let column = |name: &str| rows[0].iter().position(|cell| cell == name).unwrap();
    let (section, menge, bemerkung) = (column("abschnitt"), column("menge"), column("bemerkung"));
    let of = |wanted: &str| rows.iter().filter(|row| row[section] == wanted).collect::<Vec<_>>();
    let thousandths = |row: &[String]| row[menge].replace(',', "").parse::<i64>().unwrap();
    let sum = |wanted: &str| of(wanted).iter().map(|row| thousandths(row)).sum::<i64>();
    let balance =
        |what: &str| thousandths(of("Bilanz").iter().find(|row| row[bemerkung].starts_with(what)).unwrap());
    assert_eq!((sum("Lieferant"), sum("Vorstufe"), sum("Empfänger")), (150_000, 100_000, 60_000));
    assert_eq!(balance("Abgang"), sum("Empfänger"));
    assert_eq!(balance("Eingang") - balance("Abgang"), balance("Bestand"));
    assert_eq!(balance("Bestand"), thousandths(of("Charge")[0]));
    assert_eq!(
        of("Lieferant").iter().map(|row| row[column("name")].as_str()).collect::<Vec<_>>(),
        ["Hof", "Gut"]
    );
    assert!(of("Vorstufe").iter().all(|row| row[column("nummer")] == order && row[menge].contains(',')));
}

#[test]
fn a_text_is_never_a_formula() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let evil = json!({"name": "=1+1", "kundennr": "+7", "ort": "@SUM", "strasse": "a;\"=b\"\n-c"});
    mill.client.post("/api/v1/kunden", evil).is(201);
    mill.post_for("+7", "EL", buy(5, "-X")).is(201);
    let batch = mill.batch("-X")["id"].as_str().unwrap().to_owned();
    let answer = mill.client.get(&format!("/api/v1/chargen/{batch}/herkunft?format=csv"));
    let rows = cells(&answer.bytes);
    let all: Vec<&str> = rows.iter().flatten().map(String::as_str).collect();
    for expected in ["'=1+1", "'+7", "'@SUM", "'-X", "a;\"'=b\"\n'-c"] {
        assert!(all.contains(&expected), "{expected}: {all:?}");
    }
    assert!(all.iter().all(|cell| !cell.starts_with(['=', '+', '@'])), "{all:?}");
    // Nor if a spreadsheet program splits the cells in its own way.
    let sheet = String::from_utf8(answer.bytes).unwrap();
    for cell in sheet.split([';', ',', '\t', '\n', '\r']) {
        assert!(!cell.trim_start_matches('"').starts_with(['=', '+', '-', '@']), "{cell:?}: {sheet}");
    }
}

#[test]
fn what_is_no_batch_or_no_direction_is_refused() {
    let server = Server::start();
    let Scene { mill, meal, .. } = scene(&server);
    let other = server.company("Andere");
    let path = format!("/api/v1/chargen/{meal}/herkunft");
    other.get(&path).refused(404, "NICHT_GEFUNDEN");
    mill.client.get("/api/v1/chargen/x/herkunft").refused(404, "NICHT_GEFUNDEN");
    for query in ["richtung=oben", "tiefe=0", "tiefe=51", "tiefe=x", "format=pdf"] {
        mill.client.get(&format!("{path}?{query}")).refused(400, "PARAMETER_UNGUELTIG");
    }
    mill.client.get(&format!("{path}?limit=5")).refused(400, "UNBEKANNTER_PARAMETER");
    mill.client.get(&format!("{path}?tiefe=50&format=json&richtung=beide")).is(200);
}
