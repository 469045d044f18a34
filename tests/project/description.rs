//! The description of the interface is complete and true: it is served as printed, contains every row of the route
//! table, gives every field its meaning, requires what it calls required, and its examples are the demo's answers.

mod ablehnungen;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use crate::process::{Answer, Client, Folder, Running};
use partnerd::interface::routes;
use partnerd::platform::http::route::{Access, Method};
use partnerd::rules::choice::Choice;
use partnerd::rules::document::BelegTyp;
use partnerd::rules::error::Code;
use serde_json::{Map, Value, json};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn demo(folder: &Folder) -> (Running, Client) {
    let mut demo = Running::start(folder.command(&["demo", "--listen", "127.0.0.1:0"]));
    let key = demo.line();
    let client = demo.client(&key);
    (demo, client)
}

#[test]
fn what_is_served_is_what_is_printed() {
    let folder = Folder::new();
    let server = folder.serve(&[]);
    let client = server.client("");
    assert_eq!(client.text("/openapi.json"), folder.result(&["openapi"]));
    let about = client.get("/api/v1").body;
    assert_eq!((&about["docs"], &about["spec"]), (&json!("/docs"), &json!("/openapi.json")));
    assert_eq!(
        (&about["stabilitaet"], &routes::document()["info"]["x-stability"]),
        (&json!("stable"), &json!("stable"))
    );
}

#[test]
fn every_row_of_the_table_is_described() {
    let document = routes::document();
    let mut ids = BTreeSet::new();
    let mut codes = BTreeSet::new();
    for route in routes::all() {
        let operation = &document["paths"][route.pattern][route.method.as_str().to_lowercase()];
        let name = format!("{} {}", route.method.as_str(), route.pattern);
        assert_eq!(operation["summary"], route.summary, "{name}");
        assert!(!operation["tags"][0].as_str().unwrap().is_empty(), "{name} belongs to no group");
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{name}: its id is taken");
        assert!(!route.gives.is_empty(), "{name} says nothing of its answers");
        assert_eq!(route.access == Access::Open, operation["security"] == json!([]), "{name}");
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        for param in route.query {
            let described = parameters.iter().find(|known| known["name"] == param.name);
            let described = described.unwrap()["description"].as_str().unwrap();
            assert!(described.starts_with(&param.description()), "{name} {}: {described}", param.name);
        }
        let responses = operation["responses"].as_object().unwrap();
        let named = responses.values().filter_map(|answer| answer["x-fehlercodes"].as_array()).flatten();
        codes.extend(named.map(|code| code.as_str().unwrap().to_owned()));
    }
    // A method that no route has is not described.
    let nowhere: Vec<_> =
        Code::ALL.iter().map(|code| code.as_str()).filter(|code| !codes.contains(*code)).collect();
    assert_eq!(nowhere, ["METHODE_NICHT_ERLAUBT"]);
}

/// The page fills an input with the `example` of a parameter or its schema: a filter that nobody chose would
/// hide data, and an id of the demo exists nowhere else.
#[test]
fn nothing_is_filled_in_before_somebody_chooses_to() {
    let document = routes::document();
    let mut seen = 0;
    for route in routes::all() {
        let operation = &document["paths"][route.pattern][route.method.as_str().to_lowercase()];
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        for parameter in parameters {
            let filled = ["/example", "/examples", "/schema/example", "/schema/examples"]
                .iter()
                .any(|place| parameter.pointer(place).is_some());
            let needed = parameter["in"] == "query" && parameter["required"] == true;
            assert_eq!(filled, needed, "{}: {parameter}", route.name());
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen} parameters were seen");
    let parameters = document["paths"]["/api/v1/artikel"]["get"]["parameters"].as_array().unwrap();
    let suche = parameters.iter().find(|parameter| parameter["name"] == "suche").unwrap();
    assert!(suche["description"].as_str().unwrap().ends_with("; zum Beispiel `R01001`"), "{suche}");
}

/// The file of texts names each row of the table exactly once and nothing else; its texts are in the description.
#[test]
fn every_operation_says_what_it_does_and_what_follows() {
    let document = routes::document();
    let texts = std::fs::read_to_string(file("src/interface/description/ablaeufe.md")).unwrap();
    let mut named = BTreeSet::new();
    for section in texts.split("\n## ").skip(1) {
        let (name, text) = section.split_once('\n').unwrap();
        assert!(named.insert(name.to_owned()), "{name} has two texts");
        let (method, path) = name.split_once(' ').unwrap();
        let described = &document["paths"][path][method.to_lowercase()]["description"];
        let described = described.as_str().unwrap_or_else(|| panic!("{name} is no route"));
        assert!(text.trim().len() > 80, "{name} says too little: {text}");
        let rest = described.strip_prefix(text.trim()).unwrap_or_else(|| panic!("{name}: {described}"));
        assert!(rest.contains("Schlüssel"), "{name} does not say which key it needs");
    }
    let routes: BTreeSet<_> = routes::all().map(|route| route.name()).collect();
    assert_eq!(named, routes, "texts, routes");
}

/// The steps of the guide: method and path of a request, and its body if it has one.
fn steps() -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(file("src/interface/description/einleitung.md")).unwrap();
    let guide = text.split("\n## ").find(|section| section.starts_with("Der Weg eines LKW")).unwrap();
    let requests = guide.split("```http\n").skip(1).map(|block| block.split("```").next().unwrap());
    let step = |request: &str| {
        let (line, rest) = request.trim().split_once('\n').unwrap_or((request.trim(), ""));
        let route = line.split('?').next().unwrap().to_owned();
        (route, rest.find('{').map_or(Value::Null, |_| serde_json::from_str(rest.trim()).unwrap()))
    };
    requests.map(step).collect()
}

