//! Weighings, contracts, goods receipts, production and cash receipts in the Leitstand.

use serde_json::json;

use super::{Browser, partner, person};
use crate::harness::{COMPLETE, Server};
use crate::trade::lager::{Mill, buy};

/// Logs in a person who may change the company; returns the browser and the path of its pages.
fn erika(mill: &Mill<'_>) -> (Browser, String) {
    let browser = person(mill.server, &["Erika", "--role", "verwalten"]);
    (browser, format!("/leitstand/f/{}", mill.client.tenant))
}

/// Creates a weighing of 40,000 kg, and then of `second`; returns its id.
fn weighed(mill: &Mill<'_>, second: i64) -> String {
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40_000, "partner_id": mill.partner_id("Hof"),
        "artikel_id": mill.artikel_id("W"), "kennzeichen": "DON-<b>X</b>"});
    let id = mill.client.post("/api/v1/wiegungen", first).id();
    if second > 0 {
        let path = format!("/api/v1/wiegungen/{id}/zweitwiegung");
        mill.client.put(&path, json!({"gewicht_zweit_kg": second})).is(200);
    }
    id
}

#[test]
fn weighings_are_listed_shown_and_cancelled() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let (open, done) = (weighed(&mill, 0), weighed(&mill, 15_500));
    let (mut browser, firma) = erika(&mill);
    let list = browser.get(&format!("{firma}/wiegungen"));
    for text in [&format!("{firma}/wiegungen/{open}"), "offen, erst 40.000", "24.500", "DON-&lt;b&gt;X"] {
        assert!(list.is(200).text.contains(text), "{text}: {}", list.text);
    }
    let filtered = browser.get(&format!("{firma}/wiegungen?status=fertig&sortierung=gewicht_netto_kg"));
    assert!(!filtered.is(200).text.contains(&open) && filtered.text.contains(&done), "{}", filtered.text);
    let one = format!("{firma}/wiegungen/{done}");
    let shown = browser.get(&one);
    assert!(shown.is(200).text.contains("<dd>24.500</dd>") && shown.text.contains("Wiegeschein (PDF)"));
    assert_eq!(browser.get(&format!("{one}/pdf")).is(200).header("content-type"), "application/pdf");
    let refused = browser.fill(&format!("{one}/storno"), &[("grund", "")]);
    assert!(refused.is(400).text.contains("id=\"fehler-grund\""), "{}", refused.text);
    browser.fill(&format!("{one}/storno"), &[("grund", "falsches Fahrzeug")]).is(303);
    assert_eq!(mill.client.get(&format!("/api/v1/wiegungen/{done}")).body["status"], "storno");
    assert!(browser.get(&one).text.contains("falsches Fahrzeug"));
    assert!(browser.get(&format!("{firma}/wiegungen")).text.contains("storniert"));
}

#[test]
fn a_contract_shows_what_was_delivered() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let contract = json!([{"kontrakt_nr": "V-1", "partner": "Hof", "gesamtmenge": 1_000, "gesamtmenge_einheit": "kg",
        "positionen": [{"artikelnummer": "W", "menge": 1_000}]}]);
    server.import(&mill.client, "kontrakte", &contract.to_string());
    let contract = mill.client.get("/api/v1/kontrakte").body["data"][0].clone();
    let mut item = buy(250, "C1");
    item["kontrakt_id"] = contract["id"].clone();
    mill.post("EL", item).is(201);
    let (mut browser, firma) = erika(&mill);
    let id = contract["id"].as_str().unwrap();
    let list = browser.get(&format!("{firma}/kontrakte"));
    assert!(list.is(200).text.contains(id) && list.text.contains(">750 kg<"), "{}", list.text);
    let one = browser.get(&format!("{firma}/kontrakte/{id}"));
    for text in ["V-1", "250 kg", "750 kg", "25 % geliefert", "width=\"150\""] {
        assert!(one.is(200).text.contains(text), "{text}: {}", one.text);
    }
    assert!(!browser.get(&format!("{firma}/kontrakte?erledigt=true")).is(200).text.contains(id));
}

