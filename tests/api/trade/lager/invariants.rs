//! What `check` reports if stored pairs were tampered with (D8).

use serde_json::json;

use super::{Mill, plain, sell};
use crate::harness::Server;

const QUANTITY: &str = "die Menge jeder Position ist offen, gepaart oder zurückgenommen";
const MOVED: &str = "Belege haben bewegt, was ihre Positionen bewegt haben";
const SORTED: &str = "was offen ist, steht in seinem Fach und mit allem, was von seiner Position offen ist";
const TIED: &str =
    "der Belegfluss verbindet Positionen, die es gibt und die sich nennen, mit höchstens ihrer Menge";
const REST: &str = "bei jedem Beleg steht, ob von ihm etwas übrig ist";
const NAMED: &str = "was eine Position nennt, ohne dass sich dabei Ware trifft, steht im Belegfluss";
const BELONGS: &str = "was offen oder gepaart ist, gehört zu Belegen seines Partners, Artikels und Typs";

/// The rules broken by a statement, which is rolled back afterwards.
fn broken_by(server: &Server, statement: &str) -> Vec<String> {
    let copy = server.database.with_file_name("altered.db");
    let _ = std::fs::remove_file(&copy);
    let writer = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    writer.execute("vacuum into ?1", [copy.to_str().unwrap()]).unwrap();
    let altered = partnerd::platform::db::file::connection::open_writer(&copy).unwrap();
    let rows = altered.execute(statement, []).unwrap();
    assert!(rows > 0, "{statement} alters nothing");
    drop(altered);
    let output = crate::harness::cli(&copy, &["check", "--json"]);
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    let broken = lines.as_array().unwrap().iter().filter(|line| line["violations"] != 0);
    broken.map(|line| line["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn check_names_pairs_and_movements_that_were_altered() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    mill.post("LS", sell(10, &charge)).is(201);
    mill.post("RE", plain(6)).is(201);
    mill.post("RE", plain(-2)).is(201);
    mill.post("LS", sell(-1, &charge)).is(201);
    mill.post_for("Kd2", "RE", sell(3, &charge)).is(201);
    mill.post_for("Kd2", "RE", sell(-3, &charge)).is(201);
    mill.post_for("Kd2", "LS", sell(8, &charge)).is(201);
    let kinds: String = server.sql("select group_concat(distinct art) from lager_paar");
    assert!(
        ["paar", "zurueckgenommen", "aufgehoben", "gutschrift"].iter().all(|art| kinds.contains(art)),
        "{kinds}"
    );
    assert_eq!(broken_by(&server, "update lager_offen set menge = menge"), [""; 0]);
    let rows: &[(&str, &[&str])] = &[
        ("update lager_offen set menge = menge + 1, gesamt = gesamt + 1", &[QUANTITY, MOVED]),
        ("update lager_offen set gesamt = gesamt + 1", &[SORTED]),
        ("update lager_offen set fach = fach % 2 + iif(fach >= 2, 0, 2)", &[SORTED]),
        ("update lager_offen set charge_id = null", &[MOVED]),
        ("update lager_offen set beleg_typ = 'EL'", &[BELONGS]),
        ("update lager_offen set kunde_id = zeroblob(16)", &[BELONGS]),
        ("delete from lager_offen", &[QUANTITY, MOVED]),
        (
            "insert into lager_offen (tenant_id, kunde_id, beleg_typ, artikel_id, fach, beleg_id, \
          position, nr, menge, gesamt)
          select b.tenant_id, b.kunde_id, b.beleg_typ, p.artikel_id, 0, b.id, p.position, 99, 1, 1
          from beleg b join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id where \
          b.beleg_typ = 'RE'",
            &[QUANTITY, MOVED],
        ),
        ("update lager_paar set menge = menge + 1 where art = 'paar'", &[QUANTITY, MOVED]),
        ("update lager_paar set menge = menge + 1 where art = 'aufgehoben'", &[QUANTITY]),
        ("update lager_paar set bewegt_von = 'rechnung' where art = 'paar'", &[MOVED]),
        ("update lager_paar set zurueck_von = null, art = 'aufgehoben' where art = 'gutschrift'", &[MOVED]),
        ("update lager_paar set charge_id = null where art = 'zurueckgenommen'", &[MOVED]),
        ("update lager_paar set einkauf = 1 where art = 'paar'", &[BELONGS]),
        ("delete from lager_paar where art = 'paar'", &[QUANTITY, MOVED]),
        ("delete from lager_paar where art = 'gutschrift'", &[QUANTITY, MOVED]),
        (
            "insert into lagerbewegung (tenant_id, id, artikel_id, charge_id, beleg_id, pa_id, menge, am)
          select tenant_id, randomblob(16), artikel_id, charge_id, beleg_id, pa_id, 1, am
          from lagerbewegung limit 1",
            &[MOVED],
        ),
    ];
    for (statement, expected) in rows {
        let broken = broken_by(&server, statement);
        for rule in *expected {
            assert!(broken.iter().any(|broken| broken == rule), "{statement}: {broken:?}");
        }
        // What is open is in the wrong compartment, too, after most of these.
        let mut pairing = vec![QUANTITY, MOVED, BELONGS];
        pairing.extend(expected.contains(&SORTED).then_some(SORTED));
        let named = broken.iter().filter(|rule| pairing.contains(&rule.as_str())).count();
        assert_eq!(named, expected.len(), "{statement}: {broken:?}");
    }
}

#[test]
fn check_names_ties_that_were_altered() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let position = |id: &str, at: usize| mill.get(id)["positionen"][at]["id"].clone();
    let sacks = |menge: i64| json!({"artikelnr": "S", "menge": menge});
    let quote = mill.post("AN", json!([sacks(10), sacks(5)])).id();
    let order = mill
        .post(
            "AU",
            json!([{"bezug_position_id": position(&quote, 0)},
        {"bezug_position_id": position(&quote, 1)}]),
        )
        .id();
    // 12 of the order's two positions, by its document alone.
    mill.post("LS", json!({"artikelnr": "S", "menge": 12, "bezug_beleg_id": order})).is(201);
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 20});
    let billed = mill.post("RE", json!([freight])).id();
    mill.post("RE", json!({"bezug_position_id": position(&billed, 0)})).is(201);
    // What the order lost, and what a cancelled document named, stays consistent.
    let lost = mill.post("LS", json!({"bezug_position_id": position(&order, 1), "menge": 1})).id();
    mill.put(&order, json!({"bezug_position_id": position(&quote, 0)})).hints("BEZUG_GELOEST");
    let cancelled = mill.post("LS", json!({"bezug_position_id": position(&order, 0), "menge": 1})).id();
    mill.storno(&cancelled).is(200);
    mill.storno(&quote).is(200);
    assert_eq!(mill.get(&lost)["positionen"][0]["vorgaenger"], json!([]));
    assert_eq!(server.sql::<i64>("select count(*) from beleg_fluss"), 3);
    assert_eq!(broken_by(&server, "update beleg_fluss set menge = menge"), [""; 0]);
    for (statement, expected) in [
        ("update beleg_fluss set menge = menge + 1", TIED),
        ("update beleg_fluss set von_position_id = randomblob(16)", TIED),
        ("update beleg_fluss set position_id = randomblob(16)", TIED),
        ("update beleg_fluss set von_beleg_id = beleg_id", TIED),
        ("update beleg_fluss set tenant_id = tenant_id + 1", TIED),
        (
            "update beleg_position set bezug_beleg_id = null, bezug_position_id = null
             where menge > 0 and beleg_id in (select id from beleg where status = 'offen')",
            TIED,
        ),
        ("delete from beleg_fluss", NAMED),
        ("update beleg set hat_rest = null where beleg_nummer = 'AU-2026-00001'", REST),
        ("update beleg set hat_rest = 0 where hat_rest = 1", REST),
        ("update beleg set hat_rest = 1 where beleg_typ = 'RE'", REST),
    ] {
        let broken = broken_by(&server, statement);
        assert!(broken.iter().any(|rule| rule == expected), "{statement}: {broken:?}");
    }
}
