//! Partners and articles in the Leitstand, and the search over everything.

use serde_json::{Value, json};

use super::{Browser, person};
use crate::harness::{Client, Server};

/// A text with markup that would run.
pub const EVIL: &str = "<script>alert('1')</script>\"><img src=x onerror=alert(2)>";

/// Creates a company and a person who may change it.
pub fn mill(server: &Server) -> (Client, Browser, String) {
    let mill = server.company("Mühle");
    let firma = format!("/leitstand/f/{}", mill.tenant);
    (mill, person(server, &["Erika", "--role", "verwalten"]), firma)
}

pub fn kunde(mill: &Client, body: Value) -> String {
    mill.post("/api/v1/kunden", body).id()
}

/// The part of a form with a field, its label and the reason why it was refused.
pub fn at_field<'t>(text: &'t str, name: &str) -> &'t str {
    let begin = text.find(&format!("<label for=\"feld-{name}\"")).unwrap_or_else(|| panic!("{name}: {text}"));
    text[begin..].split("</div>").next().unwrap()
}

#[track_caller]
pub fn shows(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_partner_is_shown_with_what_his_e_invoices_lack() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let body = json!({"nachname_firma": "Stadt Donauwörth", "anrede": "Firma", "strasse": "Rathausgasse 1",
        "plz": "86609", "iban": "DE02120300000000202051", "e_rechnung": "xrechnung", "zahlungsziel_tage": 14});
    let id = kunde(&mill, body);
    let one = format!("{firma}/partner/{id}");
    let list = browser.get(&format!("{firma}/partner?suche=donau"));
    shows(&list.is(200).text, &[&format!("href=\"{one}\""), "Stadt Donauwörth", "K-1001", "86609"]);
    let shown = browser.get(&one);
    shows(
        &shown.is(200).text,
        &[
            "Rathausgasse 1",
            "DE02 1203 0000 0000 2020 51",
            "<dt>Zahlungsziel (Tage)</dt><dd>14</dd>",
            "Deutschland",
        ],
    );
    shows(&shown.text, &[&format!("{firma}/belege?kunden_id={id}"), "Für E-Rechnungen fehlt:"]);
    for (field, what) in [
        ("ort", "Ort"),
        ("kaeuferreferenz", "Leitweg-ID oder Bestellzeichen des Käufers"),
        ("e_adresse", "elektronische Adresse"),
    ] {
        shows(&shown.text, &[&format!("{one}/aendern#feld-{field}\">{what}</a>")]);
    }
    // Gaps in the company's own data are shown elsewhere.
    assert!(!shown.text.contains("Ansprechpartner"), "{}", shown.text);
    let complete =
        [("ort", "Donauwörth"), ("kaeuferreferenz", "09779000-0-1"), ("e_adresse", "stadt@example.org")];
    browser.fill(&format!("{one}/aendern"), &complete).is(303);
    shows(&browser.get(&one).is(200).text, &["Für E-Rechnungen fehlt nichts"]);

    // A supplier who gets Gutschriften is the seller in them.
    let supplier = json!({"name": "Hof", "plz": "1", "ort": "A", "partner_typen": ["lieferant"],
        "gutschrift_vereinbart_am": "2026-01-05", "iban": "DE00"});
    let one = format!("{firma}/partner/{}", kunde(&mill, supplier));
    let shown = browser.get(&one);
    shows(&shown.is(200).text, &["aendern#feld-ust_id", "IBAN mit richtiger Prüfziffer", "05.01.2026"]);
    browser.fill(&format!("{one}/aendern"), &[("gutschrift_vereinbart_am", "")]).is(303);
    shows(&browser.get(&one).is(200).text, &["Für E-Rechnungen fehlt nichts"]);
}

