//! Stock and batches in the Leitstand: what is there, where it came from and where it went.

use partnerd::platform::db::file::connection::open_writer;
use serde_json::json;

use super::{Browser, person};
use crate::harness::Server;
use crate::trade::herkunft::{Scene, scene};
use crate::trade::lager::{Mill, buy, sell};

/// Logs in a person who may change the company; returns the browser and the path of its pages.
fn erika(mill: &Mill<'_>) -> (Browser, String) {
    let browser = person(mill.server, &["Erika", "--role", "verwalten"]);
    (browser, format!("/leitstand/f/{}", mill.client.tenant))
}

/// The text between two texts of a page.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    text.split(begin).nth(1).unwrap_or_else(|| panic!("no {begin}: {text}")).split(end).next().unwrap()
}

#[test]
fn the_stock_of_each_article_leads_to_its_batches() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let mut early = buy(1_500, "H1");
    early["mhd"] = json!("2026-08-01");
    mill.post("EL", early).is(201);
    let mut late = buy(250, "H2");
    late["mhd"] = json!("2026-09-30");
    mill.post("EL", late).is(201);
    mill.post("EL", json!({"artikelnr": "S", "menge": 12})).is(201);
    mill.post("EL", json!({"artikelnr": "R", "menge": 7, "fremde_charge_nr": "R1"})).is(201);
    let rye = mill.batch("R1")["id"].clone();
    mill.post("LS", json!({"artikelnr": "R", "menge": 7, "charge_id": rye})).is(201);
    let (mut browser, firma) = erika(&mill);
    let list = browser.get(&format!("{firma}/bestand"));
    let wheat = format!("{firma}/bestand/{}", mill.artikel_id("W"));
    for text in [wheat.as_str(), ">1.750<", ">2<", ">01.08.2026<", ">Sack<", ">12<"] {
        assert!(list.is(200).text.contains(text), "{text}: {}", list.text);
    }
    assert!(!list.text.contains("Roggen"), "what was sold is listed: {}", list.text);
    let found = browser.get(&format!("{firma}/bestand?suche=sack"));
    assert!(found.is(200).text.contains("Sack") && !found.text.contains("Weizen"), "{}", found.text);
    let one = browser.get(&wheat);
    assert!(
        one.is(200).text.contains("Am 11.04.2026 waren es 0 kg, heute sind es 1.750 kg."),
        "{}",
        one.text
    );
    let (first, second) = (one.text.find("H1").unwrap(), one.text.find("H2").unwrap());
    assert!(first < second, "what leaves first stands first");
    let other = server.company("Andere");
    browser.get(&format!("/leitstand/f/{}/bestand/{}", other.tenant, mill.artikel_id("W"))).is(404);
}

#[test]
fn a_refused_form_still_belongs_to_the_state_it_was_made_from() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", buy(1_500, "H1")).is(201);
    let batch = mill.batch("H1")["id"].as_str().unwrap().to_owned();
    let beleg = mill.client.get("/api/v1/belege").body["data"][0]["id"].as_str().unwrap().to_owned();
    let (mut browser, firma) = erika(&mill);
    for (page, name, status) in [
        (format!("{firma}/chargen/{batch}/berichtigen"), "version", 412),
        (format!("{firma}/belege/{beleg}/abschliessen"), "version", 412),
        (format!("{firma}/firma"), "stand", 412),
        (format!("{firma}/einstellungen"), "stand", 412),
    ] {
        let token = browser.get(&page).hidden("token").unwrap();
        let refused = browser.post(&page, &[("token", &token), (name, "77")]);
        // Sent once more it is refused once more, as nobody has seen what changed in the meantime.
        assert_eq!(refused.is(status).hidden(name).as_deref(), Some("77"), "{page}");
    }
}

#[test]
fn what_a_document_moved_stands_on_its_page() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", buy(1_500, "H1")).is(201);
    let batch = mill.batch("H1");
    let (id, number) = (batch["id"].as_str().unwrap(), batch["charge_nr"].as_str().unwrap());
    let item = json!({"artikelnr": "W", "menge": 40, "charge_id": id, "rabatt_prozent": "2.5"});
    let sold = mill.post("LS", item).id();
    let (mut browser, firma) = erika(&mill);
    let shown = browser.get(&format!("{firma}/belege/{sold}"));
    let moved = format!("<a href=\"{firma}/chargen/{id}\">{number}</a>");
    for text in [moved.as_str(), ">-40</td>", ">2,5</td>", "Lagerbewegungen"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    // Cancelling an open document reverses all its bookings.
    browser.fill(&format!("{firma}/belege/{sold}/storno"), &[("grund", "falsch")]).is(303);
    let cancelled = browser.get(&format!("{firma}/belege/{sold}"));
    assert!(!cancelled.is(200).text.contains("Lagerbewegungen"), "{}", cancelled.text);
}

