//! The schemas of request bodies and answers, by name.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::woerter;
use crate::platform::http::error::ErrorBody;
use crate::platform::http::route::Method;
use crate::platform::http::shape::Body;

const SCHEMAS: &str = "/components/schemas";

/// Suffixes of the names of bulk requests and of their items.
const MANY: &str = "Stapel";
const ITEM: &str = "Eintrag";

pub struct Shapes {
    sent: SchemaGenerator,
    pub given: SchemaGenerator,
    bodies: Map<String, Value>,
    /// Schemas that are copied into bodies of other names.
    lent: BTreeSet<String>,
}

impl Shapes {
    pub fn new() -> Shapes {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS.into();
                settings.meta_schema = None;
            })
        };
        let sent = settings().for_deserialize().into_generator();
        let given = settings().for_serialize().into_generator();
        Shapes { sent, given, bodies: Map::new(), lent: BTreeSet::new() }
    }

    /// Registers the body of a request under its name, with its required fields, and returns a reference to
    /// it.
    pub fn body(&mut self, body: &Body, method: Method) -> Value {
        let shape = self.shape_of(body, method);
        self.bodies.insert(body.name.to_owned(), shape);
        reference(body.name)
    }

    /// Registers the body of a bulk request for many of `single`. Its item requires no field: an item that
    /// lacks one is refused alone, and the others are carried out (D28).
    pub fn body_of_many(&mut self, body: &Body, single: &Body) -> Value {
        let (many, item) = (format!("{}{MANY}", single.name), format!("{}{ITEM}", single.name));
        let (mut shape, one) = (
            self.shape_of(body, Method::Post),
            self.shape_of(&Body { required: &[], ..*single }, Method::Post),
        );
        shape["properties"]["items"]["items"] = reference(&item);
        let reference = reference(&many);
        self.bodies.extend([(many, shape), (item, one)]);
        reference
    }

    fn shape_of(&mut self, body: &Body, method: Method) -> Value {
        let shape = (body.shape)(&mut self.sent);
        let mut shape = self.resolve(&shape.into());
        if !body.required.is_empty() {
            shape["required"] = json!(body.required);
        }
        for field in body.required {
            without_null(&mut shape["properties"][field]);
        }
        for field in body.ignored {
            match (method, shape["properties"].as_object_mut()) {
                (Method::Put, Some(fields)) => fields[*field]["readOnly"] = true.into(),
                (_, fields) => drop(fields.and_then(|fields| fields.remove(*field))),
            }
        }
        shape
    }

    /// Replaces a reference by the schema it refers to, and records that schema as lent.
    fn resolve(&mut self, shape: &Value) -> Value {
        let name = shape["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        let Some((name, named)) = name.and_then(|name| Some((name, self.sent.definitions().get(name)?)))
        else {
            return shape.clone();
        };
        self.lent.insert(name.to_owned());
        named.clone()
    }

    /// Returns all named schemas in German words.
    pub fn finish(self) -> Value {
        let mut all = self.named();
        for (name, shape) in &mut all {
            woerter::explain(words_of(name), shape);
        }
        all.into()
    }

    /// Returns all named schemas, except those that were only copied into bodies of other names.
    fn named(mut self) -> Map<String, Value> {
        self.given.subschema_for::<ErrorBody<'_>>();
        let mut all: Map<String, Value> = self.given.take_definitions(true);
        for (name, shape) in self.sent.take_definitions(true) {
            if !self.lent.contains(&name) {
                all.entry(name).or_insert(shape);
            }
        }
        all.append(&mut self.bodies);
        all
    }
}

/// The shape whose words a schema has: bulk requests and their items have none of their own.
fn words_of(name: &str) -> &str {
    if name.ends_with(MANY) { MANY } else { name.strip_suffix(ITEM).unwrap_or(name) }
}

