//! A workbook of Excel (ECMA-376): its parts one after another, cell by cell. Whatever is remembered of them takes room
//! first, and no number that a part names of itself is believed.

use std::collections::HashMap;
use std::io::{BufReader, Cursor};

use quick_xml::events::BytesStart;
use zip::ZipArchive;
use zip::read::ZipFile;

use super::cells::{CellText, Format, moment, place_of};
use super::complaint::Complaint;
use super::room::{ROW_BYTES, Room};
use super::sheet::{SHEETS_MAX, Sheet, choose, decimal, merged_cells, no_value, too_many_sheets};
use super::table::excerpt;
use super::xml::{Piece, Pieces, attribute, unreadable};

/// What a shared text takes beside its letters.
const TEXT_BYTES: usize = 8;

type Zip<'b> = ZipArchive<Cursor<&'b [u8]>>;

type Part<'z, 'b> = Pieces<BufReader<ZipFile<'z, Cursor<&'b [u8]>>>>;

/// Reads one sheet: the one named, else the first.
pub fn read(zip: &mut Zip<'_>, wanted: Option<&str>, mut room: Room) -> Result<Sheet, Complaint> {
    let package = relations(zip, "_rels/.rels", "", &mut room)?;
    let path = target(&package, "officeDocument").ok_or_else(|| unreadable("it has no workbook"))?;
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let parts = relations(zip, &format!("{folder}_rels/{name}.rels"), &folder, &mut room)?;
    let (sheets, is_1904) = sheets(zip, path, &parts)?;
    let names: Vec<(&str, bool)> =
        sheets.iter().map(|sheet| (sheet.name.as_str(), sheet.is_visible)).collect();
    let chosen = choose(&names, wanted)?;
    let path = sheets.iter().find(|sheet| sheet.name == chosen).map_or("", |sheet| sheet.path);
    let formats = formats(zip, target(&parts, "styles").unwrap_or_default(), &mut room)?;
    let texts = texts(zip, target(&parts, "sharedStrings").unwrap_or_default(), &mut room)?;
    let mut pieces = part(zip, path)?.ok_or_else(|| unreadable(format!("{path} is missing")))?;
    let mut cells = Cells { formats, texts, is_1904, ..Cells::within(room) };
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Start(element) => cells.start(&element)?,
            Piece::End(element) => cells.end(element.local_name().as_ref())?,
            Piece::Text(text) => cells.text(&text)?,
            Piece::Other => {}
        }
    }
    Ok(cells.sheet)
}

/// A part by its path, in whichever case and with whichever slashes it was written.
fn part<'z, 'b>(zip: &'z mut Zip<'b>, path: &str) -> Result<Option<Part<'z, 'b>>, Complaint> {
    let is_meant = |name: &str| name.replace('\\', "/").trim_start_matches('/').eq_ignore_ascii_case(path);
    let Some(at) = zip.file_names().position(|name| name.is_ok_and(|name| is_meant(&name))) else {
        return Ok(None);
    };
    Ok(Some(Pieces::of(BufReader::new(zip.by_index(at).map_err(unreadable)?))))
}

/// Calls `each` with the elements of a part; without the part there are none.
fn elements(
    zip: &mut Zip<'_>,
    path: &str,
    mut each: impl FnMut(&BytesStart<'_>) -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    let Some(mut pieces) = part(zip, path)? else { return Ok(()) };
    while let Some(piece) = pieces.next()? {
        if let Piece::Start(element) = piece {
            each(&element)?;
        }
    }
    Ok(())
}

/// Which part another one names, and as what.
struct Relation {
    id: String,
    kind: String,
    path: String,
}

fn relations(
    zip: &mut Zip<'_>,
    path: &str,
    folder: &str,
    room: &mut Room,
) -> Result<Vec<Relation>, Complaint> {
    let mut relations = Vec::new();
    elements(zip, path, |element| {
        if element.local_name().as_ref() != "Relationship" {
            return Ok(());
        }
        let named = |name| attribute(element, name).map(Option::unwrap_or_default);
        let (id, kind, target) = (named("Id")?, named("Type")?, named("Target")?);
        room.take(ROW_BYTES + id.len() + kind.len() + folder.len() + target.len())?;
        let path = match target.strip_prefix('/') {
            Some(whole) => whole.to_owned(),
            None => format!("{folder}{target}"),
        };
        let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
        relations.push(Relation { id, kind, path });
        Ok(())
    })?;
    Ok(relations)
}

fn target<'r>(relations: &'r [Relation], kind: &str) -> Option<&'r str> {
    relations.iter().find(|relation| relation.kind == kind).map(|relation| relation.path.as_str())
}

