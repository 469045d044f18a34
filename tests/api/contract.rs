//! Every answer of every test against the description of the interface: its status is named, its
//! code is among those of the route, its headers are named and those that are promised are there, its body has the
//! shape and no field more.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex, PoisonError};

use partnerd::interface::routes;
use partnerd::platform::http::route::{Method, Route};
use partnerd::platform::http::router::{Router, split};
use serde_json::{Value, json};

use crate::validator::Validator;

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let mut document = routes::document();
    document["components"]["schemas"].as_object_mut().unwrap().values_mut().for_each(close);
    document
});

/// Validators of answers by operation, status and type of content.
static VALIDATORS: LazyLock<Mutex<HashMap<String, &'static Validator>>> = LazyLock::new(Mutex::default);

static ROUTER: LazyLock<Router> = LazyLock::new(|| Router::new(routes::all()));

/// Headers that belong to HTTP or to every answer.
const COMMON: &[&str] = &[
    "access-control-allow-origin",
    "access-control-expose-headers",
    "allow",
    "cache-control",
    "connection",
    "content-disposition",
    "content-encoding",
    "content-length",
    "content-security-policy",
    "content-type",
    "date",
    "referrer-policy",
    "vary",
    "x-content-type-options",
];

/// What an object has beyond what is described is a mistake in the description.
fn close(shape: &mut Value) {
    if shape["properties"].is_object() {
        shape["additionalProperties"] = json!(false);
    }
}

/// The route of a request, as the gate finds it.
fn route(method: &str, path: &str) -> Option<&'static Route> {
    ROUTER.find(Some(Method::parse(method)?), &split(path)).map(|at| ROUTER.route(at))
}

/// What is wrong with an answer, if it is one of a route.
pub fn check(
    method: &str,
    path: &str,
    status: u16,
    headers: &BTreeMap<String, String>,
    body: &Value,
) -> Result<(), String> {
    let path = path.split('?').next().unwrap();
    let Some(route) = route(method, path) else { return Ok(()) };
    let operation = &DESCRIPTION["paths"][route.pattern][route.method.as_str().to_lowercase()]["responses"];
    let response = &operation[status.to_string()];
    if response.is_null() {
        return Err(format!("the status {status} is not described"));
    }
    if let Some(code) = body["error"].as_str().filter(|_| status >= 400) {
        let codes = response["x-fehlercodes"].as_array().unwrap();
        if !codes.iter().any(|known| known == code) {
            return Err(format!("the code {code} is not described"));
        }
    }
    for name in headers.keys().filter(|name| !COMMON.contains(&name.as_str())) {
        let described = response["headers"].as_object().into_iter().flatten();
        if !described.into_iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Err(format!("the header {name} is not described"));
        }
    }
    let kind = headers.get("content-type").map_or("", |kind| kind.split(';').next().unwrap());
    let promised = route.gives.iter().filter(|answer| answer.status == status && answer.content == kind);
    // Others are sent where there is something to say.
    let always = ["etag", "x-total-count"];
    for name in promised.flat_map(|answer| answer.headers).filter(|name| always.contains(name)) {
        if !headers.contains_key(*name) {
            return Err(format!("the header {name} is promised and missing"));
        }
    }
    let content = &response["content"][kind];
    if content.is_null() && !kind.is_empty() {
        return Err(format!("the content type {kind} is not described"));
    }
    if kind != "application/json" || body.is_null() {
        return Ok(());
    }
    let name = format!("{method} {} {status}", route.pattern);
    let validator =
        *VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_insert_with(|| {
            Box::leak(Box::new(Validator::new(&content["schema"], &DESCRIPTION).unwrap()))
        });
    validator.validate(body)
}

/// A shape that no test asks for is understood as well, so that a new keyword is noticed at once.
#[test]
fn every_shape_with_a_name_is_understood() {
    let shapes = DESCRIPTION["components"]["schemas"].as_object().unwrap();
    assert!(shapes.len() > 100, "only {} shapes are described", shapes.len());
    for (name, shape) in shapes {
        Validator::new(shape, &DESCRIPTION).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The control: each kind of mistake is found.
#[test]
fn an_answer_that_is_not_as_described_is_found() {
    let path = "/api/v1/laender";
    let headers = |more: &[(&str, &str)]| -> BTreeMap<String, String> {
        let all = [("content-type", "application/json"), ("x-request-id", "1"), ("etag", "\"1\"")];
        all.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let land = json!({"iso2": "DE", "iso3": "DEU", "name_de": "Deutschland", "eu_mitglied": true});
    let good = json!({"data": [land], "count": 1});
    let answer =
        |status, headers: &BTreeMap<String, String>, body: &Value| check("GET", path, status, headers, body);
    assert_eq!(answer(200, &headers(&[]), &good), Ok(()));
    assert!(answer(418, &headers(&[]), &good).unwrap_err().contains("status 418"));
    assert!(answer(200, &headers(&[("x-neu", "1")]), &good).unwrap_err().contains("x-neu"));
    let mut without = headers(&[]);
    without.remove("etag");
    assert!(answer(200, &without, &good).unwrap_err().contains("etag is promised"));
    let refusal = json!({"error": "KEIN_PDF", "message": "Nein.", "request_id": uuid::Uuid::nil()});
    assert!(answer(400, &headers(&[]), &refusal).unwrap_err().contains("KEIN_PDF"));
    let mut bodies = vec![json!({"data": []}), json!({"data": [], "count": "1"}), json!([])];
    for (field, value) in [("iso2", json!(1)), ("neu", json!(1)), ("eu_mitglied", Value::Null)] {
        let mut other = good.clone();
        other["data"][0][field] = value;
        bodies.push(other);
    }
    for body in bodies {
        assert!(answer(200, &headers(&[]), &body).is_err(), "{body}");
    }
    let csv = BTreeMap::from([("content-type".to_owned(), "text/csv".to_owned())]);
    assert!(answer(200, &csv, &Value::Null).unwrap_err().contains("text/csv"));
}
