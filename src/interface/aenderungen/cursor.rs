//! The cursor of a client: its position in the feed, encoded as an opaque text.

use std::fmt::{Display, Formatter};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::rules::day::Instant;
use crate::rules::error::{Checked, Code, Refusal};

const NUMBER: usize = size_of::<i64>();

/// The last row of the feed that a client has read: its number and when it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub nr: i64,
    pub am: Instant,
}

impl Position {
    pub const START: Position = Position { nr: 0, am: Instant::from_millis(0) };
}

/// A position in the feed of one database. `epoch` changes with each restore, after which the same numbers
/// belong to other changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub epoch: i64,
    pub position: Position,
}

impl Cursor {
    pub fn read(text: &str) -> Option<Cursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let bytes: [u8; 3 * NUMBER] = bytes.try_into().ok()?;
        let (numbers, _) = bytes.as_chunks::<NUMBER>();
        let [epoch, nr, am] = *numbers else { return None };
        let [epoch, nr, am] = [epoch, nr, am].map(i64::from_be_bytes);
        (nr >= 0).then_some(Cursor { epoch, position: Position { nr, am: Instant::from_millis(am) } })
    }

    /// Returns the position if `epoch` matches and every later row still exists, else refuses. `ends` are the
    /// first and the last row of the feed.
    pub fn position(self, epoch: i64, ends: Option<[Position; 2]>) -> Checked<Position> {
        let Cursor { epoch: own, position } = self;
        let is_there = match ends {
            Some([first, last]) => (first.nr - 1..=last.nr).contains(&position.nr),
            None => position.nr == 0,
        };
        if own == epoch && is_there { Ok(position) } else { Err(expired()) }
    }
}

impl Display for Cursor {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Cursor { epoch, position } = self;
        let numbers = [*epoch, position.nr, position.am.millis()].map(i64::to_be_bytes);
        f.write_str(&URL_SAFE_NO_PAD.encode(numbers.as_flattened()))
    }
}

/// Refusal of a cursor after which rows are missing.
pub fn expired() -> Box<Refusal> {
    let message = "Was nach diesem cursor geschah, ist nicht mehr vollständig da: Er ist älter als 90 Tage, oder die \
                   Datenbank wurde wiederhergestellt. Bitte die eigenen Daten neu abgleichen und ohne seit beginnen.";
    Refusal::field(Code::CursorAbgelaufen, "seit", message)
}
