//! The change feed (D28): every change exactly once, in commit order, whoever made it; and waiting for a change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use partnerd::interface::routes;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::http::route::Run;
use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};
use crate::trade::lager::{Mill, buy};

mod belegfluss;
mod folgen;
pub mod warten;

const PATH: &str = "/api/v1/aenderungen";

/// Reads all changes after a cursor; returns them and the cursor after them.
fn follow(client: &Client, cursor: &str) -> (Vec<Value>, String) {
    let (mut found, mut cursor) = (Vec::new(), cursor.to_owned());
    loop {
        let answer = client.get(&format!("{PATH}?seit={cursor}"));
        let body = answer.is(200);
        found.extend(body["data"].as_array().unwrap().iter().cloned());
        cursor = body["cursor"].as_str().unwrap().to_owned();
        if body["data"].as_array().unwrap().is_empty() {
            return (found, cursor);
        }
    }
}

/// The cursor at the current end of the feed.
fn now(client: &Client) -> String {
    client.get(PATH).is(200)["cursor"].as_str().unwrap().to_owned()
}

/// Kind, number and action of each change.
fn short(changes: &[Value]) -> Vec<[&str; 3]> {
    changes
        .iter()
        .map(|change| ["art", "nummer", "aktion"].map(|field| change[field].as_str().unwrap()))
        .collect()
}

/// Calls the writing routes, and collects the kinds of records that the feed names after each.
struct Walk<'m> {
    mill: &'m Mill<'m>,
    told: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Walk<'_> {
    /// Sends a request to a route, with the ids for its path, and records what the feed says about it.
    fn ask(&mut self, route: &'static str, ids: &[&str], body: Value) -> Answer {
        let (method, pattern) = route.split_once(' ').unwrap();
        let mut path = pattern.to_owned();
        ids.iter().for_each(|id| path = path.replacen("{id}", id, 1));
        let client = &self.mill.client;
        let before = now(client);
        let answer = client.send(method, &path, &[], Some(body.to_string().as_bytes()));
        assert!(answer.status < 300, "{route}: {}", answer.body);
        let kinds = follow(client, &before)
            .0
            .iter()
            .map(|change| change["art"].as_str().unwrap().to_owned())
            .collect();
        self.told.insert(route, kinds);
        answer
    }
}

fn pdf() -> Value {
    json!({"dateiname": "a.txt", "inhalt_base64": "Zm9v"})
}

