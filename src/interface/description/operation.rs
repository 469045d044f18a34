//! Describes one operation, derived from its row of the route table.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::shapes::{Shapes, reference};
use super::{ablaeufe, ablehnungen, beispiele};
use crate::platform::db::list::MAX_LIMIT;
use crate::platform::http::error::status;
use crate::platform::http::param::{Param, ParamKind};
use crate::platform::http::query::{SEARCH, VALUE_MAX};
use crate::platform::http::route::{Access, Method, Route, Run};
use crate::platform::http::shape::{Answer, Body, JSON};
use crate::rules::error::Code;

/// The groups (tags) of the description, each with the first path segments that belong to it.
const TAGS: &[(&str, &str, &[&str])] = &[
    ("Kunden", "Kunden, Lieferanten, Spediteure und ihre Anhänge", &["kunden"]),
    ("Artikel", "Artikel, Artikelgruppen und Anhänge", &["artikel", "artikelgruppen"]),
    ("Belege", "Angebote bis Rechnungen, ihre PDFs und das Abholen neuer Belege", &["belege", "dokumente"]),
    ("Chargen", "Chargen, Bestand und Rückverfolgung", &["chargen"]),
    (
        "Rohwaren",
        "Kontrakte, Annahmescheine, Abrechnungen und ihre Schemata",
        &["kontrakte", "annahmescheine", "abrechnungen", "abrechnungsschemata"],
    ),
    (
        "Buchhaltung",
        "Konten und DATEV-Stapel für den Steuerberater, Berichte, Daten für die Betriebsprüfung",
        &["datev", "berichte", "z3"],
    ),
    ("Produktion", "Produktionsaufträge", &["produktionsauftraege"]),
    ("Kasse", "Bonzeilen der Kassen", &["barverkaeufe"]),
    ("Waage", "Wiegungen", &["wiegungen"]),
    ("Abgleich", "Alles, was sich ändert, an einer Stelle", &["aenderungen"]),
    (
        "Nachschlagen",
        "Länder, Steuersätze und die Beschreibung selbst",
        &["laender", "steuersaetze", "v1", "docs", "openapi.json"],
    ),
    ("Betrieb", "Für den, der den Dienst betreibt", &["healthz", "readyz", "metrics"]),
];

const HEADERS: &[(&str, &str, &str)] = &[
    ("X-Request-Id", "string", "Kennung dieser Anfrage; sie steht auch im Protokoll des Dienstes."),
    ("X-RateLimit-Limit", "integer", "Anfragen, die der Schlüssel an einem Tag (UTC) stellen darf."),
    ("X-RateLimit-Remaining", "integer", "Anfragen, die dem Schlüssel heute bleiben."),
    ("X-RateLimit-Reset", "integer", "Sekunden, bis wieder alle Anfragen frei sind (00:00 UTC)."),
    ("Retry-After", "integer", "Sekunden, nach denen sich ein neuer Versuch lohnt."),
    ("WWW-Authenticate", "string", "ApiKey: Es fehlt ein gültiger Schlüssel (X-API-Key)."),
    ("ETag", "string", "Fassung der Antwort, für If-Match und If-None-Match."),
    ("X-Total-Count", "integer", "Anzahl aller Treffer, unabhängig von limit und offset."),
    ("X-Limit", "integer", "Nur wenn limit zu groß war: das Höchste, das gilt."),
    ("X-Next-Since", "string", "Wert von since für den nächsten Abruf; fehlt, wenn nichts da war."),
    ("X-Fehlmenge", "string", "Nur mit menge: was an Bestand fehlt, in der Einheit des Artikels."),
    ("X-Hinweise", "string", "Codes dessen, was der Dienst gerundet, ignoriert oder selbst gewählt hat."),
    ("X-Test", "string", "true: Die Firma ist eine Testfirma; nichts von dem, was sie macht, gilt."),
    ("Idempotency-Replayed", "string", "true: die gespeicherte Antwort auf denselben Idempotency-Key."),
];

const HEADERS_OF_A_KEY: [&str; 4] =
    ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Test"];

