//! Terms of a contract in a settlement: scheme, price and quantity, only for its own partner.

use serde_json::{Value, json};

use super::{A, Hof, NOTES, PATH, SCHEMES, items, sums, wheat};
use crate::harness::{Answer, Server};
use crate::trade::lager::and;

const KONTRAKTE: &str = "/api/v1/kontrakte";

/// Creates a contract on wheat with a partner.
fn contract(hof: &Hof<'_>, partner: &str, more: Value) -> Answer {
    let body = json!({"kontrakt_nr": "K-1", "kontrakt_typ": "EK", "partner_id": hof.mill.partner_id(partner),
        "gesamtmenge": 1, "gesamtmenge_einheit": "t", "gueltig_von": "2026-07-01", "gueltig_bis": "2027-06-30",
        "positionen": [{"position": 1, "artikelnr": "W", "preis": 300}]});
    hof.post(KONTRAKTE, and(body, more))
}

/// A scheme that deducts a tenth, regardless of the analysis.
fn tenth(more: Value) -> Value {
    let step = json!([{"nr": 1, "code": "zehnt", "text": "Zehnt", "wirkung": "menge", "regel": "fest", "satz": "10"}]);
    wheat(and(json!({"nummer": "ZEHNT", "schritte": step}), more))
}

#[test]
fn a_delivery_takes_the_scheme_of_its_contract_unless_it_names_one() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    // The receipt is from before there was a scheme; when settled, it takes that of its contract.
    let kontrakt = contract(&hof, "Hof", json!({})).id();
    let booked = |more: Value| and(json!({"kontrakt_id": kontrakt}), more);
    let early = hof.note(1_000, "", booked(json!({})));
    hof.post(SCHEMES, wheat(json!({}))).is(201);
    hof.post(SCHEMES, tenth(json!({}))).is(201);
    let body = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 1_000, "lieferdatum": "2026-07-20"});
    hof.post(NOTES, body.clone()).refused(400, "SCHEMA_MEHRDEUTIG");
    hof.post(NOTES, and(body.clone(), booked(json!({})))).refused(400, "SCHEMA_MEHRDEUTIG");
    hof.preview("end", &[&early], json!({})).refused(400, "SCHEMA_MEHRDEUTIG");
    let path = format!("{KONTRAKTE}/{kontrakt}");
    let changed = hof.mill.client.put(&path, json!({"schema": "ZEHNT"}));
    assert_eq!((&changed.is(200)["schema"], changed.body.get("schema_id")), (&json!("ZEHNT"), None));
    let taken = |id: &str| {
        let schein = hof.schein(id);
        json!([schein["schema"], schein["netto_menge_kg"]])
    };
    let note = hof.note(1_000, A, booked(json!({})));
    assert_eq!(taken(&note), json!(["ZEHNT", "900.000"]));
    let named = hof.note(1_000, A, booked(json!({"schema": "WEIZEN"})));
    assert_eq!(taken(&named), json!(["WEIZEN", "970.000"]));
    // A contract of another partner, or a sales contract, has no effect.
    hof.post(NOTES, and(body.clone(), booked(json!({"kundennummer": "Gut"}))))
        .refused(400, "SCHEMA_MEHRDEUTIG");
    // Also by way of the weighing.
    let weighed = json!({"waage_id": 1, "gewicht_erst_kg": 3_000, "partner_id": hof.mill.partner_id("Hof"),
        "artikel_id": hof.mill.artikel_id("W"), "kontrakt_id": kontrakt});
    let weighing = hof.post("/api/v1/wiegungen", weighed).id();
    hof.mill
        .client
        .put(&format!("/api/v1/wiegungen/{weighing}/zweitwiegung"), json!({"gewicht_zweit_kg": 1_000}))
        .is(200);
    let weighed = hof.post(NOTES, json!({"wiegung_id": weighing, "lieferdatum": "2026-07-20"}));
    assert_eq!(weighed.is(201)["netto_menge_kg"], "1800.000");
    let seen = hof.preview("end", &[&early], json!({}));
    assert_eq!(seen.is(200)["annahmescheine"][0]["schema"], "ZEHNT");
    assert!(seen.hint_codes().contains(&"SCHEMA_GEAENDERT".to_owned()));
    // If the contract's scheme is not valid on the delivery day, no other one is used silently.
    let later = and(body, booked(json!({"lieferdatum": "1999-12-31"})));
    let refused = hof.post(NOTES, later);
    let message = refused.refused(400, "SCHEMA_PASST_NICHT")["message"].as_str().unwrap();
    assert!(message.starts_with("Der Kontrakt K-1 nennt das Schema ZEHNT, das am 31.12.1999"), "{message}");
    assert_eq!(changes(&hof, &path), json!([["schema", null, "ZEHNT"]]));
}

