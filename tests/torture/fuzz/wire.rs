//! Data from the wire: heads, queries, bodies, forms.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::OnceLock;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use partnerd::interface::routes;
use partnerd::leitstand::kit::page::{encoded, fields};
use partnerd::leitstand::kit::upload;
use partnerd::platform::failure::Failure;
use partnerd::platform::gate::access::address;
use partnerd::platform::gate::access::key::Keys;
use partnerd::platform::http::call::{Call, Strictness};
use partnerd::platform::http::encoding::accepts_gzip;
use partnerd::platform::http::fingerprint::of_request;
use partnerd::platform::http::json::Json;
use partnerd::platform::http::param::ParamKind;
use partnerd::platform::http::query::{Query, decode};
use partnerd::platform::http::request::{Body, Request};
use partnerd::platform::http::route::{Method, Route, Run};
use partnerd::platform::http::router::{Router, split};
use partnerd::rules::day::Instant;
use serde_json::Value;
use uuid::Uuid;

use super::values::same;

type Read = Result<(), String>;

/// Maximum number of fields and files of a form.
const PARTS_MAX: usize = 200;

/// The only reasons for refusing what serde_json accepts (D18).
const STRICTER: &[&str] = &["tiefer als", "mehr als", "NUL-Zeichen", "doppelt vor"];

pub fn json(bytes: &[u8]) -> Read {
    match (Json::parse(bytes), serde_json::from_slice::<Value>(bytes)) {
        (Ok(ours), Ok(theirs)) if !is_same(&ours, &theirs) => Err(format!("{ours:?} instead of {theirs}")),
        (Ok(ours), theirs) => {
            let is_range = |error: &serde_json::Error| error.to_string().starts_with("number out of range");
            let digest = of_request("/", Some(&ours), bytes);
            same("digest", digest, of_request("/", Json::parse(bytes).as_ref().ok(), b""))?;
            theirs
                .err()
                .filter(|error| !is_range(error))
                .map_or(Ok(()), |error| Err(format!("accepted, but {error}")))
        }
        (Err(message), Ok(_)) if !STRICTER.iter().any(|reason| message.contains(reason)) => {
            Err(format!("refused without a reason: {message}"))
        }
        _ => Ok(()),
    }
}

/// Their numbers are binary floats, so they are compared as such.
fn is_same(ours: &Json<'_>, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(ours), Value::Bool(theirs)) => ours == theirs,
        (Json::Number(text), Value::Number(theirs)) => {
            let (ours, theirs) =
                (text.parse::<f64>().unwrap_or(f64::NAN), theirs.as_f64().unwrap_or(f64::NAN));
            ours == theirs || ((ours - theirs) / ours).abs() < 1e-15
        }
        (Json::String(ours), Value::String(theirs)) => ours == theirs,
        (Json::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Json::Object(ours), Value::Object(theirs)) => {
            let is_member = |(name, ours): &(_, Json<'_>)| {
                let name: &std::borrow::Cow<'_, str> = name;
                theirs.get(name.as_ref()).is_some_and(|theirs| is_same(ours, theirs))
            };
            ours.len() == theirs.len() && ours.iter().all(is_member)
        }
        _ => false,
    }
}

/// The route named in the first line, by default any suitable one.
fn route_of(bytes: &[u8], fits: fn(&Route) -> bool) -> (&'static Route, &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (name, rest) = bytes.split_at(end);
    let routes: Vec<&Route> = routes::all().filter(|route| fits(route)).collect();
    let named = routes.iter().find(|route| route.name().as_bytes() == name);
    (named.unwrap_or(&routes[bytes.len() % routes.len()]), rest.get(1..).unwrap_or_default())
}

fn request(route: &Route, query: &str, body: &[u8]) -> Request {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    Request {
        id: Uuid::nil(),
        at: Instant::from_millis(1_783_670_400_000),
        started: std::time::Instant::now(),
        peer: here,
        local: here,
        method: route.method.as_str().to_owned(),
        path: route.pattern.to_owned(),
        query: query.to_owned(),
        headers: HeaderMap::new(),
        malformed: None,
        body: Body::from_bytes(body.to_vec()),
    }
}

