//! The places of a request that take a value.

use serde_json::Value;

use super::bodies::{body, put};
use crate::described::{Operation, operations};
use crate::mills::Mill;

#[derive(Clone)]
enum Where {
    Path(String),
    Query(String),
    /// A JSON pointer.
    Field(String),
}

#[derive(Clone)]
pub struct Place {
    operation: &'static Operation,
    at: Where,
}

impl Place {
    /// All places of a route.
    pub fn all(operation: &'static Operation) -> Vec<Place> {
        let path = operation.path.iter().map(|name| Where::Path(name.clone()));
        let query = operation.query.iter().map(|name| Where::Query(name.clone()));
        let fields = fields(operation).into_iter().map(Where::Field);
        path.chain(query).chain(fields).map(|at| Place { operation, at }).collect()
    }

    /// Half of the trials use such a place.
    pub fn is_named_like_an_id(&self) -> bool {
        let name = match &self.at {
            Where::Path(name) | Where::Query(name) | Where::Field(name) => name,
        };
        ["id", "nr", "nummer"].iter().any(|end| name.ends_with(end))
    }

    pub fn named(&self) -> String {
        match &self.at {
            Where::Path(name) => format!("{}, {{{name}}}", self.operation.name()),
            Where::Query(name) => format!("{}?{name}", self.operation.name()),
            Where::Field(at) => format!("{}, {at}", self.operation.name()),
        }
    }

    /// Method, path and body of a request with this value here, and own values elsewhere.
    pub fn request(&self, own: &Mill, value: &str) -> Result<(String, String, Option<Value>), String> {
        let Operation { method, pattern, .. } = self.operation;
        let mut path = pattern.clone();
        for name in &self.operation.path {
            let id = match &self.at {
                Where::Path(here) if here == name => value,
                _ => &own.ids[kind(pattern, name)],
            };
            path = path.replace(&format!("{{{name}}}"), id);
        }
        if let Where::Query(name) = &self.at {
            path += &format!("?{name}={}", value.replace(' ', "%20"));
        }
        let mut body = match method.as_str() {
            "GET" => None,
            _ => Some(body(&self.operation.name(), own)?),
        };
        if let (Where::Field(at), Some(body)) = (&self.at, &mut body) {
            let number = value.parse::<i64>().map(Value::from);
            put(body, at, number.unwrap_or_else(|_| Value::from(value)));
        }
        Ok((method.clone(), path, body))
    }
}

/// The places in its body that take values; for a bulk request those of its items.
fn fields(operation: &Operation) -> Vec<String> {
    let one = operation.pattern.strip_suffix("/stapel").and_then(|pattern| {
        operations().iter().find(|one| one.pattern == pattern && one.method == operation.method)
    });
    let Some(one) = one else { return operation.fields.clone() };
    one.fields.iter().map(|at| format!("/items/0{at}")).collect()
}

/// The kind of record that a path names.
fn kind(pattern: &str, name: &str) -> &'static str {
    let of = |word: &str| pattern.starts_with(&format!("/api/v1/{word}/"));
    match name {
        "dok_id" => "anhang",
        _ if of("kunden") => "kunde",
        _ if of("artikel") => "artikel",
        _ if of("chargen") => "charge",
        _ if of("wiegungen") => "offene_wiegung",
        _ if of("produktionsauftraege") => "auftrag",
        _ if of("annahmescheine") => "schein",
        _ if of("abrechnungen") => "abrechnung",
        _ if of("abrechnungsschemata") => "schema",
        _ => "lieferung",
    }
}
