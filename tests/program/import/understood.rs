//! Files whose header, dates or rows must be understood, and those with something that was probably not meant.

use super::corpus::{Case, HEAD, case, refused, stored};
use super::sheets::{ods_of, sheet_data, table, xlsx_of, xlsx_with};

pub fn headers() -> Vec<Case> {
    let kunden = |name, text: &str, expected| case(name, "kunden", text, expected);
    let artikel = |name, text: &str, expected| case(name, "artikel", text, expected);
    vec![
        kunden(
            "titles above the header",
            "Kundenliste 2026\nStand: 3.2.2026\n\nKundennr;Name\n1;Hof\n",
            stored(&["1|Hof||"]),
        ),
        kunden(
            "titles of as many cells",
            "Kundenliste;;\n;;\nNr.;Firma;Ort\n1;Hof;Ulm\n",
            stored(&["1|Hof||Ulm"]),
        ),
        kunden("a line that says the separator", "sep=,\nNr,Firma\n1,Hof\n", stored(&["1|Hof||"])),
        kunden(
            "a title with other separators",
            "Liste, Stand; heute\nNr,Firma\n1,Hof\n",
            stored(&["1|Hof||"]),
        ),
        kunden(
            "words of other programs",
            "Kunden-Nr.;Firma;Postleitzahl;Wohnort\n1;Hof;01234;Ulm\n",
            stored(&["1|Hof|01234|Ulm"]),
        ),
        kunden(
            "a word beside its name",
            "kundennr;name;PLZ;Postleitzahl\n1;Hof;01234;99999\n",
            stored(&["1|Hof|01234|"]),
        ),
        kunden(
            "two words for one column",
            "Nr.;Firma;Unternehmen\n1;Hof;Gut\n",
            refused(&["Zeile 1", "\"Firma\" und \"Unternehmen\"", "nachname_firma"]),
        ),
        kunden(
            "as many titles as may be, of as many columns",
            &format!("{}kundennr;name\n", format!("{}\n", "Titel;".repeat(999)).repeat(19)),
            stored(&[]),
        ),
        kunden(
            "a header below too many titles",
            &format!("{}kundennr;name\n", "Titel\n".repeat(20)),
            refused(&["ersten 20 Zeilen"]),
        ),
        kunden("a header alone", "kundennr;name\n", stored(&[])),
        kunden(
            "an old word in a mistake",
            "Nr.;Firma;LKZ\n1;Hof;Narnia\n",
            refused(&["Zeile 2, Spalte LKZ (staat)"]),
        ),
        artikel("the short number for the number", "Artikel-Nr.;Bezeichnung\n7;A\n", stored(&["7||0"])),
        artikel("both numbers", "Artikelnummer;artikelnr;Bezeichnung\n7;8;A\n", stored(&["7||0"])),
        artikel(
            "a price by its word",
            "Artikelnummer;Bezeichnung;VK netto\n7;A;1,50\n",
            stored(&["7|1500000|0"]),
        ),
        artikel(
            "a price of another unit",
            "Artikelnummer;Bezeichnung;Preis €/dt\n7;A;1,50\n",
            stored(&["7||0"]),
        ),
    ]
}

pub fn moments() -> Vec<Case> {
    let kontrakt = |name, day: &str, expected| {
        case(name, "kontrakte", format!("kontrakt_nr;gueltig_von\nK;{day}\n"), expected)
    };
    let bon = |name, at: &str, expected| {
        let text = format!("bon_nr;kassiert_at;bezeichnung;menge;einzelpreis;mwst_satz\n1;{at};A;1;1;7\n");
        case(name, "barverkaeufe", text, expected)
    };
    let books = [("false", "46349"), ("true", "44887")].map(|(is_1904, days)| {
        let sheet = sheet_data(&[&["kontrakt_nr", "gueltig_von"], &["K", &format!("n:{days}")]]);
        let workbook = format!(
            r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><workbookPr date1904="{is_1904}"/><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>"#
        );
        xlsx_with(&[("A", "visible", &sheet)], &[("xl/workbook.xml", &workbook)])
    });
    let [since_1900, since_1904] = books;
    vec![
        kontrakt("a German day", "23.11.2026", stored(&["K|2026-11-23"])),
        kontrakt("a German day and time", "23.11.2026 09:12", stored(&["K|2026-11-23"])),
        kontrakt("the number of a day", "46349", stored(&["K|2026-11-23"])),
        kontrakt("a year is no day", "2026", refused(&["Zeile 2, Spalte gueltig_von", "2026", "31.07.2026"])),
        kontrakt("a day that is none", "31.02.2026 09:12", refused(&["Zeile 2, Spalte gueltig_von"])),
        case("the number of a day in a workbook", "kontrakte", since_1900, stored(&["K|2026-11-23"]))
            .named("data.xlsx"),
        case("the number of a day since 1904", "kontrakte", since_1904, stored(&["K|2026-11-23"]))
            .named("data.xlsx"),
        bon("a time in winter", "23.11.2026 09:12", stored(&["1|2026-11-23T08:12:00"])),
        bon("a time in summer", "1.7.2026 9:12:30 Uhr", stored(&["1|2026-07-01T07:12:30"])),
        bon(
            "a time that comes twice",
            "25.10.2026 02:30",
            refused(&["Zeile 2, Spalte kassiert_at", "Zeitumstellung"]),
        ),
        bon("a time that never comes", "29.03.2026 02:30", refused(&["Zeile 2, Spalte kassiert_at"])),
    ]
}