/// Each step is a row of the route table, and sends only fields that the row takes.
#[test]
fn the_way_of_a_lorry_can_be_gone() {
    let document = routes::document();
    let steps = steps();
    let known: Vec<String> = routes::all().map(|route| route.name()).collect();
    let mut bodies = 0;
    for (route, body) in &steps {
        assert!(known.contains(route), "{route} is no route");
        let (method, path) = route.split_once(' ').unwrap();
        let operation = &document["paths"][path][method.to_lowercase()];
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        for field in body.as_object().into_iter().flat_map(Map::keys) {
            let name = schema.as_str().and_then(|path| path.rsplit('/').next()).unwrap();
            let fields = &document["components"]["schemas"][name]["properties"];
            assert!(fields.get(field).is_some(), "{route} takes no {field}");
            bodies += 1;
        }
    }
    assert!(bodies > 12, "{bodies} fields were seen");
    let routes: BTreeSet<&str> = steps.iter().map(|(route, _)| route.as_str()).collect();
    for step in [
        "POST /api/v1/wiegungen",
        "PUT /api/v1/wiegungen/{id}/zweitwiegung",
        "POST /api/v1/belege",
        "POST /api/v1/belege/{id}/abschliessen",
        "GET /api/v1/belege/{id}/pdf",
        "GET /api/v1/belege/{id}/erechnung",
        "POST /api/v1/belege/{id}/storno",
        "GET /api/v1/belege/{id}/verlauf",
        "GET /api/v1/aenderungen",
    ] {
        assert!(routes.contains(step), "{step} is missing");
    }
}

/// The defaults and bounds of the specification (Limits) and of D16.
#[test]
fn parameters_have_their_defaults_and_bounds() {
    let document = routes::document();
    let limit = |default: u32| json!({"type": "integer", "minimum": 0, "maximum": 5000, "default": default});
    let depth = json!({"type": "integer", "minimum": 1, "maximum": 50, "default": 20});
    let format = json!({"type": "string", "enum": ["json", "csv"], "default": "json"});
    let table = [
        ("/api/v1/kunden", "limit", limit(100)),
        ("/api/v1/artikel", "limit", limit(100)),
        ("/api/v1/belege", "limit", limit(50)),
        ("/api/v1/chargen", "limit", limit(200)),
        ("/api/v1/chargen/verfuegbar", "limit", limit(200)),
        ("/api/v1/wiegungen", "limit", limit(100)),
        ("/api/v1/barverkaeufe", "limit", limit(500)),
        ("/api/v1/aenderungen", "limit", limit(500)),
        ("/api/v1/kontrakte", "limit", json!({"type": "integer", "minimum": 0, "maximum": 5000})),
        ("/api/v1/barverkaeufe", "nur_verkaeufe", json!({"type": "boolean", "default": false})),
        ("/api/v1/chargen/{id}/herkunft", "tiefe", depth),
        ("/api/v1/chargen/{id}/herkunft", "format", format),
    ];
    for (path, name, expected) in table {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let parameter = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
        assert_eq!(parameter["schema"], expected, "{path} {name}");
    }
}

