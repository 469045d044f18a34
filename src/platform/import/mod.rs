//! Import of master data (D22): the kinds of import, reading a file, and checking it. The slices define what
//! a row is; `interface::imports` joins them.

mod beside;
pub mod check;
pub mod encoding;
pub mod file;
mod header;
pub mod look;
pub mod memory_budget;
mod ods;
mod parse_error;
pub mod parts;
mod sheet;
pub mod suspicions;
pub mod table;
pub mod template;
mod workbook;
mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::rules::error::{Checked, Hints};
use crate::rules::felder::GeaendertesFeld;
use crate::rules::field::Said;
use file::{ParseError, Rewrite, Rows};
use header::Names;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upserted {
    Created,
    Changed,
    Unchanged,
}

impl Upserted {
    pub fn of(is_new: bool, is_changed: bool) -> Upserted {
        match (is_new, is_changed) {
            (true, _) => Upserted::Created,
            (false, true) => Upserted::Changed,
            (false, false) => Upserted::Unchanged,
        }
    }

    /// Stores a record if it is new or has changed.
    pub fn by<T: PartialEq>(
        old: Option<&T>,
        new: &T,
        store: impl FnOnce() -> Result<()>,
    ) -> Result<Upserted> {
        if old == Some(new) {
            return Ok(Upserted::Unchanged);
        }
        store()?;
        Ok(Upserted::of(old.is_none(), true))
    }
}

/// Stores a row, given as a JSON object whatever the file format.
pub type ImportRow = fn(&WriteTx<'_>, &Json<'_>, &mut At<'_>) -> Result<Upserted>;

/// The outcome of rows that belong together; or why they were not stored, with the index of the row at fault.
pub type Stored = std::result::Result<Vec<Upserted>, (usize, Failure)>;

pub type ImportGroup = fn(&WriteTx<'_>, &[&Json<'_>], &mut At<'_>) -> Stored;

/// Groups the rows that belong together, by their index in the file.
pub type GroupRows = fn(&Rows) -> std::result::Result<Vec<Vec<usize>>, ParseError>;

/// A kind of import, and the checks of its rows that need no database.
pub struct Import {
    pub kind: &'static str,
    pub fields: &'static [&'static str],
    /// The name of the row's shape, by which its fields are explained.
    pub shape: fn() -> Cow<'static, str>,
    /// What the record says of a column.
    pub said: fn(&str) -> Option<Said>,
    /// The columns that identify a record: the first of these keys whose first column the row has.
    pub keys: &'static [&'static [&'static str]],
    pub check: fn(&Json<'_>, &mut At<'_>) -> Checked<()>,
    run: Run,
    /// A file of another program that is read, too.
    pub foreign: Option<&'static Foreign>,
}

/// A file of another program with records of a kind.
pub struct Foreign {
    /// Rewrites its text as a table with our names of columns; `None` for any other file.
    pub rewrite: Rewrite,
    /// How the rows of that table are identified and stored.
    pub import: Import,
}

enum Run {
    Rows(ImportRow),
    Groups(GroupRows, ImportGroup),
}

pub enum Groups {
    Each(usize),
    Of(Vec<Vec<usize>>),
}

impl Groups {
    pub fn count(&self) -> usize {
        match self {
            Groups::Each(rows) => *rows,
            Groups::Of(groups) => groups.len(),
        }
    }

    pub fn rows(&self, group: usize) -> Vec<usize> {
        match self {
            Groups::Each(_) => vec![group],
            Groups::Of(groups) => groups.get(group).cloned().unwrap_or_default(),
        }
    }
}

/// Builds the input that restores these fields to their values before a change.
pub fn put_back<T: FromJson>(felder: &[&GeaendertesFeld]) -> Result<T::Value> {
    let before: BTreeMap<_, _> = felder.iter().map(|feld| (&feld.feld, &feld.alt)).collect();
    read::<T>(&serde_json::to_string(&before)?)
}

/// Reads a value as stored in a history.
pub fn read<T: FromJson>(text: &str) -> Result<T::Value> {
    let json = Json::parse(text.as_bytes()).map_err(Failure::Broken)?;
    Ok(T::from_json(&json, &mut At::top(&mut Hints::default(), false))?)
}

impl Import {
    pub const fn of<T: FromJson + JsonSchema>(
        kind: &'static str,
        keys: &'static [&'static [&'static str]],
        run: ImportRow,
    ) -> Import {
        Import::new::<T>(kind, keys, Run::Rows(run))
    }

    /// A kind whose rows belong together in groups, such as the lines of a receipt.
    pub const fn of_groups<T: FromJson + JsonSchema>(
        kind: &'static str,
        keys: &'static [&'static [&'static str]],
        groups: GroupRows,
        run: ImportGroup,
    ) -> Import {
        Import::new::<T>(kind, keys, Run::Groups(groups, run))
    }

    const fn new<T: FromJson + JsonSchema>(
        kind: &'static str,
        keys: &'static [&'static [&'static str]],
        run: Run,
    ) -> Import {
        Import {
            kind,
            fields: T::FIELDS,
            shape: T::schema_name,
            said: T::said,
            keys,
            check: |row, at| T::from_json(row, at).map(drop),
            run,
            foreign: None,
        }
    }

    /// Returns how the rows of a file are identified and stored.
    pub fn of_file(&self, rows: &Rows) -> &Import {
        self.foreign.filter(|_| rows.is_foreign).map_or(self, |foreign| &foreign.import)
    }

    pub const fn with_foreign(self, foreign: &'static Foreign) -> Import {
        Import { foreign: Some(foreign), ..self }
    }

    fn names(&self) -> Names {
        let key = self.keys.first().and_then(|key| key.first()).copied();
        Names { fields: self.fields, said: self.said, key }
    }

    pub fn groups(&self, rows: &Rows) -> std::result::Result<Groups, ParseError> {
        match self.run {
            Run::Rows(_) => Ok(Groups::Each(rows.len())),
            Run::Groups(groups, _) => groups(rows).map(Groups::Of),
        }
    }

    pub fn store(&self, tx: &WriteTx<'_>, rows: &[&Json<'_>], at: &mut At<'_>) -> Stored {
        match self.run {
            Run::Groups(_, run) => run(tx, rows, at),
            Run::Rows(run) => {
                let store =
                    |(index, row): (usize, &&Json<'_>)| run(tx, row, at).map_err(|failure| (index, failure));
                rows.iter().enumerate().map(store).collect()
            }
        }
    }
}
