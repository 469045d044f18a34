//! A write is carried out again if its batch was rolled back because another request in it failed late.
//! Nobody notices.

use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use partnerd::interface::routes;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::http::route::{Route, Run};
use partnerd::rules::bytes::base64;
use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and, plain, sell};

/// How long something may take on a busy machine: as long as the writer waits for others.
const PATIENCE: Duration = Duration::from_secs(30);

/// A writing request: method, path of the route, ids in it, body.
type Write = (&'static str, &'static str, String, Value);

/// A request to each writing route; none depends on another one.
fn writes(mill: &Mill<'_>, charge: &str) -> Vec<Write> {
    let post = |path: &str, body: Value| mill.client.post(&format!("/api/v1/{path}"), body).id();
    let (hof, kunde, artikel) = (mill.partner_id("Hof"), mill.partner_id("Kd"), mill.artikel_id("W"));
    let [other, counted] = ["C2", "C3"].map(|fremde| mill.receive(fremde, 10));
    let count = json!({"bestand": 8, "grund": "Inventur"});
    let invoice = || mill.post("RE", sell(1, charge)).id();
    let settled = invoice();
    mill.finalise(&settled);
    let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 40_120, "partner_id": hof});
    let weigh = || post("wiegungen", weighing.clone());
    let note = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 50});
    let order = post("produktionsauftraege", json!({}));
    let scheme = |nummer: &str| {
        json!({"nummer": nummer, "bezeichnung": "Neu", "artikel": ["S"],
        "gueltig_von": "2026-07-01"})
    };
    let schema = post("abrechnungsschemata", scheme("A"));
    let items = json!({"items": [sell(2, charge)]});
    let file = json!({"dateiname": "a.txt", "inhalt_base64": "MA=="});
    let pdf = json!({"dateiname": "a.pdf", "datei_base64": "JVBERi0x"});
    let why = json!({"grund": "Versehen"});
    let none = String::new();
    let named = |more: Value| post("annahmescheine", and(note.clone(), more));
    let sacks = named(json!({"artikelnr": "S", "schema": "A"}));
    let delivered =
        |fremde: &str| named(json!({"preis_je_t": 200, "el_erzeugen": true, "fremde_charge_nr": fremde}));
    let settlement = |schein: String| json!({"art": "end", "annahmeschein_ids": [schein]});
    let settlement_made = post("abrechnungen", settlement(delivered("N1")));
    let kontrakt =
        post("kontrakte", json!({"kontrakt_nr": "V", "positionen": [{"artikelnr": "S", "menge": 1}]}));
    mill.client.put("/api/v1/datev/konten", json!({"fall": "erloes", "konto": 8300, "satz": 7})).is(200);
    let dated =
        json!({"beleg_datum": "2026-07-01", "items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1}]});
    let dated = post("belege", and(json!({"beleg_typ": "RE", "kundennummer": "Kd"}), dated));
    mill.finalise(&dated);
    let stapel = post("datev/stapel", json!({"bis": "2026-07-01"}));
    vec![
        ("PUT", "/api/v1/datev/konten", none.clone(), json!({"fall": "erloes", "konto": 8301, "satz": 7})),
        ("POST", "/api/v1/datev/stapel", none.clone(), json!({"bis": "2026-06-30"})),
        ("POST", "/api/v1/datev/stapel/{id}/verwerfen", stapel, why.clone()),
        ("POST", "/api/v1/kunden", none.clone(), json!({"name": "Neu", "unbekannt": 1})),
        ("PUT", "/api/v1/kunden/{id}", kunde.clone(), json!({"strasse": "Am Bach 1", "unbekannt": 1})),
        ("POST", "/api/v1/kunden/{id}/dokumente", kunde, file.clone()),
        ("POST", "/api/v1/artikel/{id}/dokumente", artikel.clone(), file),
        (
            "POST",
            "/api/v1/belege",
            none.clone(),
            and(json!({"beleg_typ": "RE", "kundennummer": "Kd", "unbekannt": 1}), items.clone()),
        ),
        ("PUT", "/api/v1/belege/{id}", invoice(), items),
        ("POST", "/api/v1/belege/{id}/abschliessen", invoice(), json!({"unbekannt": 1})),
        ("POST", "/api/v1/belege/{id}/erledigen", settled, json!({"ohne_gegenbeleg": true})),
        ("POST", "/api/v1/belege/{id}/storno", invoice(), why.clone()),
        ("POST", "/api/v1/belege/{id}/pdf", invoice(), pdf),
        (
            "POST",
            "/api/v1/belege/einlesen",
            none.clone(),
            json!({"datei_base64": base64(INVOICE), "kunden_id": hof, "anlegen": true}),
        ),
        (
            "POST",
            "/api/v1/artikel",
            none.clone(),
            json!({"artikelnummer": "N", "bezeichnung": "Neu", "gruppe": "X",
                "staffelpreise": [{"ab_menge": 1, "preis": 1}]}),
        ),
        ("PUT", "/api/v1/artikel/{id}", mill.artikel_id("S"), json!({"ean": "4006381333931"})),
        (
            "POST",
            "/api/v1/kontrakte",
            none.clone(),
            json!({"kontrakt_nr": "N", "positionen": [{"artikelnr": "S", "menge": 5}]}),
        ),
        ("PUT", "/api/v1/kontrakte/{id}", kontrakt, json!({"referenz": "R", "positionen": []})),
        ("POST", "/api/v1/chargen", none.clone(), json!({"artikel_id": artikel, "einheit": "kg"})),
        ("PUT", "/api/v1/chargen/{id}", other, json!({"mhd": "2027-07-31", "unbekannt": 1})),
        ("POST", "/api/v1/chargen/{id}/inventur", counted, count.clone()),
        ("POST", "/api/v1/artikel/{id}/inventur", mill.artikel_id("S"), count),
        ("POST", "/api/v1/wiegungen", none.clone(), weighing.clone()),
        ("PUT", "/api/v1/wiegungen/{id}/zweitwiegung", weigh(), json!({"gewicht_zweit_kg": 15_260})),
        ("PUT", "/api/v1/wiegungen/{id}/storno", weigh(), why.clone()),
        ("POST", "/api/v1/annahmescheine", none.clone(), note.clone()),
        (
            "POST",
            "/api/v1/annahmescheine/{id}/analysen",
            named(json!({})),
            json!({"werte": [{"merkmal": "feuchte", "wert": 15}]}),
        ),
        ("PUT", "/api/v1/annahmescheine/{id}/freigabe", sacks, json!({"grund": "Muster", "schema": "A"})),
        ("POST", "/api/v1/abrechnungen/vorschau", none.clone(), settlement(delivered("N3"))),
        ("POST", "/api/v1/abrechnungen", none.clone(), settlement(delivered("N2"))),
        ("POST", "/api/v1/abrechnungen/{id}/korrektur", settlement_made, why.clone()),
        ("POST", "/api/v1/abrechnungsschemata", none.clone(), scheme("B")),
        ("POST", "/api/v1/abrechnungsschemata/{id}/versionen", schema, scheme("A")),
        ("PUT", "/api/v1/annahmescheine/{id}/storno", post("annahmescheine", note), why),
        (
            "POST",
            "/api/v1/z3",
            none.clone(),
            json!({"von": "2026-01-01", "bis": "2026-07-10", "unbekannt": 1}),
        ),
        ("POST", "/api/v1/produktionsauftraege", none, json!({"bezeichnung": "Mehl"})),
        ("PUT", "/api/v1/produktionsauftraege/{id}/status", order, json!({"status": "geplant"})),
    ]
}

fn send(mill: &Mill<'_>, (method, path, id, body): &Write) -> Answer {
    mill.client.send(method, &path.replace("{id}", id), &[], Some(body.to_string().as_bytes()))
}

/// An invoice of the supplier.
const INVOICE: &[u8] = b"<Invoice><ID>88</ID><AccountingSupplierParty><Party><PartyLegalEntity><RegistrationName>Hof\
    </RegistrationName></PartyLegalEntity></Party></AccountingSupplierParty><LegalMonetaryTotal/><InvoiceLine>\
    <LineExtensionAmount>5</LineExtensionAmount><Item><Name>Fracht</Name></Item></InvoiceLine></Invoice>";

/// The answer without ids and without the numbers that several of the requests take from one series.
fn told(answer: &Answer) -> (u16, Value) {
    fn without_ids(value: &mut Value) {
        match value {
            Value::String(text) if text.parse::<uuid::Uuid>().is_ok() => *value = json!("id"),
            Value::String(text) if text.starts_with("ER-2026-") => *value = json!("ER"),
            Value::Array(values) => values.iter_mut().for_each(without_ids),
            Value::Object(fields) => fields.values_mut().for_each(without_ids),
            _ => {}
        }
    }
    let mut body = answer.body.clone();
    without_ids(&mut body);
    (answer.status, body)
}

/// The value of a metric.
fn metric(mill: &Mill<'_>, name: &str) -> usize {
    let metrics = String::from_utf8(mill.client.get("/metrics").bytes).unwrap();
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name} in {metrics}")).parse().unwrap()
}