#[test]
fn a_change_by_form_is_kept_with_who_made_it() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let id = kunde(&mill, json!({"name": "Huber", "telefon": "1", "ort": "Ulm"}));
    let (api, one) = (format!("/api/v1/kunden/{id}"), format!("{firma}/partner/{id}"));
    mill.put(&api, json!({"partner_typen": ["kunde", "spediteur"]})).is(200);
    let form = browser.get(&format!("{one}/aendern"));
    shows(at_field(&form.is(200).text, "staat"), &["<option value=\"DE\" selected>Deutschland"]);
    shows(at_field(&form.text, "ort"), &["value=\"Ulm\""]);
    let typed = [
        ("telefon", ""),
        ("iban", "DE02 1203 0000 0000 2020 51"),
        ("skonto_tage", "10"),
        ("skonto_prozent", "2,5"),
        ("partner_typen", "gezeigt"),
        ("rolle-spediteur", "ja"),
        ("rolle-lieferant", "ja"),
    ];
    browser.fill(&format!("{one}/aendern"), &typed).is(303);
    let stored = mill.get(&api).body;
    assert_eq!(stored["skonto_prozent"], "2.50");
    assert_eq!((&stored["telefon"], &stored["ort"]), (&Value::Null, &json!("Ulm")));
    assert_eq!(stored["partner_typen"], json!(["lieferant", "spediteur"]));
    let shown = browser.get(&one);
    shows(
        &shown.is(200).text,
        &["Der Partner ist geändert.", "<dt>Skonto (%)</dt><dd>2,5</dd>", "Lieferant, Spediteur"],
    );
    let history = shown.text.split("Änderungen, die neuesten zuerst</caption>").nth(1).unwrap();
    shows(history, &[">Rollen</td>", ">Kunde, Spediteur</td>", ">Telefon</td>", ">Erika</td>"]);
    let (newest, oldest) = (history.find("Lieferant, Spediteur"), history.rfind("Kunde, Spediteur"));
    assert!(newest.unwrap() < oldest.unwrap(), "{history}");
    let label: String = server.sql("select bezeichnung from api_key where tenant_id = 1");
    shows(history, &[&format!(">{label}</td>")]);
}

#[test]
fn a_long_history_is_read_page_by_page_the_newest_first() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let id = kunde(&mill, json!({"name": "Huber", "telefon": "T0"}));
    for number in 1..=53 {
        mill.put(&format!("/api/v1/kunden/{id}"), json!({"telefon": format!("T{number}")})).is(200);
    }
    let one = format!("{firma}/partner/{id}");
    let first = browser.get(&one);
    shows(&first.is(200).text, &[">T53</td>", ">T4</td>", "53 Einträge", &format!("href=\"{one}?seite=2\"")]);
    assert!(!first.text.contains(">T2</td>"), "{}", first.text);
    let second = browser.get(&format!("{one}?seite=2"));
    shows(&second.is(200).text, &[">T3</td>", ">T0</td>", &format!("href=\"{one}?seite=1\"")]);
    assert!(!second.text.contains(">T4</td>"), "{}", second.text);
    let beyond = browser.get(&format!("{one}?seite=9"));
    assert!(!beyond.is(200).text.contains(">T0</td>"), "{}", beyond.text);
}

#[test]
fn a_form_that_was_open_while_somebody_else_changed_the_partner_changes_nothing() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let id = kunde(&mill, json!({"name": "Huber", "ort": "Ulm"}));
    let change = format!("{firma}/partner/{id}/aendern");
    let form = browser.get(&change);
    let (token, version) = (form.hidden("token").unwrap(), form.hidden("version").unwrap());
    mill.put(&format!("/api/v1/kunden/{id}"), json!({"telefon": "2"})).is(200);
    let fields = [("token", token.as_str()), ("version", version.as_str()), ("ort", "Augsburg")];
    let refused = browser.post(&change, &fields);
    shows(at_field(&refused.is(412).text, "ort"), &["value=\"Augsburg\""]);
    // Sending it again is refused again: nobody has seen the changes.
    assert_eq!(refused.hidden("version"), Some(version));
    shows(&refused.text, &["<a href=\"\">Seite neu laden</a>"]);
    assert_eq!(mill.get(&format!("/api/v1/kunden/{id}")).body["ort"], "Ulm");
}

#[test]
fn a_refusal_stands_at_its_field_beside_what_was_typed() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let new = format!("{firma}/partner/neu");
    for (name, typed) in [
        ("nachname_firma", ""),
        ("zahlungsziel_tage", "bald"),
        ("gutschrift_vereinbart_am", "gestern"),
        ("staat", "XX"),
        ("e_rechnung", "fax"),
        ("notizen", &"x".repeat(4_001)),
    ] {
        let name_of_partner = if name == "nachname_firma" { typed } else { "Huber" };
        let mut fields = vec![("nachname_firma", name_of_partner), ("ort", "Ulm")];
        if name != "nachname_firma" {
            fields.push((name, typed));
        }
        let refused = browser.fill(&new, &fields);
        let why = format!("id=\"fehler-{name}\"");
        shows(at_field(&refused.is(400).text, name), &[&why, "aria-invalid=\"true\""]);
        shows(at_field(&refused.text, "ort"), &["value=\"Ulm\""]);
        assert_eq!(refused.text.matches("class=\"refused\"").count(), 1, "{}", refused.text);
    }
    // An emptied field stays empty if another field is refused.
    let id = kunde(&mill, json!({"name": "Huber", "telefon": "0123"}));
    let change = format!("{firma}/partner/{id}/aendern");
    let refused = browser.fill(&change, &[("telefon", ""), ("nachname_firma", "")]);
    assert!(!at_field(&refused.is(400).text, "telefon").contains("0123"), "{}", refused.text);
}

