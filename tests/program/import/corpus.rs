//! The files: what each is, and the expected result.

use super::sheets::{ods, ods_of, sheet_data, table, xlsx, xlsx_of, xlsx_with, zipped};
use super::understood;

/// The expected result of a file.
pub enum Expected {
    /// Exit 0 and exactly these records.
    Stored(Vec<String>),
    /// Exit 1, nothing stored, and all of these messages.
    Refused(&'static [&'static str]),
}

/// A file and how it is imported.
pub struct Case {
    pub name: &'static str,
    pub kind: &'static str,
    pub file: &'static str,
    pub bytes: Vec<u8>,
    pub more: &'static [&'static str],
    pub expected: Expected,
}

pub fn stored(records: &[&str]) -> Expected {
    Expected::Stored(records.iter().map(|record| (*record).to_owned()).collect())
}

pub const fn refused(named: &'static [&'static str]) -> Expected {
    Expected::Refused(named)
}

pub fn case(name: &'static str, kind: &'static str, bytes: impl Into<Vec<u8>>, expected: Expected) -> Case {
    Case { name, kind, file: "data.csv", bytes: bytes.into(), more: &[], expected }
}

impl Case {
    pub fn with(self, more: &'static [&'static str]) -> Case {
        Case { more, ..self }
    }

    pub fn named(self, file: &'static str) -> Case {
        Case { file, ..self }
    }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut cases = quotes();
    cases.extend(encodings());
    cases.extend(understood::decimals());
    cases.extend(separators());
    cases.extend(understood::headers());
    cases.extend(understood::moments());
    cases.extend(understood::suspicious());
    cases.extend(spoilt());
    cases.extend(workbooks());
    cases.extend(documents());
    cases.extend(bombs());
    cases
}

fn quotes() -> Vec<Case> {
    let kunden = |name, text: &str, expected| case(name, "kunden", text, expected);
    let eight: String = (1..=8)
        .map(|at| if at == 2 { "2;\"Hof 2\n".to_owned() } else { format!("{at};Hof {at}\n") })
        .collect();
    vec![
        kunden(
            "an open quote that swallows the rest",
            &format!("kundennr;name\n{eight}"),
            refused(&["Zeile 3", "nie geschlossen"]),
        ),
        kunden(
            "an open quote closed by a later one",
            "kundennr;name\n1;\"Hof\n2;Gut\n3;\"Alm\"\n",
            refused(&["Zeile 2", "hinter ihrem schließenden"]),
        ),
        kunden(
            "text behind a quote",
            "kundennr;name\n1;\"Hof\" Huber\n",
            refused(&["Zeile 2", "hinter ihrem schließenden"]),
        ),
        kunden(
            "a quote within a cell",
            "kundennr;name\n1;Rohr 5\" lang\n",
            refused(&["Zeile 2", "mitten in der Zelle"]),
        ),
        kunden(
            "a space before a quote",
            "kundennr;name\n1; \"Hof; Gut\"\n",
            refused(&["Zeile 2", "mitten in der Zelle"]),
        ),
        kunden("a doubled quote", "kundennr;name\n1;\"Hof \"\"Süd\"\"\"\n", stored(&["1|Hof \"Süd\"||"])),
        kunden(
            "a separator in quotes",
            "kundennr;name;ort\n1;\"Hof; Gut\";Ulm\n",
            stored(&["1|Hof; Gut||Ulm"]),
        ),
        kunden(
            "a line end in quotes",
            "kundennr;name\n1;\"Hof\nSüd\"\n2;Gut\n",
            stored(&["1|Hof\nSüd||", "2|Gut||"]),
        ),
        kunden("a quoted header", "\"kundennr\";\"name\"\r\n\"1\";\"Hof\"\r\n", stored(&["1|Hof||"])),
        kunden(
            "an open quote in the header",
            "kundennr;\"name\n1;Hof\n",
            refused(&["Zeile 1", "nie geschlossen"]),
        ),
    ]
}

