//! Pages of what is left: the flow of a document as a picture, the lists with a name, and the collective invoice.

use serde_json::{Value, json};

use super::{position, sacks};
use crate::harness::Server;
use crate::leitstand::{Browser, Shown, person, press};
use crate::trade::lager::{Mill, and, sell};

fn page(mill: &Mill<'_>, browser: &mut Browser, path: &str) -> String {
    let shown = browser.get(&format!("/leitstand/f/{}/{path}", mill.client.tenant));
    shown.is(200).text.clone()
}

/// The texts of a page in their order, without markup.
fn texts(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text));
    parts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join(" ")
}

/// The flow that a document's page draws.
fn flow(mill: &Mill<'_>, browser: &mut Browser, id: &str) -> String {
    let shown = page(mill, browser, &format!("belege/{id}"));
    let flow = shown.split(">Belegfluss</h2>").nth(1).unwrap_or_else(|| panic!("no flow: {shown}"));
    texts(flow.split("<h2>").next().unwrap()).replace("-2026-0000", "")
}

fn naming(positions: &[(&Value, usize)]) -> Value {
    positions.iter().map(|(body, at)| json!({"bezug_position_id": position(body, *at)})).collect()
}

#[test]
fn the_page_of_a_document_draws_its_flow() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let browser = &mut person(&server, &["Erika", "--role", "ansehen"]);
    let of = |id: &str, menge: i64| json!({"bezug_position_id": position(&mill.get(id), 0), "menge": menge});
    let order = mill.post("AU", sacks(&[(100, json!({}))])).id();
    assert!(!page(&mill, browser, &format!("belege/{order}")).contains("Belegfluss"), "nothing is tied");
    let first = mill.post("LS", of(&order, 40)).id();
    mill.post("LS", of(&order, 35)).is(201);
    let invoice = mill.post("RE", of(&first, 40)).id();
    assert_eq!(
        flow(&mill, browser, &order),
        "Position 1: Sack AU1 100 Stk bestellt offen 25 Stk \
         LS1 40 Stk geliefert RE1 40 Stk berechnet LS2 35 Stk geliefert"
    );
    assert_eq!(
        flow(&mill, browser, &invoice),
        "Position 1: Sack LS1 40 Stk geliefert AU1 40 Stk bestellt RE1 40 Stk berechnet"
    );
    // Without a name it is a guess. A return and a credit say what they are.
    let guess = mill.post("RE", sacks(&[(30, json!({"ep_netto": 1}))])).id();
    assert_eq!(
        flow(&mill, browser, &guess),
        "Position 1: Sack LS2 30 Stk geliefert, vermutet AU1 35 Stk bestellt RE2 30 Stk berechnet"
    );
    mill.post("LS", of(&first, -5)).is(201);
    mill.post("RE", of(&invoice, -5)).is(201);
    let drawn = flow(&mill, browser, &invoice);
    for part in ["LS3 5 Stk zurückgeliefert", "RE3 5 Stk gutgeschrieben"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
}

#[test]
fn an_invoice_of_order_and_delivery_is_drawn_once_and_neighbours_are_bounded() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let browser = &mut person(&server, &["Erika", "--role", "ansehen"]);
    let order = mill.post("AU", sacks(&[(30, json!({}))]));
    let one = json!({"bezug_position_id": position(&order.body, 0), "menge": 1});
    mill.post("LS", one.clone()).is(201);
    mill.post("RE", one.clone()).is(201);
    assert_eq!(
        flow(&mill, browser, &order.id()),
        "Position 1: Sack AU1 30 Stk bestellt offen 29 Stk LS1 1 Stk geliefert RE1 1 Stk berechnet"
    );
    for _ in 0..21 {
        mill.post("LS", one.clone()).is(201);
    }
    let drawn = flow(&mill, browser, &order.id());
    assert!(drawn.ends_with("und 3 weitere"), "{drawn}");
    let names = page(&mill, browser, &format!("belege/{}", order.id()));
    assert_eq!(names.matches("class=\"box\"").count(), 20, "{drawn}");
}