#[test]
fn a_goods_receipt_is_shown_and_cancelled() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let weighing = weighed(&mill, 15_000);
    let schein = json!({"kundennummer": "Hof", "artikelnr": "W", "wiegung_id": weighing, "fremde_charge_nr": "G",
        "feuchte_prozent": 16, "basisfeuchte_prozent": 15});
    let id = mill.client.post("/api/v1/annahmescheine", schein).id();
    let (mut browser, firma) = erika(&mill);
    let one = format!("{firma}/annahme/{id}");
    assert!(browser.get(&format!("{firma}/annahme")).is(200).text.contains(&one));
    let shown = browser.get(&one);
    let net = mill.client.get("/api/v1/annahmescheine").body["data"][0]["netto_menge_kg"].clone();
    let net: String = net.as_str().unwrap().split('.').next().unwrap().to_owned();
    let net = format!("{}.{}", &net[..2], &net[2..]);
    for text in ["<dd>16</dd>", &net, "Zur Wiegung"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    assert_eq!(browser.get(&format!("{one}/pdf")).is(200).header("content-type"), "application/pdf");
    browser.fill(&format!("{one}/storno"), &[("grund", "")]).is(400);
    browser.fill(&format!("{one}/storno"), &[("grund", "doppelt")]).is(303);
    assert!(browser.get(&one).text.contains("doppelt"));
}

#[test]
fn a_production_order_goes_on_by_form() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let sacks = json!([{"artikelnummer": "S", "menge": 3, "einheit": "Stk"}]);
    let rezeptur = json!([{"id": 1, "bezeichnung": "Packen", "inputs": sacks, "outputs": sacks}]);
    server.import(&mill.client, "rezepturen", &rezeptur.to_string());
    let id = mill.client.post("/api/v1/produktionsauftraege", json!({"rezeptur_id": 1})).id();
    let (mut browser, firma) = erika(&mill);
    let one = format!("{firma}/produktion/{id}");
    assert!(browser.get(&format!("{firma}/produktion")).is(200).text.contains(&one));
    assert!(browser.get(&one).is(200).text.contains("Packen"));
    browser.fill(&format!("{one}/status"), &[("status", "geplant")]).is(303);
    browser.fill(&format!("{one}/status"), &[("status", "schwebend")]).is(400);
    let stale = browser.get(&format!("{one}/status"));
    let (token, version) = (stale.hidden("token").unwrap(), stale.hidden("version").unwrap());
    browser.fill(&format!("{one}/status"), &[("status", "in_bearbeitung")]).is(303);
    let fields = [("token", token.as_str()), ("version", &version), ("status", "storniert")];
    browser.post(&format!("{one}/status"), &fields).is(412);
    let order = mill.client.get(&format!("/api/v1/produktionsauftraege/{id}")).body;
    assert_eq!(order["status"], "in_bearbeitung");
}

/// The pages of a company whose form contains the state it was made from, with the fields that complete the form.
fn forms_with_a_state(server: &Server, mill: &Mill<'_>, browser: &mut Browser, firma: &str) -> Vec<Page> {
    mill.post("EL", buy(250, "C1")).is(201);
    let sacks = json!([{"artikelnummer": "S", "menge": 3, "einheit": "Stk"}]);
    let rezeptur = json!([{"id": 1, "bezeichnung": "Packen", "inputs": sacks, "outputs": sacks}]);
    server.import(&mill.client, "rezepturen", &rezeptur.to_string());
    let order = mill.client.post("/api/v1/produktionsauftraege", json!({"rezeptur_id": 1})).id();
    let key = [("bezeichnung", "Shop"), ("zweck", "shop")];
    let made = browser.fill(&format!("{firma}/schluessel/neu"), &key);
    let key_id = made.is(200).text.split("class=\"once\">ak_").nth(1).unwrap().split('_').next().unwrap();
    let (partner, batch) = (mill.partner_id("Hof"), mill.batch("C1")["id"].as_str().unwrap().to_owned());
    let beleg = mill.client.get("/api/v1/belege").body["data"][0]["id"].as_str().unwrap().to_owned();
    vec![
        (format!("{firma}/belege/{beleg}/abschliessen"), vec![]),
        (format!("{firma}/belege/{beleg}/storno"), vec![("grund", "falsch")]),
        (format!("{firma}/wiegungen/{}/storno", weighed(mill, 0)), vec![("grund", "falsch")]),
        (format!("{firma}/partner/{partner}/aendern"), vec![("nachname_firma", "Hof")]),
        (format!("{firma}/chargen/{batch}/berichtigen"), vec![]),
        (format!("{firma}/produktion/{order}/status"), vec![("status", "geplant")]),
        (format!("{firma}/schluessel/{key_id}/aendern"), key.to_vec()),
        (format!("{firma}/firma"), vec![]),
        (format!("{firma}/einstellungen"), vec![]),
    ]
}