fn encodings() -> Vec<Case> {
    let kunden = |name, bytes: &[u8], expected| case(name, "kunden", bytes, expected);
    let utf16: Vec<u8> = "\u{feff}kundennr;name\n1;Hof\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        kunden("UTF-8", "kundennr;name\n1;Müller\n".as_bytes(), stored(&["1|Müller||"])),
        kunden("UTF-8 with BOM", "\u{feff}kundennr;name\n1;Müller\n".as_bytes(), stored(&["1|Müller||"])),
        kunden("Windows-1252", b"kundennr;name\n1;M\xfcller\n", stored(&["1|Müller||"])),
        kunden(
            "two encodings, Windows first",
            b"kundennr;name\n1;M\xfcller\n2;M\xc3\xbcller\n",
            refused(&["Zeile 2", "Zwei Kodierungen"]),
        ),
        kunden(
            "a BOM and then Windows-1252",
            b"\xef\xbb\xbfkundennr;name\n1;M\xfcller\n",
            refused(&["Zeile 2", "Zwei Kodierungen"]),
        ),
        kunden("UTF-16", &utf16, refused(&["UTF-8"])),
        kunden(
            "a workbook with a password",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0",
            refused(&["Kennwort", "ohne"]),
        ),
        kunden("a web page", b"<html><table>", refused(&["Webseite", "als .xlsx speichern"])),
        kunden("a PDF", b"%PDF-1.7", refused(&["PDF", ".csv"])),
        kunden("bytes of zero", b"kundennr;name\n1;Hof\0\n", refused(&["UTF-8"])),
        kunden(
            "a control character",
            "kundennr;name\n1;Hof\u{7}\n".as_bytes(),
            refused(&["Zeile 2", "Spalte name", "Steuerzeichen"]),
        ),
    ]
}

fn separators() -> Vec<Case> {
    let kunden = |name, text: &str, expected| case(name, "kunden", text, expected);
    vec![
        kunden("tabulators", "kundennr\tname\n1\tHof\n", stored(&["1|Hof||"])),
        kunden("commas", "kundennr,name\n1,Hof\n", stored(&["1|Hof||"])),
        kunden("old line ends", "kundennr;name\r1;Hof\r2;Gut\r", stored(&["1|Hof||", "2|Gut||"])),
        kunden("more cells than columns", "kundennr;name\n1;Hof;Gut\n", refused(&["Zeile 2", "3 Zellen"])),
        kunden(
            "fewer cells than columns",
            "kundennr;name;ort\n1;Hof;Ulm\n2;Gu",
            refused(&["Zeile 3", "2 Zellen"]),
        ),
        kunden("another separator below", "kundennr;name\n1,Hof\n", refused(&["Zeile 2", "1 Zellen"])),
        kunden("blank rows", "\nkundennr;name\n\n1;Hof\n;\n  \n2;Gut\n\n", stored(&["1|Hof||", "2|Gut||"])),
        kunden("a column twice", "kundennr;name;name\n1;Hof;Gut\n", refused(&["Zeile 1", "name", "doppelt"])),
        kunden("a column that nobody knows", "kundennr;name;Postleitzal\n1;Hof;1\n", stored(&["1|Hof||"])),
        kunden("no row with names", "", refused(&["leer"])),
        kunden(
            "a key twice",
            "kundennr;name\nK1;Hof\nk1;Gut\n",
            refused(&["Zeile 3", "kundennr", "Zeile 2"]),
        ),
        kunden(
            "a partner without number twice",
            "name;plz;ort\nHof;1;Ulm\nHof;1;Ulm\n",
            refused(&["Zeile 3", "Zeile 2"]),
        ),
        kunden(
            "a key twice in JSON",
            r#"[{"kundennr":"1","name":"A"},{"kundennr":"1","name":"B"}]"#,
            refused(&["kundennr"]),
        ),
        kunden(
            "half a JSON",
            r#"[{"kundennr":"1","name":"A"},{"kundennr":"2""#,
            refused(&["Zeile 1", "kein JSON"]),
        ),
        kunden("a million rows at once", &million(), refused(&["1000000 Zeilen", "--in-parts"])),
    ]
}

