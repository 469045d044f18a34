//! Writing, changing and checking documents, with forms that work without a script.

use serde_json::{Value, json};

use super::hand::link;
use super::partner::{at_field, kunde, mill, shows};
use super::press;
use crate::harness::{Client, Server};

pub fn artikel(mill: &Client, number: &str, more: Value) -> String {
    let mut body = json!({"artikelnummer": number, "bezeichnung": format!("Ware {number}"), "einheit": "kg",
        "mwst_satz": 7});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    mill.post("/api/v1/artikel", body).id()
}

fn beleg(mill: &Client, path: &str) -> Value {
    let id = path.rsplit('/').next().unwrap();
    mill.get(&format!("/api/v1/belege/{id}")).is(200).clone()
}

fn count(mill: &Client) -> usize {
    mill.get("/api/v1/belege").is(200)["data"].as_array().unwrap().len()
}

#[test]
fn a_delivery_its_invoice_and_its_credit_are_written_in_the_browser() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let hof = kunde(&mill, json!({"name": "Huber Hof", "kundennr": "H1"}));
    kunde(&mill, json!({"name": "Huber Mühle", "kundennr": "H2"}));
    artikel(&mill, "W", json!({"preis": "0.32", "staffelpreise": [{"ab_menge": 1000, "preis": "0.30"}]}));
    artikel(&mill, "R", json!({"preis": "0.2"}));
    let kinds = link(&browser.get(&format!("{firma}/belege")).is(200).text, "Neuer Beleg");
    let new = link(&browser.get(&kinds).is(200).text, "Lieferschein");

    let empty = browser.get(&new);
    let tried = press(
        &mut browser,
        &new,
        &empty,
        &[("partner", "huber"), ("items[0].artikel", "w"), ("items[0].menge", "1.500")],
        "pruefen",
    );
    shows(&tried.is(400).text, &["H1 Huber Hof", "H2 Huber Mühle", "value=\"W Ware W\""]);
    shows(at_field(&tried.text, "partner"), &["value=\"huber\"", "Bitte den Partner auswählen"]);
    let chosen = press(&mut browser, &new, &tried, &[], &format!("partner={hof}"));
    shows(at_field(&chosen.is(200).text, "partner"), &["value=\"H1 Huber Hof\""]);
    let tried = press(
        &mut browser,
        &new,
        &chosen,
        &[("items[1].artikel", "R"), ("items[1].menge", "2,5"), ("items[1].ep_netto", "0,25")],
        "pruefen",
    );
    shows(&tried.is(200).text, &["1.500 kg × 0,30 €", "(Staffelpreis)", "450,00", "0,63", "482,17"]);
    assert_eq!(count(&mill), 0, "it was only tried");

    let saved = press(&mut browser, &new, &tried, &[], "");
    let delivery = saved.is(303).header("location").to_owned();
    let stored = beleg(&mill, &delivery);
    assert_eq!((&stored["beleg_typ"], &stored["summe_brutto"]), (&json!("LS"), &json!("482.17")));
    assert_eq!(
        (&stored["positionen"][1]["menge"], &stored["positionen"][1]["ep_netto"]),
        (&json!("2.500"), &json!("0.2500"))
    );

    let next = link(&browser.get(&delivery).is(200).text, "Rechnung daraus");
    let form = browser.get(&next);
    shows(at_field(&form.is(200).text, "items[1].menge"), &["value=\"2,5\""]);
    let part = press(&mut browser, &next, &form, &[("items[0].menge", "1000")], "");
    let invoice = part.is(303).header("location").to_owned();
    let stored = beleg(&mill, &invoice);
    assert_eq!((&stored["beleg_typ"], &stored["vorgaenger"]["beleg_typ"]), (&json!("RE"), &json!("LS")));
    let met = &stored["positionen"][0]["gegenbelege"][0];
    assert_eq!((&met["menge"], &met["beleg_typ"]), (&json!("1000.000"), &json!("LS")));
    shows(&browser.get(&delivery).is(200).text, &[&format!("href=\"{invoice}\"")]);
    // Invoiced quantities are not offered again.
    let rest = browser.get(&next);
    shows(at_field(&rest.is(200).text, "items[0].menge"), &["value=\"500\""]);
    assert!(!rest.text.contains("Ware R"), "{}", rest.text);

    let next = link(&browser.get(&invoice).is(200).text, "Gutschrift dazu");
    let form = browser.get(&next);
    shows(at_field(&form.is(200).text, "items[0].menge"), &["value=\"-1000\""]);
    let out = press(&mut browser, &next, &form, &[], "weg=0");
    shows(at_field(&out.is(200).text, "items[0].menge"), &["value=\"-2,5\""]);
    let tried = press(&mut browser, &next, &out, &[], "pruefen");
    shows(&tried.is(200).text, &["übernommen", "-0,63"]);
    let credit = press(&mut browser, &next, &tried, &[], "");
    let credit = beleg(&mill, credit.is(303).header("location"));
    assert_eq!(
        (&credit["summe_netto"], &credit["positionen"][0]["ep_netto"]),
        (&json!("-0.63"), &json!("0.2500"))
    );
    assert_eq!(count(&mill), 3);
}