/// Each is refused by name, and stored unchanged if the warning is accepted.
pub fn suspicious() -> Vec<Case> {
    let artikel = |name, rows: &str| {
        (
            "artikel",
            name,
            format!("artikelnummer;bezeichnung;preis;einheit;mwst_satz\n{rows}").into_bytes(),
            "data.csv",
        )
    };
    let rows: [&[&str]; 2] = [&HEAD, &["1", "Hof", "01234", "Ulm"]];
    let (data, other) = (sheet_data(&rows), sheet_data(&[&["Notiz"]]));
    let hidden = data.replace("<row r=\"2\">", "<row r=\"2\" hidden=\"1\">");
    let collapsed = table("A", "ta1", &[&HEAD]).replace(
        "</table:table>",
        "<table:table-row table:visibility=\"filter\"><table:table-cell \
         office:value-type=\"string\"><text:p>1</text:p></table:table-cell><table:table-cell \
         office:value-type=\"string\"><text:p>Hof</text:p></table:table-cell></table:table-row></table:table>",
    );
    let two = format!("{}{}", table("A", "ta1", &rows), table("Alt", "ta1", &[&["Notiz"]]));
    let empty = format!("{}{}", table("A", "ta1", &rows), table("Leer", "ta1", &[]));
    let one = || stored(&["1|Hof|01234|Ulm"]);
    let doubtful: [(_, _, &'static [&'static str], _); 10] = [
        (
            artikel("a row of sums", "1;A;1,5;kg;7\nSumme:;2 Artikel;1,5;;\n"),
            "Zeile 3, Spalte artikelnummer",
            &["Summen", "\"Summe:\""],
            stored(&["1|1500000|0", "Summe:|1500000|0"]),
        ),
        (
            artikel("a sum in another cell", "1;A;1,5;kg;7\n2;Gesamt;1,5;;\n"),
            "Zeile 3, Spalte bezeichnung",
            &["Summen"],
            stored(&["1|1500000|0", "2|1500000|0"]),
        ),
        (
            artikel("the header again", "1;A;1,5;kg;7\nArtikelnummer;Bezeichnung;;;\n"),
            "Zeile 3",
            &["Kopfzeile"],
            stored(&["1|1500000|0", "Artikelnummer||0"]),
        ),
        (
            artikel("a rate that nobody has", "1;A;5;kg;17\n"),
            "Zeile 2, Spalte mwst_satz, Wert \"17\"",
            &["Steuersatz"],
            stored(&["1|5000000|0"]),
        ),
        (
            artikel("a unit that nobody has", "1;A;5;Schaufel;7\n"),
            "Zeile 2, Spalte einheit, Wert \"Schaufel\"",
            &["Einheit"],
            stored(&["1|5000000|0"]),
        ),
        (
            ("kunden", "a hidden row", xlsx_of(&[("A", "visible", &hidden)]), "data.xlsx"),
            "Zeile 2",
            &["ausgeblendet"],
            one(),
        ),
        (
            ("kunden", "a row that a filter hides", ods_of(&collapsed), "data.ods"),
            "Zeile 2",
            &["ausgeblendet"],
            stored(&["1|Hof||"]),
        ),
        (
            (
                "kunden",
                "another sheet",
                xlsx_of(&[("A", "visible", &data), ("Alt", "visible", &other)]),
                "data.xlsx",
            ),
            "Blatt Alt",
            &["nicht gelesen"],
            one(),
        ),
        (
            (
                "kunden",
                "another sheet that is hidden",
                xlsx_of(&[("A", "visible", &data), ("Alt", "hidden", &other)]),
                "data.xlsx",
            ),
            "Blatt Alt",
            &[],
            one(),
        ),
        (("kunden", "another table", ods_of(&two), "data.ods"), "Blatt Alt", &[], one()),
    ];
    let mut cases = vec![
        case(
            "another sheet where one is named",
            "kunden",
            xlsx_of(&[("A", "visible", &data), ("Alt", "visible", &other)]),
            one(),
        )
        .with(&["--sheet", "A"])
        .named("data.xlsx"),
        case(
            "empty rows that are hidden",
            "kunden",
            xlsx_of(&[(
                "A",
                "visible",
                &data.replace(
                    "</sheetData>",
                    &format!("{}</sheetData>", "<row hidden=\"1\"/>".repeat(50_000)),
                ),
            )]),
            one(),
        )
        .named("data.xlsx"),
        case(
            "an empty sheet beside it",
            "kunden",
            xlsx_of(&[("A", "visible", &data), ("Leer", "visible", "<sheetData/>")]),
            one(),
        )
        .named("data.xlsx"),
        case("an empty table beside it", "kunden", ods_of(&empty), one()).named("data.ods"),
        case(
            "a firm that is called so",
            "kunden",
            "kundennr;name\n1;Total Energie\n",
            stored(&["1|Total Energie||"]),
        ),
        case(
            "units and rates that there are",
            "artikel",
            "artikelnummer;bezeichnung;einheit;mwst_satz\n1;A;Stück;7,8\n2;B;to;19\n",
            stored(&["1||0", "2||0"]),
        ),
    ];
    for ((kind, name, bytes, file), place, said, expected) in doubtful {
        let named: &'static [&'static str] = [&[place, "--accept-warnings"], said].concat().leak();
        cases.push(case(name, kind, bytes.clone(), refused(named)).named(file));
        let accepted: &'static str = format!("{name}, accepted").leak();
        cases.push(case(accepted, kind, bytes, expected).with(&["--accept-warnings"]).named(file));
    }
    cases
}

