//! A call of a route: the request, the ids in its path, and access to its query and body.

use std::cell::OnceCell;

use hyper::header::HeaderValue;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::json::Json;
use super::param::Param;
use super::query::Query;
use super::request::{Request, listed, weight};
use super::wire::{At, FromJson};
use crate::platform::db::TenantId;
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::{Failure, Result};
use crate::rules::error::{Code, Hints, Refusal};
use crate::rules::scope::ScopeSet;

/// How strictly a tenant wants its clients' requests to be read (D18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strictness {
    /// Unknown query parameters are reported and ignored instead of refused.
    pub unknown_parameters_ignored: bool,
    /// Unknown body fields are refused instead of reported and ignored.
    pub unknown_fields_refused: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub key_id: String,
    pub tenant: TenantId,
    pub scopes: ScopeSet,
    /// Requests that the key may make per UTC day (D20).
    pub daily_limit: u32,
    pub strictness: Strictness,
    pub test: bool,
}

impl Caller {
    /// The key of its queue where requests wait.
    pub fn account(&self) -> QueueKey {
        QueueKey { firma: self.tenant, name: self.key_id.clone() }
    }
}

pub struct Call<'r> {
    pub request: &'r Request,
    /// The ids in the path; `None` for a segment that is no UUID.
    ids: Vec<Option<Uuid>>,
    pub query: Query,
    json: OnceCell<std::result::Result<Json<'r>, String>>,
    strictness: Strictness,
    /// Hints about the query, for the header X-Hinweise.
    pub notes: Hints,
    pub scopes: ScopeSet,
    /// For a request that has waited: the position where its last look ended.
    pub resumed: Option<&'r str>,
}

/// Fields that a request sent and that its route ignores.
#[derive(Debug, Clone, Default)]
pub struct Ignored(Vec<(String, Value)>);

impl Ignored {
    /// Removes the hint of each ignored field that was sent unchanged: whoever edits a record and writes it back
    /// does not mean to change that field (D39).
    pub fn silence<T: Serialize>(&self, hints: &mut Hints, shown: impl FnOnce() -> Result<T>) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let shown = serde_json::to_value(shown()?)?;
        let is_equal =
            |feld: &str| self.0.iter().any(|(name, sent)| name == feld && shown.get(name) == Some(sent));
        hints.drop_ignored(is_equal);
        Ok(())
    }
}

/// What was sent, to be compared with an answer; a number that no answer has becomes null.
fn of_json(json: &Json<'_>) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(is_so) => Value::from(*is_so),
        Json::Number(digits) => digits.parse::<i64>().map_or(Value::Null, Value::from),
        Json::String(text) => Value::from(text.as_ref()),
        Json::Array(items) => items.iter().map(of_json).collect(),
        Json::Object(members) => {
            members.iter().map(|(name, value)| (name.to_string(), of_json(value))).collect()
        }
    }
}