fn million() -> String {
    let rows = (0..1_000_000).map(|at| format!("{at};H\n"));
    ["kundennr;name\n".to_owned()].into_iter().chain(rows).collect()
}

fn spoilt() -> Vec<Case> {
    let kunden = |name, text: &str, expected| case(name, "kunden", text, expected);
    vec![
        kunden("#REF!", "kundennr;name;ort\n1;Hof;#REF!\n", refused(&["Zeile 2", "Spalte ort", "#REF!"])),
        kunden("#NV", "kundennr;name;ort\n1;Hof;#NV\n", refused(&["Zeile 2", "Spalte ort"])),
        kunden("a formula", "kundennr;name\n1;=SUM(A1:A2)\n", refused(&["Zeile 2", "Spalte name", "Formel"])),
        kunden(
            "a long number cut short",
            "kundennr;name\n4,01234E+12;Hof\n",
            refused(&["Zeile 2", "Spalte kundennr"]),
        ),
        kunden(
            "three mistakes",
            "kundennr;name;staat;zahlungsziel_tage\n1;A;Narnia;bald\n2;B;DE;nie\n",
            refused(&["staat", "Narnia", "bald", "nie", "Zeile 3"]),
        ),
        kunden(
            "a word in a list that nobody knows",
            "kundennr;name;Rolle\n1;A;kunde, Bauer\n",
            refused(&["Zeile 2, Spalte Rolle (partner_typen), Wert \"kunde, Bauer\"", "lieferant"]),
        ),
        kunden(
            "a column that nobody knows, and a mistake",
            "kundennr;name;palz;staat\n1;A;1;Narnia\n",
            refused(&["palz (gemeint: plz?)", "Narnia"]),
        ),
    ]
}

/// A header of partners and rows below it.
pub const HEAD: [&str; 4] = ["kundennr", "name", "plz", "ort"];

