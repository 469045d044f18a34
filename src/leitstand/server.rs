//! Answers requests for pages: on the lanes and through the writer of the gate, with a session in the place of a key.

use std::mem::take;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::aside::{Aside, Task};
use super::carry::{Carried, Queued};
use super::entry::{self, Entry, Refused};
use super::frame;
use super::page::{Access, Done, House, Page, Place, Seen, Take, fields};
use super::passwords::Attempts;
use super::people::SESSION;
use super::sayings::Sayings;
use super::upkeep::Lookout;
use super::upload;
use super::uploads::Uploads;
use super::visit::{Change, Visit, audit_row, refused_row};
use super::works::{FULL, Works};
use crate::db::error::exceeded_budget;
use crate::db::feed;
use crate::db::readers::Lane;
use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::gate::address::neighbourhood;
use crate::gate::audit::Row;
use crate::gate::ip_limit::Limited;
use crate::gate::waiters::Waited;
use crate::gate::{Gate, Zugang};
use crate::http::answering::{Answering, BodyWanted, Next, Waiting, Work};
use crate::http::error;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::Wait;
use crate::rules::error::{Code, Refusal};

/// Bytes of a form at most.
const FORM: usize = 64 << 10;

/// An answer up to this size takes no part in the memory for answers, in bytes.
const SMALL: usize = 16 << 10;

/// Seconds that a page waits for something new before it asks again.
const NEWS: u64 = 25;

/// Sent by the script of live pages, which puts only a part of the page in place: notes stand outside of it.
const LIVE: &str = "x-leitstand-live";

/// The pages, on a gate.
pub struct Leitstand {
    house: Arc<House>,
    hashing: Aside,
    zugang: Zugang,
    sayings: Sayings,
}

impl Leitstand {
    /// The pages of a service.
    pub fn new(gate: Arc<Gate>, pages: &'static [Page], zugang: Zugang, place: Place) -> Result<Leitstand> {
        let (attempts, works, uploads) = (Attempts::default(), Works::default(), Uploads::default());
        let Place { database, nightly, certificate } = place.clone();
        let lookout = Lookout::start(database, nightly, certificate, Arc::clone(&gate.clock))?;
        let house = Arc::new(House { gate, pages, attempts, works, uploads, place, lookout });
        let hashing = Aside::start("passwords")?;
        Ok(Leitstand { house, hashing, zugang, sayings: Sayings::default() })
    }

    /// Asks long work to end: the service does.
    pub fn stop(&self) {
        self.house.works.give_up();
    }

    /// Answers a request whose path begins with `/leitstand`.
    pub fn answer(self: Arc<Self>, request: Request) -> Next {
        let address = self.house.gate.address_of(&request);
        if let Some(reply) = frame::asset(&request.path) {
            return Next::Done(reply);
        }
        let entry = Entry { house: &self.house, zugang: &self.zugang, address };
        let ask = match unpanicked(|| Ok(entry.admit(&request))) {
            Ok(Ok(ask)) => ask,
            Ok(Err(refused)) => return self.turn_away(&request, address, *refused),
            Err(failure) => {
                let reply = frame::failed(&failure, &request);
                return self.turn_away(&request, address, *Box::<Refused>::from(reply));
            }
        };
        self.house.uploads.drop_old(ask.now);
        let visit = Visit { request, ask, address };
        match visit.request.method.as_str() {
            "POST" => self.wait_for_form(visit),
            _ if visit.ask.page.is_waiting => self.wait_for_news(visit, None),
            _ if visit.ask.page.is_heavy => {
                let work = Work::new(move || self.show(visit, Lane::Fast));
                Next::Heavy(Duration::ZERO, work)
            }
            _ => self.show(visit, Lane::Fast),
        }
    }

    /// Shows a page on a thread of the sockets, or goes on on the slow lane.
    fn show(self: Arc<Self>, mut visit: Visit, lane: Lane) -> Next {
        let Request { method, headers, path, .. } = &visit.request;
        if method == "GET" && !headers.contains_key(LIVE) {
            visit.ask.notes.extend(self.sayings.take(&visit.ask.cookie, path));
        }
        let firma = visit.ask.firma_id();
        let shown = self.house.gate.readers.read(lane, |connection| {
            let seen = Seen { tx: Tx::new(connection, firma, visit.ask.now), connection };
            unpanicked(|| (visit.ask.page.show)(&visit.ask, &seen))
        });
        match shown {
            Err(failure) if exceeded_budget(&failure) && lane == Lane::Fast => self.show_slowly(visit),
            Err(failure) => {
                let reply = frame::failed(&failure, &visit.request);
                self.finish(visit, reply)
            }
            Ok(reply) => {
                let reply = self.shown(&mut visit, reply);
                self.finish(visit, reply)
            }
        }
    }

