//! Import of master data (D22): what a kind of import is, reading the file, and what is wrong with it.
//! The slices say what a row is; `app::imports` joins them.

pub mod check;
mod complaint;
pub mod file;
mod ods;
pub mod parts;
mod sheet;
pub mod table;
pub mod template;
mod workbook;

use std::borrow::Cow;

use schemars::JsonSchema;

use crate::db::tx::WriteTx;
use crate::failure::{Failure, Result};
use crate::http::json::Json;
use crate::http::wire::{At, FromJson};
use crate::rules::error::Checked;
use file::{Complaint, Rows};

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upserted {
    /// There was no such record.
    Created,
    /// Some field was different.
    Changed,
    /// Nothing was different.
    Unchanged,
}

/// Stores a row, which is a JSON object whatever the file was.
pub type ImportRow = fn(&WriteTx<'_>, &Json<'_>, &mut At<'_>) -> Result<Upserted>;

/// What can be said of the rows of a kind without a database.
#[derive(Clone, Copy)]
pub struct RowImport {
    /// Its name on the command line.
    pub kind: &'static str,
    /// The columns that are read.
    pub fields: &'static [&'static str],
    /// The name of the shape of a row, by which its fields are explained.
    pub shape: fn() -> Cow<'static, str>,
    /// The columns that name a record: the first of these keys of which a row has the first column.
    pub keys: &'static [&'static [&'static str]],
    /// Checks the types of a row.
    pub check: fn(&Json<'_>, &mut At<'_>) -> Checked<()>,
}

/// A kind of import.
#[derive(Clone, Copy)]
pub struct Import {
    /// Its rows.
    pub rows: RowImport,
    /// Stores a row.
    pub run: ImportRow,
}

/// What became of rows that belong together; or why they were not stored, and which of them is
/// to blame.
pub type Stored = std::result::Result<Vec<Upserted>, (usize, Failure)>;

/// A kind of import some of whose rows belong together, as the lines of a receipt.
#[derive(Clone, Copy)]
pub struct GroupImport {
    /// Its rows.
    pub rows: RowImport,
    /// Which rows belong together, by their place in the file.
    pub groups: fn(&Rows<'_>) -> std::result::Result<Vec<Vec<usize>>, Complaint>,
    /// Stores rows that belong together.
    pub run: fn(&WriteTx<'_>, &[&Json<'_>], &mut At<'_>) -> Stored,
}

/// Any kind of import.
#[derive(Clone, Copy)]
pub enum ImportKind {
    /// Row by row.
    Rows(&'static Import),
    /// Several rows at once.
    Groups(&'static GroupImport),
}

/// Which rows are stored at once.
pub enum Groups {
    /// Each by itself; so many.
    Each(usize),
    /// Several, by their place in the file.
    Of(Vec<Vec<usize>>),
}

impl RowImport {
    /// Rows of type `T`.
    pub const fn of<T: FromJson + JsonSchema>(
        kind: &'static str,
        keys: &'static [&'static [&'static str]],
    ) -> RowImport {
        RowImport {
            kind,
            fields: T::FIELDS,
            shape: T::schema_name,
            keys,
            check: |row, at| T::from_json(row, at).map(drop),
        }
    }
}

impl Import {
    /// A kind whose rows are of type `T`.
    pub const fn of<T: FromJson + JsonSchema>(
        kind: &'static str,
        keys: &'static [&'static [&'static str]],
        run: ImportRow,
    ) -> Import {
        Import { rows: RowImport::of::<T>(kind, keys), run }
    }
}

impl Groups {
    /// How many groups there are.
    pub fn count(&self) -> usize {
        match self {
            Groups::Each(rows) => *rows,
            Groups::Of(groups) => groups.len(),
        }
    }

    /// How many rows a group has.
    pub fn size(&self, group: usize) -> usize {
        match self {
            Groups::Each(_) => 1,
            Groups::Of(groups) => groups.get(group).map_or(0, Vec::len),
        }
    }

    /// The rows of a group, by their place in the file.
    pub fn rows(&self, group: usize) -> Vec<usize> {
        match self {
            Groups::Each(_) => vec![group],
            Groups::Of(groups) => groups.get(group).cloned().unwrap_or_default(),
        }
    }
}

impl ImportKind {
    /// What can be said of its rows.
    pub fn rows(self) -> &'static RowImport {
        match self {
            ImportKind::Rows(import) => &import.rows,
            ImportKind::Groups(import) => &import.rows,
        }
    }

    /// Which rows are stored at once.
    pub fn groups(self, rows: &Rows<'_>) -> std::result::Result<Groups, Complaint> {
        match self {
            ImportKind::Rows(_) => Ok(Groups::Each(rows.len())),
            ImportKind::Groups(import) => (import.groups)(rows).map(Groups::Of),
        }
    }

    /// Stores rows that belong together.
    pub fn store(self, tx: &WriteTx<'_>, rows: &[&Json<'_>], at: &mut At<'_>) -> Stored {
        match self {
            ImportKind::Groups(import) => (import.run)(tx, rows, at),
            ImportKind::Rows(import) => {
                let store = |(index, row): (usize, &&Json<'_>)| {
                    (import.run)(tx, row, at).map_err(|failure| (index, failure))
                };
                rows.iter().enumerate().map(store).collect()
            }
        }
    }
}
