//! Answers requests for pages: on the lanes and through the writer of the gate, with a session in the place of a key.

use std::mem::take;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;

use super::done::{Done, FirmaChange, Hashed, Outgoing, PREVIEW, TRY};
use super::flash::FlashMessages;
use super::page::{Ask, House, Page, Snapshot, Take, as_file, fields};
use super::upload::{self, Form};
use super::visit::{self, FormChange, Visit};
use super::{akteure, frame, resume};
use crate::leitstand::access::Access;
use crate::leitstand::access::entry::{self, Refused};
use crate::leitstand::access::password_thread::PasswordThread;
use crate::leitstand::access::people::SESSION_MILLIS;
use crate::leitstand::operations::restoring::Restoring;
use crate::leitstand::operations::upkeep::Lookout;
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
use crate::platform::http::answering::Answering;
use crate::platform::http::budget::Budget;
use crate::platform::http::client::Client;
use crate::platform::http::cpu_pool::off_sockets;
use crate::platform::http::error;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::platform::http::route::Wait;
use crate::rules::error::{Code, Refusal};

/// Bytes of a form at most: those of a document of a hundred positions with their texts.
const FORM_BYTES_MAX: usize = 128 << 10;

/// Seconds that a page waits for something new before it asks again.
const NEWS_WAIT_SECONDS: u64 = 25;

/// E-mails on their way at most, those of all and of one company: each may wait 70 seconds for a mail server.
const MAILS_MAX: usize = 8;
const MAILS_SHARE: usize = 2;

/// Sent by the script of live pages, which puts only a part of the page in place: notes stand outside of it.
const LIVE_HEADER: &str = "x-leitstand-live";

/// The pages, on a gate.
pub struct Leitstand {
    house: Arc<House>,
    hashing: PasswordThread,
    flash: FlashMessages,
}

impl Leitstand {
    pub fn new(gate: Arc<Gate>, pages: &'static [Page], database: &Path) -> Result<Leitstand> {
        let (database, policy) = (database.to_owned(), &gate.policy);
        let (nightly, certificate) = (policy.nightly.clone(), policy.leitstand.certificate.clone());
        let lookout = Lookout::start(database.clone(), nightly, certificate, Arc::clone(&gate.clock))?;
        let (attempts, jobs, import_turn, uploads, restoring, contracts) = Default::default();
        let house = Arc::new(House {
            gate,
            pages,
            attempts,
            jobs,
            import_turn,
            uploads,
            restoring,
            lookout,
            mails: Budget::new(MAILS_MAX, MAILS_SHARE),
            contracts,
            database,
        });
        Ok(Leitstand { house, hashing: PasswordThread::start()?, flash: FlashMessages::default() })
    }

    /// Asks long work to end, because the service ends.
    pub fn stop(&self) {
        self.house.jobs.give_up();
    }

    pub fn restoring(&self) -> &Restoring {
        &self.house.restoring
    }

    /// Answers a request whose path begins with `/leitstand`.
    pub async fn answer(self: Arc<Self>, request: Request, client: &mut Client) -> Reply {
        if let Some(reply) = frame::asset(&request.path) {
            return reply;
        }
        let address = self.house.gate.address_of(&request);
        let request = Arc::new(request);
        let mut visit = match self.let_in(&request, address) {
            Ok(ask) => Visit { request, ask, address, needs_row: true },
            Err(refused) => {
                let metrics = &self.house.gate.metrics;
                metrics.count(
                    counted_method(&request),
                    "/leitstand",
                    refused.reply.status,
                    request.started.elapsed(),
                );
                let Refused { reply, person, firma } = *refused;
                let row = visit::row(&request, address, &reply, person, firma);
                self.house.gate.write_down(row, address, person.is_none());
                return reply;
            }
        };
        if visit.ask.person.is_some() {
            client.mark_accepted();
        }
        self.house.uploads.drop_old(visit.ask.now);
        // A panic is a bug; it has its answer and its audit row like any other fault of ours.
        let outcome = AssertUnwindSafe(self.outcome(&mut visit, client)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(Failure::Broken("a page panicked".into())));
        let reply = outcome.unwrap_or_else(|failure| frame::failed(&failure, &visit.request));
        self.complete(&visit, reply)
    }

    /// Who asks, and for which page.
    fn let_in(&self, request: &Request, address: IpAddr) -> std::result::Result<Ask, Box<Refused>> {
        let let_in = unpanicked(|| Ok(entry::admit(&self.house, request, address)));
        let_in.unwrap_or_else(|failure| Err(frame::failed(&failure, request).into()))
    }

    /// The answer to a request that was let in, or why it has none.
    async fn outcome(&self, visit: &mut Visit, client: &mut Client) -> Result<Reply> {
        if visit.request.method == "POST" {
            return self.take_form(visit, client).await;
        }
        if visit.ask.page.is_waiting {
            return self.news(visit, client).await;
        }
        self.show(visit).await
    }