/// The fields of the changes of a contract, newest first.
fn changes(hof: &Hof<'_>, path: &str) -> Value {
    let rows = hof.mill.client.get(&format!("{path}/verlauf")).is(200)["data"].as_array().unwrap().clone();
    let fields = rows.iter().flat_map(|row| row["felder"].as_array().unwrap());
    fields.map(|feld| json!([feld["feld"], feld["alt"], feld["neu"]])).collect()
}

#[test]
fn a_contract_names_a_scheme_that_is_for_its_articles_in_its_time() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let of_time = json!({"gueltig_von": "2026-07-01", "gueltig_bis": "2026-07-31"});
    hof.post(SCHEMES, tenth(of_time.clone())).is(201);
    let rye = json!([{"position": 1, "artikelnr": "W"}, {"position": 2, "artikelnr": "R"}]);
    let days = |von: &str, bis: &str| json!({"gueltig_von": von, "gueltig_bis": bis});
    let table = [
        (json!({"schema": "nirgends"}), "SCHEMA_NICHT_GEFUNDEN"),
        (json!({"positionen": rye}), "SCHEMA_PASST_NICHT"),
        (days("2026-08-01", "2026-08-31"), "SCHEMA_PASST_NICHT"),
        (days("2026-06-01", "2026-06-30"), "SCHEMA_PASST_NICHT"),
    ];
    for (more, code) in table {
        let refused = contract(&hof, "Hof", and(json!({"schema": "ZEHNT"}), more.clone()));
        assert_eq!(refused.refused(400, code)["feld"], "schema", "{more}");
    }
    let open = json!({"schema": "ZEHNT", "gueltig_von": null, "gueltig_bis": null, "positionen": null});
    contract(&hof, "Hof", and(json!({"kontrakt_nr": "K-2"}), open)).is(201);
    let id = contract(&hof, "Hof", and(json!({"schema": "ZEHNT"}), days("2026-07-31", "2026-08-31"))).id();
    let path = format!("{KONTRAKTE}/{id}");
    let put = |body: Value| hof.mill.client.put(&path, body);
    put(json!({"gueltig_von": "2026-08-01"})).refused(400, "SCHEMA_PASST_NICHT");
    // It ends earlier; unchanged fields of the contract are not checked again.
    let scheme = hof.mill.client.get(SCHEMES).is(200)["data"][0]["id"].as_str().unwrap().to_owned();
    let next = tenth(json!({"gueltig_von": "2026-07-15", "artikel": ["R"]}));
    hof.post(&format!("{SCHEMES}/{scheme}/versionen"), next).is(201);
    assert_eq!(put(json!({"erledigt": true})).is(200)["schema"], "ZEHNT");
    put(json!({"schema": null})).is(200);
    put(json!({"schema": "ZEHNT"})).refused(400, "SCHEMA_PASST_NICHT");
    // An import names it by its number; repeating the import changes nothing.
    let import = |row: Value| {
        let path = server.database.with_file_name("kontrakte.json");
        std::fs::write(&path, json!([row]).to_string()).unwrap();
        let tenant = hof.mill.client.tenant.to_string();
        let output = server.cli(&["import", "kontrakte", path.to_str().unwrap(), "--tenant", &tenant]);
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let row = json!({"kontrakt_nr": "K-1", "gueltig_von": "2026-07-01", "schema": "ZEHNT"});
    assert_eq!(import(row.clone()), (true, "0 neu, 1 geändert, 0 unverändert\n".to_owned()));
    assert_eq!(import(row), (true, "0 neu, 0 geändert, 1 unverändert\n".to_owned()));
    assert_eq!(hof.mill.client.get(&path).is(200)["schema"], "ZEHNT");
    for nummer in ["nirgends", ""] {
        let is_blank = nummer.is_empty();
        assert_eq!(import(json!({"kontrakt_nr": "K-1", "schema": nummer})).0, is_blank, "{nummer}");
    }
    assert!(!import(json!({"kontrakt_nr": "K-1", "gueltig_von": "2026-08-01"})).0);
    assert_eq!(hof.mill.client.get(&path).is(200)["schema"], "ZEHNT");
}

