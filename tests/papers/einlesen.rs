//! Reading e-invoices of others (D28): samples of every syntax, invoices with official totals written in four
//! syntaxes, and broken or hostile files.

mod feindlich;
mod syntaxen;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use partnerd::papers::erechnung::lesen::{Gelesen, Posten, Unlesbar, posten, read, verstoesse};
use partnerd::rules::fixed::Money;
use partnerd::rules::price::line_total;
use partnerd::rules::tax::Summen;
use serde_json::Value;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// A sample, decompressed if necessary.
pub fn sample(name: &str) -> Vec<u8> {
    let packed = fs::read(root("papers/einlesen/beispiele").join(name)).unwrap();
    if !name.ends_with(".gz") {
        return packed;
    }
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut content).unwrap();
    content
}

/// The names of all samples that contain an invoice.
pub fn samples() -> Vec<String> {
    let entries = fs::read_dir(root("papers/einlesen/beispiele")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".gz") || name.ends_with(".pdf")).collect();
    names.sort();
    assert!(names.len() > 15, "{names:?}");
    names
}

/// Net, tax and gross of the items; `None` if a rate is unknown.
fn sums(posten: &[Posten]) -> Option<Summen> {
    let line = |posten: &Posten| {
        let total = line_total(posten.menge, posten.ep_netto, posten.rabatt_prozent).unwrap();
        Some((total, posten.mwst_satz?))
    };
    Some(Summen::of(posten.iter().map(line).collect::<Option<Vec<_>>>()?).unwrap())
}

fn shown(summen: Summen) -> String {
    format!("{} {} {}", summen.netto, summen.mwst, summen.brutto)
}

/// A sample, and the data read from it: syntax, seller, VAT id or tax number, number, lines, items and their sums.
const SAMPLES: &[(&str, &str)] = &[
    ("factur-x-basic.xml.gz", EN16931),
    (
        "factur-x-basicwl.xml.gz",
        r#"cii "LE FOURNISSEUR" FR11123456782 F20260023, 0 lines, 4 items, 100.00 4.90 104.90"#,
    ),
    ("factur-x-en16931.xml.gz", EN16931),
    ("factur-x-extended.xml.gz", EN16931),
    ("factur-x-minimum.xml.gz", MINIMUM),
    ("ubl-21-en16931.xml.gz", UBL),
    ("ubl-21-extended-ctc-fr.xml.gz", UBL),
    (
        "zugferd-basic.xml.gz",
        r#"zugferd1 "Lieferant GmbH" DE123456789 471102, 1 lines, 1 items, 198.00 37.62 235.62"#,
    ),
    ("zugferd-comfort.xml.gz", ZUGFERD_1),
    (
        "zugferd-extended.xml.gz",
        r#"zugferd1 "MUSTERLIEFERANT GMBH" 5133081508159 KR87654321012, 5 lines, 7 items, 1056.05 200.65 1256.70"#,
    ),
    ("facturx-basic.pdf", EN16931),
    ("linear.pdf", MINIMUM),
    ("objektstroeme.pdf", MINIMUM),
    ("xrechnung.pdf", UBL),
    ("zugferd1.pdf", ZUGFERD_1),
];

const EN16931: &str =
    r#"cii "LE FOURNISSEUR" FR11123456782 F20260023, 3 lines, 11 items, 100.00 4.90 104.90"#;
/// It has neither lines nor rates, so the sums of its items are unknown.
const MINIMUM: &str = r#"cii "LE FOURNISSEUR" FR11123456782 F20260023, 0 lines, 1 items, -"#;
const UBL: &str = r#"ubl "Au bon moulin" FR11999999998 F124212, 2 lines, 5 items, 273.00 35.03 308.03"#;
const ZUGFERD_1: &str =
    r#"zugferd1 "Lieferant GmbH" DE123456789 471102, 2 lines, 2 items, 473.00 56.87 529.87"#;