struct Named<'r> {
    name: String,
    path: &'r str,
    is_visible: bool,
}

/// The sheets of cells, and whether days are counted from 1904 on.
fn sheets<'r>(
    zip: &mut Zip<'_>,
    path: &str,
    parts: &'r [Relation],
) -> Result<(Vec<Named<'r>>, bool), Complaint> {
    let (mut sheets, mut listed, mut is_1904) = (Vec::new(), 0, false);
    elements(zip, path, |element| {
        match element.local_name().as_ref() {
            "workbookPr" => {
                is_1904 |= matches!(attribute(element, "date1904")?.as_deref(), Some("1" | "true"));
            }
            "sheet" if listed >= SHEETS_MAX => return Err(too_many_sheets()),
            "sheet" => {
                listed += 1;
                let name = attribute(element, "name")?.unwrap_or_default();
                let is_visible = attribute(element, "state")?.is_none_or(|state| state == "visible");
                let id = attribute(element, "r:id")?.unwrap_or_default();
                let is_meant = |part: &&Relation| part.id == id && part.kind == "worksheet";
                if let Some(Relation { path, .. }) = parts.iter().find(is_meant) {
                    sheets.push(Named { name, path, is_visible });
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok((sheets, is_1904))
}

/// The formats of numbers, as cells name them.
fn formats(zip: &mut Zip<'_>, path: &str, room: &mut Room) -> Result<Vec<Format>, Complaint> {
    let (mut own, mut formats, mut is_of_cells) = (HashMap::new(), Vec::new(), false);
    elements(zip, path, |element| {
        let id = || -> Result<u32, Complaint> {
            let id = attribute(element, "numFmtId")?;
            Ok(id.and_then(|id| id.parse().ok()).unwrap_or_default())
        };
        match element.local_name().as_ref() {
            "numFmt" => {
                room.take(ROW_BYTES)?;
                own.insert(id()?, Format::of_code(&attribute(element, "formatCode")?.unwrap_or_default()));
            }
            "cellXfs" => is_of_cells = true,
            "cellStyles" | "cellStyleXfs" | "dxfs" => is_of_cells = false,
            "xf" if is_of_cells => {
                room.take(size_of::<Format>())?;
                let id = id()?;
                formats.push(own.get(&id).copied().unwrap_or_else(|| Format::of_number(id)));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(formats)
}

/// Texts that many cells may have, one behind the other, and where each ends.
#[derive(Default)]
struct Texts {
    all: String,
    ends: Vec<u32>,
}

impl Texts {
    fn get(&self, at: usize) -> Option<&str> {
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.all.get(start as usize..*self.ends.get(at)? as usize)
    }
}

fn texts(zip: &mut Zip<'_>, path: &str, room: &mut Room) -> Result<Texts, Complaint> {
    let mut texts = Texts::default();
    let Some(mut pieces) = part(zip, path)? else { return Ok(texts) };
    let mut text = CellText::default();
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Start(element) => text.start(&element)?,
            Piece::Text(more) => text.add(&more)?,
            Piece::End(element) if element.local_name().as_ref() == "si" => {
                let CellText { text, .. } = std::mem::take(&mut text);
                room.take(TEXT_BYTES + text.len())?;
                texts.all.push_str(&text);
                texts.ends.push(u32::try_from(texts.all.len()).map_err(unreadable)?);
            }
            Piece::End(element) => text.end(element.local_name().as_ref()),
            Piece::Other => {}
        }
    }
    Ok(texts)
}

#[derive(Default)]
struct Cell {
    kind: Option<String>,
    style: usize,
    has_formula: bool,
    text: CellText,
}

#[derive(Default)]
struct Cells {
    formats: Vec<Format>,
    texts: Texts,
    is_1904: bool,
    sheet: Sheet,
    row: u32,
    column: u32,
    cell: Option<Cell>,
}

impl Cells {
    fn within(room: Room) -> Cells {
        Cells { sheet: Sheet::within(room), ..Cells::default() }
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), Complaint> {
        match element.local_name().as_ref() {
            "row" => {
                if let Some(line) = attribute(element, "r")? {
                    self.row = line.parse::<u32>().map_err(unreadable)?.saturating_sub(1);
                }
                self.column = 0;
            }
            "c" => {
                if let Some(place) = attribute(element, "r")? {
                    (self.row, self.column) = place_of(&place)?;
                }
                let kind = attribute(element, "t")?;
                let style = attribute(element, "s")?.and_then(|style| style.parse().ok());
                self.cell = Some(Cell { kind, style: style.unwrap_or_default(), ..Cell::default() });
            }
            "mergeCell" => {
                let cells = attribute(element, "ref")?.unwrap_or_default();
                let first = cells.split(':').next().unwrap_or_default();
                return Err(merged_cells(place_of(first)?.0));
            }
            name => {
                let Some(cell) = &mut self.cell else { return Ok(()) };
                cell.has_formula |= name == "f";
                cell.text.start(element)?;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Complaint> {
        self.cell.as_mut().map_or(Ok(()), |cell| cell.text.add(text))
    }

    fn end(&mut self, name: &str) -> Result<(), Complaint> {
        match name {
            "row" => (self.row, self.column) = (self.row.saturating_add(1), 0),
            "c" => {
                if let Some(cell) = self.cell.take() {
                    self.end_cell(&cell)?;
                }
                self.column = self.column.saturating_add(1);
            }
            name => {
                if let Some(cell) = &mut self.cell {
                    cell.text.end(name);
                }
            }
        }
        Ok(())
    }

    fn end_cell(&mut self, cell: &Cell) -> Result<(), Complaint> {
        let (row, column, line) = (self.row, self.column, self.row.saturating_add(1));
        let text = cell.text.text.as_str();
        let is_blank = !cell.text.is_there || text.is_empty() && cell.kind.as_deref() != Some("str");
        match cell.kind.as_deref() {
            _ if is_blank && cell.has_formula => Err(no_value(line)),
            _ if is_blank => Ok(()),
            Some("s") => {
                let shared = text.trim().parse().ok().and_then(|at| self.texts.get(at));
                let shared = shared
                    .ok_or_else(|| unreadable(format!("line {line}: no shared text {}", excerpt(text))))?;
                self.sheet.add(row, column, shared, false)
            }
            Some("b") => match text.trim() {
                "1" | "true" => self.sheet.add(row, column, "true", false),
                "0" | "false" => self.sheet.add(row, column, "false", false),
                other => Err(unreadable(format!("line {line}: {} is no boolean", excerpt(other)))),
            },
            Some("str" | "inlineStr" | "d" | "e") => self.sheet.add(row, column, text, false),
            None | Some("n") => match (text.trim().parse(), self.formats.get(cell.style)) {
                (Ok(number), None | Some(Format::Number)) => {
                    self.sheet.add(row, column, &decimal(number, line)?, true)
                }
                (Ok(number), Some(format)) => {
                    self.sheet.add(row, column, &moment(number, *format, self.is_1904, line)?, false)
                }
                (Err(_), _) if cell.kind.is_none() => self.sheet.add(row, column, text, false),
                (Err(error), _) => Err(unreadable(format!("line {line}: {error}"))),
            },
            Some(kind) => {
                Err(unreadable(format!("line {line}: cells of the kind {} are not known", excerpt(kind))))
            }
        }
    }
}
