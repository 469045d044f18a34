//! Finds the business terms in CII (UN/CEFACT D16B and later) and in its predecessor ZUGFeRD 1, which has
//! other element names.

use super::bedingungen::{Bedingungen, structured};
use super::model::{Format, Gelesen, Steuergruppe, Summen, Unlesbar, Zeile, Zuschlag};
use super::tree::Node;
use super::typ::is_credit_note;
use super::values::{
    ACCOUNTS_MAX, BATCH, BEST_BEFORE, GTIN, Values, attribute, attribute_day, is_true, number_of, owned,
    too_many_lines,
};
use crate::papers::erechnung::model::Partei;
use crate::rules::choice::Choice;
use crate::rules::fixed::Money;
use crate::rules::kennnummer::plain;
use crate::rules::tax::Steuerkategorie;

/// The element names in which the two differ.
pub struct ElementNames {
    format: Format,
    test: &'static str,
    document: &'static str,
    trade: &'static str,
    agreement: &'static str,
    delivery: &'static str,
    settlement: &'static str,
    summation: &'static str,
    percent: &'static str,
    line_agreement: &'static str,
    line_delivery: &'static str,
    line_settlement: &'static str,
    line_total: &'static str,
}

/// CII: root CrossIndustryInvoice.
pub const CII: ElementNames = ElementNames {
    format: Format::Cii,
    test: "ExchangedDocumentContext/TestIndicator/Indicator",
    document: "ExchangedDocument",
    trade: "SupplyChainTradeTransaction",
    agreement: "ApplicableHeaderTradeAgreement",
    delivery: "ApplicableHeaderTradeDelivery",
    settlement: "ApplicableHeaderTradeSettlement",
    summation: "SpecifiedTradeSettlementHeaderMonetarySummation",
    percent: "RateApplicablePercent",
    line_agreement: "SpecifiedLineTradeAgreement",
    line_delivery: "SpecifiedLineTradeDelivery",
    line_settlement: "SpecifiedLineTradeSettlement",
    line_total: "SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount",
};

/// ZUGFeRD 1: root CrossIndustryDocument.
pub const ZUGFERD_1: ElementNames = ElementNames {
    format: Format::Zugferd1,
    test: "SpecifiedExchangedDocumentContext/TestIndicator/Indicator",
    document: "HeaderExchangedDocument",
    trade: "SpecifiedSupplyChainTradeTransaction",
    agreement: "ApplicableSupplyChainTradeAgreement",
    delivery: "ApplicableSupplyChainTradeDelivery",
    settlement: "ApplicableSupplyChainTradeSettlement",
    summation: "SpecifiedTradeSettlementMonetarySummation",
    percent: "ApplicablePercent",
    line_agreement: "SpecifiedSupplyChainTradeAgreement",
    line_delivery: "SpecifiedSupplyChainTradeDelivery",
    line_settlement: "SpecifiedSupplyChainTradeSettlement",
    line_total: "SpecifiedTradeSettlementMonetarySummation/LineTotalAmount",
};

/// Types of lines that only head or explain other lines (Factur-X EXTENDED, BT-X-8).
const NO_LINES: [&str; 2] = ["GROUP", "INFORMATION"];

const LOGISTICS_CHARGE: &str = "SpecifiedLogisticsServiceCharge";

pub fn read(root: Node<'_>, names: &ElementNames) -> Result<Gelesen, Unlesbar> {
    let (Some(document), Some(trade)) = (root.find(names.document), root.find(names.trade)) else {
        return Err(Unlesbar::KeineRechnung("In dem XML fehlen die Angaben einer Rechnung.".to_owned()));
    };
    let [agreement, delivery, settlement] =
        [names.agreement, names.delivery, names.settlement].map(|name| trade.part(name));
    let mut values = Values::default();
    let typ = owned(document.text("TypeCode"));
    let zeilen = lines(trade, names, &mut values)?;
    let period = settlement.part("BillingSpecifiedPeriod");
    let terms = terms(settlement, &mut values);
    let party = |name| agreement.find(name).map(party).unwrap_or_default();
    let means = settlement.all("SpecifiedTradeSettlementPaymentMeans");
    let ibans = means.filter_map(|means| means.text("PayeePartyCreditorFinancialAccount/IBANID"));
    Ok(Gelesen {
        format: names.format,
        ist_gutschrift: is_credit_note(typ.as_deref())?,
        typ,
        nummer: owned(document.text("ID")),
        datum: values.day(document, "IssueDateTime/DateTimeString"),
        waehrung: owned(settlement.text("InvoiceCurrencyCode")),
        ist_test: is_true(root.text(names.test)),
        ist_kopie: is_true(document.text("CopyIndicator/Indicator")),
        faellig: terms.faellig,
        hat_raten: terms.hat_raten,
        skonti: terms.skonti,
        lieferdatum: values.day(delivery, "ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString"),
        leistung_von: values.day(period, "StartDateTime/DateTimeString"),
        leistung_bis: values.day(period, "EndDateTime/DateTimeString"),
        zahlungsbedingung: owned(terms.worte),
        verkaeufer: party("SellerTradeParty"),
        kaeufer: party("BuyerTradeParty"),
        ibans: ibans.take(ACCOUNTS_MAX).map(plain).collect(),
        zeilen,
        zuschlaege: allowances(settlement, names, &mut values),
        gruppen: groups(settlement, names, &mut values),
        summen: totals(settlement, names, &mut values),
        zweifel: values.zweifel,
    })
}

