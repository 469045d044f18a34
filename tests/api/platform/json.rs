//! Malformed and unusual JSON bodies (D18). Wrong types are in `tabelle/described.rs`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

/// Counts of everything that a refused request must not change.
const COUNTS: &str = "select (select count(*) from kunde) || ' ' || (select count(*) from wiegung) || ' ' ||
    (select count(*) from charge) || ' ' || (select count(*) from beleg) || ' ' ||
    (select count(*) from beleg_position) || ' ' || (select count(*) from lagerbewegung) || ' ' ||
    (select coalesce(sum(letzte), 0) from nummernkreis)";

/// The files of a folder of the JSON test suite, by name.
fn suite(folder: &str) -> Vec<(String, Vec<u8>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/json_parser").join(folder);
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
    };
    let mut files: Vec<_> = entries.map(read).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn send(client: &Client, body: &[u8]) -> Answer {
    client.send("POST", "/api/v1/kunden", &[], Some(body))
}

fn is_bad_json(answer: &Answer) -> bool {
    answer.status == 400 && answer.body["error"] == "UNGUELTIGES_JSON"
}

#[test]
fn the_parser_suite_is_told_apart() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (name, bytes) in suite("test_parsing") {
        let answer = send(&mill, &bytes);
        let context = format!("{name}: {} {}", answer.status, answer.body);
        match &name[..2] {
            "n_" => assert!(is_bad_json(&answer), "{context}"),
            "y_" => {
                let is_object = serde_json::from_slice::<Value>(&bytes).is_ok_and(|json| json.is_object());
                let doubled = name.contains("duplicated_key");
                let refused = !is_object || doubled || name.contains("escaped_null");
                assert_eq!(is_bad_json(&answer), refused, "{context}");
                assert!(answer.status == 201 || answer.status == 400, "{context}");
            }
            _ => assert!(answer.status == 201 || (400..500).contains(&answer.status), "{context}"),
        }
    }
}

#[test]
fn what_parsers_disagree_about_is_never_a_fault_of_the_server() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (name, bytes) in suite("test_transform") {
        let answer = send(&mill, &bytes);
        assert!(answer.status == 201 || answer.status == 400, "{name}: {}", answer.status);
    }
}