pub fn describe(route: &'static Route, routes: &[&'static Route], shapes: &mut Shapes) -> Value {
    let example = beispiele::of(route);
    let mut operation = json!({
        "operationId": id(route),
        "summary": route.summary,
        "description": format!("{}\n\n{}", ablaeufe::of(route), access(route.access)),
        "tags": [tag(route)],
        "security": security(route.access),
        "responses": responses(route, routes, shapes, example),
    });
    let parameters = parameters(route, example);
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = &route.takes {
        let schema = match single(route, routes) {
            Some(single) => shapes.body_of_many(body, single),
            None => shapes.body(body, route.method),
        };
        operation["requestBody"] = request_body(body, schema, example);
    }
    if route.deprecated.is_some() {
        operation["deprecated"] = true.into();
    }
    operation
}

pub fn tags() -> Value {
    TAGS.iter().map(|(name, description, _)| json!({"name": name, "description": description})).collect()
}

pub fn headers() -> Value {
    let header = |(name, kind, description): &(&str, &str, &str)| {
        ((*name).to_owned(), json!({"description": description, "schema": {"type": kind}}))
    };
    HEADERS.iter().map(header).collect::<Map<_, _>>().into()
}

/// Returns the operation id, made of method and path, so that it never changes.
fn id(route: &Route) -> String {
    let path = route.pattern.trim_start_matches("/api/v1").replace(['{', '}', '.'], "");
    let path = path.replace('/', "_");
    format!("{}{}", route.method.as_str().to_lowercase(), if path.is_empty() { "_api" } else { &path })
}

fn tag(route: &Route) -> &'static str {
    let path = route.pattern.trim_start_matches("/api/v1/");
    let segment = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let segment = if route.pattern == "/api/v1" { "v1" } else { segment };
    let of = |segment: &str| TAGS.iter().find(|(_, _, segments)| segments.contains(&segment));
    let of_scope = || match route.access {
        Access::Scope(scope) => of(scope.as_str().split(':').next().unwrap_or_default()),
        Access::Open | Access::AnyKey => None,
    };
    of(segment).or_else(of_scope).map_or("", |(name, ..)| name)
}

fn access(access: Access) -> String {
    match access {
        Access::Open => "Ohne Schlüssel.".to_owned(),
        Access::AnyKey => "Jeder gültige Schlüssel genügt.".to_owned(),
        Access::Scope(scope) => format!("Der Schlüssel braucht die Berechtigung `{}`.", scope.as_str()),
    }
}

fn security(access: Access) -> Value {
    match access {
        Access::Open => json!([]),
        Access::AnyKey => json!([{"ApiKey": []}]),
        Access::Scope(scope) => json!([{"ApiKey": [scope.as_str()]}]),
    }
}

fn parameters(route: &Route, example: Option<&'static Value>) -> Vec<Value> {
    let mut all: Vec<Value> = path_parameters(route).chain(query_parameters(route, example)).collect();
    if is_repeatable(route) {
        let description =
            "Dieselbe Anfrage mit demselben Schlüssel wird nur einmal ausgeführt (7 Tage lang).";
        all.push(header_parameter("Idempotency-Key", description));
    }
    if route.if_match {
        let description =
            "ETag der Fassung, auf der die Änderung beruht; eine andere wird mit 412 abgelehnt.";
        all.push(header_parameter("If-Match", description));
    }
    all
}

/// Describes the path parameters. Ids have no example: the page would fill it in, and that record exists only
/// in the demo.
fn path_parameters(route: &Route) -> impl Iterator<Item = Value> {
    let names = route.pattern.split(['{', '}']).skip(1).step_by(2);
    names.map(|name| {
        let (description, schema) = match name {
            "datei" => ("Name der Datei", json!({"type": "string"})),
            "dok_id" => ("id der Datei, aus der Liste der Dateien", uuid()),
            _ => ("id des Datensatzes, aus einer Liste oder der Antwort beim Anlegen", uuid()),
        };
        json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema})
    })
}

fn uuid() -> Value {
    json!({"type": "string", "format": "uuid"})
}