    /// Shows a page: on a thread of the sockets, where it computes much on one that serves none, and where it takes long on
    /// the slow lane.
    async fn show(&self, visit: &mut Visit) -> Result<Reply> {
        let Request { method, headers, path, .. } = &*visit.request;
        if method == "GET" && !headers.contains_key(LIVE_HEADER) {
            let (notes, form) = self.flash.take(&visit.ask.cookie, path);
            visit.ask.notes.extend(notes);
            visit.ask.form.fields.extend(form);
        }
        let on = |lane: Lane| {
            let (ask, account) = (visit.ask.clone(), visit.account());
            move || counted(read(&ask, lane)?, &ask, &account)
        };
        let mut shown = match visit.ask.page.is_heavy {
            true => off_sockets(on(Lane::Fast)).await?,
            false => read(&visit.ask, Lane::Fast),
        };
        if shown.as_ref().is_err_and(exceeded_budget) {
            shown = self.house.gate.slowly(visit.in_turn(), on(Lane::Slow)).await?;
        }
        Ok(self.shown(visit, shown?))
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
                self.flash.keep(
                    &visit.ask.cookie,
                    to,
                    take(&mut visit.ask.notes),
                    take(&mut visit.ask.form.fields),
                );
                reply
            }
            (None, None) => reply,
        }
    }

    /// Answers with the number of the newest change once it is another than the page knows. After each wait the request is
    /// let in anew: who was locked meanwhile learns nothing.
    async fn news(&self, visit: &mut Visit, client: &Client) -> Result<Reply> {
        let gate = &self.house.gate;
        let (mut waiting, mut is_last) = (None, false);
        loop {
            let firma = visit.ask.firma_id();
            let newest = gate.readers.read(Lane::Fast, |connection| feed::newest(connection, firma))?;
            let is_known = newest.to_string() == visit.ask.param("seit");
            if !is_known || is_last {
                // Nothing happened: no row (D27), else each page that is left open has thousands a day.
                visit.needs_row = !is_known;
                return Ok(frame::guarded(Reply::text("text/plain; charset=utf-8", newest.to_string())));
            }
            let wait = Wait { seconds: NEWS_WAIT_SECONDS, cursor: String::new(), newest };
            is_last = gate.waiters.wait(&mut waiting, &visit.account(), firma, wait, client).await?.is_last;
            match self.let_in(&visit.request, visit.address) {
                Ok(ask) => visit.ask = ask,
                Err(refused) => return Ok(refused.reply),
            }
        }
    }

    /// Reads a form, once it is clear that this person may send it, and has it carried out; shows it again where it is
    /// refused.
    async fn take_form(&self, visit: &mut Visit, client: &mut Client) -> Result<Reply> {
        if visit.ask.page.access == Access::Open {
            let (gate, now) = (&self.house.gate, visit.ask.now);
            if let Err(seconds) = gate.ip_limit.take(neighbourhood(visit.address), Limited::LogIn, now) {
                let message =
                    format!("Zu viele Anmeldungen von dieser Adresse. Bitte {seconds} Sekunden warten.");
                let reply = frame::refused(429, &message).with("retry-after", seconds.to_string());
                return Ok(Reply { code: Some(Code::ZuVieleAnfragen), ..reply });
            }
        }
        let limit = if visit.ask.page.has_upload { upload::UPLOAD_BYTES_MAX } else { FORM_BYTES_MAX };
        if visit.request.body.is_awaited() {
            visit.request.body.set(client.body(limit, &visit.account()).await);
        }
        if visit.ask.page.matches(&visit.request.path).is_none() {
            let typed = form_of(&visit.request, true).ok().map(|form| form.fields);
            visit.ask.form.fields = resume::of(&visit.request, typed);
            return Ok(Reply { status: 401, ..self.show(visit).await? });
        }
        match self.carry_out(visit).await {
            Ok(Some(Done { sheet: Some(sheet), .. })) => self.drawn(visit, sheet).await,
            Ok(Some(Done { tried: Some(tried), .. })) => {
                match tried {
                    Ok(tried) => visit.ask.tried = Some(Arc::new(tried)),
                    Err(refusal) => visit.ask.refusal = Some(refusal),
                }
                self.show(visit).await
            }
            Ok(Some(done)) => Ok(self.led_on(visit, done)),
            Ok(None) => self.show(visit).await,
            Err(Failure::Refused(refusal)) if refusal.code != Code::ScopeFehlt => {
                visit.ask.refusal = Some(refusal);
                self.show(visit).await
            }
            Err(failure) => Err(failure),
        }
    }

    /// The sheet of what was typed, drawn on a thread that serves no sockets.
    async fn drawn(&self, visit: &Visit, sheet: Box<Blatt>) -> Result<Reply> {
        let (ask, account) = (visit.ask.clone(), visit.account());
        let drawn = move || {
            let pdf = draw(&sheet)?.pdf;
            counted(as_file(Reply::file("application/pdf", "Entwurf.pdf", pdf)), &ask, &account)
        };
        off_sockets(drawn).await?
    }

    /// Has a form carried out: what is hashed on the thread for that, and then by the writer. The audit row of what is kept
    /// is part of it. None where a step of the form is to be shown.
    async fn carry_out(&self, visit: &mut Visit) -> Result<Option<Done>> {
        let prepared = match visit.ask.page.has_upload {
            true => {
                let mut moved = visit.clone();
                let prepared;
                (prepared, *visit) = off_sockets(move || (prepare(&mut moved), moved)).await?;
                prepared?
            }
            false => prepare(visit)?,
        };
        let change = match prepared {
            Prepared::Change(change) => change,
            Prepared::Step => return Ok(None),
            Prepared::Hashed(hashed) => FormChange::Haus(self.hashing.run(&visit.account(), hashed).await?),
            Prepared::Sends => FormChange::Firma(visit.ask.firma_id(), self.sent(visit).await?),
            Prepared::Draft(take) => {
                let ask = visit.ask.clone();
                let read = move || with_snapshot(&ask, Lane::Slow, |db| take(&ask, db));
                let change = self.house.gate.slowly(visit.in_turn(), read).await??;
                FormChange::Firma(visit.ask.firma_id(), change)
            }
        };
        let (account, bytes) = (visit.in_turn(), visit.request.body.byte_count());
        let sent = visit.clone();
        let run = move |batch: &Batch<'_>| change.run(batch, &sent);
        let done = self.house.gate.write(account, bytes, run).await?;
        visit.needs_row = false;
        Ok(Some(done))
    }

    /// Has an e-mail sent on a thread that serves no sockets and holds neither reader nor writer; what is to be written of it.
    async fn sent(&self, visit: &Visit) -> Result<FirmaChange> {
        let (gate, firma) = (&self.house.gate, visit.ask.firma_id());
        let is_full = || Failure::Busy("other e-mails are on their way".into());
        let place = self.house.mails.take(&firma.to_string(), 1).ok_or_else(is_full)?;
        let Take::Sends(take) = visit.ask.page.take else {
            return Err(Failure::not_found("Dieses Formular"));
        };
        let ask = visit.ask.clone();
        let read = move || with_snapshot(&ask, Lane::Slow, |db| take(&ask, db));
        let Outgoing { begun, send } = gate.slowly(visit.in_turn(), read).await??;
        if let Some(begun) = begun {
            let person = akteure::of_person(visit.ask.person_id());
            let run = move |batch: &Batch<'_>| batch.whole(firma, Some(&person), |tx| begun(tx));
            gate.write(visit.in_turn(), 0, run).await?;
        }
        let change = off_sockets(send).await?;
        drop(place);
        Ok(change)
    }

    /// The answer to a form that was carried out.
    fn led_on(&self, visit: &mut Visit, mut done: Done) -> Reply {
        if let (Some(begins), Some(person)) = (done.begins.take(), &visit.ask.person) {
            let jobs = &self.house.jobs;
            if let Err(why) = jobs.begin(begins, person.id, visit.ask.tenant_id(), visit.ask.now) {
                done.to = "/leitstand/arbeit".to_owned();
                done.notes = vec![why.to_owned()];
            }
        }
        if let Some(order) = done.restores {
            self.house.restoring.begin(order);
            return zurueckspielen::begun(&visit.ask);
        }
        if let Some((title, body)) = done.once {
            visit.ask.notes = done.notes;
            return frame::page(&visit.ask, title, body);
        }
        if let Some(cookie) = done.cookie {
            visit.ask.cookie = cookie;
        }
        self.flash.keep(&visit.ask.cookie, &done.to, done.notes, done.form);
        frame::redirect(done.to)
    }

    /// The last step of a request: its audit row, its line in the log, its cookie and its share of the memory.
    fn complete(&self, visit: &Visit, reply: Reply) -> Reply {
        let reply = self.reserve(visit, reply);
        if visit.needs_row {
            let is_stranger = visit.ask.person.is_none();
            self.house.gate.write_down(visit.row(&reply, None), visit.address, is_stranger);
        }
        let duration = visit.request.started.elapsed();
        let method = counted_method(&visit.request);
        let gate = &self.house.gate;
        gate.metrics.count(method, visit.ask.page.pattern, reply.status, duration);
        let Request { id, path, .. } = &*visit.request;
        let (status, micros) = (reply.status, duration.as_micros() as u64);
        tracing::info!(request_id = %id, %method, %path, status, duration_us = micros, address = %visit.address,
            person = visit.ask.person.as_ref().map(|person| person.id), "page");
        match entry::cookie(&visit.request.headers) {
            Some(cookie) if cookie == visit.ask.cookie => reply,
            _ => self.with_cookie(visit, reply),
        }
    }

    /// The answer with its share of the memory; a refusal where there is no room for it, unless its form was carried out.
    fn reserve(&self, visit: &Visit, reply: Reply) -> Reply {
        let reserved = reserve(reply, memory(&visit.ask), &visit.account(), !visit.needs_row);
        reserved.unwrap_or_else(|| frame::busy(&visit.request))
    }

    /// The answer with the cookie; a blank one takes it away.
    fn with_cookie(&self, visit: &Visit, reply: Reply) -> Reply {
        let cookie = &visit.ask.cookie;
        let secure = if entry::is_encrypted(&self.house, &visit.request) { "; Secure" } else { "" };
        let age = if cookie.is_empty() { 0 } else { SESSION_MILLIS / 1_000 };
        reply.with(
            "set-cookie",
            format!("leitstand={cookie}; Path=/leitstand; HttpOnly; SameSite=Strict; Max-Age={age}{secure}"),
        )
    }
}