    /// The answer of a page, or of a form that was refused. A page that leads on to another shows nothing itself: not what
    /// a form came to, nor why it was refused.
    fn shown(&self, visit: &mut Visit, reply: Reply) -> Reply {
        let to = reply.headers.iter().find(|(name, _)| *name == "location").map(|(_, to)| to);
        match (visit.ask.refusal.take(), to) {
            (Some(refusal), Some(_)) => frame::failed(&Failure::Refused(refusal), &visit.request),
            (Some(refusal), None) => {
                Reply { status: error::status(refusal.code), code: Some(refusal.code), ..reply }
            }
            (None, Some(to)) => {
                self.sayings.keep(&visit.ask.cookie, to, take(&mut visit.ask.notes));
                reply
            }
            (None, None) => reply,
        }
    }

    /// Answers with the number of the newest change once it is another than the page knows. Each time that the bell of
    /// the company rings the request is let in anew: who was locked meanwhile learns nothing.
    fn wait_for_news(self: Arc<Self>, visit: Visit, waited: Option<Waited>) -> Next {
        let firma = visit.ask.firma_id();
        let found = self.house.gate.readers.read(Lane::Fast, |connection| feed::newest(connection, firma));
        let newest = match found {
            Ok(newest) => newest,
            Err(failure) => {
                let reply = frame::failed(&failure, &visit.request);
                return self.finish(visit, reply);
            }
        };
        let reply = frame::guarded(Reply::text("text/plain; charset=utf-8", newest.to_string()));
        if newest.to_string() != visit.ask.param("seit") {
            return self.finish(visit, reply);
        }
        if waited.as_ref().is_some_and(|waited| waited.is_over) {
            // Nothing happened: no row (D27), else each page that is left open has thousands a day.
            return Next::Done(self.completed(&visit, reply));
        }
        let wait = Wait { seconds: NEWS, cursor: String::new(), newest };
        let waiters = &self.house.gate.waiters;
        let waited = match waited {
            Some(waited) => Some(waited.go_on(wait)),
            None => waiters.place(&visit.account(), firma, wait),
        };
        let Some(waited) = waited else {
            let reply = frame::busy(&visit.request);
            return self.finish(visit, reply);
        };
        let (until, not_before, bell) = (waited.until, waited.not_before, waited.bell.clone());
        Next::Wait(Waiting::new(until, not_before, bell, move |is_over| {
            let entry = Entry { house: &self.house, zugang: &self.zugang, address: visit.address };
            match entry.admit(&visit.request) {
                Ok(ask) => self.wait_for_news(Visit { ask, ..visit }, Some(waited.again(is_over))),
                Err(refused) => self.finish(visit, refused.reply),
            }
        }))
    }

    fn show_slowly(self: Arc<Self>, visit: Visit) -> Next {
        self.house.gate.metrics.count_slow();
        let (go_on, next) = self.elsewhere(visit, |page, visit| page.show(visit, Lane::Slow));
        if let Err(go_on) = self.house.gate.readers.submit_slow(go_on) {
            go_on(false);
        }
        next
    }

    /// The rest of a request as work for another thread, and what is next here: 503 where no thread takes it.
    fn elsewhere(
        self: &Arc<Self>,
        visit: Visit,
        rest: impl FnOnce(Arc<Self>, Visit) -> Next + Send + 'static,
    ) -> (Task, Next) {
        let (tell, told) = oneshot::channel();
        let page = Arc::clone(self);
        let go_on = move |has_thread: bool| {
            let next = match has_thread {
                true => rest(page, visit),
                false => {
                    let reply = frame::busy(&visit.request);
                    page.finish(visit, reply)
                }
            };
            drop(tell.send(next));
        };
        (Box::new(go_on), Next::Later(told))
    }

    /// Reads the form, once it is clear that this person may send it.
    fn wait_for_form(self: Arc<Self>, visit: Visit) -> Next {
        let account = visit.account();
        if visit.ask.page.access == Access::Open {
            let (gate, now) = (&self.house.gate, visit.ask.now);
            if let Err(seconds) = gate.ip_limit.take(neighbourhood(visit.address), Limited::LogIn, now) {
                let message =
                    format!("Zu viele Anmeldungen von dieser Adresse. Bitte {seconds} Sekunden warten.");
                let reply = frame::refused(429, &message).with("retry-after", seconds.to_string());
                return self.finish(visit, Reply { code: Some(Code::ZuVieleAnfragen), ..reply });
            }
        }
        let has_upload = visit.ask.page.has_upload;
        let limit = if has_upload { upload::LARGEST } else { FORM };
        Next::Body(BodyWanted::new(limit, account, move |body| {
            let mut visit = visit;
            visit.request.body = body;
            match has_upload {
                true => Next::Heavy(Duration::ZERO, Work::new(move || self.take_form(visit))),
                false => self.take_form(visit),
            }
        }))
    }

