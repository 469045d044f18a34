//! Query parameters: parsing and typed access (D16, D18).

use percent_encoding::percent_decode_str;
use uuid::Uuid;

use super::param::{Param, ParamKind, TRIAL};
use crate::platform::db::list::{MAX_LIMIT, MAX_SEARCH_WORDS, Page};
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::error::{Checked, Code, HintCode, Hints, Message, Refusal};
use crate::rules::verweis::{Verweis, parse_uuid};

/// Maximum length of a value, in characters.
pub const VALUE_MAX: usize = 255;

/// The parameter that may be sent without a value, and then has no effect (D3).
pub const SEARCH: &str = "suche";

/// Declares the filters of a list as a struct of plain values, and how each is read from the query of a request. They
/// are read in this order; the first wrong parameter is refused. Pages make the struct without a query.
#[macro_export]
macro_rules! auswahl {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? of $args:tt {
            $($(#[$doc:meta])* $field:ident: $type:ty = $read:expr),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub struct $name $(<$life>)? { $($(#[$doc])* pub $field: $type),+ }

        impl $(<$life>)? $name $(<$life>)? {
            pub fn of $args -> $crate::platform::failure::Result<Self> {
                Ok($name { $($field: $read),+ })
            }
        }
    };
}

#[derive(Debug)]
pub struct Query {
    values: Vec<(&'static Param, String)>,
    params: &'static [Param],
}

impl Query {
    pub fn read(
        query: &str,
        params: &'static [Param],
        unknown_ignored: bool,
        notes: &mut Hints,
    ) -> Checked<Query> {
        let mut values: Vec<(&'static Param, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            let Some(param) = params.iter().find(|param| param.name == name) else {
                let shown: String = name.chars().filter(|c| !c.is_control()).take(50).collect();
                if !unknown_ignored {
                    return Err(unknown(&shown, params));
                }
                notes.add_field(HintCode::UnbekannterParameter, shown, "Diesen Parameter gibt es nicht.");
                continue;
            };
            if values.iter().any(|(known, _)| known.name == param.name) {
                return Err(Query::refuse(
                    param.name,
                    "Der Parameter kommt doppelt vor. Bitte nur einmal senden.",
                ));
            }
            if value.chars().nth(VALUE_MAX).is_some() || value.contains('\0') {
                return Err(Query::refuse(param.name, "Der Wert ist zu lang oder enthält ein NUL-Zeichen."));
            }
            if value.trim().is_empty() && param.name != SEARCH {
                let message =
                    "Der Parameter hat keinen Wert. Bitte einen angeben oder den Parameter weglassen.";
                return Err(Query::refuse(param.name, message));
            }
            values.push((param, value));
        }
        Ok(Query { values, params })
    }

    /// Returns a trimmed text; a blank search counts as absent.
    pub fn text(&self, name: &str) -> Option<&str> {
        let value = self.raw(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    pub fn search(&self, name: &str) -> Checked<Option<&str>> {
        let text = self.text(name);
        if text.is_some_and(|text| text.split_whitespace().count() > MAX_SEARCH_WORDS) {
            let message = format!("Bitte höchstens {MAX_SEARCH_WORDS} Wörter suchen.");
            return Err(Query::refuse(name, message));
        }
        Ok(text)
    }

    pub fn uuid(&self, name: &str) -> Checked<Option<Uuid>> {
        self.parsed(name, parse_uuid, "Hier wird eine id (UUID) erwartet.")
    }

    pub fn int(&self, name: &str) -> Checked<Option<i64>> {
        self.parsed(name, |text| text.parse().ok(), "Hier wird eine ganze Zahl erwartet.")
    }

    /// Returns a customer: an integer kunden_id or a UUID (D1).
    pub fn verweis(&self, name: &str) -> Checked<Option<Verweis>> {
        let read = |text: &str| match Verweis::of_text(text) {
            Verweis::Name(_) => None,
            verweis => Some(verweis),
        };
        self.parsed(name, read, "Hier wird eine kunden_id (Zahl) oder id (UUID) erwartet.")
    }

    pub fn day(&self, name: &str) -> Checked<Option<Day>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let message = "Hier wird ein Datum erwartet, zum Beispiel 2026-07-31.";
        Day::parse(text).map(Some).ok_or_else(|| Refusal::field(Code::DatumUngueltig, name, message))
    }

    /// Returns true or false, in any case: Python clients send `True` (D18).
    pub fn bool(&self, name: &str) -> Checked<Option<bool>> {
        let read = |text: &str| match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        self.parsed(name, read, "Hier wird true oder false erwartet.")
    }

    pub fn flag(&self, name: &str) -> Checked<bool> {
        Ok(self.bool(name)?.unwrap_or(false))
    }

    /// Whether this is a trial, of which nothing is kept: its route has [`TRIAL`] and the request sets it.
    pub fn is_trial(&self) -> Checked<bool> {
        self.param(TRIAL).map_or(Ok(false), |param| self.flag(param.name))
    }

    pub fn int_within(&self, name: &str) -> Checked<i64> {
        let Some(ParamKind::IntWithin(min, max, default)) = self.param(name).map(|param| param.kind) else {
            return Ok(0);
        };
        let message = format!("Hier wird eine Zahl von {min} bis {max} erwartet.");
        let read = |text: &str| text.parse().ok().filter(|number| (min..=max).contains(number));
        Ok(self.parsed(name, read, &message)?.unwrap_or(default))
    }

    pub fn one_of(&self, name: &str) -> Checked<Option<&'static str>> {
        let (allowed, default) = match self.param(name).map(|param| param.kind) {
            Some(ParamKind::OneOf(allowed)) => (allowed, None),
            Some(ParamKind::OneOfOr(allowed, default)) => (allowed, Some(default)),
            _ => return Ok(None),
        };
        let message = format!("Erlaubt sind: {}.", allowed.join(", "));
        let read = |text: &str| allowed.iter().copied().find(|value| value.eq_ignore_ascii_case(text));
        Ok(self.parsed(name, read, &message)?.or(default))
    }

    /// Returns comma-separated values of an enumeration.
    pub fn list_of<T: Choice>(
        &self,
        name: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Checked<Vec<&'static str>> {
        let Some(list) = self.text(name) else { return Ok(Vec::new()) };
        let values = list.split(',').map(|value| Some(read(value.trim())?.text())).collect::<Option<_>>();
        values
            .ok_or_else(|| Query::refuse(name, format!("Erlaubt sind: {}, mit Komma getrennt.", T::texts())))
    }

    /// Returns limit and offset; the second value is for the header X-Limit, if the limit was reduced.
    pub fn page(&self) -> Checked<(Page, Option<u32>)> {
        let (limit, cut) = self.limit()?;
        let offset = self.raw("offset").map_or(Ok(0), |text| natural(text, "offset"))?;
        Ok((Page { limit, offset }, cut))
    }

    /// Returns the limit; the second value is for the header X-Limit, if it was reduced.
    pub fn limit(&self) -> Checked<(Option<u32>, Option<u32>)> {
        let default = match self.param("limit").map(|param| param.kind) {
            Some(ParamKind::Limit(default)) => default,
            _ => None,
        };
        let limit = self.raw("limit").map(|text| natural(text, "limit")).transpose()?;
        Ok(match limit {
            None => (default, None),
            Some(limit) if limit > i64::from(MAX_LIMIT) => (Some(MAX_LIMIT), Some(MAX_LIMIT)),
            Some(limit) => (u32::try_from(limit).ok(), None),
        })
    }

    pub fn refuse(name: &str, message: impl Into<Message>) -> Box<Refusal> {
        Refusal::field(Code::ParameterUngueltig, name, message)
    }

    fn parsed<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Option<T>,
        message: &str,
    ) -> Checked<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        read(text).map(Some).ok_or_else(|| Query::refuse(name, message))
    }

    /// Whether the client sent this parameter.
    pub fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    fn raw(&self, name: &str) -> Option<&str> {
        debug_assert!(self.param(name).is_some(), "the route does not declare the parameter {name}");
        self.values.iter().find(|(param, _)| param.name == name).map(|(_, value)| value.as_str())
    }

    fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }
}

