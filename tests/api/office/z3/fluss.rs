//! The flow of documents in a hand-over: as single documents show it (D38).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::made;
use crate::harness::{COMPLETE, Client, Server};
use crate::interface::tabelle::data::BEGIN;

/// What the documents of a company say of the positions before theirs: document, position, the other document and position,
/// how it was found.
fn shown(mill: &Client, ids: &[&str]) -> BTreeSet<[String; 5]> {
    let mut shown = BTreeSet::new();
    for id in ids {
        let beleg = mill.get(&format!("/api/v1/belege/{id}")).is(200).clone();
        for position in beleg["positionen"].as_array().unwrap() {
            for before in position["vorgaenger"].as_array().unwrap() {
                let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
                shown.insert(
                    [
                        &beleg["id"],
                        &position["position"],
                        &before["beleg_nummer"],
                        &before["position"],
                        &before["art"],
                    ]
                    .map(text),
                );
            }
        }
    }
    shown
}

#[test]
fn the_flow_of_documents_is_that_which_they_show() {
    let server = Server::start_at(BEGIN);
    let mill = server.company_with("Mühle", COMPLETE);
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;einheit;preis;mwst_satz\nS;Sack;Stk;10;19\n");
    let kunde = mill.post("/api/v1/kunden", json!({"name": "Bäcker", "ort": "Dorf"})).id();
    let post = |typ: &str, day: &str, item: Value| {
        let body = json!({"beleg_typ": typ, "kunden_id": kunde, "beleg_datum": day, "items": [item]});
        mill.post("/api/v1/belege", body).id()
    };
    let sacks = |menge: i64| json!({"artikelnr": "S", "menge": menge});
    let of = |id: &str, menge: i64| json!({"artikelnr": "S", "menge": menge, "bezug_beleg_id": id});
    let order = post("AU", "2031-05-31", sacks(10));
    let more = post("AU", "2031-05-31", sacks(20));
    let named = post("LS", "2031-06-01", of(&order, 10));
    let exact = post("RE", "2031-06-02", sacks(10));
    let delivery = post("LS", "2031-06-03", sacks(7));
    let guessed = post("RE", "2031-06-04", sacks(4));
    let back = post("LS", "2031-06-05", of(&delivery, -2));
    let credit = post("RE", "2031-06-06", of(&guessed, -1));
    let sent = post("LS", "2031-06-07", of(&more, 9));
    let billed = post("RE", "2031-06-08", of(&more, 5));
    let ids = [&order, &named, &exact, &delivery, &guessed, &back, &credit, &more, &sent, &billed];
    let ids = ids.map(String::as_str);
    let file = made(&mill, "2031-06-01", "2031-06-30");
    file.check();
    let flow = file.table("belegfluss");
    let columns = ["Beleg_ID", "Position", "Von_Belegnummer", "Von_Position", "Art"];
    let rows = flow.rows.iter().map(|row| columns.map(|column| flow.value(row, column).to_owned()));
    let expected = shown(&mill, &ids);
    assert_eq!(rows.collect::<BTreeSet<_>>(), expected);
    let kinds: BTreeSet<_> = expected.iter().map(|row| row[4].as_str()).collect();
    assert_eq!(kinds, BTreeSet::from(["genannt", "genau", "vorgeschlagen"]));
    // The order lies before the period: it is a number.
    let first = flow.rows.iter().find(|row| row[0] == named).unwrap();
    assert_eq!(flow.value(first, "Von_Belegnummer"), "AU-2031-00001");
    assert_eq!(flow.value(first, "Menge_in_Artikeleinheit"), "10,000000");
    // What a document of a later period was made from stands there.
    let earlier = made(&mill, "2031-06-01", "2031-06-01");
    assert_eq!(earlier.table("belegfluss").rows.len(), 1);
    // As those of a document say it, the storno of the order leaves the delivery without one.
    mill.post(&format!("/api/v1/belege/{order}/storno"), json!({"grund": "Versehen"})).is(200);
    assert!(made(&mill, "2031-06-01", "2031-06-01").table("belegfluss").rows.is_empty());
    assert!(shown(&mill, &[&named]).is_empty());
}

#[test]
fn weighings_notes_and_items_name_their_position_of_the_contract() {
    let server = Server::start_at(BEGIN);
    let mill = server.company_with("Mühle", COMPLETE);
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;einheit;mwst_satz\nS;Sack;kg;7\n");
    let body = json!({"name": "Hof", "ort": "Dorf", "partner_typen": ["lieferant"]});
    let hof = mill.post("/api/v1/kunden", body).id();
    let artikel = mill.get("/api/v1/artikel").is(200)["data"][0]["id"].clone();
    let at = |preis: i64| json!({"artikelnr": "S", "menge": 20, "preis": preis});
    let body = json!({"kontrakt_nr": "K", "kontrakt_typ": "EK", "partner_id": hof, "gesamtmenge_einheit": "t",
        "positionen": [at(180), at(200)]});
    let contract = mill.post("/api/v1/kontrakte", body).id();
    let second = mill.get(&format!("/api/v1/kontrakte/{contract}")).is(200)["positionen"][1]["id"].clone();
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 30_000, "partner_id": hof, "artikel_id": artikel,
        "kontrakt_position_id": second});
    let weighing = mill.post("/api/v1/wiegungen", first).id();
    let path = format!("/api/v1/wiegungen/{weighing}/zweitwiegung");
    mill.put(&path, json!({"gewicht_zweit_kg": 10_000})).is(200);
    let day = BEGIN.split('T').next().unwrap();
    let note = json!({"wiegung_id": weighing, "lieferdatum": day, "el_erzeugen": true});
    mill.post("/api/v1/annahmescheine", note).is(201);
    let file = made(&mill, day, day);
    file.check();
    for csv in ["wiegungen", "annahmescheine", "positionen"] {
        let table = file.table(csv);
        assert_eq!(table.rows.len(), 1, "{csv}");
        assert_eq!(table.value(&table.rows[0], "Kontraktposition_ID"), second.as_str().unwrap(), "{csv}");
        assert_eq!(table.value(&table.rows[0], "Kontraktposition"), "2", "{csv}");
    }
}
