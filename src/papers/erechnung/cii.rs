//! Writes the CII syntax: UN/CEFACT Cross Industry Invoice D16B, in the order of its schema.

use super::betraege::{Betraege, Rabatt, Zeile};
use super::laender;
use super::model::{Kontakt, Partei, Position, Rechnung, filled};
use super::texte;
use super::xml::{Xml, is_blank};
use crate::rules::day::Day;
use crate::rules::document::Rechnungsart;
use crate::rules::fixed::{Money, TooLarge};
use crate::rules::plausible::is_gtin;
use crate::rules::tax::{Gruppe, Steuerkategorie};
use crate::rules::unit::unece_code;

/// Namespaces of CII, with their usual prefixes.
const NAMESPACES: &str = "xmlns:rsm=\"urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100\" \
    xmlns:ram=\"urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100\" \
    xmlns:qdt=\"urn:un:unece:uncefact:data:standard:QualifiedDataType:100\" \
    xmlns:udt=\"urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100\"";

/// BT-5.
const CURRENCY: &str = "EUR";
/// BT-130 for a unit without a code here: one.
const ONE: &str = "C62";
/// BT-140: a discount (UNTDID 5189).
const DISCOUNT: &str = "95";
/// BT-81: SEPA credit transfer (UNTDID 4461).
const SEPA_CREDIT_TRANSFER: &str = "58";
/// BT-157: article number of GS1 (ISO 6523).
const GTIN: &str = "0160";

/// Estimated bytes of a document without lines, and of a line, so that the buffer seldom has to grow.
const HEAD_BYTES: usize = 5_000;
const LINE_BYTES: usize = 1_500;

/// Writes the XML of a document. It is a valid e-invoice if nothing is [`missing`](super::missing()).
///
/// Texts are written in full: the interface bounds them, and the standard knows no bound.
pub fn write(rechnung: &Rechnung) -> Result<String, TooLarge> {
    let betraege = Betraege::of(rechnung)?;
    let mut xml = Xml::with_capacity(HEAD_BYTES + rechnung.positionen.len() * LINE_BYTES);
    xml.root("rsm:CrossIndustryInvoice", NAMESPACES, |xml| {
        xml.element("rsm:ExchangedDocumentContext", |xml| context(xml, rechnung));
        xml.element("rsm:ExchangedDocument", |xml| document(xml, rechnung, &betraege));
        xml.element("rsm:SupplyChainTradeTransaction", |xml| {
            for (position, zeile) in rechnung.positionen.iter().zip(&betraege.zeilen) {
                xml.element("ram:IncludedSupplyChainTradeLineItem", |xml| {
                    line(xml, position, zeile, rechnung.art);
                });
            }
            xml.element("ram:ApplicableHeaderTradeAgreement", |xml| agreement(xml, rechnung));
            xml.element("ram:ApplicableHeaderTradeDelivery", |xml| delivery(xml, rechnung));
            xml.element("ram:ApplicableHeaderTradeSettlement", |xml| settlement(xml, rechnung, &betraege));
        });
    });
    Ok(xml.into_string())
}

fn context(xml: &mut Xml, rechnung: &Rechnung) {
    let profil = rechnung.profil();
    xml.nested("ram:BusinessProcessSpecifiedDocumentContextParameter", "ram:ID", profil.process());
    xml.nested("ram:GuidelineSpecifiedDocumentContextParameter", "ram:ID", Some(profil.specification()));
}

fn document(xml: &mut Xml, rechnung: &Rechnung, betraege: &Betraege) {
    xml.text("ram:ID", &rechnung.nummer);
    xml.text("ram:TypeCode", betraege.typ.as_str());
    date(xml, "ram:IssueDateTime", Some(rechnung.datum));
    for note in texte::notes(rechnung, betraege.typ) {
        xml.nested("ram:IncludedNote", "ram:Content", Some(note));
    }
}