#[test]
fn every_field_has_its_meaning_and_every_meaning_its_field() {
    let document = routes::document();
    let mut used = BTreeSet::new();
    for (name, shape) in document["components"]["schemas"].as_object().unwrap() {
        for (field, described) in shape["properties"].as_object().into_iter().flatten() {
            let meaning = described["description"].as_str();
            used.insert(meaning.unwrap_or_else(|| panic!("{name}.{field} is not explained")).to_owned());
        }
    }
    let words = std::fs::read_to_string(file("src/interface/description/woerter.rs")).unwrap();
    let table = words.split("const WOERTER").nth(1).unwrap();
    let texts: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    assert!(texts.len() > 400, "the table was not found");
    for pair in texts.chunks(2) {
        assert!(used.contains(pair[1]), "no field means {pair:?}");
    }
}

/// Sends the requests of tests/data/beispiele.json in order; `@name/pointer` refers to an earlier answer. A
/// reading route without an example is called for the first record in the list of its first word, or for a
/// partner if that list is empty.
fn walk(client: &Client) -> Vec<Value> {
    let mut steps: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(file("tests/data/beispiele.json")).unwrap()).unwrap();
    let known: BTreeSet<String> =
        steps.iter().map(|step| step["route"].as_str().unwrap().to_owned()).collect();
    for route in
        routes::all().filter(|route| route.pattern.starts_with("/api/") && !known.contains(&route.name()))
    {
        let list = route.pattern.split("/{id}").next().unwrap();
        let first = |list: &str| {
            let rows = client.get(&format!("{list}?limit=1")).body;
            rows.pointer("/data/0/id").or(rows.pointer("/0/id")).cloned().unwrap_or_default()
        };
        let id = [list, "/api/v1/kunden"].into_iter().map(first).find(|id| !id.is_null());
        if route.method == Method::Get && route.gives[0].shape.is_some() {
            steps.push(json!({"route": route.name(), "path": {"id": id}}));
        }
    }
    let mut answers: Map<String, Value> = Map::new();
    let mut walked = Vec::new();
    for mut step in steps {
        for part in ["path", "query", "body"] {
            resolve(&mut step[part], &answers);
        }
        let mut answer = call(client, &step);
        // For a job the example shows its final state.
        let ended = step.as_object_mut().unwrap().remove("stand");
        while ended.as_ref().is_some_and(|ended| answer.body["stand"] != *ended) {
            sleep(Duration::from_millis(100));
            answer = call(client, &step);
        }
        assert!(answer.status < 300, "{step}: {} {}", answer.status, answer.body);
        let name = step["name"].as_str().unwrap_or_default().to_owned();
        answers.insert(name, answer.body.clone());
        step.as_object_mut().unwrap().remove("name");
        step["status"] = answer.status.into();
        step["answer"] = answer.body;
        walked.push(step);
    }
    walked
}

fn resolve(value: &mut Value, answers: &Map<String, Value>) {
    match value {
        Value::String(text) => {
            if let Some(place) = text.strip_prefix('@') {
                let (name, pointer) = place.split_once('/').unwrap();
                *value = answers[name]
                    .pointer(&format!("/{pointer}"))
                    .unwrap_or_else(|| panic!("{place}"))
                    .clone();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| resolve(value, answers)),
        Value::Object(fields) => fields.values_mut().for_each(|value| resolve(value, answers)),
        _ => {}
    }
}

fn call(client: &Client, step: &Value) -> Answer {
    let (method, path) = address(step);
    let body = Some(&step["body"]).filter(|body| !body.is_null());
    client.send(&method, &path, body).unwrap()
}

/// The method of a step, and its path with values filled in.
fn address(step: &Value) -> (String, String) {
    let (method, pattern) = step["route"].as_str().unwrap().split_once(' ').unwrap();
    let mut path = pattern.to_owned();
    for (name, id) in step["path"].as_object().into_iter().flatten() {
        path = path.replace(&format!("{{{name}}}"), id.as_str().unwrap());
    }
    for (at, (name, value)) in step["query"].as_object().into_iter().flatten().enumerate() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        write!(path, "{}{name}={value}", if at == 0 { '?' } else { '&' }).unwrap();
    }
    (method.to_owned(), path)
}

