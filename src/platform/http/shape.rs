//! Shapes of bodies and answers, for the API description: the rows of the route table name the types, and the
//! types define their shape.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema, json_schema};

use super::upload::{Dateiname, Inhalt};
use super::wire::{
    Gewicht, Int, Kennnummer, Leer, Liste, NotNegative, OneOf, Spelled, TEXT_CHARS_MAX, TextWithin, Waegung,
};
use crate::rules::choice::Choice;
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::error::{Hints, SentHint};
use crate::rules::fixed::{LIMIT, Money, Percent, Price, Quantity, Zahl};
use crate::rules::settlement::Groesse;
use crate::rules::verweis::Verweis;

pub type Shape = fn(&mut SchemaGenerator) -> Schema;

#[derive(Clone, Copy)]
pub struct Body {
    pub name: &'static str,
    /// Its shape, in which no field is required.
    pub shape: Shape,
    pub required: &'static [&'static str],
    /// Fields of the shape that this route ignores, with a hint.
    pub ignored: &'static [&'static str],
    pub optional: bool,
}

/// A successful answer that a route declares for the API description: its status, content type, shape and headers.
#[derive(Clone, Copy)]
pub struct Answer {
    pub status: u16,
    pub content: &'static str,
    pub shape: Option<Shape>,
    pub headers: &'static [&'static str],
}

pub const JSON: &str = "application/json";

impl Answer {
    pub const fn json<T: JsonSchema>(status: u16) -> Answer {
        Answer { status, content: JSON, shape: Some(SchemaGenerator::subschema_for::<T>), headers: &[] }
    }

    pub const fn ok<T: JsonSchema>() -> Answer {
        Answer::json::<T>(200)
    }

    pub const fn created<T: JsonSchema>() -> Answer {
        Answer::json::<T>(201)
    }

    /// 200 with a single resource and its ETag (D11).
    pub const fn resource<T: JsonSchema>() -> Answer {
        Answer { headers: &["etag"], ..Answer::ok::<T>() }
    }

    /// 200 with a page in its wrapper.
    pub const fn list<T: JsonSchema>() -> Answer {
        Answer { headers: &["x-limit"], ..Answer::ok::<Wrapper<T>>() }
    }

    /// 200 with a raw array, and its count in a header (D16).
    pub const fn array<T: JsonSchema>() -> Answer {
        Answer { headers: &["x-total-count", "x-limit"], ..Answer::ok::<Vec<T>>() }
    }

    pub const fn other(content: &'static str) -> Answer {
        Answer { status: 200, content, shape: None, headers: &[] }
    }

    pub const fn with(self, headers: &'static [&'static str]) -> Answer {
        Answer { headers, ..self }
    }
}

/// Defines the shape of a type that has no name of its own in the description; the brackets hold its generic
/// parameters.
#[macro_export]
macro_rules! shape {
    ([$($generics:tt)*] $type:ty => |$generator:pat_param| $schema:expr) => {
        impl<$($generics)*> schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

/// Text without control characters other than newline and tab.
const PLAIN: &str = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$";

shape!([const CHARS_MAX: usize] TextWithin<CHARS_MAX> => |_| {
    json_schema!({"type": "string", "maxLength": CHARS_MAX, "pattern": PLAIN})
});
shape!([] Kennnummer => |_| json_schema!({"type": "string", "maxLength": TEXT_CHARS_MAX, "pattern": PLAIN}));
shape!([] Spelled => |_| {
    json_schema!({"type": ["string", "number"], "maxLength": TEXT_CHARS_MAX, "pattern": PLAIN})
});
shape!([] Verweis => |_| json_schema!({"type": ["integer", "string"], "maxLength": TEXT_CHARS_MAX}));
shape!([] Leer => |_| json_schema!({"type": "object"}));
shape!([] Inhalt => |_| json_schema!({"type": "string", "contentEncoding": "base64"}));
shape!([] Dateiname => |_| json_schema!({
    "type": "string", "minLength": 1, "maxLength": TEXT_CHARS_MAX, "pattern": PLAIN
}));
shape!([] Day => |_| json_schema!({"type": "string", "format": "date"}));
shape!([] DayTime => |_| json_schema!({"type": "string", "format": "date-time"}));
shape!([] Instant => |_| json_schema!({"type": "string", "format": "date-time"}));
shape!([const MIN: i64, const MAX: i64] Int<MIN, MAX> => |_| {
    let mut schema = json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX});
    if (i64::from(i32::MIN)..=i64::from(i32::MAX)).contains(&MIN) && MAX <= i64::from(i32::MAX) {
        schema.insert("format".to_owned(), "int32".into());
    }
    schema
});
shape!([T: Choice + JsonSchema] OneOf<T> => |generator| generator.subschema_for::<T>());
shape!([T: JsonSchema, const MAX: usize] Liste<T, MAX> => |generator| {
    let items = generator.subschema_for::<T>();
    json_schema!({"type": "array", "items": items, "maxItems": MAX})
});
shape!([] Hints => |generator| {
    let items = generator.subschema_for::<SentHint<'_>>();
    json_schema!({"type": "array", "items": items})
});
shape!([] Gewicht => |_| decimal_sent(ANY));
shape!([] Waegung => |_| decimal_sent(ANY));
shape!([T] NotNegative<T> => |_| decimal_sent(&[("minimum", 0), ("exclusiveMaximum", LIMIT)]));

/// A decimal: a string in answers, a number or a string in requests (D14).
macro_rules! decimal {
    ($type:ty, $pattern:literal, $bounds:expr) => {
        shape!([] $type => |generator| match generator.contract().is_serialize() {
            true => json_schema!({"type": "string", "pattern": $pattern}),
            false => decimal_sent($bounds),
        });
    };
}

decimal!(Money, r"^-?\d+\.\d{2}$", ANY);
decimal!(Quantity, r"^-?\d+\.\d{3,6}$", ANY);
decimal!(Price, r"^-?\d+\.\d{4,6}$", ANY);
decimal!(Zahl, r"^-?\d+\.\d{1,6}$", ANY);
decimal!(Percent, r"^-?\d+\.\d{2,6}$", &[("minimum", 0), ("maximum", 100)]);

// Kilograms, a price or an amount, depending on its row.
shape!([] Groesse => |_| json_schema!({"type": "string", "pattern": r"^-?\d+\.\d{2,6}$"}));

/// The bounds of a decimal that has none of its own.
const ANY: &[(&str, i64)] = &[("exclusiveMinimum", -LIMIT), ("exclusiveMaximum", LIMIT)];

/// Bounds hold for numbers alone, so the pattern of a decimal from 0 on has no sign.
fn decimal_sent(bounds: &[(&str, i64)]) -> Schema {
    let pattern = match bounds.contains(&("minimum", 0)) {
        true => r"^(0|[1-9]\d{0,11})(\.\d+)?$",
        false => r"^-?(0|[1-9]\d{0,11})(\.\d+)?$",
    };
    let mut schema = json_schema!({"type": ["number", "string"], "pattern": pattern});
    for (name, bound) in bounds {
        schema.insert((*name).to_owned(), (*bound).into());
    }
    schema
}

/// The shape of a page in its wrapper ([`crate::platform::listing::Listing`]).
struct Wrapper<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Wrapper<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Liste", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({
            "type": "object",
            "properties": {
                "data": {"type": "array", "items": items},
                "count": {"type": "integer", "format": "int64", "minimum": 0}
            },
            "required": ["data", "count"]
        })
    }
}
