//! A page is a row of data, like a route (wall 1): its path, who sees it, who may send its form, and the
//! functions that show it and take the form; those are given a [`PageRequest`].

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::done::{Done, FirmaChange, Hashed, InstallationChange, Outgoing, Response, sentences};
use super::health::HealthIssue;
use super::jobs::Jobs;
use super::upload::{File, Form};
use super::uploads::Uploads;
use crate::leitstand::access::passwords::Attempts;
use crate::leitstand::access::people::Person;
use crate::leitstand::access::{Access, Rights};
use crate::leitstand::operations::restoring::Restoring;
use crate::leitstand::operations::upkeep::Monitor;
use crate::master::tenants::Tenant;
use crate::platform::db::TenantId;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::Gate;
use crate::platform::http::budget::Budget;
use crate::platform::http::call::Call;
use crate::platform::http::query::{Query, decode};
use crate::platform::http::reply::Reply;
use crate::platform::http::request::{Body, Request};
use crate::platform::http::route::{Method, Route, Run};
use crate::platform::http::router::split;
use crate::rules::bytes::hex;
use crate::rules::day::Instant;
use crate::rules::document::BelegStatus;
use crate::rules::error::{Code, Hints, Refusal};
use crate::rules::verweis::parse_uuid;
use crate::trade::belege;