#[test]
fn what_is_left_is_a_list_with_a_name_kept_by_order_page_and_file() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let browser = &mut person(&server, &["Erika", "--role", "buero"]);
    let done = mill.post("AU", sacks(&[(1, json!({}))]));
    mill.post("LS", naming(&[(&done.body, 0)])).is(201);
    mill.post("AU", sacks(&[(2, json!({}))])).is(201);
    let all = page(&mill, browser, "belege");
    let named = [
        ("AU", "Offene Aufträge", "AU-2026-00002"),
        ("LS", "Noch nicht berechnete Lieferungen", "LS-2026-00001"),
    ];
    for (typ, title, number) in named {
        let path = format!("belege?typ={typ}&offen=true");
        let to = format!("/leitstand/f/{}/{}", mill.client.tenant, path.replace('&', "&amp;"));
        assert!(all.contains(&format!("<a href=\"{to}\">{title}</a>")), "{all}");
        let list = page(&mill, browser, &path);
        assert!(list.contains(&format!("<h1>{title}</h1>")), "{list}");
        assert!(list.contains(number) && list.contains("1 Eintrag"), "{list}");
        assert!(!list.contains("AU-2026-00001"), "nothing is left of it: {list}");
        for link in ["sortierung=beleg_nummer", "format=csv"] {
            assert!(list.contains(&format!("?{link}&amp;typ={typ}&amp;offen=true")), "{link}: {list}");
        }
        let file = page(&mill, browser, &format!("{path}&format=csv"));
        assert_eq!((file.lines().count(), file.contains(number)), (2, true), "{file}");
        assert_eq!(list.contains(">Sammelrechnung</a>"), typ == "LS");
        assert!(page(&mill, browser, &format!("belege?typ={typ}")).contains("<h1>Belege</h1>"));
    }
}

/// The collective invoice of a partner's deliveries, chosen as the page offers them: its form.
fn collected(mill: &Mill<'_>, browser: &mut Browser, typ: &str, partner: &str) -> (String, Shown) {
    let partner = mill.partner_id(partner);
    let chosen = page(mill, browser, &format!("belege/sammelrechnung?typ={typ}&kunden_id={partner}"));
    let ticks = chosen.split("name=\"aus\" value=\"").skip(1);
    let ticked = ticks.filter(|tick| tick.split('>').next().unwrap().contains(" checked"));
    let from: Vec<String> = ticked.map(|tick| format!("&aus={}", tick.split('"').next().unwrap())).collect();
    let path = format!("/leitstand/f/{}/belege/neu?typ={typ}{}", mill.client.tenant, from.concat());
    let form = browser.get(&path);
    form.is(200);
    (path, form)
}

/// Saves a form as it comes; the document.
fn saved(
    mill: &Mill<'_>,
    browser: &mut Browser,
    (path, form): &(String, Shown),
    typed: &[(&str, &str)],
) -> Value {
    let sent = press(browser, path, form, typed, "");
    let id = sent.is(303).header("location").rsplit('/').next().unwrap().to_owned();
    mill.get(id.split(['?', '#']).next().unwrap())
}

fn left(mill: &Mill<'_>, id: &str) -> Vec<String> {
    let document = mill.get(id);
    let left = |line: &Value| line["offen"].as_str().unwrap_or("-").to_owned();
    document["positionen"].as_array().unwrap().iter().map(left).collect()
}

#[test]
fn several_deliveries_become_one_invoice_at_their_own_terms() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let browser = &mut person(&server, &["Erika", "--role", "buero"]);
    let [a, b] = ["A", "B"].map(|nr| mill.receive(nr, 50_000));
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 40, "mwst_satz": 7});
    let in_t = json!({"artikelnr": "W", "menge": "2.5", "einheit": "t", "charge_id": b, "ep_netto": 310});
    let deliveries = [
        mill.post("LS", sacks(&[(10, json!({"ep_netto": "12.99", "rabatt_prozent": 10}))])),
        mill.post("LS", json!([and(sell(1_000, &a), json!({"ep_netto": "0.3"})), in_t, freight])),
        mill.post("LS", sacks(&[(4, json!({"ep_netto": 0})), (4, json!({"ep_netto": 11}))])),
    ];
    let back = json!({"bezug_position_id": position(&deliveries[0].body, 0), "menge": -2});
    mill.post("LS", back).is(201);
    let part = json!({"bezug_position_id": position(&deliveries[1].body, 0), "menge": 400});
    mill.post("RE", part).is(201);
    let foreign = mill.post_for("Kd2", "LS", sacks(&[(7, json!({}))])).id();
    let partners = texts(&page(&mill, browser, "belege/sammelrechnung?typ=RE"));
    assert!(partners.contains("Kd 3 10.07.2026") && partners.contains("Kd2 1 "), "{partners}");
    let form = collected(&mill, browser, "RE", "Kd");
    let invoice = saved(&mill, browser, &form, &[]);
    let rows: Vec<_> = invoice["positionen"].as_array().unwrap().iter().collect();
    let shown = |row: &&Value| {
        ["menge", "einheit", "ep_netto", "rabatt_prozent", "mwst_satz"]
            .map(|field| row[field].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(
        rows.iter().map(shown).collect::<Vec<_>>(),
        [
            ["8.000", "Stk", "12.9900", "10.00", "19.00"],
            ["600.000", "kg", "0.3000", "0.00", "7.00"],
            ["2.500", "t", "310.0000", "0.00", "7.00"],
            ["1.000", "", "40.0000", "0.00", "7.00"],
            ["4.000", "Stk", "0.0000", "0.00", "19.00"],
            ["4.000", "Stk", "11.0000", "0.00", "19.00"],
        ]
    );
    assert_eq!((&rows[1]["charge_id"], &rows[2]["charge_id"]), (&json!(a), &json!(b)));
    assert_eq!(invoice["vorgaenger_beleg_id"], Value::Null, "it was made from several");
    for delivery in &deliveries {
        assert!(left(&mill, &delivery.id()).iter().all(|left| left == "0.000"), "{}", delivery.id());
    }
    assert_eq!(left(&mill, &foreign), ["7.000"]);
    let partner = mill.partner_id("Kd");
    let rest = page(&mill, browser, &format!("belege/sammelrechnung?typ=RE&kunden_id={partner}"));
    assert!(rest.contains("Hier ist alles berechnet."), "{rest}");
}

#[test]
fn what_does_not_fit_on_one_form_is_named() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let browser = &mut person(&server, &["Erika", "--role", "buero"]);
    let rows: Vec<_> = (0..40).map(|_| (1, json!({}))).collect();
    for _ in 0..3 {
        mill.post("LS", sacks(&rows)).is(201);
    }
    let other = mill.post_for("Kd2", "LS", sacks(&[(7, json!({}))])).id();
    let (path, form) = collected(&mill, browser, "RE", "Kd");
    assert!(form.text.contains("Nicht dabei: LS-2026-00003."), "{}", form.text);
    let with_other = format!("{path}&aus={other}");
    let form = browser.get(&with_other);
    assert!(form.is(200).text.contains("Nicht dabei: LS-2026-00003, LS-2026-00004."), "{}", form.text);
    let tried = press(browser, &with_other, &form, &[], "pruefen");
    assert!(tried.is(200).text.contains("Nicht dabei: LS-2026-00003"), "a step keeps it");
    let invoice = saved(&mill, browser, &(with_other, tried), &[]);
    assert_eq!(invoice["positionen"].as_array().unwrap().len(), 80);
}