/// Calls every route that writes a single record.
fn walk<'m>(mill: &'m Mill<'m>) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut walk = Walk { mill, told: BTreeMap::new() };
    let kunde = walk.ask("POST /api/v1/kunden", &[], json!({"name": "Neu"})).id();
    walk.ask("PUT /api/v1/kunden/{id}", &[&kunde], json!({"telefon": "1"}));
    walk.ask("POST /api/v1/kunden/{id}/dokumente", &[&kunde], pdf());
    let artikel = json!({"artikelnummer": "G", "bezeichnung": "Gerste"});
    let artikel = walk.ask("POST /api/v1/artikel", &[], artikel).id();
    walk.ask(
        "PUT /api/v1/artikel/{id}",
        &[&artikel],
        json!({"staffelpreise": [{"ab_menge": 1, "preis": 1}]}),
    );
    walk.ask("POST /api/v1/artikel/{id}/dokumente", &[&mill.artikel_id("W")], pdf());
    let counted = json!({"bestand": 3, "grund": "x"});
    walk.ask("POST /api/v1/artikel/{id}/inventur", &[&mill.artikel_id("S")], counted.clone());
    let kontrakt = walk.ask("POST /api/v1/kontrakte", &[], json!({"kontrakt_nr": "V-9"})).id();
    let positionen = json!({"positionen": [{"artikelnr": "S", "menge": 5}]});
    walk.ask("PUT /api/v1/kontrakte/{id}", &[&kontrakt], positionen);
    let mut schema =
        json!({"nummer": "A", "bezeichnung": "Neu", "artikel": ["S"], "gueltig_von": "2026-07-01"});
    let angelegt = walk.ask("POST /api/v1/abrechnungsschemata", &[], schema.clone()).id();
    schema["gueltig_von"] = json!("2026-08-01");
    walk.ask("POST /api/v1/abrechnungsschemata/{id}/versionen", &[&angelegt], schema);
    let item = |menge: i64| json!([{"artikelnr": "S", "menge": menge}]);
    let beleg = json!({"beleg_typ": "AU", "kundennummer": "Kd", "items": item(1)});
    let auftrag = walk.ask("POST /api/v1/belege", &[], beleg).id();
    walk.ask("PUT /api/v1/belege/{id}", &[&auftrag], json!({"notizen": "x"}));
    walk.ask("POST /api/v1/belege/{id}/abschliessen", &[&auftrag], json!({}));
    walk.ask("POST /api/v1/belege/{id}/erledigen", &[&auftrag], json!({}));
    walk.ask("POST /api/v1/belege/{id}/pdf", &[&auftrag], json!({"datei_base64": "JVBERi0x"}));
    walk.ask("POST /api/v1/belege/{id}/storno", &[&auftrag], json!({"grund": "x"}));
    mill.server.import(
        &mill.client,
        "artikel",
        r#"[{"artikelnummer": "N", "bezeichnung": "Neu", "einheit": "kg"}]"#,
    );
    let hof = mill.partner_id("Hof");
    walk.ask("PUT /api/v1/kunden/{id}", &[&hof], json!({"ust_id": "DE123456789"}));
    walk.ask("POST /api/v1/belege/einlesen", &[], crate::trade::einlesen::er_of("N"));
    let neu = json!({"artikel_id": mill.artikel_id("W"), "fremde_charge_nr": "F"});
    let charge = walk.ask("POST /api/v1/chargen", &[], neu).id();
    walk.ask("PUT /api/v1/chargen/{id}", &[&charge], json!({"mhd": "2027-01-31"}));
    walk.ask("POST /api/v1/chargen/{id}/inventur", &[&charge], counted);
    let erst = json!({"waage_id": 1, "gewicht_erst_kg": 40_000, "partner_id": hof});
    let wiegung = walk.ask("POST /api/v1/wiegungen", &[], erst.clone()).id();
    walk.ask("PUT /api/v1/wiegungen/{id}/zweitwiegung", &[&wiegung], json!({"gewicht_zweit_kg": 15_000}));
    walk.ask("PUT /api/v1/wiegungen/{id}/storno", &[&wiegung], json!({"grund": "x"}));
    let weighed = walk.ask("POST /api/v1/wiegungen", &[], erst).id();
    walk.ask("PUT /api/v1/wiegungen/{id}/zweitwiegung", &[&weighed], json!({"gewicht_zweit_kg": 15_000}));
    let schein =
        json!({"kundennummer": "Hof", "artikelnr": "W", "wiegung_id": weighed, "fremde_charge_nr": "G"});
    let schein = walk.ask("POST /api/v1/annahmescheine", &[], schein).id();
    let werte = json!({"werte": [{"merkmal": "feuchte", "wert": 15}]});
    walk.ask("POST /api/v1/annahmescheine/{id}/analysen", &[&schein], werte);
    let neu = json!({"nummer": "WZ", "bezeichnung": "Weizen", "artikel": ["W"], "gueltig_von": "2026-07-01"});
    mill.client.post("/api/v1/abrechnungsschemata", neu).is(201);
    let anders = json!({"grund": "x", "schema": "WZ"});
    walk.ask("PUT /api/v1/annahmescheine/{id}/freigabe", &[&schein], anders);
    walk.ask("PUT /api/v1/annahmescheine/{id}/storno", &[&schein], json!({"grund": "x"}));
    let paid = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 50, "preis_je_t": 200,
        "fremde_charge_nr": "H"});
    let paid = mill.client.post("/api/v1/annahmescheine", paid).id();
    let end = json!({"art": "end", "annahmeschein_ids": [paid]});
    let abrechnung = walk.ask("POST /api/v1/abrechnungen", &[], end).id();
    walk.ask("POST /api/v1/abrechnungen/{id}/korrektur", &[&abrechnung], json!({"grund": "x"}));
    let sacks = json!([{"artikelnummer": "S", "menge": 3, "einheit": "Stk"}]);
    let rezeptur = json!([{"id": 1, "bezeichnung": "Packen", "inputs": sacks, "outputs": sacks}]);
    mill.server.import(&mill.client, "rezepturen", &rezeptur.to_string());
    let auftrag = json!({"rezeptur_id": 1});
    let auftrag = walk.ask("POST /api/v1/produktionsauftraege", &[], auftrag).id();
    walk.ask("PUT /api/v1/produktionsauftraege/{id}/status", &[&auftrag], json!({"status": "storniert"}));
    walk.told
}

