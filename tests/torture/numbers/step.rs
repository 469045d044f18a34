//! The steps of clients, which take numbers.

use Step::*;

use crate::dice::Dice;

/// Dates of documents before this year.
pub const YEARS: [&str; 2] = ["2024-05-06", "2025-05-06"];

/// A step of a client.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Creates a document of a type and a date.
    Document(&'static str, &'static str),
    /// The same, but the connection is cut off after this many thousandths of the request, or bytes of the answer.
    Cut(usize),
    Unread,
    /// A final invoice, and two stornos of it: the second is refused.
    Storno,
    Weighing,
    Order,
    /// A goods receipt with its delivery into a new batch.
    Note,
    /// The same without a batch, which its delivery needs.
    NoteWithoutBatch,
    /// Refused before anything is written.
    Nothing,
    NoArticle,
    /// Refused after it was written, by the company that does not sell what it does not have.
    TooMuch,
    /// Refused because another client was faster, or has it already.
    Kundennr,
    Changed,
    SameKey,
    /// Two documents with a refused one in between.
    Bulk,
}

impl Step {
    pub fn of(dice: &mut Dice) -> Step {
        let typ = dice.pick(&["AN", "AU", "LS", "RE", "BS", "EL"]).unwrap_or("RE");
        let document = Document(typ, YEARS[dice.below(2)]);
        let refused = [Nothing, NoArticle, TooMuch, NoteWithoutBatch, Kundennr, Changed, SameKey];
        match dice.below(24) {
            0..7 => document,
            7 => Cut(dice.below(1_000)),
            8 => Unread,
            9 | 10 => Storno,
            11 => Weighing,
            12 => Order,
            13 | 14 => Note,
            15 | 16 => Bulk,
            _ => refused[dice.below(refused.len())],
        }
    }
}
