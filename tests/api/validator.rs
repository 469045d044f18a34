//! A validator of the shapes in the description. It knows the keywords, formats and patterns that bodies and
//! answers have there, and refuses every other one when it is made, so that nothing a shape says goes
//! unchecked. A crate for all of JSON Schema takes minutes to build.

mod pattern;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;

use jiff::civil::Date;
use serde_json::{Map, Number, Value, json};

use pattern::Pattern;

pub struct Validator {
    rules: Rules,
    /// The rules of other shapes by the references to them.
    named: BTreeMap<String, Rules>,
}

/// What a shape asks of a value: all of these, nothing if there is none.
type Rules = Vec<Rule>;

/// Refuses a value and says what was expected where.
type Rule = Box<dyn Fn(&Validator, &Value, &Place<'_>) -> Result<(), String> + Send + Sync>;

/// A place in a value; written as a JSON pointer, which happens only where something is wrong.
enum Place<'p> {
    Whole,
    Member(&'p Place<'p>, &'p str),
    Element(&'p Place<'p>, usize),
}

impl Display for Place<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Member(above, name) => {
                write!(out, "{above}/{}", name.replace('~', "~0").replace('/', "~1"))
            }
            Place::Element(above, place) => write!(out, "{above}/{place}"),
        }
    }
}

impl Validator {
    /// The validator of a shape whose references lead into the document.
    pub fn new(shape: &Value, document: &Value) -> Result<Validator, String> {
        let (mut named, mut missing) = (BTreeMap::new(), Vec::new());
        let rules = rules(shape, &mut missing)?;
        while let Some(reference) = missing.pop() {
            if let Entry::Vacant(entry) = named.entry(reference) {
                let shape = entry.key().strip_prefix('#').and_then(|path| document.pointer(path));
                let shape = shape.ok_or_else(|| format!("{} leads nowhere", entry.key()))?;
                let rules = within(entry.key(), self::rules(shape, &mut missing))?;
                entry.insert(rules);
            }
        }
        Ok(Validator { rules, named })
    }

    /// The first thing that is not as expected.
    pub fn validate(&self, value: &Value) -> Result<(), String> {
        self.check(&self.rules, value, &Place::Whole)
    }

    pub fn is_valid(&self, value: &Value) -> bool {
        self.validate(value).is_ok()
    }

    fn check(&self, rules: &Rules, value: &Value, at: &Place<'_>) -> Result<(), String> {
        rules.iter().try_for_each(|rule| rule(self, value, at))
    }
}

/// Says in which part of a shape a mistake is.
fn within<T>(part: &str, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|error| format!("{part}: {error}"))
}

/// The rules of a shape; the references in it go to `missing`.
fn rules(shape: &Value, missing: &mut Vec<String>) -> Result<Rules, String> {
    match shape {
        Value::Bool(true) => Ok(Rules::new()),
        Value::Bool(false) => Ok(vec![is("nothing", |_| false)]),
        Value::Object(shape) => {
            let asking = shape.iter().filter(|(keyword, _)| !is_annotation(keyword));
            asking.map(|(keyword, said)| within(keyword, rule(keyword, said, shape, missing))).collect()
        }
        _ => Err(format!("{shape} is no shape")),
    }
}

/// Keywords that describe a value and exclude none.
fn is_annotation(keyword: &str) -> bool {
    let texts = ["$schema", "contentEncoding", "description", "title"].contains(&keyword);
    let others = ["default", "deprecated", "examples", "readOnly", "writeOnly"].contains(&keyword);
    texts || others || keyword.starts_with("x-")
}