/// Removes null from a schema: a required field is never null.
fn without_null(shape: &mut Value) {
    if let Some(types) = shape.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            shape["type"] = only.clone();
        }
    }
    let choices = shape.get_mut("anyOf").and_then(Value::as_array_mut);
    if let Some(named) = choices.and_then(|choices| choices.first()).cloned() {
        *shape = named;
    }
}

pub fn reference(name: &str) -> Value {
    json!({"$ref": format!("#{SCHEMAS}/{name}")})
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::interface::description::operation;
    use crate::interface::{imports, routes};

    /// Adds the names of all schemas that are referred to, directly or by others.
    fn add_named(json: &Value, named: &Map<String, Value>, found: &mut BTreeSet<String>) {
        match json {
            Value::Object(members) => {
                for (key, value) in members {
                    let name = value.as_str().and_then(|path| path.strip_prefix("#/components/schemas/"));
                    match name.filter(|_| key == "$ref") {
                        Some(name) if found.insert(name.to_owned()) => add_named(&named[name], named, found),
                        Some(_) => {}
                        None => add_named(value, named, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| add_named(item, named, found)),
            _ => {}
        }
    }

    /// The schemas, and the resources whose routes use each of them.
    fn used() -> (Map<String, Value>, BTreeMap<String, BTreeSet<&'static str>>) {
        let mut shapes = Shapes::new();
        let all: Vec<_> = routes::all().collect();
        let described: Vec<_> =
            all.iter().map(|route| (route.pattern, operation::describe(route, &all, &mut shapes))).collect();
        let named = shapes.named();
        let mut used: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
        for (pattern, operation) in described {
            let resource = pattern.trim_start_matches("/api/v1/").split('/').next().unwrap();
            let mut found = BTreeSet::new();
            add_named(&operation, &named, &mut found);
            for name in found {
                used.entry(name).or_default().insert(resource);
            }
        }
        (named, used)
    }

    /// D39: `gesperrt` of a goods-receipt note said that nothing may leave the batch.
    #[test]
    fn a_meaning_by_bare_name_serves_one_resource() {
        let (named, used) = used();
        let mut served: BTreeMap<&str, (BTreeSet<&str>, Vec<&str>)> = BTreeMap::new();
        for (name, shape) in &named {
            let fields = shape["properties"].as_object().into_iter().flatten();
            for (field, described) in fields {
                let is_bare = described.get("x-meaning").is_none()
                    && woerter::own(words_of(name), field).is_none()
                    && woerter::everywhere(field).is_none();
                if is_bare {
                    let (common, shapes) = served.entry(field).or_insert((used[name].clone(), Vec::new()));
                    common.retain(|resource| used[name].contains(resource));
                    shapes.push(name);
                }
            }
        }
        let wrong = served.iter().filter(|(_, (common, _))| common.is_empty());
        let wrong: Vec<_> =
            wrong.map(|(field, (_, shapes))| format!("{field}: {}", shapes.join(" "))).collect();
        assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    }

    /// Each meaning in the tables is the one of a field that a schema or an import has.
    #[test]
    fn no_meaning_is_left_over() {
        let (named, _) = used();
        let own_word = |shape: &str, field: &str| woerter::own_entry(shape, field).map(|(word, _)| *word);
        let mut left: BTreeSet<&str> = woerter::TABLES
            .iter()
            .copied()
            .flatten()
            .chain(woerter::EVERYWHERE)
            .map(|(word, _)| *word)
            .collect();
        for (name, shape) in &named {
            for (field, described) in shape["properties"].as_object().into_iter().flatten() {
                match own_word(words_of(name), field) {
                    Some(word) => left.remove(word),
                    None => described.get("x-meaning").is_none() && left.remove(field.as_str()),
                };
            }
        }
        for import in imports::all() {
            for field in import.fields {
                left.remove(own_word(&(import.shape)(), field).unwrap_or(field));
            }
        }
        assert!(left.is_empty(), "{left:#?}");
    }
}