/// Waits until a metric has this value.
fn until(mill: &Mill<'_>, name: &str, wanted: usize) {
    let begin = Instant::now();
    while metric(mill, name) != wanted {
        assert!(begin.elapsed() < PATIENCE, "{name} is {}, not {wanted}", metric(mill, name));
        thread::sleep(Duration::from_millis(1));
    }
}

/// Sends all writes so that they form one batch, with a last request that is refused after it has written.
fn in_one_batch(mill: &Mill<'_>, charge: &str, writes: &[Write]) -> Vec<Answer> {
    let other_program = open_writer(&mill.server.database).unwrap();
    let before = metric(mill, "partnerd_write_batch_count");
    other_program.execute_batch("begin immediate").unwrap();
    thread::scope(|scope| {
        // While this one waits for the other program's lock, so does the writer.
        let first = scope.spawn(|| mill.post("AN", plain(1)));
        until(mill, "partnerd_write_batch_count", before + 1);
        let (tell, told) = channel();
        for (at, write) in writes.iter().enumerate() {
            let tell = tell.clone();
            scope.spawn(move || tell.send((at, send(mill, write))));
        }
        drop(tell);
        until(mill, "partnerd_write_queue", writes.len());
        let last = scope.spawn(|| mill.post("RE", sell(100_000, charge)));
        until(mill, "partnerd_write_queue", writes.len() + 1);
        other_program.execute_batch("rollback").unwrap();
        first.join().unwrap().is(201);
        last.join().unwrap().refused(400, "BESTAND_NICHT_AUSREICHEND");
        let mut answers: Vec<_> = told.iter().take(writes.len()).collect();
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, answer)| answer).collect()
    })
}