fn line(xml: &mut Xml, position: &Position, zeile: &Zeile, art: Rechnungsart) {
    xml.element("ram:AssociatedDocumentLineDocument", |xml| {
        xml.number("ram:LineID", position.position);
        xml.nested("ram:IncludedNote", "ram:Content", filled(&position.bemerkung));
    });
    xml.element("ram:SpecifiedTradeProduct", |xml| product(xml, position, art));
    xml.element("ram:SpecifiedLineTradeAgreement", |xml| {
        xml.element("ram:NetPriceProductTradePrice", |xml| xml.number("ram:ChargeAmount", zeile.preis));
    });
    xml.element("ram:SpecifiedLineTradeDelivery", |xml| {
        let code = position.einheit.as_deref().and_then(unece_code).unwrap_or(ONE);
        xml.number_with("ram:BilledQuantity", ("unitCode", code), zeile.menge);
    });
    xml.element("ram:SpecifiedLineTradeSettlement", |xml| {
        xml.element("ram:ApplicableTradeTax", |xml| {
            xml.text("ram:TypeCode", "VAT");
            xml.text("ram:CategoryCode", position.steuer_kategorie.as_str());
            // BR-O-05.
            if position.steuer_kategorie != Steuerkategorie::NichtSteuerbar {
                xml.number("ram:RateApplicablePercent", position.mwst_satz);
            }
        });
        if let Some(rabatt) = &zeile.rabatt {
            xml.element("ram:SpecifiedTradeAllowanceCharge", |xml| allowance(xml, rabatt));
        }
        xml.element("ram:SpecifiedTradeSettlementLineMonetarySummation", |xml| {
            xml.number("ram:LineTotalAmount", zeile.netto);
        });
        let account = filled(&position.kostenstelle);
        xml.nested("ram:ReceivableSpecifiedTradeAccountingAccount", "ram:ID", account);
    });
}

fn allowance(xml: &mut Xml, rabatt: &Rabatt) {
    xml.nested("ram:ChargeIndicator", "udt:Indicator", Some("false"));
    if let Some((prozent, basis)) = rabatt.aus {
        xml.number("ram:CalculationPercent", prozent);
        xml.number("ram:BasisAmount", basis);
    }
    xml.number("ram:ActualAmount", rabatt.betrag);
    xml.text("ram:ReasonCode", DISCOUNT);
    xml.text("ram:Reason", "Rabatt");
}

fn product(xml: &mut Xml, position: &Position, art: Rechnungsart) {
    if let Some(ean) = position.ean.as_deref().map(str::trim).filter(|ean| is_gtin(ean)) {
        xml.text_with("ram:GlobalID", ("schemeID", GTIN), ean);
    }
    // The number is the company's: it sells in an invoice and buys in a Gutschrift.
    let id = match art {
        Rechnungsart::Rechnung => "ram:SellerAssignedID",
        Rechnungsart::Gutschrift => "ram:BuyerAssignedID",
    };
    xml.optional(id, filled(&position.artikelnummer));
    xml.text("ram:Name", &position.bezeichnung);
    let description = [filled(&position.bezeichnung2), filled(&position.langtext)];
    xml.text("ram:Description", description.into_iter().flatten().collect::<Vec<_>>().join("\n"));
    for merkmal in &position.merkmale {
        attribute(xml, &merkmal.name, &merkmal.wert);
    }
    if let Some(einheit) = filled(&position.einheit).filter(|einheit| unece_code(einheit).is_none()) {
        attribute(xml, "Einheit", einheit);
    }
    match filled(&position.herkunftsland) {
        Some(land) if laender::is_known(land) => xml.nested("ram:OriginTradeCountry", "ram:ID", Some(land)),
        Some(land) => attribute(xml, "Herkunft", land),
        None => {}
    }
}

