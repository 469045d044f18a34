//! Finds the business terms in UBL 2.1: invoice and credit note.

use super::bedingungen::{Bedingungen, structured};
use super::model::{Format, Gelesen, Steuergruppe, Summen, Unlesbar, Zeile, Zuschlag};
use super::tree::Node;
use super::typ;
use super::values::{
    ACCOUNTS_MAX, BATCH, BEST_BEFORE, GTIN, Values, attribute, attribute_day, is_true, number_of, owned,
    too_many_lines,
};
use crate::papers::erechnung::model::Partei;
use crate::rules::choice::Choice;
use crate::rules::fixed::Money;
use crate::rules::kennnummer::plain;
use crate::rules::tax::Steuerkategorie;

pub fn read(root: Node<'_>) -> Result<Gelesen, Unlesbar> {
    let is_credit_note = root.name() == "CreditNote";
    if root.find("LegalMonetaryTotal").is_none() {
        return Err(Unlesbar::KeineRechnung("In dem XML fehlen die Angaben einer Rechnung.".to_owned()));
    }
    let mut values = Values::default();
    let typ = owned(root.text(if is_credit_note { "CreditNoteTypeCode" } else { "InvoiceTypeCode" }));
    let ist_gutschrift = typ::is_credit_note(typ.as_deref())? || is_credit_note;
    let terms = terms(root, &mut values);
    let zeilen = lines(root, is_credit_note, &mut values)?;
    let party = |path| root.find(path).map(party).unwrap_or_default();
    let means = root.all("PaymentMeans").filter_map(|means| means.text("PayeeFinancialAccount/ID"));
    Ok(Gelesen {
        format: Format::Ubl,
        typ,
        ist_gutschrift,
        nummer: owned(root.text("ID")),
        datum: values.day(root, "IssueDate"),
        waehrung: owned(root.text("DocumentCurrencyCode")),
        ist_test: false,
        ist_kopie: is_true(root.text("CopyIndicator")),
        faellig: terms.faellig,
        hat_raten: terms.hat_raten,
        skonti: terms.skonti,
        lieferdatum: values.day(root, "Delivery/ActualDeliveryDate"),
        leistung_von: values.day(root, "InvoicePeriod/StartDate"),
        leistung_bis: values.day(root, "InvoicePeriod/EndDate"),
        zahlungsbedingung: owned(terms.worte),
        verkaeufer: party("AccountingSupplierParty/Party"),
        kaeufer: party("AccountingCustomerParty/Party"),
        ibans: means.take(ACCOUNTS_MAX).map(plain).collect(),
        zeilen,
        zuschlaege: allowances(root, &mut values),
        gruppen: groups(root, &mut values),
        summen: totals(root, &mut values),
        zweifel: values.zweifel,
    })
}

fn terms<'t>(root: Node<'t>, values: &mut Values) -> Bedingungen<'t> {
    let due = ["PaymentMeans", "PaymentTerms"].into_iter().flat_map(|name| root.all(name));
    let mut days: Vec<_> = due.filter_map(|node| values.day(node, "PaymentDueDate")).collect();
    days.extend(values.day(root, "DueDate"));
    let names = ["SettlementDiscountPercent", "SettlementPeriod/DurationMeasure", "unitCode"];
    let skonti = root.all("PaymentTerms").filter_map(|terms| structured(terms, names, values)).collect();
    let worte: Vec<_> = root.all("PaymentTerms").filter_map(|terms| terms.text("Note")).collect();
    Bedingungen::of(days, skonti, &worte)
}

fn party(node: Node<'_>) -> Partei {
    let registration = |is_vat: bool| {
        let of_scheme =
            |scheme: &Node<'_>| (scheme.text("TaxScheme/ID").is_some_and(|id| id == "VAT")) == is_vat;
        owned(node.all("PartyTaxScheme").find(of_scheme).and_then(|found| found.text("CompanyID")))
    };
    let legal = node.text("PartyLegalEntity/RegistrationName");
    let address = node.part("PostalAddress");
    Partei {
        kennung: owned(node.text("PartyIdentification/ID")),
        name: owned(legal.or_else(|| node.text("PartyName/Name"))).unwrap_or_default(),
        registernummer: owned(node.text("PartyLegalEntity/CompanyID")),
        strasse: owned(address.text("StreetName")),
        plz: owned(address.text("PostalZone")),
        ort: owned(address.text("CityName")),
        staat: address.text("Country/IdentificationCode").unwrap_or_default().to_owned(),
        ust_id: registration(true),
        steuernummer: registration(false),
        e_adresse: owned(node.text("EndpointID")),
        ..Partei::default()
    }
}

fn lines(root: Node<'_>, is_credit_note: bool, values: &mut Values) -> Result<Vec<Zeile>, Unlesbar> {
    let (name, quantity) = match is_credit_note {
        true => ("CreditNoteLine", "CreditedQuantity"),
        false => ("InvoiceLine", "InvoicedQuantity"),
    };
    let mut lines = Vec::new();
    for node in root.all(name) {
        lines.push(line(node, quantity, values));
        too_many_lines(lines.len())?;
    }
    Ok(lines)
}

