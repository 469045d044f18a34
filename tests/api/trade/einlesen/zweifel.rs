//! What an invoice leaves in doubt is said, and nothing is booked in silence (D28): who sent it, the sign of a credit
//! note, a price for another unit, tests and copies, terms, and the ways in which a PDF packs its attachment.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use weezl::BitOrder;

use super::{EINLESEN, body};
use crate::harness::{Answer, Client, Server};

/// A CII invoice of Hof Müller in Wertingen, whose parts a test replaces.
struct Cii {
    context: &'static str,
    typ: &'static str,
    seller: String,
    buyer: &'static str,
    settlement: String,
    lines: String,
    tax: &'static str,
    sums: [&'static str; 3],
}

fn line(quantity: &str, unit: &str, price: &str, netto: &str, more: &str, product: &str) -> String {
    format!(
        "<IncludedSupplyChainTradeLineItem><SpecifiedTradeProduct>{product}<Name>Ware</Name></SpecifiedTradeProduct>\
         <SpecifiedLineTradeAgreement><NetPriceProductTradePrice>{price}</NetPriceProductTradePrice>\
         </SpecifiedLineTradeAgreement><SpecifiedLineTradeDelivery>\
         <BilledQuantity unitCode=\"{unit}\">{quantity}</BilledQuantity></SpecifiedLineTradeDelivery>\
         <SpecifiedLineTradeSettlement><ApplicableTradeTax><CategoryCode>S</CategoryCode>\
         <RateApplicablePercent>19</RateApplicablePercent></ApplicableTradeTax>{more}\
         <SpecifiedTradeSettlementLineMonetarySummation><LineTotalAmount>{netto}</LineTotalAmount>\
         </SpecifiedTradeSettlementLineMonetarySummation></SpecifiedLineTradeSettlement>\
         </IncludedSupplyChainTradeLineItem>"
    )
}

fn price(amount: &str) -> String {
    format!("<ChargeAmount>{amount}</ChargeAmount>")
}

fn registration(scheme: &str, id: &str) -> String {
    format!("<SpecifiedTaxRegistration><ID schemeID=\"{scheme}\">{id}</ID></SpecifiedTaxRegistration>")
}

fn seller(name: &str, plz: &str, registrations: &str) -> String {
    format!(
        "<Name>{name}</Name><PostalTradeAddress><PostcodeCode>{plz}</PostcodeCode></PostalTradeAddress>{registrations}"
    )
}

fn account(iban: &str) -> String {
    format!(
        "<SpecifiedTradeSettlementPaymentMeans><PayeePartyCreditorFinancialAccount><IBANID>{iban}</IBANID>\
         </PayeePartyCreditorFinancialAccount></SpecifiedTradeSettlementPaymentMeans>"
    )
}

impl Cii {
    fn new() -> Cii {
        Cii {
            context: "",
            typ: "380",
            seller: seller("Hof Müller", "86637", &registration("VA", "DE300000006")),
            buyer: "",
            settlement: String::new(),
            lines: line("1", "H87", &price("10.00"), "10.00", "", ""),
            tax: "<TaxTotalAmount currencyID=\"EUR\">1.90</TaxTotalAmount>",
            sums: ["10.00", "1.90", "11.90"],
        }
    }

