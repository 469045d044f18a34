//! References to other papers on sheet and e-invoice: the corrected invoice, several deliveries, the partner
//! of a storno, the flat rate of § 24 UStG.

use serde_json::{Value, json};

use super::{BELEGE, beleg, document, finished, firma, partner, sheet, storno, text, texts, typ, xml};
use crate::harness::{COMPLETE, Client, Server};
use crate::programs::needs;
use crate::trade::lager::{Mill, and, plain, sell};

const MISSING: &str = "BEZUG_FEHLT";

fn number(client: &Client, id: &str) -> String {
    beleg(client, id)["beleg_nummer"].as_str().unwrap().to_owned()
}

/// The preceding invoices of an e-invoice: number and day.
fn preceding(xml: &str) -> Vec<(String, String)> {
    let parts = xml.split("<ram:InvoiceReferencedDocument>").skip(1);
    let day = |part: &str| part.split_once("format=\"102\">").unwrap().1[..8].to_owned();
    parts.map(|part| (texts(part, "IssuerAssignedID")[0].to_owned(), day(part))).collect()
}

#[test]
fn a_correction_names_the_invoices_that_it_corrects() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-10T10:00:00Z");
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let dated = |day: &str| finished(&mill, document("RE", &kunde, "1000", json!({"beleg_datum": day})));
    let (first, second) = (dated("2026-07-01"), dated("2026-07-03"));
    let numbers = [&first, &second].map(|id| number(&mill, id));
    let minus = |bezug: Value| {
        json!({"bezeichnung": "Nachlass", "menge": 1, "ep_netto": -50, "mwst_satz": 7,
        "bezug_beleg_id": bezug})
    };
    let items = json!([minus(json!(first)), minus(json!(second)), minus(json!(first))]);
    let open = mill.post(BELEGE, document("RE", &kunde, "1", json!({"items": items})));
    assert!(!open.is(201)["hinweise"].to_string().contains(MISSING));
    let finalised = mill.post(&format!("{BELEGE}/{}/abschliessen", open.id()), json!({}));
    assert!(!finalised.is(200)["hinweise"].to_string().contains(MISSING));
    let written = xml(&mill, &open.id());
    assert_eq!(typ(&written), "381");
    let expected = [(numbers[0].clone(), "20260701".to_owned()), (numbers[1].clone(), "20260703".to_owned())];
    assert_eq!(preceding(&written), expected);
    let said = format!("{} vom 01.07.2026, {} vom 03.07.2026", numbers[0], numbers[1]);
    assert!(texts(&written, "Content").contains(&format!("Berichtigung zu {said}").as_str()), "{written}");
    let shown = text(&sheet(&mill, &open.id()));
    assert!(shown.contains(&format!("wir berichtigen unsere Rechnungen {said}:")), "{shown}");
    // Its own storno refers to the correction, not to the corrected invoice.
    let counter = xml(&mill, &storno(&mill, &open.id()));
    assert_eq!(preceding(&counter), [(number(&mill, &open.id()), "20260710".to_owned())]);
}

#[test]
fn xrechnung_has_room_for_one_corrected_invoice_and_its_note_names_all() {
    let server = Server::start();
    let more = [("kontakt_name", "Jan"), ("kontakt_telefon", "+49 906 1234"), ("email", "re@muehle.example")];
    let mill = firma(&server, "Mühle", &more);
    let amt = partner(&mill, json!({"e_rechnung": "xrechnung", "kaeuferreferenz": "991-01234-56"}));
    let named = [(); 2].map(|()| finished(&mill, document("RE", &amt, "1000", json!({}))));
    let minus = |id: &String| {
        json!({"bezeichnung": "Nachlass", "menge": 1, "ep_netto": -50, "mwst_satz": 7,
        "bezug_beleg_id": id})
    };
    let items: Vec<_> = named.iter().map(minus).collect();
    let written = xml(&mill, &finished(&mill, document("RE", &amt, "1", json!({"items": items}))));
    assert_eq!(preceding(&written).len(), 1);
    let note =
        texts(&written, "Content").into_iter().find(|note| note.starts_with("Berichtigung zu")).unwrap();
    named.iter().for_each(|id| assert!(note.contains(&number(&mill, id)), "{note}"));
}