/// The query of a route: its name in the first line, then the text from the client. Each parameter is read by
/// its kind.
pub fn query(bytes: &[u8]) -> Read {
    let (route, rest) = route_of(bytes, |route| !route.query.is_empty());
    let text = String::from_utf8_lossy(rest);
    if let Ok(plain) = decode(&text) {
        same("decoded again", decode(&encoded(&plain)).ok(), Some(plain))?;
    }
    if let Ok(pairs) = fields(&text) {
        let again: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        same("fields", fields(&again.join("&")).ok(), Some(pairs))?;
    }
    let Ok(query) = Query::read(&text, route.query, bytes.len().is_multiple_of(2), &mut Default::default())
    else {
        return Ok(());
    };
    for param in route.query {
        let name = param.name;
        match param.kind {
            ParamKind::Int => drop(query.int(name)),
            ParamKind::IntWithin(min, max, _) => {
                let is_within = query.int_within(name).is_ok_and(|number| !(min..=max).contains(&number));
                same("beyond its bounds", is_within, false)?;
            }
            ParamKind::Uuid => drop(query.uuid(name)),
            ParamKind::Partner => drop(query.verweis(name)),
            ParamKind::Day | ParamKind::Since => drop(query.day(name)),
            ParamKind::Bool | ParamKind::Flag => drop(query.bool(name)),
            ParamKind::OneOf(_) | ParamKind::OneOfOr(..) => drop(query.one_of(name)),
            ParamKind::Limit(_) => drop(query.limit()),
            ParamKind::Offset => drop(query.page()),
            ParamKind::Text | ParamKind::Quantity | ParamKind::ListOf(_) => drop(query.search(name)),
        }
    }
    Ok(())
}

/// A body of the route in the first line, read and checked as far as possible without a database.
pub fn body(bytes: &[u8]) -> Read {
    let (route, body) = route_of(bytes, |route| route.takes.is_some() && matches!(route.run, Run::Write(_)));
    let Run::Write(run) = route.run else { return Ok(()) };
    let request = request(route, "", body);
    let strictness =
        Strictness { unknown_fields_refused: body.len().is_multiple_of(4), ..Strictness::default() };
    let call = Call::new(&request, route.query, vec![Some(Uuid::nil()); 2], strictness);
    match call.and_then(|call| run(&call).map(drop)) {
        Ok(()) | Err(Failure::Refused(_)) => Ok(()),
        Err(_) => Err(format!("{} has a fault of ours", route.name())),
    }
}

/// Lines of a head: the first is a path, the others are headers.
pub fn head(bytes: &[u8]) -> Read {
    static ROUTER: OnceLock<Router> = OnceLock::new();
    let text = String::from_utf8_lossy(bytes);
    let router = ROUTER.get_or_init(|| Router::new(routes::all()));
    let path = split(text.lines().next().unwrap_or_default());
    if let Some(at) = router.find(Some(Method::Get), &path) {
        same("ids", router.ids(at, &path).len(), router.route(at).pattern.matches('{').count())?;
        same("methods", router.methods(&path).contains(&"GET"), true)?;
    }
    let mut headers = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n').skip(1) {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(0);
        let (name, value) = (&line[..colon], line.get(colon + 1..).unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
    let proxies = ["127.0.0.0/8".parse().unwrap()];
    let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let client = address::client(peer, &headers, &proxies);
    let is_local = address::is_local(peer, &headers, &proxies);
    same("a local client of elsewhere", is_local && !client.is_loopback(), false)?;
    same(
        "of this machine",
        address::names_this_machine(&headers) && address::host_name(&headers).is_none(),
        false,
    )?;
    same("a key that nobody made", Keys::new(vec![7; 32]).presented(&headers).is_ok(), false)?;
    accepts_gzip(&headers);
    Ok(())
}

/// A form with a file: its content type, a line feed, the body.
pub fn form(bytes: &[u8]) -> Read {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let content_type = String::from_utf8_lossy(&bytes[..end]);
    let body = bytes.get(end + 1..).unwrap_or_default();
    upload::is_upload(&content_type);
    let Ok(form) = upload::read(&content_type, body) else { return Ok(()) };
    let fields = form.fields.iter().map(|(name, value)| name.len() + value.len());
    let files = form.files.iter().map(|file| file.content.len());
    same("more than was sent", fields.chain(files).sum::<usize>() > body.len(), false)?;
    same("too many parts", form.fields.len() + form.files.len() > PARTS_MAX, false)?;
    let is_plain = |file: &upload::File| !file.name.contains(['/', '\\', '\0', '\n']);
    same("a name that is a path", form.files.iter().all(is_plain), true)
}