    fn xml(&self) -> String {
        let Cii { context, typ, seller, buyer, settlement, lines, tax, sums: [netto, steuer, brutto] } = self;
        let groups = match lines.is_empty() {
            true => String::new(),
            false => format!(
                "<ApplicableTradeTax><CalculatedAmount>{steuer}</CalculatedAmount><BasisAmount>{netto}</BasisAmount>\
                 <CategoryCode>S</CategoryCode><RateApplicablePercent>19</RateApplicablePercent></ApplicableTradeTax>"
            ),
        };
        format!(
            "<CrossIndustryInvoice><ExchangedDocumentContext>{context}</ExchangedDocumentContext><ExchangedDocument>\
             <ID>R-1</ID><TypeCode>{typ}</TypeCode><IssueDateTime><DateTimeString>20260702</DateTimeString>\
             </IssueDateTime></ExchangedDocument><SupplyChainTradeTransaction>{lines}<ApplicableHeaderTradeAgreement>\
             <SellerTradeParty>{seller}</SellerTradeParty><BuyerTradeParty>{buyer}</BuyerTradeParty>\
             </ApplicableHeaderTradeAgreement><ApplicableHeaderTradeSettlement><InvoiceCurrencyCode>EUR\
             </InvoiceCurrencyCode>{settlement}{groups}<SpecifiedTradeSettlementHeaderMonetarySummation>\
             <TaxBasisTotalAmount>{netto}</TaxBasisTotalAmount>{tax}<GrandTotalAmount>{brutto}</GrandTotalAmount>\
             </SpecifiedTradeSettlementHeaderMonetarySummation></ApplicableHeaderTradeSettlement>\
             </SupplyChainTradeTransaction></CrossIndustryInvoice>"
        )
    }
}

/// A mill named Mühle Nord, and Hof Müller with a VAT id, a tax number and an account.
fn mill(server: &Server) -> (Client, Value) {
    let mill = server.company("Mühle");
    let hof = mill.post(
        "/api/v1/kunden",
        json!({"nachname_firma": "Hof Müller", "ust_id": "DE300000006", "steuernummer": "151/815/08156",
               "plz": "86637", "ort": "Wertingen", "partner_typen": ["lieferant"], "iban": "DE89370400440532013000"}),
    );
    let id = hof.is(201)["kunden_id"].clone();
    (mill, id)
}

fn read(mill: &Client, xml: &str) -> Answer {
    mill.post(EINLESEN, body(xml.as_bytes()))
}

fn create(mill: &Client, xml: &str, more: Value) -> Answer {
    let mut sent = body(xml.as_bytes());
    sent["anlegen"] = true.into();
    sent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    mill.post(EINLESEN, sent)
}

/// The codes of an answer without the one about the article, which no test here names.
fn doubts(answer: &Answer) -> String {
    let codes: Vec<String> =
        answer.hint_codes().into_iter().filter(|code| code != "ARTIKEL_UNBEKANNT").collect();
    codes.join(" ")
}

#[test]
fn a_mark_that_contradicts_excludes_and_a_weak_one_is_asked_about() {
    let server = Server::start();
    let (mill, hof) = mill(&server);
    let va = |id| registration("VA", id);
    let fc = |number| registration("FC", number);
    let shared = account("DE89370400440532013000");
    let table = [
        (seller("Hof Müller", "86637", &va("DE300000006")), "", "ust_id", ""),
        (seller("Hof Müller", "86637", &va("DE 300.000.006")), "", "ust_id", ""),
        (seller("Hof Müller", "86637", &fc("15181508156")), "", "steuernummer", ""),
        (seller("Hof Müller", "86637", &fc("4151081508156")), "", "steuernummer", ""),
        (seller("Hof Müller", "86637", ""), "", "name", ""),
        // Father and son of one name in one village, and a factoring company with one account.
        (
            seller("Hof Müller", "86637", &va("DE811569869")),
            "",
            "",
            "PARTNER_AUSGESCHLOSSEN PARTNER_UNBEKANNT",
        ),
        (
            seller("Hof Müller", "86637", &fc("151/999/99999")),
            "",
            "",
            "PARTNER_AUSGESCHLOSSEN PARTNER_UNBEKANNT",
        ),
        (
            seller("Mühlenbau Nord AG", "10115", &va("DE811569869")),
            shared.as_str(),
            "",
            "PARTNER_AUSGESCHLOSSEN PARTNER_UNBEKANNT",
        ),
        (
            seller("Andere AG", "10115", &(va("DE811569869") + &fc("151/815/08156"))),
            "",
            "",
            "PARTNER_AUSGESCHLOSSEN PARTNER_UNBEKANNT",
        ),
        (seller("Mühlenbau Nord AG", "10115", ""), shared.as_str(), "iban", "PARTNER_PRUEFEN"),
        (seller("Müller Landhandel", "10115", ""), shared.as_str(), "iban", ""),
        (seller("Mühlenbau Nord AG", "86637", &va("DE300000006")), "", "ust_id", "PARTNER_PRUEFEN"),
        (seller("Müller GmbH &amp; Co. KG", "10115", &va("DE300000006")), "", "ust_id", ""),
        // An id of no right form contradicts nothing.
        (seller("Hof Müller", "86637", &va("beantragt")), "", "name", ""),
    ];
    for (seller, settlement, durch, hints) in table {
        let xml = Cii { seller: seller.clone(), settlement: settlement.to_owned(), ..Cii::new() }.xml();
        let answer = read(&mill, &xml);
        let found = answer.is(200)["gefunden"]["partner"]["durch"].as_str().unwrap_or_default();
        assert_eq!((found, doubts(&answer).as_str()), (durch, hints), "{seller}");
        if durch.is_empty() || !hints.is_empty() {
            create(&mill, &xml, json!({})).refused(400, "KUNDE_FEHLT");
        }
    }
    assert_eq!(server.sql::<i64>("select count(*) from beleg"), 0);
    let other = Cii { seller: seller("Hof Müller", "86637", &va("DE811569869")), ..Cii::new() }.xml();
    let said = read(&mill, &other);
    let message = said.hints("PARTNER_AUSGESCHLOSSEN")["hinweise"].to_string();
    assert!(message.contains("DE300000006") && message.contains("DE811569869"), "{message}");
    let named = create(&mill, &other, json!({"kunden_id": hof}));
    assert_eq!(named.is(201)["gefunden"]["partner"]["durch"], "kunden_id");
    assert_eq!(doubts(&named), "PARTNER_PRUEFEN");
    create(&mill, &Cii::new().xml(), json!({"kunden_id": 999})).refused(400, "KUNDE_NICHT_GEFUNDEN");
}

#[test]
fn a_buyer_of_another_name_is_asked_about() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    server.set(&mill, &[("firma", "Mühle Nord GmbH"), ("ust_id", "DE136695976")]);
    for (buyer, hint) in [
        ("<Name>Mühle Nord</Name>", ""),
        ("<Name>Muehle Nord GmbH &amp; Co. KG</Name>", ""),
        ("<Name>Bäckerei Süd GmbH</Name>", "EMPFAENGER_PRUEFEN"),
        ("", ""),
        (
            "<Name>Alias</Name><SpecifiedTaxRegistration><ID schemeID=\"VA\">DE 136695976</ID></SpecifiedTaxRegistration>",
            "",
        ),
    ] {
        let answer = read(&mill, &Cii { buyer, ..Cii::new() }.xml());
        assert_eq!((answer.status, doubts(&answer).as_str()), (200, hint), "{buyer}");
    }
}