fn described(gelesen: &Gelesen) -> String {
    let party = &gelesen.verkaeufer;
    let number = party.ust_id.as_deref().or(party.steuernummer.as_deref()).unwrap();
    let items = posten(gelesen).unwrap();
    assert!(items.iter().all(|posten| posten.ist_genau), "{items:?}");
    format!(
        "{} {:?} {number} {}, {} lines, {} items, {}",
        gelesen.format.as_str(),
        party.name,
        gelesen.nummer.as_deref().unwrap(),
        gelesen.zeilen.len(),
        items.len(),
        sums(&items).map_or("-".to_owned(), shown),
    )
}

#[test]
fn samples_are_read_with_their_partner_lines_and_totals() {
    let mut named: Vec<_> = SAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    named.sort();
    let mut there = samples();
    there.retain(|name| read(&sample(name)).is_ok());
    assert_eq!(named, there);
    for (name, expected) in SAMPLES {
        let gelesen = read(&sample(name)).unwrap();
        assert_eq!(described(&gelesen), *expected, "{name}");
        assert_eq!(verstoesse(&gelesen), [], "{name}");
        let printed = [gelesen.summen.netto, gelesen.summen.mwst, gelesen.summen.brutto];
        let printed = printed.map(|sum| sum.unwrap().to_string()).join(" ");
        assert!(expected.ends_with(&printed) || *expected == MINIMUM, "{name}: {printed}");
    }
}

/// The hint about a value that cannot be read: ZUGFeRD's own sample has a month 91.
#[test]
fn what_cannot_be_read_is_said() {
    let gelesen = read(&sample("zugferd-extended.xml.gz")).unwrap();
    let [zweifel] = gelesen.zweifel.as_slice() else { panic!("{:?}", gelesen.zweifel) };
    assert!(zweifel.contains("20139102"), "{zweifel}");
    assert_eq!(gelesen.leistung_von, None);
}

#[test]
fn what_the_figures_break_is_named() {
    let text = String::from_utf8(sample("zugferd-comfort.xml.gz")).unwrap();
    let table = [
        ("<ram:GrandTotalAmount currencyID=\"EUR\">529.87", "<ram:GrandTotalAmount>529.88", "BR-CO-15"),
        ("<ram:TaxTotalAmount currencyID=\"EUR\">56.87", "<ram:TaxTotalAmount>56.88", "BR-CO-14 BR-CO-15"),
        (
            "<ram:TaxBasisTotalAmount currencyID=\"EUR\">473.00",
            "<ram:TaxBasisTotalAmount>473.01",
            "BR-CO-13 BR-CO-15",
        ),
        // A wrong total of a line, and a wrong sum of them (BT-106).
        ("<ram:LineTotalAmount currencyID=\"EUR\">198.00", "<ram:LineTotalAmount>198.01", "BR-CO-10"),
        (
            "<ram:LineTotalAmount currencyID=\"EUR\">473.00",
            "<ram:LineTotalAmount>473.01",
            "BR-CO-10 BR-CO-13",
        ),
        (
            "<ram:CalculatedAmount currencyID=\"EUR\">37.62",
            "<ram:CalculatedAmount>37.61",
            "BR-CO-14 BR-CO-17",
        ),
    ];
    for (from, to, expected) in table {
        assert!(text.contains(from), "{from}");
        let gelesen = read(text.replacen(from, to, 1).as_bytes()).unwrap();
        let broken: Vec<_> = verstoesse(&gelesen).iter().map(|verstoss| verstoss.regel).collect();
        assert_eq!(broken.join(" "), expected, "{to}");
    }
}

