//! The fields of an answer, written directly from the columns of a row.

use partnerd::rules::{day, fixed};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use uuid::Uuid;

/// A field: its name, and how its column becomes JSON. Columns are in the order of the fields.
pub type Field = (&'static str, Kind);

/// How a column becomes JSON; null is always null.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A number or a text, unchanged.
    Plain,
    Id,
    Money,
    Quantity,
    Price,
    Percent,
    Instant,
    /// A day, written as a date-time.
    DayTime,
    Bool,
    /// A number, written as a text.
    Text,
    /// Three columns: the roles of a partner.
    Roles,
    /// No column: always null here.
    Null,
}

use Kind::*;

pub const KUNDE: &[Field] = &[
    ("id", Id),
    ("kunden_id", Plain),
    ("kundennr", Plain),
    ("name", Plain),
    ("nachname_firma", Plain),
    ("anrede", Plain),
    ("vorname", Plain),
    ("email", Plain),
    ("telefon", Plain),
    ("telefon2", Plain),
    ("strasse", Plain),
    ("plz", Plain),
    ("ort", Plain),
    ("staat", Plain),
    ("status", Plain),
    ("partner_typen", Roles),
    ("steuerart", Plain),
    ("besteuerungen", Plain),
    ("zahlungsziel_tage", Plain),
    ("skonto_tage", Plain),
    ("skonto_prozent", Percent),
    ("steuernummer", Plain),
    ("ust_id", Plain),
    ("betriebsnummer", Plain),
    ("iban", Plain),
    ("bic", Plain),
    ("e_rechnung", Plain),
    ("kaeuferreferenz", Plain),
    ("e_adresse", Plain),
    ("gutschrift_vereinbart_am", Plain),
    ("debitor_konto", Plain),
    ("kreditor_konto", Plain),
    ("vb_id", Plain),
    ("notizen", Plain),
    ("created_at", Instant),
    ("updated_at", Instant),
];

pub const BARVERKAUF: &[Field] = &[
    ("id", Plain),
    ("bon_id", Id),
    ("artikel_id", Id),
    ("bezeichnung", Plain),
    ("ean", Plain),
    ("menge", Quantity),
    ("einheit", Plain),
    ("einzelpreis", Price),
    ("mwst_satz", Percent),
    ("gesamt", Money),
    ("datum", Plain),
    ("kassiert_at", Instant),
    ("bon_nr", Plain),
    ("art", Plain),
    ("storniert", Bool),
    ("storno_von_bon_id", Id),
    ("zahlart", Plain),
    ("kasse_id", Id),
    ("kunde_id", Id),
    ("artikelnummer", Plain),
    ("artikelnr", Plain),
    ("bezeichnung2", Plain),
    ("netto", Money),
    ("steuer", Money),
];

pub const DOKUMENT: &[Field] = &[
    ("id", Id),
    ("beleg_typ", Plain),
    ("beleg_nummer", Plain),
    ("beleg_datum", DayTime),
    ("status", Plain),
    ("summe_brutto", Money),
    ("summe_netto", Money),
    ("summe_mwst", Money),
    ("kunde_id", Id),
    ("kunde_name", Plain),
    ("pdf_archiv_count", Text),
    ("pdf_letztes", Instant),
    ("pdf_url", Null),
];

/// A row as a JSON object.
pub struct Record<'r, 's> {
    pub row: &'r Row<'s>,
    pub fields: &'static [Field],
}

impl Serialize for Record<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        let mut at = 0;
        for (name, kind) in self.fields {
            map.serialize_entry(name, &Value { row: self.row, at, kind: *kind })?;
            at += match kind {
                Roles => 3,
                Null => 0,
                _ => 1,
            };
        }
        map.end()
    }
}

/// One value of a row.
struct Value<'r, 's> {
    row: &'r Row<'s>,
    at: usize,
    kind: Kind,
}

impl Serialize for Value<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.kind {
            Null => return serializer.serialize_none(),
            Roles => {
                let mut roles = serializer.serialize_seq(None)?;
                for (at, role) in ["kunde", "lieferant", "spediteur"].iter().enumerate() {
                    if self.row.get_ref_unwrap(self.at + at) == ValueRef::Integer(1) {
                        roles.serialize_element(role)?;
                    }
                }
                return roles.end();
            }
            _ => {}
        }
        match self.row.get_ref_unwrap(self.at) {
            ValueRef::Null => serializer.serialize_none(),
            ValueRef::Integer(number) => match self.kind {
                Money => fixed::Money::from_units(number).serialize(serializer),
                Quantity => fixed::Quantity::from_units(number).serialize(serializer),
                Price => fixed::Price::from_units(number).serialize(serializer),
                Percent => fixed::Percent::from_units(number).serialize(serializer),
                Instant => day::Instant::from_millis(number).serialize(serializer),
                Bool => serializer.serialize_bool(number != 0),
                Text => serializer.collect_str(&number),
                _ => serializer.serialize_i64(number),
            },
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text).unwrap();
                match self.kind {
                    DayTime => serializer.collect_str(&format_args!("{text}T00:00:00.000Z")),
                    _ => serializer.serialize_str(text),
                }
            }
            ValueRef::Blob(bytes) => Uuid::from_slice(bytes).unwrap().serialize(serializer),
            ValueRef::Real(_) => unreachable!("no column is a float"),
        }
    }
}
