//! A short notation for operations on documents.
//!
//! ```text
//! LS 10@B0 -5; RE/2 s7; put 2: 10; partner 2/1; storno 1; final 2; note 2; close 2; alt on; fefo on;
//! lieferung off; charge T3/1=4%2
//! ```
//!
//! A document has a type, a partner after `/` (default 1) and quantities; its number is that of its turn, or
//! is given before it (`7:LS 10`). A quantity is of the tracked article, or with `s` before it of the other
//! one. It may be followed by `@B0`, a charge_id; `#3`, the supplier's number T-3; `#3%4`, that with a
//! best-before date; `%4`, only a date; `^1`, the document it refers to; `~`, lager_buchen false; `!`, a
//! negative price; `$`, the contract. A batch is corrected to the values after `=`: the supplier's number and
//! the date, each optional.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Typ {
    Ls,
    Re,
    El,
    Er,
}

impl Typ {
    pub const ALL: [Typ; 4] = [Typ::Ls, Typ::Re, Typ::El, Typ::Er];

    pub fn code(self) -> &'static str {
        ["LS", "RE", "EL", "ER"][self as usize]
    }

    pub fn sells(self) -> bool {
        matches!(self, Typ::Ls | Typ::Re)
    }

    pub fn delivers(self) -> bool {
        matches!(self, Typ::Ls | Typ::El)
    }
}

/// A batch, by what identifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Batch {
    /// One of the three opening batches.
    Opening(u32),
    /// The nth batch created with this number of this supplier.
    Foreign { number: u32, partner: u32, nth: u32 },
    /// The nth batch with a best-before date.
    Dated { day: u32, nth: u32 },
}

/// How an item names its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    Nothing,
    Charge(Batch),
    /// By the charge_id that the position had before without naming it; only a PUT does this.
    Inherited(Batch),
    /// With a best-before date or without.
    Foreign(u32, Option<u32>),
    Dated(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    pub quantity: i64,
    /// The article tracked by batch.
    pub tracked: bool,
    pub named: Named,
    /// The number of the document in `bezug_beleg_id`.
    pub refers: Option<u32>,
    /// Not `lager_buchen: false`.
    pub books: bool,
    /// At a negative price.
    pub deduction: bool,
    pub contract: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Post {
        number: u32,
        typ: Typ,
        partner: u32,
        items: Vec<Item>,
    },
    Put {
        number: u32,
        items: Vec<Item>,
    },
    Partner {
        number: u32,
        partner: u32,
    },
    Note(u32),
    Finish(u32),
    Cancel(u32),
    /// Settled, with no counterpart to come.
    Close(u32),
    /// Later documents are dated years back.
    Old(bool),
    Fefo(bool),
    /// A batch gets another supplier's number and another date.
    Correct {
        batch: Batch,
        number: Option<u32>,
        day: Option<u32>,
    },
    /// `lagerbuchung = "lieferung"`
    DeliveriesOnly(bool),
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Batch::Opening(number) => write!(f, "B{number}"),
            Batch::Foreign { number, partner, nth: 1 } => write!(f, "T{number}/{partner}"),
            Batch::Foreign { number, partner, nth } => write!(f, "T{number}/{partner}/{nth}"),
            Batch::Dated { day, nth } => write!(f, "M{day}/{nth}"),
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.tracked { "" } else { "s" }, self.quantity)?;
        match self.named {
            Named::Nothing => {}
            Named::Charge(batch) | Named::Inherited(batch) => write!(f, "@{batch}")?,
            Named::Foreign(number, None) => write!(f, "#{number}")?,
            Named::Foreign(number, Some(day)) => write!(f, "#{number}%{day}")?,
            Named::Dated(day) => write!(f, "%{day}")?,
        }
        if let Some(number) = self.refers {
            write!(f, "^{number}")?;
        }
        let marks = [(!self.books, "~"), (self.deduction, "!"), (self.contract, "$")];
        marks.iter().filter(|(is_so, _)| *is_so).try_for_each(|(_, mark)| f.write_str(mark))
    }
}

fn items_text(items: &[Item]) -> String {
    items.iter().map(|item| format!(" {item}")).collect()
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switch = |on: &bool| if *on { "on" } else { "off" };
        match self {
            Op::Post { number, typ, partner, items } => {
                write!(f, "{number}:{}/{partner}{}", typ.code(), items_text(items))
            }
            Op::Put { number, items } => write!(f, "put {number}:{}", items_text(items)),
            Op::Partner { number, partner } => write!(f, "partner {number}/{partner}"),
            Op::Note(number) => write!(f, "note {number}"),
            Op::Finish(number) => write!(f, "final {number}"),
            Op::Cancel(number) => write!(f, "storno {number}"),
            Op::Close(number) => write!(f, "close {number}"),
            Op::Old(on) => write!(f, "alt {}", switch(on)),
            Op::Correct { batch, number, day } => {
                write!(f, "charge {batch}=")?;
                number.map_or(Ok(()), |number| write!(f, "{number}"))?;
                day.map_or(Ok(()), |day| write!(f, "%{day}"))
            }
            Op::Fefo(on) => write!(f, "fefo {}", switch(on)),
            Op::DeliveriesOnly(on) => write!(f, "lieferung {}", switch(on)),
        }
    }
}

