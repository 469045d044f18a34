//! Rules for every list: limit, offset, count, and no silent cut (D16).

use std::sync::atomic::{AtomicBool, Ordering};

use partnerd::interface::routes;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::http::route::Route;
use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, buy};

/// The paths of all lists, with at least two rows in each list named in `filled`.
fn lists(mill: &Mill<'_>) -> Vec<String> {
    let groups = r#"[{"name": "A", "nummer": 1}, {"name": "B", "nummer": 2}]"#;
    mill.server.import(&mill.client, "artikelgruppen", groups);
    mill.server.import(&mill.client, "kontrakte", r#"[{"kontrakt_nr": "V-1"}, {"kontrakt_nr": "V-2"}]"#);
    let kontrakt = mill.client.post("/api/v1/kontrakte", json!({"kontrakt_nr": "V-3"})).id();
    for referenz in ["1", "2"] {
        mill.client.put(&format!("/api/v1/kontrakte/{kontrakt}"), json!({"referenz": referenz})).is(200);
    }
    let receipts = "bon_nr;kassiert_at;bezeichnung;menge;einzelpreis;mwst_satz\n\
        1;2026-07-01T12:00:00Z;Mehl;1;2;7\n2;2026-07-01T12:00:00Z;Mehl;1;2;7\n";
    mill.server.import(&mill.client, "barverkaeufe", receipts);
    let (kunde, artikel) = (mill.partner_id("Hof"), mill.artikel_id("W"));
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40, "partner_id": kunde});
    let deliveries = [1, 2].map(|at| {
        mill.client.post("/api/v1/wiegungen", first.clone()).is(201);
        for (place, id) in [("kunden", &kunde), ("artikel", &artikel)] {
            let file = json!({"dateiname": format!("{at}.txt"), "inhalt_base64": "Zm9v"});
            mill.client.post(&format!("/api/v1/{place}/{id}/dokumente"), file).is(201);
        }
        mill.post("EL", buy(at, &format!("C{at}"))).id()
    });
    let charge = mill.batch("C1")["id"].as_str().unwrap().to_owned();
    for mhd in ["2027-01-31", "2027-02-28"] {
        mill.client.put(&format!("/api/v1/chargen/{charge}"), json!({"mhd": mhd})).is(200);
    }
    mill.client.put(&format!("/api/v1/belege/{}", deliveries[0]), json!({"notizen": "neu"})).is(200);
    deliveries.iter().for_each(|id| mill.finalise(id));
    let note = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 50, "preis_je_t": 200});
    let notes = [1, 2].map(|wert| {
        let note = mill.client.post("/api/v1/annahmescheine", note.clone()).id();
        let advance = json!({"art": "abschlag", "annahmeschein_ids": [note], "abschlag": {"prozent": 50}});
        mill.client.post("/api/v1/abrechnungen", advance).is(201);
        for merkmal in ["feuchte", "besatz"] {
            let werte = json!({"werte": [{"merkmal": merkmal, "wert": wert}]});
            mill.client.post(&format!("/api/v1/annahmescheine/{note}/analysen"), werte).is(201);
        }
        note
    });
    // The feed is read by its cursor.
    let is_list = |route: &Route| {
        route.gives.iter().any(|answer| answer.headers.contains(&"x-limit"))
            && route.pattern != "/api/v1/aenderungen"
    };
    let path = |pattern: &str| {
        let place = pattern.split('/').nth(3).unwrap();
        let id = match place {
            "belege" => &deliveries[0],
            "artikel" => &artikel,
            "kontrakte" => &kontrakt,
            "chargen" => &charge,
            "annahmescheine" => &notes[0],
            _ => &kunde,
        };
        let required = match pattern {
            "/api/v1/dokumente" => "since=2026-01-01&",
            "/api/v1/chargen/verfuegbar" => "artikelnr=W&",
            "/api/v1/berichte/belege" => "von=2026-01-01&bis=2026-12-31&",
            _ => "",
        };
        format!("{}?{required}", pattern.replace("{id}", id))
    };
    routes::all().filter(|route| is_list(route)).map(|route| path(route.pattern)).collect()
}

/// The rows of a page, and the total count.
fn page(answer: &Answer) -> (Vec<Value>, usize) {
    let body = answer.is(200);
    match body.as_array() {
        Some(rows) => (rows.clone(), answer.headers["x-total-count"].parse().unwrap()),
        None => {
            (body["data"].as_array().unwrap().clone(), body["count"].as_u64().unwrap().try_into().unwrap())
        }
    }
}