#[test]
fn an_invoice_below_zero_that_names_none_is_told_so() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let none = mill.post(BELEGE, document("RE", &kunde, "-50", json!({})));
    none.is(201);
    none.hints(MISSING);
    let path = format!("{BELEGE}/{}", none.id());
    mill.put(&path, json!({"notizen": "Nachlass"})).hints(MISSING);
    mill.post(&format!("{path}/abschliessen"), json!({})).hints(MISSING);
    let at_once = mill.post(BELEGE, document("RE", &kunde, "-50", json!({"abschliessen": true})));
    assert_eq!(at_once.hint_codes().iter().filter(|code| *code == MISSING).count(), 1);
    // An invoice, another document type, and a supplier's invoice have nothing to reference.
    for (typ, amount) in [("RE", "50"), ("AN", "-50"), ("ER", "-50")] {
        let created = mill.post(BELEGE, document(typ, &kunde, amount, json!({})));
        assert!(!created.hint_codes().contains(&MISSING.to_owned()), "{typ}");
    }
}

#[test]
fn several_deliveries_give_first_and_last_day_and_each_line_names_its_own() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-10T10:00:00Z");
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let kunde = json!({"name": "Bäckerei", "plz": "86650", "ort": "Wemding"});
    mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), kunde).is(200);
    let charge = mill.receive("FELD-7", 30_000);
    let deliver = |menge: i64, day: &str| {
        let items = json!([sell(menge, &charge)]);
        let body = json!({"beleg_typ": "LS", "kundennummer": "Kd", "lieferdatum": day, "items": items});
        let id = mill.client.post(BELEGE, body).id();
        number(&mill.client, &id)
    };
    let (first, second) = (deliver(1000, "2026-07-02"), deliver(2000, "2026-07-06"));
    let items = json!([plain(1000), plain(2000), {"bezeichnung": "Fracht", "menge": 1, "ep_netto": 80}]);
    let invoice = mill.post("RE", items).id();
    mill.finalise(&invoice);
    let written = xml(&mill.client, &invoice);
    let period = written.split_once("<ram:BillingSpecifiedPeriod>").unwrap().1;
    let period = period.split_once("</ram:BillingSpecifiedPeriod>").unwrap().0;
    assert!(period.contains("20260702") && period.contains("20260706"), "{period}");
    let notes: Vec<_> = written
        .split("<ram:AssociatedDocumentLineDocument>")
        .skip(1)
        .map(|line| texts(line.split_once("</ram:AssociatedDocumentLineDocument>").unwrap().0, "Content"))
        .collect();
    let [one, other] = [(&first, "02"), (&second, "06")]
        .map(|(number, day)| format!("Lieferschein {number} vom {day}.07.2026"));
    assert_eq!(notes, [vec![one.as_str()], vec![other.as_str()], vec![]]);
    let shown = text(&sheet(&mill.client, &invoice));
    for words in ["02.07.2026 – 06.07.2026", "Lieferungen vom 02.07.2026 bis 06.07.2026"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    for line in [&first, &second] {
        assert!(shown.contains(&format!("Lieferschein {line} vom 0")), "{line}: {shown}");
    }
    assert!(!shown.contains("Lieferdatum"), "one day would be wrong: {shown}");
    // A period given by the invoice itself is kept.
    let said = json!({"beleg_typ": "RE", "kundennummer": "Kd", "leistung_von": "2026-06-01",
        "leistung_bis": "2026-06-30",
        "items": [{"bezeichnung": "Lagergeld", "menge": 1, "ep_netto": 80}], "abschliessen": true});
    let written = xml(&mill.client, &mill.client.post(BELEGE, said).id());
    assert!(written.contains("20260601") && written.contains("20260630"));
}

