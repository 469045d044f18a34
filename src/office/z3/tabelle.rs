//! What a table of the hand-over is: its file, its columns with the expression that each is read from, its key and what
//! it refers to. index.xml, the statement, the CSV and the report follow from it.

/// How a column is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Art {
    /// Text, or a whole number that is a name.
    Text,
    /// A uuid.
    Id,
    /// An integer of the database with so many decimals; the report adds up those of which a sum means something.
    Zahl { stellen: u32, hat_summe: bool },
    /// A day: DD.MM.YYYY.
    Tag,
    /// Milliseconds since 1970, as text of ISO 8601: the standard knows no time of day.
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
    /// The name of its file without its ending.
    pub datei: &'static str,
    pub titel: &'static str,
    pub beschreibung: &'static str,
    /// Its rows are of the period; those of master data are what such rows name.
    pub ist_zeitraum: bool,
    /// So many columns from the first on are its key.
    pub schluessel: usize,
    pub spalten: &'static [Spalte],
    /// Columns with the table that they refer to, which stands before this one and has a key of this name.
    pub verweise: &'static [(&'static str, &'static str)],
    /// What follows the columns in its statement.
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

/// Cents, in euros.
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