#[test]
fn every_writing_route_leaves_its_row() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let told = walk(&mill);
    let kinds = [
        ("kunden", "kunde"),
        ("artikel", "artikel"),
        ("kontrakte", "kontrakt"),
        ("abrechnungsschemata", "abrechnungsschema"),
        // A settlement appears as its document.
        ("abrechnungen", "beleg"),
        ("belege", "beleg"),
        ("chargen", "charge"),
        ("wiegungen", "wiegung"),
        ("annahmescheine", "annahmeschein"),
        ("produktionsauftraege", "produktionsauftrag"),
    ];
    let mut seen = 0;
    // Data for the tax adviser or the auditor is no record that partners follow.
    // A preview is undone.
    let followed = |pattern: &str| {
        !["/api/v1/datev/", "/api/v1/z3"].iter().any(|begin| pattern.starts_with(begin))
            && !pattern.ends_with("/vorschau")
    };
    for route in routes::all().filter(|route| matches!(route.run, Run::Write(_)) && followed(route.pattern)) {
        let name = route.name();
        let place = route.pattern.split('/').nth(3).unwrap();
        let (_, kind) =
            kinds.iter().find(|(known, _)| *known == place).unwrap_or_else(|| panic!("{name}: which kind?"));
        let told = told.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not called here"));
        assert!(told.contains(*kind), "{name} left {told:?}");
        seen += 1;
    }
    assert_eq!(seen, told.len());
}

#[test]
fn master_data_that_is_sent_as_it_was_read_makes_no_version_and_leaves_no_row() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let client = &mill.client;
    let charge = json!({"artikel_id": mill.artikel_id("W"), "fremde_charge_nr": "F"});
    let charge = client.post("/api/v1/chargen", charge).id();
    let kontrakt = client.post("/api/v1/kontrakte", json!({"kontrakt_nr": "V-1"})).id();
    for (place, id) in [
        ("kunden", mill.partner_id("Hof")),
        ("artikel", mill.artikel_id("W")),
        ("chargen", charge),
        ("kontrakte", kontrakt),
    ] {
        let path = format!("/api/v1/{place}/{id}");
        let (before, cursor) = (client.get(&path), now(client));
        client.put(&path, before.is(200).clone()).is(200);
        let after = client.get(&path);
        assert_eq!((&after.body, &after.headers["etag"]), (&before.body, &before.headers["etag"]), "{path}");
        assert_eq!(follow(client, &cursor).0, [] as [Value; 0], "{path}");
    }
}