/// Describes the query parameters. A filter gets its example as text in the description only: the page would
/// fill an `example` into the input field, and a trial call would then return few records or none. Required
/// parameters are filled in.
fn query_parameters(route: &Route, example: Option<&'static Value>) -> impl Iterator<Item = Value> {
    route.query.iter().map(move |param| {
        let mut parameter = json!({
            "name": param.name, "in": "query", "required": param.required,
            "description": param.description(), "schema": parameter_shape(param)
        });
        let value = example.and_then(|example| example.get("query")?.get(param.name));
        // For the other kinds the name and the kind are as clear as an example.
        let says_more = matches!(
            param.kind,
            ParamKind::Text | ParamKind::ListOf(_) | ParamKind::Quantity | ParamKind::Day
        );
        match value {
            Some(value) if param.required => parameter["example"] = value.clone(),
            Some(value) if says_more => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                parameter["description"] = format!("{}; zum Beispiel `{text}`", param.description()).into();
            }
            _ => {}
        }
        parameter
    })
}

fn header_parameter(name: &str, description: &str) -> Value {
    // ASCII with at least one visible character.
    let pattern = "^[\\t -~]*[!-~][\\t -~]*$";
    json!({
        "name": name, "in": "header", "required": false, "description": description,
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": pattern}
    })
}

fn parameter_shape(param: &Param) -> Value {
    // Only a search may be blank.
    let pattern = if param.name == SEARCH { r"^[^\u0000]*$" } else { r"^[^\u0000]*[^\u0000\s][^\u0000]*$" };
    let text = json!({"type": "string", "maxLength": VALUE_MAX, "pattern": pattern});
    match param.kind {
        ParamKind::Text => text,
        ParamKind::Int => json!({"type": "integer", "format": "int64"}),
        ParamKind::IntWithin(minimum, maximum, default) => {
            json!({"type": "integer", "minimum": minimum, "maximum": maximum, "default": default})
        }
        ParamKind::Quantity => json!({"type": "number", "exclusiveMinimum": 0}),
        ParamKind::Uuid => uuid(),
        ParamKind::Partner => json!({"type": ["integer", "string"], "format": "uuid"}),
        ParamKind::Day => json!({"type": "string", "format": "date"}),
        ParamKind::Since => {
            json!({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]})
        }
        ParamKind::Bool => json!({"type": "boolean"}),
        ParamKind::Flag => json!({"type": "boolean", "default": false}),
        ParamKind::OneOf(values) => json!({"type": "string", "enum": values}),
        ParamKind::OneOfOr(values, default) => json!({"type": "string", "enum": values, "default": default}),
        ParamKind::ListOf(values) => {
            let value = values.join("|");
            json!({"type": "string", "pattern": format!("^({value})(,({value}))*$")})
        }
        ParamKind::Limit(default) => {
            let mut limit = json!({"type": "integer", "minimum": 0, "maximum": MAX_LIMIT});
            if let Some(default) = default {
                limit["default"] = default.into();
            }
            limit
        }
        ParamKind::Offset => json!({"type": "integer", "minimum": 0, "default": 0}),
    }
}

/// Returns the request body of the single operation that a bulk request repeats for each item (D28).
fn single<'r>(route: &Route, routes: &[&'r Route]) -> Option<&'r Body> {
    let Run::Each(path) = route.run else { return None };
    let single = routes.iter().find(|other| other.method == Method::Post && other.pattern == path)?;
    single.takes.as_ref()
}

fn request_body(body: &Body, schema: Value, example: Option<&Value>) -> Value {
    let mut content = json!({"schema": schema});
    let several = example.and_then(|example| example.get("anfragen")?.as_array());
    if let Some(several) = several {
        content["examples"] = several.iter().filter_map(named_example).collect::<Map<_, _>>().into();
    } else if let Some(example) = example.map(|example| &example["body"]).filter(|body| !body.is_null()) {
        content["example"] = example.clone();
    }
    json!({"required": !body.optional, "content": {JSON: content}})
}

