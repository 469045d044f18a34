//! Outgoing papers (D24, D25, D26): sheet and e-invoice of final documents, over HTTP and by the command line.

mod abschliessen;
mod bezuege;
mod blaetter;
mod korpus;
mod pflicht;
mod treue;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Answer, COMPLETE, Client, Server};
use crate::programs::needs;
use crate::trade::lager::{Mill, and};

const BELEGE: &str = "/api/v1/belege";

/// Creates a company with complete master data, and further settings.
fn firma(server: &Server, name: &str, settings: &[(&str, &str)]) -> Client {
    let client = server.company_with(name, COMPLETE);
    server.set(&client, settings);
    client
}

/// Creates a partner with everything an e-invoice needs, and other fields; returns its id.
fn partner(client: &Client, more: Value) -> String {
    let complete = json!({"name": "Hofladen Süd GmbH", "strasse": "Am Anger 3", "plz": "86650",
        "ort": "Wemding", "staat": "DE", "ust_id": "DE987654321", "email": "rechnung@hofladen.example"});
    client.post("/api/v1/kunden", and(complete, more)).id()
}

/// A document with one position at 7 %, without an article.
fn document(typ: &str, partner: &str, amount: &str, more: Value) -> Value {
    let item = json!({"bezeichnung": "Futterweizen", "menge": 1, "einheit": "t", "ep_netto": amount,
        "mwst_satz": 7});
    and(json!({"beleg_typ": typ, "kunden_id": partner, "items": [item]}), more)
}

/// Creates a document that is final at once; returns its id.
fn finished(client: &Client, body: Value) -> String {
    client.post(BELEGE, and(body, json!({"abschliessen": true}))).id()
}

fn erechnung(client: &Client, id: &str) -> Answer {
    client.get(&format!("{BELEGE}/{id}/erechnung"))
}

pub fn xml(client: &Client, id: &str) -> String {
    let answer = erechnung(client, id);
    answer.is(200);
    String::from_utf8(answer.bytes).unwrap()
}

/// The PDF at a path.
pub fn pdf(client: &Client, path: &str) -> Answer {
    client.send("GET", path, &[("accept", "application/pdf")], None)
}

fn sheet(client: &Client, id: &str) -> Vec<u8> {
    let answer = pdf(client, &format!("{BELEGE}/{id}/pdf"));
    answer.is(200);
    assert_eq!(answer.headers["content-type"], "application/pdf");
    answer.bytes
}

/// The output of a program for a PDF; `{}` among its arguments is the file.
fn told(program: &str, arguments: &[&str], pdf: &[u8]) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("blatt.pdf");
    fs::write(&path, pdf).unwrap();
    let path = path.to_str().unwrap();
    let arguments = arguments.iter().map(|argument| if *argument == "{}" { path } else { argument });
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Writes the e-invoice to the folder ERECHNUNG_DIR, if set, for the validators of `tests/erechnung/run`.
pub fn keep(name: &str, xml: &str) {
    if let Some(folder) = std::env::var_os("ERECHNUNG_DIR") {
        let folder = std::path::Path::new(&folder).join("complete");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("served-{name}.xml")), xml).unwrap();
    }
}

/// The text of a PDF, its words separated by one blank.
pub fn text(pdf: &[u8]) -> String {
    let text = String::from_utf8(told("pdftotext", &["-layout", "{}", "-"], pdf)).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The letters of a PDF in the order in which they are drawn.
pub fn letters(pdf: &[u8]) -> String {
    let text = String::from_utf8(told("pdftotext", &["-raw", "{}", "-"], pdf)).unwrap();
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// The texts of all elements with a name.
pub fn texts<'x>(xml: &'x str, name: &str) -> Vec<&'x str> {
    let begin = format!("<ram:{name}");
    let parts = xml.split(begin.as_str()).skip(1).filter(|part| part.starts_with(['>', ' ']));
    parts.map(|part| part.split_once('>').unwrap().1.split_once("</").unwrap().0).collect()
}

/// The type of an e-invoice: 380, 381, 384, 389.
fn typ(xml: &str) -> &str {
    let head = xml.split_once("<rsm:ExchangedDocument>").unwrap().1;
    texts(head, "TypeCode")[0]
}