#[test]
fn batches_are_found_by_number_article_stock_and_best_before_date() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for (foreign, mhd, artikel) in
        [("ALT", "2026-07-09", "W"), ("BALD", "2026-08-09", "W"), ("SPÄT", "2026-08-10", "R")]
    {
        let item = json!({"artikelnr": artikel, "menge": 10, "fremde_charge_nr": foreign, "mhd": mhd});
        mill.post("EL", item).is(201);
    }
    let gone = mill.receive("LEER", 5);
    mill.post("LS", sell(5, &gone)).is(201);
    let (mut browser, firma) = erika(&mill);
    let all = ["ALT", "BALD", "SPÄT", "LEER"];
    for (query, expected) in [
        ("", &all[..]),
        ("?welche=bestand", &all[..3]),
        ("?welche=bald", &all[..2]),
        ("?welche=abgelaufen", &all[..1]),
        ("?suche=bal", &all[1..2]),
        ("?artikelnr=R", &all[2..3]),
        ("?artikelnr=gibtsnicht", &[]),
        (&format!("?artikel_id={}", mill.artikel_id("R")), &all[2..3]),
    ] {
        let shown = browser.get(&format!("{firma}/chargen{query}"));
        let found: Vec<_> =
            all.into_iter().filter(|foreign| shown.is(200).text.contains(&format!(">{foreign}<"))).collect();
        assert_eq!(found, expected, "{query}");
    }
    let shown = browser.get(&format!("{firma}/chargen?welche=bestand"));
    assert!(
        shown.text.contains("09.07.2026 (abgelaufen)") && !shown.text.contains("09.08.2026 (abgelaufen)")
    );
    let by_mhd = browser.get(&format!("{firma}/chargen?sortierung=-mhd"));
    assert!(by_mhd.text.find("SPÄT") < by_mhd.text.find("BALD"), "{}", by_mhd.text);
}

#[test]
fn a_batch_shows_its_movements_and_is_corrected_by_form() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = mill.receive("H1", 1_000);
    for menge in [30, 40] {
        mill.post("LS", sell(menge, &id)).is(201);
    }
    let (mut browser, firma) = erika(&mill);
    let one = format!("{firma}/chargen/{id}");
    let shown = browser.get(&one);
    for text in [
        "930",
        "+1.000 kg",
        "-30 kg",
        "-40 kg",
        "LS-2026-00002",
        "3 Einträge",
        "Am 09.07.2026 waren es 0 kg, heute sind es 930 kg.",
    ] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    let path = format!("{one}/berichtigen");
    let open = browser.get(&path);
    let (token, version) = (open.is(200).hidden("token").unwrap(), open.hidden("version").unwrap());
    assert!(open.text.contains("value=\"H1\""), "{}", open.text);
    browser
        .fill(&path, &[("mhd", "2027-01-31"), ("fremde_charge_nr", "H1"), ("herkunftsland", "AT")])
        .is(303);
    let shown = browser.get(&one);
    for text in ["Die Charge ist berichtigt.", "31.01.2027", "Österreich", "Erika"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    let stale = [("token", token.as_str()), ("version", &version), ("mhd", "2030-01-01")];
    browser.post(&path, &stale).is(412);
    assert_eq!(mill.batch("H1")["mhd"], "2027-01-31T00:00:00.000Z");
    mill.receive("H2", 1);
    let refused = browser.fill(&path, &[("mhd", ""), ("fremde_charge_nr", "H2"), ("herkunftsland", "")]);
    assert!(refused.is(409).text.contains("id=\"fehler-fremde_charge_nr\""), "{}", refused.text);
    browser.fill(&path, &[("mhd", ""), ("fremde_charge_nr", "H3"), ("herkunftsland", "")]).is(303);
    assert_eq!(mill.batch("H3")["mhd"], json!(null));
    let mut paul = person(&server, &["Paul"]);
    assert!(!paul.get(&one).is(200).text.contains("/berichtigen"));
    let token = paul.get("/leitstand/abmelden").hidden("token").unwrap();
    paul.post(&path, &[("token", &token), ("version", "1"), ("mhd", "2030-01-01")]).is(403);
}