/// BG-32; omitted unless it has both a name and a value (BR-54).
fn attribute(xml: &mut Xml, name: &str, value: &str) {
    if !is_blank(name) && !is_blank(value) {
        xml.element("ram:ApplicableProductCharacteristic", |xml| {
            xml.text("ram:Description", name);
            xml.text("ram:Value", value);
        });
    }
}

fn agreement(xml: &mut Xml, rechnung: &Rechnung) {
    let shows_vat_ids = rechnung.shows_vat_ids();
    xml.optional("ram:BuyerReference", filled(&rechnung.kaeuferreferenz));
    xml.element("ram:SellerTradeParty", |xml| {
        let seller = &rechnung.verkaeufer;
        party(xml, seller, seller.seller_id(shows_vat_ids), filled(&seller.rechtliches));
        registration(xml, "VA", seller.vat_id().as_deref().filter(|_| shows_vat_ids));
        registration(xml, "FC", filled(&seller.steuernummer));
    });
    xml.element("ram:BuyerTradeParty", |xml| {
        let buyer = &rechnung.kaeufer;
        party(xml, buyer, filled(&buyer.kennung), None);
        registration(xml, "VA", buyer.vat_id().as_deref().filter(|_| shows_vat_ids));
    });
    reference(xml, "ram:BuyerOrderReferencedDocument", &rechnung.bestellnummer);
    reference(xml, "ram:ContractReferencedDocument", &rechnung.kontrakt);
}

fn party(xml: &mut Xml, partei: &Partei, id: Option<&str>, legal: Option<&str>) {
    xml.optional("ram:ID", id);
    xml.text("ram:Name", &partei.name);
    xml.optional("ram:Description", legal);
    xml.nested("ram:SpecifiedLegalOrganization", "ram:ID", filled(&partei.registernummer));
    xml.element("ram:DefinedTradeContact", |xml| contact(xml, &partei.kontakt));
    xml.element("ram:PostalTradeAddress", |xml| address(xml, partei));
    if let Some((scheme, address)) = partei.electronic_address() {
        xml.element("ram:URIUniversalCommunication", |xml| {
            xml.text_with("ram:URIID", ("schemeID", scheme), address);
        });
    }
}

fn contact(xml: &mut Xml, kontakt: &Kontakt) {
    xml.optional("ram:PersonName", filled(&kontakt.name));
    xml.nested("ram:TelephoneUniversalCommunication", "ram:CompleteNumber", filled(&kontakt.telefon));
    xml.nested("ram:EmailURIUniversalCommunication", "ram:URIID", filled(&kontakt.email));
}

fn address(xml: &mut Xml, partei: &Partei) {
    xml.optional("ram:PostcodeCode", filled(&partei.plz));
    xml.optional("ram:LineOne", filled(&partei.strasse));
    xml.optional("ram:CityName", filled(&partei.ort));
    xml.text("ram:CountryID", &partei.staat);
}

fn registration(xml: &mut Xml, scheme: &str, id: Option<&str>) {
    if let Some(id) = id {
        xml.element("ram:SpecifiedTaxRegistration", |xml| xml.text_with("ram:ID", ("schemeID", scheme), id));
    }
}

fn reference(xml: &mut Xml, name: &str, number: &Option<String>) {
    xml.nested(name, "ram:IssuerAssignedID", filled(number));
}

fn delivery(xml: &mut Xml, rechnung: &Rechnung) {
    // BR-IC-12: the country that the goods were sent to. The only known place is the buyer's.
    if rechnung.has(&[Steuerkategorie::IgLieferung]) {
        xml.element("ram:ShipToTradeParty", |xml| {
            xml.text("ram:Name", &rechnung.kaeufer.name);
            xml.element("ram:PostalTradeAddress", |xml| address(xml, &rechnung.kaeufer));
        });
    }
    xml.element("ram:ActualDeliverySupplyChainEvent", |xml| {
        date(xml, "ram:OccurrenceDateTime", rechnung.delivered());
    });
    reference(xml, "ram:DespatchAdviceReferencedDocument", &rechnung.lieferschein);
}

