//! What clients do who ask for numbers.

use Step::*;

use crate::dice::Dice;

/// Documents before this year's.
pub const YEARS: [&str; 2] = ["2024-05-06", "2025-05-06"];

/// What a client does.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A document is made, of a type and a year.
    Document(&'static str, &'static str),
    /// The same, and the connection is cut off behind so many thousandths of the request, or bytes of the answer.
    Cut(usize),
    Unread,
    /// A final invoice, and two stornos of it: the second is refused.
    Storno,
    Weighing,
    Order,
    /// A goods-receipt note with its delivery into a new batch.
    Note,
    /// The same without a word about the batch, which its delivery needs.
    NoteWithoutBatch,
    /// Refused before anything is written.
    Nothing,
    NoArticle,
    /// Refused after it was written, by the company that does not sell what it does not have.
    TooMuch,
    /// Refused because somebody was faster, or has it already.
    Kundennr,
    Changed,
    SameKey,
    /// Two documents, between which one is refused.
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