#[test]
fn an_open_document_is_changed_and_keeps_what_the_form_does_not_show() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    artikel(&mill, "W", json!({"preis": 1}));
    artikel(&mill, "R", json!({"preis": 2}));
    let items = json!([
        {"artikelnr": "W", "menge": 1, "kostenstelle": "K1", "langtext": "lang", "mwst_satz": 19},
        {"artikelnr": "R", "menge": 2, "kostenstelle": "K2"},
        {"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5, "mwst_satz": 19},
    ]);
    let body = json!({"beleg_typ": "AU", "kundennummer": "H", "external_ref": "shop-1", "notizen": "a\nb",
        "items": items});
    let id = mill.post("/api/v1/belege", body.clone()).id();
    let one = format!("{firma}/belege/{id}");
    let page = link(&browser.get(&one).is(200).text, "Ändern");
    let form = browser.get(&page);
    shows(&form.is(200).text, &["a\nb</textarea>", "value=\"W Ware W\"", "value=\"Fracht\""]);
    let same = press(&mut browser, &page, &form, &[], "");
    same.is(303);
    let unchanged = beleg(&mill, &one);
    let before: Vec<_> = ["kostenstelle", "langtext", "mwst_satz"]
        .map(|field| unchanged["positionen"][0][field].clone())
        .into();
    assert_eq!(before, [json!("K1"), json!("lang"), json!("19.00")]);
    assert_eq!((&unchanged["notizen"], &unchanged["summe_netto"]), (&json!("a\nb"), &json!("10.00")));

    // Another window saved in the meantime.
    let old = press(&mut browser, &page, &form, &[("items[0].menge", "7")], "");
    shows(&old.is(412).text, &["value=\"7\""]);
    let form = browser.get(&page);
    let out = press(&mut browser, &page, &form, &[], "weg=0");
    let wrong = [("items[0].menge", "drei"), ("items[1].menge", ""), ("beleg_datum", "2026-07-03")];
    let refused = press(&mut browser, &page, &out, &wrong, "");
    shows(at_field(&refused.is(400).text, "items[0].menge"), &["value=\"drei\"", "role=\"alert\""]);
    shows(at_field(&refused.text, "beleg_datum"), &["value=\"2026-07-03\""]);
    let refused = press(&mut browser, &page, &out, &[("items[0].menge", "0"), ("items[1].menge", "")], "");
    for field in ["items[0].menge", "items[1].menge"] {
        shows(at_field(&refused.is(400).text, field), &["role=\"alert\""]);
    }
    let saved = press(
        &mut browser,
        &page,
        &refused,
        &[("items[0].menge", "4"), ("items[1].menge", "1"), ("notizen", "")],
        "",
    );
    saved.is(303);
    let stored = beleg(&mill, &one);
    let rows: Vec<_> = stored["positionen"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["menge"], &row["kostenstelle"]))
        .collect();
    assert_eq!(rows, [(&json!("4.000"), &json!("K2")), (&json!("1.000"), &Value::Null)]);
    assert_eq!(stored["notizen"], Value::Null);

    mill.post(&format!("/api/v1/belege/{id}/abschliessen"), json!({})).is(200);
    assert!(!browser.get(&one).is(200).text.contains(">Ändern<"));
    shows(&browser.get(&page).is(200).text, &["nur, solange er offen ist"]);
}

