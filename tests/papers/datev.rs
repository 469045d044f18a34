//! The checker of DATEV's format (`datev/`): it accepts DATEV's own samples and the worked files of D32 to
//! D34, refuses each broken copy for its reason, and the tax that DATEV computes from the worked lines is
//! that of the documents.

// Amounts are cents: 4972_00 is 4972.00.
#![allow(clippy::inconsistent_digit_grouping)]

mod checker;

use checker::steuer::{open_items, recompute};
use checker::{Fault, Lenient, SAMPLE_STAMM, SAMPLE_STAPEL, check};
use encoding_rs::WINDOWS_1252;

const OCTOBER: &[u8] = include_bytes!("../data/datev/EXTF_Buchungsstapel_2026-10_7.csv");
const NOVEMBER: &[u8] = include_bytes!("../data/datev/EXTF_Buchungsstapel_2026-11_8.csv");
const STAMM: &[u8] = include_bytes!("../data/datev/EXTF_Debitoren_Kreditoren_7.csv");

fn passes(file: &[u8], lenient: &[Lenient]) -> checker::File {
    check(file, lenient).unwrap_or_else(|faults| {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        panic!("{}", faults.join("\n"))
    })
}

#[test]
fn the_samples_of_datev_pass() {
    let sample = passes(SAMPLE_STAPEL, Lenient::SAMPLE_STAPEL);
    assert_eq!((sample.kopf.version, sample.records.len()), (12, 54));
    assert_eq!(passes(SAMPLE_STAMM, &[]).records.len(), 4);
}

#[test]
fn each_leniency_is_needed_for_the_sample_and_covers_only_what_it_names() {
    let without = |left_out| {
        let rest: Vec<_> = Lenient::SAMPLE_STAPEL.iter().copied().filter(|one| *one != left_out).collect();
        let faults = check(SAMPLE_STAPEL, &rest).unwrap_err();
        faults.iter().map(|fault| (fault.line, fault.column)).collect::<Vec<_>>()
    };
    let quoted = without(Lenient::EmptyNumberQuoted);
    assert_eq!(quoted[..4], [(3, 19), (3, 44), (39, 108), (40, 108)]);
    assert_eq!(quoted.len(), 20);
    assert_eq!(without(Lenient::QuoteNotDoubled), [(4, 14)]);
    assert_eq!(without(Lenient::WholeEuros), [(5, 1)]);
    assert_eq!(without(Lenient::Key20), [(36, 9)]);
    let empty = without(Lenient::GeneralumkehrEmpty);
    assert!(empty.iter().all(|(_, column)| *column == 118), "{empty:?}");
}

#[test]
fn the_worked_files_pass() {
    assert_eq!(passes(OCTOBER, &[]).records.len(), 23);
    assert_eq!(passes(NOVEMBER, &[]).records.len(), 2);
    assert_eq!(passes(STAMM, &[]).records.len(), 3);
}