fn settlement(xml: &mut Xml, rechnung: &Rechnung, betraege: &Betraege) {
    xml.text("ram:PaymentReference", &rechnung.nummer);
    xml.text("ram:InvoiceCurrencyCode", CURRENCY);
    payment(xml, &rechnung.verkaeufer);
    for gruppe in &betraege.gruppen {
        xml.element("ram:ApplicableTradeTax", |xml| tax(xml, gruppe, rechnung));
    }
    xml.element("ram:BillingSpecifiedPeriod", |xml| {
        date(xml, "ram:StartDateTime", rechnung.leistung_von);
        date(xml, "ram:EndDateTime", rechnung.leistung_bis);
    });
    // BR-CO-25 requires terms only if there is something to pay.
    if betraege.summen.brutto > Money::ZERO {
        xml.element("ram:SpecifiedTradePaymentTerms", |xml| {
            xml.optional("ram:Description", texte::payment_terms(rechnung, betraege.typ));
            date(xml, "ram:DueDateDateTime", texte::due_date(rechnung, betraege.typ));
        });
    }
    xml.element("ram:SpecifiedTradeSettlementHeaderMonetarySummation", |xml| sums(xml, betraege));
    for bezug in rechnung.preceding() {
        xml.element("ram:InvoiceReferencedDocument", |xml| {
            xml.text("ram:IssuerAssignedID", &bezug.nummer);
            xml.element("ram:FormattedIssueDateTime", |xml| {
                xml.text_with("qdt:DateTimeString", FORMAT_102, digits(bezug.datum));
            });
        });
    }
}

fn payment(xml: &mut Xml, seller: &Partei) {
    let Some(iban) = seller.iban() else { return };
    xml.element("ram:SpecifiedTradeSettlementPaymentMeans", |xml| {
        xml.text("ram:TypeCode", SEPA_CREDIT_TRANSFER);
        xml.element("ram:PayeePartyCreditorFinancialAccount", |xml| {
            xml.text("ram:IBANID", iban);
            xml.optional("ram:AccountName", filled(&seller.kontoinhaber));
        });
        xml.nested("ram:PayeeSpecifiedCreditorFinancialInstitution", "ram:BICID", filled(&seller.bic));
    });
}

fn tax(xml: &mut Xml, gruppe: &Gruppe<Steuerkategorie>, rechnung: &Rechnung) {
    let (reason, code) = texte::exemptions(gruppe.merkmal, rechnung);
    xml.number("ram:CalculatedAmount", gruppe.steuer);
    xml.text("ram:TypeCode", "VAT");
    xml.optional("ram:ExemptionReason", reason);
    xml.number("ram:BasisAmount", gruppe.netto);
    xml.text("ram:CategoryCode", gruppe.merkmal.as_str());
    xml.optional("ram:ExemptionReasonCode", code);
    xml.number("ram:RateApplicablePercent", gruppe.satz);
}

fn sums(xml: &mut Xml, betraege: &Betraege) {
    let summen = &betraege.summen;
    xml.number("ram:LineTotalAmount", summen.netto);
    xml.number("ram:TaxBasisTotalAmount", summen.netto);
    xml.number_with("ram:TaxTotalAmount", ("currencyID", CURRENCY), summen.mwst);
    xml.number("ram:GrandTotalAmount", summen.brutto);
    xml.number("ram:DuePayableAmount", summen.brutto);
}

/// Format 102: a day is written as eight digits.
const FORMAT_102: (&str, &str) = ("format", "102");

fn date(xml: &mut Xml, name: &str, day: Option<Day>) {
    if let Some(day) = day {
        xml.element(name, |xml| xml.text_with("udt:DateTimeString", FORMAT_102, digits(day)));
    }
}

fn digits(day: Day) -> String {
    day.to_string().replace('-', "")
}