/// The method as metrics name it: what is no form is shown as a GET is.
fn counted_method(request: &Request) -> &'static str {
    if request.method == "POST" { "POST" } else { "GET" }
}

/// Reads from a snapshot of the database.
fn with_snapshot<T>(ask: &Ask, lane: Lane, read: impl Fn(&Snapshot<'_>) -> Result<T>) -> Result<T> {
    ask.house.gate.readers.read(lane, |connection| {
        read(&Snapshot { tx: Tx::new(connection, ask.firma_id(), ask.now), connection })
    })
}

fn read(ask: &Ask, lane: Lane) -> Result<Reply> {
    with_snapshot(ask, lane, |db| (ask.page.show)(ask, db))
}

/// An answer that was made off the sockets takes its share of the memory there.
fn counted(reply: Reply, ask: &Ask, account: &str) -> Result<Reply> {
    let full =
        || Failure::Busy("the pages that somebody has not read yet fill their share of the memory".into());
    reserve(reply, memory(ask), account, false).ok_or_else(full)
}

/// The memory for answers to who asks.
fn memory(ask: &Ask) -> &Arc<Budget> {
    let gate = &ask.house.gate;
    if ask.person.is_some() { &gate.answers } else { &gate.answers_of_strangers }
}

/// What a form came to before anything is written.
enum Prepared {
    Step,
    Change(FormChange),
    Hashed(Hashed),
    Sends,
    Draft(fn(&Ask, &Snapshot<'_>) -> Result<FirmaChange>),
}

/// What a form asks for.
fn prepare(visit: &mut Visit) -> Result<Prepared> {
    let ask = &mut visit.ask;
    ask.form = form_of(&visit.request, ask.page.has_upload)?;
    entry::check_token(ask)?;
    if ask.step().is_some_and(|step| ![TRY, PREVIEW].contains(&step)) {
        return Ok(Prepared::Step);
    }
    Ok(match ask.page.take {
        Take::Nothing => return Err(Failure::not_found("Dieses Formular")),
        Take::Firma(take) => Prepared::Change(FormChange::Firma(ask.firma_id(), take(ask)?)),
        Take::Haus(take) => Prepared::Change(FormChange::Haus(take(ask)?)),
        Take::Sends(_) => Prepared::Sends,
        Take::Draft(take) => Prepared::Draft(take),
        Take::Hashed(take) => Prepared::Hashed(with_snapshot(ask, Lane::Fast, |db| take(ask, db))?),
    })
}

/// Reads the fields of a form, and its file where the page takes one.
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

/// The gate and the pages, as the socket sees them.
pub struct Front {
    /// What answers programs.
    pub gate: Arc<Gate>,
    /// What answers people; none where the setting is `aus`.
    pub leitstand: Option<Arc<Leitstand>>,
}

impl Front {
    /// Is done when it is told to stop, or a backup is to be restored.
    pub async fn end(self: Arc<Self>, stop: impl Future<Output = ()>) {
        let Some(leitstand) = &self.leitstand else { return stop.await };
        tokio::select! { () = stop => {}, () = leitstand.restoring().ordered() => {} }
    }
}

impl Answering for Front {
    async fn answer(self: Arc<Self>, request: Request, client: &mut Client) -> Reply {
        let is_page = request.path == "/leitstand" || request.path.starts_with("/leitstand/");
        match &self.leitstand {
            Some(leitstand) if is_page && request.malformed.is_none() => {
                Arc::clone(leitstand).answer(request, client).await
            }
            _ => Arc::clone(&self.gate).answer(request, client).await,
        }
    }

    fn client(&self, peer: IpAddr) -> Option<IpAddr> {
        self.gate.client(peer)
    }
}