/// The value with everything replaced that differs from run to run: ids, instants, the current year.
fn settled(value: &Value) -> Value {
    let text = |text: &str| {
        let shape: String = text.chars().map(|c| if c.is_ascii_hexdigit() { 'x' } else { c }).collect();
        let digits: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        if shape.contains("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
            return shape;
        }
        let is_number = ["-9999-99999"].iter().any(|end| digits.ends_with(end));
        match digits.as_str() {
            "9999-99-99T99:99:99.999Z" | "9999-99-99" => "instant".to_owned(),
            _ if is_number => digits,
            // A cursor: 24 bytes in Base64.
            _ if text.len() == 32 && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) => {
                "cursor".to_owned()
            }
            _ if shape.len() == 64 && shape.chars().all(|c| c == 'x') => "sha256".to_owned(),
            _ if shape.len() == 12 && shape.chars().all(|c| c == 'x') => "key".to_owned(),
            _ => text.to_owned(),
        }
    };
    match value {
        Value::String(value) => Value::String(text(value)),
        Value::Array(values) => values.iter().map(settled).collect(),
        // The file of a job contains the time when it was made.
        Value::Object(fields) if fields.contains_key("schritte") && fields.contains_key("bytes") => {
            let differs = |name: &str| ["bytes", "sha256", "zeilen"].contains(&name);
            let kept = fields.iter().filter(|(name, _)| !differs(name));
            kept.map(|(name, value)| (name.clone(), settled(value))).collect::<Map<_, _>>().into()
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), settled(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// With PARTNERD_RECORD set, the examples are recorded again.
#[test]
fn the_examples_are_what_the_demo_answers() {
    let folder = Folder::new();
    let (_demo, client) = demo(&folder);
    let walked = walk(&client);
    let mut first: Map<String, Value> = Map::new();
    for mut step in walked {
        let route = step["route"].as_str().unwrap().to_owned();
        step.as_object_mut().unwrap().remove("route");
        step.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let titel = step.as_object_mut().unwrap().remove("titel");
        let request = titel.map(|titel| json!({"titel": titel, "body": step["body"]}));
        let shown = first.entry(route).or_insert(step).as_object_mut().unwrap();
        if let Some(request) = request {
            shown.entry("anfragen").or_insert_with(|| json!([])).as_array_mut().unwrap().push(request);
        }
    }
    let stored = file("src/interface/description/beispiele.json");
    if std::env::var_os("PARTNERD_RECORD").is_some() {
        std::fs::write(&stored, serde_json::to_string_pretty(&first).unwrap() + "\n").unwrap();
    }
    let stored: Value = serde_json::from_str(&std::fs::read_to_string(&stored).unwrap()).unwrap();
    for route in
        routes::all().filter(|route| route.gives[0].shape.is_some() && route.pattern != "/openapi.json")
    {
        let name = format!("{} {}", route.method.as_str(), route.pattern);
        let example = first.get(&name).unwrap_or_else(|| panic!("{name} has no example"));
        assert_eq!(settled(&stored[&name]), settled(example), "{name}");
    }
}

/// Each document type has an example of its own, which was accepted.
#[test]
fn each_type_of_document_has_its_example() {
    let document = routes::document();
    let post = &document["paths"]["/api/v1/belege"]["post"]["requestBody"]["content"]["application/json"];
    let examples = post["examples"].as_object().unwrap().values();
    let shown: BTreeSet<&str> =
        examples.map(|example| example["value"]["beleg_typ"].as_str().unwrap()).collect();
    assert_eq!(shown, BelegTyp::ALL.iter().map(|typ| typ.as_str()).collect());
}

/// A body without a required field is refused because of that field.
#[test]
fn what_is_called_required_is_required() {
    let folder = Folder::new();
    let (_demo, client) = demo(&folder);
    let document = routes::document();
    let mut refused = 0;
    for step in walk(&client) {
        let (method, pattern) = step["route"].as_str().unwrap().split_once(' ').unwrap();
        let operation = &document["paths"][pattern][method.to_lowercase()];
        let name = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let Some(name) = name.as_str().and_then(|path| path.rsplit('/').next()) else { continue };
        let required = &document["components"]["schemas"][name]["required"];
        for field in required.as_array().into_iter().flatten() {
            let mut without = step.clone();
            let body = without["body"].as_object_mut().unwrap();
            body.remove(field.as_str().unwrap()).unwrap();
            // A repeated one would return the existing document.
            body.remove("external_ref");
            let answer = call(&client, &without);
            let code = answer.body["error"].as_str().unwrap_or_default().to_owned();
            assert!(
                ["FELD_FEHLT", "NAME_FEHLT"].contains(&code.as_str()),
                "{name} without {field}: {}",
                answer.body
            );
            assert_eq!(answer.body["feld"], *field, "{name}");
            refused += 1;
        }
    }
    assert!(refused >= 20, "{refused} fields were tried");
}

#[test]
fn types_of_documents_are_called_what_the_pages_call_them() {
    let words: Vec<_> =
        BelegTyp::ALL.iter().map(|typ| format!("{} {}", typ.as_str(), typ.bezeichnung())).collect();
    let words = format!("{}.", words.join(", "));
    let described =
        &routes::document()["components"]["schemas"]["Beleg"]["properties"]["beleg_typ"]["description"];
    assert_eq!(described, &json!(words));
}
