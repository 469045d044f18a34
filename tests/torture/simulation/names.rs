//! Maps records to the ids given by the server, and compares answers with the expectation.

use std::collections::BTreeMap;

use serde_json::Value;

use super::step::Name;

/// The ids of a company's records.
#[derive(Default)]
pub struct Names {
    ids: BTreeMap<Name, String>,
    names: BTreeMap<String, Name>,
}

/// An id that no record has.
const NOBODY: &str = "00000000-0000-7000-8000-000000000000";

fn name(text: &str) -> Option<Name> {
    text.strip_prefix('#')?.parse().ok()
}

impl Names {
    pub fn bind(&mut self, name: Name, id: &str) {
        self.ids.insert(name, id.to_owned());
        self.names.insert(id.to_owned(), name);
    }

    pub fn id(&self, name: Name) -> &str {
        self.ids.get(&name).map_or(NOBODY, String::as_str)
    }

    pub fn has(&self, name: Name) -> bool {
        self.ids.contains_key(&name)
    }

    pub fn name(&self, id: &str) -> Option<Name> {
        self.names.get(id).copied()
    }

    /// Replaces names in a path by ids.
    pub fn path(&self, path: &str) -> String {
        let part = |part: &str| name(part).map_or(part.to_owned(), |name| self.id(name).to_owned());
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// Replaces names in a body by ids.
    pub fn body(&self, body: &Value) -> Value {
        match body {
            Value::String(text) => name(text).map_or(body.clone(), |name| self.id(name).into()),
            Value::Array(values) => values.iter().map(|value| self.body(value)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(field, value)| (field.clone(), self.body(value))).collect()
            }
            other => other.clone(),
        }
    }

    /// Checks that a value contains everything expected; a name without an id yet gets the one found.
    pub fn agrees(&mut self, expected: &Value, found: &Value, place: &str) -> Result<(), String> {
        match (expected, found) {
            (Value::String(text), Value::String(id)) if name(text).is_some() => {
                let name = name(text).unwrap();
                match (self.ids.get(&name), self.names.get(id)) {
                    (Some(known), _) if known == id => Ok(()),
                    (None, None) => {
                        self.bind(name, id);
                        Ok(())
                    }
                    (_, known) => Err(format!("{place}: {known:?} instead of {text}")),
                }
            }
            (Value::Object(fields), Value::Object(_)) => fields.iter().try_for_each(|(field, value)| {
                self.agrees(value, &found[field], &format!("{place}.{field}"))
            }),
            (Value::Array(values), Value::Array(others)) => self.agree_all(values, others, place),
            _ if expected == found => Ok(()),
            _ => Err(format!("{place}: {found} instead of {expected}")),
        }
    }

    /// Movements may be in any order, other rows must be in theirs.
    fn agree_all(&mut self, expected: &[Value], found: &[Value], place: &str) -> Result<(), String> {
        let mut left: Vec<&Value> = found.iter().collect();
        for (at, value) in expected.iter().enumerate() {
            let fits = |other: &&Value| {
                let same = |field: &str| value[field] == other[field];
                let article = value["artikel_id"].as_str().and_then(name).map(|name| self.id(name));
                same("charge_nr") && same("beleg_nummer") && article == other["artikel_id"].as_str()
            };
            let is_movement = value.get("menge").is_some() && value.get("beleg_nummer").is_some();
            let other = if is_movement { left.iter().position(fits).unwrap_or(0) } else { 0 };
            if left.is_empty() {
                return Err(format!("{place}: {} rows instead of {}", found.len(), expected.len()));
            }
            let other = left.remove(other);
            self.agrees(value, other, &format!("{place}[{at}]"))?;
        }
        match left.first() {
            None => Ok(()),
            Some(more) => {
                Err(format!("{place}: {} rows instead of {}, as {more}", found.len(), expected.len()))
            }
        }
    }
}