#[test]
fn the_picture_names_suppliers_batches_orders_and_recipients() {
    let server = Server::start();
    let Scene { mill, hof, gut, meal, order } = scene(&server);
    let (mut browser, firma) = erika(&mill);
    let shown = browser.get(&format!("{firma}/chargen/{meal}/herkunft"));
    let picture = between(&shown.is(200).text, "<svg", "</svg>");
    for text in [
        &*order,
        "Hof",
        "Gut",
        "Kd",
        "Kd2",
        "Kd3",
        "60 kg",
        "40 kg",
        "EL-2026-00001",
        "LS-2026-00003",
        "Bestand 30 kg",
    ] {
        assert!(picture.contains(&format!(">{text}</text>")), "{text}: {picture}");
    }
    for batch in [&hof, &gut, &meal] {
        assert!(picture.contains(&format!("href=\"{firma}/chargen/{batch}\"")), "{batch}: {picture}");
    }
    // Two suppliers, two batches, an order, the batch, three customers; each box except the suppliers has an
    // incoming line.
    assert_eq!((picture.matches("<rect").count(), picture.matches("class=\"edge\"").count()), (9, 8));
    let (back, forth) =
        (between(&shown.text, "id=\"herkunft\"", "<h2"), between(&shown.text, "id=\"verbleib\"", "</main>"));
    for (text, rows) in
        [(back, ["Hof, DE", "H1", "100 kg", "60 kg"]), (forth, ["Kd, DE", "Kd2, DE", "Kd3, DE", "10 kg"])]
    {
        for row in rows.iter().filter(|row| **row != "H1") {
            assert!(text.contains(row), "{row}: {text}");
        }
    }
    assert!(!shown.text.contains("Es gibt mehr"), "nothing is left out");
    // The delivery shows the same path from its own end.
    let from_hof = browser.get(&format!("{firma}/chargen/{hof}/herkunft"));
    let picture = between(&from_hof.is(200).text, "<svg", "</svg>");
    assert!(picture.contains(&format!("/chargen/{meal}\"")) && !picture.contains(&gut), "{picture}");

    let other = server.company("Andere");
    for page in ["", "/berichtigen", "/herkunft", "/herkunft.csv"] {
        browser.get(&format!("/leitstand/f/{}/chargen/{meal}{page}", other.tenant)).is(404);
    }
}

#[test]
fn the_sheet_for_the_authority_opens_in_a_german_spreadsheet() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let farm = json!({"name": "=Hof; \"Süd\"", "kundennr": "H9", "strasse": "Feldweg 1", "plz": "94447",
        "ort": "Plattling"});
    mill.client.post("/api/v1/kunden", farm).is(201);
    mill.post_for("H9", "EL", buy(1_250, "-X")).is(201);
    let batch = mill.batch("-X");
    let (id, number) = (batch["id"].as_str().unwrap(), batch["charge_nr"].as_str().unwrap());
    mill.post("LS", sell(50, id)).is(201);
    let (mut browser, firma) = erika(&mill);
    let path = format!("{firma}/chargen/{id}/herkunft.csv");
    let shown = browser.get(&path);
    assert_eq!(shown.is(200).header("content-type"), "text/csv; charset=utf-8");
    let disposition = format!("attachment; filename=\"herkunft-{number}.csv\"");
    assert_eq!(shown.header("content-disposition"), disposition);
    let sheet = String::from_utf8(browser.get_bytes(&path)).unwrap();
    let expected = [
        "\u{feff}abschnitt;tiefe;charge_nr;fremde_charge_nr;artikelnummer;artikel_bezeichnung;kundennr;name;\
         strasse;plz;ort;staat;nummer;datum;menge;einheit;bemerkung"
            .to_owned(),
        format!("Charge;;{number};'-X;W;Weizen;;;;;;;;;1200,000;kg;Bestand"),
        format!(
            "Lieferant;;{number};;;;H9;\"'=Hof; \"\"Süd\"\"\";Feldweg \
                 1;94447;Plattling;DE;EL-2026-00001;2026-07-10;1250,000;kg;"
        ),
        format!("Empfänger;;{number};;;;Kd;Kd;;;;DE;LS-2026-00001;2026-07-10;50,000;kg;"),
        format!("Bilanz;;{number};'-X;W;Weizen;;;;;;;;;1250,000;kg;Eingang"),
        format!("Bilanz;;{number};'-X;W;Weizen;;;;;;;;;50,000;kg;Abgang"),
        format!("Bilanz;;{number};'-X;W;Weizen;;;;;;;;;0,000;kg;Korrektur durch Inventur"),
        format!("Bilanz;;{number};'-X;W;Weizen;;;;;;;;;1200,000;kg;Bestand = Eingang − Abgang + Korrektur"),
        String::new(),
    ];
    assert_eq!(sheet, expected.join("\r\n"));
    let back = String::from_utf8(browser.get_bytes(&format!("{path}?richtung=rueckwaerts"))).unwrap();
    assert!(back.contains("\nLieferant;") && !back.contains("\nEmpfänger;"), "{back}");
}