fn named_example(example: &Value) -> Option<(String, Value)> {
    let title = example["titel"].as_str()?;
    let name = title.chars().filter(char::is_ascii_alphanumeric).collect();
    Some((name, json!({"summary": title, "value": example["body"]})))
}

fn responses(
    route: &'static Route,
    routes: &[&'static Route],
    shapes: &mut Shapes,
    example: Option<&Value>,
) -> Value {
    let mut all = Map::new();
    for answer in route.gives {
        let response = all.entry(answer.status.to_string()).or_insert_with(|| {
            json!({"description": meaning(route, answer), "headers": answer_headers(route, answer), "content": {}})
        });
        response["content"][answer.content] = content(answer, shapes, example);
        let links = links(route, routes, answer);
        if !links.is_empty() {
            response["links"] = links.into();
        }
        if answer.headers.contains(&"etag") {
            all.insert(
                "304".to_owned(),
                json!({
                    "description": "Die Antwort ist noch die, deren ETag in If-None-Match stand.",
                    "headers": answer_headers(route, answer)
                }),
            );
        }
    }
    for (status, codes) in refusals(route) {
        all.insert(status.to_string(), refusal(route, status, &codes));
    }
    all.into()
}

/// Describes the content of an answer: its schema, plus the example if the example shows this answer.
fn content(answer: &Answer, shapes: &mut Shapes, example: Option<&Value>) -> Value {
    let mut content = json!({});
    content["schema"] = match answer.shape {
        Some(shape) => shape(&mut shapes.given).into(),
        None if answer.content == "application/pdf" => json!({"type": "string", "format": "binary"}),
        None => json!({"type": "string"}),
    };
    let is_shown = |example: &&Value| example["status"] == answer.status && answer.content == JSON;
    if let Some(example) = example.filter(is_shown) {
        content["example"] = example["answer"].clone();
    }
    content
}

fn meaning(route: &Route, answer: &Answer) -> &'static str {
    match (route.method, answer.status) {
        (Method::Post, 200) if route.gives.len() > 1 => "Das gab es schon; es wurde nichts angelegt.",
        (_, 201) => "Angelegt.",
        (Method::Get, _) if answer.headers.contains(&"x-total-count") => {
            "Gefunden, als Array; X-Total-Count zählt alle Treffer."
        }
        (Method::Get, _) if matches!(route.run, Run::Follow(_)) => {
            "Was seit dem cursor geschah, als `{data, cursor}`; data ist leer, wo nichts geschah."
        }
        (Method::Get, _) if answer.headers.contains(&"x-limit") => {
            "Gefunden, als `{data, count}`; count zählt alle Treffer."
        }
        (Method::Get, _) => "Gefunden.",
        _ => "Ausgeführt.",
    }
}

fn answer_headers(route: &Route, answer: &Answer) -> Value {
    let mut names: Vec<&str> = vec!["X-Request-Id"];
    if route.access != Access::Open {
        names.extend(HEADERS_OF_A_KEY);
        names.push("X-Hinweise");
    }
    if is_repeatable(route) {
        names.push("Idempotency-Replayed");
    }
    let own = HEADERS.iter().filter(|(name, ..)| answer.headers.contains(&name.to_lowercase().as_str()));
    names.extend(own.map(|(name, ..)| *name));
    header_references(&names)
}

fn header_references(names: &[&str]) -> Value {
    let reference =
        |name: &&str| ((*name).to_owned(), json!({"$ref": format!("#/components/headers/{name}")}));
    names.iter().map(reference).collect::<Map<_, _>>().into()
}

const OF_ANY: &[Code] =
    &[Code::AnfrageUngueltig, Code::UnbekannterParameter, Code::InternerFehler, Code::NichtVerfuegbar];

const OF_A_KEY: &[Code] = &[
    Code::ApiKeyFehlt,
    Code::ApiKeyUngueltig,
    Code::ApiKeyAbgelaufen,
    Code::ApiKeyDeaktiviert,
    Code::TageslimitErreicht,
    Code::ZuVieleAnfragen,
];