#[test]
fn a_credit_note_below_zero_is_not_booked_before_its_sign_is_said() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    let sums = ["-10.00", "-1.90", "-11.90"];
    let tax = "<TaxTotalAmount currencyID=\"EUR\">-1.90</TaxTotalAmount>";
    let lines = line("-1", "H87", &price("10.00"), "-10.00", "", "");
    let cii = Cii { typ: "381", lines, tax, sums, ..Cii::new() }.xml();
    let minimum = Cii { typ: "381", lines: String::new(), tax, sums, ..Cii::new() }.xml();
    let ubl = super::Rechnung {
        root: "CreditNote",
        sums: ["-2000.00", "-140.00", "-2140.00"],
        zeilen: super::zeile("", "-10", "200", "-2000.00"),
        ..super::Rechnung::new("")
    };
    let ubl = ubl.xml().replace("DE 123456789", "DE300000006").replace("Hof Sonnental", "Hof Müller");
    for (xml, total) in [(&cii, "11.90"), (&minimum, "11.90"), (&ubl, "2140.00")] {
        let answer = read(&mill, xml);
        assert_eq!(answer.is(200)["summen"]["vorschlag"]["summe_brutto"], total);
        assert!(doubts(&answer).contains("VORZEICHEN_PRUEFEN"), "{}", doubts(&answer));
        create(&mill, xml, json!({})).refused(400, "VORZEICHEN_FEHLT");
        let mut sent = body(xml.as_bytes());
        sent["vorzeichen"] = "umgekehrt".into();
        let answer = mill.post(EINLESEN, sent);
        assert_eq!(answer.is(200)["summen"]["vorschlag"]["summe_brutto"], format!("-{total}"));
        assert!(!doubts(&answer).contains("VORZEICHEN"), "{}", doubts(&answer));
    }
    let made = create(&mill, &cii, json!({"vorzeichen": "umgekehrt"}));
    assert_eq!((&made.is(201)["summe_brutto"], doubts(&made).as_str()), (&json!("-11.90"), ""));
    let owed = create(&mill, &cii.replace("R-1", "R-2"), json!({"vorzeichen": "wie_gedruckt"}));
    assert_eq!(owed.is(201)["summe_brutto"], "11.90");
    let idle = create(&mill, &Cii::new().xml().replace("R-1", "R-3"), json!({"vorzeichen": "umgekehrt"}));
    assert_eq!((&idle.is(201)["summe_brutto"], doubts(&idle).as_str()), (&json!("11.90"), "FELD_IGNORIERT"));
}