/// Document, account, rate, net, tax, tax on both sides, in cents; sales and purchases are both positive.
type Row = (&'static str, u64, u32, i64, i64, i64);

const WORKED: &[Row] = &[
    ("ER-2026-00042", 3540, 780, 4972_00, 387_82, 0),
    ("ER-2026-00043", 3540, 780, 4847_70, 378_12, 0),
    ("ER-2026-00044", 3540, 780, 4972_00, 387_82, 0),
    ("ER-2026-00044", 3541, 780, -124_30, -9_70, 0),
    ("ER-2026-00045", 3400, 1900, 100_00, 19_00, 0),
    ("ER-2026-00046", 4710, 1900, 50_00, 9_50, 0),
    ("ER-2026-00047", 3420, 700, 5000_00, 0, 350_00),
    ("ER-2026-00048", 3123, 1900, 800_00, 0, 152_00),
    ("ER-2026-00049", 3200, 0, 300_00, 0, 0),
    ("RE-2026-00017", 8300, 700, 6103_13, 427_22, 0),
    ("RE-2026-00018", 8300, 700, 1000_00, 70_00, 0),
    ("RE-2026-00018", 8400, 1900, 80_00, 15_20, 0),
    ("RE-2026-00019", 8300, 700, 100_00, 7_00, 0),
    ("RE-2026-00019", 8301, 700, 200_00, 14_00, 0),
    ("RE-2026-00020", 8300, 700, 10_10, 0, 0),
    ("RE-2026-00020", 8301, 700, 20_25, 2_12, 0),
    ("RE-2026-00021", 8125, 0, 10000_00, 0, 0),
    ("RE-2026-00022", 8120, 0, 2500_00, 0, 0),
    ("RE-2026-00023", 8300, 700, 99, 7, 0),
    ("RE-2026-00024", 8300, 700, 100_00, 7_00, 0),
    ("RE-2026-00024", 8301, 700, -100_00, -7_00, 0),
    ("RE-2026-00025", 8300, 700, 10_10, 0, 0),
    ("RE-2026-00025", 8301, 700, 20_25, 0, 0),
    ("RE-2026-00025", 8302, 700, -30_35, 0, 0),
    ("RE-2026-00031", 8300, 700, -6103_13, -427_22, 0),
    ("RE-2026-00032", 8300, 700, -100_00, -7_00, 0),
];

#[test]
fn the_tax_that_datev_computes_of_the_worked_lines_is_that_of_the_documents() {
    let mut rows = Vec::new();
    for file in [OCTOBER, NOVEMBER] {
        for (posten, betrag) in recompute(&passes(file, &[])).unwrap() {
            let sign = if posten.beleg.nummer.starts_with("RE") { -1 } else { 1 };
            let amounts = [betrag.netto, betrag.steuer, betrag.beidseitig].map(|cents| sign * cents);
            rows.push((posten.beleg.nummer, posten.konto, posten.satz, amounts));
        }
    }
    rows.sort();
    let worked = WORKED.iter().map(|row| (row.0.to_owned(), row.1, row.2, [row.3, row.4, row.5]));
    assert_eq!(rows, worked.collect::<Vec<_>>());
}

#[test]
fn open_items_are_the_totals_of_the_documents() {
    let october = open_items(&passes(OCTOBER, &[]));
    let of = |nummer: &str| {
        let mut found = october.iter().filter(|(beleg, _)| beleg.nummer == nummer);
        found.next().map(|(beleg, cents)| (beleg.belegfeld1.clone(), *cents))
    };
    assert_eq!(of("RE-2026-00018"), Some(("RE-2026-00018".to_owned(), 1165_20)));
    assert_eq!(of("RE-2026-00020"), Some(("RE-2026-00020".to_owned(), 32_47)));
    assert_eq!(of("ER-2026-00044"), Some(("ER-2026-00044".to_owned(), -5225_82)));
    assert_eq!(of("ER-2026-00045"), Some(("R2026/4711-".to_owned(), -119_00)));
    assert_eq!(of("RE-2026-00024"), Some(("RE-2026-00024".to_owned(), 0)));
    assert_eq!(of("RE-2026-00025"), None);
    let november: Vec<_> = open_items(&passes(NOVEMBER, &[])).into_values().collect();
    assert_eq!(november, [-6530_35, -107_00]);
}

#[test]
fn what_datev_would_compute_is_not_guessed() {
    let sample = recompute(&passes(SAMPLE_STAPEL, Lenient::SAMPLE_STAPEL));
    assert_eq!(sample.unwrap_err(), "line 36: key 20 is not known");
    let twice = edited(OCTOBER, 3, 7, "8400");
    let twice = edited(&twice, 3, 117, "");
    assert_eq!(recompute(&passes(&twice, &[])).unwrap_err(), "line 3: both accounts have an automatic");
    let before = edited(OCTOBER, 1, 13, "20240101");
    let before = edited(&edited(&before, 1, 15, "20241001"), 1, 16, "20241031");
    let reason = "line 10: the rate of the account in that year is not known";
    assert_eq!(recompute(&passes(&before, &[])).unwrap_err(), reason);
}

/// The file with one field replaced, exactly as given.
fn edited(file: &[u8], line: usize, column: usize, raw: &str) -> Vec<u8> {
    let text = checker::raw::decoded(file);
    let mut lines: Vec<_> = text.split("\r\n").map(str::to_owned).collect();
    let mut fields: Vec<_> = lines[line - 1].split(';').map(str::to_owned).collect();
    assert_ne!(fields[column - 1], raw, "nothing is broken");
    raw.clone_into(&mut fields[column - 1]);
    lines[line - 1] = fields.join(";");
    let encoded = WINDOWS_1252.encode(&lines.join("\r\n")).0.into_owned();
    assert_ne!(encoded, file);
    encoded
}

/// Asserts that the file is refused only for this reason, at this place.
fn refused(file: &[u8], line: usize, column: usize, reason: &str) {
    let faults = check(file, &[]).expect_err(reason);
    assert_eq!(faults, [Fault { line, column, reason: reason.to_owned() }]);
}

/// Line and column of a field, its new content, and the reason; the fault is at that place.
type Broken = (usize, usize, &'static str, &'static str);

const HEADER: &[Broken] = &[
    (1, 1, "\"DTVF\"", "the mark is not EXTF"),
    (1, 2, "510", "the version of the header is not 700"),
    (1, 3, "\"21\"", "a number in quotes"),
    (1, 3, "20", "neither category 21 nor 16"),
    (1, 5, "11", "the version is none of [12, 13]"),
    (1, 6, "20261102", "not an instant YYYYMMDDHHMMSSFFF"),
    (1, 6, "20261102250000000", "not an instant YYYYMMDDHHMMSSFFF"),
    (1, 7, "20261102", "is reserved and stays empty"),
    (1, 8, "\"PDX\"", "3 characters are more than 2"),
    (1, 9, "\"partnerd of the mill at Kallmünz\"", "32 characters are more than 25"),
    (1, 11, "1000", "not a number from 1001 to 9999999"),
    (1, 12, "100000", "not a number from 1 to 99999"),
    (1, 13, "20260230", "not a day YYYYMMDD"),
    (1, 14, "9", "not a number from 4 to 8"),
    (1, 15, "20261032", "not a day YYYYMMDD"),
    (1, 16, "20261301", "not a day YYYYMMDD"),
    (1, 16, "20270131", "the period spans two fiscal years"),
    (1, 17, "\"Stapel 7: Oktober\"", "a character other than letters, digits, _ . - / and blank"),
    (1, 17, "\"partnerd 2026-10 Stapel 7 von 12\"", "32 characters are more than 30"),
    (1, 18, "\"wd\"", "not two capitals"),
    (1, 19, "3", "not 1 or 2"),
    (1, 20, "1", "not 0, 30, 40, 50 or 64"),
    (1, 21, "2", "not 0 or 1"),
    (1, 22, "\"CHF\"", "the currency is not EUR"),
    (1, 24, "\"X\"", "is reserved and stays empty"),
    (1, 27, "\"3\"", "not two digits"),
    (1, 31, "\"partnerd-1234567890\"", "19 characters are more than 16"),
];

const RECORDS: &[Broken] = &[
    (2, 9, "BU", "the column is called BU instead of BU-Schlüssel"),
    (
        2,
        1,
        "\"Umsatz (ohne Soll/Haben-Kz)\"",
        "the column is called \"Umsatz (ohne Soll/Haben-Kz)\" instead of Umsatz (ohne Soll/Haben-Kz)",
    ),
    (3, 1, "6530.35", "not a number"),
    (3, 1, "6530,3", "not an amount with two decimals"),
    (3, 1, "-6530,35", "not an amount with two decimals"),
    (3, 1, "6530", "not an amount with two decimals"),
    (3, 1, "12345678901,00", "not an amount with two decimals"),
    (3, 1, "0,00", "an amount of 0"),
    (3, 2, "\"D\"", "not S or H"),
    (3, 2, "S", "a text without quotes"),
    (3, 3, "\"€\"", "not a currency"),
    (3, 7, "\"10023\"", "a number in quotes"),
    (3, 7, "100230", "more than 5 digits"),
    (3, 8, "", "not an account"),
    (3, 8, "0", "not an account"),
    (3, 9, "\"3\"", "key 3 on an account that has its automatic"),
    (3, 9, "\"20\"", "key 20 on an account that has its automatic"),
    (15, 9, "\"40\"", "key 40, but no account has an automatic to suspend"),
    (15, 9, "\"40100\"", "5 characters are more than 4"),
    (15, 9, "\"4x\"", "not a key"),
    (3, 10, "310", "not a day DDMM"),
    (3, 10, "\"1210\"", "a number in quotes"),
    (3, 10, "3210", "not a day of the period in the header"),
    (3, 10, "1211", "not a day of the period in the header"),
    (14, 11, "\"R 2026/4711-\"", "a character other than letters, digits and _ $ & % * + - /"),
    (14, 11, "\"ä\"", "a character other than letters, digits and _ $ & % * + - /"),
    (3, 11, "\"1234567890123456789012345678901234567\"", "37 characters are more than 36"),
    (3, 12, "\"1234567890123\"", "13 characters are more than 12"),
    (
        3,
        14,
        "\"Müller Mühle mit einem Namen, der länger ist als 60 Zeichen -\"",
        "61 characters are more than 60",
    ),
    (3, 14, "\"Müller \"Mühle\" GmbH\"", "a quote inside of a text is not doubled"),
    (3, 14, "\"Müller\tMühle\"", "the control character '\\t'"),
    (3, 14, "Müller", "a text without quotes"),
    (3, 19, "\"\"", "a number in quotes"),
    (3, 37, "\"1234567890123456789012345678901234567\"", "37 characters are more than 36"),
    (3, 40, "\"ATU1358562789012\"", "16 characters are more than 15"),
    (3, 48, "\"Nummer des Lieferanten\"", "22 characters are more than 20"),
    (3, 114, "1", "locks the Stapel, but the header says 0"),
    (3, 114, "", "locks the Stapel, but the header says 0"),
    (3, 114, "2", "not 0 or 1"),
    (3, 117, "31112026", "not a day DDMMYYYY"),
    (3, 117, "20261111", "not a day DDMMYYYY"),
    (9, 117, "12112026", "a due date without a Personenkonto"),
    (3, 118, "\"2\"", "not 0, 1 or G"),
    (3, 118, "\"\"", "not 0, 1 or G"),
    (3, 118, "0", "a text without quotes"),
];

const MASTER: &[Broken] = &[
    (1, 15, "20261001", "master data have no period"),
    (1, 4, "\"Debitoren\"", "category 16 is called Debitoren/Kreditoren"),
    (2, 45, "IBAN", "the column is called IBAN instead of IBAN-Nr. 1"),
    (3, 1, "7007", "not a Personenkonto of 5 digits"),
    (3, 1, "700070", "not a Personenkonto of 5 digits"),
    (3, 7, "\"3\"", "not 0, 1 or 2"),
    (3, 7, "2", "a text without quotes"),
    (3, 16, "\"Straße der Deutsch-Sowjetischen Freundschaft 3\"", "46 characters are more than 36"),
    (3, 19, "\"Hellschen-Heringsand-Unterschaar\"", "32 characters are more than 30"),
    (3, 26, "\"1\"", "a number in quotes"),
    (3, 27, "32012026", "not a day DDMMYYYY"),
    (3, 50, "2026", "not a day DDMMYYYY"),
    (4, 111, "2.00", "not a number"),
    (3, 116, "1000", "4 characters are more than 3"),
    (3, 99, "\"1234567890123456\"", "16 characters are more than 15"),
];

#[test]
fn one_wrong_field_is_refused_for_its_reason() {
    for (file, table) in [(OCTOBER, HEADER), (OCTOBER, RECORDS), (STAMM, MASTER)] {
        for (line, column, raw, reason) in table {
            let broken = edited(file, *line, *column, raw);
            let faults = check(&broken, &[]).err().unwrap_or_default();
            let named = Fault { line: *line, column: *column, reason: (*reason).to_owned() };
            let named = faults.contains(&named);
            assert!(named, "line {line}, column {column}, {raw}: {faults:#?}");
            let elsewhere = faults.iter().filter(|fault| fault.line != *line && *line > 1);
            assert_eq!(elsewhere.count(), 0, "{raw}: {faults:#?}");
        }
    }
}

#[test]
fn a_file_broken_as_a_whole_is_refused_for_its_reason() {
    let replaced = |from: &str, to: &str| {
        let text = checker::raw::decoded(OCTOBER);
        assert!(text.contains(from));
        WINDOWS_1252.encode(&text.replacen(from, to, 1)).0.into_owned()
    };
    let with_bom = [&[0xEF, 0xBB, 0xBF], OCTOBER].concat();
    let faults = check(&with_bom, &[]).unwrap_err();
    assert_eq!(faults[0].reason, "a byte order mark: the file is Unicode, not Windows-1252");

    let utf8 = checker::raw::decoded(OCTOBER).into_bytes();
    let faults = check(&utf8, &[]).unwrap_err();
    assert_eq!(
        faults[0],
        Fault { line: 2, column: 0, reason: "the line is UTF-8, not Windows-1252".to_owned() }
    );

    // A line that ends with LF runs into the next one.
    let faults =
        check(&replaced("\"0\";;\"\";\"\";;\"\";;\r\n1070,00", "\"0\";;\"\";\"\";;\"\";;\n1070,00"), &[])
            .unwrap_err();
    assert!(faults.iter().any(|fault| (fault.line, fault.column) == (3, 125)), "{faults:?}");
    refused(&OCTOBER[..OCTOBER.len() - 2], 25, 0, "the line does not end with CR LF");
    refused(&[OCTOBER, b"\r\n"].concat(), 26, 0, "1 fields instead of 125");
    refused(&replaced(";\"Müller Mühle GmbH\";", ";"), 3, 0, "124 fields instead of 125");
    refused(&replaced(";\"S\";", ";\"S\";;"), 3, 0, "126 fields instead of 125");
    refused(&replaced(";Abw. Skontokonto", ""), 2, 0, "124 names instead of 125");
    refused(&replaced("\"EXTF\";700", "\"EXTF\";;700"), 1, 0, "32 fields instead of 31");
    refused(b"", 1, 0, "header or names of the columns are missing");
    // 0x81 is undefined in Windows-1252.
    let mut undefined = OCTOBER.to_vec();
    let at = undefined.iter().rposition(|byte| *byte == b'A').unwrap();
    undefined[at] = 0x81;
    refused(&undefined, 25, 14, "the control character '\\u{81}'");
}

#[test]
fn more_than_99999_records_are_refused() {
    let first: Vec<_> = OCTOBER.split_inclusive(|byte| *byte == b'\n').take(2).collect();
    let reasons = |count| {
        let file = [&first.concat()[..], &b"x\r\n".repeat(count)].concat();
        let mut reasons: Vec<_> =
            check(&file, &[]).unwrap_err().into_iter().map(|fault| fault.reason).collect();
        reasons.dedup();
        reasons
    };
    assert_eq!(reasons(checker::MAX_RECORDS), ["1 fields instead of 125"]);
    assert_eq!(reasons(checker::MAX_RECORDS + 1), ["100000 records are more than 99999"]);
}

/// The lines of October with each account replaced.
fn renumbered(header: &[(usize, &str)], konto: impl Fn(&str) -> String) -> Vec<u8> {
    let header = header.iter().fold(OCTOBER.to_vec(), |file, (column, raw)| edited(&file, 1, *column, raw));
    let text = checker::raw::decoded(&header);
    let line = |(index, line): (usize, &str)| {
        let mut fields: Vec<_> = line.split(';').map(str::to_owned).collect();
        if index >= 2 && fields.len() > 8 {
            fields[6] = konto(&fields[6]);
            fields[7] = konto(&fields[7]);
        }
        fields.join(";")
    };
    let lines: Vec<_> = text.split("\r\n").enumerate().map(line).collect();
    WINDOWS_1252.encode(&lines.join("\r\n")).0.into_owned()
}

#[test]
fn skr04_and_longer_accounts_are_computed_alike() {
    let amounts = |file: &[u8]| {
        let mut sums: Vec<_> = recompute(&passes(file, &[])).unwrap().into_iter().collect();
        sums.sort_by_key(|(posten, betrag)| (posten.beleg.clone(), posten.satz, betrag.netto));
        sums.into_iter()
            .map(|(posten, betrag)| (posten.beleg.nummer, posten.satz, betrag))
            .collect::<Vec<_>>()
    };
    let skr04 = renumbered(&[(27, "\"04\"")], |konto| {
        let pairs = [
            ("8300", "4300"),
            ("8301", "4301"),
            ("8302", "4302"),
            ("8400", "4400"),
            ("8125", "4125"),
            ("8120", "4120"),
            ("3540", "5540"),
            ("3541", "5541"),
            ("3400", "5400"),
            ("3420", "5420"),
            ("3123", "5923"),
            ("3200", "5200"),
        ];
        pairs.iter().find(|pair| pair.0 == konto).map_or(konto, |pair| pair.1).to_owned()
    });
    assert_eq!(amounts(&skr04), amounts(OCTOBER));
    let six_digits = renumbered(&[(14, "6")], |konto| format!("{konto}00"));
    assert_eq!(amounts(&six_digits), amounts(OCTOBER));
    // Nobody knows the functions of an own chart, so there is nothing to suspend.
    let faults = check(&renumbered(&[(27, "\"99\"")], str::to_owned), &[]).unwrap_err();
    assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [9, 24, 25]);
}
