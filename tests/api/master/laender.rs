//! Countries: the list, and how requests name one.

use serde_json::{Value, json};

use partnerd::rules::scope::Scope;

use crate::harness::Server;

const LAENDER: &str = "/api/v1/laender";

fn column<'a>(body: &'a Value, name: &str) -> Vec<&'a str> {
    body["data"].as_array().unwrap().iter().map(|land| land[name].as_str().unwrap()).collect()
}

#[test]
fn the_list_holds_every_country_and_the_members_of_the_union() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let answer = mill.get(LAENDER);
    let body = answer.is(200);
    assert_eq!((body["count"].as_u64(), body["data"].as_array().unwrap().len()), (Some(249), 249));
    for (name, length) in [("iso2", 2), ("iso3", 3)] {
        let mut codes = column(body, name);
        assert!(
            codes.iter().all(|code| code.len() == length && code.bytes().all(|b| b.is_ascii_uppercase()))
        );
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), 249, "{name}");
    }
    let laender = body["data"].as_array().unwrap();
    let members = laender.iter().filter(|land| land["eu_mitglied"] == true);
    let mut members: Vec<_> = members.map(|land| land["iso2"].as_str().unwrap()).collect();
    members.sort();
    let union = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK";
    assert_eq!(members.join(" "), union);
    assert!(laender.iter().all(|land| land["eu_mitglied"].is_boolean()));
    let germany = laender.iter().find(|land| land["iso2"] == "DE").unwrap();
    assert_eq!(germany, &json!({"iso2": "DE", "iso3": "DEU", "name_de": "Deutschland", "eu_mitglied": true}));
}

#[test]
fn the_list_is_in_the_order_of_german_dictionaries() {
    let server = Server::start();
    let answer = server.company("Mühle").get(LAENDER);
    let names = column(answer.is(200), "name_de");
    let place =
        |name: &str| names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name}"));
    // DIN 5007-1: an umlaut sorts as its base letter, accents do not count.
    let runs: [&[&str]; 7] = [
        &["Afghanistan", "Ägypten", "Ålandinseln", "Albanien", "Algerien"],
        &["Antigua und Barbuda", "Äquatorialguinea", "Argentinien", "Armenien", "Aruba"],
        &["Aserbaidschan", "Äthiopien", "Australien"],
        &["Oman", "Österreich", "Pakistan"],
        &["Sudan", "Südkorea", "Südsudan", "Suriname", "Syrien"],
        &["Samoa", "San Marino", "Saudi-Arabien", "Schweden", "Schweiz"],
        &["Niger", "Nigeria", "Ukraine", "Zypern"],
    ];
    for run in runs {
        let places: Vec<_> = run.iter().map(|name| place(name)).collect();
        assert!(places.is_sorted(), "{run:?}: {places:?}");
    }
    assert_eq!((names[0], names[248]), ("Afghanistan", "Zypern"));
}

#[test]
fn the_list_needs_a_key_and_no_scope() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.key(mill.tenant, &[Scope::KasseRead]).get(LAENDER).is(200);
    server.client(mill.tenant, None).get(LAENDER).refused(401, "API_KEY_FEHLT");
    let wrong = Some("ak_wrong_key".to_owned());
    server.client(mill.tenant, wrong).get(LAENDER).refused(401, "API_KEY_UNGUELTIG");
}

#[test]
fn the_list_comes_in_pages_where_a_client_wants_them() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let all = mill.get(LAENDER).body["data"].as_array().unwrap().clone();
    for (query, range) in
        [("limit=3&offset=2", 2..5), ("limit=0", 0..0), ("offset=248", 248..249), ("offset=249", 0..0)]
    {
        let page = mill.get(&format!("{LAENDER}?{query}"));
        assert_eq!(page.is(200), &json!({"data": all[range], "count": 249}), "{query}");
    }
    mill.get(&format!("{LAENDER}?eu=true")).refused(400, "UNBEKANNTER_PARAMETER");
    mill.get(&format!("{LAENDER}?limit=x")).refused(400, "PARAMETER_UNGUELTIG");
}

#[test]
fn a_country_is_known_by_all_its_names() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunden = "/api/v1/kunden";
    let path = format!("{kunden}/{}", mill.post(kunden, json!({"name": "A"})).id());
    let table = [
        ("DE", &["DE", "D", "DEU", "Deutschland"][..]),
        ("AT", &["AT", "A", "AUT", "Österreich"]),
        ("FR", &[" FR ", "FRA", "Frankreich"]),
        ("CH", &["CH", "CHE", "Schweiz"]),
    ];
    for (iso2, names) in table {
        for name in names {
            for field in ["staat", "land"] {
                let id = mill.post(kunden, json!({"name": "A", field: name})).id();
                assert_eq!(mill.get(&format!("{kunden}/{id}")).body["staat"], iso2, "POST {field} {name}");
                assert_eq!(
                    mill.put(&path, json!({field: name})).is(200)["staat"],
                    iso2,
                    "PUT {field} {name}"
                );
            }
        }
    }
    for unknown in ["XX", "Narnia", "DEX", "49"] {
        mill.post(kunden, json!({"name": "A", "staat": unknown})).refused(400, "LAND_UNBEKANNT");
        mill.put(&path, json!({"land": unknown})).refused(400, "LAND_UNBEKANNT");
    }
    mill.post(kunden, json!({"name": "A", "staat": "AT", "land": "Österreich"})).is(201);
    let both = json!({"name": "A", "staat": "AT", "land": "DE"});
    mill.post(kunden, both.clone()).refused(400, "FELD_WIDERSPRUCH");
    mill.put(&path, both).refused(400, "FELD_WIDERSPRUCH");
    assert_eq!(mill.get(&path).body["staat"], "CH");
}
