//! Spreadsheets for the tests, with the minimum of parts that a reader needs.

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

/// A zip of these files.
pub fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An .xlsx with sheets, each with a name, a state and the content of `<worksheet>`.
pub fn xlsx_of(sheets: &[(&str, &str, &str)]) -> Vec<u8> {
    xlsx_with(sheets, &[])
}

/// The same with further or replaced parts, such as `xl/sharedStrings.xml`.
pub fn xlsx_with(sheets: &[(&str, &str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    let numbered = || sheets.iter().enumerate().map(|(at, sheet)| (at + 1, sheet));
    let types: String = numbered()
        .map(|(at, _)| format!(r#"<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>"#))
        .collect();
    let listed: String = numbered()
        .map(|(at, (name, state, _))| {
            format!(r#"<sheet name="{name}" sheetId="{at}" state="{state}" r:id="rId{at}"/>"#)
        })
        .collect();
    let relations: String = numbered()
        .map(|(at, _)| format!(r#"<Relationship Id="rId{at}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet{at}.xml"/>"#))
        .collect();
    let styles = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#;
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let mut files = vec![
        (
            "[Content_Types].xml".to_owned(),
            format!(
                r#"<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{types}</Types>"#
            ),
        ),
        (
            "_rels/.rels".to_owned(),
            format!(
                r#"<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!(r#"<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>"#),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!(
                r#"<Relationships xmlns="{package}/relationships">{relations}<Relationship Id="rId1000" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId1001" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#
            ),
        ),
        ("xl/styles.xml".to_owned(), styles.to_owned()),
    ];
    for (at, (_, _, content)) in numbered() {
        files.push((
            format!("xl/worksheets/sheet{at}.xml"),
            format!(r#"<worksheet xmlns="{main}">{content}</worksheet>"#),
        ));
    }
    files.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    let files = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    zipped(&files.chain(more.iter().copied()).collect::<Vec<_>>())
}

/// An .xlsx of one visible sheet with these rows.
pub fn xlsx(rows: &[&[&str]]) -> Vec<u8> {
    xlsx_of(&[("Tabelle1", "visible", &sheet_data(rows))])
}

/// The rows of a sheet. A cell that begins with `<` is raw XML, one with `n:` is a number; all others are texts.
pub fn sheet_data(rows: &[&[&str]]) -> String {
    let rows: String = rows
        .iter()
        .enumerate()
        .map(|(at, cells)| {
            let row = at + 1;
            let cell = |(column, cell): (usize, &&str)| {
                let place = format!("{}{row}", char::from(b'A' + u8::try_from(column).unwrap()));
                match cell.strip_prefix("n:") {
                    Some(number) => format!(r#"<c r="{place}"><v>{number}</v></c>"#),
                    None if cell.starts_with('<') => cell.replacen("<c", &format!(r#"<c r="{place}""#), 1),
                    None if cell.is_empty() => String::new(),
                    None => format!(r#"<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>"#),
                }
            };
            let cells: String = cells.iter().enumerate().map(cell).collect();
            format!(r#"<row r="{row}">{cells}</row>"#)
        })
        .collect();
    format!("<sheetData>{rows}</sheetData>")
}

/// An .ods with these tables.
pub fn ods_of(tables: &str) -> Vec<u8> {
    let spaces: String = ["office", "table", "text", "style"]
        .iter()
        .map(|name| format!(r#" xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0""#))
        .collect();
    let styles = r#"<office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style><style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>"#;
    let content = format!(
        "<office:document-content{spaces}>{styles}<office:body><office:spreadsheet>{tables}</office:spreadsheet>\
         </office:body></office:document-content>"
    );
    zipped(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", &content)])
}

/// A table of an .ods with a style: rows as in [`xlsx`].
pub fn table(name: &str, style: &str, rows: &[&[&str]]) -> String {
    let rows: String = rows
        .iter()
        .map(|cells| {
            let cell = |cell: &&str| match cell.strip_prefix("n:") {
                Some(number) => format!(r#"<table:table-cell office:value-type="float" office:value="{number}"><text:p>{number}</text:p></table:table-cell>"#),
                None if cell.starts_with('<') => (*cell).to_owned(),
                None if cell.is_empty() => "<table:table-cell/>".to_owned(),
                None => format!(r#"<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>"#),
            };
            format!("<table:table-row>{}</table:table-row>", cells.iter().map(cell).collect::<String>())
        })
        .collect();
    format!(r#"<table:table table:name="{name}" table:style-name="{style}">{rows}</table:table>"#)
}

/// An .ods of one visible table.
pub fn ods(rows: &[&[&str]]) -> Vec<u8> {
    ods_of(&table("Tabelle1", "ta1", rows))
}
