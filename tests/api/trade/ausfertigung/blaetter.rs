//! Sheets over HTTP (D25): their contents, their place, and reasons why there is none.

use serde_json::{Value, json};

use super::{
    BELEGE, beleg, document, erechnung, finished, firma, letters, partner, pdf, sheet, storno, text, told,
    xml,
};
use crate::harness::{Client, Server};
use crate::programs::needs;
use crate::trade::lager::Mill;

const UPLOAD: &str = "JVBERi0xLjQKJSVFT0YK";

/// Formats a number of the interface as in a German letter: `-1234.50` is `−1.234,50`, with at least these decimals.
fn german(number: &str, decimals: usize) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("\u{2212}", digits));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let rest = rest.trim_end_matches('0');
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push('.');
        }
        grouped.push(digit);
    }
    match format!("{rest:0<decimals$}") {
        rest if rest.is_empty() => format!("{sign}{grouped}"),
        rest => format!("{sign}{grouped},{rest}"),
    }
}

/// All numbers of a document as they must appear on its sheet.
fn numbers(beleg: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut found = vec![text(&beleg["beleg_nummer"])];
    for sum in ["summe_netto", "summe_mwst", "summe_brutto"] {
        found.push(german(&text(&beleg[sum]), 2));
    }
    for position in beleg["positionen"].as_array().unwrap() {
        found.push(german(&text(&position["menge"]), 0));
        found.push(german(&text(&position["ep_netto"]), 2));
        found.push(german(&text(&position["gesamtpreis"]), 2));
        found.push(german(&text(&position["mwst_satz"]), 0));
        let rabatt = german(&text(&position["rabatt_prozent"]), 0);
        found.extend((rabatt != "0").then_some(rabatt));
    }
    found
}

#[test]
fn a_sheet_says_every_number_of_its_document_and_carries_the_stored_xml() {
    needs!("qpdf", "pdftotext");
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let items = json!([
        {"bezeichnung": "Weizen", "menge": "24860.5", "einheit": "kg", "ep_netto": "0.2145", "mwst_satz": 7,
         "rabatt_prozent": "2.5"},
        {"bezeichnung": "Fracht", "menge": 3, "einheit": "Std", "ep_netto": "1085.25", "mwst_satz": 19},
        {"bezeichnung": "Gutschrift Paletten", "menge": 12, "einheit": "Stk", "ep_netto": "-14.80", "mwst_satz": 19},
    ]);
    for typ in ["AN", "AU", "RE", "BS"] {
        let id = finished(&mill, document(typ, &kunde, "1", json!({"items": items})));
        let sheet = sheet(&mill, &id);
        let text = text(&sheet);
        let words: Vec<_> = text.split_whitespace().map(|word| word.trim_end_matches(['%', '.'])).collect();
        for number in numbers(&beleg(&mill, &id)) {
            assert!(words.contains(&number.as_str()), "{typ}: {number} is not in {text}");
        }
        if typ == "RE" {
            told("qpdf", &["--check", "{}"], &sheet);
            let attached = told("qpdf", &["--show-attachment=factur-x.xml", "{}"], &sheet);
            assert!(attached == xml(&mill, &id).into_bytes());
        }
    }
    // Deliveries have no prices.
    for typ in ["LS", "EL"] {
        let id = finished(&mill, document(typ, &kunde, "1", json!({"items": items})));
        let text = text(&sheet(&mill, &id));
        assert!(text.contains("24.860,5") && !text.contains("0,2145"), "{typ}: {text}");
    }
}

fn reason(client: &Client, path: &str, code: &str) -> String {
    client.get(path).refused(404, code)["message"].as_str().unwrap().to_owned()
}