#[test]
fn a_lorry_that_was_weighed_becomes_a_delivery() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let huber = kunde(&mill, json!({"name": "Huber", "kundennr": "H", "partner_typen": ["lieferant"]}));
    let weizen = artikel(&mill, "W", json!({"ep_netto": "0.2", "chargenpflichtig": true}));
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 27500, "partner_id": huber, "artikel_id": weizen});
    let id = mill.post("/api/v1/wiegungen", first).id();
    mill.put(&format!("/api/v1/wiegungen/{id}/zweitwiegung"), json!({"gewicht_zweit_kg": 12000})).is(200);
    let one = format!("{firma}/wiegungen/{id}");
    let new = link(&browser.get(&one).is(200).text, "Lieferung daraus");
    let form = browser.get(&new);
    let refused = press(&mut browser, &new, &form, &[], "pruefen");
    shows(&refused.is(400).text, &["CHARGE", "Charge"].map(|_| "Charge"));
    let saved = press(
        &mut browser,
        &new,
        &refused,
        &[("items[0].fremde_charge_nr", "H-7"), ("lieferdatum", "2026-07-01")],
        "",
    );
    let delivery = saved.is(303).header("location").to_owned();
    let stored = beleg(&mill, &delivery);
    let position = &stored["positionen"][0];
    assert_eq!(
        (&stored["beleg_typ"], &position["menge"], &position["wiegung_id"]),
        (&json!("EL"), &json!("15500.000"), &json!(id))
    );
    shows(&browser.get(&delivery).is(200).text, &[&format!("href=\"{one}\"")]);
    assert!(!browser.get(&one).is(200).text.contains("Lieferung daraus"), "it has its document");
}

#[test]
fn a_batch_is_chosen_beside_its_stock_and_its_date() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H", "partner_typen": ["kunde", "lieferant"]}));
    artikel(&mill, "W", json!({"preis": 1, "chargenpflichtig": true}));
    let lot = |nr: &str, mhd: &str| {
        json!({"artikelnr": "W", "menge": 10, "ep_netto": 1,
        "fremde_charge_nr": nr, "mhd": mhd})
    };
    let items = json!([lot("spät", "2099-12-31"), lot("alt", "2020-01-31"), lot("zu", "2030-01-31")]);
    let made = mill.post("/api/v1/belege", json!({"beleg_typ": "EL", "kundennummer": "H", "items": items}));
    let charges: Vec<String> = made.is(201)["lagerbewegungen"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["charge_id"].as_str().unwrap().to_owned())
        .collect();
    let of = |nr: &str| {
        let found = charges.iter().map(|id| mill.get(&format!("/api/v1/chargen/{id}")).is(200).clone());
        found.into_iter().find(|charge| charge["fremde_charge_nr"] == nr).unwrap()
    };
    let locked = of("zu")["id"].as_str().unwrap().to_owned();
    mill.put(&format!("/api/v1/chargen/{locked}"), json!({"gesperrt": true, "sperrgrund": "Käfer"})).is(200);
    let new = format!("{firma}/belege/neu?typ=LS");
    let form = browser.get(&new);
    let typed = [("partner", "H"), ("items[0].artikel", "W"), ("items[0].menge", "2")];
    let shown = press(&mut browser, &new, &form, &typed, "pruefen");
    let options = at_field(&shown.is(400).text, "items[0].charge_id");
    let places: Vec<_> = ["abgelaufen", "GESPERRT", "31.12.2099"]
        .iter()
        .map(|word| options.find(word).unwrap_or_else(|| panic!("{word}: {options}")))
        .collect();
    assert!(places.is_sorted(), "the one that should leave first stands first: {options}");
    shows(options, &["10 kg"]);
    let taken = of("spät")["id"].as_str().unwrap().to_owned();
    let refused = press(&mut browser, &new, &shown, &[("items[0].charge_id", &locked)], "");
    shows(at_field(&refused.is(400).text, "items[0].charge_id"), &["role=\"alert\""]);
    press(&mut browser, &new, &refused, &[("items[0].charge_id", &taken)], "").is(303);
    assert_eq!(of("spät")["bestand"], "8.000");
}