#[test]
fn a_contract_of_another_partner_says_neither_price_nor_quantity() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let ours = contract(&hof, "Gut", json!({})).id();
    let sold = contract(&hof, "Hof", json!({"kontrakt_nr": "K-2", "kontrakt_typ": "VK"})).id();
    for kontrakt in [&ours, &sold] {
        let notes = [2_000, 3_000].map(|kg| hof.note(kg, "", json!({"kontrakt_id": kontrakt})));
        let made = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
        assert_eq!(sums(made.is(201))[0], "1050.00");
        let beleg = hof.beleg(&made);
        assert_eq!(items(&beleg), ["2.000 210.0000 420.00", "3.000 210.0000 630.00"]);
        let names = |item: &Value| !item["kontrakt_id"].is_null();
        assert!(!beleg["positionen"].as_array().unwrap().iter().any(names), "{beleg}");
        let note = &hof.mill.client.get(&format!("{PATH}/{}", made.id())).body["annahmescheine"][0];
        assert_eq!(note["teile"][0]["kontrakt"], Value::Null);
        let shown = hof.mill.client.get(&format!("{KONTRAKTE}/{kontrakt}"));
        assert_eq!(shown.is(200)["abgerechnet"], "0.000");
        // And without its own price.
        let without = hof.note(1_000, "", json!({"kontrakt_id": kontrakt, "preis_je_t": null}));
        hof.settle("end", &[&without], json!({})).refused(400, "PREIS_FEHLT");
    }
}

#[test]
fn what_was_settled_is_shown_in_the_unit_of_the_contract() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let dt = contract(&hof, "Hof", json!({"gesamtmenge": 50, "gesamtmenge_einheit": "dt"})).id();
    let note = hof.note(1_250, "", json!({"kontrakt_id": dt, "preis_je_t": null}));
    let open = hof.settle("end", &[&note], json!({"abschliessen": false}));
    // 300 EUR/dt are 3,000 EUR/t.
    assert_eq!(sums(open.is(201))[0], "3750.00");
    let shown = |id: &str| {
        let shown = hof.mill.client.get(&format!("{KONTRAKTE}/{id}"));
        json!([shown.is(200)["abgerechnet"], shown.body["geliefert"]])
    };
    assert_eq!(shown(&dt), json!(["12.500", "12.500"]));
    let other = json!({"kontrakt_nr": "K-2", "gesamtmenge_einheit": "Stk", "positionen": null});
    assert_eq!(shown(&contract(&hof, "Hof", other).id())[0], Value::Null);
}