#[test]
fn where_there_is_no_sheet_or_e_invoice_the_reason_is_said() {
    needs!("pdftotext");
    let server = Server::start();
    let bare =
        server.company_with("Ohne", &[("firma", "Mühle"), ("plz", "86609"), ("ust_id", "DE123456789")]);
    let mill = firma(&server, "Mühle", &[]);
    let silent = firma(&server, "Still", &[("e_rechnung", "aus")]);
    let [of_bare, of_mill, of_silent] = [&bare, &mill, &silent].map(|client| partner(client, json!({})));
    let new = |client: &Client, typ: &str, kunde: &str, more: Value| {
        client.post(BELEGE, document(typ, kunde, "1000", more)).id()
    };
    let done = json!({"abschliessen": true});
    let without_firma = new(&bare, "RE", &of_bare, done.clone());
    let open = new(&mill, "RE", &of_mill, json!({}));
    let foreign = new(&mill, "ER", &of_mill, done.clone());
    let delivery = new(&mill, "LS", &of_mill, done.clone());
    let cancelled = new(&mill, "RE", &of_mill, json!({}));
    mill.post(&format!("{BELEGE}/{cancelled}/storno"), json!({"grund": "Versehen"})).is(200);
    let unwanted = new(&silent, "RE", &of_silent, done);
    let table = [
        (&bare, &without_firma, "pdf", "KEIN_PDF", "(strasse, ort)"),
        (&bare, &without_firma, "erechnung", "KEINE_ERECHNUNG", "fehlten Stammdaten der Firma"),
        (&mill, &open, "pdf", "KEIN_PDF", "vorschau=true"),
        (&mill, &open, "erechnung", "KEINE_ERECHNUNG", "noch offen"),
        (&mill, &foreign, "pdf", "KEIN_PDF", "schreibt der Lieferant"),
        (&mill, &foreign, "erechnung", "KEINE_ERECHNUNG", "schreibt der Lieferant"),
        (&mill, &delivery, "erechnung", "KEINE_ERECHNUNG", "nur zu Rechnungen"),
        (&mill, &cancelled, "pdf", "KEIN_PDF", "storniert, bevor er abgeschlossen war"),
        (&mill, &cancelled, "erechnung", "KEINE_ERECHNUNG", "storniert, bevor er abgeschlossen war"),
        (&silent, &unwanted, "erechnung", "KEINE_ERECHNUNG", "Einstellung e_rechnung ist aus"),
    ];
    for (client, id, what, code, expected) in table {
        let said = reason(client, &format!("{BELEGE}/{id}/{what}"), code);
        assert!(said.contains(expected), "{what}: {said}, not {expected}");
        let has_pdf = beleg(client, id)["pdf_url"].is_string();
        assert!(what == "erechnung" || !has_pdf, "{said}");
    }
    let wanted = super::partner(&mill, json!({"plz": null}));
    let incomplete = finished(&mill, document("RE", &wanted, "1000", json!({})));
    let said = reason(&mill, &format!("{BELEGE}/{incomplete}/erechnung"), "KEINE_ERECHNUNG");
    assert!(said.contains("Kunde: plz") && said.contains("ohne E-Rechnung abgeschlossen"), "{said}");
    assert!(text(&sheet(&mill, &incomplete)).contains("1.070,00"), "it has a sheet");
}

/// The archive of a document according to the polling list.
fn archive(client: &Client, id: &str) -> Value {
    let polled = client.get("/api/v1/dokumente?since=2026-07-01");
    let row = polled.is(200).as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
    let shown = beleg(client, id)["pdf_url"].clone();
    assert_eq!(row["pdf_url"], shown);
    let listed = client.get(&format!("{BELEGE}?typ=RE"));
    let rows = listed.is(200);
    let rows = rows.as_array().or_else(|| rows["data"].as_array()).unwrap();
    assert_eq!(rows.iter().find(|row| row["id"] == id).unwrap()["pdf_url"], shown);
    json!([row["pdf_archiv_count"], row["pdf_letztes"], shown.is_string()])
}

#[test]
fn the_sheet_is_the_first_entry_of_the_archive() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let id = finished(&mill, document("RE", &kunde, "1000", json!({})));
    assert_eq!(archive(&mill, &id), json!(["1", "2026-07-10T10:00:00.000Z", true]));
    let path = format!("{BELEGE}/{id}/pdf");
    let drawn = mill.get(&path);
    assert_eq!(drawn.is(200)["erstellt_am"], "2026-07-10T10:00:00.000Z");
    server.set_clock("2026-07-10T11:00:00Z");
    // Without an uploaded file the sheet is archived, and it is already.
    let again = mill.post(&path, json!({}));
    assert_eq!((&again.is(200)["pdf_archiv_count"], &again.body["sha256"]), (&json!("1"), &Value::Null));
    let uploaded = mill.post(&path, json!({"datei_base64": UPLOAD}));
    assert_eq!(uploaded.is(201)["pdf_archiv_count"], "2");
    assert_eq!(archive(&mill, &id), json!(["2", "2026-07-10T11:00:00.000Z", true]));
    assert_eq!(mill.get(&path).is(200)["datei_base64"], UPLOAD, "the newest upload is served");
    // An upload that finalises is stored after the sheet, too.
    let open = mill.post(BELEGE, document("RE", &kunde, "1000", json!({}))).id();
    let uploaded = mill.post(&format!("{BELEGE}/{open}/pdf"), json!({"datei_base64": UPLOAD}));
    assert_eq!(uploaded.is(201)["pdf_archiv_count"], "2");
    assert_eq!(archive(&mill, &open)[0], "2");
}

