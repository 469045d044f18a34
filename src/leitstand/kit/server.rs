//! Answers requests for pages. They use the gate's lanes for reading and its writer, like programs, but a session
//! in place of a key.

use std::collections::BTreeMap;
use std::mem::take;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;

use super::context::{self, FormChange, PageContext};
use super::done::{Done, FirmaChange, Hashed, Outgoing, PREVIEW, Response, TRY};
use super::flash::FlashMessages;
use super::jobs::{Jobs, NewJob};
use super::page::{AppState, Page, PageRequest, Snapshot, Take, as_file, fields};
use super::upload::{self, Form};
use super::uploads::Uploads;
use super::{akteure, frame, resume};
use crate::leitstand::access::Access;
use crate::leitstand::access::entry::{self, Refused};
use crate::leitstand::access::password_thread::PasswordThread;
use crate::leitstand::access::passwords::Attempts;
use crate::leitstand::access::people::SESSION_MILLIS;
use crate::leitstand::operations::restoring::Restoring;
use crate::leitstand::operations::upkeep::Monitor;
use crate::leitstand::operations::zurueckspielen;
use crate::papers::blatt::{Blatt, draw};
use crate::platform::db::error::exceeded_budget;
use crate::platform::db::feed;
use crate::platform::db::readers::Lane;
use crate::platform::db::tx::Tx;
use crate::platform::db::writer::batch::Batch;
use crate::platform::failure::{Failure, Result, unpanicked};
use crate::platform::gate::Gate;
use crate::platform::gate::access::address::neighbourhood;
use crate::platform::gate::access::ip_limit::Limited;
use crate::platform::gate::flow::completion::reserve;
use crate::platform::http::budget::Budget;
use crate::platform::http::client::Client;
use crate::platform::http::cpu_pool::on_cpu_pool;
use crate::platform::http::error;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::platform::http::route::Wait;
use crate::rules::error::{Code, Refusal};

/// Largest form, in bytes: enough for a document of a hundred positions with their texts.
const FORM_BYTES_MAX: usize = 128 << 10;

/// Seconds that a page waits for a change before it asks again.
const NEWS_WAIT_SECONDS: u64 = 25;

/// Most e-mails being sent at once: each may wait 70 seconds for a mail server.
const MAILS_MAX: usize = 8;
/// Most of them for one company.
const MAILS_SHARE: usize = 2;

/// Sent by the script of live pages, which replaces only part of the page. Notes are outside that part, so they
/// are kept for the next whole page.
const LIVE_HEADER: &str = "x-leitstand-live";

/// The web pages, and the gate that they read and write through.
pub struct Leitstand {
    app: Arc<AppState>,
    hashing: PasswordThread,
    flash: FlashMessages,
}

impl Leitstand {
    pub fn new(gate: Arc<Gate>, pages: &'static [Page], database: &Path) -> Result<Leitstand> {
        let (database, policy) = (database.to_owned(), &gate.policy);
        let (nightly, certificate) = (policy.nightly.clone(), policy.leitstand.certificate.clone());
        let lookout = Monitor::start(database.clone(), nightly, certificate, Arc::clone(&gate.clock))?;
        let app = Arc::new(AppState {
            gate,
            pages,
            attempts: Arc::new(Attempts::default()),
            jobs: Jobs::default(),
            import_turn: tokio::sync::Mutex::new(()),
            uploads: Uploads::default(),
            restoring: Restoring::default(),
            lookout,
            mails: Budget::new(MAILS_MAX, MAILS_SHARE),
            contracts: Mutex::new(BTreeMap::new()),
            database,
        });
        Ok(Leitstand { app, hashing: PasswordThread::start()?, flash: FlashMessages::default() })
    }

    /// Tells running jobs to give up, because the service stops.
    pub fn stop(&self) {
        self.app.jobs.give_up();
    }

    pub fn restoring(&self) -> &Restoring {
        &self.app.restoring
    }