#[test]
fn what_the_command_line_does_leaves_its_row() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let client = &mill.client;
    let cursor = now(client);
    server.import(client, "kontrakte", r#"[{"kontrakt_nr": "V-1"}]"#);
    server.import(client, "kontrakte", r#"[{"kontrakt_nr": "V-1", "erledigt": true}]"#);
    server.import(
        client,
        "kontrakte",
        r#"[{"kontrakt_nr": "V-1", "positionen": [{"artikelnummer": "W", "menge": 1}]}]"#,
    );
    server.import(client, "artikel", r#"[{"artikelnummer": "S", "status": "inaktiv"}]"#);
    server.import(client, "staffelpreise", r#"[{"artikelnummer": "S", "ab_menge": 10, "preis": 1}]"#);
    let tiers = "artikelnummer;ab_menge;preis\nS;20;1\nW;10;1\n s ;30;1\nW;20;1\n";
    server.import(client, "staffelpreise", tiers);
    server.import(client, "kunden", r#"[{"kundennr": "Gut", "status": "inaktiv"}]"#);
    server.import(client, "kunden", r#"[{"kundennr": "Gut", "status": "inaktiv"}]"#);
    server.import(client, "chargen", r#"[{"artikelnummer": "W", "charge_nr": "A1", "bestand": 5}]"#);
    let expected = [
        ["kontrakt", "V-1", "angelegt"],
        ["kontrakt", "V-1", "erledigt"],
        ["kontrakt", "V-1", "erledigt"],
        ["artikel", "S", "inaktiv"],
        ["artikel", "S", "inaktiv"],
        ["artikel", "S", "inaktiv"],
        ["artikel", "W", "geaendert"],
        ["kunde", "Gut", "inaktiv"],
        ["charge", "A1", "angelegt"],
    ];
    let (told, cursor) = follow(client, &cursor);
    assert_eq!(short(&told), expected);
    // Documents of a past day are finalised without a request.
    let number = mill
        .post("RE", json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1, "mwst_satz": 19}))
        .is(201)["beleg_nummer"]
        .clone();
    server.set_clock("2026-07-11T10:00:00Z");
    let until = Instant::now() + Duration::from_secs(60);
    let told = loop {
        let (told, _) = follow(client, &cursor);
        if told.len() > 1 || Instant::now() > until {
            break told;
        }
    };
    let number = number.as_str().unwrap();
    let of_number: Vec<_> = short(&told).into_iter().filter(|change| change[1] == number).collect();
    assert_eq!(of_number, [["beleg", number, "angelegt"], ["beleg", number, "abgeschlossen"]]);
    let erledigen = server.cli(&["beleg", "erledigen", number, "--tenant", &client.tenant.to_string()]);
    assert!(erledigen.status.success(), "{}", String::from_utf8_lossy(&erledigen.stderr));
    let (told, _) = follow(client, &cursor);
    assert_eq!(short(&told).last(), Some(&["beleg", number, "erledigt"]));
}

#[test]
fn a_record_has_one_row_of_a_request_with_its_version() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let cursor = now(&mill.client);
    let first = mill.post("EL", json!([{"artikelnr": "W", "menge": 5, "fremde_charge_nr": "C1"}]));
    let charge = first.is(201)["lagerbewegungen"][0]["charge_id"].clone();
    let id = first.id();
    let (told, cursor) = follow(&mill.client, &cursor);
    assert_eq!(told.len(), 2, "{told:?}");
    let of = |told: &[Value], art: &str| told.iter().find(|change| change["art"] == art).unwrap().clone();
    assert_eq!(of(&told, "charge")["id"], charge);
    let beleg = of(&told, "beleg");
    assert_eq!((&beleg["id"], &beleg["version"]), (&json!(id), &json!(1)));
    assert_eq!(beleg["am"], "2026-07-10T10:00:00.000Z");
    // A request refused late leaves nothing.
    mill.client
        .put(&format!("/api/v1/belege/{id}"), json!({"items": [{"artikelnr": "W", "menge": 0}]}))
        .refused(400, "MENGE_UNGUELTIG");
    assert_eq!(follow(&mill.client, &cursor).0, Vec::<Value>::new());
    mill.storno(&id).is(200);
    let (told, _) = follow(&mill.client, &cursor);
    let beleg = of(&told, "beleg");
    assert_eq!((&beleg["aktion"], &beleg["version"]), (&json!("storniert"), &json!(2)));
}

#[test]
fn a_key_learns_of_what_it_may_read() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", buy(5, "C1")).is(201);
    let reader = server.key(mill.client.tenant, &[Scope::KundenRead, Scope::ChargenRead]);
    let kinds = |answer: &Answer| -> BTreeSet<String> {
        let data = answer.is(200)["data"].as_array().unwrap();
        data.iter().map(|change| change["art"].as_str().unwrap().to_owned()).collect()
    };
    let all = |client: &Client, query: &str| client.get(&format!("{PATH}?seit=alles{query}"));
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(kinds(&all(&mill.client, "")), set(&["artikel", "kunde", "beleg", "charge"]));
    assert_eq!(kinds(&all(&reader, "")), set(&["kunde", "charge"]));
    assert_eq!(kinds(&all(&reader, "&arten=charge")), set(&["charge"]));
    assert_eq!(kinds(&all(&mill.client, "&arten=charge,%20beleg")), set(&["charge", "beleg"]));
    assert_eq!(kinds(&all(&server.key(mill.client.tenant, &[]), "&warten=1")), set(&[]));
    let refused = all(&reader, "&arten=kunde,beleg");
    let message = refused.refused(403, "SCOPE_FEHLT")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("beleg") && message.contains("belege:read"), "{message}");
    all(&reader, "&arten=rechnung").refused(400, "PARAMETER_UNGUELTIG");
    // Another company has its own feed.
    let other = server.company("Andere");
    assert_eq!(all(&other, "").is(200)["data"], json!([]));
    other.post("/api/v1/kunden", json!({"name": "Fremd"})).is(201);
    assert_eq!(short(&follow(&other, "alles").0), [["kunde", "K-1001", "angelegt"]]);
    other.get(&format!("{PATH}?seit={}", now(&mill.client))).refused(410, "CURSOR_ABGELAUFEN");
}

#[test]
fn a_cursor_is_taken_back_or_refused_by_name() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (told, cursor) = follow(&mill.client, "alles");
    for limit in [1, 2, 3] {
        let mut paged = Vec::new();
        let mut cursor = "alles".to_owned();
        while let (data, next) = page(&mill.client, &cursor, limit)
            && !data.is_empty()
        {
            assert!(data.len() <= limit);
            paged.extend(data);
            cursor = next;
        }
        assert_eq!(paged, told, "limit {limit}");
    }
    assert_eq!(mill.client.get(&format!("{PATH}?seit=alles&limit=9999")).headers["x-limit"], "5000");
    for garbage in [
        "0",
        "x",
        "jetzt",
        &cursor[1..],
        &format!("{cursor}A"),
        "%00",
        "-1",
        "AAAAAAAAAAD__________wAAAAAAAAAA",
    ] {
        let refused = mill.client.get(&format!("{PATH}?seit={garbage}"));
        let message = refused.refused(400, "PARAMETER_UNGUELTIG")["message"].as_str().unwrap();
        assert!(garbage == "%00" || message.contains("alles"), "{message}");
    }
    for (name, value) in [("warten", "31"), ("warten", "-1"), ("warten", "x"), ("limit", "-1")] {
        mill.client.get(&format!("{PATH}?{name}={value}")).refused(400, "PARAMETER_UNGUELTIG");
    }
}

