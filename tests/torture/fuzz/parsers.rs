//! The parsers that receive data from strangers, clients, people and files, and some with a fault.
//!
//! `inputs` are chosen so that each parser takes a similar share of a seed; `room` is above the observed
//! maximum, and far below what a bomb takes. Three quarters of that of JSON are for serde_json, which is also
//! run; that of a PDF is for its inflated size, 32 MiB, in a list that doubles.

use std::hint::black_box;

use partnerd::rules::fixed::{Fixed, NumberError, Parsed};

use super::guard::Room;
use super::{Parser, corpus, drawn, invoices, tables, values, wire};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

const DECIMAL: Parser = Parser {
    name: "decimal",
    corpus: corpus::decimals,
    inputs: 2_000,
    room: Room(16 * KIB, 16),
    read: values::decimal,
};
const QUERY: Parser = Parser {
    name: "query",
    corpus: corpus::queries,
    inputs: 800,
    room: Room(64 * KIB, 32),
    read: wire::query,
};
const JSON: Parser =
    Parser { name: "json", corpus: corpus::json, inputs: 5_000, room: Room(64 * KIB, 160), read: wire::json };

#[rustfmt::skip]
pub const PARSERS: &[Parser] = &[
    DECIMAL,
    Parser { name: "day", corpus: corpus::days, inputs: 3_000, room: Room(16 * KIB, 8), read: values::day },
    Parser { name: "cursor", corpus: corpus::cursors, inputs: 4_000, room: Room(16 * KIB, 16), read: values::cursor },
    Parser { name: "text", corpus: corpus::texts, inputs: 300, room: Room(64 * KIB, 128), read: values::text },
    QUERY,
    Parser { name: "head", corpus: corpus::heads, inputs: 1_500, room: Room(64 * KIB, 32), read: wire::head },
    JSON,
    Parser { name: "body", corpus: corpus::bodies, inputs: 1_500, room: Room(256 * KIB, 64), read: wire::body },
    Parser { name: "form", corpus: corpus::forms, inputs: 3_000, room: Room(256 * KIB, 16), read: wire::form },
    Parser { name: "table", corpus: corpus::tables, inputs: 800, room: Room(MIB, 128), read: tables::import },
    Parser { name: "xlsx", corpus: corpus::workbooks, inputs: 150, room: Room(32 * MIB, 256), read: tables::import },
    Parser { name: "ods", corpus: corpus::documents, inputs: 300, room: Room(32 * MIB, 256), read: tables::import },
    Parser { name: "dsfinvk", corpus: corpus::exports, inputs: 50, room: Room(MIB, 256), read: tables::export },
    Parser { name: "xml", corpus: corpus::invoices, inputs: 200, room: Room(MIB, 16), read: invoices::invoice },
    Parser { name: "pdf", corpus: corpus::pdfs, inputs: 250, room: Room(128 * MIB, 64), read: invoices::invoice },
    Parser { name: "logo", corpus: corpus::logos, inputs: 1_000, room: Room(32 * MIB, 64), read: invoices::logo },
    Parser { name: "sheet", corpus: corpus::sheets, inputs: 5, room: Room(32 * MIB, 1024), read: drawn::sheet },
];

/// The same with a fault, one of each kind.
pub const FAULTY: &[Parser] =
    &[Parser { read: panics, ..JSON }, Parser { read: swallows, ..QUERY }, Parser { read: loses, ..DECIMAL }];

fn panics(bytes: &[u8]) -> Result<(), String> {
    assert!(!bytes.windows(4).any(|word| word == b"1e40"), "a number that is too large");
    wire::json(bytes)
}

fn swallows(bytes: &[u8]) -> Result<(), String> {
    if bytes.windows(3).any(|word| word == b"%C3") {
        drop(black_box(vec![0_u8; 64 * MIB]));
    }
    wire::query(bytes)
}

/// Drops the last digit of the numbers that end with 07.
fn loses(bytes: &[u8]) -> Result<(), String> {
    fn parse<const SCALE: u32, const SHOWN: usize>(
        text: &str,
    ) -> Result<Parsed<Fixed<SCALE, SHOWN>>, NumberError> {
        let parsed = Fixed::parse(text)?;
        let units: i64 = Fixed::units(parsed.value);
        let units = if units % 100 == 7 { units - 7 } else { units };
        Ok(Parsed { value: Fixed::from_units(units), ..parsed })
    }
    values::decimal_as(&String::from_utf8_lossy(bytes), parse::<2, 2>)
}
