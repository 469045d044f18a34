//! Final documents of each kind: with taxes as printed by the supplier, read from a stored e-invoice,
//! cancelled, with PDFs and a history.

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::mills::{Mills, done};
use crate::process::{Client, Folder};

pub struct Scene {
    pub folder: Folder,
    /// The ids of the final documents.
    pub finals: Vec<String>,
}

/// A supplier's e-invoice.
const INVOICE: &str = "<Invoice><ID>R-1</ID><IssueDate>2026-07-01</IssueDate>\
                       <DocumentCurrencyCode>EUR</DocumentCurrencyCode><AccountingSupplierParty><Party>\
                       <PartyTaxScheme><CompanyID>DE123456789</CompanyID><TaxScheme><ID>VAT</ID></TaxScheme>\
                       </PartyTaxScheme><PartyLegalEntity><RegistrationName>Hof</RegistrationName>\
                       </PartyLegalEntity></Party></AccountingSupplierParty><TaxTotal>\
                       <TaxAmount>7.00</TaxAmount><TaxSubtotal><TaxableAmount>100.00</TaxableAmount>\
                       <TaxAmount>7.00</TaxAmount><TaxCategory><ID>S</ID><Percent>7</Percent></TaxCategory>\
                       </TaxSubtotal></TaxTotal><LegalMonetaryTotal>\
                       <TaxExclusiveAmount>100.00</TaxExclusiveAmount>\
                       <TaxInclusiveAmount>107.00</TaxInclusiveAmount></LegalMonetaryTotal><InvoiceLine>\
                       <InvoicedQuantity unitCode=\"KGM\">10</InvoicedQuantity>\
                       <LineExtensionAmount>100.00</LineExtensionAmount><Item><Name>Saat</Name>\
                       <BuyersItemIdentification><ID>MU7-S</ID></BuyersItemIdentification>\
                       <ClassifiedTaxCategory><ID>S</ID><Percent>7</Percent></ClassifiedTaxCategory></Item>\
                       <Price><PriceAmount>10</PriceAmount></Price></InvoiceLine></Invoice>";

impl Scene {
    pub fn get() -> &'static Scene {
        static SCENE: OnceLock<Scene> = OnceLock::new();
        SCENE.get_or_init(Scene::new)
    }

    fn new() -> Scene {
        let own = &Mills::get().own;
        let folder = Mills::get().copy();
        let firma = ["firma=Mühle GmbH", "strasse=Weg 1", "plz=38304", "ort=Hof", "ust_id=DE123456789"];
        let contact = [
            "email=a@muehle.example",
            "kontakt_name=A",
            "kontakt_telefon=1",
            "kontakt_email=a@muehle.example",
        ];
        let advised = ["datev_berater=1001", "datev_mandant=1", "datev_ab=2026-01-01"];
        folder.result(&[&["tenant", "set", own.name], &firma[..], &contact, &advised].concat());
        let mut server = folder.serve(&[]);
        let client = server.client(&own.key);
        let kunde = &own.ids["kunde"];
        let address = json!({"ust_id": "DE123456789", "strasse": "Weg 2", "plz": "38304", "ort": "Hof"});
        done(client.send("PUT", &format!("/api/v1/kunden/{kunde}"), Some(&address)).unwrap());
        let item =
            json!({"artikel_id": own.ids["artikel_ohne"], "menge": 2, "ep_netto": "1.00", "mwst_satz": 7});
        let taxes = json!([{"mwst_satz": 7, "basis": "2.00", "steuer": "0.15"}]);
        let mut finals = vec![own.ids["rechnung"].clone()];
        for (typ, taxes) in [("ER", taxes), ("LS", Value::Null), ("AN", Value::Null), ("RE", Value::Null)] {
            let document =
                json!({"beleg_typ": typ, "kunden_id": kunde, "items": [item], "steuergruppen": taxes});
            finals.push(finalised(&client, "/api/v1/belege", &document));
        }
        let read = json!({"datei_base64": STANDARD.encode(INVOICE), "anlegen": true});
        finals.insert(0, finalised(&client, "/api/v1/belege/einlesen", &read));
        let note = json!({"partner_id": kunde, "artikel_id": own.ids["artikel"], "anliefermenge_kg": 500,
            "preis_je_t": 100, "fremde_charge_nr": "S"});
        let note = done(client.post("/api/v1/annahmescheine", &note))["id"].clone();
        let settlement = json!({"art": "end", "annahmeschein_ids": [note], "abschliessen": true});
        let settled = done(client.post("/api/v1/abrechnungen", &settlement));
        finals.insert(1, settled["beleg_id"].as_str().unwrap().to_owned());
        let handed_over =
            json!({"beleg_typ": "RE", "kunden_id": kunde, "beleg_datum": "2026-01-15", "items": [item]});
        finals.insert(2, finalised(&client, "/api/v1/belege", &handed_over));
        let account = json!({"fall": "erloes", "satz": 7, "konto": 8300});
        done(client.send("PUT", "/api/v1/datev/konten", Some(&account)).unwrap());
        done(client.post("/api/v1/datev/stapel", &json!({"bis": "2026-01-31"})));
        let last = finals.last().unwrap();
        done(client.post(&format!("/api/v1/belege/{last}/storno"), &json!({"grund": "x"})));
        server.signal("TERM");
        assert!(server.end().0.success());
        Scene { folder, finals }
    }
}

/// Creates a document that is changed, gets a PDF and becomes final; returns its id.
fn finalised(client: &Client, path: &str, body: &Value) -> String {
    let id = done(client.post(path, body))["id"].as_str().unwrap().to_owned();
    let path = |end: &str| format!("/api/v1/belege/{id}{end}");
    done(client.send("PUT", &path(""), Some(&json!({"notizen": "eilt"}))).unwrap());
    done(client.post(&path("/pdf"), &json!({"datei_base64": "JVBERi0xLjQKJSVFT0YK"})));
    done(client.post(&path("/abschliessen"), &json!({})));
    id
}