/// The invoices of tests/data/einvoice.json, written in each syntax, have the totals printed by their authors.
#[test]
fn invoices_with_official_totals_come_to_them_in_every_syntax() {
    let corpus: Value = serde_json::from_slice(&fs::read(root("data/einvoice.json")).unwrap()).unwrap();
    let groups = ["clean", "derived", "rabatt"];
    let cases: Vec<_> = groups.iter().flat_map(|group| corpus[group].as_array().unwrap()).collect();
    assert_eq!(cases.len(), 76);
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let amount = |of: &Value| Money::parse(of.as_str().unwrap()).unwrap().value;
        let expected =
            ["summe_netto", "summe_mwst", "summe_brutto"].map(|sum| amount(&case["expected"][sum]));
        let totals: Vec<_> =
            case["expected"]["gesamtpreise"].as_array().unwrap().iter().map(amount).collect();
        for (syntax, write) in syntaxen::ALL {
            let gelesen = read(write(case).as_bytes()).unwrap_or_else(|e| panic!("{id} as {syntax}: {e:?}"));
            let items = posten(&gelesen).unwrap();
            let turned = |amount: Money| if *syntax == "CreditNote" { -amount } else { amount };
            let lines = items.iter().map(|p| line_total(p.menge, p.ep_netto, p.rabatt_prozent).unwrap());
            assert_eq!(lines.map(turned).collect::<Vec<_>>(), totals, "{id} as {syntax}");
            let summen = sums(&items).unwrap();
            assert_eq!([summen.netto, summen.mwst, summen.brutto].map(turned), expected, "{id} as {syntax}");
            assert!(gelesen.zweifel.is_empty(), "{id} as {syntax}: {:?}", gelesen.zweifel);
            assert_eq!(gelesen.verkaeufer.name, "Mühle & Söhne <KG>", "{id} as {syntax}");
        }
    }
}

/// The types (BT-3) in the lists of EN 16931, and how each is read: R an invoice, G a credit note, - not.
const TYPES: &str = "71R 80R 82R 84R 102R 130R 202R 203R 204R 211R 218R 219R 295R 326R 331R 380R 382R 383R 384R \
                     385R 386R 387R 388R 390R 393R 394R 395R 456R 457R 471R 472R 473R 500R 501R 527R 553R 575R \
                     623R 633R 780R 817R 870R 875R 876R 877R 935R 81G 83G 262G 296G 308G 381G 396G 420G 458G \
                     502G 503G 532G 751- 325- 389- 261- 351- 220- 0- 3801- X-";

#[test]
fn documents_are_read_by_their_type() {
    let cii = String::from_utf8(sample("factur-x-en16931.xml.gz")).unwrap();
    let ubl = String::from_utf8(sample("ubl-21-en16931.xml.gz")).unwrap();
    assert!(cii.contains("<ram:TypeCode>380<") && ubl.contains("InvoiceTypeCode>380<"));
    for case in TYPES.split_whitespace() {
        let (typ, expected) = case.split_at(case.len() - 1);
        for text in [&cii, &ubl] {
            let file = text.replacen("Code>380<", &format!("Code>{typ}<"), 1);
            let found = match read(file.as_bytes()) {
                Ok(gelesen) => {
                    if gelesen.ist_gutschrift {
                        "G"
                    } else {
                        "R"
                    }
                }
                Err(Unlesbar::KeineRechnung(_)) => "-",
                Err(error) => panic!("{typ}: {error:?}"),
            };
            assert_eq!(found, expected, "{typ}");
        }
    }
    // The type given by a UBL CreditNote counts, and a document without a type is an invoice.
    let credit =
        b"<CreditNote><LegalMonetaryTotal/><CreditNoteTypeCode>380</CreditNoteTypeCode></CreditNote>";
    assert!(read(credit).unwrap().ist_gutschrift);
    assert!(!read(b"<Invoice><LegalMonetaryTotal/></Invoice>").unwrap().ist_gutschrift);
}

