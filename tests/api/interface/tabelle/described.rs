//! What the description says of bodies holds: a value that the shape of a field excludes is refused with the path of
//! the field, and a body knows each field that the record shows. The fields are read from the description, so that a
//! new one is tried without a line here.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::complete::named;
use super::data::{self, Company};
use super::{Write, is_refusal, writing};
use crate::harness::{Answer, Server};
use crate::validator::Validator;

/// A field of a body.
pub struct Field {
    /// Method and route.
    pub route: String,
    /// `items.menge` is a field of each item.
    pub path: String,
    /// The name of the object that has the field: BelegNeu, ItemEingabe.
    pub object: String,
    schema: Value,
}

static DESCRIPTION: LazyLock<Value> = LazyLock::new(partnerd::interface::routes::document);

/// Every field of every body.
pub fn fields() -> Vec<Field> {
    let mut fields = Vec::new();
    for (name, route) in named() {
        let method = route.method.as_str();
        let operation = &DESCRIPTION["paths"][route.pattern][method.to_lowercase()];
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        add_fields(&mut fields, &format!("{method} {name}"), "", body);
    }
    assert!(fields.len() > 200, "only {} fields are described", fields.len());
    fields
}

fn add_fields(fields: &mut Vec<Field>, route: &str, prefix: &str, object: &Value) {
    let Some(name) = object["$ref"].as_str().and_then(|path| path.rsplit('/').next()) else { return };
    // The items of a bulk request are bodies of another route.
    if name.ends_with("Eintrag") {
        return;
    }
    for (field, schema) in resolved(object)["properties"].as_object().into_iter().flatten() {
        let (path, schema) = (format!("{prefix}{field}"), resolved(schema));
        add_fields(fields, route, &format!("{path}."), &schema["items"]);
        fields.push(Field { route: route.to_owned(), path, object: name.to_owned(), schema });
    }
}

/// The shape that a reference names, alone or beside null.
fn resolved(schema: &Value) -> Value {
    let schema = if schema["anyOf"].is_array() { &schema["anyOf"][0] } else { schema };
    match schema["$ref"].as_str() {
        Some(path) => DESCRIPTION.pointer(path.trim_start_matches('#')).unwrap().clone(),
        None => schema.clone(),
    }
}

/// Values of every kind. Digits in quotation marks are not among them, because a number may be sent as a text.
fn values() -> Vec<Value> {
    let mut values = vec![json!(true), json!([]), json!([1]), json!(["koch"]), json!({"a": 1})];
    values.extend([json!(1), json!(1.5), json!(-1), json!(101), json!(3_651), json!(1_000_000_000_000_u64)]);
    values.extend(["x", "true", "1,5", "2026-02-29", "10.07.2026", "\u{1}"].map(Value::from));
    values.extend([256, 4_001].map(|length| "x".repeat(length).into()));
    values
}

/// The values that the shape of the field excludes. A wrong item of many is refused alone, so the request is not.
fn excluded(field: &Field) -> Vec<Value> {
    let mut schema = field.schema.clone();
    if field.object.ends_with("Stapel") {
        schema["items"] = json!(true);
    }
    let validator = Validator::new(&schema, &DESCRIPTION).unwrap();
    values().into_iter().filter(|value| !validator.is_valid(value)).collect()
}

/// The code that refuses a value of this shape (D19).
fn code(schema: &Value, value: &Value) -> &'static str {
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|known| known == kind),
        known => known == kind,
    };
    match value {
        _ if schema["format"] == "date" => "DATUM_UNGUELTIG",
        Value::Array(elements) if is("array") => match elements.first() {
            Some(element) => code(&resolved(&schema["items"]), element),
            None => "FELD_FEHLT",
        },
        // A number that may be sent as a text has no longest text.
        Value::String(text)
            if is("string")
                && (!is("number") || schema["maxLength"].is_u64())
                && schema["contentEncoding"].is_null() =>
        {
            let is_uuid = schema["format"] == "uuid" && !is("integer");
            match text.chars().any(char::is_control) || is_uuid {
                true => "FELD_UNGUELTIG",
                false if text.len() > 255 => "TEXT_ZU_LANG",
                false if schema["enum"].is_array() => "WERT_UNGUELTIG",
                false => "FELD_UNGUELTIG",
            }
        }
        // From 10^12 on it is no number of ours.
        Value::Number(number) if is("number") || is("integer") && number.is_i64() => {
            let is_large = number.as_i64().is_some_and(|number| number >= 1_000_000_000_000);
            if is_large { "FELD_UNGUELTIG" } else { "WERT_UNGUELTIG" }
        }
        _ => "FELD_UNGUELTIG",
    }
}

/// Puts a value into a body, into the third element of each list on the way; the path that a refusal names.
fn place(object: &mut Map<String, Value>, path: &str, value: &Value) -> String {
    let Some((list, below)) = path.split_once('.') else {
        object.insert(path.to_owned(), value.clone());
        return path.to_owned();
    };
    let element = object.get(list).and_then(|list| list[0].as_object()).cloned().unwrap_or_default();
    let mut third = element.clone();
    let below = place(&mut third, below, value);
    object.insert(list.to_owned(), json!([element, element, third]));
    format!("{list}[2].{below}")
}