impl<'r> Call<'r> {
    /// Creates a call whose path matched its route; checks the query against the route's parameters.
    pub fn new(
        request: &'r Request,
        params: &'static [Param],
        ids: Vec<Option<Uuid>>,
        strictness: Strictness,
    ) -> Result<Call<'r>> {
        let mut notes = Hints::default();
        let ignored = strictness.unknown_parameters_ignored;
        let query = Query::read(&request.query, params, ignored, &mut notes)?;
        let (json, scopes, resumed) = (OnceCell::new(), ScopeSet::default(), None);
        Ok(Call { request, ids, query, json, strictness, notes, scopes, resumed })
    }

    /// Sets the caller's scopes, and the position where the last look ended.
    pub fn by(self, scopes: ScopeSet, resumed: Option<&'r str>) -> Call<'r> {
        Call { scopes, resumed, ..self }
    }

    /// Returns the first id in the path; a malformed id is answered "not found" (D18).
    pub fn id(&self, what: &str) -> Result<Uuid> {
        self.ids.first().copied().flatten().ok_or_else(|| Failure::not_found(what))
    }

    pub fn second_id(&self, what: &str) -> Result<Uuid> {
        self.ids.get(1).copied().flatten().ok_or_else(|| Failure::not_found(what))
    }

    pub fn body<T: FromJson>(&self) -> Result<(T::Value, Hints)> {
        let json = self.json()?;
        if !matches!(json, Json::Object(_)) {
            let message = "Der Text muss ein JSON-Objekt sein: { … }.";
            return Err(Refusal::new(Code::UngueltigesJson, message).into());
        }
        let mut hints = Hints::default();
        let refused = self.strictness.unknown_fields_refused || self.prefers_strict_handling();
        let value = T::from_json(json, &mut At::top(&mut hints, refused))?;
        Ok((value, hints))
    }

    /// Reads a body that may be missing: no body is equivalent to `{}`.
    pub fn optional_body<T: FromJson<Value: Default>>(&self) -> Result<(T::Value, Hints)> {
        match self.request.body.content() {
            Ok([]) => Ok(Default::default()),
            _ => self.body::<T>(),
        }
    }

    /// Returns the fields of the body that these hints call ignored, as they were sent.
    pub fn ignored(&self, hints: &Hints) -> Result<Ignored> {
        let mut fields = hints.ignored().peekable();
        if fields.peek().is_none() {
            return Ok(Ignored::default());
        }
        let Json::Object(body) = self.json()? else { return Ok(Ignored::default()) };
        let sent = |feld: &str| body.iter().find(|(name, _)| name == feld);
        Ok(Ignored(fields.filter_map(sent).map(|(name, json)| (name.to_string(), of_json(json))).collect()))
    }

    /// Returns the body as JSON, parsed once.
    pub fn json(&self) -> Result<&Json<'r>> {
        let body = self.request.body.content()?;
        let parsed = self.json.get_or_init(|| Json::parse(body));
        parsed.as_ref().map_err(|message| Refusal::new(Code::UngueltigesJson, message.as_str()).into())
    }

    /// Returns the versions that a change may be based on; `None` without If-Match.
    pub fn if_match(&self) -> Option<IfMatch> {
        // A value that is not text matches none of our versions.
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let values: Vec<String> = self.request.headers.get_all("if-match").iter().map(text).collect();
        (!values.is_empty()).then(|| IfMatch(values.join(",")))
    }

    /// Whether the client accepts this type by name and does not prefer JSON (Accept).
    pub fn prefers(&self, content_type: &str) -> bool {
        let weight = |range: &str| weight(&self.request.headers, "accept", range);
        let json = ["application/json", "application/*", "*/*"].into_iter().find_map(weight);
        weight(content_type).is_some_and(|weight| weight > 0 && weight >= json.unwrap_or(0))
    }

    /// `Prefer: handling=strict` (RFC 7240).
    fn prefers_strict_handling(&self) -> bool {
        listed(&self.request.headers, "prefer")
            .flat_map(|preferences| preferences.split(';'))
            .any(|preference| preference.replace(' ', "").eq_ignore_ascii_case("handling=strict"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfMatch(String);

impl IfMatch {
    /// Refuses a change that is based on another version (D11). Tags look like `"7-3f…"`; only the part
    /// before the hyphen, the version, is compared.
    pub fn check(wanted: Option<&IfMatch>, version: i64) -> Result<()> {
        let Some(IfMatch(tags)) = wanted else { return Ok(()) };
        let version = version.to_string();
        let matches = tags.split(',').map(str::trim).any(|tag| {
            // A proxy that compresses makes our tag a weak one, or adds its own word to it.
            let strong = tag.strip_prefix("W/").unwrap_or(tag);
            let quoted = strong.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
            tag == "*" || quoted.is_some_and(|tag| tag.split('-').next() == Some(&version))
        });
        if matches {
            return Ok(());
        }
        let message =
            ("Der Datensatz wurde inzwischen geändert.", "Bitte neu lesen und die Änderung wiederholen.");
        Err(Refusal::new(Code::ZwischenzeitlichGeaendert, message).into())
    }
}