#[test]
fn without_a_file_the_sheet_is_archived_and_the_document_final() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    for (typ, code) in [("RE", None), ("LS", None), ("ER", Some("FELD_FEHLT"))] {
        let id = mill.post(BELEGE, document(typ, &kunde, "1000", json!({}))).id();
        let path = format!("{BELEGE}/{id}/pdf");
        let waits = mill.post(&path, json!({"abschliessen": false}));
        waits.refused(400, "FELD_FEHLT");
        let answer = mill.post(&path, json!({}));
        match code {
            None => {
                assert_eq!(answer.is(200)["status"], "abgeschlossen", "{typ}");
                assert_eq!(answer.body["pdf_archiv_count"], "1", "{typ}");
                sheet(&mill, &id);
            }
            Some(code) => drop(answer.refused(400, code)),
        }
        let status = if code.is_none() { "abgeschlossen" } else { "offen" };
        assert_eq!(beleg(&mill, &id)["status"], status, "{typ}");
    }
}

#[test]
fn a_sheet_comes_as_a_file_with_a_tag() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let id = finished(&mill, document("RE", &kunde, "1000", json!({})));
    let number = beleg(&mill, &id)["beleg_nummer"].as_str().unwrap().to_owned();
    let table = [("pdf", "application/pdf", "pdf"), ("erechnung", "application/xml", "xml")];
    for (what, kind, ending) in table {
        let path = format!("{BELEGE}/{id}/{what}");
        let file = mill.send("GET", &path, &[("accept", kind)], None);
        file.is(200);
        assert_eq!(file.headers["content-type"], kind);
        assert!(file.headers["content-disposition"].contains(&format!("{number}.{ending}")), "{file:?}");
        let tag = file.headers["etag"].as_str();
        let known = mill.send("GET", &path, &[("accept", kind), ("if-none-match", tag)], None);
        assert_eq!((known.status, known.bytes.len()), (304, 0), "{what}");
        let other = mill.send("GET", &path, &[("accept", kind), ("if-none-match", "\"x\"")], None);
        assert!(other.status == 200 && other.bytes == file.bytes, "{what}");
    }
    let json = mill.get(&format!("{BELEGE}/{id}/pdf"));
    assert_eq!(json.is(200)["dateiname"], format!("{number}.pdf"));
    assert_eq!(json.body["mime_type"], "application/pdf");
    let (pdf, json) = ("application/pdf", "application/json; charset=utf-8");
    for (accept, kind) in [
        ("*/*", json),
        ("application/*", json),
        ("application/pdf;q=0", json),
        ("application/pdf;q=0.5, application/json", json),
        ("application/pdf; q=0.5, application/json; Q=0.49", pdf),
        ("application/pdf;q=0.9, */*;q=0.8", pdf),
        ("application/pdf;q=0.7, */*;q=0.8", json),
        ("APPLICATION/PDF, */*", pdf),
        ("text/html", json),
    ] {
        let answer = mill.send("GET", &format!("{BELEGE}/{id}/pdf"), &[("accept", accept)], None);
        assert_eq!(answer.headers["content-type"], kind, "{accept}");
        assert!(answer.headers["vary"].split(", ").any(|header| header == "accept"), "{answer:?}");
    }
}

#[test]
fn an_open_document_has_a_draft() {
    needs!("pdftotext");
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let id = mill.post(BELEGE, document("RE", &kunde, "1000", json!({}))).id();
    let path = format!("{BELEGE}/{id}/pdf?vorschau=true");
    let draft = pdf(&mill, &path);
    draft.is(200);
    let said = text(&draft.bytes);
    assert!(letters(&draft.bytes).contains("ENTWURF") && said.contains("1.070,00"), "{said}");
    assert!(!String::from_utf8_lossy(&draft.bytes).contains("factur-x"));
    mill.put(&format!("{BELEGE}/{id}"), json!({"notizen": "Bitte Palette tauschen"})).is(200);
    assert!(text(&pdf(&mill, &path).bytes).contains("Palette tauschen"));
    assert_eq!(beleg(&mill, &id)["status"], "offen");
    // An upload that left the document open is not served.
    mill.post(&format!("{BELEGE}/{id}/pdf"), json!({"datei_base64": UPLOAD, "abschliessen": false})).is(201);
    assert!(letters(&pdf(&mill, &path).bytes).contains("ENTWURF"));
    let counter = finished(&mill, document("RE", &kunde, "1000", json!({})));
    let counter = storno(&mill, &counter);
    let counter = pdf(&mill, &format!("{BELEGE}/{counter}/pdf?vorschau=true"));
    assert!(!letters(&counter.bytes).contains("ENTWURF"));
    erechnung(&mill, &id).refused(404, "KEINE_ERECHNUNG");
}