fn beleg(client: &Client, id: &str) -> Value {
    client.get(&format!("{BELEGE}/{id}")).is(200).clone()
}

/// Cancels a document; returns its storno document.
fn storno(client: &Client, id: &str) -> String {
    let answer = client.post(&format!("{BELEGE}/{id}/storno"), json!({"grund": "Versehen"}));
    answer.is(200)["storno_beleg_id"].as_str().unwrap().to_owned()
}

#[test]
fn each_kind_of_invoice_has_its_type_and_its_signs() {
    needs!("pdftotext");
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = partner(&mill, json!({}));
    let hof = json!({"partner_typen": ["lieferant"], "gutschrift_vereinbart_am": "2026-01-01", "ust_id": null,
        "steuernummer": "102/123/45678", "iban": "DE02500105170137075030"});
    let hof = partner(&mill, hof);
    mill.put(&format!("/api/v1/kunden/{hof}"), json!({"steuerart": "pauschal_24"})).is(200);
    let rechnung = finished(&mill, document("RE", &kunde, "1000", json!({})));
    let item = json!({"bezeichnung": "Braugerste", "menge": 10, "einheit": "t", "ep_netto": 200,
        "mwst_satz": "7.8"});
    let gutschrift = json!({"gutschrift": true, "items": [item]});
    let gutschrift = finished(&mill, document("ER", &hof, "1", gutschrift));
    let korrektur = finished(&mill, document("RE", &kunde, "-300", json!({})));
    let counter = [&rechnung, &gutschrift].map(|id| storno(&mill, id));
    let table = [
        (&rechnung, "380", "1.000", "1070.00", "Rechnung"),
        (&gutschrift, "389", "10.000", "2156.00", "Gutschrift"),
        (&korrektur, "381", "1.000", "321.00", "Rechnungskorrektur"),
        (&counter[0], "384", "-1.000", "-1070.00", "Stornorechnung"),
        (&counter[1], "389", "-10.000", "-2156.00", "Storno der Gutschrift"),
    ];
    for (id, expected, menge, total, title) in table {
        let xml = xml(&mill, id);
        let found = (typ(&xml), texts(&xml, "BilledQuantity")[0], texts(&xml, "GrandTotalAmount")[0]);
        assert_eq!(found, (expected, menge, total), "{title}");
        let number = beleg(&mill, id)["beleg_nummer"].as_str().unwrap().to_owned();
        let text = text(&sheet(&mill, id));
        assert!(text.contains(&format!("{title} {number}")), "{title} {number} is not in {text}");
    }
    // A storno document names the document it cancels; in a Gutschrift seller and buyer are swapped.
    let xml_of = |id| xml(&mill, id);
    for (id, original) in [(&counter[0], &rechnung), (&counter[1], &gutschrift)] {
        let number = beleg(&mill, original)["beleg_nummer"].as_str().unwrap().to_owned();
        let xml = xml_of(id);
        let reference = xml.split_once("<ram:InvoiceReferencedDocument>").unwrap().1;
        assert_eq!(texts(reference, "IssuerAssignedID")[0], number);
        assert!(text(&sheet(&mill, id)).contains("Storno zu"), "{number}");
    }
    let gutschrift = xml_of(&gutschrift);
    let seller = gutschrift.split_once("<ram:SellerTradeParty>").unwrap().1;
    assert!(seller.split_once("</ram:SellerTradeParty>").unwrap().0.contains("10212345678"));
    assert!(gutschrift.contains("§ 24 UStG"), "{gutschrift}");
}