fn workbooks() -> Vec<Case> {
    let kunden = |name, bytes: Vec<u8>, expected| case(name, "kunden", bytes, expected).named("data.xlsx");
    let artikel = |name, bytes: Vec<u8>, expected| case(name, "artikel", bytes, expected).named("data.xlsx");
    let good = |name: &'static str| sheet_data(&[&HEAD, &["1", name, "01234", "Ulm"]]);
    let prices = |cell: &'static str| xlsx(&[&["artikelnummer", "bezeichnung", "preis"], &["1", "A", cell]]);
    let merged = format!(
        "{}<mergeCells><mergeCell ref=\"D2:D3\"/></mergeCells>",
        sheet_data(&[&HEAD, &["1", "Hof", "", "Ulm"], &["2", "Gut"]])
    );
    vec![
        kunden(
            "a workbook",
            xlsx(&[&HEAD, &["1", "Hof", "01234", "Ulm"], &[], &["2", "Gut"]]),
            stored(&["1|Hof|01234|Ulm", "2|Gut||"]),
        ),
        kunden(
            "numbers in columns of text",
            xlsx(&[&HEAD, &["n:4711", "Hof", "n:89073", "Ulm"]]),
            stored(&["4711|Hof|89073|Ulm"]),
        ),
        kunden(
            "a postcode without its zero",
            xlsx(&[&HEAD, &["1", "Hof", "n:1234", "Ulm"]]),
            refused(&["Zeile 2", "Spalte plz", "1234", "Null"]),
        ),
        kunden(
            "merged cells",
            xlsx_of(&[("A", "visible", &merged)]),
            refused(&["Zeile 2", "verbundene Zellen"]),
        ),
        kunden(
            "a hidden first sheet",
            xlsx_of(&[("Alt", "hidden", &good("Alt")), ("Neu", "visible", &good("Neu"))]),
            refused(&["Alt", "ausgeblendet", "Neu"]),
        ),
        kunden(
            "a sheet by its name",
            xlsx_of(&[("Alt", "hidden", &good("Alt")), ("Neu", "visible", &good("Neu"))]),
            stored(&["1|Neu|01234|Ulm"]),
        )
        .with(&["--sheet", "Neu"]),
        kunden(
            "a sheet that is not there",
            xlsx_of(&[("Neu", "visible", &good("Neu"))]),
            refused(&["Blatt Kunden gibt es nicht", "Neu"]),
        )
        .with(&["--sheet", "Kunden"]),
        kunden("an empty sheet", xlsx(&[]), refused(&["leer"])),
        kunden(
            "a cell beyond all columns",
            xlsx_of(&[(
                "A",
                "visible",
                r#"<sheetData><row><c r="ZZZZZZZZ1"><v>1</v></c></row></sheetData>"#,
            )]),
            refused(&["an einer Stelle, die kein Blatt hat"]),
        ),
        kunden(
            "the number of a shared text between blanks",
            xlsx(&[&HEAD, &["1", "<c t=\"s\"><v> 0 </v></c>"]]),
            refused(&["kein gemeinsamer Text \" 0 \""]),
        ),
        kunden(
            "an error of a formula",
            xlsx(&[&HEAD, &["1", "Hof", "", "<c t=\"e\"><f>A1</f><v>#REF!</v></c>"]]),
            refused(&["Zeile 2", "Spalte ort", "#REF!"]),
        ),
        kunden(
            "half a workbook",
            {
                let mut half = xlsx(&[&HEAD]);
                half.truncate(half.len() / 2);
                half
            },
            refused(&[".xlsx"]),
        ),
        kunden(
            "merged cells above the header",
            xlsx_of(&[(
                "A",
                "visible",
                &format!(
                    "{}<mergeCells><mergeCell ref=\"A1:D1\"/></mergeCells>",
                    sheet_data(&[&["Unsere Kunden"], &HEAD, &["1", "Hof", "01234", "Ulm"]])
                ),
            )]),
            stored(&["1|Hof|01234|Ulm"]),
        ),
        kunden(
            "a postcode that is a number of five digits",
            formatted("00000", &["1", "Hof", "<c s=\"2\"><v>1234</v></c>", "Ulm"]),
            stored(&["1|Hof|01234|Ulm"]),
        ),
        kunden(
            "a postcode with the country before it",
            formatted("&quot;D-&quot;00000", &["1", "Hof", "<c s=\"2\"><v>1234</v></c>", "Ulm"]),
            stored(&["1|Hof|01234|Ulm"]),
        ),
        artikel("a number", prices("n:24.86"), stored(&["1|24860000|0"])),
        artikel("a number with noise", prices("n:0.30000000000000004"), stored(&["1|300000|0"])),
        artikel("the value of a formula", prices("<c><f>1+1</f><v>2</v></c>"), stored(&["1|2000000|0"])),
        artikel(
            "a formula without a value",
            prices("<c><f>1+1</f></c>"),
            refused(&["Zeile 2", "Formel ohne Wert"]),
        ),
        artikel(
            "a boolean",
            xlsx(&[
                &["artikelnummer", "bezeichnung", "chargenpflichtig"],
                &["1", "A", "<c t=\"b\"><v>1</v></c>"],
            ]),
            stored(&["1||1"]),
        ),
        artikel("a text that could be either number", prices("24.860"), refused(&["--decimal"])),
    ]
}

/// An .xlsx of one partner; the third style of its cells has this format.
fn formatted(format: &str, cells: &[&str]) -> Vec<u8> {
    let styles = format!(
        r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts><numFmt numFmtId="170" formatCode="{format}"/></numFmts><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>"#
    );
    xlsx_with(&[("A", "visible", &sheet_data(&[&HEAD, cells]))], &[("xl/styles.xml", &styles)])
}