    /// Has a form carried out, wherever that is done.
    fn take_form(self: Arc<Self>, mut visit: Visit) -> Next {
        match unpanicked(|| self.prepare(&mut visit)) {
            Ok(Prepared::Change(change)) => self.to_writer(visit, change),
            Ok(Prepared::Hashed(hashed)) => self.to_hashing(visit, hashed),
            Err(failure) => self.form_again(visit, failure),
        }
    }

    /// What a form asks for.
    fn prepare(&self, visit: &mut Visit) -> Result<Prepared> {
        read_form(visit)?;
        entry::check_token(&visit.ask)?;
        let ask = &visit.ask;
        let firma = ask.firma_id();
        match ask.page.take {
            Take::Nothing => Err(Failure::not_found("Dieses Formular")),
            Take::Firma(take) => Ok(Prepared::Change(Change::Firma(firma, take(ask)?))),
            Take::Haus(take) => Ok(Prepared::Change(Change::Haus(take(ask)?))),
            Take::Hashed(take) => self.house.gate.readers.read(Lane::Fast, |connection| {
                let seen = Seen { tx: Tx::new(connection, firma, ask.now), connection };
                Ok(Prepared::Hashed(take(ask, &seen)?))
            }),
        }
    }

    /// Waits for the thread of passwords, and then for the writer.
    fn to_hashing(self: Arc<Self>, visit: Visit, hashed: super::page::Hashed) -> Next {
        let (work, next) = self.elsewhere(visit, |page, visit| match unpanicked(hashed) {
            Ok(change) => page.to_writer(visit, Change::Haus(change)),
            Err(failure) => Next::Here(Work::new(move || page.form_again(visit, failure))),
        });
        self.hashing.submit(work);
        next
    }

    fn to_writer(self: Arc<Self>, visit: Visit, change: Change) -> Next {
        let (tell, told) = oneshot::channel();
        let writer = self.house.gate.writer.clone();
        let go_on = move |visit, carried| self.carried(visit, carried);
        writer.submit(Box::new(Queued::new(visit, change, tell, Box::new(go_on))));
        Next::Later(told)
    }

    /// How a form goes on that the writer has had.
    fn carried(self: Arc<Self>, visit: Visit, carried: Carried) -> Next {
        match carried {
            Carried::Out(done) => Next::Done(self.carried_out(visit, done)),
            Carried::Refused(failure) => Next::Here(Work::new(move || self.form_again(visit, failure))),
            Carried::Unknown => {
                let message = "Ob gespeichert wurde, ist nicht bekannt: Die Festplatte meldet einen Fehler. Bitte nachsehen.";
                self.finish(visit, frame::refused(503, message))
            }
            Carried::Not => {
                let reply = frame::busy(&visit.request);
                self.finish(visit, reply)
            }
        }
    }

    /// Shows the form again with why it was refused; what is no refusal is an error page.
    fn form_again(self: Arc<Self>, mut visit: Visit, failure: Failure) -> Next {
        match failure {
            Failure::Refused(refusal) if refusal.code != Code::ScopeFehlt => {
                visit.ask.refusal = Some(refusal);
                self.show(visit, Lane::Fast)
            }
            failure => {
                let reply = frame::failed(&failure, &visit.request);
                self.finish(visit, reply)
            }
        }
    }

    /// The last step of a request: its audit row, its line in the log, its cookie and its share of the memory.
    fn finish(&self, visit: Visit, reply: Reply) -> Next {
        self.write_down(audit_row(&visit, &reply, None), visit.address);
        Next::Done(self.completed(&visit, reply))
    }

    /// Writes the row of a request, or counts it where a stranger sends too many.
    fn write_down(&self, row: Row, address: IpAddr) {
        let gate = &self.house.gate;
        match row.akteur {
            Some(_) => gate.journal.append(row),
            None => gate.journal.append_of_stranger(row, neighbourhood(address), (gate.clock)()),
        }
    }

    fn completed(&self, visit: &Visit, reply: Reply) -> Reply {
        let duration = visit.request.started.elapsed();
        let method = if visit.request.method == "POST" { "POST" } else { "GET" };
        let gate = &self.house.gate;
        gate.metrics.count(method, visit.ask.page.pattern, reply.status, duration);
        let Request { id, path, .. } = &visit.request;
        let (status, micros) = (reply.status, duration.as_micros() as u64);
        tracing::info!(request_id = %id, %method, %path, status, duration_us = micros, address = %visit.address,
            person = visit.ask.person.as_ref().map(|person| person.id), "page");
        let has_cookie = reply.headers.iter().any(|(name, _)| *name == "set-cookie");
        let is_new = entry::cookie(&visit.request.headers).is_none_or(|cookie| cookie != visit.ask.cookie);
        let reply = match is_new && !has_cookie {
            true => self.with_cookie(visit, reply, &visit.ask.cookie),
            false => reply,
        };
        if reply.body.len() <= SMALL {
            return reply;
        }
        match gate.answers.take(&visit.account(), reply.body.len()) {
            Some(held) => Reply { held: Some(held), ..reply },
            None => frame::busy(&visit.request),
        }
    }