#[test]
fn before_a_document_is_final_the_page_says_what_that_would_say() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let partner = kunde(
        &mill,
        json!({"name": "Huber", "kundennr": "H", "partner_typen": ["lieferant"], "iban": "DE02120300000000202051"}),
    );
    let body = json!({"beleg_typ": "ER", "gutschrift": true, "kundennummer": "H",
        "items": [{"bezeichnung": "Weizen", "menge": 1, "ep_netto": 100, "mwst_satz": "7.8"}]});
    let id = mill.post("/api/v1/belege", body.clone()).id();
    let one = format!("{firma}/belege/{id}");
    let page = browser.get(&one);
    shows(&page.is(200).text, &["Prüfen und abschließen"]);
    let asked = browser.fill(&format!("{one}/abschliessen"), &[("schritt", "pruefen")]);
    shows(
        &asked.is(200).text,
        &["Bitte prüfen", "nicht mehr ändern, nur noch stornieren", "Endgültig abschließen"],
    );
    shows(
        &asked.text,
        &[
            &format!("{firma}/partner/{partner}/aendern#feld-ort\">"),
            &format!("{one}/aendern#feld-items[0].mwst_satz\">"),
        ],
    );
    assert_eq!(beleg(&mill, &one)["status"], "offen", "it was only asked");
    let done = press(&mut browser, &format!("{one}/abschliessen"), &asked, &[], "");
    done.is(303);
    assert_eq!(beleg(&mill, &one)["status"], "abgeschlossen");
    assert!(!browser.get(&one).is(200).text.contains("Prüfen und abschließen"));

    server.set(&mill, &[("e_rechnung", "pflicht")]);
    let id = mill.post("/api/v1/belege", body).id();
    let path = format!("{firma}/belege/{id}/abschliessen");
    let refused = browser.fill(&path, &[("schritt", "pruefen")]);
    shows(&refused.is(200).text, &["So lässt er sich nicht abschließen", "Für die E-Rechnung fehlt: "]);
    assert!(!refused.text.contains("Endgültig abschließen"), "no button that is then refused");
}

#[test]
fn the_form_shows_nothing_of_another_company() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let other = server.company("Andere");
    let theirs = kunde(&other, json!({"name": "Geheim", "kundennr": "G"}));
    let ware = artikel(&other, "G", json!({"preis": 1}));
    let body = json!({"beleg_typ": "LS", "kundennummer": "G", "items": [{"artikelnr": "G", "menge": 1}]});
    let foreign = other.post("/api/v1/belege", body).id();
    kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    browser.get(&format!("{firma}/belege/neu?typ=RE&aus={foreign}")).is(404);
    let new = format!("{firma}/belege/neu?typ=RE&partner_id={theirs}");
    let form = browser.get(&new);
    assert!(!form.is(200).text.contains("Geheim"), "{}", form.text);
    for step in [format!("partner={theirs}"), format!("artikel=0={ware}")] {
        let shown = press(&mut browser, &new, &form, &[], &step);
        assert!(!shown.is(200).text.contains("Geheim") && !shown.text.contains("Ware G"), "{step}");
    }
    let smuggled = [
        ("partner", "H"),
        ("partner_id", "x"),
        ("items[0].artikel", "x"),
        ("items[0].artikel_text", "x"),
        ("items[0].artikel_id", &*ware),
        ("items[0].menge", "1"),
        ("items[0].ep_netto", "1"),
    ];
    let refused = press(&mut browser, &new, &form, &smuggled, "");
    shows(&refused.is(400).text, &["Welcher Artikel ist gemeint?"]);
    assert_eq!(count(&mill), 0);
}