fn party(node: Node<'_>) -> Partei {
    let registration = |scheme: &str| {
        let of_scheme = |registration: &Node<'_>| {
            registration.find("ID").and_then(|id| id.attribute("schemeID")) == Some(scheme)
        };
        owned(node.all("SpecifiedTaxRegistration").find(of_scheme).and_then(|found| found.text("ID")))
    };
    let address = node.part("PostalTradeAddress");
    Partei {
        kennung: owned(node.text("ID")),
        name: owned(node.text("Name")).unwrap_or_default(),
        registernummer: owned(node.text("SpecifiedLegalOrganization/ID")),
        strasse: owned(address.text("LineOne")),
        plz: owned(address.text("PostcodeCode")),
        ort: owned(address.text("CityName")),
        staat: owned(address.text("CountryID")).unwrap_or_default(),
        ust_id: registration("VA"),
        steuernummer: registration("FC"),
        e_adresse: owned(node.text("URIUniversalCommunication/URIID")),
        ..Partei::default()
    }
}

fn lines(trade: Node<'_>, names: &ElementNames, values: &mut Values) -> Result<Vec<Zeile>, Unlesbar> {
    let mut lines = Vec::new();
    for node in trade.all("IncludedSupplyChainTradeLineItem") {
        let status = node.text("AssociatedDocumentLineDocument/LineStatusReasonCode");
        let is_comment =
            node.find("SpecifiedTradeProduct").is_none() && node.find(names.line_delivery).is_none();
        if is_comment || status.is_some_and(|status| NO_LINES.contains(&status)) {
            continue;
        }
        lines.push(line(node, names, values));
        too_many_lines(lines.len())?;
    }
    Ok(lines)
}

fn line(node: Node<'_>, names: &ElementNames, values: &mut Values) -> Zeile {
    let product = node.part("SpecifiedTradeProduct");
    let delivery = node.part(names.line_delivery);
    let settlement = node.part(names.line_settlement);
    let price = node.part(names.line_agreement).part("NetPriceProductTradePrice");
    let taxed = settlement.part("ApplicableTradeTax");
    let attribute = |wanted| attribute(product, ["ApplicableProductCharacteristic", "Description"], wanted);
    let batch = product.text("IndividualTradeProductInstance/BatchID");
    let gtin = product.all("GlobalID").find(|id| id.attribute("schemeID") == Some(GTIN));
    Zeile {
        nummer: owned(node.text("AssociatedDocumentLineDocument/LineID")),
        menge: values.number(delivery, "BilledQuantity"),
        einheit: owned(delivery.find("BilledQuantity").and_then(|quantity| quantity.attribute("unitCode"))),
        preis: values.number(price, "ChargeAmount"),
        basis: values.number(price, "BasisQuantity"),
        basis_einheit: owned(price.find("BasisQuantity").and_then(|basis| basis.attribute("unitCode"))),
        zuschlag: of_line(settlement, values),
        netto: values.number(settlement, names.line_total),
        steuer_kategorie: taxed.text("CategoryCode").and_then(Steuerkategorie::parse),
        mwst_satz: values.number(taxed, names.percent),
        bezeichnung: owned(product.text("Name")),
        beschreibung: owned(product.text("Description")),
        verkaeufer_nr: number_of(product.text("SellerAssignedID")),
        kaeufer_nr: number_of(product.text("BuyerAssignedID")),
        gtin: number_of(gtin.and_then(|id| id.text(""))),
        herkunftsland: owned(product.text("OriginTradeCountry/ID")),
        charge: owned(batch.or_else(|| attribute(BATCH))),
        mhd: attribute(BEST_BEFORE).and_then(attribute_day),
    }
}