#[test]
fn hostile_and_broken_files_are_refused_with_a_sentence() {
    for (name, bytes, expected) in feindlich::all() {
        let (sentence, is_file) = match read(&bytes) {
            Err(Unlesbar::Datei(sentence)) => (sentence, true),
            Err(Unlesbar::KeineRechnung(sentence)) => (sentence, false),
            Ok(gelesen) => panic!("{name}: {gelesen:?}"),
        };
        let found = format!("{}: {sentence}", if is_file { "Datei" } else { "Rechnung" });
        assert!(found.starts_with(expected.0) && found.contains(expected.1), "{name}: {found}");
        assert!(sentence.ends_with(['.', ')']) && sentence.len() < 400, "{name}: {sentence}");
    }
}

/// The reader counts how often it looks at a byte and refuses a file that requires too many looks. These
/// files do not: the work is proportional to their size.
#[test]
fn no_piece_of_a_pdf_is_read_again_and_again() {
    for (piece, bytes) in feindlich::repeated() {
        let refused = read(&bytes).unwrap_err();
        assert!(matches!(&refused, Unlesbar::KeineRechnung(_)), "{piece}: {refused:?}");
    }
}

/// Texts and lists of a file are bounded, and reading ends.
#[test]
fn texts_and_lists_are_bounded() {
    let long = "9".repeat(1 << 20);
    let account = "<PaymentMeans><PayeeFinancialAccount><ID>DE89370400440532013000</ID></PayeeFinancialAccount>\
                   </PaymentMeans>";
    let xml = format!(
        "<Invoice><AccountingSupplierParty><Party><PartyName><Name>{long}</Name></PartyName></Party>\
         </AccountingSupplierParty>{}<LegalMonetaryTotal/><InvoiceLine><LineExtensionAmount>5</LineExtensionAmount>\
         <Item><Name>{long}</Name><Description>{long}x</Description><SellersItemIdentification><ID>{long}</ID>\
         </SellersItemIdentification></Item></InvoiceLine></Invoice>",
        account.repeat(1_000)
    );
    let gelesen = read(xml.as_bytes()).unwrap();
    assert_eq!((gelesen.verkaeufer.name.len(), gelesen.ibans.len()), (4_000, 10));
    assert_eq!(gelesen.zeilen[0].verkaeufer_nr, None);
    let items = posten(&gelesen).unwrap();
    let lengths = (items[0].bezeichnung.len(), items[0].langtext.as_ref().map(String::len));
    assert_eq!(lengths, (255, None), "cut, both texts are the same");
    let groups = "<TaxSubtotal><TaxableAmount>1</TaxableAmount></TaxSubtotal>".repeat(1_001);
    let xml =
        xml.replace("<LegalMonetaryTotal/>", &format!("<TaxTotal>{groups}</TaxTotal><LegalMonetaryTotal/>"));
    assert!(posten(&read(xml.as_bytes()).unwrap()).is_err());
}

#[test]
fn odd_files_that_hold_an_invoice_are_read() {
    for (name, bytes) in feindlich::odd().into_iter().chain(feindlich::nested_and_updated()) {
        let gelesen = read(&bytes).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(gelesen.nummer.as_deref(), Some("F20260023"), "{name}");
    }
}

/// A few thousand files, each a sample that was cut, flipped or duplicated somewhere: each is read or
/// refused, and the data read are bounded.
#[test]
fn no_damage_makes_it_panic() {
    let samples: Vec<_> = samples().iter().map(|name| sample(name)).collect();
    let mut chance = feindlich::Chance(0x9e37_79b9_7f4a_7c15);
    let (mut whole, mut refused) = (0, 0);
    for round in 0..4_000 {
        let bytes = chance.damaged(&samples[round % samples.len()]);
        match read(&bytes) {
            Ok(gelesen) => {
                whole += 1;
                assert!(gelesen.zeilen.len() <= 1_000 && gelesen.zweifel.len() <= 50);
                let items = posten(&gelesen).unwrap();
                assert!(items.iter().all(|p| p.bezeichnung.chars().count() <= 255), "{items:?}");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(whole > 400 && refused > 400, "{whole} read, {refused} refused");
}