#[derive(Clone, Copy)]
pub enum Take {
    Nothing,
    /// Changes data of the company.
    Firma(fn(&PageRequest) -> Result<FirmaChange>),
    /// Changes data of the company by a route that computes much first, on the slow lane.
    Draft(fn(&PageRequest, &Snapshot<'_>) -> Result<FirmaChange>),
    /// Changes data of no company, or a company as the command line does: its settings, its data.
    Haus(fn(&PageRequest) -> Result<InstallationChange>),
    /// Sends an e-mail. Its content is read before, on the slow lane, where its attachments are drawn.
    Sends(fn(&PageRequest, &Snapshot<'_>) -> Result<Outgoing>),
    /// Hashes a password, after reading the data that this needs.
    Hashed(fn(&PageRequest, &Snapshot<'_>) -> Result<Hashed>),
}

pub struct Page {
    /// The path; `{firma}` is the number of a company, `{id}` a uuid or number.
    pub pattern: &'static str,
    pub access: Access,
    /// Its name in the menu; `None` if it is not in the menu.
    pub menu: Option<&'static str>,
    /// Whether the page stands in the folded part of the menu.
    pub is_administration: bool,
    pub is_heavy: bool,
    /// Shows the page; with a refusal in [`PageRequest::refusal`] it shows the form again.
    pub show: fn(&PageRequest, &Snapshot<'_>) -> Result<Reply>,
    pub take: Take,
    pub has_upload: bool,
    /// Buttons of its form lead to a next step, which shows the form again: [`PageRequest::step`].
    pub has_steps: bool,
    pub is_waiting: bool,
}

impl Page {
    pub const fn new(
        pattern: &'static str,
        access: Access,
        show: fn(&PageRequest, &Snapshot<'_>) -> Result<Reply>,
    ) -> Page {
        Page {
            pattern,
            access,
            menu: None,
            is_administration: false,
            is_heavy: false,
            show,
            take: Take::Nothing,
            has_upload: false,
            has_steps: false,
            is_waiting: false,
        }
    }

    pub const fn in_menu(self, name: &'static str) -> Page {
        Page { menu: Some(name), ..self }
    }

    pub const fn in_administration(self, name: &'static str) -> Page {
        Page { menu: Some(name), is_administration: true, ..self }
    }

    pub const fn heavy(self) -> Page {
        Page { is_heavy: true, ..self }
    }

    pub const fn takes(self, take: Take) -> Page {
        Page { take, ..self }
    }

    pub const fn with_upload(self) -> Page {
        Page { has_upload: true, ..self }
    }

    pub const fn in_steps(self) -> Page {
        Page { has_steps: true, ..self }
    }

    /// The page answers only once its company has changed.
    pub const fn waiting(self) -> Page {
        Page { is_waiting: true, ..self }
    }

    /// Returns the variable segments of the path if it is this page's, otherwise `None`.
    pub fn matches(&self, path: &str) -> Option<Vec<String>> {
        let (expected, found) = (split(self.pattern), split(path));
        let is_variable = |segment: &str| segment.starts_with('{');
        let fits = |(expected, found): (&&str, &&str)| {
            if is_variable(expected) { !found.is_empty() } else { expected == found }
        };
        if expected.len() != found.len() || !expected.iter().zip(&found).all(fits) {
            return None;
        }
        let variable = expected.iter().zip(found).filter(|(expected, _)| is_variable(expected));
        Some(variable.map(|(_, found)| found.to_owned()).collect())
    }
}

pub struct Snapshot<'c> {
    /// Reads data of the company in the path; without a company it finds nothing.
    pub tx: Tx<'c>,
    pub connection: &'c Connection,
}

pub struct AppState {
    pub gate: Arc<Gate>,
    pub pages: &'static [Page],
    pub attempts: Arc<Attempts>,
    pub jobs: Jobs,
    /// Held while an import stores a part and during the pause after it: waiting writes go before the next
    /// part of any import. Imports acquire it in order.
    pub import_turn: tokio::sync::Mutex<()>,
    pub uploads: Uploads,
    pub restoring: Restoring,
    pub lookout: Monitor,
    /// Budget for e-mails being sent.
    pub mails: Arc<Budget>,
    /// The health issues of each company's contracts on its first page, and when they were computed.
    pub contracts: Mutex<BTreeMap<TenantId, (Instant, Vec<HealthIssue>)>>,
    pub database: PathBuf,
}

#[derive(Clone)]
pub struct PageRequest {
    pub app: Arc<AppState>,
    pub page: &'static Page,
    pub now: Instant,
    /// The address of this machine in the browser, such as `https://muehle.local`.
    pub base: String,
    /// The origin of the request: an address, or a network of IPv6.
    pub address: IpAddr,
    pub person: Option<Person>,
    pub firmen: Vec<Tenant>,
    pub firma: Option<Tenant>,
    /// The variable segments of the path after the company.
    pub ids: Vec<String>,
    /// The query, parsed.
    pub query: Vec<(String, String)>,
    /// The query as it was sent.
    pub query_text: String,
    pub form: Form,
    pub refusal: Option<Box<Refusal>>,
    /// The result of a form that was only tried.
    pub tried: Option<Arc<Value>>,
    pub notes: Vec<String>,
    /// The cookie of the browser. Every browser has one, and gets a new one with each log-in.
    pub cookie: String,
}

impl PageRequest {
    /// The token in every form. It is derived from the cookie and does not reveal it.
    pub fn token(&self) -> String {
        hex(&Sha256::digest(format!("form of {}", self.cookie)))
    }

    /// A field of the form, trimmed; blank if missing.
    pub fn field(&self, name: &str) -> &str {
        self.field_as_typed(name).trim()
    }

    /// A field of the form, trimmed; `None` if blank.
    pub fn filled(&self, name: &str) -> Option<&str> {
        Some(self.field(name)).filter(|typed| !typed.is_empty())
    }

    /// Returns the file chosen in a field; refuses if there is none.
    pub fn file(&self, field: &str) -> Result<&File> {
        let chosen = self.form.files.iter().find(|file| file.field == field);
        let message = "Bitte eine Datei auswählen.";
        chosen.ok_or_else(|| Refusal::field(Code::FeldFehlt, field, message).into())
    }

    /// A field of the form as it was typed; blank if missing.
    pub fn field_as_typed(&self, name: &str) -> &str {
        let found = self.form.fields.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub fn is_sent(&self, name: &str) -> bool {
        self.form.fields.iter().any(|(known, _)| known == name)
    }

    /// The step that the pressed button leads to; `None` if the form is to be executed.
    pub fn step(&self) -> Option<&str> {
        self.filled("schritt").filter(|_| self.page.has_steps)
    }

    /// A parameter of the query, trimmed; blank if missing.
    pub fn param(&self, name: &str) -> &str {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.trim())
    }

    /// A parameter of the query, trimmed; `None` if blank.
    pub fn filled_param(&self, name: &str) -> Option<&str> {
        Some(self.param(name)).filter(|value| !value.is_empty())
    }

    /// The requested page of a list, counted from 0.
    pub fn list_page(&self) -> u32 {
        self.param("seite").parse::<u32>().unwrap_or(1).clamp(1, 100_000) - 1
    }

    /// Returns an id in the path as a uuid; not found if it is none.
    pub fn uuid(&self, at: usize) -> Result<Uuid> {
        parse_uuid(self.id(at)?).ok_or_else(|| Failure::not_found("Diese Seite"))
    }

    /// Returns a segment of the path; not found if it has characters other than ASCII letters, digits and `-`.
    pub fn id(&self, at: usize) -> Result<&str> {
        let id = self.ids.get(at).map(String::as_str).unwrap_or_default();
        let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if is_plain && !id.is_empty() { Ok(id) } else { Err(Failure::not_found("Diese Seite")) }
    }

    /// The number of the company in the path; `None` on a page of no company.
    pub fn tenant_id(&self) -> Option<TenantId> {
        self.firma.as_ref().map(|firma| firma.id)
    }

    /// The number of the company in the path, or 0, which belongs to no company.
    pub fn firma_id(&self) -> TenantId {
        self.tenant_id().unwrap_or(0)
    }

    /// A path of this company: `belege` becomes `/leitstand/f/1/belege`.
    pub fn of_firma(&self, path: &str) -> String {
        format!("/leitstand/f/{}/{path}", self.firma_id())
    }

    /// The path of a record's page below its list.
    pub fn page_of(&self, list: &str, id: impl Display) -> String {
        self.of_firma(&format!("{list}/{id}"))
    }

    /// Buttons to those of the records that exist; each has its id, its list and its label.
    pub fn links<const N: usize>(&self, links: [(Option<Uuid>, &str, &str); N]) -> Markup {
        html! { @for (id, list, words) in links { @if let Some(id) = id {
            a.button href=(self.page_of(list, id)) { (words) }
        } } }
    }

    /// Whether this person may see and change the whole installation.
    pub fn manages_installation(&self) -> bool {
        self.person.as_ref().is_some_and(Person::manages_installation)
    }

    /// The number of the person, or 0, which is nobody's, if nobody is logged in.
    pub fn person_id(&self) -> i64 {
        self.person.as_ref().map_or(0, |person| person.id)
    }

    /// The rights of this person on pages with this access.
    pub fn rights(&self, access: Access) -> Rights {
        self.person.as_ref().map_or(Rights { sees: false, sends: false }, |person| access.rights(person))
    }

    /// Whether this person may do the everyday work of the company.
    pub fn may_change(&self) -> bool {
        self.rights(Access::Firma).sends
    }

    /// Whether this person sees the administration of the company: its keys, its log, its settings.
    pub fn sees_management(&self) -> bool {
        self.rights(Access::Verwaltung).sees
    }

    /// Whether this person may change the administration of the company.
    pub fn may_manage(&self) -> bool {
        self.rights(Access::Verwaltung).sends
    }

    /// Parses the parameters of the page's query that the route of a list knows; blank ones are ignored,
    /// because a browser also sends filter fields that were left empty.
    pub fn query_of(&self, route: &str) -> Result<Query> {
        let router = &self.app.gate.router;
        let at = router.find(Some(Method::Get), &split(route)).ok_or_else(|| no_route(route))?;
        let is_empty = |pair: &&str| pair.split_once('=').is_some_and(|(_, value)| value.is_empty());
        let filled: Vec<_> = self.query_text.split('&').filter(|pair| !is_empty(pair)).collect();
        Ok(Query::read(&filled.join("&"), router.route(at).query, true, &mut Hints::default())?)
    }

    /// Returns the interface's answer to a GET that asks for a PDF.
    pub fn get(&self, db: &Snapshot<'_>, path: &str) -> Result<Reply> {
        let mut request = request(Method::Get, path, Vec::new(), self.now);
        request.headers.insert("accept", HeaderValue::from_static("application/pdf"));
        self.answered(db, &request)
    }

    /// Returns the interface's answer to a POST that only reads.
    pub fn asked(&self, db: &Snapshot<'_>, path: &str, body: &Value) -> Result<Value> {
        let request = request(Method::Post, path, serde_json::to_vec(body)?, self.now);
        Ok(serde_json::from_slice(&self.answered(db, &request)?.body)?)
    }

    fn answered(&self, db: &Snapshot<'_>, request: &Request) -> Result<Reply> {
        let (route, call) = self.call(request)?;
        let Run::Read(run) = route.run else { return Err(no_route(&request.path)) };
        run(&call, &db.tx)
    }

    /// Returns the answer to a GET below `/api/v1/` as a file; `{id}` in `path` is the id in the page's path.
    pub fn file_of(&self, db: &Snapshot<'_>, path: &str) -> Result<Reply> {
        let path = format!("/api/v1/{}", path.replace("{id}", self.id(0)?));
        Ok(as_file(self.get(db, &path)?))
    }

    /// Returns the change made by a POST or PUT of the interface. A record with versions must still have the
    /// one in the field `version`; a form without the field is refused as outdated. Redirects to `to`, in
    /// which `{id}` is the record written; that page also shows hints.
    pub fn change(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
        to: String,
        note: &'static str,
    ) -> Result<FirmaChange> {
        self.change_from(self.field("version"), method, path, body, to, note)
    }

    /// As [`PageRequest::change`]; `version` is the one that this record of several in the form must have.
    pub fn change_from(
        &self,
        version: &str,
        method: Method,
        path: &str,
        body: &impl Serialize,
        to: String,
        note: &'static str,
    ) -> Result<FirmaChange> {
        let mut request = request(method, path, serde_json::to_vec(body)?, self.now);
        let tag = HeaderValue::try_from(format!("\"{version}\""));
        request.headers.insert("if-match", tag.unwrap_or(HeaderValue::from_static("\"\"")));
        let (route, call) = self.call(&request)?;
        let Run::Write(read_body) = route.run else { return Err(no_route(path)) };
        let write = read_body(&call)?;
        let beleg = path.strip_prefix("/api/v1/belege/").and_then(|rest| rest.split(['/', '?']).next());
        let beleg = beleg.and_then(parse_uuid);
        Ok(Box::new(move |tx| {
            let reply = write(tx).map_err(|failure| finished_meanwhile(failure, tx, beleg))?;
            done(reply, &to, note)
        }))
    }

    /// As [`PageRequest::change`]; the id in the URL replaces `{id}` in `path`. Redirects to its page in `list`.
    pub fn change_record(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
        list: &str,
        note: &'static str,
    ) -> Result<FirmaChange> {
        let id = self.id(0)?;
        let path = format!("/api/v1/{}", path.replace("{id}", id));
        self.change(method, &path, body, self.page_of(list, id), note)
    }

    /// Returns the change made by a POST that computes much first.
    pub fn draft(&self, db: &Snapshot<'_>, path: &str, body: &impl Serialize) -> Result<FirmaChange> {
        let request = request(Method::Post, path, serde_json::to_vec(body)?, self.now);
        let (route, call) = self.call(&request)?;
        let Run::Draft(draft) = route.run else { return Err(no_route(path)) };
        let write = draft(&call, &db.tx)?;
        Ok(Box::new(move |tx| done(write(tx)?, "", "")))
    }

    fn call<'r>(&self, request: &'r Request) -> Result<(&'static Route, Call<'r>)> {
        let router = &self.app.gate.router;
        let path = split(&request.path);
        let at = router.find(Method::parse(&request.method), &path).ok_or_else(|| no_route(&request.path))?;
        let route = router.route(at);
        Ok((route, Call::new(request, route.query, router.ids(at, &path), Default::default())?))
    }
}

/// Converts the answer of a route to the outcome of a form.
fn done(reply: Reply, to: &str, note: &str) -> Result<Done> {
    let confirmation: Value = serde_json::from_slice(&reply.body)
        .map_err(|error| Failure::Broken(format!("a confirmation cannot be read: {error}")))?;
    let hints = sentences(&confirmation["hinweise"]);
    let notes = [note].into_iter().chain(hints).map(str::to_owned).collect();
    let id = reply.subject.map(|id| id.to_string()).unwrap_or_default();
    let (response, event) = (Response::Redirect(to.replace("{id}", &id)), reply.event.map(|event| *event));
    Ok(Done { notes, subject: reply.subject, event, answer: confirmation, ..Done::of(response) })
}

/// Explains a refusal for an outdated version if the document has been finalised or cancelled meanwhile.
fn finished_meanwhile(failure: Failure, tx: &WriteTx<'_>, beleg: Option<Uuid>) -> Failure {
    match (failure, beleg) {
        (Failure::Refused(mut refusal), Some(id)) if refusal.code == Code::ZwischenzeitlichGeaendert => {
            if let Ok(beleg) = belege::found(tx, id)
                && beleg.status != BelegStatus::Offen
            {
                let (number, state) = (beleg.beleg_nummer, beleg.status.as_str());
                let message = format!(
                    "{number} ist inzwischen {state}: In einem anderen Fenster oder von einem Programm. Es wurde nichts geändert."
                );
                refusal.message = message.into();
            }
            Failure::Refused(refusal)
        }
        (failure, _) => failure,
    }
}

/// Replaces the policy of pages by one for files: theirs would keep browsers from showing a PDF.
pub fn as_file(reply: Reply) -> Reply {
    let reply = reply.with("content-security-policy", "frame-ancestors 'none'");
    reply.with("referrer-policy", "same-origin")
}

fn no_route(path: &str) -> Failure {
    Failure::Broken(format!("a page asks for {path}, which is no such route"))
}

fn request(method: Method, path: &str, body: Vec<u8>, at: Instant) -> Request {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Request {
        id: Uuid::now_v7(),
        at,
        started: std::time::Instant::now(),
        peer: Ipv4Addr::LOCALHOST.into(),
        local: Ipv4Addr::LOCALHOST.into(),
        method: method.as_str().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: HeaderMap::new(),
        malformed: None,
        body: Body::from_bytes(body),
    }
}

/// Most fields of a form: enough for a document of a hundred positions.
pub const FIELDS_MAX: usize = 3_000;

/// Parses `a=1&b=2` (application/x-www-form-urlencoded).
pub fn fields(text: &str) -> Result<Vec<(String, String)>> {
    let parts: Vec<&str> = text.split('&').filter(|part| !part.is_empty()).take(FIELDS_MAX + 1).collect();
    if parts.len() > FIELDS_MAX {
        return Err(Refusal::new(Code::AnfrageUngueltig, "Das Formular hat zu viele Felder.").into());
    }
    let field = |part: &&str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Ok((decode(name)?, decode(value)?))
    };
    parts.iter().map(field).collect()
}

pub fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