#[test]
fn every_write_comes_to_the_same_when_its_batch_was_undone() {
    let advised = [("datev_berater", "1001"), ("datev_mandant", "1"), ("datev_ab", "2026-01-01")];
    let settings =
        [&[("negativbestand", "ablehnen"), ("firma", "Mühle"), ("ort", "Dorf")][..], &advised].concat();
    let (alone, together) = (Server::start(), Server::start());
    let of = |server| Mill::with(server, "Mühle", &settings);
    let (alone, together) = (of(&alone), of(&together));
    let charges = [&alone, &together].map(|mill| mill.receive("C1", 1_000));
    let own = writes(&alone, &charges[0]);
    let sent: BTreeSet<_> = own.iter().map(|(method, path, ..)| format!("{method} {path}")).collect();
    let writing =
        routes::all().filter(|route| matches!(route.run, Run::Write(_) | Run::Draft(_))).map(Route::name);
    assert_eq!(sent, writing.collect(), "each route that writes, once");
    let expected: Vec<_> = own.iter().map(|write| send(&alone, write)).collect();
    for ((method, path, ..), expected) in own.iter().zip(&expected) {
        assert!(expected.status < 300, "{method} {path}: {}", expected.body);
    }
    let again = in_one_batch(&together, &charges[1], &writes(&together, &charges[1]));
    for (((method, path, ..), expected), again) in own.iter().zip(&expected).zip(&again) {
        assert_eq!(told(again), told(expected), "{method} {path}");
    }
    let count = "select count(*) from beleg_position p join lagerbewegung l on l.beleg_id = p.beleg_id";
    assert_eq!(together.server.sql::<i64>(count), alone.server.sql::<i64>(count));
}