#[test]
fn a_price_is_of_its_unit_and_no_discount_is_made_up() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    let allowance = "<SpecifiedTradeAllowanceCharge><ChargeIndicator><Indicator>false</Indicator></ChargeIndicator>\
                     <ActualAmount>294.60</ActualAmount></SpecifiedTradeAllowanceCharge>";
    let per = |amount: &str, basis: &str| format!("{}<BasisQuantity{basis}</BasisQuantity>", price(amount));
    let table = [
        (per("24.55", " unitCode=\"DTN\">1"), "", "2946.00", "0.2455 null", ""),
        (per("245.50", " unitCode=\"&#84;NE\">1"), "", "2946.00", "0.2455 null", ""),
        (per("245.50", " unitCode=\"KGM\">1000"), "", "2946.00", "0.2455 null", ""),
        (price("24.55"), "", "2946.00", "0.2455 null", "PREIS_ERRECHNET"),
        (price("0.27"), allowance, "2945.40", "0.2700 9.092593", ""),
    ];
    for (price, more, netto, expected, hint) in table {
        let lines = line("12000", "KGM", &price, netto, more, "");
        let answer = read(&mill, &Cii { lines, ..Cii::new() }.xml());
        let item = &answer.is(200)["vorschlag"]["items"][0];
        let shown = format!(
            "{} {}",
            item["ep_netto"].as_str().unwrap_or_default(),
            item.get("rabatt_prozent").unwrap_or(&Value::Null).to_string().trim_matches('"')
        );
        assert_eq!(shown, expected, "{price}");
        assert_eq!(
            doubts(&answer).contains("PREIS_ERRECHNET"),
            !hint.is_empty(),
            "{price}: {}",
            doubts(&answer)
        );
    }
}

#[test]
fn a_test_is_no_invoice_and_a_copy_is_said() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    let test =
        Cii { context: "<TestIndicator><Indicator>true</Indicator></TestIndicator>", ..Cii::new() }.xml();
    assert_eq!(doubts(&read(&mill, &test)), "IST_TEST");
    create(&mill, &test, json!({})).refused(400, "KEINE_RECHNUNG");
    let copy = Cii::new()
        .xml()
        .replace("<TypeCode>380", "<CopyIndicator><Indicator>1</Indicator></CopyIndicator><TypeCode>380");
    assert_eq!(doubts(&create(&mill, &copy, json!({}))), "IST_KOPIE");
}

#[test]
fn terms_of_payment_are_those_of_the_invoice() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    let term = |due: &str, more: &str| {
        format!(
            "<SpecifiedTradePaymentTerms>{more}<DueDateDateTime><DateTimeString>{due}</DateTimeString></DueDateDateTime>\
             </SpecifiedTradePaymentTerms>"
        )
    };
    let discount = "<ApplicableTradePaymentDiscountTerms><BasisPeriodMeasure unitCode=\"DAY\">7</BasisPeriodMeasure>\
                    <CalculationPercent>3.00</CalculationPercent></ApplicableTradePaymentDiscountTerms>";
    let words = "<Description>#SKONTO#TAGE=7#PROZENT=3.00#\n#SKONTO#TAGE=14#PROZENT=2.00#\n</Description>";
    for (settlement, expected, hints) in [
        (term("20260716", discount), json!([14, 7, "3.00"]), ""),
        (term("20260716", words), json!([14, 7, "3.00"]), "SKONTO_GEKUERZT"),
        (term("20260716", "") + &term("20260901", ""), json!([61, null, null]), "ZAHLUNGSPLAN"),
        (term("20260901", "") + &term("20260716", discount), json!([61, 7, "3.00"]), "ZAHLUNGSPLAN"),
    ] {
        let answer = read(&mill, &Cii { settlement: settlement.clone(), ..Cii::new() }.xml());
        let new = &answer.is(200)["vorschlag"];
        let terms = json!([new["zahlungsziel_tage"], new["skonto_tage"], new["skonto_prozent"]]);
        assert_eq!((terms, doubts(&answer).as_str()), (expected, hints), "{settlement}");
    }
    let ubl = super::Rechnung::new("").xml().replace(
        "<TaxTotal>",
        "<PaymentTerms><Note>#SKONTO#TAGE=10#PROZENT=2.00#</Note></PaymentTerms><TaxTotal>",
    );
    let answer = read(&mill, &ubl);
    let new = &answer.is(200)["vorschlag"];
    assert_eq!(
        json!([new["zahlungsziel_tage"], new["skonto_tage"], new["skonto_prozent"]]),
        json!([14, 10, "2.00"])
    );
}