#[test]
fn what_is_changed_in_the_form_counts_and_what_follows_goes_on_following() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let huber = kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    artikel(&mill, "W", json!({"preis": 1}));
    artikel(&mill, "R", json!({"preis": 2}));
    let contract = |nr: &str| {
        let body = json!({"kontrakt_nr": nr, "partner_id": huber,
            "positionen": [{"artikelnr": "W", "menge": 100, "preis": 3}]});
        let id = mill.post("/api/v1/kontrakte", body).id();
        mill.get(&format!("/api/v1/kontrakte/{id}")).is(200)["positionen"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (first, second) = (contract("K1"), contract("K2"));
    let items = json!([
        {"artikelnr": "W", "menge": 1, "kontrakt_position_id": first, "mwst_satz": 7},
        {"artikelnr": "R", "menge": 1, "mwst_satz": 19},
    ]);
    let id =
        mill.post("/api/v1/belege", json!({"beleg_typ": "LS", "kundennummer": "H", "items": items})).id();
    let one = format!("{firma}/belege/{id}");
    let page = format!("{one}/aendern");
    let position = |mill: &Client| beleg(mill, &one)["positionen"][0].clone();
    for (typed, bound, rate) in [
        (&[("items[0].kontrakt_position_id", second.as_str())][..], json!(second), "7.00"),
        (&[("items[0].kontrakt_position_id", "")], Value::Null, "7.00"),
        (&[("items[0].mwst_satz", "0")], Value::Null, "0.00"),
        (&[("items[0].mwst_satz", "")], Value::Null, "7.00"),
    ] {
        let form = browser.get(&page);
        press(&mut browser, &page, &form, typed, "").is(303);
        let stored = position(&mill);
        assert_eq!(
            (&stored["kontrakt_position_id"], &stored["mwst_satz"]),
            (&bound, &json!(rate)),
            "{typed:?}"
        );
        assert_eq!(stored["kontrakt_id"].is_null(), bound.is_null(), "{typed:?}");
    }

    let new = format!("{firma}/belege/neu?typ=RE&aus={id}");
    let form = browser.get(&new);
    let whole = press(&mut browser, &new, &form, &[], "pruefen");
    assert!(whole.is(200).text.contains("Steuer 19 %"), "a rate that was sent goes on: {}", whole.text);
    let other = [("items[1].artikel", "W"), ("items[1].menge", "5")];
    let saved = press(&mut browser, &new, &form, &other, "");
    let invoice = saved.is(303).header("location").to_owned();
    let stored = beleg(&mill, &invoice);
    let named: Vec<_> =
        stored["positionen"].as_array().unwrap().iter().map(|row| row["bezug_beleg_id"].is_null()).collect();
    assert_eq!(named, [false, true], "a row of another article is bound to nothing");
    // A form sent twice makes one document.
    assert_eq!(press(&mut browser, &new, &form, &other, "").is(303).header("location"), invoice);
    assert_eq!(count(&mill), 2);
    assert!(!browser.get(&invoice).is(200).text.contains("leitstand-"), "nobody gave it that number");
}

#[test]
fn what_is_only_tried_is_not_said_to_be_done() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    artikel(&mill, "W", json!({"preis": 1}));
    let new = format!("{firma}/belege/neu?typ=LS");
    let form = browser.get(&new);
    let typed = [("partner", "H"), ("items[0].artikel", "W"), ("items[0].menge", "1")];
    let tried = press(&mut browser, &new, &form, &typed, "pruefen");
    let log = format!("{firma}/protokoll");
    assert!(!browser.get(&log).is(200).text.contains("Belege: angelegt"), "{}", tried.is(200).text);
    press(&mut browser, &new, &tried, &[], "weg=0").is(200);
    assert!(!browser.get(&log).is(200).text.contains("Belege: angelegt"));
    press(&mut browser, &new, &tried, &[], "").is(303);
    shows(&browser.get(&log).is(200).text, &["Belege: angelegt"]);
}