/// The path of a page and fields of its form.
type Page = (String, Vec<(&'static str, &'static str)>);

#[test]
fn a_form_that_does_not_say_from_which_state_it_was_made_is_refused() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let (mut browser, firma) = erika(&mill);
    for (path, fields) in forms_with_a_state(&server, &mill, &mut browser, &firma) {
        let page = browser.get(&path);
        let name = ["version", "stand"].into_iter().find(|name| page.hidden(name).is_some()).unwrap();
        let token = page.hidden("token").unwrap();
        let sent: Vec<_> = [("token", token.as_str())].into_iter().chain(fields).collect();
        for state in [None, Some((name, "")), Some((name, "\u{1}"))] {
            let refused = browser.post(&path, &[&sent[..], state.as_slice()].concat());
            assert!(refused.is(412).text.contains("nzwischen"), "{path} {state:?}: {}", refused.text);
            assert_ne!(refused.hidden(name), page.hidden(name), "{path}: what was not seen is confirmed");
        }
        browser.fill(&path, &sent[1..]).is(303);
    }
}

#[test]
fn the_receipts_of_a_day_are_summed() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let receipts = "bon_nr;kassiert_at;bezeichnung;menge;einzelpreis;mwst_satz;zahlart\n\
        1;2026-07-01T12:00:00Z;Mehl;1;2,14;7;bar\n2;2026-07-01T13:00:00Z;Bier;2;1,19;19;bar\n\
        3;2026-07-02T13:00:00Z;Brot;1;9,99;7;Karte\n";
    server.import(&mill.client, "barverkaeufe", receipts);
    let (mut browser, firma) = erika(&mill);
    let day = browser.get(&format!("{firma}/kasse?tag=2026-07-01"));
    for text in ["Steuersatz 7 %", "2,14", "0,14", "Steuersatz 19 %", "2,38", "0,38", "4,52", "0,52"] {
        assert!(day.is(200).text.contains(text), "{text}: {}", day.text);
    }
    assert!(!day.text.contains("9,99"));
    assert!(browser.get(&format!("{firma}/kasse")).is(200).text.contains("class=\"empty\""));
    // However many there are.
    let line = |nr: usize| format!("{nr};2026-07-03T12:00:00Z;Ei;1;0,50;7;bar\n");
    let many: String = (1_000..6_010).map(line).collect();
    let head = "bon_nr;kassiert_at;bezeichnung;menge;einzelpreis;mwst_satz;zahlart\n";
    server.import(&mill.client, "barverkaeufe", &format!("{head}{many}"));
    let day = browser.get(&format!("{firma}/kasse?tag=2026-07-03"));
    assert!(day.is(200).text.contains(">2.505,00</td>"), "{}", day.text);
}

