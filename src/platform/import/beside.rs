//! Facts about an .xlsx that its reader does not report: hidden rows, and which sheets have content (D22).

use std::collections::HashMap;

use quick_xml::events::BytesStart;

use super::memory_budget::MemoryBudget;
use super::parse_error::ParseError;
use super::xml::attribute;

/// One part of the zip.
#[derive(Default)]
pub struct Part {
    row: u32,
    /// Lines of hidden rows, in order.
    pub hidden: Vec<u32>,
    /// Whether it has a cell with a value.
    pub is_filled: bool,
    /// Names of sheets with their relation ids, and targets by relation id.
    sheets: Vec<(String, String)>,
    targets: Vec<(String, String)>,
}

#[derive(Default)]
pub struct Beside(HashMap<String, Part>);

const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";

impl Part {
    pub fn start(&mut self, element: &BytesStart<'_>, budget: &mut MemoryBudget) -> Result<(), ParseError> {
        match element.local_name().as_ref() {
            "row" => {
                let row = attribute(element, "r")?.and_then(|row| row.parse().ok());
                self.row = row.unwrap_or(self.row.saturating_add(1));
                if matches!(attribute(element, "hidden")?.as_deref(), Some("1" | "true")) {
                    budget.take(size_of::<u32>())?;
                    self.hidden.push(self.row);
                }
            }
            "v" | "is" => self.is_filled = true,
            "sheet" => {
                let pair = attribute(element, "name")?.zip(attribute(element, "r:id")?);
                self.sheets.extend(pair);
            }
            "Relationship" => {
                let pair = attribute(element, "Id")?.zip(attribute(element, "Target")?);
                self.targets.extend(pair);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Beside {
    /// Adds the facts of a part, under its name in lower case.
    pub fn add(&mut self, name: String, mut part: Part) {
        part.hidden.sort_unstable();
        self.0.insert(name, part);
    }

    /// Returns the part of a sheet.
    pub fn of_sheet(&self, name: &str) -> Option<&Part> {
        let (_, id) = self.0.get(WORKBOOK)?.sheets.iter().find(|(known, _)| known == name)?;
        let (_, target) = self.0.get(RELATIONS)?.targets.iter().find(|(known, _)| known == id)?;
        let target = target.to_ascii_lowercase();
        let path = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
        self.0.get(&path)
    }
}