#[test]
fn a_new_partner_is_made_by_form() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let new = format!("{firma}/partner/neu");
    let form = browser.get(&new);
    // A carrier is made by an import or a change alone.
    assert!(form.is(200).text.contains("name=\"steuerart\"") && !form.text.contains("rolle-spediteur"));
    let fields = [
        ("kundennr", ""),
        ("nachname_firma", "Hof Ahrens"),
        ("staat", "AT"),
        ("notizen", "ruft an,\r\nbevor er kommt"),
        ("partner_typen", "gezeigt"),
        ("rolle-lieferant", "ja"),
    ];
    let to = browser.fill(&new, &fields).is(303).header("location").to_owned();
    shows(&browser.get(&to).is(200).text, &["Der Partner ist angelegt.", "Hof Ahrens", "Österreich"]);
    let stored = &mill.get("/api/v1/kunden?suche=ahrens").body["data"][0];
    assert_eq!(to, format!("{firma}/partner/{}", stored["id"].as_str().unwrap()));
    assert_eq!(stored["notizen"], "ruft an,\nbevor er kommt");
    assert_eq!((&stored["kundennr"], &stored["partner_typen"]), (&json!("K-1001"), &json!(["lieferant"])));
    // The same name at the same place is accepted, with a hint.
    let again = [("nachname_firma", "Hof Ahrens"), ("ort", "Dorf")];
    browser.fill(&new, &again).is(303);
    let to = browser.fill(&new, &again).is(303).header("location").to_owned();
    shows(
        &browser.get(&to).is(200).text,
        &["Einen Kunden mit diesem Namen an diesem Ort gibt es schon: K-1002."],
    );
    // A value may end with the character that separates it from its name.
    let nobody = browser.get(&format!("{firma}/partner?suche=nichts="));
    assert!(!nobody.is(200).text.contains("Hof Ahrens</a>"), "{}", nobody.text);
    // A browser also sends the empty fields of the filter.
    let list = browser.get(&format!("{firma}/partner?suche=&partner_typ=lieferant&sortierung="));
    assert_eq!(list.is(200).text.matches("Hof Ahrens</a>").count(), 1, "{}", list.text);
}

