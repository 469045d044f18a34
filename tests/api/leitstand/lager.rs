//! The stock in the browser: counted from a list, and locked if it must not leave.

use serde_json::{Value, json};

use super::{Browser, Shown, person};
use crate::harness::Server;
use crate::trade::lager::{Mill, buy};

/// Logs in a person of the office; returns the browser and the path of the pages.
fn bert(mill: &Mill<'_>) -> (Browser, String) {
    let browser = person(mill.server, &["Bert", "--role", "buero"]);
    (browser, format!("/leitstand/f/{}", mill.client.tenant))
}

/// Creates a mill with two batches of wheat and some sacks; returns the form fields of the first batch, the
/// second and the sacks.
fn stocked(server: &Server) -> (Mill<'_>, [String; 3]) {
    let mill = Mill::of(server);
    mill.post("EL", buy(1_500, "H1")).is(201);
    mill.post("EL", buy(250, "H2")).is(201);
    mill.post("EL", json!({"artikelnr": "S", "menge": 12})).is(201);
    let batch = |number: &str| format!("charge-{}", mill.batch(number)["id"].as_str().unwrap());
    let fields = [batch("H1"), batch("H2"), format!("artikel-{}", mill.artikel_id("S"))];
    (mill, fields)
}

fn stock(mill: &Mill<'_>) -> [Value; 3] {
    let sacks = mill.client.get(&format!("/api/v1/artikel/{}/bestand", mill.artikel_id("S")));
    [mill.batch("H1")["bestand"].clone(), mill.batch("H2")["bestand"].clone(), sacks.body["bestand"].clone()]
}

/// The hidden fields of a page except the token.
fn hidden(shown: &Shown) -> Vec<(String, String)> {
    let fields = shown.text.split("type=\"hidden\" name=\"").skip(1);
    let field = |text: &str| {
        let (name, rest) = text.split_once("\" value=\"").unwrap();
        (name.to_owned(), rest.split('"').next().unwrap().to_owned())
    };
    fields.map(field).collect()
}

/// Confirms the differences that a page shows.
fn confirm(browser: &mut Browser, path: &str, shown: &Shown) -> Shown {
    let fields = hidden(shown);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(path, &fields)
}