pub fn decimals() -> Vec<Case> {
    let artikel = |name, prices: &[&str], expected| {
        let rows: String = prices.iter().enumerate().map(|(at, price)| format!("{at};A;{price}\n")).collect();
        case(name, "artikel", format!("artikelnummer;bezeichnung;preis\n{rows}"), expected)
    };
    vec![
        artikel("24.860 as thousands", &["24.860"], stored(&["0|24860000000|0"]))
            .with(&["--decimal", "comma"]),
        artikel("24.860 as decimals", &["24.860"], stored(&["0|24860000|0"])).with(&["--decimal", "point"]),
        artikel("24.860 beside a comma", &["24.860", "0,5"], stored(&["0|24860000000|0", "1|500000|0"])),
        artikel("24.860 beside 0.75", &["24.860", "0.75"], refused(&["Zeile 2", "24.860", "--decimal"])),
        artikel(
            "1.500 beside 19.5",
            &["19.5", "1.500"],
            refused(&["Zeile 3, Spalte preis", "(1500)", "(1,5)", "--decimal"]),
        ),
        artikel(
            "1.500 beside 19.5 as decimals",
            &["19.5", "1.500"],
            stored(&["0|19500000|0", "1|1500000|0"]),
        )
        .with(&["--decimal", "point"]),
        artikel(
            "1.500 beside 19.5 as thousands",
            &["19.5", "1.500"],
            refused(&["Zeile 2, Spalte preis, Wert \"19.5\"", "zum Beispiel 1234,5"]),
        )
        .with(&["--decimal", "comma"]),
        artikel("0.750 alone", &["0.750"], stored(&["0|750000|0"])),
        artikel("12.5 beside a comma", &["12.5", "0,5"], refused(&["Zeile 2", "Spalte preis", "12.5"])),
        artikel("1.234.567 alone", &["1.234.567"], stored(&["0|1234567000000|0"])),
        artikel("two commas", &["1,2,3"], refused(&["Zeile 2", "Spalte preis", "1,2,3"])),
        artikel("a unit behind a number", &["5 EUR"], refused(&["Zeile 2", "Spalte preis", "5 EUR"])),
        artikel(
            "a number with an exponent",
            &["1E+05"],
            refused(&["Zeile 2", "Spalte preis", "1E+05", "gekürzt"]),
        ),
        artikel("--decimal point and a comma", &["12,5"], refused(&["Zeile 2", "Spalte preis"]))
            .with(&["--decimal", "point"]),
        case(
            "WAHR and FALSCH",
            "artikel",
            "artikelnummer;bezeichnung;chargenpflichtig\n1;A;WAHR\n2;B;FALSCH\n",
            stored(&["1||1", "2||0"]),
        ),
    ]
}