fn page(client: &Client, cursor: &str, limit: usize) -> (Vec<Value>, String) {
    let answer = client.get(&format!("{PATH}?seit={cursor}&limit={limit}"));
    let body = answer.is(200);
    (body["data"].as_array().unwrap().clone(), body["cursor"].as_str().unwrap().to_owned())
}

/// Inserts changes of a contract that does not exist: they only fill the feed.
fn fill(server: &Server, client: &Client, rows: i64, am: &str) {
    let connection = open_writer(&server.database).unwrap();
    let am = partnerd::rules::day::Instant::parse(am).unwrap().millis();
    let statement = format!(
        "with recursive n(nr) as (select 1 union all select nr + 1 from n where nr < {rows})
         insert into aenderung (tenant_id, nr, art, id, nummer, aktion, am, version)
         select {tenant}, n.nr + (select coalesce(max(nr), 0) from aenderung where tenant_id = {tenant}), 'kontrakt',
           randomblob(16), 'V', 'geaendert', {am}, null from n",
        tenant = client.tenant
    );
    connection.execute_batch(&statement).unwrap();
}

#[test]
fn rows_of_other_kinds_are_passed_over_in_steps() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let start = now(&mill.client);
    fill(&server, &mill.client, 12_000, "2026-07-10T10:00:00Z");
    mill.client.post("/api/v1/kunden", json!({"name": "Neu"})).is(201);
    let (mut cursor, mut empty) = (start, 0);
    let found = loop {
        // A waiting client is answered once so many rows had to be skipped.
        let answer = mill.client.get(&format!("{PATH}?seit={cursor}&arten=kunde&warten=30"));
        let data = answer.is(200)["data"].as_array().unwrap().clone();
        let next = answer.body["cursor"].as_str().unwrap().to_owned();
        assert_ne!(next, cursor);
        cursor = next;
        if !data.is_empty() {
            break data;
        }
        empty += 1;
    };
    assert_eq!((found.len(), &found[0]["art"], empty), (1, &json!("kunde"), 2));
}