#[test]
fn a_partner_chooses_the_profile_or_none() {
    needs!("pdfinfo");
    let server = Server::start();
    let more =
        [("kontakt_name", "Jan Huber"), ("kontakt_telefon", "+49 906 1234"), ("email", "re@muehle.example")];
    let mill = firma(&server, "Mühle", &more);
    let of = |more: Value| finished(&mill, document("RE", &partner(&mill, more), "1000", json!({})));
    let profile = |xml: &str| {
        let profile = xml.split_once("<ram:GuidelineSpecifiedDocumentContextParameter>").unwrap().1;
        texts(profile, "ID")[0].to_owned()
    };
    let zugferd = xml(&mill, &of(json!({})));
    assert_eq!(profile(&zugferd), "urn:cen.eu:en16931:2017");
    let leitweg = json!({"e_rechnung": "xrechnung", "kaeuferreferenz": "991-01234-56"});
    let xrechnung = of(leitweg);
    let sent = xml(&mill, &xrechnung);
    assert!(profile(&sent).ends_with(":xrechnung_3.0"), "{sent}");
    assert_eq!(texts(&sent, "BuyerReference"), ["991-01234-56"]);
    let metadata = told("pdfinfo", &["-meta", "{}"], &sheet(&mill, &xrechnung));
    assert!(String::from_utf8(metadata).unwrap().contains("<fx:ConformanceLevel>XRECHNUNG<"));
    let none = of(json!({"e_rechnung": "aus"}));
    let refusal = erechnung(&mill, &none);
    let said = refusal.refused(404, "KEINE_ERECHNUNG")["message"].as_str().unwrap();
    assert!(said.contains("e_rechnung ist aus"), "{said}");
    assert!(
        !String::from_utf8_lossy(&sheet(&mill, &none)).contains("factur-x"),
        "it has a sheet all the same"
    );
}

#[test]
fn batches_weights_and_deliveries_stand_in_xml_and_sheet() {
    needs!("pdftotext");
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let kunde = json!({"name": "Bäckerei", "plz": "86650", "ort": "Wemding"});
    mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), kunde).is(200);
    let charge = mill.receive("FELD-7", 30_000);
    let change = json!({"mhd": "2027-06-30", "herkunftsland": "AT"});
    mill.client.put(&format!("/api/v1/chargen/{charge}"), change).is(200);
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 14000, "partner_id": mill.partner_id("Kd"),
        "artikel_id": mill.artikel_id("W")});
    let wiegung = mill.client.post("/api/v1/wiegungen", first).id();
    let path = format!("/api/v1/wiegungen/{wiegung}");
    mill.client.put(&format!("{path}/zweitwiegung"), json!({"gewicht_zweit_kg": 38860})).is(200);
    let schein = mill.client.get(&path).is(200)["wiegeschein_nr"].as_str().unwrap().to_owned();
    let goods = json!({"artikelnr": "W", "wiegung_id": wiegung, "charge_id": charge});
    let delivery = mill.post("LS", goods);
    delivery.is(201);
    mill.finalise(&delivery.id());
    let invoice = mill.post("RE", json!({"artikelnr": "W", "menge": 24860})).id();
    mill.finalise(&invoice);
    let batch = mill.batch("FELD-7")["charge_nr"].as_str().unwrap().to_owned();
    let xml = xml(&mill.client, &invoice);
    let number = delivery.body["beleg_nummer"].as_str().unwrap();
    let reference = xml.split_once("<ram:DespatchAdviceReferencedDocument>").expect("the delivery note").1;
    assert_eq!(texts(reference, "IssuerAssignedID")[0], number);
    assert_eq!(texts(xml.split_once("<ram:OriginTradeCountry>").unwrap().1, "ID")[0], "AT");
    let attributes = xml.split("<ram:ApplicableProductCharacteristic>").skip(1);
    let attributes: Vec<_> =
        attributes.map(|part| (texts(part, "Description")[0], texts(part, "Value")[0])).collect();
    let expected = [
        ("Charge", batch.as_str()),
        ("MHD", "30.06.2027"),
        ("Wiegeschein", &schein),
        ("Brutto", "38.860 kg"),
        ("Tara", "14.000 kg"),
        ("Netto", "24.860 kg"),
    ];
    assert_eq!(attributes, expected);
    let text = text(&sheet(&mill.client, &invoice));
    let facts = [batch.as_str(), "30.06.2027", "Österreich", &schein, "38.860", "14.000", "24.860", number];
    for fact in facts {
        assert!(text.contains(fact), "{fact} is not in {text}");
    }
}