/// The rule of a keyword; a value of a type that the keyword is not about is as expected.
fn rule(
    keyword: &str,
    said: &Value,
    shape: &Map<String, Value>,
    missing: &mut Vec<String>,
) -> Result<Rule, String> {
    let expected = &format!("{keyword} {said}");
    let bound = || said.as_number().and_then(Number::as_i128).ok_or("no integer");
    let count = || said.as_u64().ok_or("no count");
    Ok(match keyword {
        "$ref" => {
            let reference = text_of(said)?.to_owned();
            missing.push(reference.clone());
            Box::new(move |all, value, at| all.check(&all.named[&reference], value, at))
        }
        "type" => {
            let names = if said.is_string() { vec![text_of(said)?] } else { texts_of(said)? };
            let kinds = names.into_iter().map(kind).collect::<Result<Vec<_>, _>>()?;
            is(expected, move |value| kinds.iter().any(|is_kind| is_kind(value)))
        }
        "enum" => {
            let known: Vec<_> = texts_of(said)?.into_iter().map(str::to_owned).collect();
            is(expected, move |value| known.iter().any(|known| value == known))
        }
        "minimum" => bound().map(|bound| number(expected, move |below, _| below >= bound))?,
        "maximum" => bound().map(|bound| number(expected, move |_, above| above <= bound))?,
        "exclusiveMinimum" => bound().map(|bound| number(expected, move |_, above| above > bound))?,
        "exclusiveMaximum" => bound().map(|bound| number(expected, move |below, _| below < bound))?,
        "minLength" => count().map(|least| text(expected, move |text| chars(text) >= least))?,
        "maxLength" => count().map(|most| text(expected, move |text| chars(text) <= most))?,
        "minItems" => count().map(|least| list(expected, move |length| length >= least))?,
        "maxItems" => count().map(|most| list(expected, move |length| length <= most))?,
        "pattern" => {
            let pattern = Pattern::new(text_of(said)?).ok_or("the validator does not know such a pattern")?;
            text(expected, move |text| pattern.is_match(text))
        }
        "format" => format(text_of(said)?, expected)?,
        "items" => elements(rules(said, missing)?),
        "properties" => {
            let known = said.as_object().ok_or("no object")?.iter();
            let rules = known.map(|(name, shape)| Ok((name.clone(), within(name, rules(shape, missing))?)));
            members(rules.collect::<Result<_, String>>()?, Rules::new())
        }
        "additionalProperties" => {
            let known = shape.get("properties").and_then(Value::as_object).into_iter().flatten();
            members(known.map(|(name, _)| (name.clone(), Rules::new())).collect(), rules(said, missing)?)
        }
        "required" => {
            let names: Vec<_> = texts_of(said)?.into_iter().map(str::to_owned).collect();
            Box::new(move |_, value, at| {
                let missing = names.iter().find(|name| value.is_object() && value.get(name).is_none());
                missing.map_or(Ok(()), |name| Err(format!("expected the member {name} at '{at}'")))
            })
        }
        "anyOf" => {
            let choices = said.as_array().filter(|choices| !choices.is_empty()).ok_or("no choices")?;
            any(choices.iter().map(|shape| rules(shape, missing)).collect::<Result<_, _>>()?)
        }
        _ => return Err("the validator does not know this keyword".to_owned()),
    })
}

fn text_of(said: &Value) -> Result<&str, String> {
    said.as_str().ok_or_else(|| format!("{said} is no text"))
}

fn texts_of(said: &Value) -> Result<Vec<&str>, String> {
    said.as_array().ok_or_else(|| format!("{said} is no list"))?.iter().map(text_of).collect()
}

fn kind(name: &str) -> Result<fn(&Value) -> bool, String> {
    Ok(match name {
        "array" => Value::is_array,
        "boolean" => Value::is_boolean,
        // A number without a fraction is one, however it is written: 1.0.
        "integer" => |value| value.as_number().map(around).is_some_and(|(below, above)| below == above),
        "null" => Value::is_null,
        "number" => Value::is_number,
        "object" => Value::is_object,
        "string" => Value::is_string,
        _ => return Err(format!("{name} is no type")),
    })
}

/// The rule of a format. A width is one, because clients are generated with it and cannot read a number
/// beyond it. A leap second is no time, because partnerd knows none.
fn format(name: &str, expected: &str) -> Result<Rule, String> {
    let width = |range: RangeInclusive<i128>| {
        Ok(number(expected, move |below, above| range.contains(&below) && range.contains(&above)))
    };
    let pattern = match name {
        "int32" => return width(i32::MIN.into()..=i32::MAX.into()),
        "int64" => return width(i64::MIN.into()..=i64::MAX.into()),
        "uint" => return width(0..=u64::MAX.into()),
        "uint8" => return width(0..=u8::MAX.into()),
        "uint16" => return width(0..=u16::MAX.into()),
        "date" => r"^\d{4}-\d{2}-\d{2}$",
        "date-time" => concat!(
            r"^\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d+)?",
            r"([Zz]|(\+|-)([01]\d|2[0-3]):[0-5]\d)$"
        ),
        "uuid" => "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
        _ => return Err(format!("the validator does not know {name}")),
    };
    let (pattern, has_day) = (Pattern::new(pattern).unwrap(), name.starts_with("date"));
    let is_day = |text: &str| text[..10].parse::<Date>().is_ok();
    Ok(text(expected, move |text| pattern.is_match(text) && (!has_day || is_day(text))))
}