#[test]
fn a_weighing_has_its_slip() {
    needs!("pdftotext");
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", crate::harness::COMPLETE);
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40120, "partner_id": mill.partner_id("Hof"),
        "artikel_id": mill.artikel_id("W"), "kennzeichen": "DON-MH 12"});
    let id = mill.client.post("/api/v1/wiegungen", first).id();
    let path = format!("/api/v1/wiegungen/{id}");
    let slip = |path: &str| text(&pdf(&mill.client, &format!("{path}/pdf")).bytes);
    assert!(slip(&path).contains("die Zweitwiegung steht aus"));
    mill.client.put(&format!("{path}/zweitwiegung"), json!({"gewicht_zweit_kg": 15260})).is(200);
    let number = mill.client.get(&path).is(200)["wiegeschein_nr"].as_str().unwrap().to_owned();
    let said = slip(&path);
    for fact in [number.as_str(), "DON-MH 12", "Weizen (W)", "40.120 kg", "15.260 kg", "24.860 kg", "Eingang"]
    {
        assert!(said.replace('\u{a0}', " ").contains(fact), "{fact} is not in {said}");
    }
    let bare = Mill::with(&server, "Ohne Daten", &[]);
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40120, "partner_id": bare.partner_id("Hof")});
    let id = bare.client.post("/api/v1/wiegungen", first).id();
    let refused = bare.client.get(&format!("/api/v1/wiegungen/{id}/pdf"));
    assert!(refused.refused(404, "KEIN_PDF")["message"].as_str().unwrap().contains("firma"));
}

#[test]
fn a_receipt_note_explains_its_deductions() {
    needs!("pdftotext");
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", crate::harness::COMPLETE);
    let note = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 50_000, "besatz_prozent": 0.6,
        "basisbesatz_prozent": 0, "feuchte_prozent": 25, "basisfeuchte_prozent": 13, "schwundfaktor": 1.2,
        "sonstige_abzuege_kg": 100, "preis_je_t": "187.65"});
    let note = mill.client.post("/api/v1/annahmescheine", note);
    let created = note.is(201).clone();
    let drawn = pdf(&mill.client, &format!("/api/v1/annahmescheine/{}/pdf", note.id()));
    let said = text(&drawn.bytes).replace('\u{a0}', " ");
    let facts = [
        created["belegnummer"].as_str().unwrap().to_owned(),
        "50.000 kg".to_owned(),
        "0,60 %".to_owned(),
        "25,00 %".to_owned(),
        "13,00 %".to_owned(),
        "14,40 %".to_owned(),
        "\u{2212}100 kg".to_owned(),
        format!("{} kg", german(created["netto_menge_kg"].as_str().unwrap(), 0)),
        german(created["netto_betrag"].as_str().unwrap(), 2),
        "187,65".to_owned(),
    ];
    for fact in facts {
        assert!(said.contains(&fact), "{fact} is not in {said}");
    }
    mill.client
        .put(&format!("/api/v1/annahmescheine/{}/storno", note.id()), json!({"grund": "doppelt"}))
        .is(200);
    let drawn = pdf(&mill.client, &format!("/api/v1/annahmescheine/{}/pdf", note.id()));
    assert!(text(&drawn.bytes).contains("Storniert: doppelt"));
}