/// The table of a route that begins with a row that is accepted; of several the one whose body says the most.
fn table(route: &str) -> &'static Write {
    let tables = writing().filter(|table| table.route == route && !is_refusal(table.rows[0].2));
    tables.max_by_key(|table| table.body.len()).unwrap_or_else(|| panic!("{route} has no accepted row"))
}

/// Everything that a refused request must leave alone.
const COUNTS: &str = "select (select count(*) from kunde) || ' ' || (select count(*) from wiegung) || ' ' ||
    (select count(*) from charge) || ' ' || (select count(*) from charge_verlauf) || ' ' ||
    (select count(*) from beleg) || ' ' || (select count(*) from beleg_position) || ' ' ||
    (select count(*) from beleg_verlauf) || ' ' || (select count(*) from beleg_pdf) || ' ' ||
    (select count(*) from annahmeschein) || ' ' || (select count(*) from annahme_analyse) || ' ' ||
    (select count(*) from abrechnung) || ' ' || (select count(*) from abrechnung_annahme) || ' ' ||
    (select count(*) from abrechnungsschema_version) || ' ' || (select count(*) from produktionsauftrag) || ' ' ||
    (select count(*) from kunde_verlauf) || ' ' || (select count(*) from anhang) || ' ' || (select count(*) \
         from lagerbewegung) || ' ' ||
    (select coalesce(sum(letzte), 0) from nummernkreis)";

/// Makes the record that the body of a table is about, if it needs one.
fn prepare(company: &mut Company<'_>, table: &Write) {
    if let Some((path, body)) = table.before {
        company.prepare(path, &company.json(body));
    }
}

fn send(company: &Company<'_>, table: &Write, body: &Value) -> Answer {
    let (method, _) = table.route.split_once(' ').unwrap();
    let path = format!("/api/v1{}", company.filled(table.path));
    company.client.send(method, &path, &[], Some(body.to_string().as_bytes()))
}

/// The body of a table; it is an object.
fn body(company: &Company<'_>, table: &Write) -> Map<String, Value> {
    company.json(table.body).as_object().unwrap().clone()
}