/// The integers nearest to a number from below and from above; for an integer both are the number. Bounds are
/// integers and compared with these, so that no bound is rounded.
fn around(number: &Number) -> (i128, i128) {
    let float = || number.as_f64().unwrap();
    let rounded = || (float().floor() as i128, float().ceil() as i128);
    number.as_i128().map_or_else(rounded, |integer| (integer, integer))
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

fn is(expected: &str, has: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Rule {
    let expected = expected.to_owned();
    Box::new(move |_, value, at| {
        let found = || value.to_string().chars().take(80).collect::<String>();
        if has(value) { Ok(()) } else { Err(format!("expected {expected} at '{at}', found {}", found())) }
    })
}

fn number(expected: &str, has: impl Fn(i128, i128) -> bool + Send + Sync + 'static) -> Rule {
    is(expected, move |value| value.as_number().map(around).is_none_or(|(below, above)| has(below, above)))
}

fn text(expected: &str, has: impl Fn(&str) -> bool + Send + Sync + 'static) -> Rule {
    is(expected, move |value| value.as_str().is_none_or(&has))
}

fn list(expected: &str, has: impl Fn(u64) -> bool + Send + Sync + 'static) -> Rule {
    is(expected, move |value| value.as_array().is_none_or(|elements| has(elements.len() as u64)))
}

fn elements(rules: Rules) -> Rule {
    Box::new(move |all, value, at| {
        let mut elements = value.as_array().into_iter().flatten().enumerate();
        elements.try_for_each(|(place, element)| all.check(&rules, element, &Place::Element(at, place)))
    })
}

/// Members follow the rules of their name, or else those of all others.
fn members(known: BTreeMap<String, Rules>, others: Rules) -> Rule {
    Box::new(move |all, value, at| {
        let mut members = value.as_object().into_iter().flatten();
        members.try_for_each(|(name, value)| {
            all.check(known.get(name).unwrap_or(&others), value, &Place::Member(at, name))
        })
    })
}

fn any(choices: Vec<Rules>) -> Rule {
    Box::new(move |all, value, at| {
        let mut wrong = Vec::new();
        for rules in &choices {
            match all.check(rules, value, at) {
                Ok(()) => return Ok(()),
                Err(error) => wrong.push(error),
            }
        }
        Err(wrong.join(", or "))
    })
}

/// A shape, values that it lets pass, and values that it refuses.
const TABLE: &str = r##"
    {"title": "", "default": 1, "x-neu": 1} | [null, {}] | []
    true | [null, {}] | []
    false | [] | [null, {}]
    {"type": "array"} | [[]] | [{}, "a"]
    {"type": "boolean"} | [true] | [0, null]
    {"type": "integer"} | [-1, 1.0, 1e300, 18446744073709551615] | [1.5, 1e-9, "1", null]
    {"type": "number"} | [1, 1.5] | ["1"]
    {"type": "object"} | [{}] | [[]]
    {"type": ["string", "null"]} | ["", null] | [0, false]
    {"enum": ["a", "b"]} | ["b"] | ["c", "", null, ["a"]]
    {"minimum": -1} | [-1, -0.5, 1e300, "a"] | [-1.5, -2, -1e300]
    {"minimum": 9223372036854775807} | [9223372036854775807, 9223372036854775808] | [9223372036854775806]
    {"maximum": 100} | [100, 99.5, "a"] | [100.5, 101, 1e300, 18446744073709551615]
    {"exclusiveMinimum": 0} | [0.1, 1, null] | [0, 0.0, -0.1, -1]
    {"exclusiveMaximum": 1} | [0.9, 0] | [1, 1.0, 1.1, 1e300]
    {"minLength": 1} | ["ä", 1] | [""]
    {"maxLength": 2} | ["äö", 123] | ["abc"]
    {"minItems": 1} | [[1], "", {}] | [[]]
    {"maxItems": 1} | [[], [1], "ab"] | [[1, 2]]
    {"pattern": "^\\d+$"} | ["1", 1.5] | ["", "a"]
    {"format": "int32"} | [-2147483648, 2147483647, "a"] | [2147483648, 2147483647.5, -2147483648.5]
    {"format": "int64"} | [-9223372036854775808] | [9223372036854775808]
    {"format": "uint"} | [0, 18446744073709551615] | [-1, 1e300]
    {"format": "uint8"} | [0, 255] | [-1, 256]
    {"format": "uint16"} | [0, 65535] | [-1, 65536]
    {"format": "date"} | ["2024-02-29", 1] | ["2026-02-29", "2026-2-1", "20260201", "2026-02-01Z"]
    {"format": "date"} | [] | ["01.02.2026", "202.-02-01", ""]
    {"format": "date-time"} | ["2026-07-10T10:00:00Z", "2026-07-10T10:00:00.5+02:00", 0] | []
    {"format": "date-time"} | [] | ["2026-07-10", "2026-07-10T10:00:00", "2026-07-10 10:00:00Z"]
    {"format": "date-time"} | [] | ["2026-02-29T10:00:00Z", "2026-07-10T24:00:00Z", "2026-07-10T10:00:60Z"]
    {"format": "uuid"} | ["01890a5d-ac96-774b-bcce-b302099a8057", 1] | ["01890a5dac96774bbcceb302099a8057"]
    {"format": "uuid"} | ["01890A5D-AC96-774B-BCCE-B302099A8057"] | ["01890a5d-ac96-774b-bcce-b302099a805g"]
    {"items": {"type": "null"}} | [[null], [], {}] | [[null, 1]]
    {"properties": {"a": {"type": "null"}}} | [{"a": null, "b": 1}, {}, []] | [{"a": 1}]
    {"properties": {"a": {}}, "additionalProperties": {"type": "null"}} | [{"a": 1, "b": null}] | [{"b": 1}]
    {"additionalProperties": false} | [{}, 1] | [{"a": 1}]
    {"required": ["a"]} | [{"a": null}, []] | [{}]
    {"anyOf": [{"type": "null"}, {"maximum": 1}]} | [null, 1] | [2]
    {"$ref": "#/shapes/Baum"} | [{"a": 1, "b/c": {"a": 1}}, {"a": 1}] | [{}, {"a": 1, "b/c": {}}]
"##;

/// Shapes that the validator does not know, or that are none.
const UNKNOWN: &str = r##"
    {"const": 1} | {"oneOf": [true]} | {"components": {}} | {"pattern": "^\\s$"} | {"format": "email"}
    "string" | {"type": "text"} | {"type": ["string", "text"]} | {"type": 1} | {"enum": [1]}
    {"minimum": 0.5} | {"maximum": "1"} | {"anyOf": []}
    {"maxLength": -1} | {"required": "a"} | {"properties": []} | {"anyOf": {}} | {"$ref": "#/shapes/Fehlt"}
    {"$ref": "#/shapes/Alt"}
"##;

fn made(shape: &Value) -> Result<Validator, String> {
    let tree = json!({"required": ["a"], "properties": {"b/c": {"$ref": "#/shapes/Baum"}}});
    let (old, new) = (json!({"items": {"$ref": "#/shapes/Neu"}}), json!({"not": true}));
    Validator::new(shape, &json!({"shapes": {"Baum": tree, "Alt": old, "Neu": new}}))
}

#[test]
fn each_keyword_lets_pass_and_refuses() {
    for line in TABLE.trim().lines() {
        let columns = line.split(" | ").map(|text| serde_json::from_str(text).unwrap());
        let [shape, passing, refused]: [Value; 3] = columns.collect::<Vec<_>>().try_into().unwrap();
        let validator = made(&shape).unwrap();
        for value in passing.as_array().unwrap() {
            assert_eq!(validator.validate(value), Ok(()), "{shape}");
        }
        for value in refused.as_array().unwrap() {
            assert!(!validator.is_valid(value), "{shape} {value}");
        }
    }
}

#[test]
fn what_is_not_known_is_refused_wherever_it_stands() {
    for text in UNKNOWN.trim().lines().flat_map(|line| line.split(" | ")) {
        let shape: Value = serde_json::from_str(text).unwrap();
        let within =
            [json!({"items": shape}), json!({"properties": {"a": shape}}), json!({"anyOf": [true, shape]})];
        for shape in [json!({"additionalProperties": shape}), shape].iter().chain(&within) {
            assert!(made(shape).is_err(), "{shape}");
        }
    }
    let error = made(&json!({"$ref": "#/shapes/Alt"})).err().unwrap();
    assert_eq!(error, "#/shapes/Neu: not: the validator does not know this keyword");
}

#[test]
fn what_was_expected_is_said_with_its_place() {
    let item =
        json!({"anyOf": [{"required": ["c"], "properties": {"a/~": {"maximum": 1}}}, {"enum": ["d"]}]});
    let validator = made(&json!({"items": item})).unwrap();
    let table = [
        (
            json!([{"c": 1, "a/~": 2}]),
            r#"expected maximum 1 at '/0/a~1~0', found 2, or expected enum ["d"] at '/0'"#,
        ),
        (json!(["d", {}]), r#"expected the member c at '/1', or expected enum ["d"] at '/1', found {}"#),
    ];
    for (value, said) in table {
        let error = validator.validate(&value).unwrap_err();
        assert!(error.starts_with(said), "{error}");
    }
}