#[test]
fn a_day_or_a_period_that_is_sent_stands_alone_beside_several_deliveries() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-10T10:00:00Z");
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let kunde = json!({"name": "Bäckerei", "plz": "86650", "ort": "Wemding"});
    mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), kunde).is(200);
    let charge = mill.receive("FELD-7", 30_000);
    for (sent, period, words) in [
        (json!({"lieferdatum": "2026-07-10"}), "", "für unsere Lieferung vom 10.07.2026"),
        (json!({"leistung_von": "2026-07-01"}), "20260701", "Leistungszeitraum 01.07.2026"),
        (json!({"leistung_bis": "2026-07-31"}), "20260731", "Leistungszeitraum 31.07.2026"),
        (
            json!({"leistung_von": "2026-07-01", "leistung_bis": "2026-07-31"}),
            "20260701 20260731",
            "01.07.2026 – 31.07.2026",
        ),
    ] {
        for day in ["2026-07-02", "2026-07-06"] {
            let items = json!([sell(1000, &charge)]);
            let body = json!({"beleg_typ": "LS", "kundennummer": "Kd", "lieferdatum": day, "items": items});
            mill.client.post(BELEGE, body).is(201);
        }
        let body =
            json!({"beleg_typ": "RE", "kundennummer": "Kd", "items": [plain(2000)], "abschliessen": true});
        let invoice = mill.client.post(BELEGE, and(body, sent.clone())).id();
        let (written, shown) = (xml(&mill.client, &invoice), text(&sheet(&mill.client, &invoice)));
        let found = written.split_once("<ram:BillingSpecifiedPeriod>").map_or("", |(_, period)| period);
        let found = found.split("</ram:BillingSpecifiedPeriod>").next().unwrap();
        assert_eq!(texts(&found.replace("udt:", "ram:"), "DateTimeString").join(" "), period, "{sent}");
        assert!(shown.contains(words) && !shown.contains("02.07.2026 – "), "{sent}: {shown}");
        let delivered = written.split_once("<ram:ActualDeliverySupplyChainEvent>").unwrap().1;
        let day = if period.is_empty() { "20260710" } else { "20260706" };
        let delivered = delivered.split("</ram:ActualDeliverySupplyChainEvent>").next().unwrap();
        assert!(delivered.contains(day), "{sent}: {delivered}");
    }
}

#[test]
fn a_gutschrift_below_zero_names_the_one_that_it_corrects() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-10T10:00:00Z");
    let mill = firma(&server, "Mühle", &[]);
    let more = json!({"partner_typen": ["lieferant"], "gutschrift_vereinbart_am": "2026-01-01"});
    let hof = partner(&mill, more);
    let credit =
        |more: Value| finished(&mill, and(document("ER", &hof, "1000", json!({"gutschrift": true})), more));
    let first = credit(json!({"beleg_datum": "2026-07-03"}));
    let minus = json!({"bezeichnung": "Nachlass", "menge": 1, "ep_netto": -50, "mwst_satz": 7,
        "bezug_beleg_id": first});
    let second = credit(json!({"items": [minus]}));
    let number = number(&mill, &first);
    let written = xml(&mill, &second);
    assert_eq!((typ(&written), preceding(&written)), ("389", vec![(number.clone(), "20260703".to_owned())]));
    let shown = text(&sheet(&mill, &second));
    assert!(
        shown.contains(&format!("wir berichtigen unsere Gutschrift {number} vom 03.07.2026:")),
        "{shown}"
    );
}

