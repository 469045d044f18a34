//! Tables of the whole interface over one data set: a row for each route, parameter and field of the
//! specification, with the happy case, each filter, each default and each refusal.
//!
//! A reading row is `(route, parameter, request, expectation)`: the route below /api/v1; the parameter or
//! `-`; a query or a whole path; and the expected answer. That is the list of numbers in order, `-` for none,
//! followed by ` /7` if the count differs; or `#3` for that many rows; or status and code. The number of a
//! row is its first field of `NUMBERS`; `saldo=12.00` checks another field.
//!
//! A writing table has a route, a valid body, and rows `(field, value, expectation)`: the value is sent in
//! that field (value `-`: the field is left out; field `-`: the body as it is). Then the record shows the
//! value, or another field as in `staat='AT'`, or the request is refused. Rows are carried out in order.
//!
//! `<L-1>` is the id of that record; `RE1` is RE-2031-00001. In JSON, ' stands for the quotation mark, and
//! '*255' for a text of that many letters.

mod complete;
pub mod data;
mod defaults;
mod described;
mod read_feed;
mod read_master;
mod read_stock;
mod read_trade;
mod read_z3;
mod refused;
mod write_abrechnung;
mod write_annahme;
mod write_artikel;
mod write_belege;
mod write_buchhaltung;
mod write_kontrakte;
mod write_kunden;
mod write_stapel;
mod write_stock;
mod write_z3;

use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use data::Company;

/// A row of a reading table.
type Read = (&'static str, &'static str, &'static str, &'static str);

/// A writing table.
struct Write {
    /// Method and route.
    route: &'static str,
    /// Path and body that create a record before each row; its id is `<before>`.
    before: Option<(&'static str, &'static str)>,
    /// The path the body is sent to.
    path: &'static str,
    /// A valid body.
    body: &'static str,
    /// The path the record is read from; `<new>` is the id just confirmed. If empty, the answer itself is checked.
    shown: &'static str,
    /// Field, value, expectation.
    rows: &'static [(&'static str, &'static str, &'static str)],
}

/// Fields that identify the rows of a list: the first one that a row has.
const NUMBERS: [&str; 15] = [
    "dateiname",
    "wiegeschein_nr",
    "beleg_nummer",
    "belegnummer",
    "pa_nummer",
    "charge_nr",
    "kontrakt_nr",
    "kundennr",
    "artikelnummer",
    "kuerzel",
    "iso2",
    "nr",
    "nummer",
    "version",
    "id",
];

fn reading() -> impl Iterator<Item = &'static Read> {
    [read_master::ROWS, read_trade::ROWS, read_stock::ROWS, read_feed::ROWS, read_z3::ROWS]
        .into_iter()
        .flatten()
}

fn writing() -> impl Iterator<Item = &'static Write> {
    [
        write_kunden::TABLES,
        write_belege::TABLES,
        write_stock::TABLES,
        write_annahme::TABLES,
        write_stapel::TABLES,
        write_artikel::TABLES,
        write_kontrakte::TABLES,
        write_abrechnung::TABLES,
        write_buchhaltung::TABLES,
        write_z3::TABLES,
    ]
    .into_iter()
    .flatten()
}

/// The row of a reading route for a request without parameters.
fn happy(route: &str) -> Option<&'static Read> {
    reading().find(|row| row.0 == route && row.1 == "-" && !is_refusal(row.3))
}

/// Whether an expectation is a status and a code.
fn is_refusal(expected: &str) -> bool {
    let status = expected.split_once(' ').map_or(expected, |(status, _)| status);
    status.len() == 3 && status.starts_with('4') && status.bytes().all(|b| b.is_ascii_digit())
}

/// A refusal in the notation of the tables.
fn refusal(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.body["error"].as_str().unwrap_or("-"))
}

/// Shortens RE-2031-00001 to RE1.
fn short(number: &str) -> String {
    number.replace("-2031-0000", "")
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), short)
}

/// The content of an answer in the notation of the tables; `field` identifies the rows.
fn brought(route: &str, field: Option<&str>, expected: &str, answer: &Answer) -> String {
    if answer.status != 200 {
        return refusal(answer);
    }
    for (kind, shown) in [
        ("text/csv", "csv"),
        ("application/xml", "xml"),
        ("application/pdf", "pdf"),
        ("application/zip", "zip"),
    ] {
        if answer.headers["content-type"].starts_with(kind) {
            // The sheet of a version has it in its name.
            let name = answer.headers.get("content-disposition").and_then(|name| name.split('"').nth(1));
            return name.filter(|name| name.starts_with("Schema-")).unwrap_or(shown).to_owned();
        }
    }
    if route == "/chargen/{id}/herkunft" {
        return herkunft(&answer.body);
    }
    let Some(rows) = answer.body.as_array().or_else(|| answer.body["data"].as_array()) else {
        return number(route, field, &answer.body);
    };
    let count = match answer.headers.get("x-total-count") {
        Some(count) => count.parse().unwrap(),
        // The feed has no end, so it has no count.
        None => answer.body["count"].as_u64().unwrap_or(rows.len() as u64),
    };
    let mut numbers: Vec<String> = rows.iter().map(|row| number(route, field, row)).collect();
    if route == "/steuersaetze" {
        numbers.sort();
    }
    let page = match expected.starts_with('#') {
        true => format!("#{}", rows.len()),
        false if rows.is_empty() => "-".to_owned(),
        false => numbers.join(" "),
    };
    if count == rows.len() as u64 { page } else { format!("{page} /{count}") }
}

