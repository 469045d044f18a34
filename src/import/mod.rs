//! Import of master data (D22): what a kind of import is, and reading the file.
//! The slices say what a row is; `app::imports` joins them.

pub mod file;

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

/// A kind of import.
#[derive(Clone, Copy)]
pub struct Import {
    /// Its name on the command line.
    pub kind: &'static str,
    /// Checks the types of a row; needs no database.
    pub check: fn(&Json<'_>, &mut At<'_>) -> Checked<()>,
    /// Stores a row.
    pub run: ImportRow,
}

/// What became of rows that belong together; or why they were not stored, and which of them is
/// to blame.
pub type Stored = std::result::Result<Vec<Upserted>, (usize, Failure)>;

/// A kind of import some of whose rows belong together, as the lines of a receipt.
#[derive(Clone, Copy)]
pub struct GroupImport {
    /// Its name on the command line.
    pub kind: &'static str,
    /// Checks the types of a row; needs no database.
    pub check: fn(&Json<'_>, &mut At<'_>) -> Checked<()>,
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

impl ImportKind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ImportKind::Rows(import) => import.kind,
            ImportKind::Groups(import) => import.kind,
        }
    }

    /// Checks the types of a row; needs no database.
    pub fn check(self, row: &Json<'_>, at: &mut At<'_>) -> Checked<()> {
        match self {
            ImportKind::Rows(import) => (import.check)(row, at),
            ImportKind::Groups(import) => (import.check)(row, at),
        }
    }

    /// Which rows are stored at once, by their place in the file.
    pub fn groups(self, rows: &Rows<'_>) -> std::result::Result<Vec<Vec<usize>>, Complaint> {
        match self {
            ImportKind::Rows(_) => Ok((0..rows.rows.len()).map(|at| vec![at]).collect()),
            ImportKind::Groups(import) => (import.groups)(rows),
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

/// The check of a kind whose rows are of type `T`.
pub fn check<T: FromJson>(row: &Json<'_>, at: &mut At<'_>) -> Checked<()> {
    T::from_json(row, at).map(drop)
}