const OF_A_BODY: &[Code] = &[
    Code::UngueltigesJson,
    Code::UnbekanntesFeld,
    Code::FeldUngueltig,
    Code::FeldFehlt,
    Code::WertUngueltig,
    Code::TextZuLang,
    Code::DatumUngueltig,
    Code::ZuGross,
    Code::KodierungNichtUnterstuetzt,
    Code::ZeitUeberschritten,
];

/// Returns every code that can refuse a call of the route, by status: those implied by the row and those it
/// names.
pub fn refusals(route: &Route) -> BTreeMap<u16, Vec<Code>> {
    let of_parameters: Vec<Code> = route.query.iter().flat_map(of_a_parameter).collect();
    let groups: [(bool, &[Code]); 9] = [
        (true, OF_ANY),
        (route.access != Access::Open, OF_A_KEY),
        (matches!(route.access, Access::Scope(_)), &[Code::ScopeFehlt]),
        (route.pattern.contains('{') || route.pattern == "/metrics", &[Code::NichtGefunden]),
        (true, &of_parameters),
        (route.takes.is_some(), OF_A_BODY),
        (matches!(route.run, Run::Write(_) | Run::Draft(_)), &[Code::AusgangUnbekannt]),
        (is_repeatable(route), &[Code::IdempotenzKonflikt]),
        (route.if_match, &[Code::ZwischenzeitlichGeaendert]),
    ];
    let following = groups.into_iter().filter(|(applies, _)| *applies).map(|(_, codes)| codes);
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for &code in following.chain(route.refuses.iter().copied()).flatten() {
        let named = by_status.entry(status(code)).or_default();
        if !named.contains(&code) {
            named.push(code);
        }
    }
    by_status
}

fn of_a_parameter(param: &Param) -> impl Iterator<Item = Code> {
    let no_day = matches!(param.kind, ParamKind::Day | ParamKind::Since).then_some(Code::DatumUngueltig);
    let missing = param.required.then_some(Code::ParameterFehlt);
    let too_long = matches!(param.kind, ParamKind::Limit(_)).then_some(Code::ZuVieleTreffer);
    [Some(Code::ParameterUngueltig), no_day, missing, too_long].into_iter().flatten()
}

fn refusal(route: &Route, status: u16, codes: &[Code]) -> Value {
    let list: Vec<_> =
        codes.iter().map(|code| format!("- `{}`: {}", code.as_str(), code.meaning())).collect();
    let mut headers = vec!["X-Request-Id"];
    match status {
        401 => headers.push("WWW-Authenticate"),
        429 | 503 => headers.push("Retry-After"),
        _ => {}
    }
    if route.access != Access::Open && status != 401 {
        headers.extend(HEADERS_OF_A_KEY);
    }
    json!({
        "description": list.join("\n"),
        "headers": header_references(&headers),
        "content": {JSON: {"schema": reference("Fehler"), "examples": ablehnungen::references(codes)}},
        "x-fehlercodes": codes,
    })
}

/// Returns the links of a creating route: to every route whose path continues its own with an id.
fn links(route: &'static Route, routes: &[&'static Route], answer: &Answer) -> Map<String, Value> {
    let mut links = Map::new();
    if route.method != Method::Post || answer.status != 201 {
        return links;
    }
    for other in routes {
        let Some(rest) = other.pattern.strip_prefix(route.pattern).and_then(|rest| rest.strip_prefix("/{"))
        else {
            continue;
        };
        let Some((own_id, _)) = rest.split_once('}') else { continue };
        let inherited = route.pattern.split(['{', '}']).skip(1).step_by(2);
        let mut parameters: Map<String, Value> =
            inherited.map(|name| (name.to_owned(), format!("$request.path.{name}").into())).collect();
        parameters.insert(own_id.to_owned(), "$response.body#/id".into());
        links.insert(id(other), json!({"operationId": id(other), "parameters": parameters}));
    }
    links
}

/// Whether the route takes an Idempotency-Key: every POST except queries with a body, which write nothing.
fn is_repeatable(route: &Route) -> bool {
    route.method == Method::Post && !matches!(route.run, Run::Read(_))
}