fn line(node: Node<'_>, quantity: &str, values: &mut Values) -> Zeile {
    let (item, price) = (node.part("Item"), node.part("Price"));
    let taxed = item.part("ClassifiedTaxCategory");
    let attribute = |wanted| attribute(item, ["AdditionalItemProperty", "Name"], wanted);
    let batch = item.text("ItemInstance/LotIdentification/LotNumberID");
    let is_gtin = |id: &Node<'_>| id.attribute("schemeID").is_none_or(|scheme| scheme == GTIN);
    let gtin = item.find("StandardItemIdentification/ID").filter(is_gtin);
    let expiry = item.text("ItemInstance/LotIdentification/ExpiryDate");
    Zeile {
        nummer: owned(node.text("ID")),
        menge: values.number(node, quantity),
        einheit: owned(node.find(quantity).and_then(|quantity| quantity.attribute("unitCode"))),
        preis: values.number(price, "PriceAmount"),
        basis: values.number(price, "BaseQuantity"),
        basis_einheit: owned(price.find("BaseQuantity").and_then(|basis| basis.attribute("unitCode"))),
        zuschlag: of_line(node, values),
        netto: values.number(node, "LineExtensionAmount"),
        steuer_kategorie: taxed.text("ID").and_then(Steuerkategorie::parse),
        mwst_satz: values.number(taxed, "Percent"),
        bezeichnung: owned(item.text("Name")),
        beschreibung: owned(item.text("Description")),
        verkaeufer_nr: number_of(item.text("SellersItemIdentification/ID")),
        kaeufer_nr: number_of(item.text("BuyersItemIdentification/ID")),
        gtin: number_of(gtin.and_then(|id| id.text(""))),
        herkunftsland: owned(item.text("OriginCountry/IdentificationCode")),
        charge: owned(batch.or_else(|| attribute(BATCH))),
        mhd: expiry.or_else(|| attribute(BEST_BEFORE)).and_then(attribute_day),
    }
}

fn allowances(root: Node<'_>, values: &mut Values) -> Vec<Zuschlag> {
    let mut found = Vec::new();
    for node in root.all("AllowanceCharge") {
        let Some(amount) = values.number::<2, 2>(node, "Amount") else { continue };
        let is_charge = is_true(node.text("ChargeIndicator"));
        let taxed = node.part("TaxCategory");
        found.push(Zuschlag {
            betrag: if is_charge { amount } else { -amount },
            grund: owned(node.text("AllowanceChargeReason")),
            steuer_kategorie: taxed.text("ID").and_then(Steuerkategorie::parse),
            mwst_satz: values.number(taxed, "Percent"),
        });
    }
    found
}

/// The tax total in the currency of the invoice; another one is that of the books (BT-111, BR-53).
fn taxes(root: Node<'_>) -> Option<Node<'_>> {
    let currency = root.text("DocumentCurrencyCode");
    let is_own = |total: &Node<'_>| {
        total.find("TaxAmount").and_then(|amount| amount.attribute("currencyID")) == currency
    };
    let own = || root.all("TaxTotal").filter(is_own);
    let grouped = own().find(|total| total.find("TaxSubtotal").is_some());
    grouped.or_else(|| own().next()).or_else(|| root.find("TaxTotal"))
}

/// The charges less the allowances of a line (BG-28, BG-27).
fn of_line(line: Node<'_>, values: &mut Values) -> Money {
    let amount = |node: Node<'_>| {
        let amount: Money = values.number(node, "Amount")?;
        Some(if is_true(node.text("ChargeIndicator")) { amount } else { -amount })
    };
    let amounts = line.all("AllowanceCharge").filter_map(amount);
    amounts.fold(Money::ZERO, |sum, amount| sum.plus(amount).unwrap_or(sum))
}

fn groups(root: Node<'_>, values: &mut Values) -> Vec<Steuergruppe> {
    let group = |node: Node<'_>| Steuergruppe {
        steuer_kategorie: node.text("TaxCategory/ID").and_then(Steuerkategorie::parse),
        mwst_satz: values.number(node, "TaxCategory/Percent"),
        netto: values.number(node, "TaxableAmount"),
        steuer: values.number(node, "TaxAmount"),
    };
    taxes(root).into_iter().flat_map(|total| total.all("TaxSubtotal")).map(group).collect()
}

fn totals(root: Node<'_>, values: &mut Values) -> Summen {
    let node = root.part("LegalMonetaryTotal");
    Summen {
        positionen: values.number(node, "LineExtensionAmount"),
        netto: values.number(node, "TaxExclusiveAmount"),
        mwst: taxes(root).and_then(|total| values.number(total, "TaxAmount")),
        brutto: values.number(node, "TaxInclusiveAmount"),
        bezahlt: values.number(node, "PrepaidAmount"),
        rundung: values.number(node, "PayableRoundingAmount"),
        zahlbetrag: values.number(node, "PayableAmount"),
    }
}