fn documents() -> Vec<Case> {
    let kunden = |name, bytes: Vec<u8>, expected| case(name, "kunden", bytes, expected).named("data.ods");
    let good = |name: &'static str| [["1", name, "01234", "Ulm"]];
    let spanned = "<table:table-cell office:value-type=\"string\" \
                   table:number-rows-spanned=\"2\"><text:p>Hof</text:p></table:table-cell>";
    vec![
        kunden(
            "an .ods",
            ods(&[&HEAD, &["1", "Hof &amp; Gut", "01234", "Ulm"], &[], &["n:2", "Gut"]]),
            stored(&["1|Hof & Gut|01234|Ulm", "2|Gut||"]),
        ),
        kunden(
            "an .ods with a postcode that is a number",
            ods(&[
                &HEAD,
                &[
                    "1",
                    "Hof",
                    "<table:table-cell office:value-type=\"float\" \
                     office:value=\"1234\"><text:p>01234</text:p></table:table-cell>",
                ],
            ]),
            stored(&["1|Hof|01234|"]),
        ),
        kunden(
            "an .ods with merged cells",
            ods(&[&HEAD, &["1", spanned]]),
            refused(&["Zeile 2", "verbundene Zellen"]),
        ),
        kunden(
            "an .ods whose first sheet is hidden",
            ods_of(&format!(
                "{}{}",
                table("Alt", "ta2", &[&HEAD, &good("Alt")[0]]),
                table("Neu", "ta1", &[&HEAD, &good("Neu")[0]])
            )),
            refused(&["Alt", "ausgeblendet", "Neu"]),
        ),
        kunden(
            "an .ods by the name of its sheet",
            ods_of(&format!(
                "{}{}",
                table("Alt", "ta2", &[&HEAD, &good("Alt")[0]]),
                table("Neu", "ta1", &[&HEAD, &good("Neu")[0]])
            )),
            stored(&["1|Neu|01234|Ulm"]),
        )
        .with(&["--sheet", "Neu"]),
        kunden(
            "an .ods with a formula without a value",
            ods(&[&HEAD, &["1", "<table:table-cell table:formula=\"of:=[.A1]\"/>"]]),
            refused(&["Zeile 2", "Formel ohne Wert"]),
        ),
        kunden(
            "an .ods with a note at a cell",
            ods(&[
                &HEAD,
                &[
                    "1",
                    "<table:table-cell office:value-type=\"string\"><office:annotation><text:p>Notiz</text:p>\
                     </office:annotation><text:p>Hof</text:p></table:table-cell>",
                ],
            ]),
            stored(&["1|Hof||"]),
        ),
    ]
}

fn bombs() -> Vec<Case> {
    let kunden = |name, bytes: Vec<u8>, expected| case(name, "kunden", bytes, expected).named("data.xlsx");
    let nothing = "0".repeat(40 << 20);
    let repeated = "<table:table-cell office:value-type=\"string\" \
                    table:number-columns-repeated=\"16384\"><text:p>A</text:p></table:table-cell>";
    let rows = "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell \
                office:value-type=\"string\"><text:p>A</text:p></table:table-cell></table:table-row>";
    vec![
        kunden(
            "a zip bomb as .xlsx",
            zipped(&[("xl/workbook.xml", &nothing)]),
            refused(&["Ausgepackt", "MiB"]),
        ),
        kunden("a zip bomb as .ods", zipped(&[("content.xml", &nothing)]), refused(&["Ausgepackt", "MiB"])),
        kunden("an .ods of repeated columns", ods(&[&HEAD, &[repeated]]), refused(&["Zeile 2", "Spalten"])),
        kunden(
            "an .ods of repeated rows",
            ods_of(&format!(
                "<table:table table:name=\"A\"><table:table-row><table:table-cell \
                 office:value-type=\"string\"><text:p>name</text:p></table:table-cell>\
                 </table:table-row>{rows}</table:table>"
            )),
            refused(&["Zeilen", "--in-parts"]),
        ),
        kunden(
            "a cell at the far end",
            xlsx_of(&[(
                "A",
                "visible",
                "<sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>name</t></is></c></row><row \
                 r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row></sheetData>",
            )]),
            refused(&["Zeile 1048576", "Spalten"]),
        ),
        kunden("a zip of something else", zipped(&[("a.txt", "a")]), refused(&[".xlsx"])),
    ]
}