#[test]
fn the_tax_is_that_in_the_currency_of_the_invoice() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    let tax = "<TaxTotalAmount currencyID=\"CZK\">47.50</TaxTotalAmount><TaxTotalAmount currencyID=\"EUR\">1.90</TaxTotalAmount>";
    let answer = read(&mill, &Cii { tax, ..Cii::new() }.xml());
    assert_eq!(
        (&answer.is(200)["summen"]["rechnung"]["summe_mwst"], doubts(&answer).as_str()),
        (&json!("1.90"), "")
    );
    let ubl = super::Rechnung::new("").xml();
    let foreign = "<TaxTotal><TaxAmount currencyID=\"CZK\">3500.00</TaxAmount></TaxTotal><TaxTotal>";
    let ubl = ubl.replacen("<TaxTotal>", foreign, 1).replace("<TaxAmount>", "<TaxAmount currencyID=\"EUR\">");
    assert_eq!(read(&mill, &ubl).is(200)["summen"]["rechnung"]["summe_mwst"], "140.00");
}

#[test]
fn article_numbers_of_gs1_are_compared_as_numbers() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    server.import(
        &mill,
        "artikel",
        "artikelnummer;bezeichnung;einheit;ean\nW;Weizen;kg;4006381333931\nU;Import;kg;036000291452\n",
    );
    for (id, nummer) in [
        ("schemeID=\"0160\">4006381333931", "W"),
        ("schemeID=\"0160\">04006381333931", "W"),
        ("schemeID=\"0160\">0036000291452", "U"),
        ("schemeID=\"0160\">36000291452", "U"),
        ("schemeID=\"&#48;160\">4006381333931", "W"),
        ("schemeID=\"0088\">4006381333931", ""),
        (">4006381333931", ""),
    ] {
        let lines = line("1", "H87", &price("10.00"), "10.00", "", &format!("<GlobalID {id}</GlobalID>"));
        let answer = read(&mill, &Cii { lines, ..Cii::new() }.xml());
        let found = answer.is(200)["gefunden"]["artikel"][0]["artikelnummer"].as_str().unwrap_or_default();
        assert_eq!(found, nummer, "{id}");
    }
}

