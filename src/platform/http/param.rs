//! The query parameters that a route declares.

use crate::rules::choice::Choice;
use crate::rules::document::BelegTyp;

/// The parameter by which a request asks for a trial: nothing it does is kept.
pub const TRIAL: &str = "pruefen";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    Text,
    Int,
    IntWithin(i64, i64, i64),
    /// A quantity above 0.
    Quantity,
    Uuid,
    /// A customer: an integer kunden_id or a UUID (D1).
    Partner,
    Day,
    /// A day or an instant (D11).
    Since,
    Bool,
    /// true or false; false if absent.
    Flag,
    OneOf(&'static [&'static str]),
    OneOfOr(&'static [&'static str], &'static str),
    /// Values of an enumeration, separated by commas (D3, D10).
    ListOf(&'static [&'static str]),
    /// Maximum number of rows; the default, if the specification declares one.
    Limit(Option<u32>),
    Offset,
}

#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub kind: ParamKind,
    /// Its description in German; `{typen}` stands for all types of documents.
    pub summary: &'static str,
    pub required: bool,
}

/// Constructors for kinds without further data: `Param::day("von", "…")`.
macro_rules! of_kind {
    ($($name:ident $kind:ident),+) => {
        impl Param {
            $(pub const fn $name(name: &'static str, summary: &'static str) -> Param {
                Param::new(name, ParamKind::$kind, summary)
            })+
        }
    };
}

of_kind!(text Text, int Int, uuid Uuid, day Day, bool Bool, flag Flag);

impl Param {
    /// A parameter by which the request is only tried: the answer is real, but nothing is kept.
    pub const fn trial(summary: &'static str) -> Param {
        Param::flag(TRIAL, summary)
    }

    pub const OFFSET: Param = Param::new("offset", ParamKind::Offset, "Einträge, die übersprungen werden");

    pub const fn limit(default: Option<u32>) -> Param {
        let summary = "Höchstzahl der Einträge; mehr als das Höchste wird darauf gekürzt (Header X-Limit)";
        Param::new("limit", ParamKind::Limit(default), summary)
    }

    pub fn description(&self) -> String {
        self.summary.replace("{typen}", &BelegTyp::texts())
    }

    pub const fn new(name: &'static str, kind: ParamKind, summary: &'static str) -> Param {
        Param { name, kind, summary, required: false }
    }

    pub const fn one_of(name: &'static str, values: &'static [&'static str], summary: &'static str) -> Param {
        Param::new(name, ParamKind::OneOf(values), summary)
    }

    pub const fn list_of(
        name: &'static str,
        values: &'static [&'static str],
        summary: &'static str,
    ) -> Param {
        Param::new(name, ParamKind::ListOf(values), summary)
    }

    /// The order of a list: one of these values; the first is the default.
    pub const fn sortierung(values: &'static [&'static str]) -> Param {
        let default = match values {
            [first, ..] => first,
            [] => "",
        };
        let summary = "Ordnung der Liste; mit - davor absteigend";
        Param::new("sortierung", ParamKind::OneOfOr(values, default), summary)
    }

    pub const fn required(self) -> Param {
        Param { required: true, ..self }
    }
}