#[test]
fn mistakes_stand_in_their_rows_and_what_nobody_named_is_not_named() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H", "partner_typen": ["kunde", "lieferant"]}));
    artikel(&mill, "W", json!({"preis": 1, "ep_netto": 1, "chargenpflichtig": true}));
    artikel(&mill, "S", json!({"preis": 2}));
    let lot = json!([{"artikelnr": "W", "menge": 10, "fremde_charge_nr": "L1"}]);
    mill.post("/api/v1/belege", json!({"beleg_typ": "EL", "kundennummer": "H", "items": lot})).is(201);

    // The row in between is empty.
    let new = format!("{firma}/belege/neu?typ=RE");
    let form = browser.get(&new);
    let typed = [
        ("partner", "H"),
        ("items[0].artikel", "S"),
        ("items[0].menge", "1"),
        ("items[2].bezeichnung", "Fracht"),
        ("items[2].menge", "viel"),
    ];
    let refused = press(&mut browser, &new, &form, &typed, "pruefen");
    shows(at_field(&refused.is(400).text, "items[2].menge"), &["value=\"viel\"", "role=\"alert\""]);
    shows(&refused.text, &["Position 3: "]);
    let log = browser.get(&format!("{firma}/protokoll"));
    assert!(
        !log.is(200).text.contains("Belege: angelegt"),
        "what is only tried is in no log, refused or not"
    );
    let text_alone = press(&mut browser, &new, &refused, &[("items[2].menge", "")], "");
    shows(at_field(&text_alone.is(400).text, "items[2].menge"), &["Bitte ausfüllen."]);
    let typed = [("items[2].menge", "1"), ("items[2].ep_netto", "5"), ("items[2].mwst_satz", "19")];
    let saved = press(&mut browser, &new, &refused, &typed, "");
    assert_eq!(beleg(&mill, saved.is(303).header("location"))["summe_netto"], "7.00");

    // An invoice without batch and rate follows its delivery after that was changed here.
    let charge = mill.get("/api/v1/chargen").is(200)[0]["id"].clone();
    let delivery = json!([{"artikelnr": "W", "menge": 4, "charge_id": charge}]);
    mill.post("/api/v1/belege", json!({"beleg_typ": "LS", "kundennummer": "H", "items": delivery})).is(201);
    let invoice = json!([{"artikelnr": "W", "menge": 4}, {"artikelnr": "S", "menge": 1, "ep_netto": -3}]);
    let id =
        mill.post("/api/v1/belege", json!({"beleg_typ": "RE", "kundennummer": "H", "items": invoice})).id();
    let one = format!("{firma}/belege/{id}");
    assert_eq!(beleg(&mill, &one)["positionen"][0]["charge_id"], charge);
    let page = format!("{one}/aendern");
    let form = browser.get(&page);
    shows(at_field(&form.is(200).text, "items[0].charge_id"), &["<option value=\"\" selected>"]);
    shows(at_field(&form.text, "items[0].mwst_satz"), &["value=\"\""]);
    press(&mut browser, &page, &form, &[("items[1].ep_netto", "3")], "").is(303);
    let stored = |id: &str, sql: &str| -> i64 {
        let sql = format!(
            "select {sql} from beleg_position p join beleg b on b.id = p.beleg_id and b.tenant_id = p.tenant_id \
             where hex(b.id) = ?1"
        );
        let hex = id.replace('-', "").to_uppercase();
        rusqlite::Connection::open(&server.database)
            .unwrap()
            .query_row(&sql, [hex], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(stored(&id, "sum(p.charge_gesendet) + sum(p.satz_gesendet)"), 0, "the form named neither");
    assert_eq!(stored(&id, "sum(p.lager_buchen)"), 2, "at a positive price the goods count");
    assert_eq!(beleg(&mill, &one)["positionen"][0]["charge_id"], charge);
    let bill = json!([{"artikelnr": "S", "menge": 1, "ep_netto": 1}, {"artikelnr": "W", "menge": 10}]);
    let bill =
        mill.post("/api/v1/belege", json!({"beleg_typ": "ER", "kundennummer": "H", "items": bill})).id();
    let page = format!("{firma}/belege/{bill}/aendern");
    let form = browser.get(&page);
    let moved_up = press(&mut browser, &page, &form, &[], "weg=0");
    press(&mut browser, &page, &moved_up, &[], "").is(303);
    assert_eq!(beleg(&mill, &bill)["positionen"][0]["charge_id"], charge);
    assert_eq!(stored(&bill, "sum(p.charge_gesendet)"), 0, "nor where the row moves up");
}

#[test]
fn other_words_mean_another_record() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    kunde(&mill, json!({"name": "Maier", "kundennr": "M"}));
    artikel(&mill, "W", json!({"preis": 1}));
    artikel(&mill, "R", json!({"preis": 2}));
    let new = format!("{firma}/belege/neu?typ=AU");
    let form = browser.get(&new);
    let typed = [("partner", "hub"), ("items[0].artikel", "w"), ("items[0].menge", "1")];
    let found = press(&mut browser, &new, &form, &typed, "pruefen");
    shows(&found.is(400).text, &["value=\"H Huber\"", "value=\"W Ware W\""]);
    // A match found for other words no longer applies.
    let refused = press(&mut browser, &new, &found, &[("partner", "mai"), ("items[0].artikel", "R")], "");
    shows(at_field(&refused.is(400).text, "partner"), &["value=\"M Maier\""]);
    let saved = press(&mut browser, &new, &refused, &[], "");
    let stored = beleg(&mill, saved.is(303).header("location"));
    assert_eq!((&stored["kunden_name"], &stored["summe_netto"]), (&json!("Maier"), &json!("2.00")));
}