    /// Answers a request whose path begins with `/leitstand`.
    pub async fn answer(self: Arc<Self>, request: Request, client: &mut Client) -> Reply {
        if let Some(reply) = frame::asset(&request.path) {
            return reply;
        }
        let address = self.app.gate.address_of(&request);
        let request = Arc::new(request);
        let mut context = match self.let_in(&request, address) {
            Ok(page_request) => PageContext { request, page_request, address, needs_row: true },
            Err(refused) => {
                let metrics = &self.app.gate.metrics;
                metrics.count(
                    counted_method(&request),
                    "/leitstand",
                    refused.reply.status,
                    request.started.elapsed(),
                );
                let Refused { reply, person, firma } = *refused;
                let row = context::row(&request, address, &reply, person, firma);
                self.app.gate.write_down(row, address, person.is_none());
                return reply;
            }
        };
        if context.page_request.person.is_some() {
            client.mark_accepted();
        }
        self.app.uploads.drop_old(context.page_request.now);
        // A panic is a bug; it has its answer and its audit row like any other fault of ours.
        let outcome = AssertUnwindSafe(self.outcome(&mut context, client)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(Failure::Broken("a page panicked".into())));
        let reply = outcome.unwrap_or_else(|failure| frame::failed(&failure, &context.request));
        self.complete(&context, reply)
    }

    /// Admits a request, as [`entry::admit`] does; a panic there becomes an answer.
    fn let_in(&self, request: &Request, address: IpAddr) -> std::result::Result<PageRequest, Box<Refused>> {
        let let_in = unpanicked(|| Ok(entry::admit(&self.app, request, address)));
        let_in.unwrap_or_else(|failure| Err(frame::failed(&failure, request).into()))
    }

    /// Answers an admitted request: executes a form, waits for a change, or shows a page.
    async fn outcome(&self, context: &mut PageContext, client: &mut Client) -> Result<Reply> {
        if context.request.method == "POST" {
            return self.take_form(context, client).await;
        }
        if context.page_request.page.is_waiting {
            return self.news(context, client).await;
        }
        self.show(context).await
    }

    /// Shows a page: on the socket thread or, if it is heavy, on the CPU pool. If reading exceeds the fast lane's
    /// budget, starts again on the slow lane.
    async fn show(&self, context: &mut PageContext) -> Result<Reply> {
        let Request { method, headers, path, .. } = &*context.request;
        if method == "GET" && !headers.contains_key(LIVE_HEADER) {
            let (notes, form) = self.flash.take(&context.page_request.cookie, path);
            context.page_request.notes.extend(notes);
            context.page_request.form.fields.extend(form);
        }
        let on = |lane: Lane| {
            let (page_request, account) = (context.page_request.clone(), context.account());
            move || counted(read(&page_request, lane)?, &page_request, &account)
        };
        let mut shown = match context.page_request.page.is_heavy {
            true => on_cpu_pool(on(Lane::Fast)).await?,
            false => read(&context.page_request, Lane::Fast),
        };
        if shown.as_ref().is_err_and(exceeded_budget) {
            shown = self.app.gate.slowly(context.in_turn(), on(Lane::Slow)).await?;
        }
        Ok(self.shown(context, shown?))
    }

    /// Completes the reply of a page. If a form was refused, the page has the refusal's status. A redirect shows
    /// nothing: its notes and fields are kept for its target, and a refusal is answered in its place.
    fn shown(&self, context: &mut PageContext, reply: Reply) -> Reply {
        let to = reply.headers.iter().find(|(name, _)| *name == "location").map(|(_, to)| to);
        match (context.page_request.refusal.take(), to) {
            (Some(refusal), Some(_)) => frame::failed(&Failure::Refused(refusal), &context.request),
            (Some(refusal), None) => {
                Reply { status: error::status(refusal.code), code: Some(refusal.code), ..reply }
            }
            (None, Some(to)) => {
                self.flash.keep(
                    &context.page_request.cookie,
                    to,
                    take(&mut context.page_request.notes),
                    take(&mut context.page_request.form.fields),
                );
                reply
            }
            (None, None) => reply,
        }
    }

    /// Waits until the newest change is not the one that the page knows (`seit`), and answers with its number.
    /// Admits the request again after each wait, so that a person who was locked out meanwhile learns nothing.
    async fn news(&self, context: &mut PageContext, client: &Client) -> Result<Reply> {
        let gate = &self.app.gate;
        let (mut waiting, mut is_last) = (None, false);
        loop {
            let firma = context.page_request.firma_id();
            let newest = gate.readers.read(Lane::Fast, |connection| feed::newest(connection, firma))?;
            let is_known = newest.to_string() == context.page_request.param("seit");
            if !is_known || is_last {
                // Nothing happened: no row (D27), else each page that is left open has thousands a day.
                context.needs_row = !is_known;
                return Ok(frame::guarded(Reply::text("text/plain; charset=utf-8", newest.to_string())));
            }
            let wait = Wait { seconds: NEWS_WAIT_SECONDS, cursor: String::new(), newest };
            is_last = gate.waiters.wait(&mut waiting, &context.account(), firma, wait, client).await?.is_last;
            match self.let_in(&context.request, context.address) {
                Ok(page_request) => context.page_request = page_request,
                Err(refused) => return Ok(refused.reply),
            }
        }
    }