#[test]
fn what_could_have_no_sheet_does_not_become_final() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let post = |positions: usize, text: &str, is_final: bool| {
        let item = json!({"bezeichnung": "Weizen", "menge": 1, "einheit": "kg", "ep_netto": 1, "mwst_satz": 7,
            "langtext": text});
        let items = vec![item; positions];
        let body = json!({"beleg_typ": "AN", "kunden_id": kunde, "items": items, "abschliessen": is_final});
        mill.post(BELEGE, body)
    };
    // Bodies are limited to 1 MiB, so the longest texts come from articles.
    let rows: String = (0..1_000)
        .map(|n| {
            format!(
                r#"{{"artikelnummer": "A{n}", "bezeichnung": "A", "preis": 1, "langtext": "{}"}},"#,
                "W\\n".repeat(1_999)
            )
        })
        .collect();
    server.import(&mill, "artikel", &format!("[{}]", rows.trim_end_matches(',')));
    let items: Vec<_> = (0..1_000).map(|n| json!({"artikelnr": format!("A{n}"), "menge": 1})).collect();
    let long = mill.post(BELEGE, json!({"beleg_typ": "AN", "kunden_id": kunde, "items": items}));
    let close = |id: &str| mill.post(&format!("{BELEGE}/{id}/abschliessen"), json!({}));
    let refused = close(&long.id());
    assert!(refused.refused(400, "TEXT_ZU_LANG")["message"].as_str().unwrap().contains("1500 Seiten"));
    assert_eq!(mill.get(&format!("{BELEGE}/{}", long.id())).is(200)["status"], "offen");

    // A text that fits makes a final document with a sheet, however its lines break.
    let id = post(200, &"Wort ".repeat(700), true).id();
    mill.get(&format!("{BELEGE}/{id}/pdf")).is(200);
    let short: Vec<_> = (0..20).map(|n| json!({"artikelnr": format!("A{n}"), "menge": 1})).collect();
    mill.put(&format!("{BELEGE}/{}", long.id()), json!({"items": short})).is(200);
    close(&long.id()).is(200);
    mill.get(&format!("{BELEGE}/{}/pdf", long.id())).is(200);
}

#[test]
fn the_company_says_its_own_words_and_an_offer_until_when_it_holds() {
    needs!("pdftotext");
    let server = Server::start();
    let own = [
        ("anrede", "Guten Tag,"),
        ("gruss", "Es grüßt Sie"),
        ("text_vor_an", "vielen Dank für Ihre Anfrage."),
        ("text_nach_an", "Wir freuen uns auf Ihren Auftrag."),
        ("text_nach_re", "Danke für Ihren Einkauf."),
        ("text_nach_ls", "Bitte sofort prüfen."),
        ("text_nach_gs", "Danke für Ihr Getreide."),
    ];
    let mill = firma(&server, "Mühle", &own);
    let kunde = partner(&mill, json!({"iban": "DE02120300000000202051"}));
    let new = |typ: &str, more: Value| finished(&mill, document(typ, &kunde, "1000", more));
    let shown = |id: &str| text(&sheet(&mill, id));
    let offer = shown(&new("AN", json!({"gueltig_bis": "2026-07-31"})));
    let greeting = "Guten Tag, vielen Dank für Ihre Anfrage. Wir bieten Ihnen an:";
    for words in ["Gültig bis 31.07.2026", greeting, "Wir freuen uns auf Ihren Auftrag. Es grüßt Sie"] {
        assert!(offer.contains(words), "{words} is not in {offer}");
    }
    let invoice = new("RE", json!({}));
    let said = shown(&invoice);
    assert!(said.contains("Guten Tag, für unsere Lieferung vom 10.07.2026"), "a small letter: {said}");
    assert!(said.contains("Danke für Ihren Einkauf. Es grüßt Sie"), "{said}");
    assert!(shown(&new("ER", json!({"gutschrift": true}))).contains("Danke für Ihr Getreide."));
    let delivery = shown(&new("LS", json!({})));
    assert!(delivery.contains("Bitte sofort prüfen.") && !delivery.contains("Es grüßt Sie"), "{delivery}");
    // Documents that cancel or correct others contain no thanks.
    for id in [
        storno(&mill, &invoice),
        new(
            "RE",
            json!({"items": [
        {"bezeichnung": "Nachlass", "menge": 1, "ep_netto": "-10", "mwst_satz": 7}]}),
        ),
    ] {
        let said = shown(&id);
        assert!(!said.contains("Danke für Ihren Einkauf."), "{said}");
    }
    // A final document keeps its original texts.
    server.set(&mill, &[("text_nach_re", "Neue Worte."), ("gruss", "")]);
    assert_eq!(shown(&invoice), said);
    let said = shown(&new("RE", json!({})));
    assert!(said.contains("Neue Worte.") && !said.contains("Es grüßt Sie"), "{said}");
}
