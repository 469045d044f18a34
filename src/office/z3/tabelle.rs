//! The definition of a table in the hand-over: its file, its columns with their SQL expressions, its key and
//! its references. index.xml, the statement, the CSV and the report follow from it.

/// How a column is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Art {
    /// Text, or a whole number that serves as a name.
    Text,
    /// A uuid.
    Id,
    /// An integer of the database with `stellen` decimals; the report adds up those for which a sum makes
    /// sense.
    Zahl { stellen: u32, hat_summe: bool },
    /// A day: DD.MM.YYYY.
    Tag,
    /// Milliseconds since 1970, written as ISO 8601 text: the standard has no time of day.
    Zeitpunkt,
}

#[derive(Debug, Clone, Copy)]
pub struct Spalte {
    pub name: &'static str,
    pub art: Art,
    /// The expression in SQL.
    pub wert: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub struct Tabelle {
    /// Its file name without the extension.
    pub datei: &'static str,
    pub titel: &'static str,
    pub beschreibung: &'static str,
    /// Whether the period selects its rows; a table of master data has the rows they refer to.
    pub ist_zeitraum: bool,
    /// Number of columns, from the first on, that are its key.
    pub schluessel: usize,
    pub spalten: &'static [Spalte],
    /// Columns with the table they refer to, which stands before this one and has a key of the same name.
    pub verweise: &'static [(&'static str, &'static str)],
    /// The part of its statement that follows the columns.
    pub from: &'static str,
}

impl Tabelle {
    pub fn statement(&self) -> String {
        let werte: Vec<_> = self.spalten.iter().map(|spalte| spalte.wert).collect();
        format!("select {} {}", werte.join(", "), self.from)
    }

    pub fn csv(&self) -> String {
        format!("{}.csv", self.datei)
    }
}

const fn spalte(name: &'static str, art: Art, wert: &'static str) -> Spalte {
    Spalte { name, art, wert }
}

pub const fn text(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Text, wert)
}

pub const fn id(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Id, wert)
}

pub const fn tag(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Tag, wert)
}

pub const fn zeitpunkt(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Zeitpunkt, wert)
}

/// A whole number.
pub const fn ganz(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Zahl { stellen: 0, hat_summe: false }, wert)
}

/// Cents, written in euros.
pub const fn geld(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Zahl { stellen: 2, hat_summe: true }, wert)
}

/// Millionths of a quantity or a weight.
pub const fn menge(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Zahl { stellen: 6, hat_summe: true }, wert)
}

/// Millionths of a price or a percentage.
pub const fn genau(name: &'static str, wert: &'static str) -> Spalte {
    spalte(name, Art::Zahl { stellen: 6, hat_summe: false }, wert)
}