#[test]
fn malformed_bodies_are_refused_before_anything_else() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let plain = r#"{"name":"A"}"#;
    let utf16 = |bytes: fn(u16) -> [u8; 2]| plain.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let deep = |depth: usize| {
        format!(r#"{{"name":"A","x":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1)).into_bytes()
    };
    let refused: Vec<(&str, Vec<u8>)> = vec![
        ("UTF-16 LE", utf16(u16::to_le_bytes)),
        ("UTF-16 BE", utf16(u16::to_be_bytes)),
        ("UTF-16 with a byte order mark", [vec![0xff, 0xfe], utf16(u16::to_le_bytes)].concat()),
        ("bad UTF-8", b"{\"name\":\"A\xff\"}".to_vec()),
        ("overlong UTF-8", b"{\"name\":\"A\xc0\xaf\"}".to_vec()),
        ("Latin-1", b"{\"name\":\"M\xfchle\"}".to_vec()),
        ("trailing garbage", format!("{plain} x").into_bytes()),
        ("two objects", format!("{plain}{plain}").into_bytes()),
        ("cut off", plain.as_bytes()[..8].to_vec()),
        ("nothing", Vec::new()),
        ("blanks", b"   \r\n".to_vec()),
        ("depth 33", deep(33)),
        ("depth 100000", deep(100_000)),
        ("open arrays", vec![b'['; 100_000]),
        ("open objects", br#"{"a":"#.repeat(100_000)),
        ("NUL in a text", br#"{"name":"A\u0000"}"#.to_vec()),
        ("NUL in a name", br#"{"name":"A","a\u0000":1}"#.to_vec()),
        ("NUL in an unknown field", br#"{"name":"A","x":{"y":["\u0000"]}}"#.to_vec()),
        ("raw NUL", b"{\"name\":\"A\0\"}".to_vec()),
        ("doubled keys", br#"{"name":"A","name":"A"}"#.to_vec()),
        ("doubled keys, one escaped", br#"{"name":"A","n\u0061me":"B"}"#.to_vec()),
        ("doubled keys below", br#"{"name":"A","x":[{"a":1,"a":2}]}"#.to_vec()),
        ("an array", b"[]".to_vec()),
        ("an array of one", format!("[{plain}]").into_bytes()),
        ("a text", b"\"name\"".to_vec()),
        ("a number", b"1".to_vec()),
        ("null", b"null".to_vec()),
        ("true", b"true".to_vec()),
        ("single quotes", b"{'name':'A'}".to_vec()),
        ("NaN", br#"{"name":"A","x":NaN}"#.to_vec()),
        ("a comment", br#"{"name":"A"/**/}"#.to_vec()),
        ("a comma too many", br#"{"name":"A",}"#.to_vec()),
    ];
    for (name, bytes) in refused {
        let answer = send(&mill, &bytes);
        assert!(is_bad_json(&answer), "{name}: {} {}", answer.status, answer.body);
    }
    assert_eq!(server.sql::<i64>("select count(*) from kunde"), 0);
    assert_eq!(send(&mill, &deep(32)).hint_codes(), ["UNBEKANNTES_FELD"]);
}

#[test]
fn a_body_may_have_one_mebibyte_and_no_more() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let padded = |size: usize| {
        let mut body = br#"{"name":"A"}"#.to_vec();
        body.resize(size, b' ');
        body
    };
    send(&mill, &padded((1 << 20) - 1)).is(201);
    send(&mill, &padded(1 << 20)).is(201);
    send(&mill, &padded((1 << 20) + 1)).refused(413, "ZU_GROSS");
    mill.get("/api/v1/laender").is(200);
}

#[test]
fn numbers_beyond_measure_are_refused() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let partner = mill.post("/api/v1/kunden", json!({"name": "Hof"})).id();
    let digits = "9".repeat(1_000_000);
    let before: String = server.sql(COUNTS);
    for number in ["1e400", "-1e400", "1e999999999999", "1000000000000", &digits, &format!("\"{digits}\"")] {
        let shown = &number[..number.len().min(20)];
        let first =
            format!(r#"{{"waage_id":1,"partner_id":"{partner}","gewicht_erst_kg":{number}}}"#).into_bytes();
        let answer = mill.send("POST", "/api/v1/wiegungen", &[], Some(&first));
        assert_eq!(answer.refused(400, "FELD_UNGUELTIG")["feld"], "gewicht_erst_kg", "{shown}");
        let days = format!(r#"{{"name":"A","zahlungsziel_tage":{number}}}"#).into_bytes();
        // D19: a value out of range gets another code, but a number of 10^12 or more gets FELD_UNGUELTIG.
        assert_eq!(send(&mill, &days).refused(400, "FELD_UNGUELTIG")["feld"], "zahlungsziel_tage", "{shown}");
    }
    for number in ["3651000", "2147483648", "-1"] {
        let days = format!(r#"{{"name":"A","zahlungsziel_tage":{number}}}"#).into_bytes();
        assert_eq!(
            send(&mill, &days).refused(400, "WERT_UNGUELTIG")["feld"],
            "zahlungsziel_tage",
            "{number}"
        );
    }
    assert_eq!(server.sql::<String>(COUNTS), before);
}

#[test]
fn half_a_surrogate_pair_is_stored_nowhere() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for text in [r"\ud800", r"\udc00", r"A\ud83d", r"\ud800\ud800", r"\udc00\ud800"] {
        let answer = send(&mill, format!(r#"{{"name":"{text}"}}"#).as_bytes());
        assert_eq!(answer.status, 400, "{text}: {}", answer.body);
    }
    assert_eq!(server.sql::<i64>("select count(*) from kunde"), 0);
    let whole = send(&mill, br#"{"name":"\ud83c\udf3e"}"#).id();
    assert_eq!(mill.get(&format!("/api/v1/kunden/{whole}")).is(200)["name"], "🌾");
}

#[test]
fn nobody_assigns_what_the_service_assigns() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let wanted = "0197f000-0000-7000-8000-000000000001";
    let extra = json!({"id": wanted, "tenant": other.tenant, "tenant_id": other.tenant, "status": "aktiv",
        "bestand": "99", "kunden_id": 77, "created_at": "2001-01-01T00:00:00.000Z", "version": 9});
    let with = |mut body: Value, more: &Value| {
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let created = mill.post("/api/v1/kunden", with(json!({"name": "Hof"}), &extra));
    let id = created.id();
    assert_eq!(created.body["kunden_id"], 1);
    assert!(created.hint_codes().contains(&"FELD_IGNORIERT".to_owned()));
    assert!(created.hint_codes().contains(&"UNBEKANNTES_FELD".to_owned()));
    let kunde = mill.get(&format!("/api/v1/kunden/{id}")).is(200).clone();
    assert_eq!((&kunde["id"], &kunde["kunden_id"]), (&json!(id), &json!(1)));
    assert!(id != wanted && kunde["created_at"].as_str().unwrap().starts_with("2026-07-10"));
    let changed = mill.put(
        &format!("/api/v1/kunden/{id}"),
        json!({"id": wanted, "kundennr": "X", "kunden_id": 7,
        "tenant_id": other.tenant}),
    );
    let kept = changed.is(200);
    assert_eq!(
        (&kept["id"], &kept["kundennr"], &kept["kunden_id"]),
        (&json!(id), &kunde["kundennr"], &json!(1))
    );
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40, "partner_id": id, "gewicht_netto_kg": 1,
        "id": wanted, "status": "fertig", "wiegeschein_nr": "WS-1", "tenant_id": other.tenant});
    let weighing = mill.post("/api/v1/wiegungen", first).id();
    let weighing = mill.get(&format!("/api/v1/wiegungen/{weighing}")).is(200).clone();
    assert_eq!((&weighing["status"], &weighing["gewicht_netto_kg"]), (&json!("offen"), &Value::Null));
    assert_eq!(weighing["wiegeschein_nr"], "WS-2026-00001");
    let item =
        json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 10, "mwst_satz": 19, "gesamtpreis": 1});
    let beleg = json!({"beleg_typ": "RE", "kunden_id": 1, "items": [item], "id": wanted, "status": "erledigt",
        "beleg_nummer": "RE-2026-00099", "summe_netto": 1, "ist_gutschrift": true, "tenant": other.tenant});
    let beleg = mill.post("/api/v1/belege", beleg).id();
    let beleg = mill.get(&format!("/api/v1/belege/{beleg}")).is(200).clone();
    assert_eq!((&beleg["status"], &beleg["summe_netto"]), (&json!("offen"), &json!("10.00")));
    assert_eq!((&beleg["beleg_nummer"], &beleg["ist_gutschrift"]), (&json!("RE-2026-00001"), &json!(false)));
    server.import(&mill, "artikel", r#"[{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg"}]"#);
    let wheat = mill.get("/api/v1/artikel").is(200)["data"][0]["id"].clone();
    let batch = mill.post("/api/v1/chargen", json!({"artikel_id": wheat, "bestand": "99", "id": wanted}));
    assert_eq!(batch.is(201)["bestand"], "0.000");
    let foreign =
        "select count(*) from kunde where tenant_id <> 1 or hex(id) = '0197F000000070008000000000000001'";
    assert_eq!(server.sql::<i64>(foreign), 0);
}

#[test]
fn only_the_ordinary_spelling_of_a_uuid_and_of_an_enumeration_counts() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Hof"})).id();
    for spelling in [format!("{{{id}}}"), format!("urn:uuid:{id}")] {
        let body = json!({"waage_id": 1, "gewicht_erst_kg": 40, "partner_id": spelling});
        assert_eq!(mill.post("/api/v1/wiegungen", body).refused(400, "FELD_UNGUELTIG")["feld"], "partner_id");
        let path = format!("/api/v1/kunden/{}", spelling.replace('{', "%7B").replace('}', "%7D"));
        mill.get(&path).refused(404, "NICHT_GEFUNDEN");
    }
    let item = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1});
    let cases = [
        ("/api/v1/kunden", json!({"name": "A", "anrede": "Неrr"}), "anrede", "WERT_UNGUELTIG"),
        (
            "/api/v1/kunden",
            json!({"name": "A", "partner_typen": ["kundе"]}),
            "partner_typen[0]",
            "WERT_UNGUELTIG",
        ),
        ("/api/v1/kunden", json!({"name": "A", "staat": "DЕ"}), "staat", "LAND_UNBEKANNT"),
        (
            "/api/v1/kunden",
            json!({"name": "A", "zahlungsziel_tage": "３０"}),
            "zahlungsziel_tage",
            "FELD_UNGUELTIG",
        ),
        (
            "/api/v1/belege",
            json!({"beleg_typ": "RЕ", "kunden_id": 1, "items": [item]}),
            "beleg_typ",
            "WERT_UNGUELTIG",
        ),
        (
            "/api/v1/belege",
            json!({"beleg_typ": "ＲＥ", "kunden_id": 1, "items": [item]}),
            "beleg_typ",
            "WERT_UNGUELTIG",
        ),
        (
            "/api/v1/wiegungen",
            json!({"waage_id": 1, "gewicht_erst_kg": 4, "partner_id": id,
            "richtung": "еingang"}),
            "richtung",
            "WERT_UNGUELTIG",
        ),
        (
            "/api/v1/chargen",
            json!({"artikel_id": id, "eingang_quelle": "manuelІ"}),
            "eingang_quelle",
            "WERT_UNGUELTIG",
        ),
    ];
    for (path, body, feld, code) in cases {
        assert_eq!(mill.post(path, body).refused(400, code)["feld"], feld);
    }
}
