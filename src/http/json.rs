//! JSON as the interface accepts it (D18): UTF-8, one value, no doubled keys, no NUL, limited
//! depth and size. Numbers keep their text, so that no digit is lost.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Deepest nesting (D18).
const MAX_DEPTH: u32 = 32;

/// Values in one body: a document of 1,000 positions with all fields has about 30,000.
const MAX_VALUES: u32 = 100_000;

/// A JSON value that borrows from the body.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'b> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as it was written.
    Number(&'b str),
    /// A string.
    String(Cow<'b, str>),
    /// An array.
    Array(Vec<Json<'b>>),
    /// An object; its keys are all different.
    Object(Vec<(Cow<'b, str>, Json<'b>)>),
}

impl<'b> Json<'b> {
    /// Reads a body; the error is a German sentence for the client.
    pub fn parse(body: &'b [u8]) -> Result<Json<'b>, String> {
        let text = std::str::from_utf8(body).map_err(|_| "Der Text ist kein gültiges UTF-8.".to_owned())?;
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
            format!("Der Text ist kein gültiges JSON (Zeile {}, Spalte {}).", error.line(), error.column())
        })?;
        value(raw, MAX_DEPTH, &mut { MAX_VALUES })
    }
}

/// Reads one value; each array and object reads its members as raw text and then those.
fn value<'b>(raw: &'b RawValue, depth: u32, values_left: &mut u32) -> Result<Json<'b>, String> {
    let text = raw.get();
    *values_left = values_left
        .checked_sub(1)
        .ok_or_else(|| format!("Der Text enthält mehr als {MAX_VALUES} Werte. Bitte aufteilen."))?;
    let below = || {
        depth
            .checked_sub(1)
            .ok_or_else(|| format!("Der Text ist tiefer als {MAX_DEPTH} Ebenen verschachtelt."))
    };
    match text.as_bytes().first() {
        Some(b'{') => {
            let depth = below()?;
            let Members(members) = serde_json::from_str(text).map_err(|error| sentence(&error))?;
            let members = members.into_iter().map(|(key, raw)| Ok((key.0, value(raw, depth, values_left)?)));
            Ok(Json::Object(members.collect::<Result<_, String>>()?))
        }
        Some(b'[') => {
            let depth = below()?;
            let Elements(elements) = serde_json::from_str(text).map_err(|error| sentence(&error))?;
            let elements = elements.into_iter().map(|raw| value(raw, depth, values_left));
            Ok(Json::Array(elements.collect::<Result<_, String>>()?))
        }
        Some(b'"') => {
            let Text(text) = serde_json::from_str(text).map_err(|_| "Ein Text ist ungültig.".to_owned())?;
            if text.contains('\0') {
                return Err("Ein Text enthält ein NUL-Zeichen.".to_owned());
            }
            Ok(Json::String(text))
        }
        Some(b't') => Ok(Json::Bool(true)),
        Some(b'f') => Ok(Json::Bool(false)),
        Some(b'n') => Ok(Json::Null),
        _ => Ok(Json::Number(text)),
    }
}

/// Our own sentence, without the place that the parser appends (it counts within the member).
fn sentence(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split_once(" at line ").map_or(text.clone(), |(sentence, _)| sentence.to_owned())
}

/// A string that borrows where it has no escapes.
struct Text<'b>(Cow<'b, str>);

impl<'b> Deserialize<'b> for Text<'b> {
    fn deserialize<D: Deserializer<'b>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'b> Visitor<'b> for TextVisitor {
            type Value = Text<'b>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'b str) -> Result<Text<'b>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'b>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// The members of an object; two of the same name are refused.
struct Members<'b>(Vec<(Text<'b>, &'b RawValue)>);

impl<'b> Deserialize<'b> for Members<'b> {
    fn deserialize<D: Deserializer<'b>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'b> Visitor<'b> for MembersVisitor {
            type Value = Members<'b>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<Members<'b>, A::Error> {
                let mut members: Vec<(Text<'b>, &'b RawValue)> = Vec::new();
                while let Some(member) = map.next_entry::<Text<'b>, &'b RawValue>()? {
                    members.push(member);
                }
                let mut names: Vec<&str> = members.iter().map(|(key, _)| key.0.as_ref()).collect();
                names.sort_unstable();
                if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                    let name: String = pair[0].chars().take(50).collect();
                    return Err(serde::de::Error::custom(DoubledKey(name)));
                }
                if names.iter().any(|name| name.contains('\0')) {
                    return Err(serde::de::Error::custom("Ein Feldname enthält ein NUL-Zeichen."));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Why an object was refused.
struct DoubledKey(String);

impl fmt::Display for DoubledKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Das Feld {:?} kommt doppelt vor.", self.0)
    }
}

/// The elements of an array.
struct Elements<'b>(Vec<&'b RawValue>);

impl<'b> Deserialize<'b> for Elements<'b> {
    fn deserialize<D: Deserializer<'b>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementsVisitor;
        impl<'b> Visitor<'b> for ElementsVisitor {
            type Value = Elements<'b>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'b>>(self, mut seq: A) -> Result<Elements<'b>, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(ElementsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_text_and_strings_their_letters() {
        let json = Json::parse(br#" {"a": 99999999999999.990, "b": ["\u00fc", true, null]} "#).unwrap();
        let b = Json::Array(vec![Json::String("ü".into()), Json::Bool(true), Json::Null]);
        let expected = [("a".into(), Json::Number("99999999999999.990")), ("b".into(), b)];
        assert_eq!(json, Json::Object(expected.into()));
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let deep = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert!(Json::parse(&deep(32)).is_ok());
        let many = format!("[{}1]", "1,".repeat(MAX_VALUES as usize));
        let refused: [&[u8]; 12] = [
            &deep(33),
            &deep(100_000),
            many.as_bytes(),
            b"",
            b"{",
            b"\xef\xbb\xbf{}",
            b"\"\xff\"",
            br#"{"a":1,"a":2}"#,
            br#"{"x":{"a":1,"\u0061":2}}"#,
            br#"{"a":"\u0000"}"#,
            br#"["\ud800"]"#,
            b"{} x",
        ];
        for body in refused {
            assert!(Json::parse(body).is_err(), "{:?}", String::from_utf8_lossy(&body[..body.len().min(40)]));
        }
    }
}
