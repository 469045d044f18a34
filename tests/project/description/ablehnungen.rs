//! Each code that a route can answer is shown with an answer that the demo gave, and gives again.

use std::collections::BTreeSet;

use partnerd::interface::routes;
use serde_json::{Map, Value, json};

use crate::description::{address, demo, file, resolve, settled};
use crate::process::{Answer, Client, Folder, Running};

/// Answers that a healthy server never gives: made by the program itself, and tested where they occur.
const MADE: [&str; 4] = ["INTERNER_FEHLER", "NICHT_VERFUEGBAR", "AUSGANG_UNBEKANNT", "ZEIT_UEBERSCHRITTEN"];

/// Requests with wrong keys until their address has to wait.
const ENOUGH: usize = 20;

/// Carries out the steps of tests/data/ablehnungen.json in order: commands and statements as preparation,
/// then a request that is refused with `code`. `@name/pointer` refers to the result of an earlier step.
struct Walk<'f> {
    folder: &'f Folder,
    demo: Running,
    client: Client,
    known: Map<String, Value>,
}

impl Walk<'_> {
    fn all(&mut self) -> Map<String, Value> {
        let text = std::fs::read_to_string(file("tests/data/ablehnungen.json")).unwrap();
        let steps: Vec<Value> = serde_json::from_str(&text).unwrap();
        let mut refused = Map::new();
        for mut step in steps {
            resolve(&mut step, &self.known);
            let given = self.take(&step);
            if let Some(code) = step["code"].as_str() {
                assert_eq!(given["error"], code, "{step}: {given}");
                assert!(refused.insert(code.to_owned(), given.clone()).is_none(), "{code} is shown twice");
            }
            // Some codes occur only among the details of another one.
            if let Some(code) = step["detail"].as_str() {
                assert_eq!(given["details"]["fehler"][0]["error"], code, "{step}: {given}");
                assert!(refused.insert(code.to_owned(), given.clone()).is_none(), "{code} is shown twice");
            }
            if let Some(name) = step["name"].as_str() {
                self.known.insert(name.to_owned(), given);
            }
        }
        refused
    }

    fn take(&self, step: &Value) -> Value {
        if let Some(command) = step["command"].as_array() {
            return self.command(command, step["file"].as_str());
        }
        if let Some(sql) = step["sql"].as_str() {
            let database = rusqlite::Connection::open(self.folder.file("partnerd-demo.db")).unwrap();
            assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
            return Value::Null;
        }
        let answer = self.ask(step);
        assert!(
            answer.status < 300 || step["code"].is_string() || step["detail"].is_string(),
            "{step}: {} {}",
            answer.status,
            answer.body
        );
        answer.body
    }

    fn command(&self, command: &[Value], content: Option<&str>) -> Value {
        let mut command: Vec<&str> = command.iter().map(|part| part.as_str().unwrap()).collect();
        if let Some(content) = content {
            self.folder.write(command.last().unwrap(), content);
        }
        command.extend(["--db", "partnerd-demo.db"]);
        let printed = self.folder.result(&command);
        // The id of a key is its second part.
        json!({"key": printed.trim(), "id": printed.split('_').nth(1)})
    }

    fn ask(&self, step: &Value) -> Answer {
        let (method, path) = address(step);
        let key = step["key"].as_str();
        let client = key.map_or_else(|| self.client.clone(), |key| self.demo.client(key));
        let headers = step["headers"].as_object().into_iter().flatten();
        let headers: Vec<_> = headers.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
        let body = step["text"].as_str().map(str::to_owned);
        let body = body.or_else(|| step.get("body").map(Value::to_string));
        let ask = || client.send_text(&method, &path, &headers, body.clone()).unwrap();
        let mut answer = ask();
        let is_awaited = |answer: &Answer| step["until"] != true || answer.body["error"] == step["code"];
        for _ in 0..ENOUGH {
            if is_awaited(&answer) {
                break;
            }
            answer = ask();
        }
        answer
    }
}

/// Values too long to be written in the file.
fn long_ones() -> Map<String, Value> {
    let item = json!({"artikelnr": "D04", "menge": 1, "ep_netto": 40});
    let cost = |nr: i64| {
        json!({"nr": nr, "code": format!("kosten_{nr}"), "text": "Kosten", "wirkung": "kosten", "regel": "fest",
            "satz": "-1", "einheit": "EUR"})
    };
    let note = json!({"kundennummer": "L-2002", "artikelnr": "R01002", "anliefermenge_kg": 10_000,
        "lieferdatum": "2026-08-01", "preis_je_t": 400});
    let known = json!({
        "viele": {"items": vec![item; 1_000]},
        "kosten": {"schritte": (1..=50).map(cost).collect::<Vec<_>>()},
        "ernte": {"items": vec![note; 20]},
        "lang": {"text": "x".repeat(300)},
        "gross": {"text": "x".repeat(1_100_000)},
    });
    known.as_object().unwrap().clone()
}

/// With PARTNERD_RECORD set, the answers are recorded again.
#[test]
fn each_refusal_is_shown_as_the_demo_answers() {
    let folder = Folder::new();
    let (demo, client) = demo(&folder);
    let refused = Walk { folder: &folder, demo, client, known: long_ones() }.all();
    let stored = file("src/interface/description/ablehnungen.json");
    if std::env::var_os("PARTNERD_RECORD").is_some() {
        std::fs::write(&stored, serde_json::to_string_pretty(&refused).unwrap() + "\n").unwrap();
    }
    let stored: Map<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(&stored).unwrap()).unwrap();
    assert!(stored.keys().eq(refused.keys()));
    for (code, answer) in &refused {
        assert_eq!(without_figures(&stored[code]), without_figures(answer), "{code}");
    }
}

/// An answer without what differs from run to run: ids, and the seconds to wait.
fn without_figures(answer: &Value) -> Value {
    let mut answer = settled(answer);
    let plain = |told: &mut Value| {
        *told = told.as_str().unwrap().replace(|c: char| c.is_ascii_digit(), "").into();
    };
    plain(&mut answer["message"]);
    let all = answer.pointer_mut("/details/fehler").and_then(Value::as_array_mut);
    all.into_iter().flatten().for_each(|one| plain(&mut one["message"]));
    answer
}

#[test]
fn each_code_of_a_route_has_an_answer_that_shows_it() {
    let document = routes::document();
    let examples = document["components"]["examples"].as_object().unwrap();
    let mut named = BTreeSet::new();
    for operation in
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap())
    {
        for response in operation.1["responses"].as_object().unwrap().values() {
            let codes = response["x-fehlercodes"].as_array().into_iter().flatten();
            let shown = &response["content"]["application/json"]["examples"];
            for code in codes.map(|code| code.as_str().unwrap()) {
                assert_eq!(shown[code]["$ref"], format!("#/components/examples/{code}"), "{}", operation.0);
                named.insert(code);
            }
        }
    }
    let shown: BTreeSet<_> = examples.keys().map(String::as_str).collect();
    assert_eq!(shown, named);
    for (code, example) in examples {
        let value = &example["value"];
        let is_named = value["error"] == **code || value["details"]["fehler"][0]["error"] == **code;
        assert!(is_named, "{code}: {value}");
        let message = example["value"]["message"].as_str().unwrap();
        assert!(message.len() > 20 && message.contains('.'), "{code}: {message}");
    }
    for code in MADE {
        assert_eq!(examples[code]["value"]["request_id"], "00000000-0000-0000-0000-000000000000", "{code}");
    }
}
