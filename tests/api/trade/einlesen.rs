//! POST /belege/einlesen (D28): a proposal from a supplier's e-invoice, and the ER with the file attached.

mod summen;
mod zweifel;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use partnerd::platform::db::file::connection::open_writer;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

const EINLESEN: &str = "/api/v1/belege/einlesen";

/// The varying parts of an invoice.
struct Rechnung {
    root: &'static str,
    nummer: &'static str,
    absender: &'static str,
    konto: &'static str,
    zeilen: String,
    sums: [&'static str; 3],
}

/// Wheat in tonnes with the supplier's number, our number, and an EAN; and the supplier's own data.
const USTID: &str =
    "<PartyTaxScheme><CompanyID>DE 123456789</CompanyID><TaxScheme><ID>VAT</ID></TaxScheme></PartyTaxScheme>";

fn zeile(nummern: &str, menge: &str, preis: &str, netto: &str) -> String {
    format!(
        "<InvoiceLine><InvoicedQuantity \
         unitCode=\"TNE\">{menge}</InvoicedQuantity><LineExtensionAmount>{netto}</LineExtensionAmount><Item>\
         <Name>Weizen A</Name>{nummern}<ClassifiedTaxCategory><ID>S</ID><Percent>7</Percent>\
         </ClassifiedTaxCategory></Item><Price><PriceAmount>{preis}</PriceAmount></Price></InvoiceLine>"
    )
}

fn lieferanten_nr(nummer: &str) -> String {
    format!("<SellersItemIdentification><ID>{nummer}</ID></SellersItemIdentification>")
}

fn eigene_nr(nummer: &str) -> String {
    format!("<BuyersItemIdentification><ID>{nummer}</ID></BuyersItemIdentification>")
}

fn ean(nummer: &str) -> String {
    format!("<StandardItemIdentification><ID schemeID=\"0160\">{nummer}</ID></StandardItemIdentification>")
}

impl Rechnung {
    fn new(nummern: &str) -> Rechnung {
        Rechnung {
            root: "Invoice",
            nummer: "R-4711",
            absender: USTID,
            konto: "",
            zeilen: zeile(nummern, "10", "200", "2000.00"),
            sums: ["2000.00", "140.00", "2140.00"],
        }
    }

    fn xml(&self) -> String {
        let Rechnung { root, nummer, absender, konto, zeilen, sums: [netto, mwst, brutto] } = self;
        let zeilen = match *root {
            "Invoice" => zeilen.clone(),
            _ => zeilen
                .replace("InvoicedQuantity", "CreditedQuantity")
                .replace("InvoiceLine", "CreditNoteLine"),
        };
        format!(
            "<{root}><ID>{nummer}</ID><IssueDate>2026-07-01</IssueDate><DueDate>2026-07-15</DueDate>\
             <DocumentCurrencyCode>EUR</DocumentCurrencyCode><AccountingSupplierParty>\
             <Party>{absender}<PostalAddress><PostalZone>38304</PostalZone></PostalAddress><PartyLegalEntity>\
             <RegistrationName>Hof Sonnental</RegistrationName></PartyLegalEntity></Party>\
             </AccountingSupplierParty><PaymentMeans>{konto}</PaymentMeans><TaxTotal>\
             <TaxAmount>{mwst}</TaxAmount><TaxSubtotal><TaxableAmount>{netto}</TaxableAmount>\
             <TaxAmount>{mwst}</TaxAmount><TaxCategory><ID>S</ID><Percent>7</Percent></TaxCategory>\
             </TaxSubtotal></TaxTotal><LegalMonetaryTotal><TaxExclusiveAmount>{netto}</TaxExclusiveAmount>\
             <TaxInclusiveAmount>{brutto}</TaxInclusiveAmount></LegalMonetaryTotal>{zeilen}</{root}>"
        )
    }
}

fn body(file: &[u8]) -> Value {
    json!({"datei_base64": STANDARD.encode(file)})
}

/// The body of an ER that links the article number of the supplier with ust_id DE123456789 to an article.
pub fn er_of(nummer: &str) -> Value {
    let mut body = body(Rechnung::new(&eigene_nr(nummer)).xml().as_bytes());
    body["anlegen"] = true.into();
    body
}

fn read(mill: &Client, rechnung: &Rechnung) -> Answer {
    mill.post(EINLESEN, body(rechnung.xml().as_bytes()))
}

fn create(mill: &Client, file: &[u8], external_ref: Option<&str>) -> Answer {
    let mut body = body(file);
    body["anlegen"] = true.into();
    body["dateiname"] = "Rechnung 4711.xml".into();
    body["external_ref"] = external_ref.into();
    mill.post(EINLESEN, body)
}

/// Creates a mill with three articles and a supplier with these fields.
fn mill(server: &Server, supplier: Value) -> (Client, String) {
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikel",
        "artikelnummer;bezeichnung;einheit;ean;status\nW;Weizen;kg;4006381333931;aktiv\nR;Roggen;t;;aktiv\n\
         ALT;Alt;t;;inaktiv\n",
    );
    let hof = json!({"nachname_firma": "Hof Sonnental", "partner_typen": ["lieferant"], "plz": "38304"});
    let id = mill.post("/api/v1/kunden", hof).id();
    mill.put(&format!("/api/v1/kunden/{id}"), supplier).is(200);
    (mill, id)
}

