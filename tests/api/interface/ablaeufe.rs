//! The sequences of requests that docs/api.md gives partners to copy: each is sent as it stands there.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Client, Server};

/// The blocks of a section: its lines, each with those that continue it.
fn blocks(section: &str) -> Vec<Vec<String>> {
    let page = include_str!("../../../docs/api.md");
    let section = page.split(&format!("\n## {section}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
    let block = |text: &str| {
        let mut lines: Vec<String> = Vec::new();
        for line in text.split("```").next().unwrap().lines() {
            match line.strip_prefix("  ") {
                Some(more) => lines.last_mut().unwrap().push_str(&format!(" {more}")),
                None => lines.push(line.to_owned()),
            }
        }
        lines
    };
    section.split("```text\n").skip(1).map(block).collect()
}

/// Puts the ids of earlier answers in: `<name>` is that of the record, `<name 1>` that of its first position.
fn with_ids(text: &str, answers: &BTreeMap<String, Value>) -> String {
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (meant, rest) = part.split_once('>').unwrap();
        let (name, position) = meant.split_once(' ').map_or((meant, None), |(name, at)| (name, Some(at)));
        let answer = answers.get(name).unwrap_or_else(|| panic!("no answer is called {name}"));
        let id = match position {
            Some(at) => &answer["positionen"][at.parse::<usize>().unwrap() - 1]["id"],
            None if answer["id"].is_null() => &answer["data"][0]["id"],
            None => &answer["id"],
        };
        out.push_str(id.as_str().unwrap_or_else(|| panic!("<{meant}> has no id: {answer}")));
        out.push_str(rest);
    }
    out
}

/// Whether an answer says all of this; lists are as long.
fn says(answer: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(fields) => fields.iter().all(|(name, value)| says(&answer[name], value)),
        Value::Array(rows) => {
            let found = answer.as_array().map_or(&[][..], Vec::as_slice);
            found.len() == rows.len() && found.iter().zip(rows).all(|(found, row)| says(found, row))
        }
        value => answer == value,
    }
}

/// Sends the request of a line and compares the answer.
fn send(client: &Client, line: &str, answers: &mut BTreeMap<String, Value>) {
    let line = with_ids(line, answers);
    let (request, expected) = line.split_once(" → ").map_or((&*line, None), |(to, says)| (to, Some(says)));
    let (name, request) = match request.split_once(" = ").filter(|(name, _)| !name.contains(' ')) {
        Some((name, request)) => (Some(name), request),
        None => (None, request),
    };
    let mut words = request.splitn(3, ' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let body =
        words.next().map(|body| body.parse::<Value>().unwrap_or_else(|wrong| panic!("{wrong}: {line}")));
    let body = body.map(|body| body.to_string());
    let path = format!("/api/v1{path}");
    let answer = client.send(method, &path, &[], body.as_deref().map(str::as_bytes));
    assert!(answer.status < 300, "{line}: {}", answer.body);
    if let Some(expected) = expected {
        let expected: Value = expected.parse().unwrap();
        assert!(says(&answer.body, &expected), "{line}: {}", answer.body);
    }
    if let Some(name) = name {
        answers.insert(name.to_owned(), answer.body);
    }
}

#[test]
fn the_sequences_of_the_page_for_partners_say_what_stands_there() {
    let server = Server::start();
    let client = server.company("Mühle");
    let artikel = json!([
        {"artikelnummer": "F01201", "bezeichnung": "Legehennenfutter", "einheit": "Sack", "preis": "14.90", "mwst_satz": 7},
        {"artikelnummer": "R01001", "bezeichnung": "Weizen", "einheit": "kg", "mwst_satz": 7, "chargenpflichtig": true}]);
    server.import(&client, "artikel", &artikel.to_string());
    for (number, role) in [("K-1003", "kunde"), ("L-2001", "lieferant")] {
        let body = json!({"name": number, "kundennr": number, "partner_typen": [role]});
        client.post("/api/v1/kunden", body).is(201);
    }
    let blocks = blocks("Drei Abläufe");
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let (mut answers, mut expected) = (BTreeMap::new(), 0);
        for line in &block {
            expected += line.matches(" → ").count();
            send(&client, line, &mut answers);
        }
        assert!(expected >= 2, "the block says what it comes to: {block:?}");
    }
}
