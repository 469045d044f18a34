//! Writes an invoice of tests/data/einvoice.json in each syntax, with the fields needed to read it again.

use std::fmt::Write;

use serde_json::Value;

/// Writes an invoice.
type Writer = fn(&Value) -> String;

/// Name and writer of each syntax.
pub const ALL: &[(&str, Writer)] = &[
    ("CII", |case| cii(case, &CII)),
    ("ZUGFeRD 1", |case| cii(case, &ZUGFERD_1)),
    ("Invoice", |case| ubl(case, "Invoice", "InvoicedQuantity")),
    ("CreditNote", |case| ubl(case, "CreditNote", "CreditedQuantity")),
];

/// A line: quantity, net price without a sign, net total, rate.
struct Line<'c> {
    menge: String,
    preis: String,
    netto: &'c str,
    satz: String,
}

fn lines(case: &Value) -> Vec<Line<'_>> {
    let items = case["request"]["items"].as_array().unwrap();
    let totals = case["expected"]["gesamtpreise"].as_array().unwrap();
    let line = |item: &Value| {
        let (menge, preis) = (item["menge"].to_string(), item["ep_netto"].to_string());
        // A negative price moves its sign to the quantity (BR-27).
        match preis.strip_prefix('-') {
            Some(positive) => (turned(&menge), positive.to_owned()),
            None => (menge, preis),
        }
    };
    let made = items.iter().zip(totals).map(|(item, total)| {
        let (menge, preis) = line(item);
        Line { menge, preis, netto: total.as_str().unwrap(), satz: item["mwst_satz"].to_string() }
    });
    made.collect()
}

fn turned(number: &str) -> String {
    number.strip_prefix('-').map_or_else(|| format!("-{number}"), str::to_owned)
}

/// Elements that CII and ZUGFeRD 1 name differently.
struct Names([&'static str; 12]);

const CII: Names = Names([
    "CrossIndustryInvoice",
    "ExchangedDocument",
    "SupplyChainTradeTransaction",
    "ApplicableHeaderTradeAgreement",
    "ApplicableHeaderTradeDelivery",
    "ApplicableHeaderTradeSettlement",
    "SpecifiedTradeSettlementHeaderMonetarySummation",
    "RateApplicablePercent",
    "SpecifiedLineTradeAgreement",
    "SpecifiedLineTradeDelivery",
    "SpecifiedLineTradeSettlement",
    "SpecifiedTradeSettlementLineMonetarySummation",
]);

const ZUGFERD_1: Names = Names([
    "CrossIndustryDocument",
    "HeaderExchangedDocument",
    "SpecifiedSupplyChainTradeTransaction",
    "ApplicableSupplyChainTradeAgreement",
    "ApplicableSupplyChainTradeDelivery",
    "ApplicableSupplyChainTradeSettlement",
    "SpecifiedTradeSettlementMonetarySummation",
    "ApplicablePercent",
    "SpecifiedSupplyChainTradeAgreement",
    "SpecifiedSupplyChainTradeDelivery",
    "SpecifiedSupplyChainTradeSettlement",
    "SpecifiedTradeSettlementMonetarySummation",
]);

fn cii(case: &Value, names: &Names) -> String {
    let [root, document, trade, agreement, delivery, settlement, sums, percent, la, ld, ls, line_sum] =
        names.0;
    let mut xml = format!(
        "<r:{root} xmlns:r='urn:r' xmlns:a='urn:a'><r:{document}><a:ID>4711</a:ID><a:TypeCode>380</a:TypeCode>\
         </r:{document}><r:{trade}>"
    );
    for line in lines(case) {
        let Line { menge, preis, netto, satz } = line;
        write!(
            xml,
            "<a:IncludedSupplyChainTradeLineItem><a:SpecifiedTradeProduct><a:Name>W</a:Name>\
             </a:SpecifiedTradeProduct><a:{la}><a:NetPriceProductTradePrice>\
             <a:ChargeAmount>{preis}</a:ChargeAmount></a:NetPriceProductTradePrice></a:{la}><a:{ld}>\
             <a:BilledQuantity unitCode='KGM'>{menge}</a:BilledQuantity></a:{ld}><a:{ls}><a:ApplicableTradeTax>\
             <a:{percent}>{satz}</a:{percent}></a:ApplicableTradeTax><a:{line_sum}>\
             <a:LineTotalAmount>{netto}</a:LineTotalAmount></a:{line_sum}></a:{ls}>\
             </a:IncludedSupplyChainTradeLineItem>"
        )
        .unwrap();
    }
    let [netto, mwst, brutto] = totals(case);
    write!(
        xml,
        "<a:{agreement}><a:SellerTradeParty><a:Name>Mühle &amp; Söhne &#60;KG><!-- x \
         --></a:Name></a:SellerTradeParty></a:{agreement}><a:{delivery}/><a:{settlement}><a:{sums}>\
         <a:TaxBasisTotalAmount>{netto}</a:TaxBasisTotalAmount><a:TaxTotalAmount>{mwst}</a:TaxTotalAmount>\
         <a:GrandTotalAmount>{brutto}</a:GrandTotalAmount></a:{sums}></a:{settlement}></r:{trade}></r:{root}>"
    )
    .unwrap();
    xml
}

fn ubl(case: &Value, root: &str, quantity: &str) -> String {
    let [netto, mwst, brutto] = totals(case);
    let mut xml = format!(
        "<?xml version=\"1.0\"?><{root} xmlns='urn:u' xmlns:b='urn:b' xmlns:c='urn:c'><b:ID>4711</b:ID>\
         <c:AccountingSupplierParty><c:Party><c:PartyLegalEntity><b:RegistrationName><![CDATA[Mühle & Söhne <KG>]]>\
         </b:RegistrationName></c:PartyLegalEntity></c:Party></c:AccountingSupplierParty>\
         <c:TaxTotal><b:TaxAmount>{mwst}</b:TaxAmount></c:TaxTotal>\
         <c:LegalMonetaryTotal><b:TaxExclusiveAmount>{netto}</b:TaxExclusiveAmount>\
         <b:TaxInclusiveAmount>{brutto}</b:TaxInclusiveAmount></c:LegalMonetaryTotal>"
    );
    for Line { menge, preis, netto, satz } in lines(case) {
        write!(
            xml,
            "<c:{root}Line><b:{quantity} unitCode=\"KGM\">{menge}</b:{quantity}>\
             <b:LineExtensionAmount>{netto}</b:LineExtensionAmount><c:Item><b:Name>W</b:Name>\
             <c:ClassifiedTaxCategory><b:ID>S</b:ID><b:Percent>{satz}</b:Percent></c:ClassifiedTaxCategory></c:Item>\
             <c:Price><b:PriceAmount>{preis}</b:PriceAmount></c:Price></c:{root}Line>"
        )
        .unwrap();
    }
    write!(xml, "</{root}>").unwrap();
    xml
}

fn totals(case: &Value) -> [&str; 3] {
    ["summe_netto", "summe_mwst", "summe_brutto"].map(|sum| case["expected"][sum].as_str().unwrap())
}