fn artikel(mill: &Client, nummer: &str) -> String {
    let found = mill.get(&format!("/api/v1/artikel?suche={nummer}"));
    found.is(200)["data"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_proposal_books_nothing_and_is_a_body_of_post_belege() {
    let server = Server::start();
    let (mill, hof) = mill(&server, json!({"ust_id": "de123456789"}));
    let answer = read(&mill, &Rechnung::new(&eigene_nr("w")));
    let found = answer.is(200);
    let (partner, item) = (&found["gefunden"]["partner"], &found["vorschlag"]["items"][0]);
    assert_eq!((partner["id"].as_str(), partner["durch"].as_str()), (Some(hof.as_str()), Some("ust_id")));
    let line = &found["gefunden"]["artikel"][0];
    assert_eq!((&line["durch"], &line["artikelnummer"]), (&json!("artikelnummer"), &json!("W")));
    assert_eq!(
        (&item["menge"], &item["einheit"], &item["ep_netto"]),
        (&json!("10.000"), &json!("t"), &json!("200.0000"))
    );
    assert_eq!(found["vorschlag"]["fremdbelegnummer"], "R-4711");
    assert_eq!(found["vorschlag"]["zahlungsziel_tage"], 14);
    let mut sums = found["summen"].clone();
    assert_eq!(sums["rechnung"].as_object_mut().unwrap().remove("rundung"), Some(Value::Null));
    let groups = json!([{"mwst_satz": "7.00", "basis": "2000.00", "steuer": "140.00"}]);
    assert_eq!(sums["vorschlag"].as_object_mut().unwrap().remove("steuergruppen"), Some(groups));
    let total = json!({"summe_netto": "2000.00", "summe_mwst": "140.00", "summe_brutto": "2140.00"});
    assert_eq!(sums, json!({"rechnung": total, "vorschlag": total}));
    assert_eq!((&found["regeln"], answer.hint_codes()), (&json!([]), Vec::<String>::new()));
    for table in ["beleg", "anhang", "lagerbewegung", "beleg_lieferanten_nr"] {
        assert_eq!(server.sql::<i64>(&format!("select count(*) from {table}")), 0, "{table}");
    }
    let created = mill.post("/api/v1/belege", found["vorschlag"].clone());
    assert_eq!(
        (&created.is(201)["beleg_nummer"], &created.body["summe_brutto"]),
        (&json!("ER-2026-00001"), &json!("2140.00"))
    );
    assert_eq!(
        mill.get(&format!("/api/v1/artikel/{}/bestand", artikel(&mill, "W"))).is(200)["bestand"],
        "10000.000"
    );
}

/// The stored data of the supplier, the data of the invoice, the field it is found by, and the hints.
const PARTNERS: &[(&str, &str, &str, &str, &str)] = &[
    (r#"{"ust_id": "DE 123 456 789"}"#, "", "", "ust_id", ""),
    (r#"{"steuernummer": "51/200/12345"}"#, "51 200-12345", "", "steuernummer", ""),
    (r#"{"iban": "DE89 3704 0044 0532 0130 00"}"#, "-", "DE89370400440532013000", "iban", ""),
    (r#"{"ort": "Hof"}"#, "-", "", "name", ""),
    (r#"{"plz": "10115"}"#, "-", "", "", "PARTNER_UNBEKANNT"),
    (r#"{"nachname_firma": "Hof Mondtal"}"#, "-", "", "", "PARTNER_UNBEKANNT"),
    (
        r#"{"ust_id": "DE123456789", "iban": "DE89370400440532013000"}"#,
        "",
        "DE02120300000000202051",
        "ust_id",
        "IBAN_ABWEICHEND",
    ),
    (
        r#"{"ust_id": "DE123456789", "iban": "DE89370400440532013000"}"#,
        "",
        "DE89 3704 0044 0532 0130 00",
        "ust_id",
        "",
    ),
];

#[test]
fn the_supplier_is_found_by_what_is_known_of_him() {
    for (known, steuernummer, iban, durch, hint) in PARTNERS {
        let server = Server::start();
        let (mill, _) = mill(&server, serde_json::from_str(known).unwrap());
        let other: String = format!(
            "<PartyTaxScheme><CompanyID>{steuernummer}</CompanyID><TaxScheme><ID>FC</ID></TaxScheme></PartyTaxScheme>"
        );
        let konto = format!("<PayeeFinancialAccount><ID>{iban}</ID></PayeeFinancialAccount>");
        let xml = Rechnung::new(&eigene_nr("W")).xml();
        let xml = if steuernummer.is_empty() { xml } else { xml.replace(USTID, &other) };
        let xml = if iban.is_empty() {
            xml
        } else {
            xml.replace("<PaymentMeans>", &format!("<PaymentMeans>{konto}"))
        };
        let answer = mill.post(EINLESEN, body(xml.as_bytes()));
        let found = answer.is(200)["gefunden"]["partner"]["durch"].as_str().unwrap_or_default();
        assert_eq!(
            (found, answer.hint_codes().join(" ").as_str()),
            (*durch, *hint),
            "{known} {steuernummer} {iban}"
        );
    }
}

#[test]
fn of_several_partners_none_is_chosen_by_chance() {
    let server = Server::start();
    let (mill, hof) = mill(&server, json!({"ust_id": "DE123456789"}));
    let branch =
        mill.post("/api/v1/kunden", json!({"nachname_firma": "Hof Sonnental", "ust_id": "DE123456789"})).id();
    let rechnung = Rechnung::new(&eigene_nr("W"));
    // The other one is no supplier.
    assert_eq!(read(&mill, &rechnung).is(200)["gefunden"]["partner"]["id"], hof);
    let path = format!("/api/v1/kunden/{branch}");
    mill.put(&path, json!({"partner_typen": ["lieferant"], "plz": "10115"})).is(200);
    assert_eq!(read(&mill, &rechnung).is(200)["gefunden"]["partner"]["id"], hof);
    mill.put(&path, json!({"plz": "38304"})).is(200);
    let answer = read(&mill, &rechnung);
    assert_eq!(answer.hints("PARTNER_UNBEKANNT")["gefunden"]["partner"], Value::Null);
    create(&mill, rechnung.xml().as_bytes(), None).refused(400, "KUNDE_FEHLT");
    assert_eq!(server.sql::<i64>("select count(*) from beleg"), 0);
}

#[test]
fn articles_are_found_by_our_number_or_ean_or_said_to_be_unknown() {
    let server = Server::start();
    let (mill, _) = mill(&server, json!({"ust_id": "DE123456789"}));
    let table = [
        (eigene_nr("R"), "R artikelnummer", ""),
        (ean("4006381333931"), "W ean", ""),
        (eigene_nr("W") + &ean("4006381333931"), "W artikelnummer", ""),
        (eigene_nr("nix") + &ean("4006381333931"), "W ean", ""),
        (lieferanten_nr("W"), "- -", "ARTIKEL_UNBEKANNT"),
        (String::new(), "- -", "ARTIKEL_UNBEKANNT"),
        (eigene_nr("ALT"), "- -", "ARTIKEL_UNBEKANNT"),
    ];
    for (nummern, expected, hint) in table {
        let answer = read(&mill, &Rechnung::new(&nummern));
        let line = &answer.is(200)["gefunden"]["artikel"][0];
        let text = |field: &str| line[field].as_str().unwrap_or("-").to_owned();
        assert_eq!(format!("{} {}", text("artikelnummer"), text("durch")), expected, "{nummern}");
        assert_eq!(answer.hint_codes().join(" "), hint, "{nummern}");
        assert_eq!(
            answer.body["vorschlag"]["items"][0]["artikel_id"],
            line["artikel_id"].clone(),
            "{nummern}"
        );
    }
}

#[test]
fn with_anlegen_the_er_is_made_once_and_the_file_kept_as_it_came() {
    let server = Server::start();
    let (mill, hof) = mill(&server, json!({"ust_id": "DE123456789"}));
    let file = Rechnung::new(&eigene_nr("W")).xml();
    let answer = create(&mill, file.as_bytes(), Some("Mail 17"));
    let beleg = answer.is(201).clone();
    assert_eq!((&beleg["beleg_nummer"], &beleg["status"]), (&json!("ER-2026-00001"), &json!("offen")));
    assert_eq!(beleg["lagerbewegungen"][0]["menge"], "10000.000");
    let id = beleg["id"].as_str().unwrap();
    let stored = mill.get(&format!("/api/v1/belege/{id}"));
    assert_eq!((&stored.is(200)["kunde_id"], &stored.body["external_ref"]), (&json!(hof), &json!("Mail 17")));
    let files = format!("/api/v1/belege/{id}/dokumente");
    let listed = mill.get(&files);
    assert_eq!(
        (&listed.is(200)[0]["dateiname"], &listed.body[0]["id"]),
        (&json!("Rechnung 4711.xml"), &beleg["dokument_id"])
    );
    let path = format!("{files}/{}", beleg["dokument_id"].as_str().unwrap());
    let original = mill.get(&path).is(200)["inhalt_base64"].as_str().unwrap().to_owned();
    assert_eq!(STANDARD.decode(original).unwrap(), file.as_bytes());

    for external_ref in [Some("Mail 17"), Some("Mail 18"), None] {
        let again = create(&mill, file.as_bytes(), external_ref);
        assert_eq!((&again.is(200)["id"], &again.body["idempotent"]), (&json!(id), &json!(true)));
        again.hints("FREMDBELEG_DOPPELT");
    }
    // The same number in another file: with the same external_ref it is a repeat, otherwise a new document
    // with a hint.
    let other = file.replace("<DueDate>2026-07-15", "<DueDate>2026-07-16");
    let again = create(&mill, other.as_bytes(), Some("Mail 17"));
    assert_eq!((&again.is(200)["id"], &again.body["dokument_id"]), (&json!(id), &Value::Null));
    again.hints("INHALT_ABWEICHEND");
    assert_eq!(server.sql::<i64>("select count(*) from beleg"), 1);
    create(&mill, other.as_bytes(), None).hints("FREMDBELEG_DOPPELT");
    assert_eq!(server.sql::<i64>("select count(*) from anhang"), 2);

    mill.post(&format!("/api/v1/belege/{id}/abschliessen"), json!({})).is(200);
    assert_eq!(mill.get(&path).is(200)["groesse_bytes"], file.len());
    let connection = open_writer(&server.database).unwrap();
    for change in
        ["update anhang set inhalt = x'00'", "update anhang set beleg_id = null", "delete from anhang"]
    {
        let refused = connection.execute_batch(change).expect_err(change).to_string();
        assert!(refused.contains("never"), "{change}: {refused}");
    }
    let foreign = server.company("Andere");
    foreign.get(&files).refused(404, "NICHT_GEFUNDEN");
    foreign.get(&path).refused(404, "NICHT_GEFUNDEN");
    assert_eq!(foreign.post(EINLESEN, body(file.as_bytes())).is(200)["id"], Value::Null);
}

#[test]
fn a_supplier_s_number_is_learnt_when_a_final_er_confirms_it() {
    let server = Server::start();
    let (mill, _) = mill(&server, json!({"ust_id": "DE123456789"}));
    let (weizen, roggen) = (artikel(&mill, "W"), artikel(&mill, "R"));
    let zeilen = zeile(&lieferanten_nr("a-1"), "10", "200", "2000.00")
        + &zeile(&lieferanten_nr("B-2"), "5", "100", "500.00");
    let mut rechnung = Rechnung { zeilen, sums: ["2500.00", "175.00", "2675.00"], ..Rechnung::new("") };
    let learnt = |rechnung: &Rechnung| {
        let answer = read(&mill, rechnung);
        let lines = answer.is(200)["gefunden"]["artikel"].as_array().unwrap().clone();
        let text = |line: &Value| {
            format!(
                "{} {}",
                line["artikelnummer"].as_str().unwrap_or("-"),
                line["durch"].as_str().unwrap_or("-")
            )
        };
        lines.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let made = create(&mill, rechnung.xml().as_bytes(), None);
    made.hints("ARTIKEL_UNBEKANNT");
    let path = format!("/api/v1/belege/{}", made.is(201)["id"].as_str().unwrap());
    // A person corrects it: the first line is wheat, the second differs from that of the file.
    let mut items = made.body["vorschlag"]["items"].clone();
    items[0]["artikel_id"] = weizen.as_str().into();
    items[1]["artikel_id"] = roggen.as_str().into();
    items[1]["menge"] = 6.into();
    mill.put(&path, json!({"items": items})).is(200);
    rechnung.nummer = "R-4712";
    assert_eq!(learnt(&rechnung), "- -, - -");
    mill.post(&format!("{path}/abschliessen"), json!({})).is(200);
    assert_eq!(learnt(&rechnung), "W lieferantennummer, - -");
    // For another supplier the same number means nothing.
    let other = rechnung.xml().replace("DE 123456789", "DE987654321").replace("Hof Sonnental", "Hof Mondtal");
    mill.post("/api/v1/kunden", json!({"nachname_firma": "Hof Mondtal", "ust_id": "DE987654321"})).id();
    let answer = mill.post(EINLESEN, body(other.as_bytes()));
    assert_eq!(answer.is(200)["gefunden"]["artikel"][0]["artikel_id"], Value::Null);
    // A later document with another assignment wins.
    let made = create(&mill, rechnung.xml().as_bytes(), None);
    let path = format!("/api/v1/belege/{}", made.is(201)["id"].as_str().unwrap());
    let mut items = made.body["vorschlag"]["items"].clone();
    items[0]["artikel_id"] = roggen.as_str().into();
    mill.put(&path, json!({"items": items})).is(200);
    mill.post(&format!("{path}/abschliessen"), json!({})).is(200);
    rechnung.nummer = "R-4713";
    assert_eq!(learnt(&rechnung), "R lieferantennummer, - -");
}

#[test]
fn a_credit_note_takes_back() {
    let server = Server::start();
    let (mill, _) = mill(&server, json!({"ust_id": "DE123456789"}));
    let rechnung = Rechnung { root: "CreditNote", ..Rechnung::new(&eigene_nr("W")) };
    let answer = create(&mill, rechnung.xml().as_bytes(), None);
    assert_eq!(answer.is(201)["vorschlag"]["items"][0]["menge"], "-10.000");
    assert_eq!(answer.body["summe_brutto"], "-2140.00");
    assert_eq!(answer.body["summen"]["rechnung"]["summe_brutto"], "-2140.00");
    let beleg = mill.get(&format!("/api/v1/belege/{}", answer.body["id"].as_str().unwrap()));
    assert_eq!(beleg.is(200)["ist_gutschrift"], true);
}

/// The text replaced in the invoice, its replacement, and the hints of the proposal.
const DOUBTS: &[(&str, &str, &str)] = &[
    ("2140.00", "2140.01", "SUMME_ABWEICHEND"),
    ("<LineExtensionAmount>2000.00", "<LineExtensionAmount>1900.00", "SUMME_ABWEICHEND"),
    ("<ID>R-4711</ID>", "", "WERT_FRAGLICH"),
    ("<IssueDate>2026-07-01</IssueDate>", "", "WERT_FRAGLICH"),
    ("2026-07-01", "2026-13-01", "WERT_FRAGLICH"),
    ("unitCode=\"TNE\"", "unitCode=\"LTR\"", "VORSCHLAG_UNVOLLSTAENDIG"),
    ("<TaxInclusiveAmount>", "<PrepaidAmount>5.00</PrepaidAmount><TaxInclusiveAmount>", "WERT_FRAGLICH"),
    (
        "<PaymentMeans>",
        "<AccountingCustomerParty><Party><PartyTaxScheme><CompanyID>DE111111125</CompanyID><TaxScheme>\
      <ID>VAT</ID></TaxScheme></PartyTaxScheme></Party></AccountingCustomerParty><PaymentMeans>",
        "EMPFAENGER_PRUEFEN",
    ),
];

#[test]
fn what_does_not_fit_is_a_hint() {
    let server = Server::start();
    let (mill, _) = mill(&server, json!({"ust_id": "DE123456789"}));
    server.set(&mill, &[("ust_id", "DE136695976")]);
    let xml = Rechnung::new(&eigene_nr("W")).xml();
    assert_eq!(mill.post(EINLESEN, body(xml.as_bytes())).hint_codes(), Vec::<String>::new());
    for (from, to, hint) in DOUBTS {
        assert!(xml.contains(from), "{from}");
        let answer = mill.post(EINLESEN, body(xml.replace(from, to).as_bytes()));
        answer.hints(hint);
    }
    let answer = mill.post(EINLESEN, body(xml.replace("2140.00", "2140.01").as_bytes()));
    assert_eq!(answer.is(200)["regeln"][0]["regel"], "BR-CO-15");
    let sums = xml.split("<InvoiceLine>").next().unwrap().to_owned() + "</Invoice>";
    let answer = mill.post(EINLESEN, body(sums.as_bytes()));
    assert_eq!(answer.hints("POSITIONEN_FEHLEN")["summen"]["vorschlag"]["summe_brutto"], "2140.00");
}

#[test]
fn what_is_no_invoice_is_refused_with_a_sentence() {
    let server = Server::start();
    let (mill, _) = mill(&server, json!({"ust_id": "DE123456789"}));
    let xml = Rechnung::new("").xml();
    let foreign = xml.replace("EUR", "SEK");
    let self_billed = xml.replace("<DueDate>", "<InvoiceTypeCode>389</InvoiceTypeCode><DueDate>");
    let typed = |typ| self_billed.replace(">389<", typ);
    let (proforma, bookkeeping, unknown) = (typed(">325<"), typed(">751<"), typed(">999<"));
    let bomb = "<!DOCTYPE a [<!ENTITY b 'b'>]><Invoice>&b;</Invoice>";
    let files: [(&[u8], &str); 9] = [
        (foreign.as_bytes(), "KEINE_RECHNUNG"),
        (self_billed.as_bytes(), "KEINE_RECHNUNG"),
        (proforma.as_bytes(), "KEINE_RECHNUNG"),
        (bookkeeping.as_bytes(), "KEINE_RECHNUNG"),
        (unknown.as_bytes(), "KEINE_RECHNUNG"),
        (b"<html/>", "KEINE_RECHNUNG"),
        (bomb.as_bytes(), "DATEI_NICHT_LESBAR"),
        (b"%PDF-1.7", "KEINE_RECHNUNG"),
        (b"PK", "DATEI_NICHT_LESBAR"),
    ];
    for (file, code) in files {
        for mut body in [body(file), body(file)] {
            assert_eq!(mill.post(EINLESEN, body.clone()).refused(400, code)["feld"], "datei_base64");
            body["anlegen"] = true.into();
            mill.post(EINLESEN, body).refused(400, code);
        }
    }
    mill.post(EINLESEN, json!({})).refused(400, "FELD_FEHLT");
    mill.post(EINLESEN, json!({"datei_base64": "?"})).refused(400, "FELD_UNGUELTIG");
    let large = "A".repeat((10 << 20) / 3 * 4 + 8);
    mill.post(EINLESEN, json!({"datei_base64": large})).refused(413, "ZU_GROSS");
    assert_eq!(server.sql::<i64>("select count(*) from beleg"), 0);
}

/// The samples of tests/papers/einlesen, over HTTP: each can be read, and its ER created and finalised.
#[test]
fn samples_become_documents_that_can_be_finalised() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/papers/einlesen/beispiele");
    let supplier = json!({"nachname_firma": "Lieferant GmbH", "ust_id": "DE123456789"});
    mill.post("/api/v1/kunden", supplier).id();
    mill.post("/api/v1/kunden", json!({"nachname_firma": "LE FOURNISSEUR", "ust_id": "FR11123456782"})).id();
    let file = std::fs::read(folder.join("facturx-basic.pdf")).unwrap();
    let answer = create(&mill, &file, None);
    let beleg = answer.is(201);
    assert_eq!(beleg["summe_brutto"], "104.90");
    assert_eq!(answer.body["summen"]["rechnung"]["summe_brutto"], "104.90");
    let path = format!("/api/v1/belege/{}", beleg["id"].as_str().unwrap());
    mill.post(&format!("{path}/abschliessen"), json!({})).is(200);
    let original = mill.get(&format!("{path}/dokumente/{}", beleg["dokument_id"].as_str().unwrap()));
    assert_eq!(STANDARD.decode(original.is(200)["inhalt_base64"].as_str().unwrap()).unwrap(), file);
    // The sample of ZUGFeRD 1 says that it is a test.
    for name in ["ohne.pdf", "zugferd1.pdf"] {
        let file = std::fs::read(folder.join(name)).unwrap();
        create(&mill, &file, None).refused(400, "KEINE_RECHNUNG");
    }
}