    /// Reads and executes an admitted form. Shows its page again if it is refused. If the session had ended, shows
    /// the log-in page, which resumes the form.
    async fn take_form(&self, context: &mut PageContext, client: &mut Client) -> Result<Reply> {
        if let Some(reply) = self.too_many_log_ins(context) {
            return Ok(reply);
        }
        let limit =
            if context.page_request.page.has_upload { upload::UPLOAD_BYTES_MAX } else { FORM_BYTES_MAX };
        if context.request.body.is_awaited() {
            context.request.body.set(client.body(limit, &context.account()).await);
        }
        if context.page_request.page.matches(&context.request.path).is_none() {
            let typed = form_of(&context.request, true).ok().map(|form| form.fields);
            context.page_request.form.fields = resume::of(&context.request, typed);
            return Ok(Reply { status: 401, ..self.show(context).await? });
        }
        match self.carry_out(context).await {
            Ok(Some(done)) => self.respond(context, done).await,
            Ok(None) => self.show(context).await,
            Err(Failure::Refused(refusal)) if refusal.code != Code::ScopeFehlt => {
                context.page_request.refusal = Some(refusal);
                self.show(context).await
            }
            Err(failure) => Err(failure),
        }
    }

    /// Refuses a form that anybody may send, such as the log-in, if its address has sent too many.
    fn too_many_log_ins(&self, context: &PageContext) -> Option<Reply> {
        if context.page_request.page.access != Access::Open {
            return None;
        }
        let (address, now) = (neighbourhood(context.address), context.page_request.now);
        let seconds = self.app.gate.ip_limit.take(address, Limited::LogIn, now).err()?;
        let message = format!("Zu viele Anmeldungen von dieser Adresse. Bitte {seconds} Sekunden warten.");
        let reply = frame::refused(429, &message).with("retry-after", seconds.to_string());
        Some(Reply { code: Some(Code::ZuVieleAnfragen), ..reply })
    }

    /// Draws the sheet of a draft as a PDF, on the CPU pool.
    async fn drawn(&self, context: &PageContext, sheet: Box<Blatt>) -> Result<Reply> {
        let (page_request, account) = (context.page_request.clone(), context.account());
        let drawn = move || {
            let pdf = draw(&sheet)?.pdf;
            counted(as_file(Reply::file("application/pdf", "Entwurf.pdf", pdf)), &page_request, &account)
        };
        on_cpu_pool(drawn).await?
    }

    /// Executes a form: prepares its change, if need be on the password thread or the slow lane, and writes it
    /// together with its audit row. `None` if the form only leads to its next step.
    async fn carry_out(&self, context: &mut PageContext) -> Result<Option<Done>> {
        let change = match prepared(context).await? {
            Prepared::Change(change) => change,
            Prepared::Step => return Ok(None),
            Prepared::Hashed(hashed) => FormChange::Haus(self.hashing.run(&context.account(), hashed).await?),
            Prepared::Sends => FormChange::Firma(context.page_request.firma_id(), self.sent(context).await?),
            Prepared::Draft(take) => {
                let page_request = context.page_request.clone();
                let read = move || with_snapshot(&page_request, Lane::Slow, |db| take(&page_request, db));
                let change = self.app.gate.slowly(context.in_turn(), read).await??;
                FormChange::Firma(context.page_request.firma_id(), change)
            }
        };
        let (account, bytes) = (context.in_turn(), context.request.body.byte_count());
        let sent = context.clone();
        let run = move |batch: &Batch<'_>| change.run(batch, &sent);
        let done = self.app.gate.write(account, bytes, run).await?;
        context.needs_row = false;
        Ok(Some(done))
    }

