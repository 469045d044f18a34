//! Unpaid documents by due date; their sums; ticking paid ones; and finding documents by their amount.

use serde_json::{Value, json};

use super::partner::{kunde, mill, shows};
use super::person;
use crate::harness::{Client, Server};

/// Creates a final invoice of goods at 19 %, with further header fields; returns its id.
fn invoice(mill: &Client, kundennr: &str, netto: f64, head: Value) -> String {
    let items = json!([{"bezeichnung": "Fracht", "menge": if netto < 0.0 { -1 } else { 1 },
        "ep_netto": netto.abs(), "mwst_satz": 19}]);
    let mut body = json!({"beleg_typ": "RE", "kundennummer": kundennr, "items": items, "abschliessen": true});
    body.as_object_mut().unwrap().extend(head.as_object().unwrap().clone());
    mill.post("/api/v1/belege", body).id()
}

/// The rows of the first table, without markup.
fn rows(text: &str) -> Vec<String> {
    let table = text.split("<tbody>").nth(1).map_or("", |table| table.split("</tbody>").next().unwrap());
    let plain = |row: &str| {
        let cells = row.split("<td").skip(1).map(|cell| {
            let mut inside = false;
            let text = cell.split_once('>').unwrap().1.chars().filter(|&char| {
                let shown = !inside && char != '<';
                inside = if char == '<' { true } else { inside && char != '>' };
                shown
            });
            text.collect::<String>()
        });
        cells.collect::<Vec<_>>().join("|")
    };
    table.split("<tr>").skip(1).map(plain).collect()
}