/// Creates an article with all its tables; returns its id.
pub fn weizen(server: &Server, mill: &Client) -> String {
    server.import(mill, "artikelgruppen", "id;kuerzel;nummer;name;mwst_satz\n1;GE;20;Getreide;7\n");
    let artikel = "artikelnummer;artikelnr;bezeichnung;einheit;preis;ep_netto;mwst_satz;ean;gruppe;chargenpflichtig\n\
         W-10;1001;Weizen;kg;0,325;0,20;7;2000000130132;GE;ja\nS;;Sack;Stk;33,5;20;19;;;nein\n";
    server.import(mill, "artikel", artikel);
    server.import(mill, "staffelpreise", r#"[{"artikelnummer": "W-10", "ab_menge": 25000, "preis": 0.3}]"#);
    server.import(mill, "chargen", "artikelnummer;charge_nr;bestand;mhd\nW-10;C-7;1234,5;2027-03-31\n");
    let found = mill.get("/api/v1/artikel?suche=weizen").body;
    found["data"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_article_is_shown_with_prices_stock_and_batches() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let id = weizen(&server, &mill);
    let one = format!("{firma}/artikel/{id}");
    let list = browser.get(&format!("{firma}/artikel"));
    shows(&list.is(200).text, &[&format!("href=\"{one}\""), "1.234,5", ">0,325<", ">33,50<", "Getreide"]);
    let of_group = browser.get(&format!("{firma}/artikel?gruppe_id=1"));
    assert!(of_group.is(200).text.contains("Weizen") && !of_group.text.contains("Sack"), "{}", of_group.text);
    let shown = browser.get(&one);
    shows(&shown.is(200).text, &["1.234,5</strong>", "0,325", "0,20", "<dd>7</dd>", "2000000130132", "1001"]);
    shows(&shown.text, &[">25.000</td>", ">0,30</td>", &format!("{firma}/chargen?artikel_id={id}")]);
    let changes = "artikelnummer;bezeichnung;gruppe;chargenpflichtig\nW-10;<b>Weizen;Ölsaaten;ja\n";
    server.import(&mill, "artikel", changes);
    let tier = r#"[{"artikelnummer": "W-10", "ab_menge": 25000, "preis": 0.28, "aktiv": false}]"#;
    server.import(&mill, "staffelpreise", tier);
    let shown = browser.get(&one);
    shows(
        &shown.is(200).text,
        &[">ab 25.000: 0,30</td>", ">ab 25.000: 0,28 (inaktiv)</td>", ">Kommandozeile</td>"],
    );
    shows(&shown.text, &[">Getreide</td>", ">Ölsaaten</td>", ">&lt;b&gt;Weizen</td>"]);
    assert!(!shown.text.contains("artikelgruppe_id"), "{}", shown.text);
}

#[test]
fn records_of_another_company_are_as_those_that_are_not_there() {
    let server = Server::start();
    let (own, mut browser, firma) = mill(&server);
    let other = server.company("Andere");
    let artikel = weizen(&server, &other);
    let partner = kunde(&other, json!({"name": "Huber"}));
    let file = json!({"dateiname": "a.txt", "inhalt_base64": "MA=="});
    let anhang = other.post(&format!("/api/v1/kunden/{partner}/dokumente"), file).id();
    kunde(&own, json!({"name": "Meier"}));
    for path in [
        format!("partner/{partner}"),
        format!("partner/{partner}/aendern"),
        format!("partner/{partner}/anhaenge/{anhang}"),
        format!("artikel/{artikel}"),
        format!("artikel/{artikel}/anhaenge/{anhang}"),
    ] {
        browser.get(&format!("{firma}/{path}")).is(404);
    }
    let token = browser.get(&format!("{firma}/partner/neu")).hidden("token").unwrap();
    let fields = [("token", token.as_str()), ("version", "1"), ("ort", "Ulm")];
    browser.post(&format!("{firma}/partner/{partner}/aendern"), &fields).is(404);
    assert_eq!(other.get(&format!("/api/v1/kunden/{partner}")).body["ort"], Value::Null);
    let nothing = browser.get(&format!("{firma}/suche?suche=huber"));
    shows(&nothing.is(200).text, &["Nichts gefunden"]);
}

#[test]
fn who_may_only_look_is_offered_no_change() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let id = kunde(&mill, json!({"name": "Huber"}));
    let mut looks = person(&server, &["Paul"]);
    let (list, one) = (format!("{firma}/partner"), format!("{firma}/partner/{id}"));
    for (path, offer) in [(&list, "Neuer Partner"), (&one, "/aendern")] {
        shows(&browser.get(path).is(200).text, &[offer]);
        assert!(!looks.get(path).is(200).text.contains(&format!("{offer}<")), "{path}");
        assert!(!looks.get(path).text.contains("/aendern\""), "{path}");
    }
    let token = looks.get("/leitstand/abmelden").hidden("token").unwrap();
    let fields = [("token", token.as_str()), ("version", "1"), ("nachname_firma", "Neu")];
    for path in [format!("{one}/aendern"), format!("{list}/neu")] {
        looks.post(&path, &fields).is(403);
    }
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 1);
}

#[test]
fn markup_in_every_field_is_text() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let fields = [
        "nachname_firma",
        "vorname",
        "strasse",
        "plz",
        "ort",
        "email",
        "telefon",
        "telefon2",
        "ust_id",
        "steuernummer",
        "betriebsnummer",
        "iban",
        "bic",
        "kaeuferreferenz",
        "e_adresse",
        "notizen",
    ];
    let body: Value = fields.iter().map(|field| ((*field).to_owned(), json!(EVIL))).collect();
    let id = kunde(&mill, body);
    // Also for values from before.
    let harmless: Value = fields.iter().map(|field| ((*field).to_owned(), json!("x"))).collect();
    mill.put(&format!("/api/v1/kunden/{id}"), harmless).is(200);
    let artikel = json!([{"artikelnummer": "A", "bezeichnung": EVIL, "langtext": EVIL, "einheit": "kg"}]);
    server.import(&mill, "artikel", &artikel.to_string());
    let artikel = mill.get("/api/v1/artikel").body["data"][0]["id"].as_str().unwrap().to_owned();
    let again = kunde(&mill, json!({"name": EVIL, "ort": EVIL}));
    for (path, is_shown) in [
        (format!("partner/{id}"), true),
        (format!("partner/{again}/aendern"), true),
        ("partner".to_owned(), true),
        (format!("artikel/{artikel}"), true),
        ("artikel".to_owned(), true),
        ("suche?suche=script".to_owned(), true),
        ("suche?suche=%3Cscript%3Enichts".to_owned(), true),
    ] {
        let shown = browser.get(&format!("{firma}/{path}"));
        assert_eq!(shown.is(200).text.contains("&lt;script&gt;"), is_shown, "{path}: {}", shown.text);
        assert!(!shown.text.contains("<script") && !shown.text.contains("<img"), "{path}: {}", shown.text);
    }
}