    /// Records an e-mail and sends it on the CPU pool, where it holds neither reader nor writer. Returns the change
    /// that records the result.
    async fn sent(&self, context: &PageContext) -> Result<FirmaChange> {
        let (gate, firma) = (&self.app.gate, context.page_request.firma_id());
        let is_full = || Failure::Busy("other e-mails are on their way".into());
        let place = self.app.mails.take(&firma.to_string(), 1).ok_or_else(is_full)?;
        let Take::Sends(take) = context.page_request.page.take else {
            return Err(Failure::not_found("Dieses Formular"));
        };
        let page_request = context.page_request.clone();
        let read = move || with_snapshot(&page_request, Lane::Slow, |db| take(&page_request, db));
        let Outgoing { begun, send } = gate.slowly(context.in_turn(), read).await??;
        if let Some(begun) = begun {
            let person = akteure::of_person(context.page_request.person_id());
            let run = move |batch: &Batch<'_>| batch.whole(firma, Some(&person), |tx| begun(tx));
            gate.write(context.in_turn(), 0, run).await?;
        }
        let change = on_cpu_pool(send).await?;
        drop(place);
        Ok(change)
    }

    /// Answers a form that was executed or only tried.
    async fn respond(&self, context: &mut PageContext, done: Done) -> Result<Reply> {
        let Done { response, mut notes, cookie, .. } = done;
        if let Some(cookie) = cookie {
            context.page_request.cookie = cookie;
        }
        let mut form = Vec::new();
        let to = match response {
            Response::Redirect(to) => to,
            Response::Refill(to, typed) => {
                form = typed;
                to
            }
            Response::Job(job) => self.begin(&context.page_request, job).unwrap_or_else(|why| {
                notes = vec![why.to_owned()];
                "/leitstand/arbeit".to_owned()
            }),
            Response::Once(title, body) => {
                context.page_request.notes = notes;
                return Ok(frame::page(&context.page_request, title, body));
            }
            Response::Tried(tried) => {
                match tried {
                    Ok(tried) => context.page_request.tried = Some(Arc::new(tried)),
                    Err(refusal) => context.page_request.refusal = Some(refusal),
                }
                return self.show(context).await;
            }
            Response::Sheet(sheet) => return self.drawn(context, sheet).await,
            Response::Restore(order) => {
                self.app.restoring.begin(order);
                return Ok(zurueckspielen::begun(&context.page_request));
            }
        };
        self.flash.keep(&context.page_request.cookie, &to, notes, form);
        Ok(frame::redirect(to))
    }

    /// Starts a job; returns the path of its page, or why it cannot run.
    fn begin(&self, by: &PageRequest, job: NewJob) -> std::result::Result<String, &'static str> {
        let to = format!("/leitstand/arbeit/{}", job.id);
        self.app.jobs.begin(job, by.person_id(), by.tenant_id(), by.now)?;
        Ok(to)
    }

    /// Ends a request: reserves memory for the answer, writes the audit row and the log line, and sets the cookie.
    fn complete(&self, context: &PageContext, reply: Reply) -> Reply {
        let reply = self.reserve(context, reply);
        if context.needs_row {
            let is_stranger = context.page_request.person.is_none();
            self.app.gate.write_down(context.row(&reply, None), context.address, is_stranger);
        }
        let duration = context.request.started.elapsed();
        let method = counted_method(&context.request);
        let gate = &self.app.gate;
        gate.metrics.count(method, context.page_request.page.pattern, reply.status, duration);
        let Request { id, path, .. } = &*context.request;
        let (status, micros) = (reply.status, duration.as_micros() as u64);
        tracing::info!(request_id = %id, %method, %path, status, duration_us = micros, address = %context.address,
            person = context.page_request.person.as_ref().map(|person| person.id), "page");
        match entry::cookie(&context.request.headers) {
            Some(cookie) if cookie == context.page_request.cookie => reply,
            _ => self.with_cookie(context, reply),
        }
    }

    /// Reserves memory for an answer. Without room, answers "busy" instead, unless the form was already executed.
    fn reserve(&self, context: &PageContext, reply: Reply) -> Reply {
        let reserved = reserve(reply, memory(&context.page_request), &context.account(), !context.needs_row);
        reserved.unwrap_or_else(|| frame::busy(&context.request))
    }

    /// Adds the cookie to an answer; a blank one deletes it.
    fn with_cookie(&self, context: &PageContext, reply: Reply) -> Reply {
        let cookie = &context.page_request.cookie;
        let secure = if entry::is_encrypted(&self.app, &context.request) { "; Secure" } else { "" };
        let age = if cookie.is_empty() { 0 } else { SESSION_MILLIS / 1_000 };
        reply.with(
            "set-cookie",
            format!("leitstand={cookie}; Path=/leitstand; HttpOnly; SameSite=Strict; Max-Age={age}{secure}"),
        )
    }
}