/// Reads BG-20, BG-21 and the logistics charges of Factur-X EXTENDED. ZUGFeRD 1 writes allowances with or
/// without a minus.
fn allowances(settlement: Node<'_>, names: &ElementNames, values: &mut Values) -> Vec<Zuschlag> {
    let mut found = Vec::new();
    for (element, amount, reason, tax) in [
        ("SpecifiedTradeAllowanceCharge", "ActualAmount", "Reason", "CategoryTradeTax"),
        (LOGISTICS_CHARGE, "AppliedAmount", "Description", "AppliedTradeTax"),
    ] {
        for node in settlement.all(element) {
            let Some(amount) = values.number::<2, 2>(node, amount) else { continue };
            let is_charge = element == LOGISTICS_CHARGE || is_true(node.text("ChargeIndicator/Indicator"));
            let betrag = match (is_charge, names.format) {
                (true, _) => amount,
                (false, Format::Zugferd1) => -amount.abs(),
                (false, _) => -amount,
            };
            let taxed = node.part(tax);
            found.push(Zuschlag {
                betrag,
                grund: owned(node.text(reason)),
                steuer_kategorie: taxed.text("CategoryCode").and_then(Steuerkategorie::parse),
                mwst_satz: values.number(taxed, names.percent),
            });
        }
    }
    found
}

/// The charges less the allowances of a line (BG-28, BG-27).
fn of_line(settlement: Node<'_>, values: &mut Values) -> Money {
    let amount = |node: Node<'_>| {
        let amount: Money = values.number(node, "ActualAmount")?;
        Some(if is_true(node.text("ChargeIndicator/Indicator")) { amount } else { -amount })
    };
    let amounts = settlement.all("SpecifiedTradeAllowanceCharge").filter_map(amount);
    amounts.fold(Money::ZERO, |sum, amount| sum.plus(amount).unwrap_or(sum))
}

fn terms<'t>(settlement: Node<'t>, values: &mut Values) -> Bedingungen<'t> {
    let all = || settlement.all("SpecifiedTradePaymentTerms");
    let days: Vec<_> =
        all().filter_map(|terms| values.day(terms, "DueDateDateTime/DateTimeString")).collect();
    let discounts = all().flat_map(|terms| terms.all("ApplicableTradePaymentDiscountTerms"));
    let names = ["CalculationPercent", "BasisPeriodMeasure", "unitCode"];
    let skonti = discounts.filter_map(|discount| structured(discount, names, values)).collect();
    let worte: Vec<_> = all().filter_map(|terms| terms.text("Description")).collect();
    Bedingungen::of(days, skonti, &worte)
}

fn groups(settlement: Node<'_>, names: &ElementNames, values: &mut Values) -> Vec<Steuergruppe> {
    let group = |node: Node<'_>| Steuergruppe {
        steuer_kategorie: node.text("CategoryCode").and_then(Steuerkategorie::parse),
        mwst_satz: values.number(node, names.percent),
        netto: values.number(node, "BasisAmount"),
        steuer: values.number(node, "CalculatedAmount"),
    };
    settlement.all("ApplicableTradeTax").map(group).collect()
}

fn totals(settlement: Node<'_>, names: &ElementNames, values: &mut Values) -> Summen {
    let node = settlement.part(names.summation);
    let currency = settlement.text("InvoiceCurrencyCode");
    // Another one is the tax in the currency of the books (BT-111).
    let own = node.all("TaxTotalAmount").find(|total| total.attribute("currencyID") == currency);
    let tax = own.or_else(|| node.find("TaxTotalAmount"));
    Summen {
        positionen: values.number(node, "LineTotalAmount"),
        netto: values.number(node, "TaxBasisTotalAmount"),
        mwst: tax.and_then(|total| values.number(total, "")),
        brutto: values.number(node, "GrandTotalAmount"),
        bezahlt: values.number(node, "TotalPrepaidAmount"),
        rundung: values.number(node, "RoundingAmount"),
        zahlbetrag: values.number(node, "DuePayableAmount"),
    }
}