/// Parses a number of rows, digits only; a number that is too large means the end of the table.
fn natural(text: &str, name: &str) -> Checked<i64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Query::refuse(name, "Hier wird eine Zahl ab 0 erwartet."));
    }
    Ok(text.parse().unwrap_or(i64::MAX))
}

fn unknown(name: &str, params: &[Param]) -> Box<Refusal> {
    let known: Vec<_> = params.iter().map(|param| param.name).collect();
    let known = if known.is_empty() { "keine".to_owned() } else { known.join(", ") };
    let message = format!("Den Parameter {name} gibt es hier nicht. Bekannt sind: {known}.");
    Refusal::field(Code::UnbekannterParameter, name, message)
}

/// Percent-decodes a text; refuses bad escapes and bad UTF-8 instead of guessing.
pub fn decode(text: &str) -> Checked<String> {
    let refusal = || {
        Refusal::new(
            Code::AnfrageUngueltig,
            "Die Adresse ist falsch kodiert. Bitte Sonderzeichen als %XX senden.",
        )
    };
    let mut escapes = text.split('%').skip(1);
    let is_hex = |escape: &str| escape.get(..2).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    if !escapes.all(is_hex) {
        return Err(refusal());
    }
    let spaced = text.replace('+', " ");
    Ok(percent_decode_str(&spaced).decode_utf8().map_err(|_| refusal())?.into_owned())
}