fn number_of(mill: &Client, id: &str) -> String {
    mill.get(&format!("/api/v1/belege/{id}")).is(200)["beleg_nummer"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_open_stands_by_its_due_date_with_skonto_and_sums() {
    // The clock says 10 July.
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let huber = kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    kunde(&mill, json!({"name": "Maier", "kundennr": "M"}));
    let on = |day: &str, days: i64| json!({"beleg_datum": day, "zahlungsziel_tage": days});
    let head = json!({"zahlungsziel_tage": 30, "skonto_tage": 10, "skonto_prozent": 3});
    let with_skonto = invoice(&mill, "H", 100.0, head);
    let late = invoice(&mill, "H", 1000.0, on("2026-05-31", 30));
    let today = invoice(&mill, "H", 10.0, on("2026-07-10", 0));
    let credit = invoice(&mill, "H", -50.0, on("2026-07-09", 0));
    let purchase = json!({"beleg_typ": "ER", "beleg_datum": "2026-06-01", "zahlungsziel_tage": 14});
    let purchase = invoice(&mill, "M", 200.0, purchase);
    let out = json!({"zahlungsziel_tage": 0});
    let (settled, cancelled) = (invoice(&mill, "M", 1.0, out.clone()), invoice(&mill, "M", 2.0, out));
    mill.post(&format!("/api/v1/belege/{settled}/erledigen"), json!({})).is(200);
    mill.post(&format!("/api/v1/belege/{cancelled}/storno"), json!({"grund": "falsch"})).is(200);
    invoice(&mill, "M", 3.0, json!({"abschliessen": false}));
    invoice(&mill, "M", 4.0, json!({"beleg_typ": "LS"}));

    let page = browser.get(&format!("{firma}/offen"));
    let shown = rows(&page.is(200).text);
    let expected = [
        (&purchase, "15.06.2026, überfällig seit 25 Tagen||238,00"),
        (&late, "30.06.2026, überfällig seit 10 Tagen||1.190,00"),
        (&credit, "09.07.2026, überfällig seit 1 Tag||-59,50"),
        (&today, "10.07.2026, heute||11,90"),
        (&with_skonto, "09.08.2026|3 % bis 20.07.2026, noch 10 Tage: 115,43|119,00"),
    ];
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (row, (id, words)) in shown.iter().zip(expected) {
        assert!(row.starts_with(&number_of(&mill, id)) && row.contains(words), "{words}: {shown:#?}");
    }
    // 1,190.00 + 119.00 + 11.90 - 59.50, and the overdue part of it.
    shows(&page.text, &["4 zu bekommen (EUR)<strong>1.261,40</strong>davon überfällig: 2 mit 1.130,50"]);
    shows(&page.text, &["1 zu zahlen (EUR)<strong>238,00</strong>davon überfällig: 1 mit 238,00"]);
    let only = |browser: &mut super::Browser, query: &str| {
        rows(&browser.get(&format!("{firma}/offen?{query}")).is(200).text).len()
    };
    for (query, count) in [
        ("typ=RE", 4),
        ("typ=ER", 1),
        ("tage=1", 3),
        ("tage=8", 2),
        ("tage=15&typ=RE", 0),
        ("suche=maier", 1),
        ("suche=maier&seite=2", 0),
    ] {
        assert_eq!(only(&mut browser, query), count, "{query}");
    }
    assert_eq!(only(&mut browser, &format!("kunden_id={huber}")), 4);
    assert!(page.text.contains("type=\"checkbox\""));
    let looked = person(&server, &["Paul"]).get(&format!("{firma}/offen"));
    assert!(!looked.is(200).text.contains("type=\"checkbox\""), "{}", looked.text);

    // The home page says so, in a line for each side.
    let home = browser.get(&firma);
    shows(&home.is(200).text, &["2 Rechnungen sind überfällig: 1.130,50 EUR zu bekommen."]);
    shows(&home.text, &["1 Rechnung oder Gutschrift ist überfällig: 238,00 EUR zu zahlen."]);
    shows(&home.text, &[&format!("{firma}/offen?typ=RE&amp;tage=1")]);
}

#[test]
fn those_that_are_ticked_are_settled_together_or_none_is() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    let article = json!({"artikelnummer": "S", "bezeichnung": "Sack", "einheit": "Stk", "mwst_satz": 7});
    mill.post("/api/v1/artikel", article).is(201);
    let sacks = json!({"items": [{"artikelnr": "S", "menge": 3, "ep_netto": 2}]});
    let (goods, one, two) = (
        invoice(&mill, "H", 1.0, sacks),
        invoice(&mill, "H", 10.0, json!({})),
        invoice(&mill, "H", 20.0, json!({})),
    );
    let status = |id: &str| mill.get(&format!("/api/v1/belege/{id}")).is(200)["status"].clone();
    let path = format!("{firma}/offen?typ=RE");
    let page = browser.get(&path);
    shows(&page.is(200).text, &["eine Lieferung zu 3 Stk Sack", "kommt nicht mehr"]);
    let (token, tick) = (page.hidden("token").unwrap(), |id: &str| format!("beleg-{id}"));
    assert!(browser.post(&path, &[("token", &token)]).is(400).text.contains("Bitte ankreuzen"));
    let names: Vec<_> =
        (0..51).map(|nr| format!("beleg-00000000-0000-7000-8000-0000000000{nr:02}")).collect();
    let many = names.iter().map(|name| (name.as_str(), "2")).chain([("token", token.as_str())]);
    let many = browser.post(&path, &many.collect::<Vec<_>>());
    shows(&many.is(400).text, &["was auf einer Seite steht"]);
    // Somebody else was faster with one of them.
    mill.post(&format!("/api/v1/belege/{two}/erledigen"), json!({})).is(200);
    let (first, second) = (tick(&one), tick(&two));
    let refused = browser.post(&path, &[("token", &token), (&first, "2"), (&second, "2")]);
    shows(&refused.is(412).text, &["Keiner ist erledigt", &format!("{}: ", number_of(&mill, &two))]);
    shows(
        &refused.text,
        &[&format!(
            "name=\"{first}\" value=\"2\" aria-label=\"{} ist erledigt\" checked",
            number_of(&mill, &one)
        )],
    );
    assert_eq!(status(&one), "abgeschlossen", "one of two was settled");
    let nothing_comes = format!("ohne_gegenbeleg-{goods}");
    let fields = [("token", token.as_str()), (&first, "2"), (&tick(&goods), "2"), (&nothing_comes, "ja")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let sent: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(browser.post(&path, &sent).is(303).header("location"), path);
    shows(&browser.get(&path).is(200).text, &["2 Belege sind erledigt.", "Nichts offen"]);
    assert_eq!([status(&one), status(&goods)], ["erledigt", "erledigt"]);
    assert_eq!(mill.get(&format!("/api/v1/belege/{goods}")).body["ohne_gegenbeleg"], true);
    assert_eq!(mill.get(&format!("/api/v1/belege/{one}")).body["ohne_gegenbeleg"], false);
}

#[test]
fn a_document_is_found_by_its_amount() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    let id = invoice(&mill, "H", 1234.5, json!({}));
    let other = invoice(&mill, "H", -1234.5, json!({}));
    invoice(&mill, "H", 99.0, json!({}));
    // Net and gross amounts, with either sign, as people type them.
    for typed in ["1.234,50", "1469,06", "1.469,06 EUR", "-1234,5", "1469,06 €"] {
        let found = browser
            .get(&format!("{firma}/suche?suche={}", typed.replace(' ', "%20").replace('€', "%E2%82%AC")));
        shows(
            &found.is(200).text,
            &["Belege mit diesem Betrag, netto oder brutto, unter den neuesten 20.000 (2)", &id, &other],
        );
        let list = browser
            .get(&format!("{firma}/belege?betrag={}", typed.replace(' ', "%20").replace('€', "%E2%82%AC")));
        assert_eq!(rows(&list.is(200).text).len(), 2, "{typed}: {}", list.text);
    }
    let one = browser.get(&format!("{firma}/suche?suche=99,00")).is(303).header("location").to_owned();
    assert!(one.contains("/belege/"), "{one}");
    shows(&browser.get(&format!("{firma}/belege?betrag=viel")).is(200).text, &["„viel“ ist kein Betrag"]);
    assert!(!browser.get(&format!("{firma}/suche?suche=1234,505")).is(200).text.contains(&id));
}