/// Sets the stock to the sum of the movements.
const BALANCED: &str = "update charge set bestand = (select sum(m.menge) from lagerbewegung m
      where m.tenant_id = charge.tenant_id and m.charge_id = charge.id);
    update artikel_bestand set bestand = (select sum(m.menge) from lagerbewegung m
      where m.tenant_id = artikel_bestand.tenant_id and m.artikel_id = artikel_bestand.artikel_id);";

#[test]
fn thousands_of_movements_and_successors_are_shown_in_part_and_said_so() {
    let server = Server::start();
    let Scene { mill, hof, meal, .. } = scene(&server);
    let hex = |id: &str| id.replace('-', "");
    let (tenant, from, made) = (mill.client.tenant, hex(&hof), hex(&meal));
    // The order makes 1,500 more batches, and the delivery is corrected 2,500 times.
    let copies = format!(
        "create temp table n as with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) \
         select i from n;
         create temp table c as select * from charge where id = x'{made}';
         create temp table m as select * from lagerbewegung where charge_id = x'{made}' and pa_id is not null;
         create temp table s as select * from lagerbewegung where charge_id = x'{from}' and beleg_id is not null;
         create temp table g as select n.i, c.* from n, c where n.i <= 1500;
         update g set id = unhex(format('7f%030x', i)), charge_nr = 'N' || i, charge_nr_key = 'n' || i;
         create temp table b as select n.i, m.* from n, m where n.i <= 1500;
         update b set id = unhex(format('7e%030x', i)), charge_id = unhex(format('7f%030x', i)), menge = 1000000;
         create temp table v as select n.i, s.* from n, s;
         update v set id = unhex(format('7d%030x', i)), menge = iif(i % 2, 1000000, -1000000);
         alter table g drop column i; alter table b drop column i; alter table v drop column i;
         insert into charge select * from g; insert into lagerbewegung select * from b; insert into \
         lagerbewegung select * from v;
         {BALANCED}"
    );
    open_writer(&server.database).unwrap().execute_batch(&copies).unwrap();
    let count =
        format!("select count(*) from lagerbewegung where tenant_id = {tenant} and charge_id = x'{from}'");
    assert_eq!(server.sql::<i64>(&count), 2_502);

    let (mut browser, firma) = erika(&mill);
    let one = browser.get(&format!("{firma}/chargen/{hof}"));
    assert!(one.is(200).text.contains("2.502 Einträge, Seite 1 von 51"), "{}", one.text);
    assert_eq!(between(&one.text, "<h2>Bewegungen", "<h2>Verlauf").matches("<tr>").count(), 51);
    let last = browser.get(&format!("{firma}/chargen/{hof}?seite=51"));
    assert!(
        between(&last.is(200).text, "<h2>Bewegungen", "<h2>Verlauf").contains("+100 kg"),
        "{}",
        last.text
    );
    let way = browser.get(&format!("{firma}/chargen/{hof}/herkunft"));
    assert!(way.is(200).text.contains("Es gibt mehr, als hier gezeigt wird"), "{}", way.text);
    let boxes = way.text.matches("<rect").count();
    assert!((100..=210).contains(&boxes), "{boxes} boxes");
    assert!(way.text.matches("<tr>").count() <= 210, "{}", way.text);
    assert!(way.text.len() < 300_000, "{} bytes", way.text.len());
    // The supplier is shown however many goods have gone out since.
    assert!(between(&way.text, "<svg", "</svg>").contains(">Hof</text>"));
    let sheet = String::from_utf8(browser.get_bytes(&format!("{firma}/chargen/{hof}/herkunft.csv"))).unwrap();
    assert_eq!(sheet.matches("\nFolgestufe;").count(), 1_501, "the sheet is whole");
}

#[test]
fn a_stock_with_too_many_movements_is_shown_as_far_as_it_was_read() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", json!({"artikelnr": "S", "menge": 12})).is(201);
    let copies = "create temp table m as select * from lagerbewegung limit 1;
        create temp table v as with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) \
        select n.i, m.* from n, m;
        update v set id = unhex(format('7d%030x', i)), menge = iif(i % 2, menge, -menge);
        alter table v drop column i;
        insert into lagerbewegung select * from v;";
    open_writer(&server.database).unwrap().execute_batch(copies).unwrap();
    let (mut browser, firma) = erika(&mill);
    let path = format!("{firma}/bestand/{}", mill.artikel_id("S"));
    assert!(browser.get(&path).is(200).text.contains("so viele Bewegungen"));
    server.set_clock("2026-07-11T12:00:00Z");
    mill.post("EL", json!({"artikelnr": "S", "menge": 8})).is(201);
    let shown = person(&server, &["Paul"]).get(&path);
    assert!(shown.is(200).text.contains("Seit dem 11.07.2026 unverändert 20 Stk."), "{}", shown.text);
}
