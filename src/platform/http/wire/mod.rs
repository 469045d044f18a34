//! Input types: how a field of a body is read (D14, D15, D18).
//!
//! `eingabe!` declares a body as a struct of plain values and names, for each field, the type that reads it:
//! `Text` yields a `String`, `Kennung` an `i64`. Reading checks every field, reports errors by their path,
//! and adds hints about anything ignored or rounded.

mod at;
mod cell;
mod number;

pub use at::{At, FromJson, field};
pub use cell::{Decimal, Numbers, Seen};
pub use number::{Gewicht, Int, Kennung, NotNegative, Tage, Waegung};

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::OnceLock;

use schemars::{JsonSchema, SchemaGenerator};
use uuid::Uuid;

use super::json::Json;
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Checked, Code, HintCode, Refusals};
use crate::rules::kennnummer::plain;
use crate::rules::verweis::{Verweis, parse_uuid};

pub use crate::rules::text::TEXT_CHARS_MAX;

/// Longest text of langtext, notizen and bemerkung, in characters (D18).
pub const LONG_TEXT_CHARS_MAX: usize = 4_000;

/// Declares a body as a struct and how to read it. Each field names the type that reads it; the struct holds
/// the resulting values ([`FromJson::Value`]) and can be built without a body.
///
/// `pub struct` makes each field an `Option`; `pub change` makes it a
/// [`Change`](crate::rules::change::Change). One list of fields can declare both; then the first converts
/// into the second. `as` sets the name in the description, if it differs.
///
/// The bodies of a record stand behind its `record!`, which passes its fields on.
///
/// `nur_lesen` names fields that appear in answers and may be repeated in requests, those of a struct as
/// `..Beleg`; they are ignored with a hint, so that GET, edit, PUT works.
#[macro_export]
macro_rules! eingabe {
    (
        $(#[$meta:meta])*
        pub struct $name:ident;
        $(#[$change_meta:meta])*
        pub change $change:ident $fields:tt
        nur_lesen: $read_only:tt
    ) => {
        $crate::eingabe! { $(#[$meta])* pub struct $name $fields nur_lesen: $read_only }
        $crate::eingabe! { $(#[$change_meta])* pub change $change $fields nur_lesen: $read_only }
        $crate::eingabe! { @ from $name $change $fields }
    };
    (@ from $name:ident $change:ident { $($(#[$doc:meta])* $field:ident : $type:ty),+ $(,)? }) => {
        impl From<$name> for $change {
            /// Turns a new record into a change: present fields are set, absent ones stay.
            fn from(new: $name) -> $change {
                $change {
                    $($field: new
                        .$field
                        .map_or($crate::rules::change::Change::Keep, $crate::rules::change::Change::Set)),+
                }
            }
        }
    };
    // A body of a record: the fields that name the type that reads them, and its own.
    (
        @ of $record:ident: $(#[$meta:meta])* $kind:ident $body:ident $(as $shown:literal)? { $($own:tt)* }
        [$($read_only:literal),*] {
            $($(#[$($attribute:tt)*])* $field:ident: $type:ty $(as $wire:ty)?
                $(= $($way:ident $(as $column:ident)?)? $($sql:literal)? $($(|$($of:ident),+|)? { $value:expr })?)?
                $(=> $said:expr)?),* $(,)?
        }
    ) => {
        $crate::eingabe! {
            $(#[$meta])*
            pub $kind $body $(as $shown)? { $($($field: $wire,)?)* $($own)* }
            nur_lesen: [..$record $(, $read_only)*]
        }

        impl $body {
            /// Sets the fields that the record declares: what was not said stays, null empties.
            #[allow(unused, reason = "a slice that computes most of its record sets each field itself")]
            pub(super) fn apply_to(self, record: &mut $record) {
                use $crate::{platform::http::wire::FromJson, rules::change::Takes};

                $($(Takes::<<$wire as FromJson>::Value>::take(&mut record.$field, self.$field);)?)*
            }
        }
    };
    ($(#[$meta:meta])* pub struct $name:ident $fields:tt nur_lesen: $read_only:tt) => {
        $crate::eingabe! { @ Option, stringify!($name), $(#[$meta])* $name $fields $read_only }
    };
    ($(#[$meta:meta])* pub struct $name:ident as $shown:literal $fields:tt nur_lesen: $read_only:tt) => {
        $crate::eingabe! { @ Option, $shown, $(#[$meta])* $name $fields $read_only }
    };
    ($(#[$meta:meta])* pub change $name:ident $fields:tt nur_lesen: $read_only:tt) => {
        $crate::eingabe! { @ Change, stringify!($name), $(#[$meta])* $name $fields $read_only }
    };
    (
        @ $holder:ident, $shown:expr,
        $(#[$meta:meta])*
        $name:ident { $($(#[$doc:meta])* $field:ident : $type:ty),+ $(,)? }
        [$(.. $shown_by:ident $(,)?)? $($read_only:literal),* $(,)?]
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default)]
        pub struct $name {
            $(
                $(#[$doc])*
                pub $field: $crate::eingabe!(@ $holder: <$type as $crate::platform::http::wire::FromJson>::Value)
            ),+
        }

        impl $crate::platform::http::wire::FromJson for $name {
            type Value = $name;
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),+];

            $(fn said(field: &str) -> Option<$crate::rules::field::Said> {
                <$shown_by as $crate::rules::field::Declared>::declared(field).map(|field| field.said)
            })?

            fn from_json(
                json: &$crate::platform::http::json::Json<'_>,
                at: &mut $crate::platform::http::wire::At<'_>,
            ) -> $crate::rules::error::Checked<$name> {
                let mut body = $name::default();
                let mut refused = $crate::rules::error::Refusals::default();
                let members = $crate::platform::http::wire::members(json, at)?;
                for (key, value) in members {
                    match $crate::platform::http::wire::meant(key, members, Self::FIELDS, at) {
                        $(stringify!($field) => {
                            let read = at.field(key, |at| $crate::platform::http::wire::field::<$type, _>(value, at));
                            body.$field = refused.keep(read).unwrap_or_default();
                        })+
                        $($read_only => at.field(key, |at| $crate::platform::http::wire::ignored(at)),)*
                        $(shown if {
                            static SHOWN: $crate::platform::http::wire::FieldsOf<$shown_by> =
                                $crate::platform::http::wire::FieldsOf::new();
                            SHOWN.has(shown)
                        } => at.field(key, |at| $crate::platform::http::wire::ignored(at)),)?
                        _ => {
                            let unknown = at.field(key, |at| at.unknown());
                            refused.keep(unknown);
                        }
                    }
                }
                refused.into_result_of_fields()?;
                Ok(body)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $shown.into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut properties = serde_json::Map::new();
                $(
                    let mut field = <Option<$type> as schemars::JsonSchema>::json_schema(generator);
                    let said = <$name as $crate::platform::http::wire::FromJson>::said(stringify!($field));
                    if let Some(said) = said {
                        field.insert("x-meaning".to_owned(), said.meaning.into());
                    }
                    properties.insert(stringify!($field).to_owned(), field.into());
                )+
                schemars::json_schema!({"type": "object", "properties": properties})
            }
        }
    };
    (@ Option: $value:ty) => { Option<$value> };
    (@ Change: $value:ty) => { $crate::rules::change::Change<$value> };
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Leer;

impl FromJson for Leer {
    type Value = Leer;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Leer> {
        for (key, _) in members(json, at)? {
            at.field(key, |at| at.unknown())?;
        }
        Ok(Leer)
    }
}

/// A list of up to `MAX` objects; not possible in a table.
pub struct Liste<T, const MAX: usize>(PhantomData<T>);

impl<T: FromJson, const MAX: usize> FromJson for Liste<T, MAX> {
    type Value = Vec<T::Value>;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Vec<T::Value>> {
        let Json::Array(elements) = json else {
            return at.refuse(Code::FeldUngueltig, "Hier wird eine Liste erwartet (nur in JSON).");
        };
        if elements.len() > MAX {
            return at.refuse(Code::WertUngueltig, format!("Die Liste darf höchstens {MAX} Einträge haben."));
        }
        let mut refused = Refusals::default();
        let mut read = |(index, element)| refused.keep(at.element(index, |at| T::from_json(element, at)));
        let values = elements.iter().enumerate().filter_map(&mut read).collect();
        refused.into_result_of_fields()?;
        Ok(values)
    }
}

pub fn members<'j, 'b>(
    json: &'j Json<'b>,
    at: &At<'_>,
) -> Checked<&'j [(std::borrow::Cow<'b, str>, Json<'b>)]> {
    match json {
        Json::Object(members) => Ok(members),
        _ => at.refuse(Code::FeldUngueltig, "Hier wird ein JSON-Objekt erwartet."),
    }
}

/// Names under which a field is known at other routes (D18): the name sent, its meaning, and a field that
/// must exist in the body for the alias to apply. If the body itself has a field with the name sent, the
/// alias does not apply.
pub const ALIASES: &[(&str, &str, &str)] = &[
    ("artikelnummer", "artikelnr", "artikelnr"),
    ("kundennr", "kundennummer", "kundennummer"),
    ("kundennummer", "kundennr", "kundennr"),
    ("partner_id", "kunden_id", "kundennummer"),
    ("notizen", "bemerkung", "bemerkung"),
    ("bemerkung", "notizen", "notizen"),
    ("datei_base64", "inhalt_base64", "inhalt_base64"),
    ("inhalt_base64", "datei_base64", "datei_base64"),
];

/// Returns the field that a name in a body means. If that field is sent as well, the name remains unknown.
pub fn meant<'n>(
    sent: &'n str,
    members: &[(std::borrow::Cow<'_, str>, Json<'_>)],
    fields: &[&str],
    at: &mut At<'_>,
) -> &'n str {
    let is_so = |(alias, field, beside): &&(&'static str, &'static str, &'static str)| {
        *alias == sent && !fields.contains(alias) && fields.contains(field) && fields.contains(beside)
    };
    let Some((_, field, _)) = ALIASES.iter().find(is_so) else { return sent };
    if members.iter().any(|(known, _)| known == field) {
        return sent;
    }
    let message = format!("Dieses Feld heißt hier {field}; es wurde so übernommen.");
    at.field(sent, |at| at.hint(HintCode::FeldAlias, message));
    field
}

/// The names of a struct's fields in answers, as in the description.
pub struct FieldsOf<T>(OnceLock<BTreeSet<String>>, PhantomData<fn() -> T>);

impl<T: JsonSchema> FieldsOf<T> {
    /// Computes nothing until the first use.
    #[allow(clippy::new_without_default, reason = "statics need a const function")]
    pub const fn new() -> FieldsOf<T> {
        FieldsOf(OnceLock::new(), PhantomData)
    }

    pub fn has(&self, name: &str) -> bool {
        let fields = || {
            let schema = T::json_schema(&mut SchemaGenerator::default());
            let properties = schema.get("properties").and_then(serde_json::Value::as_object);
            properties.into_iter().flat_map(|fields| fields.keys().cloned()).collect()
        };
        self.0.get_or_init(fields).contains(name)
    }
}

pub fn ignored(at: &mut At<'_>) {
    at.hint(HintCode::FeldIgnoriert, "Dieses Feld vergibt der Dienst selbst; es wurde nicht übernommen.");
}

/// A text of at most `CHARS_MAX` characters: trimmed, CRLF replaced by LF.
pub struct TextWithin<const CHARS_MAX: usize>;

pub type Text = TextWithin<TEXT_CHARS_MAX>;

pub type LongText = TextWithin<LONG_TEXT_CHARS_MAX>;

impl<const CHARS_MAX: usize> FromJson for TextWithin<CHARS_MAX> {
    type Value = String;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<String> {
        read_text(json, at, CHARS_MAX)
    }
}

/// Reads a trimmed text without control characters, at most `max` characters long.
pub fn read_text(json: &Json<'_>, at: &At<'_>, max: usize) -> Checked<String> {
    let text = match json {
        Json::String(text) => text,
        // A cell of a spreadsheet.
        Json::Number(digits) if at.is_tabular() => *digits,
        _ => return at.refuse(Code::FeldUngueltig, "Hier wird ein Text in Anführungszeichen erwartet."),
    };
    let text = text.trim().replace("\r\n", "\n");
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return at.refuse(Code::FeldUngueltig, "Der Text enthält Steuerzeichen. Bitte entfernen.");
    }
    if text.chars().nth(max).is_some() {
        return at.refuse(Code::TextZuLang, format!("Der Text ist länger als {max} Zeichen. Bitte kürzen."));
    }
    Ok(text)
}

impl FromJson for bool {
    type Value = bool;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<bool> {
        match json {
            Json::Bool(value) => Ok(*value),
            Json::Number(cell @ ("0" | "1")) if at.is_tabular() => Ok(said(at, *cell == "1")),
            Json::String(cell) if at.is_tabular() => match cell.trim().to_lowercase().as_str() {
                "true" | "wahr" | "1" | "ja" | "j" | "x" => Ok(said(at, true)),
                "false" | "falsch" | "0" | "nein" | "n" => Ok(said(at, false)),
                _ => at.refuse(Code::FeldUngueltig, "Hier wird ja oder nein erwartet."),
            },
            _ => at.refuse(Code::FeldUngueltig, "Hier wird true oder false erwartet."),
        }
    }
}

/// Records the yes or no read from a cell.
fn said(at: &At<'_>, value: bool) -> bool {
    at.was_read(|| if value { "ja" } else { "nein" }.to_owned());
    value
}

fn parsed<T>(json: &Json<'_>, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    if let Json::String(text) = json { read(text.trim()) } else { None }
}

impl FromJson for Day {
    type Value = Day;

    /// In a table the cell may hold a German day, a day with a time, or a spreadsheet's serial number.
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Day> {
        if !at.is_tabular() {
            let message = "Hier wird ein Datum erwartet, zum Beispiel 2026-07-31.";
            let Some(day) = parsed(json, Day::parse) else { return at.refuse(Code::DatumUngueltig, message) };
            return within_calendar(day, at);
        }
        let read =
            |text: &str| Day::parse_german(text).or_else(|| Day::of_local(text)).or_else(|| Day::parse(text));
        if let Some(day) = parsed(json, read) {
            at.was_read(|| day.german());
            return within_calendar(day, at);
        }
        let Some(day) = serial_day(json, at) else {
            let message = "Hier wird ein Datum erwartet, zum Beispiel 31.07.2026.";
            return at.refuse(Code::DatumUngueltig, message);
        };
        let german = day.german();
        at.was_read(|| german.clone());
        at.hint(HintCode::WertFraglich, format!("Eine Tageszahl der Tabelle wurde als {german} gelesen."));
        Ok(day)
    }
}

/// The last year of a day that is sent (D39).
const YEAR_MAX: i64 = 9_998;

fn within_calendar(day: Day, at: &At<'_>) -> Checked<Day> {
    if day.year() <= YEAR_MAX {
        return Ok(day);
    }
    let message = format!("Das Datum liegt nach dem Jahr {YEAR_MAX}. Was nicht endet, bleibt leer.");
    at.refuse(Code::DatumUngueltig, message)
}

/// Serial numbers of the years 1990 to 2099 in a spreadsheet; other numbers are not read as days.
const SERIALS: std::ops::RangeInclusive<i64> = 32_874..=73_050;

/// The serial number of 1970-01-01, and the offset in days of the 1904 date system.
const SERIAL_1970: i64 = 25_569;
const DAYS_UNTIL_1904: i64 = 1_462;

/// Returns the day that a spreadsheet means by a whole number.
fn serial_day(json: &Json<'_>, at: &At<'_>) -> Option<Day> {
    let text: &str = match json {
        Json::String(text) => text,
        Json::Number(text) => text,
        _ => return None,
    };
    let serial = text.trim().parse::<i64>().ok()? + if at.is_1904 { DAYS_UNTIL_1904 } else { 0 };
    SERIALS.contains(&serial).then(|| Day::of_number(serial - SERIAL_1970))
}

impl FromJson for Instant {
    type Value = Instant;

    /// In a table the cell may hold a German day and time, or lack the offset: then it is the time in Berlin.
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Instant> {
        let message = match at.is_tabular() {
            true => {
                "Hier wird ein Zeitpunkt erwartet, zum Beispiel 31.07.2026 10:15; in der Stunde der Zeitumstellung mit \
                 Zeitzone (2026-10-25T02:15:00+02:00)."
            }
            false => "Hier wird ein Zeitpunkt mit Zeitzone erwartet, zum Beispiel 2026-07-31T10:15:00+02:00.",
        };
        let local = |text: &str| if at.is_tabular() { Instant::of_local(text) } else { None };
        let read = |text: &str| Instant::parse(text).or_else(|| local(text));
        let Some(instant) = parsed(json, read) else { return at.refuse(Code::DatumUngueltig, message) };
        at.was_read(|| {
            let minute = instant.minute_in_berlin();
            format!("{} {:02}:{:02}", Day::in_berlin(instant).german(), minute / 60, minute % 60)
        });
        Ok(instant)
    }
}

impl FromJson for Uuid {
    type Value = Uuid;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Uuid> {
        let message = "Hier wird eine id (UUID) erwartet.";
        parsed(json, parse_uuid).map_or_else(|| at.refuse(Code::FeldUngueltig, message), Ok)
    }
}

pub struct OneOf<T>(PhantomData<T>);

impl<T: Choice> FromJson for OneOf<T> {
    type Value = T;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<T> {
        let text = read_text(json, at, TEXT_CHARS_MAX)?;
        // People who type a table write the words as German spells them: Kunde, Inaktiv.
        let value = if at.is_tabular() { T::parse_any_case(&text) } else { T::parse(&text) };
        match value {
            Some(value) => Ok(value),
            None => at.refuse(Code::WertUngueltig, format!("Erlaubt sind: {}.", T::texts())),
        }
    }
}

impl FromJson for Verweis {
    type Value = Verweis;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Verweis> {
        match json {
            Json::Number(_) => {
                type Any = Int<{ i64::MIN }, { i64::MAX }>;
                Any::from_json(json, at).map(Verweis::Nummer)
            }
            json => read_text(json, at, TEXT_CHARS_MAX).map(|text| Verweis::of_text(&text)),
        }
    }
}

/// A text that may also be sent as a number; its spelling is kept.
pub struct Spelled;

/// A VAT id, tax number or IBAN, read into its normal form (D22).
pub struct Kennnummer;

impl FromJson for Kennnummer {
    type Value = String;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<String> {
        read_text(json, at, TEXT_CHARS_MAX).map(|text| plain(&text))
    }
}

impl FromJson for Spelled {
    type Value = String;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<String> {
        match json {
            Json::Number(number) => Ok((*number).to_owned()),
            json => read_text(json, at, TEXT_CHARS_MAX),
        }
    }
}
