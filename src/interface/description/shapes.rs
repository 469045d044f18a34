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

    /// Returns all named schemas, except those that were only copied into bodies of other names.
    pub fn finish(mut self) -> Value {
        self.given.subschema_for::<ErrorBody<'_>>();
        let mut all: Map<String, Value> = self.given.take_definitions(true);
        for (name, shape) in self.sent.take_definitions(true) {
            if !self.lent.contains(&name) {
                all.entry(name).or_insert(shape);
            }
        }
        all.append(&mut self.bodies);
        for (name, shape) in &mut all {
            // Bulk requests and their items have no words of their own.
            let words = if name.ends_with(MANY) { MANY } else { name.strip_suffix(ITEM).unwrap_or(name) };
            woerter::explain(words, shape);
        }
        all.into()
    }
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