/// A PDF without a table of objects, whose attachments are these files, packed by `filter`.
fn pdf(files: &[(&str, &[u8])], filter: &str) -> Vec<u8> {
    let mut pdf = b"%PDF-1.7\n".to_vec();
    let named: String =
        files.iter().enumerate().map(|(at, (name, _))| format!("({name}) {} 0 R ", 10 + 2 * at)).collect();
    write!(pdf, "1 0 obj\n<</Type/Catalog/Names<</EmbeddedFiles<</Names[{named}]>>>>>>\nendobj\n").unwrap();
    for (at, (name, content)) in files.iter().enumerate() {
        let (file, stream) = (10 + 2 * at, 11 + 2 * at);
        write!(pdf, "{file} 0 obj\n<</Type/Filespec/UF({name})/EF<</F {stream} 0 R>>>>\nendobj\n").unwrap();
        write!(pdf, "{stream} 0 obj\n<</Length {}{filter}>>stream\n", content.len()).unwrap();
        pdf.extend_from_slice(content);
        pdf.extend_from_slice(b"\nendstream\nendobj\n");
    }
    pdf.extend_from_slice(b"trailer\n<</Root 1 0 R>>\n%%EOF\n");
    pdf
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn hex(content: &[u8]) -> Vec<u8> {
    (content.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + ">").into_bytes()
}

fn ascii85(content: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    for group in content.chunks(4) {
        let mut bytes = [0; 4];
        bytes[..group.len()].copy_from_slice(group);
        let number = u32::from_be_bytes(bytes);
        let digits =
            [85u32.pow(4), 85u32.pow(3), 85u32.pow(2), 85, 1].map(|place| (number / place % 85) as u8 + b'!');
        match (number, group.len()) {
            (0, 4) => encoded.push(b'z'),
            (_, length) => encoded.extend(&digits[..=length]),
        }
    }
    [&encoded[..], b"~>"].concat()
}

fn run_length(content: &[u8]) -> Vec<u8> {
    let runs = content.chunks(128).flat_map(|run| [&[(run.len() - 1) as u8][..], run].concat());
    runs.chain([128]).collect()
}

fn lzw(content: &[u8]) -> Vec<u8> {
    weezl::encode::Encoder::with_tiff_size_switch(BitOrder::Msb, 8).encode(content).unwrap()
}

#[test]
fn an_attachment_is_read_however_the_pdf_packs_it() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    let xml = Cii::new().xml().into_bytes();
    let packed: Vec<(&str, Vec<u8>)> = vec![
        ("", xml.clone()),
        ("/Filter/FlateDecode", zlib(&xml)),
        ("/Filter[/ASCII85Decode/FlateDecode]", ascii85(&zlib(&xml))),
        ("/Filter[/A85 /LZW]", ascii85(&lzw(&xml))),
        ("/Filter/ASCII85Decode", ascii85(&xml)),
        ("/Filter/ASCIIHexDecode", hex(&xml)),
        ("/Filter[/ASCIIHexDecode/FlateDecode]/DecodeParms[null null]", hex(&zlib(&xml))),
        ("/Filter/RunLengthDecode", run_length(&xml)),
        ("/Filter/LZWDecode", lzw(&xml)),
    ];
    for (filter, content) in packed {
        let answer = mill.post(EINLESEN, body(&pdf(&[("factur-x.xml", &content)], filter)));
        assert_eq!(answer.is(200)["vorschlag"]["fremdbelegnummer"], "R-1", "{filter}");
    }
    for (filter, content) in [
        ("/Filter/ASCII85Decode", &b"!!!!\x7f~>"[..]),
        ("/Filter/ASCIIHexDecode", b"zz>"),
        ("/Filter/RunLengthDecode", b"\x05ab"),
        ("/Filter/LZWDecode", b"\xff\xff\xff"),
        ("/Filter/JPXDecode", b"x"),
        ("/Filter[/AHx/AHx/AHx/AHx/AHx/AHx/AHx/AHx/AHx]", b">"),
    ] {
        let answer = mill.post(EINLESEN, body(&pdf(&[("factur-x.xml", content)], filter)));
        answer.refused(400, "DATEI_NICHT_LESBAR");
    }
}

#[test]
fn another_xml_beside_the_invoice_does_not_count() {
    let server = Server::start();
    let (mill, _) = mill(&server);
    let (own, other) = (Cii::new().xml().into_bytes(), Cii::new().xml().replace("R-1", "R-2").into_bytes());
    let (note, order) = (&b"<lieferschein/>"[..], &b"<SCRDMCCBDACIOMessageStructure/>"[..]);
    for files in [
        vec![("ZUGFeRD_001.xml", &own[..])],
        vec![("ZUGFeRD_001.xml", &own[..]), ("lieferdaten.xml", note)],
        vec![("a.xml", note), ("ZUGFeRD_001.xml", &own[..])],
        vec![("a.xml", note), ("factur-x.xml", &own[..])],
        vec![("order-x.xml", order), ("b.xml", b"no xml"), ("rechnung.xml", &own[..])],
    ] {
        let answer = mill.post(EINLESEN, body(&pdf(&files, "")));
        assert_eq!(answer.is(200)["vorschlag"]["fremdbelegnummer"], "R-1");
    }
    mill.post(EINLESEN, body(&pdf(&[("a.xml", &own), ("b.xml", &other)], "")))
        .refused(400, "DATEI_NICHT_LESBAR");
}