#[test]
fn lists_of_goods_are_summed_by_unit() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let contract = |nr: &str, menge: i64, einheit: Option<&str>, erledigt: bool| {
        json!({"kontrakt_nr": nr, "partner": "Hof", "gesamtmenge": menge, "gesamtmenge_einheit": einheit,
            "erledigt": erledigt, "positionen": [{"artikelnummer": "W", "menge": menge}]})
    };
    let contracts = [
        contract("V-1", 1_000, Some("kg"), false),
        contract("V-2", 2, Some("t"), false),
        contract("V-3", 500, Some("kg"), true),
        contract("V-4", 7, None, false),
    ];
    server.import(&mill.client, "kontrakte", &json!(contracts).to_string());
    let listed = mill.client.get("/api/v1/kontrakte").body["data"].as_array().unwrap().clone();
    let mut item = buy(250, "C1");
    item["kontrakt_id"] = listed.iter().find(|one| one["kontrakt_nr"] == "V-1").unwrap()["id"].clone();
    item["menge"] = json!(250.125);
    mill.post("EL", item).is(201);
    let (mut browser, firma) = erika(&mill);
    let all = browser.get(&format!("{firma}/kontrakte"));
    partner::shows(
        &all.is(200).text,
        &[
            "Zusammen (3): <span>vereinbart <strong>1.500 kg + 2 t</strong></span><span>geliefert \
             <strong>250,125 kg + 0 t</strong></span><span>offen <strong>1.249,875 kg + 2 t</strong></span>",
            "1 ohne Einheit zählen darin nicht mit.",
        ],
    );
    let open = browser.get(&format!("{firma}/kontrakte?erledigt=false&seite=1"));
    partner::shows(&open.is(200).text, &["Zusammen (2): <span>vereinbart <strong>1.000 kg + 2 t</strong>"]);

    let receipt = |menge: f64| {
        let body = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": menge, "sonstige_abzuege_kg": 10,
            "lieferdatum": "2026-07-10", "fremde_charge_nr": "G"});
        mill.client.post("/api/v1/annahmescheine", body).id()
    };
    let cancelled = [receipt(25_000.5), receipt(1_000.0), receipt(3.0 * 1_000.0)][2].clone();
    mill.client
        .put(&format!("/api/v1/annahmescheine/{cancelled}/storno"), json!({"grund": "falsch"}))
        .is(200);
    let sums = "Zusammen ohne stornierte (2): <span>angeliefert <strong>26.000,5 kg</strong></span>\
        <span>netto <strong>25.981 kg</strong></span>";
    partner::shows(&browser.get(&format!("{firma}/annahme")).is(200).text, &[sums]);
    let later = browser.get(&format!("{firma}/annahme?von=2026-07-11"));
    assert!(!later.is(200).text.contains("Zusammen"), "{}", later.text);
    partner::shows(
        &browser.get(&firma).is(200).text,
        &["Annahmescheine (2), netto kg<strong>25.981</strong>"],
    );

    let (sacks, wheat) = (
        json!({"artikelnummer": "S", "menge": 3, "einheit": "Stk"}),
        json!({"artikelnummer": "W", "menge": 75, "einheit": "kg"}),
    );
    let recipe = json!([{"id": 1, "bezeichnung": "Packen", "inputs": [sacks, wheat], "outputs": [sacks]}]);
    server.import(&mill.client, "rezepturen", &recipe.to_string());
    let order =
        || mill.client.post("/api/v1/produktionsauftraege", json!({"rezeptur_id": 1, "faktor": 2})).id();
    let (_, cancelled) = (order(), order());
    let path = format!("/api/v1/produktionsauftraege/{cancelled}/status");
    mill.client.put(&path, json!({"status": "storniert"})).is(200);
    let sums = "Zusammen ohne stornierte: <span>hinein geplant <strong>6 Stk + 150 kg</strong></span>\
        <span>heraus geplant <strong>6 Stk</strong></span>";
    partner::shows(&browser.get(&format!("{firma}/produktion")).is(200).text, &[sums]);
}

#[test]
fn a_partner_leads_to_its_documents_weighings_and_contracts() {
    let server = Server::start();
    let (mill, mut browser, firma) = partner::mill(&server);
    let ids = ["Huber", "Maier"].map(|name| partner::kunde(&mill, json!({"name": name})));
    for id in &ids {
        let lorry = json!({"waage_id": 1, "gewicht_erst_kg": 9000, "partner_id": id});
        mill.post("/api/v1/wiegungen", lorry).is(201);
        let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5, "mwst_satz": 19}]);
        let body = json!({"beleg_typ": "AN", "kunden_id": id, "items": items});
        mill.post("/api/v1/belege", body).is(201);
    }
    let contracts = json!([{"kontrakt_nr": "V-1", "kontrakt_typ": "verkauf", "partner": "K-1001"},
        {"kontrakt_nr": "V-2", "kontrakt_typ": "verkauf", "partner": "K-1002"}]);
    server.import(&mill, "kontrakte", &contracts.to_string());
    let own = format!("{firma}/partner/{}", ids[0]);
    let shown = browser.get(&own);
    for (page, parameter, words) in [
        ("belege", "kunden_id", "Belege"),
        ("wiegungen", "partner_id", "Wiegungen"),
        ("kontrakte", "partner_id", "Kontrakte"),
    ] {
        let to = format!("{firma}/{page}?{parameter}={}", ids[0]);
        partner::shows(&shown.is(200).text, &[&format!("href=\"{to}\">{words}</a>")]);
        let list = browser.get(&to);
        partner::shows(&list.is(200).text, &[&format!("Nur {words} zu <a href=\"{own}\">Huber</a>")]);
        assert!(!list.text.contains("Maier"), "{page}: {}", list.text);
        // Searching there keeps the partner.
        let kept = format!("<input type=\"hidden\" name=\"{parameter}\" value=\"{}\">", ids[0]);
        assert!(list.text.contains(&kept), "{page}: {}", list.text);
    }
    let open = browser.get(&format!("{firma}/belege?status=storniert"));
    assert!(open.is(200).text.contains("Keine Belege gefunden."), "{}", open.text);
}
