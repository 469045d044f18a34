//! Admission: the checks that a request passes before it is carried out. [`Gate::check`] reads like the list in D19.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;

use super::completion::{Trail, shortened};
use super::idempotency::Repeatable;
use super::ip_limit::Limited;
use super::key::{self, PresentedKey};
use super::{Gate, address};
use crate::db::error::exceeded_budget;
use crate::db::readers::{Lane, within};
use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::http::call::{Call, Caller};
use crate::http::reply::Reply;
use crate::http::request::{Body, Request};
use crate::http::route::{Access, BodyLimit, Followed, Method, Route, Run, Wait, Write};
use crate::http::router::split;
use crate::http::{error, query};
use crate::rules::day::Instant;
use crate::rules::error::{Code, Hints, Refusal};

/// What the checks came to: an answer, or who has to take the request on.
pub enum Admission {
    /// It is answered.
    Reply(Reply),
    /// It must wait until its key is verified.
    Verify(PresentedKey),
    /// It must go on on the slow lane: its statement takes long.
    Slow,
    /// It must go on on a thread that serves no sockets: there is much to compute.
    Heavy,
    /// Its body must be read first.
    Body(BodyLimit),
    /// The writer has to do the rest.
    Write(PreparedWrite),
    /// Each item of its body is a request to the route with this path.
    Each(&'static str),
    /// There is nothing to answer yet: it waits for a change.
    Wait(Wait),
}

/// A write that was checked and whose body was read; the writer does the rest.
pub struct PreparedWrite {
    pub write: Write,
    /// Notes that go with the answer.
    pub notes: Hints,
    /// What was sent, if the request has an Idempotency-Key.
    pub repeatable: Option<Repeatable>,
}

/// What reads the body of a writing request.
type ReadBody = fn(&Call<'_>) -> Result<Write>;

/// A request that passed every check of the gate.
enum Admitted<'r> {
    Reply(Reply),
    Followed(Followed),
    Each(&'static str),
    Heavy,
    Body(BodyLimit),
    ToWrite(Call<'r>, ReadBody),
}

impl Gate {
    /// Checks a request and, where it reads, carries it out in this lane.
    pub(super) fn admit(&self, request: &Request, trail: &mut Trail, lane: Lane) -> Admission {
        // A panic is a bug; it has its answer and its audit row like any other fault of ours.
        let passed = catch_unwind(AssertUnwindSafe(|| self.check(request, trail, lane)));
        match passed.unwrap_or_else(|_| Err(Failure::Broken("a request panicked".into()))) {
            Ok(admission) => admission,
            Err(failure) if exceeded_budget(&failure) && lane == Lane::Fast => Admission::Slow,
            Err(failure) => self.refuse(failure, request, trail),
        }
    }

    /// The answer to a failure.
    pub(super) fn refuse(&self, failure: Failure, request: &Request, trail: &mut Trail) -> Admission {
        let failure = self.without_key(failure, trail);
        let reply = error::reply(&failure, request.id);
        let allowed = || self.router.methods(&split(&request.path)).join(", ");
        Admission::Reply(if reply.status == 405 { reply.with("allow", allowed()) } else { reply })
    }

    /// The order of checks (D19). Each line may end the request; nothing below it is looked at.
    fn check(&self, request: &Request, trail: &mut Trail, lane: Lane) -> Result<Admission> {
        if let Some(refusal) = &request.malformed {
            return Err(refusal.clone().into());
        }
        if let Some(reply) = self.origins.preflight(request) {
            return Ok(Admission::Reply(reply));
        }
        let path = split(&request.path);
        let found = self.router.find(Method::parse(&request.method), &path);
        if let Some(reply) = self.open_path(request, found, trail)? {
            return Ok(Admission::Reply(reply));
        }
        self.check_critical_route(found, trail)?;
        let key = self.keys.presented(&request.headers)?;
        if !trail.verified && !self.keys.is_verified(&key) {
            return Ok(Admission::Verify(key));
        }
        self.check_with_key(request, &path, found, &key, trail, lane)
    }

    /// The rest of the order: what a verified key may do, on the snapshot on which a reading request is answered.
    fn check_with_key(
        &self,
        request: &Request,
        path: &[&str],
        found: Option<usize>,
        key: &PresentedKey,
        trail: &mut Trail,
        lane: Lane,
    ) -> Result<Admission> {
        let now = (self.clock)();
        let passed = self.readers.read(lane, |connection| {
            let caller = trail.caller.insert(self.caller(connection, key, now, &mut trail.refused_key)?);
            trail.allowance.get_or_insert_with(|| self.quota.take(caller, now)).check()?;
            let at = found.ok_or_else(|| self.not_found(request, path))?;
            let route = self.router.route(*trail.route.insert(at));
            let looks = self.shares.in_place(&caller.key_id, now);
            check_scope(route, caller)?;
            let call = Call::new(request, route.query, self.router.ids(at, path), caller.strictness)?;
            let call = call.by(caller.scopes, trail.waited.as_ref().map(|waited| waited.cursor.as_str()));
            if (route.is_heavy || lane == Lane::Slow) && !self.answers.has_room(&caller.key_id) {
                return Err(too_many_unread());
            }
            // What a heavy route reads of a body is heavy, not whether it is allowed to.
            if route.is_heavy && !trail.off_sockets && !matches!(route.run, Run::Write(_)) {
                return Ok(Admitted::Heavy);
            }
            let tx = Tx::new(connection, caller.tenant, now);
            if lane == Lane::Slow {
                return self.answer_or_prepare(call, route, &tx);
            }
            let (admitted, looks) = within(looks, || self.answer_or_prepare(call, route, &tx));
            self.shares.has_read(&caller.key_id, looks, now);
            admitted
        })?;
        self.go_on(passed, trail, lane)
    }

    /// What comes next for a request that passed.
    fn go_on(&self, passed: Admitted<'_>, trail: &Trail, lane: Lane) -> Result<Admission> {
        match passed {
            Admitted::Reply(reply) => Ok(Admission::Reply(reply)),
            Admitted::Followed(Followed { wait: Some(wait), .. }) if !trail.must_answer() => {
                Ok(Admission::Wait(wait))
            }
            Admitted::Followed(followed) => Ok(Admission::Reply(followed.reply)),
            Admitted::Each(single) => Ok(Admission::Each(single)),
            Admitted::Heavy => Ok(Admission::Heavy),
            Admitted::Body(limit) => Ok(Admission::Body(limit)),
            Admitted::ToWrite(call, read_body) => self.prepare_write(call, read_body, trail, lane),
        }
    }

    /// Whose key it is. One that is refused is verified again the next time.
    fn caller(
        &self,
        connection: &Connection,
        key: &PresentedKey,
        now: Instant,
        refused: &mut Option<String>,
    ) -> Result<Caller> {
        key::caller(connection, key, now).inspect_err(|_| {
            self.keys.forget(key);
            *refused = Some(key.id.clone());
        })
    }

    /// Answers a request that reads; one that writes goes on with its body.
    fn answer_or_prepare<'r>(&self, call: Call<'r>, route: &Route, tx: &Tx<'_>) -> Result<Admitted<'r>> {
        match route.run {
            Run::Open(run) => run(&call).map(Admitted::Reply),
            Run::Status(run) => run(&call, self).map(Admitted::Reply),
            Run::Read(run) => Ok(Admitted::Reply(run(&call, tx)?.with_notes(&call.notes))),
            Run::Follow(run) => {
                let Followed { reply, wait } = run(&call, tx)?;
                Ok(Admitted::Followed(Followed { reply: reply.with_notes(&call.notes), wait }))
            }
            Run::Write(_) | Run::Each(_) if matches!(call.request.body, Body::Awaited) => {
                Ok(Admitted::Body(route.body))
            }
            Run::Each(single) => Ok(Admitted::Each(single)),
            Run::Write(read_body) => Ok(Admitted::ToWrite(call, read_body)),
        }
    }

    /// Checks the body of a request that passed every check before it.
    pub(super) fn admit_body(&self, request: &Request, trail: &mut Trail) -> Admission {
        if let Some(Run::Each(single)) = trail.route.map(|at| self.router.route(at).run) {
            return Admission::Each(single);
        }
        let prepared = catch_unwind(AssertUnwindSafe(|| {
            let (call, read_body) = self.call_of(request, trail)?;
            self.prepare_write(call, read_body, trail, Lane::Fast)
        }));
        let prepared = prepared.unwrap_or_else(|_| Err(Failure::Broken("a request panicked".into())));
        prepared.unwrap_or_else(|failure| self.refuse(failure, request, trail))
    }

    /// A route that the configuration names takes ten requests a minute from one address.
    pub(super) fn check_critical_route(&self, found: Option<usize>, trail: &mut Trail) -> Result<()> {
        let Some(at) = found.filter(|at| self.critical[*at] && !trail.counted_for_address) else {
            return Ok(());
        };
        trail.counted_for_address = true;
        self.limit_address(trail, Limited::Route(at))
    }

    /// A request without a valid key counts against its address: from the eleventh in a minute on
    /// it is no longer 401 but 429 (D20). A valid key from the same address never suffers.
    fn without_key(&self, failure: Failure, trail: &mut Trail) -> Failure {
        let is_401 = matches!(&failure, Failure::Refused(refusal) if error::status(refusal.code) == 401);
        match is_401.then(|| self.limit_address(trail, Limited::WithoutKey)) {
            Some(Err(too_many)) => too_many,
            _ => failure,
        }
    }

    fn limit_address(&self, trail: &mut Trail, kind: Limited) -> Result<()> {
        let neighbourhood = address::neighbourhood(trail.address);
        self.ip_limit.take(neighbourhood, kind, (self.clock)()).map_err(|seconds| {
            trail.retry_after = Some(seconds);
            let message = format!("Zu viele Anfragen von dieser Adresse. Bitte {seconds} Sekunden warten.");
            Refusal::new(Code::ZuVieleAnfragen, message).into()
        })
    }

    /// Reads the body of a writing request. Whether it was answered before is asked before every
    /// other check of the body (D19), and again by the writer.
    fn prepare_write(
        &self,
        call: Call<'_>,
        read_body: ReadBody,
        trail: &Trail,
        lane: Lane,
    ) -> Result<Admission> {
        let Some(caller) = &trail.caller else {
            return Err(Failure::Broken("a request without a caller was to be written".into()));
        };
        // What was written cannot be refused any more, so there must be room for its answer now.
        if !self.answers.has_room(&caller.key_id) {
            return Err(too_many_unread());
        }
        let repeatable = Repeatable::from_call(&call, caller)?.map(|repeatable| (repeatable, caller.tenant));
        if let Some((repeatable, tenant)) = &repeatable {
            let now = (self.clock)();
            let stored = self.readers.read(lane, |c| repeatable.stored(&Tx::new(c, *tenant, now)))?;
            if let Some(reply) = stored {
                return Ok(Admission::Reply(reply));
            }
        }
        let write = read_body(&call)?;
        let repeatable = repeatable.map(|(repeatable, _)| repeatable);
        Ok(Admission::Write(PreparedWrite { write, notes: call.notes, repeatable }))
    }

    /// The call of a writing request that was found and allowed before its body was read.
    fn call_of<'r>(&self, request: &'r Request, trail: &Trail) -> Result<(Call<'r>, ReadBody)> {
        let (Some(at), Some(caller)) = (trail.route, &trail.caller) else {
            return Err(Failure::Broken("a request without a route or a caller was to be written".into()));
        };
        let route = self.router.route(at);
        let Run::Write(read_body) = route.run else {
            return Err(Failure::Broken("a request that only reads was to be written".into()));
        };
        let ids = self.router.ids(at, &split(&request.path));
        Ok((Call::new(request, route.query, ids, caller.strictness)?, read_body))
    }

    /// The answer of a path that needs no key.
    fn open_path(&self, request: &Request, found: Option<usize>, trail: &mut Trail) -> Result<Option<Reply>> {
        if found.is_none() && request.path == "/" && matches!(request.method.as_str(), "GET" | "HEAD") {
            // Who types the address into a browser wants to know what this is.
            return Ok(Some(Reply { status: 303, ..Reply::default() }.with("location", "/docs")));
        }
        let is_open = |at: &usize| self.router.route(*at).access == Access::Open;
        let Some(at) = found.filter(is_open) else { return Ok(None) };
        let route = self.router.route(*trail.route.insert(at));
        let call = Call::new(request, route.query, Vec::new(), Default::default())?;
        match route.run {
            Run::Open(run) => run(&call).map(Some),
            Run::Status(run) => run(&call, self).map(Some),
            Run::Read(_) | Run::Follow(_) | Run::Write(_) | Run::Each(_) => Ok(None),
        }
    }

    /// 404 where no route has the path, 405 where none of them has the method.
    fn not_found(&self, request: &Request, path: &[&str]) -> Failure {
        let methods = self.router.methods(path);
        if !methods.is_empty() {
            let message = format!("Hier sind nur diese Methoden erlaubt: {}.", methods.join(", "));
            return Refusal::new(Code::MethodeNichtErlaubt, message).into();
        }
        match query::decode(&request.path) {
            Ok(path) => {
                let message = format!("Den Pfad {} gibt es nicht. GET /api/v1 nennt alle.", shortened(&path));
                Refusal::new(Code::NichtGefunden, message).into()
            }
            Err(refusal) => refusal.into(),
        }
    }
}

fn check_scope(route: &Route, caller: &Caller) -> Result<()> {
    match route.access {
        Access::Scope(scope) if !caller.scopes.contains(scope) => {
            let message = format!("Dem Schlüssel fehlt die Berechtigung {}.", scope.as_str());
            Err(Refusal::new(Code::ScopeFehlt, message).into())
        }
        Access::Scope(_) | Access::AnyKey | Access::Open => Ok(()),
    }
}

/// A key whose clients do not read their answers gets no further large ones.
fn too_many_unread() -> Failure {
    Failure::Busy("the answers that its key has not read yet fill its share of the memory".into())
}