#[test]
fn deliveries_of_a_supplier_are_invoiced_together_but_for_those_of_notes() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let browser = &mut person(&server, &["Erika", "--role", "buero"]);
    let [first, second] = [3, 4].map(|menge| mill.post("EL", sacks(&[(menge, json!({"ep_netto": 9}))])).id());
    let note = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 5000, "preis_je_t": 200,
        "fremde_charge_nr": "H", "el_erzeugen": true});
    let note = mill.client.post("/api/v1/annahmescheine", note);
    let by_note = note.is(201)["el_id"].as_str().unwrap().to_owned();
    let form = collected(&mill, browser, "ER", "Hof");
    let invoice = saved(&mill, browser, &form, &[("fremdbelegnummer", "R-1")]);
    assert_eq!(invoice["summe_netto"], "63.00");
    assert_eq!((left(&mill, &first), left(&mill, &second)), (vec!["0.000".into()], vec!["0.000".into()]));
    assert_eq!(left(&mill, &by_note), ["5.000"], "a note is paid by its settlement");
}

#[test]
fn goods_of_several_deliveries_are_credited_as_far_as_they_are_left() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let browser = &mut person(&server, &["Erika", "--role", "buero"]);
    let [a, b] = ["A", "B"].map(|nr| mill.receive(nr, 50_000));
    let first = mill.post("LS", and(sell(1_000, &a), json!({"ep_netto": "0.3"})));
    mill.post("LS", and(sell(600, &b), json!({"ep_netto": "0.4"}))).is(201);
    let form = collected(&mill, browser, "RE", "Kd");
    let invoice = saved(&mill, browser, &form, &[]);
    // 100 kg came back and were credited, 200 kg came back alone.
    let back = |menge: i64| {
        mill.post("LS", and(sell(menge, &a), json!({"bezug_position_id": position(&first.body, 0)})))
    };
    let came = back(-100);
    mill.post("RE", naming(&[(&came.body, 0)])).is(201);
    back(-200).is(201);
    let path = format!(
        "/leitstand/f/{}/belege/neu?typ=RE&art=korrektur&aus={}",
        mill.client.tenant,
        invoice["id"].as_str().unwrap()
    );
    let form = browser.get(&path);
    let credit = saved(&mill, browser, &(path, form), &[]);
    let rows = credit["positionen"].as_array().unwrap().iter();
    let rows: Vec<_> = rows.map(|row| [&row["menge"], &row["ep_netto"], &row["charge_id"]]).collect();
    assert_eq!(json!(rows), json!([["-900.000", "0.3000", a], ["-600.000", "0.4000", b]]));
    let invoice = invoice["id"].as_str().unwrap();
    assert_eq!(left(&mill, invoice), ["0.000", "0.000"]);
    let shown = page(&mill, browser, &format!("belege/{invoice}"));
    assert!(!shown.contains(">Gutschrift dazu</a>"), "{shown}");
}
