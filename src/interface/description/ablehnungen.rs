//! Example answers for each error code. A test recorded them from the demo and requests each of them again;
//! those that a healthy server never gives are made here.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::platform::failure::Failure;
use crate::platform::http::error::{broken, outcome_unknown, reply, too_slow, unavailable};
use crate::platform::http::reply::Reply;
use crate::rules::error::Code;

const EXAMPLES: &str = "/components/examples";

/// Returns the example answers by code. Each is stored once and referenced, since most codes occur at many
/// routes.
pub fn examples() -> Value {
    let made = [broken, unavailable, outcome_unknown].map(|answer| answer(Uuid::nil()));
    let slow = reply(&Failure::Refused(too_slow()), Uuid::nil());
    let made = made.iter().chain([&slow]).filter_map(|answer| Some((answer.code?.as_str(), body(answer))));
    let made = made.map(|(code, answer)| (code.to_owned(), answer));
    let all = super::beispiele::object(include_str!("ablehnungen.json")).into_iter().chain(made);
    all.map(|(code, answer)| (code, json!({"value": answer}))).collect::<Map<_, _>>().into()
}

fn body(answer: &Reply) -> Value {
    // The service writes valid JSON, so parsing it cannot fail.
    serde_json::from_slice(&answer.body).unwrap_or_default()
}

pub fn references(codes: &[Code]) -> Value {
    let reference =
        |code: &Code| (code.as_str().to_owned(), json!({"$ref": format!("#{EXAMPLES}/{}", code.as_str())}));
    codes.iter().map(reference).collect::<Map<_, _>>().into()
}