#[test]
fn the_store_is_counted_from_a_list_and_the_differences_are_seen_first() {
    let server = Server::start();
    let (mill, [first, second, sacks]) = stocked(&server);
    let groups = "id;name;nummer\n1;Getreide;20\n2;Verpackung;10\n";
    server.import(&mill.client, "artikelgruppen", groups);
    server.import(&mill.client, "artikel", "artikelnummer;gruppe\nW;Getreide\nS;Verpackung\n");
    let (mut browser, firma) = bert(&mill);
    let path = format!("{firma}/bestand/inventur");
    assert!(browser.get(&format!("{firma}/bestand")).is(200).text.contains(&path));
    let list = browser.get(&path);
    let places = [&sacks, &first, &second].map(|field| list.text.find(&format!("name=\"{field}\"")).unwrap());
    assert!(list.is(200).text.contains(">1.500 kg<") && places.is_sorted(), "by group: {}", list.text);
    let of_group = browser.get(&format!("{path}?gruppe_id=1"));
    assert!(of_group.is(200).text.contains(&first) && !of_group.text.contains(&sacks), "{}", of_group.text);
    let paper = browser.get(&format!("{path}?druck=ja"));
    assert_eq!(paper.is(200).text.matches("class=\"blank\"").count(), 3, "{}", paper.text);
    assert!(!paper.text.contains(&first), "on paper nothing is typed");
    // Nothing is booked before the differences were shown; stock that was not counted stays.
    let counted = [("grund", "Inventur 2026"), (&first, "1.480,5"), (&second, ""), (&sacks, "12")];
    let shown = browser.fill(&path, &counted);
    for text in [">-19,5 kg<", ">1.480,5 kg<", "1 von 2 Posten stimmen", "Inventur 2026"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    assert_eq!(stock(&mill), ["1500.000", "250.000", "12.000"]);
    // More has arrived in the meantime: the differences are shown again.
    let batch = mill.batch("H1")["id"].clone();
    let more = json!({"artikelnr": "W", "menge": 100, "charge_id": batch});
    mill.post("EL", more).is(201);
    let again = confirm(&mut browser, &path, &shown);
    assert!(again.is(200).text.contains(">-119,5 kg<"), "{}", again.text);
    assert_eq!(stock(&mill)[0], "1600.000");
    let done = confirm(&mut browser, &path, &again);
    assert_eq!(done.is(303).header("location"), path);
    assert_eq!(stock(&mill), ["1480.500", "250.000", "12.000"]);
    assert!(browser.get(&path).is(200).text.contains("Gezählt und gebucht: 2 Posten."));
    let reasons: i64 =
        server.sql("select count(*) from inventur where grund = 'Inventur 2026' and key_id like 'person %'");
    assert_eq!(reasons, 2);
}

#[test]
fn what_is_refused_books_nothing_and_stands_at_its_field() {
    let server = Server::start();
    let (mill, [first, second, sacks]) = stocked(&server);
    let (mut browser, firma) = bert(&mill);
    let path = format!("{firma}/bestand/inventur");
    let none = browser.fill(&path, &[("grund", "x"), (&first, " ")]);
    assert!(none.is(400).text.contains("Es ist nichts gezählt"), "{}", none.text);
    let without = browser.fill(&path, &[("grund", ""), (&first, "1")]);
    assert!(without.is(400).text.contains("id=\"fehler-grund\"") && without.text.contains("value=\"1\""));
    let typed = browser.fill(&path, &[("grund", "x"), (&first, "zwölf")]);
    assert!(typed.is(400).text.contains(&format!("id=\"fehler-{first}\"")), "{}", typed.text);
    let names: Vec<_> =
        (0..51).map(|nr| format!("artikel-00000000-0000-7000-8000-0000000000{nr:02}")).collect();
    let many = names.iter().map(|name| (name.as_str(), "1")).chain([("grund", "x")]);
    let many = browser.fill(&path, &many.collect::<Vec<_>>());
    assert!(many.is(400).text.contains("was auf einer Seite steht"), "{}", many.text);
    // If one booking is refused, those before it are rolled back.
    let counted = [("grund", "x"), (first.as_str(), "1"), (&second, "-1"), (&sacks, "3")];
    let shown = browser.fill(&path, &counted);
    let refused = confirm(&mut browser, &path, shown.is(200));
    assert!(refused.is(400).text.contains(&format!("id=\"fehler-{second}\"")), "{}", refused.text);
    assert!(refused.text.contains("value=\"-1\""), "what was typed stays");
    assert_eq!(stock(&mill), ["1500.000", "250.000", "12.000"]);
    // Nobody can count stock of another company; people who may only look can count none.
    let other = server.company("Andere");
    let foreign = other.post("/api/v1/artikel", json!({"artikelnummer": "F", "bezeichnung": "Fremd"})).id();
    browser.fill(&path, &[("grund", "x"), (&format!("artikel-{foreign}"), "3")]).is(404);
    let mut paul = person(&server, &["Paul"]);
    assert!(!paul.get(&path).is(200).text.contains(&first));
}

#[test]
fn a_batch_is_locked_and_set_free_from_its_page() {
    let server = Server::start();
    let (mill, [first, ..]) = stocked(&server);
    let id = first.strip_prefix("charge-").unwrap();
    let (mut browser, firma) = bert(&mill);
    let one = format!("{firma}/chargen/{id}");
    let lock = format!("{one}/sperren");
    assert!(browser.get(&one).is(200).text.contains(&lock));
    assert!(browser.get(&lock).is(200).text.contains("Rücknahmen, Stornos und Inventuren bleiben"));
    let refused = browser.fill(&lock, &[("sperrgrund", "")]);
    assert!(refused.is(400).text.contains("id=\"fehler-sperrgrund\""), "{}", refused.text);
    let old = browser.get(&lock);
    browser.fill(&lock, &[("sperrgrund", "Mutterkorn")]).is(303);
    let shown = browser.get(&one);
    assert!(shown.is(200).text.contains("Mutterkorn") && !shown.text.contains(&lock), "{}", shown.text);
    let sell = json!({"artikelnr": "W", "menge": 1, "charge_id": id});
    mill.post("LS", sell.clone()).refused(400, "CHARGE_GESPERRT");
    for list in ["chargen", &format!("bestand/{}", mill.artikel_id("W")), "bestand/inventur"] {
        let shown = browser.get(&format!("{firma}/{list}"));
        assert_eq!(shown.is(200).text.matches("(gesperrt)").count(), 1, "{list}: {}", shown.text);
    }
    // A correction leaves the batch locked; an old form changes nothing.
    browser
        .fill(
            &format!("{one}/berichtigen"),
            &[("mhd", ""), ("fremde_charge_nr", "H1"), ("herkunftsland", "AT")],
        )
        .is(303);
    assert_eq!(mill.batch("H1")["gesperrt"], true);
    let stale = [("token", old.hidden("token").unwrap()), ("version", old.hidden("version").unwrap())];
    let stale: Vec<_> = stale.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.post(&format!("{one}/freigeben"), &stale).is(412);
    browser.fill(&format!("{one}/freigeben"), &[]).is(303);
    assert_eq!(
        (&mill.batch("H1")["gesperrt"], &mill.batch("H1")["sperrgrund"]),
        (&json!(false), &Value::Null)
    );
    mill.post("LS", sell).is(201);
    assert!(browser.get(&one).is(200).text.contains("Mutterkorn"), "why it was locked stays in its history");
}