#[test]
fn the_search_finds_each_kind_and_goes_straight_to_a_single_hit() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let artikel = weizen(&server, &mill);
    let partner = kunde(&mill, json!({"name": "Bäckerei Süß", "ort": "Straßberg"}));
    let items = json!([{"bezeichnung": "Fracht", "menge": 2, "ep_netto": 5, "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "external_ref": "WEB-77", "items": items});
    let beleg = mill.post("/api/v1/belege", body).id();
    let charge = json!({"artikel_id": artikel, "charge_nr": "Silo-3", "fremde_charge_nr": "LIEF/2026/0815"});
    let charge = mill.post("/api/v1/chargen", charge).id();
    let weighing =
        json!({"waage_id": 1, "gewicht_erst_kg": 40_000, "partner_id": partner, "kennzeichen": "DON-X 1"});
    let weighing = mill.post("/api/v1/wiegungen", weighing);
    let slip = mill.get(&format!("/api/v1/wiegungen/{}", weighing.id())).body["wiegeschein_nr"].clone();
    for (typed, to) in [
        ("web-77", format!("belege/{beleg}")),
        ("weizen", format!("artikel/{artikel}")),
        ("2000000130132", format!("artikel/{artikel}")),
        ("silo-3", format!("chargen/{charge}")),
        ("ief/2026/08", format!("chargen/{charge}")),
        ("donx1", format!("wiegungen/{}", weighing.id())),
        (slip.as_str().unwrap(), format!("wiegungen/{}", weighing.id())),
    ] {
        let found = browser.get(&format!("{firma}/suche?suche={}", typed.replace(' ', "+")));
        assert_eq!(found.is(303).header("location"), format!("{firma}/{to}"), "{typed}");
    }
    // A partner and a document of it.
    let both = browser.get(&format!("{firma}/suche?suche=S%C3%BC%C3%9F"));
    shows(
        &both.is(200).text,
        &[&format!("{firma}/partner/{partner}\""), &format!("{firma}/belege/{beleg}\"")],
    );
    shows(&both.text, &["<h2>Partner (1)</h2>", "<h2>Belege (1)</h2>"]);
    assert!(!both.text.contains("Chargen (") && !both.text.contains("Alle 1 anzeigen"), "{}", both.text);
    // If there are more hits than shown, a link leads to the whole list.
    for number in 0..12 {
        kunde(&mill, json!({"name": format!("Hof {number}")}));
    }
    let many = browser.get(&format!("{firma}/suche?suche=Hof"));
    shows(
        &many.is(200).text,
        &["<h2>Partner (12)</h2>", &format!("{firma}/partner?suche=Hof\">Alle 12 anzeigen")],
    );
    assert_eq!(many.text.matches("/partner/").count(), 10, "{}", many.text);
    shows(&browser.get(&format!("{firma}/suche?suche=nirgends")).is(200).text, &["Nichts gefunden"]);
    shows(&browser.get(&format!("{firma}/suche?suche=+")).is(200).text, &["class=\"empty\""]);
}

#[test]
fn heads_of_columns_sort_and_say_so() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    for (name, number) in [("Zander", "1"), ("Ährenhof", "2"), ("Bauer", "3")] {
        kunde(&mill, json!({"name": name, "kundennr": number, "ort": "Ulm"}));
    }
    weizen(&server, &mill);
    for day in ["2026-07-03", "2026-07-01", "2026-07-02"] {
        mill.post("/api/v1/produktionsauftraege", json!({"produktions_datum": day})).is(201);
        let schein =
            json!({"kundennummer": "1", "artikelnr": "1001", "lieferdatum": day, "anliefermenge_kg": 100});
        mill.post("/api/v1/annahmescheine", schein).is(201);
    }
    let (newest, oldest) =
        (["03.07.2026", "02.07.2026", "01.07.2026"], ["01.07.2026", "02.07.2026", "03.07.2026"]);
    let items =
        |price: i64| json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": price, "mwst_satz": 19}]);
    for (number, price) in [("1", 5), ("2", 9), ("3", 7)] {
        let body = json!({"beleg_typ": "AN", "kundennummer": number, "items": items(price)});
        mill.post("/api/v1/belege", body).is(201);
    }
    for (path, names, head) in [
        ("partner", ["Zander", "Ährenhof", "Bauer"], "Nummer<span aria-hidden=\"true\"> ▲"),
        ("partner?sortierung=name", ["Ährenhof", "Bauer", "Zander"], "Name<span aria-hidden=\"true\"> ▲"),
        ("partner?sortierung=-name", ["Zander", "Bauer", "Ährenhof"], "Name<span aria-hidden=\"true\"> ▼"),
        ("annahme", newest, "Lieferdatum<span aria-hidden=\"true\"> ▼"),
        ("annahme?sortierung=lieferdatum", oldest, "Lieferdatum<span aria-hidden=\"true\"> ▲"),
        ("produktion", newest, "Datum<span aria-hidden=\"true\"> ▼"),
        ("produktion?sortierung=produktions_datum", oldest, "Datum<span aria-hidden=\"true\"> ▲"),
        (
            "belege?sortierung=-summe_brutto",
            ["10,71", "8,33", "5,95"],
            "Brutto (EUR)<span aria-hidden=\"true\"> ▼",
        ),
        (
            "belege?sortierung=beleg_nummer",
            ["00001", "00002", "00003"],
            "Nummer<span aria-hidden=\"true\"> ▲",
        ),
    ] {
        let shown = browser.get(&format!("{firma}/{path}")).text;
        let at =
            names.map(|name| shown.find(&format!("{name}<")).unwrap_or_else(|| panic!("{name}: {shown}")));
        assert!(at.is_sorted(), "{path}: {shown}");
        assert_eq!(shown.matches("aria-sort=").count(), 1, "{path}: {shown}");
        shows(&shown, &[head]);
    }
    shows(&browser.get(&format!("{firma}/belege")).text, &["<th class=\"sorts n\" scope=\"col\">"]);
    // Sorted in reverse, from the first page on, keeping the search.
    let shown = browser.get(&format!("{firma}/partner?suche=ulm&seite=1&sortierung=name"));
    let turned = format!("href=\"{firma}/partner?sortierung=-name&amp;suche=ulm\"");
    shows(
        &shown.is(200).text,
        &[&turned, "aria-sort=\"ascending\"", "type=\"hidden\" name=\"sortierung\" value=\"name\""],
    );
    shows(&shown.text, &[&format!("href=\"{firma}/partner?sortierung=kundennr&amp;suche=ulm\"")]);
    shows(
        &browser.get(&format!("{firma}/artikel?sortierung=-bezeichnung")).is(200).text,
        &["aria-sort=\"descending\""],
    );
    shows(
        &browser.get(&format!("{firma}/partner?sortierung=farbe")).is(400).text,
        &["kundennr, -kundennr, name, -name"],
    );
}

#[test]
fn the_history_of_a_document_names_people_and_keys() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber"}));
    let items = json!([{"bezeichnung": "Fracht", "menge": 2, "ep_netto": 5, "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items});
    let id = mill.post("/api/v1/belege", body).id();
    mill.put(&format!("/api/v1/belege/{id}"), json!({"notizen": "neu"})).is(200);
    let one = format!("{firma}/belege/{id}");
    browser.fill(&format!("{one}/abschliessen"), &[]).is(303);
    let label: String = server.sql("select bezeichnung from api_key where tenant_id = 1");
    let shown = browser.get(&one);
    shows(&shown.is(200).text, &[">Erika</td>", &format!(">{label}</td>")]);
    // From a partner to its documents, and back.
    let partner = mill.get("/api/v1/kunden").body["data"][0]["id"].as_str().unwrap().to_owned();
    let here = format!("{firma}/partner/{partner}\"");
    shows(&shown.text, &[&here]);
    let his = browser.get(&format!("{firma}/belege?kunden_id={partner}"));
    shows(&his.is(200).text, &["Nur Belege zu", &here, "name=\"kunden_id\"", &one]);
    assert!(!shown.text.contains("person 1"), "{}", shown.text);
}