    /// The answer with a cookie; a blank one takes it away.
    fn with_cookie(&self, visit: &Visit, reply: Reply, cookie: &str) -> Reply {
        let is_encrypted = entry::is_encrypted(&self.zugang, &self.house.gate, &visit.request);
        let secure = if is_encrypted { "; Secure" } else { "" };
        let age = if cookie.is_empty() { 0 } else { SESSION / 1_000 };
        reply.with(
            "set-cookie",
            format!("leitstand={cookie}; Path=/leitstand; HttpOnly; SameSite=Strict; Max-Age={age}{secure}"),
        )
    }

    /// The answer to a form that was carried out.
    fn carried_out(&self, mut visit: Visit, mut done: Done) -> Reply {
        if let (Some(begins), Some(person)) = (done.begins.take(), &visit.ask.person) {
            let works = &self.house.works;
            if !works.begin(begins.id, &begins.title, person.id, visit.ask.now, begins.doing) {
                done.to = "/leitstand/arbeit".to_owned();
                done.notes = vec![FULL.to_owned()];
            }
        }
        if let Some((title, body)) = done.once {
            visit.ask.notes = done.notes;
            let reply = frame::page(&visit.ask, title, body);
            return self.completed(&visit, reply);
        }
        let cookie = done.cookie.as_deref().unwrap_or(&visit.ask.cookie);
        self.sayings.keep(cookie, &done.to, done.notes);
        let reply = frame::guarded(Reply { status: 303, ..Reply::default() }.with("location", done.to));
        let reply = match &done.cookie {
            Some(cookie) => self.with_cookie(&visit, reply, cookie),
            None => reply,
        };
        self.completed(&visit, reply)
    }

    /// Answers a request that was not let in.
    fn turn_away(&self, request: &Request, address: IpAddr, refused: Refused) -> Next {
        let metrics = &self.house.gate.metrics;
        metrics.count("GET", "/leitstand", refused.reply.status, request.started.elapsed());
        self.write_down(refused_row(request, address, &refused), address);
        Next::Done(refused.reply)
    }
}

/// What is done; a panic is a failure of ours.
fn unpanicked<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let panicked = |_| Err(Failure::Broken("a page panicked".into()));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

/// What a form came to before anything is written.
enum Prepared {
    Change(Change),
    Hashed(super::page::Hashed),
}

/// Reads the fields of a form, and its file where the page takes one.
fn read_form(visit: &mut Visit) -> Result<()> {
    let content_type = visit.request.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    let body = visit.request.body.content().map_err(|refusal| match refusal.code {
        // The sentence of the interface counts bytes.
        Code::ZuGross if visit.ask.page.has_upload => {
            let message = format!("Die Datei hat mehr als {} MiB. Bitte verkleinern.", upload::LARGEST >> 20);
            Refusal::new(Code::ZuGross, message)
        }
        _ => refusal,
    })?;
    match content_type.filter(|kind| visit.ask.page.has_upload && upload::is_upload(kind)) {
        Some(content_type) => {
            let form = upload::read(content_type, body)?;
            (visit.ask.form, visit.ask.files) = (form.fields, form.files);
        }
        None => visit.ask.form = fields(&String::from_utf8_lossy(body))?,
    }
    // Browsers end the lines of a field with both.
    for (_, value) in &mut visit.ask.form {
        *value = value.replace("\r\n", "\n");
    }
    Ok(())
}

/// The gate and the pages, as the socket sees them.
pub struct Front {
    /// What answers programs.
    pub gate: Arc<Gate>,
    /// What answers people; none where the setting is `aus`.
    pub leitstand: Option<Arc<Leitstand>>,
}

impl Answering for Front {
    fn answer(self: Arc<Self>, request: Request) -> Next {
        let is_page = request.path == "/leitstand" || request.path.starts_with("/leitstand/");
        match &self.leitstand {
            Some(leitstand) if is_page && request.malformed.is_none() => {
                Arc::clone(leitstand).answer(request)
            }
            _ => Arc::clone(&self.gate).answer(request),
        }
    }

    fn unavailable(&self, request_id: Uuid) -> Reply {
        self.gate.unavailable(request_id)
    }

    fn client(&self, peer: IpAddr) -> Option<IpAddr> {
        self.gate.client(peer)
    }
}