#[test]
fn a_storno_names_the_partner_as_the_document_has_kept_him() {
    needs!("pdftotext");
    let server = Server::start();
    let more = [("kontakt_name", "Jan"), ("kontakt_telefon", "+49 906 1234"), ("email", "re@muehle.example")];
    let mill = firma(&server, "Mühle", &more);
    let kunde = partner(&mill, json!({"e_rechnung": "xrechnung", "kaeuferreferenz": "991-01234-56"}));
    let invoice = finished(&mill, document("RE", &kunde, "1000", json!({})));
    let moved = json!({"name": "Hofladen Nord AG", "strasse": "Neue Gasse 9", "plz": "10115", "ort": "Berlin",
        "ust_id": "DE111111111", "email": null, "e_rechnung": "zugferd", "kaeuferreferenz": "4711"});
    mill.put(&format!("/api/v1/kunden/{kunde}"), moved).is(200);
    let counter = storno(&mill, &invoice);
    assert_eq!(beleg(&mill, &counter)["kunden_name"], "Hofladen Süd GmbH");
    let (written, shown) = (xml(&mill, &counter), text(&sheet(&mill, &counter)));
    for kept in ["Hofladen Süd GmbH", "Am Anger 3", "86650", "Wemding", "DE987654321"] {
        assert!(written.contains(kept) && shown.contains(kept), "{kept}: {written} {shown}");
    }
    assert!(!written.contains("Nord") && !shown.contains("Nord"));
    assert_eq!(texts(&written, "BuyerReference"), ["991-01234-56"]);
    assert!(written.contains(":xrechnung_3.0"), "the profile of what it takes back");
    // Control: a new document uses the current data.
    let new = finished(&mill, document("RE", &kunde, "1000", json!({})));
    assert!(xml(&mill, &new).contains("Hofladen Nord AG"));
}

#[test]
fn the_words_of_the_flat_rate_stand_for_lines_at_that_rate_only() {
    needs!("pdftotext");
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let hof = json!({"partner_typen": ["lieferant"], "gutschrift_vereinbart_am": "2026-01-01"});
    let hof = partner(&mill, hof);
    mill.put(&format!("/api/v1/kunden/{hof}"), json!({"steuerart": "pauschal_24"})).is(200);
    let item = |satz: &str| json!({"bezeichnung": "Ware", "menge": 1, "ep_netto": 100, "mwst_satz": satz});
    for (rates, groups) in [(vec!["7.8", "19"], 1), (vec!["9", "7.8"], 2), (vec!["19", "7"], 0)] {
        let items: Vec<_> = rates.iter().map(|satz| item(satz)).collect();
        let body = and(document("ER", &hof, "1", json!({"items": items})), json!({"gutschrift": true}));
        let id = finished(&mill, body);
        let shown = text(&sheet(&mill, &id));
        assert_eq!(shown.matches("Durchschnittssatz nach § 24 UStG").count(), groups, "{rates:?}: {shown}");
        assert_eq!(xml(&mill, &id).contains("§ 24 UStG"), groups > 0, "{rates:?}");
    }
}

#[test]
fn a_gutschrift_promises_a_transfer_only_where_it_can_be_made() {
    needs!("pdftotext");
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let hof = json!({"partner_typen": ["lieferant"], "gutschrift_vereinbart_am": "2026-01-01"});
    let hof = partner(&mill, hof);
    for (change, promises) in [
        (json!({"iban": null, "ust_id": null, "steuernummer": "152/815/08154"}), false),
        (json!({"iban": "DE02120300000000202051"}), true),
        (json!({"steuernummer": null}), false),
    ] {
        mill.put(&format!("/api/v1/kunden/{hof}"), change.clone()).is(200);
        let items = json!([{"bezeichnung": "Ware", "menge": 1, "ep_netto": 100, "mwst_satz": 7}]);
        let body = and(document("ER", &hof, "1", json!({"items": items})), json!({"gutschrift": true}));
        let shown = text(&sheet(&mill, &finished(&mill, body)));
        assert_eq!(shown.contains("Wir überweisen"), promises, "{change}: {shown}");
        assert_eq!(shown.contains("Ihr Guthaben"), !promises, "{change}: {shown}");
    }
}
