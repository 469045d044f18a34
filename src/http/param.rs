//! The query parameters that a route declares.

use crate::rules::choice::Choice;
use crate::rules::document::BelegTyp;

/// The type of a query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// Free text.
    Text,
    /// An integer id.
    Int,
    /// An integer between two bounds; the default.
    IntWithin(i64, i64, i64),
    /// A quantity above 0.
    Quantity,
    /// A uuid.
    Uuid,
    /// A customer: integer kunden_id or uuid (D1).
    Partner,
    /// A day (D15).
    Day,
    /// A day or an instant (D11).
    Since,
    /// true or false.
    Bool,
    /// true or false; false where nothing is said.
    Flag,
    /// One of these values.
    OneOf(&'static [&'static str]),
    /// One of these values; the default.
    OneOfOr(&'static [&'static str], &'static str),
    /// Types of documents, separated by commas (D10).
    Types,
    /// Rows at most; the default, if the specification declares one.
    Limit(Option<u32>),
    /// Rows passed over.
    Offset,
}

/// A query parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamKind,
    /// What it does, in German; `{typen}` stands for all types of documents.
    pub summary: &'static str,
    /// Whether it must be sent.
    pub required: bool,
}

impl Param {
    /// Rows passed over.
    pub const OFFSET: Param = Param::new("offset", ParamKind::Offset, "Einträge, die übersprungen werden");

    /// Rows at most; the default is what the specification declares, if it declares one.
    pub const fn limit(default: Option<u32>) -> Param {
        Param::new(
            "limit",
            ParamKind::Limit(default),
            "Höchstzahl der Einträge; mehr als das Höchste wird darauf gekürzt (Header X-Limit)",
        )
    }

    /// What it does, for the description.
    pub fn description(&self) -> String {
        self.summary.replace("{typen}", &BelegTyp::texts())
    }

    /// A parameter that may be sent.
    pub const fn new(name: &'static str, kind: ParamKind, summary: &'static str) -> Param {
        Param { name, kind, summary, required: false }
    }

    /// Free text.
    pub const fn text(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamKind::Text, summary)
    }

    /// An integer id.
    pub const fn int(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamKind::Int, summary)
    }

    /// A uuid.
    pub const fn uuid(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamKind::Uuid, summary)
    }

    /// A day.
    pub const fn day(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamKind::Day, summary)
    }

    /// true or false.
    pub const fn bool(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamKind::Bool, summary)
    }

    /// true or false; false where nothing is said.
    pub const fn flag(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamKind::Flag, summary)
    }

    /// One of some values.
    pub const fn one_of(name: &'static str, values: &'static [&'static str], summary: &'static str) -> Param {
        Param::new(name, ParamKind::OneOf(values), summary)
    }

    /// The order of a list: one of these, the first of which is its own.
    pub const fn sortierung(values: &'static [&'static str]) -> Param {
        let default = match values {
            [first, ..] => first,
            [] => "",
        };
        Param::new(
            "sortierung",
            ParamKind::OneOfOr(values, default),
            "Ordnung der Liste; mit - davor absteigend",
        )
    }

    /// The same parameter, which must be sent.
    pub const fn required(self) -> Param {
        Param { required: true, ..self }
    }
}
