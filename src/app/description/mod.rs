//! The description of the interface (OpenAPI 3.1), made from the route table and the types on the
//! wire: nothing in it is written a second time.
//!
//! `woerter` says what the fields mean, `fehler` what the codes mean, `einleitung.md` is the
//! introduction, `beispiele.json` holds requests with their answers as the demo gives them.

mod beispiele;
mod fehler;
mod operation;
mod woerter;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{API_VERSION, routes};
use crate::http::encoding::gzip;
use crate::http::error::ErrorBody;
use crate::http::shape::Body;

/// Where the shapes with a name stand.
const SCHEMAS: &str = "/components/schemas";

/// The description as it is served and printed: JSON with a newline at its end.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        // A JSON value has no way to fail.
        serde_json::to_string_pretty(&document()).unwrap_or_default() + "\n"
    });
    &TEXT
}

/// The same, compressed with gzip.
pub fn compressed() -> &'static [u8] {
    static COMPRESSED: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(text().as_bytes()));
    &COMPRESSED
}

/// The description.
pub fn document() -> Value {
    let mut shapes = Shapes::new();
    let mut paths = Map::new();
    for route in routes() {
        let operation = operation::describe(route, &mut shapes);
        let path = paths.entry(route.pattern).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "partnerd",
            "version": API_VERSION,
            "summary": "Partnerschnittstelle für Landhandel, Mühle, Futtermittel und Biohandel",
            "description": introduction(),
            "contact": {"name": "Der Betreiber dieses Dienstes"},
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"}
        },
        "servers": [{"url": "/", "description": "Dieser Dienst"}],
        "tags": operation::tags(),
        "paths": paths,
        "components": {
            "schemas": shapes.finish(),
            "headers": operation::headers(),
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey", "in": "header", "name": "X-API-Key",
                    "description": "Ein Schlüssel `ak_…`; er gehört zu genau einer Firma."
                }
            }
        },
        "security": [{"ApiKey": []}]
    })
}

fn introduction() -> String {
    include_str!("einleitung.md").replace("{{fehlercodes}}", &fehler::catalogue())
}

/// The shapes of bodies and answers, by name.
struct Shapes {
    sent: SchemaGenerator,
    given: SchemaGenerator,
    bodies: Map<String, Value>,
    /// Shapes whose fields stand in bodies of other names.
    lent: BTreeSet<String>,
}

impl Shapes {
    fn new() -> Shapes {
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

    /// The body of a request: a shape with a name and with what must be there.
    fn body(&mut self, body: &Body) -> Value {
        let shape = (body.shape)(&mut self.sent);
        let mut shape = self.resolve(&shape.into());
        if !body.required.is_empty() {
            shape["required"] = json!(body.required);
        }
        for field in body.required {
            without_null(&mut shape["properties"][field]);
        }
        self.bodies.insert(body.name.to_owned(), shape);
        reference(body.name)
    }

    /// What a shape of a request says where it stands; its own name is needed no more.
    fn resolve(&mut self, shape: &Value) -> Value {
        let name = shape["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        let Some((name, named)) = name.and_then(|name| Some((name, self.sent.definitions().get(name)?)))
        else {
            return shape.clone();
        };
        self.lent.insert(name.to_owned());
        named.clone()
    }

    /// All shapes with a name; those of bodies that only lend their fields to others are left out.
    fn finish(mut self) -> Value {
        self.given.subschema_for::<ErrorBody<'_>>();
        let mut all: Map<String, Value> = self.given.take_definitions(true);
        for (name, shape) in self.sent.take_definitions(true) {
            if !self.lent.contains(&name) {
                all.entry(name).or_insert(shape);
            }
        }
        all.append(&mut self.bodies);
        for (name, shape) in &mut all {
            woerter::explain(name, shape);
        }
        all.into()
    }
}

/// What must be there is never null.
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

/// A reference to a shape with a name.
fn reference(name: &str) -> Value {
    json!({"$ref": format!("#{SCHEMAS}/{name}")})
}