/// A story on one line.
pub fn text(story: &[Op]) -> String {
    story.iter().map(Op::to_string).collect::<Vec<_>>().join("; ")
}

fn number(text: &str) -> u32 {
    text.trim().parse().unwrap_or_else(|_| panic!("no number: {text:?}"))
}

pub fn batch(text: &str) -> Batch {
    let (kind, rest) = text.split_at(1);
    let (first, second) = rest.split_once('/').unwrap_or((rest, "1"));
    match kind {
        "B" => Batch::Opening(number(rest)),
        "T" => {
            let (partner, nth) = second.split_once('/').unwrap_or((second, "1"));
            Batch::Foreign { number: number(first), partner: number(partner), nth: number(nth) }
        }
        "M" => Batch::Dated { day: number(first), nth: number(second) },
        _ => panic!("no batch: {text:?}"),
    }
}

/// Splits at the marks that may follow a quantity: each mark with its value.
pub fn item(text: &str) -> Item {
    let (tracked, rest) = match text.strip_prefix('s') {
        Some(rest) => (false, rest),
        None => (true, text),
    };
    let marks: Vec<usize> =
        rest.match_indices(['@', '#', '%', '^', '~', '!', '$']).map(|(at, _)| at).collect();
    let quantity = &rest[..marks.first().copied().unwrap_or(rest.len())];
    let quantity = quantity.parse().unwrap_or_else(|_| panic!("no quantity: {text:?}"));
    let mut item = Item {
        quantity,
        tracked,
        named: Named::Nothing,
        refers: None,
        books: true,
        deduction: false,
        contract: false,
    };
    for (at, mark) in marks.iter().enumerate() {
        let value = &rest[mark + 1..marks.get(at + 1).copied().unwrap_or(rest.len())];
        match &rest[*mark..=*mark] {
            "@" => item.named = Named::Charge(batch(value)),
            "#" => item.named = Named::Foreign(number(value), None),
            "%" => {
                item.named = match item.named {
                    Named::Foreign(foreign, _) => Named::Foreign(foreign, Some(number(value))),
                    _ => Named::Dated(number(value)),
                }
            }
            "^" => item.refers = Some(number(value)),
            "~" => item.books = false,
            "!" => item.deduction = true,
            _ => item.contract = true,
        }
    }
    item
}

fn items(text: &str) -> Vec<Item> {
    text.split_whitespace().map(item).collect()
}

/// Parses one operation; a document without a number gets `next`.
pub fn op(text: &str, next: u32) -> Op {
    let text = text.trim();
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number_and = |separator: char| rest.split_once(separator).unwrap_or_else(|| panic!("{text:?}"));
    match word {
        "put" => {
            let (first, second) = number_and(':');
            Op::Put { number: number(first), items: items(second) }
        }
        "partner" => {
            let (first, second) = number_and('/');
            Op::Partner { number: number(first), partner: number(second) }
        }
        "note" => Op::Note(number(rest)),
        "final" => Op::Finish(number(rest)),
        "storno" => Op::Cancel(number(rest)),
        "close" => Op::Close(number(rest)),
        "alt" => Op::Old(rest == "on"),
        "fefo" => Op::Fefo(rest == "on"),
        "charge" => {
            let (of, rest) = number_and('=');
            let (foreign, day) =
                rest.split_once('%').map_or((rest, None), |(foreign, day)| (foreign, Some(day)));
            let foreign = Some(foreign).filter(|foreign| !foreign.is_empty());
            Op::Correct { batch: batch(of), number: foreign.map(number), day: day.map(number) }
        }
        "lieferung" => Op::DeliveriesOnly(rest == "on"),
        _ => {
            let (own, word) = word.split_once(':').map_or((next, word), |(own, word)| (number(own), word));
            let (typ, partner) = word.split_once('/').unwrap_or((word, "1"));
            let typ = Typ::ALL.into_iter().find(|known| known.code() == typ);
            let typ = typ.unwrap_or_else(|| panic!("no operation: {text:?}"));
            Op::Post { number: own, typ, partner: number(partner), items: items(rest) }
        }
    }
}

#[test]
fn what_is_written_reads_as_it_was() {
    let story = "1:LS/1 10@B0 -5@T3/2^1 s7$; 2:RE/2 4~ 3! 2#5 1%6 7#1%2; put 1: 3; partner 2/1; note 1; final \
                 2; charge T3/2/2=4%5; charge M6/1=; charge T5/2=%1; storno 1; close 2; alt on; fefo on; \
                 lieferung off";
    let read: Vec<Op> = story.split(';').map(|part| op(part, 0)).collect();
    assert_eq!(text(&read), story);
    assert_eq!(op("LS 1", 4).to_string(), "4:LS/1 1");
}