fn number(route: &str, field: Option<&str>, row: &Value) -> String {
    if route == "/steuersaetze" {
        return format!("{}:{}", text(&row["schluessel"]), text(&row["satz"]));
    }
    if route == "/aenderungen" {
        return format!("{}:{}", text(&row["art"]), text(&row["aktion"]));
    }
    let known = || NUMBERS.into_iter().find(|field| row.get(field).is_some());
    let field = field.or_else(known).unwrap_or_else(|| panic!("{route}: name a field, as in saldo=12.00"));
    let stock = row.get("bestand").filter(|_| route == "/artikel");
    match row.get("vorschlag").or(stock) {
        Some(menge) => format!("{}:{}", text(&row[field]), text(menge)),
        None => text(&row[field]),
    }
}

/// `CH1 > CH3`: from which batches, into which.
fn herkunft(body: &Value) -> String {
    let side = |name: &str| -> Vec<String> {
        body[name].as_array().into_iter().flatten().map(|knoten| text(&knoten["charge_nr"])).collect()
    };
    format!("{} > {}", side("rueckwaerts").join(" "), side("vorwaerts").join(" ")).trim().to_owned()
}

#[test]
fn every_reading_row_holds() {
    let server = Server::start_at(data::BEGIN);
    let company = Company::of(&server);
    let mut wrong = Vec::new();
    for (route, parameter, request, expected) in reading() {
        let path = if request.starts_with('/') { (*request).to_owned() } else { format!("{route}{request}") };
        let answer = company.client.get(&format!("/api/v1{}", company.filled(&path)));
        let (field, numbers) = match expected.split_once('=') {
            Some((field, numbers)) => (Some(field), numbers),
            None => (None, *expected),
        };
        let came = brought(route, field, numbers, &answer);
        if came != numbers {
            wrong.push(format!("{path} ({parameter}): expected {expected}, came {came}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_writing_row_holds() {
    let server = Server::start_at(data::BEGIN);
    let mut company = Company::of(&server);
    let mut wrong = Vec::new();
    for table in writing() {
        for row in table.rows {
            if let Err(came) = write_row(&mut company, table, row) {
                let (field, value, expected) = row;
                wrong.push(format!("{} {field} {value}: expected {expected}, came {came}", table.route));
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// Sends the request of a row; returns the result if it is not as expected. Of a bulk request only the first
/// item is checked.
fn write_row(
    company: &mut Company<'_>,
    table: &Write,
    (field, value, expected): &(&str, &str, &str),
) -> Result<(), String> {
    if let Some((path, body)) = table.before {
        company.prepare(path, &company.json(body));
    }
    let mut body = company.json(table.body);
    if *field != "-" {
        set(&mut body, field, (*value != "-").then(|| company.json(value)));
    }
    let (method, _) = table.route.split_once(' ').unwrap();
    let path = format!("/api/v1{}", company.filled(table.path));
    let mut answer = company.client.send(method, &path, &[], Some(body.to_string().as_bytes()));
    let item = answer.body["data"].get(0).filter(|_| table.route.ends_with("/stapel")).cloned();
    let field = if let Some(item) = item {
        answer.status = item["status"].as_u64().unwrap().try_into().unwrap();
        answer.body = item["antwort"].clone();
        field.trim_start_matches("items.")
    } else {
        field
    };
    if is_refusal(expected) || answer.status >= 300 {
        return refused_as_expected(&answer, field, expected);
    }
    if let Some(id) = answer.body["id"].as_str() {
        company.ids.insert("new".to_owned(), id.to_owned());
    }
    let shown = if table.shown.is_empty() { answer.body.clone() } else { company.record(table.shown) };
    let (at, value) = shown_at(field, expected);
    let came = at.split('.').fold(&shown, |value, step| match step.parse::<usize>() {
        Ok(index) => &value[index],
        Err(_) => &value[step],
    });
    if *came == company.json(value) { Ok(()) } else { Err(format!("{at}={came}")) }
}

fn refused_as_expected(answer: &Answer, field: &str, expected: &str) -> Result<(), String> {
    if refusal(answer) != expected {
        return Err(refusal(answer));
    }
    // A wrong type is reported with the path of its field (D18), and so is a wrong value.
    let path = field.replace('.', "[0].");
    let feld = answer.body["feld"].as_str().unwrap_or("-");
    let codes = ["FELD_UNGUELTIG", "WERT_UNGUELTIG", "TEXT_ZU_LANG", "DATUM_UNGUELTIG", "LAND_UNBEKANNT"];
    let named = !codes.iter().any(|code| expected.ends_with(code)) || feld.starts_with(&path);
    if named { Ok(()) } else { Err(format!("feld {feld}")) }
}

/// Sets or removes a field of a body; `items.menge` is a field of the first item.
fn set(body: &mut Value, field: &str, value: Option<Value>) {
    if let Some((list, field)) = field.split_once('.') {
        return set(&mut body[list][0], field, value);
    }
    let (object, name) = (body.as_object_mut().unwrap(), field);
    match value {
        Some(value) => object.insert(name.to_owned(), value),
        None => object.remove(name),
    };
}

/// The field of the record that is checked, and its expected value.
fn shown_at<'e>(field: &str, expected: &'e str) -> (String, &'e str) {
    let is_path = |path: &str| path.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b));
    match expected.split_once('=') {
        Some((path, value)) if is_path(path) => (path.to_owned(), value),
        _ => (field.replacen("items", "positionen", 1).replace('.', ".0."), expected),
    }
}

/// Parses JSON in which ' is the quotation mark and '*255' a text of that many letters.
fn json_of(text: &str) -> Value {
    let value: Value = serde_json::from_str(&text.replace('\'', "\"")).expect(text);
    let length = value.as_str().and_then(|text| text.strip_prefix('*')).and_then(|n| n.parse().ok());
    length.map_or(value, |length| json!("x".repeat(length)))
}