#[test]
fn every_list_takes_limit_and_offset() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let lists = lists(&mill);
    let mut filled = 0;
    for path in &lists {
        let get = |query: &str| mill.client.get(&format!("{path}{query}"));
        let (all, count) = page(&get("limit=5000"));
        assert_eq!(all.len(), count, "{path}");
        filled += usize::from(count > 1);
        let second = all.get(1..2).unwrap_or_default();
        let rows = [
            ("limit=0".to_owned(), &all[..0]),
            ("limit=1".to_owned(), all.get(..1).unwrap_or_default()),
            ("limit=1&offset=1".to_owned(), second),
            (format!("offset={count}"), &all[..0]),
        ];
        for (query, expected) in rows {
            assert_eq!(page(&get(&query)), (expected.to_vec(), count), "{path}{query}");
        }
        let cut = |query: &str| get(query).headers.get("x-limit").cloned();
        assert_eq!((cut("limit=5001").as_deref(), cut("limit=5000")), (Some("5000"), None), "{path}");
        for query in ["limit=-1", "limit=viele", "offset=-1", "offset=1.5"] {
            let refused = get(query);
            let feld = query.split('=').next().unwrap();
            assert_eq!(refused.refused(400, "PARAMETER_UNGUELTIG")["feld"], feld, "{path}{query}");
        }
    }
    assert!(filled >= 17, "{filled} of these lists have two rows: {lists:?}");
}

#[test]
fn a_list_without_a_limit_gives_all_rows_or_says_that_they_are_too_long() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let connection = open_writer(&server.database).unwrap();
    let fill = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000)
        insert into artikelgruppe (tenant_id, id, nummer, name, name_key)
        select ?1, i, i, 'G' || i, 'g' || i from n";
    connection.execute(fill, [mill.tenant]).unwrap();
    let path = "/api/v1/artikelgruppen";
    let (rows, count) = page(&mill.get(path));
    assert_eq!((rows.len(), count), (30_000, 30_000));
    // 30,000 names of 400 characters of three bytes: 34 MiB.
    connection.execute("update artikelgruppe set name = replace(hex(zeroblob(200)), '0', '€')", []).unwrap();
    let refused = mill.get(path);
    assert!(refused.refused(400, "ZU_VIELE_TREFFER")["message"].as_str().unwrap().contains("32 MiB"));
    let (rows, count) = page(&mill.get(&format!("{path}?limit=2&offset=29998")));
    assert_eq!((rows[1]["nummer"].clone(), rows.len(), count), (json!(30_000), 2, 30_000));
}

#[test]
fn a_list_of_long_texts_has_a_bound_in_bytes() {
    let server = Server::start();
    let mill = server.company("Mühle");
    // 3,000 partners with notes of 4,000 characters of three bytes: 34 MiB.
    let connection = open_writer(&server.database).unwrap();
    let fill = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
        insert into kunde (tenant_id, id, kunden_id, kundennr, name, nachname_firma, staat, status, ist_kunde,
          ist_lieferant, ist_spediteur, angelegt_am, geaendert_am, kundennr_key, kundennr_sort, such_text, notizen)
        select ?1, unhex(printf('%032x', i)), i, 'K' || i, 'Hof', 'Hof', 'DE', 'aktiv', 1, 0, 0, 0, 0, 'k' || i,
          printf('k%05d', i), 'hof', replace(hex(zeroblob(2000)), '0', '€') from n";
    connection.execute(fill, [mill.tenant]).unwrap();
    let refused = mill.get("/api/v1/kunden?limit=3000");
    let message = refused.refused(400, "ZU_VIELE_TREFFER")["message"].as_str().unwrap();
    assert!(message.contains("limit"), "{message}");
    mill.get("/api/v1/kunden?limit=5000&suche=hof").refused(400, "ZU_VIELE_TREFFER");
    for (query, rows) in
        [("limit=2000", 2_000), ("limit=2000&offset=2000", 1_000), ("limit=3000&offset=2999", 1)]
    {
        let answer = mill.get(&format!("/api/v1/kunden?{query}"));
        assert_eq!((page(&answer).0.len(), page(&answer).1), (rows, 3_000), "{query}");
        assert_eq!(answer.headers.get("x-limit"), None, "{query}");
    }
}

#[test]
fn rows_and_count_are_those_of_one_instant() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let writing = AtomicBool::new(true);
    let pages = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut pages = Vec::new();
            while writing.load(Ordering::Relaxed) {
                pages.push(page(&mill.get("/api/v1/kunden?limit=5000")));
            }
            pages
        });
        let write = || (0..60).for_each(|_| drop(mill.post("/api/v1/kunden", json!({"name": "A"})).id()));
        let writers: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        writing.store(false, Ordering::Relaxed);
        reader.join().unwrap()
    });
    for (rows, count) in &pages {
        assert_eq!(rows.len(), *count);
    }
    assert!(pages.iter().any(|(_, count)| (1..240).contains(count)), "no page was read in between");
}