/// The method as metrics name it: POST for a form, GET for anything else.
fn counted_method(request: &Request) -> &'static str {
    if request.method == "POST" { "POST" } else { "GET" }
}

/// Reads from a snapshot of the database.
fn with_snapshot<T>(
    page_request: &PageRequest,
    lane: Lane,
    read: impl Fn(&Snapshot<'_>) -> Result<T>,
) -> Result<T> {
    page_request.app.gate.readers.read(lane, |connection| {
        read(&Snapshot { tx: Tx::new(connection, page_request.firma_id(), page_request.now), connection })
    })
}

fn read(page_request: &PageRequest, lane: Lane) -> Result<Reply> {
    with_snapshot(page_request, lane, |db| (page_request.page.show)(page_request, db))
}

/// Reserves memory for an answer on the thread that rendered it.
fn counted(reply: Reply, page_request: &PageRequest, account: &str) -> Result<Reply> {
    let full =
        || Failure::Busy("the pages that somebody has not read yet fill their share of the memory".into());
    reserve(reply, memory(page_request), account, false).ok_or_else(full)
}

/// The memory budget for the answers to this client: strangers share one of their own.
fn memory(page_request: &PageRequest) -> &Arc<Budget> {
    let gate = &page_request.app.gate;
    if page_request.person.is_some() { &gate.answers } else { &gate.answers_of_strangers }
}

/// A parsed form: what is left to do before its change can be written.
enum Prepared {
    Step,
    Change(FormChange),
    Hashed(Hashed),
    Sends,
    Draft(fn(&PageRequest, &Snapshot<'_>) -> Result<FirmaChange>),
}

/// Parses a form; on the CPU pool if its page takes a file.
async fn prepared(context: &mut PageContext) -> Result<Prepared> {
    if !context.page_request.page.has_upload {
        return prepare(context);
    }
    let mut moved = context.clone();
    let (prepared, moved) = on_cpu_pool(move || (prepare(&mut moved), moved)).await?;
    *context = moved;
    prepared
}

fn prepare(context: &mut PageContext) -> Result<Prepared> {
    let page_request = &mut context.page_request;
    page_request.form = form_of(&context.request, page_request.page.has_upload)?;
    entry::check_token(page_request)?;
    if page_request.step().is_some_and(|step| ![TRY, PREVIEW].contains(&step)) {
        return Ok(Prepared::Step);
    }
    Ok(match page_request.page.take {
        Take::Nothing => return Err(Failure::not_found("Dieses Formular")),
        Take::Firma(take) => {
            Prepared::Change(FormChange::Firma(page_request.firma_id(), take(page_request)?))
        }
        Take::Haus(take) => Prepared::Change(FormChange::Haus(take(page_request)?)),
        Take::Sends(_) => Prepared::Sends,
        Take::Draft(take) => Prepared::Draft(take),
        Take::Hashed(take) => {
            Prepared::Hashed(with_snapshot(page_request, Lane::Fast, |db| take(page_request, db))?)
        }
    })
}

/// Reads the fields of a form, and its file if the page takes one.
fn form_of(request: &Request, has_upload: bool) -> Result<Form> {
    let content_type = request.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    let body = request.body.content().map_err(|refusal| match refusal.code {
        // The sentence of the interface counts bytes.
        Code::ZuGross if has_upload => {
            let message =
                format!("Die Datei hat mehr als {} MiB. Bitte verkleinern.", upload::UPLOAD_BYTES_MAX >> 20);
            Refusal::new(Code::ZuGross, message)
        }
        _ => refusal,
    })?;
    let mut form = match content_type.filter(|kind| has_upload && upload::is_upload(kind)) {
        Some(content_type) => upload::read(content_type, body)?,
        None => Form { fields: fields(&String::from_utf8_lossy(body))?, files: Vec::new() },
    };
    // Browsers end the lines of a field with both.
    for (_, value) in &mut form.fields {
        *value = value.replace("\r\n", "\n");
    }
    Ok(form)
}
