//! The interface according to its own description: cases are derived from the executable's output, so that a
//! new route, parameter or field is tried without anybody adding it.

use std::sync::OnceLock;

use serde_json::Value;

use crate::process::Folder;

pub struct Operation {
    pub method: String,
    /// `/api/v1/kunden/{id}`
    pub pattern: String,
    /// The scope that a key needs; empty: any key; `None`: no key is needed.
    pub scope: Option<String>,
    pub path: Vec<String>,
    pub query: Vec<String>,
    /// Where its body has values: JSON pointers, such as `/items/0/artikel_id`.
    pub fields: Vec<String>,
}

impl Operation {
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.pattern)
    }
}

pub fn operations() -> &'static [Operation] {
    static OPERATIONS: OnceLock<Vec<Operation>> = OnceLock::new();
    OPERATIONS.get_or_init(|| {
        let printed = Folder::new().result(&["openapi"]);
        let description: Value = serde_json::from_str(&printed).unwrap();
        let paths = description["paths"].as_object().unwrap();
        let of_path = |(pattern, operations): (&String, &Value)| -> Vec<Operation> {
            let operations = operations.as_object().unwrap().iter();
            operations.map(|(method, operation)| read(&description, method, pattern, operation)).collect()
        };
        paths.iter().flat_map(of_path).collect()
    })
}

fn read(description: &Value, method: &str, pattern: &str, operation: &Value) -> Operation {
    let none = Vec::new();
    let parameters = operation["parameters"].as_array().unwrap_or(&none);
    let named = |place: &str| {
        let of_place = parameters.iter().filter(|parameter| parameter["in"] == place);
        of_place.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
    };
    let scope = operation["security"][0]["ApiKey"].as_array().map(|scopes| {
        let scope = scopes.first().map(|scope| scope.as_str().unwrap());
        scope.unwrap_or_default().to_owned()
    });
    let mut fields = Vec::new();
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    walk(description, body, "", &mut fields);
    let (method, pattern) = (method.to_uppercase(), pattern.to_owned());
    Operation { method, pattern, scope, path: named("path"), query: named("query"), fields }
}

/// Collects the places of values in this shape that are neither objects nor arrays.
fn walk(description: &Value, schema: &Value, at: &str, fields: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches('#');
        return walk(description, description.pointer(name).unwrap(), at, fields);
    }
    if let Some(properties) = schema["properties"].as_object() {
        for (name, schema) in properties {
            walk(description, schema, &format!("{at}/{name}"), fields);
        }
    } else if schema["items"].is_object() {
        walk(description, &schema["items"], &format!("{at}/0"), fields);
    } else if !at.is_empty() {
        fields.push(at.to_owned());
    }
}