#[test]
fn a_value_that_the_shape_excludes_is_refused_by_its_path_and_nothing_is_stored() {
    let server = Server::start_at(data::BEGIN);
    let mut company = Company::of(&server);
    let mut wrong = Vec::new();
    let mut sent = 0;
    for route in fields().chunk_by(|a, b| a.route == b.route) {
        let table = table(&route[0].route);
        prepare(&mut company, table);
        let before: String = server.sql(COUNTS);
        for field in route {
            for value in excluded(field) {
                let mut body = body(&company, table);
                let path = place(&mut body, &field.path, &value);
                let answer = send(&company, table, &body.into());
                let (error, feld) = (&answer.body["error"], answer.body["feld"].as_str().unwrap_or("-"));
                let is_named = feld == path || feld == format!("{path}[0]");
                if answer.status != 400 || error != code(&field.schema, &value) || !is_named {
                    let value = excerpt(&value);
                    wrong.push(format!("{} {path} = {value}: {} {error} {feld}", field.route, answer.status));
                }
                sent += 1;
            }
        }
        assert_eq!(server.sql::<String>(COUNTS), before, "{}", table.route);
    }
    assert!(wrong.is_empty(), "{} of {sent}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sent > 1_500, "only {sent} values were excluded");
}

/// Kinds of import, the route that makes the same record, and a row that is accepted.
const IMPORTED: &[(&str, &str, &str)] = &[
    ("artikel", "POST /artikel", r#"{"artikelnummer": "N-1", "bezeichnung": "Neu"}"#),
    ("kunden", "POST /kunden", r#"{"kundennr": "N-1", "nachname_firma": "Neu"}"#),
    ("kontrakte", "POST /kontrakte", r#"{"kontrakt_nr": "N-1"}"#),
    ("chargen", "POST /chargen", r#"{"artikelnummer": "N-0", "charge_nr": "N-1"}"#),
];

/// What no import may have left behind.
const OF_IMPORTS: &str =
    "select (select count(*) from kunde) || ' ' || (select count(*) from artikel) || ' ' ||
    (select count(*) from staffelpreis) || ' ' || (select count(*) from charge) || ' ' ||
    (select count(*) from kontrakt) || ' ' || (select count(*) from kontrakt_position)";

/// An import refuses what POST refuses (D39): the shape of the body is that of the row.
#[test]
fn a_value_that_the_shape_excludes_is_refused_by_an_import_too() {
    let server = Server::start_at(data::BEGIN);
    let mill = server.company("Mühle");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung\nN-0;Weizen\n");
    let tenant = mill.tenant.to_string();
    let import = |kind: &str, row: &Value| {
        let file = server.database.with_file_name(format!("{kind}.json"));
        std::fs::write(&file, json!([row]).to_string()).unwrap();
        let file = file.to_str().unwrap();
        server.cli(&["--json", "import", kind, file, "--tenant", &tenant, "--accept-warnings"])
    };
    let (mut wrong, mut sent) = (Vec::new(), 0);
    for (kind, route, row) in IMPORTED {
        let known = partnerd::interface::imports::all().find(|import| import.kind == *kind).unwrap().fields;
        let row: Map<String, Value> = serde_json::from_str(row).unwrap();
        let before: String = server.sql(OF_IMPORTS);
        for field in fields().iter().filter(|field| field.route == *route) {
            let top = field.path.split('.').next().unwrap();
            // A column of an import names another record by its number, a list of rows the same.
            if !known.contains(&top) || field.path.starts_with("positionen.artikel") {
                continue;
            }
            for value in excluded(field) {
                let mut row = row.clone();
                let path = place(&mut row, &field.path, &value);
                let output = import(kind, &row.into());
                let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
                if output.status.success() || !said.contains(top) {
                    wrong.push(format!("{kind} {path} = {}: {said}", excerpt(&value)));
                }
                sent += 1;
            }
        }
        assert_eq!(server.sql::<String>(OF_IMPORTS), before, "{kind}");
    }
    assert!(wrong.is_empty(), "{} of {sent}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sent > 500, "only {sent} values were excluded");
}

fn excerpt(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

/// A client reads a record, edits it and sends it back whole (D18). A field that the record shows and the body knows
/// neither as its own nor as one to ignore was forgotten in `eingabe!`.
#[test]
fn a_field_that_a_record_shows_is_known_to_its_body() {
    let server = Server::start_at(data::BEGIN);
    let mut company = Company::of(&server);
    let mut unknown = Vec::new();
    // A storno, a count, a file, many records and a question have a body of their own, not an edited record,
    // and what is said of a record is none.
    let own = [
        "Storno",
        "InventurNeu",
        "ERechnungEinlesen",
        "AbrechnungsProbe",
        "MesswertNeu",
        "AnalyseNeu",
        "Freigabe",
        "Korrektur",
        "BuchungsstapelNeu",
        "DatevKontoSetzen",
        "Verwerfen",
    ];
    let is_own = |field: &Field| {
        own.contains(&field.object.as_str())
            || field.object.ends_with("Stapel")
            || field.route.ends_with("/vorschau")
    };
    let fields: Vec<_> = fields().into_iter().filter(|field| !is_own(field)).collect();
    for route in fields.chunk_by(|a, b| a.route == b.route) {
        let table = table(&route[0].route);
        prepare(&mut company, table);
        let answer = send(&company, table, &body(&company, table).into());
        company.ids.insert("new".to_owned(), answer.id());
        let shown = company.record(table.shown);
        prepare(&mut company, table);
        let mut whole = body(&company, table);
        repeat(&mut whole, &shown, "", route);
        let answer = send(&company, table, &whole.into());
        assert!(answer.status < 300, "{}: {} {}", table.route, answer.status, answer.body);
        let hints = answer.body["hinweise"].as_array().into_iter().flatten();
        // What a body is described to take it takes (D39).
        let is_taken = |hint: &&Value| {
            route.iter().any(|field| hint["feld"] == field.path && field.schema["readOnly"] != true)
        };
        let is_fault = |hint: &&Value| match hint["code"].as_str() {
            Some("UNBEKANNTES_FELD") => true,
            Some("FELD_IGNORIERT") => is_taken(hint),
            _ => false,
        };
        unknown.extend(hints.filter(is_fault).map(|hint| format!("{} {}", table.route, hint["feld"])));
    }
    assert!(unknown.is_empty(), "shown, but unknown where it is sent back:\n{}", unknown.join("\n"));
}

/// Adds to a body what the record shows and the body does not take.
fn repeat(body: &mut Map<String, Value>, shown: &Value, prefix: &str, fields: &[Field]) {
    for (name, value) in shown.as_object().into_iter().flatten() {
        // Positions of documents are sent as items.
        let is_sent =
            |name: &str| fields.iter().any(|field| field.path.starts_with(&format!("{prefix}{name}")));
        let name = if name == "positionen" && !is_sent(name) { "items" } else { name };
        let path = format!("{prefix}{name}");
        let below = format!("{path}.");
        if fields.iter().any(|field| field.path.starts_with(&below)) {
            // A list that the record leaves empty has nothing to repeat.
            if value.as_array().is_some_and(Vec::is_empty) {
                continue;
            }
            let mut element =
                body.get(name).and_then(|list| list[0].as_object()).cloned().unwrap_or_default();
            repeat(&mut element, &value[0], &below, fields);
            body.insert(name.to_owned(), json!([element]));
        } else if !fields.iter().any(|field| field.path == path) {
            body.insert(name.to_owned(), value.clone());
        }
    }
}
