//! Templates: a file with every column of a kind of import, the meaning of each, and an example row (D22).
//!
//! In CSV the meanings are in lines that begin with `# `, which [`super::table`] skips; in a spreadsheet they
//! are on a second sheet, which is read only if `--sheet` names it. The example row below the header is
//! marked with [`EXAMPLE`]: an import leaves it out and reports that.

use std::io::{self, Cursor, Write};

use quick_xml::escape::escape;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::platform::http::json::Json;
use crate::rules::text::push_cell;

/// The sheet of a template that explains its columns.
pub const MEANINGS: &str = "Spalten";

/// The key of the example row.
pub const EXAMPLE: &str = "BEISPIEL";

pub struct Column {
    pub name: &'static str,
    pub meaning: &'static str,
    /// Its cell in the example row; `None` if blank.
    pub cell: Option<&'static str>,
    pub example: &'static str,
    /// Whether it holds a list, which a table cannot hold.
    pub is_list: bool,
}

pub struct Columns {
    pub kind: &'static str,
    pub columns: Vec<Column>,
    pub keys: Vec<&'static str>,
}

impl Columns {
    fn of_table(&self) -> Vec<&Column> {
        self.columns.iter().filter(|column| !column.is_list).collect()
    }

    /// Whether a row is the example: its key is [`EXAMPLE`], or, without such a key, every column marked so
    /// holds it.
    pub fn is_example(&self, row: &Json<'_>) -> bool {
        let Json::Object(members) = row else { return false };
        let marked = || self.columns.iter().filter(|column| column.cell == Some(EXAMPLE));
        let is_keyed = marked().any(|column| self.keys.contains(&column.name));
        let mut marks = marked().filter(|column| !is_keyed || self.keys.contains(&column.name)).peekable();
        let says_so = |column: &Column| {
            members.iter().any(|(name, value)| {
                name == column.name && matches!(value, Json::String(text) if text.trim() == EXAMPLE)
            })
        };
        marks.peek().is_some() && marks.all(says_so)
    }

    fn introduction(&self) -> String {
        let kind = self.kind;
        let lists: Vec<_> =
            self.columns.iter().filter(|column| column.is_list).map(|column| column.name).collect();
        let without = match lists.as_slice() {
            [] => String::new(),
            names => format!(
                " Listen ({}) haben in einer Tabelle keinen Platz: Sie kommen aus einer Datei in JSON.",
                names.join(", ")
            ),
        };
        format!(
            "Vorlage für {kind}: Die Zeile mit {EXAMPLE} ist ein Beispiel; der Import lässt sie aus und sagt \
             es.{without}"
        )
    }

    /// Returns the template as CSV in UTF-8, with the byte order mark by which Excel recognizes it.
    pub fn csv(&self) -> String {
        let mut text = String::from('\u{feff}');
        let mut line = |cells: &[&str]| {
            for (at, cell) in cells.iter().enumerate() {
                if at > 0 {
                    text.push(';');
                }
                push_cell(&mut text, cell);
            }
            text.push_str("\r\n");
        };
        line(&[&format!("# {}", self.introduction())]);
        line(&["# Zeilen über den Spalten, die so beginnen, liest der Import nicht."]);
        for Column { name, meaning, example, .. } in &self.columns {
            line(&[&format!("# {name}: {meaning} Beispiel: {example}")]);
        }
        let columns = self.of_table();
        line(&columns.iter().map(|column| column.name).collect::<Vec<_>>());
        line(&columns.iter().map(|column| column.cell.unwrap_or_default()).collect::<Vec<_>>());
        text
    }

    /// Returns the template as a spreadsheet (.xlsx): the rows on the first sheet, the meanings on the
    /// second. All cells are text, so that a spreadsheet program keeps leading zeros and long numbers as
    /// typed.
    pub fn xlsx(&self) -> io::Result<Vec<u8>> {
        let columns = self.of_table();
        let rows = [
            columns.iter().map(|column| column.name).collect::<Vec<_>>(),
            columns.iter().map(|column| column.cell.unwrap_or_default()).collect(),
        ];
        let introduction = self.introduction();
        let mut meanings = vec![vec![introduction.as_str()], vec!["Spalte", "Bedeutung", "Beispiel"]];
        meanings.extend(self.columns.iter().map(|column| vec![column.name, column.meaning, column.example]));
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in PARTS {
            part(&mut zip, name, &text.replace("KIND", self.kind).replace("MEANINGS", MEANINGS))?;
        }
        part(&mut zip, "xl/worksheets/sheet1.xml", &sheet(&rows, 20))?;
        part(&mut zip, "xl/worksheets/sheet2.xml", &sheet(&meanings, 40))?;
        Ok(zip.finish()?.into_inner())
    }
}

fn part(zip: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, text: &str) -> io::Result<()> {
    zip.start_file(name, SimpleFileOptions::default())?;
    zip.write_all(text.as_bytes())
}

/// The parts that are the same in every spreadsheet, except for the sheet names (ECMA-376).
const PARTS: [(&str, &str); 5] = [
    (
        "[Content_Types].xml",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Override PartName=\"/xl/workbook.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>\
         <Override PartName=\"/xl/styles.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml\"/>\
         <Override PartName=\"/xl/worksheets/sheet1.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>\
         <Override PartName=\"/xl/worksheets/sheet2.xml\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/></Types>",
    ),
    (
        "_rels/.rels",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"rId1\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
         Target=\"xl/workbook.xml\"/></Relationships>",
    ),
    (
        "xl/workbook.xml",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
         <sheet name=\"KIND\" sheetId=\"1\" r:id=\"rId1\"/><sheet name=\"MEANINGS\" sheetId=\"2\" \
         r:id=\"rId2\"/></sheets></workbook>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"rId1\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
         Target=\"worksheets/sheet1.xml\"/><Relationship Id=\"rId2\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
         Target=\"worksheets/sheet2.xml\"/><Relationship Id=\"rId3\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles\" \
         Target=\"styles.xml\"/></Relationships>",
    ),
    (
        "xl/styles.xml",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><fonts count=\"1\">\
         <font><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts><fills count=\"2\"><fill>\
         <patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/></fill></fills>\
         <borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>\
         <cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs>\
         <cellXfs count=\"2\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/>\
         <xf numFmtId=\"49\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/>\
         </cellXfs></styleSheet>",
    ),
];

/// Writes a sheet of texts; all its columns have the text format.
fn sheet(rows: &[Vec<&str>], width: u8) -> String {
    let most = rows.iter().map(Vec::len).max().unwrap_or(1);
    let rows: String = rows
        .iter()
        .map(|cells| {
            let cell = |text: &&str| match text.is_empty() {
                true => r#"<c s="1"/>"#.to_owned(),
                false => format!(
                    r#"<c s="1" t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>"#,
                    escape(*text)
                ),
            };
            format!("<row>{}</row>", cells.iter().map(cell).collect::<String>())
        })
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
         <worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><cols>\
         <col min=\"1\" max=\"{most}\" width=\"{width}\" style=\"1\" customWidth=\"1\"/></cols><sheetData>\
         {rows}</sheetData></worksheet>"
    )
}
