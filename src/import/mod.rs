//! Import of master data (D22): what a kind of import is, and reading the file.
//! The slices say what a row is; `app::imports` joins them.

pub mod file;

use crate::db::error::Result;
use crate::db::tx::WriteTx;
use crate::http::json::Json;
use crate::http::wire::{At, FromJson, Read};

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
    pub check: fn(&Json<'_>, &mut At<'_>) -> Read<()>,
    /// Stores a row.
    pub run: ImportRow,
}

/// The check of a kind whose rows are of type `T`.
pub fn check<T: FromJson>(row: &Json<'_>, at: &mut At<'_>) -> Read<()> {
    T::from_json(row, at).map(drop)
}