/// Positions of one article, each with its own price, are paid one after the other.
#[test]
fn a_contract_in_tranches_is_paid_at_the_price_of_each() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let tranches = |number: &str, whole: i64, of: [(i64, i64); 2]| {
        let of = of.map(|(menge, preis)| json!({"artikelnr": "W", "menge": menge, "preis": preis}));
        contract(&hof, "Hof", json!({"kontrakt_nr": number, "gesamtmenge": whole, "positionen": of})).id()
    };
    let note =
        |kontrakt: &str, kg: i64| hof.note(kg, "", json!({"kontrakt_id": kontrakt, "preis_je_t": null}));
    let one = tranches("T-1", 100, [(50, 200), (50, 210)]);
    let notes = [note(&one, 40_000), note(&one, 40_000)];
    let made = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
    assert_eq!(sums(made.is(201))[0], "16300.00");
    assert_eq!(
        items(&hof.beleg(&made)),
        ["40.000 200.0000 8000.00", "10.000 200.0000 2000.00", "30.000 210.0000 6300.00"]
    );
    // What is left of it: 20 t of the second.
    let more = note(&one, 25_000);
    hof.settle("end", &[&more], json!({})).refused(400, "KONTRAKT_UEBERLIEFERT");
    let rest = hof.settle("end", &[&more], json!({"rest_preis_je_t": 150}));
    assert_eq!(items(&hof.beleg(&rest)), ["20.000 210.0000 4200.00", "5.000 150.0000 750.00"]);
    let settled = || hof.mill.client.get(&format!("{KONTRAKTE}/{one}")).body["abgerechnet"].clone();
    assert_eq!(settled(), "100.000");
    hof.storno(&rest).is(200);
    assert_eq!(settled(), "80.000");
    // In two settlements as in one, and a price that is sent holds for all.
    let two = tranches("T-2", 40, [(20, 180), (20, 200)]);
    let notes = [note(&two, 15_000), note(&two, 15_000), note(&two, 10_000)];
    let first = hof.settle("end", &[&notes[0]], json!({}));
    assert_eq!(sums(first.is(201))[0], "2700.00");
    let second = hof.settle("end", &[&notes[1]], json!({}));
    assert_eq!(items(&hof.beleg(&second)), ["5.000 180.0000 900.00", "10.000 200.0000 2000.00"]);
    let third = hof.settle("end", &[&notes[2]], json!({"preis_je_t": 190}));
    assert_eq!(sums(third.is(201))[0], "1900.00");
}

/// 100 t in all, of two articles: 140 t are 40 t too much, whether or not their positions have quantities.
#[test]
fn the_bound_of_the_whole_contract_holds_beside_those_of_its_positions() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    for (number, menge) in [("B-1", json!(70)), ("B-2", Value::Null)] {
        let of = |artikel: &str, preis: i64| json!({"artikelnr": artikel, "menge": menge, "preis": preis});
        let positions = json!([of("W", 200), of("R", 180)]);
        let whole = json!({"kontrakt_nr": number, "gesamtmenge": 100, "positionen": positions});
        let kontrakt = contract(&hof, "Hof", whole).id();
        let note = |artikel: &str| {
            let body = json!({"kundennummer": "Hof", "artikelnr": artikel, "anliefermenge_kg": 70_000,
                "lieferdatum": "2026-07-20", "kontrakt_id": kontrakt, "fremde_charge_nr": number,
                "el_erzeugen": true});
            hof.post(NOTES, body)
        };
        let (wheat, rye) = (note("W"), note("R"));
        let over = "KONTRAKT_UEBERLIEFERT".to_owned();
        assert!(
            !wheat.hint_codes().contains(&over) && rye.hint_codes().contains(&over),
            "{number}: {}",
            rye.body
        );
        let notes = [wheat.id(), rye.id()];
        let refused = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
        let message = refused.refused(400, &over)["message"].as_str().unwrap();
        assert!(message.contains("40.000 kg"), "{message}");
        // A price of the rest holds for one article.
        assert_eq!(sums(hof.settle("end", &[&notes[0]], json!({})).is(201))[0], "14000.00");
        hof.settle("end", &[&notes[1]], json!({})).refused(400, &over);
        let made = hof.settle("end", &[&notes[1]], json!({"rest_preis_je_t": 100}));
        assert_eq!(
            items(&hof.beleg(&made)),
            ["30.000 180.0000 5400.00", "40.000 100.0000 4000.00"],
            "{number}"
        );
    }
}

/// Quantities alone, of a note that is settled: what was exported is imported again and changes nothing.
#[test]
fn a_settled_note_is_exported_and_imported_again() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let notes = [hof.note(500, "", json!({})), hof.note(800, "", json!({"preis_je_t": null}))];
    hof.settle("end", &[&notes[0]], json!({})).is(201);
    let before = notes.clone().map(|id| hof.schein(&id));
    let text = String::from_utf8(hof.mill.client.get(&format!("{NOTES}?format=csv")).bytes).unwrap();
    let said = server.import(&hof.mill.client, "annahmescheine", text.trim_start_matches('\u{feff}'));
    assert!(said.ends_with("0 neu, 0 geändert, 2 unverändert\n"), "{said}");
    assert_eq!(notes.map(|id| hof.schein(&id)), before);
}
