//! Admission: the checks that a request passes before it is carried out, in the order of D19. What reads is answered on the
//! snapshot on which its key was checked.

use std::sync::Arc;

use rusqlite::Connection;
use uuid::Uuid;

use super::completion::{RequestContext, reserve, shortened};
use super::idempotency::Repeatable;
use crate::platform::db::readers::{Lane, within};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::Gate;
use crate::platform::gate::access::address;
use crate::platform::gate::access::ip_limit::Limited;
use crate::platform::gate::access::key::{self, PresentedKey};
use crate::platform::http::call::{Call, Caller};
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::platform::http::route::{Access, Followed, Method, Route, Run, Wait, Write};
use crate::platform::http::router::split;
use crate::platform::http::{error, query};
use crate::rules::day::Instant;
use crate::rules::error::{Code, Hints, Refusal};

/// What came of the checks that need no key.
pub enum Head {
    Answered(Reply),
    /// Its key is whole, and this is its route by its place in the table, if there is one.
    OfKey(PresentedKey, Option<usize>),
}

/// What came of the checks of a request with a verified key, and of reading.
pub enum AfterChecks {
    Answered(Reply),
    /// It found nothing.
    WaitsForChange(Wait, Arc<Caller>),
    /// It computes much: it is for a thread that serves no sockets.
    IsHeavy,
    /// It reads what a body asks for, and that is not there yet.
    Asks(Admitted),
    Writes(Admitted),
}

/// A request that passed every check before its body.
#[derive(Clone)]
pub struct Admitted {
    pub route: &'static Route,
    pub caller: Arc<Caller>,
    ids: Vec<Option<Uuid>>,
}

impl Admitted {
    /// The same of an item, whose route is another and has no ids.
    pub fn of_item(&self, route: &'static Route) -> Admitted {
        Admitted { route, caller: Arc::clone(&self.caller), ids: Vec::new() }
    }
}

/// What came of reading the body of a request that writes.
pub enum Prepared {
    /// It was answered before.
    Repeated(Reply),
    Write(PreparedWrite),
}

/// A write that was checked and whose body was read; the writer does the rest.
pub struct PreparedWrite {
    pub caller: Arc<Caller>,
    write: Write,
    notes: Hints,
    /// What was sent, if the request has an Idempotency-Key.
    repeatable: Option<Repeatable>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    Socket,
    /// One for what computes much.
    Heavy,
    SlowLane,
}

impl Gate {
    pub(in crate::platform::gate) fn refuse(
        &self,
        failure: Failure,
        request: &Request,
        context: &mut RequestContext,
    ) -> Reply {
        let failure = self.limited_if_401(failure, context);
        let reply = error::reply(&failure, request.id);
        let allowed = || self.router.methods(&split(&request.path)).join(", ");
        if reply.status == 405 { reply.with("allow", allowed()) } else { reply }
    }

    /// The checks that need no key. Each line may end the request; nothing below it is looked at.
    pub(in crate::platform::gate) fn check_head(
        &self,
        request: &Request,
        context: &mut RequestContext,
    ) -> Result<Head> {
        if let Some(refusal) = &request.malformed {
            return Err(refusal.clone().into());
        }
        if let Some(reply) = self.policy.origins.preflight(request) {
            return Ok(Head::Answered(reply));
        }
        let found = self.router.find(Method::parse(&request.method), &split(&request.path));
        if let Some(reply) = self.open_path(request, found, context)? {
            return Ok(Head::Answered(reply));
        }
        self.check_critical_route(found, context)?;
        Ok(Head::OfKey(self.keys.presented(&request.headers)?, found))
    }

    /// Checks what a verified key may do, and answers a request that reads on the same snapshot.
    pub(in crate::platform::gate) fn check_and_read(
        &self,
        request: &Request,
        key: &PresentedKey,
        found: Option<usize>,
        context: &mut RequestContext,
        thread: Thread,
    ) -> Result<AfterChecks> {
        let (now, path) = ((self.clock)(), split(&request.path));
        let lane = if thread == Thread::SlowLane { Lane::Slow } else { Lane::Fast };
        self.readers.read(lane, |connection| {
            let caller = Arc::new(self.caller(connection, key, now, &mut context.refused_key)?);
            context.caller = Some(Arc::clone(&caller));
            context.allowance.get_or_insert_with(|| self.quota.take(&caller, now)).check()?;
            let at = found.ok_or_else(|| self.not_found(request, &path))?;
            let route = self.router.route(*context.route.insert(at));
            // The slow lane has the lowest priority: it must not hold a lock that each thread of the sockets takes.
            let is_slow = thread == Thread::SlowLane;
            let ticks = (!is_slow).then(|| self.shares.in_place(&caller.key_id, now));
            check_scope(route, &caller)?;
            let ids = self.router.ids(at, &path);
            let call = Call::new(request, route.query, ids.clone(), caller.strictness)?;
            if (route.is_heavy || is_slow) && !self.answers.has_room(&caller.key_id) {
                return Err(too_many_unread());
            }
            let admitted = Admitted { route, caller: Arc::clone(&caller), ids };
            if let Some(leaves) = leaves(admitted, request, thread) {
                return Ok(leaves);
            }
            let call = call.by(caller.scopes, context.looked.as_ref().map(|looked| looked.cursor.as_str()));
            let tx = Tx::new(connection, caller.tenant, now);
            let Followed { reply, wait } = self.run(&call, route, &tx, &caller, ticks)?;
            let must_answer = context.looked.as_ref().is_some_and(|looked| looked.is_last);
            Ok(match wait {
                Some(wait) if !must_answer => AfterChecks::WaitsForChange(wait, caller),
                _ => AfterChecks::Answered(self.counted(reply.with_notes(&call.notes), &caller, thread)?),
            })
        })
    }

    /// Runs a reading route; also how it waits, where it found nothing and wants to. In place it costs at most `ticks`; on
    /// the slow lane there is no such limit.
    fn run(
        &self,
        call: &Call<'_>,
        route: &Route,
        tx: &Tx<'_>,
        caller: &Caller,
        ticks: Option<u32>,
    ) -> Result<Followed> {
        let run = || match route.run {
            Run::Read(run) => Ok(Followed { reply: run(call, tx)?, wait: None }),
            Run::Follow(run) => run(call, tx),
            Run::Open(_) | Run::Status(_) | Run::Write(_) | Run::Draft(_) | Run::Each(_) => {
                Err(Failure::Broken("a route that does not read was to be read".into()))
            }
        };
        let Some(ticks) = ticks else { return run() };
        let (run, ticks) = within(ticks, run);
        self.shares.charge_read(&caller.key_id, ticks, tx.now());
        run
    }

    /// An answer that is made off the sockets takes its share of the memory there, before its request is told of it.
    fn counted(&self, reply: Reply, caller: &Caller, thread: Thread) -> Result<Reply> {
        match thread {
            Thread::Socket => Ok(reply),
            _ => reserve(reply, &self.answers, &caller.key_id, false).ok_or_else(too_many_unread),
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
        key::caller(connection, key, now).inspect_err(|failure| {
            if matches!(failure, Failure::Refused(_)) {
                self.keys.forget(key);
                *refused = Some(key.id.clone());
            }
        })
    }

    /// A route that the configuration names takes ten requests a minute from one address.
    pub(in crate::platform::gate) fn check_critical_route(
        &self,
        found: Option<usize>,
        context: &mut RequestContext,
    ) -> Result<()> {
        match found.filter(|at| self.critical[*at]) {
            Some(at) => self.limit_address(context, Limited::Route(at)),
            None => Ok(()),
        }
    }

    /// A request without a valid key counts against its address: from the eleventh in a minute on
    /// it is no longer 401 but 429 (D20). A valid key from the same address never suffers.
    fn limited_if_401(&self, failure: Failure, context: &mut RequestContext) -> Failure {
        let is_401 = matches!(&failure, Failure::Refused(refusal) if error::status(refusal.code) == 401);
        match is_401.then(|| self.limit_address(context, Limited::WithoutKey)) {
            Some(Err(too_many)) => too_many,
            _ => failure,
        }
    }

    fn limit_address(&self, context: &mut RequestContext, kind: Limited) -> Result<()> {
        let neighbourhood = address::neighbourhood(context.address);
        self.ip_limit.take(neighbourhood, kind, (self.clock)()).map_err(|seconds| {
            context.retry_after = Some(seconds);
            let message = format!("Zu viele Anfragen von dieser Adresse. Bitte {seconds} Sekunden warten.");
            Refusal::new(Code::ZuVieleAnfragen, message).into()
        })
    }

    /// Reads the body of a request that writes. Whether it was answered before is asked before every other check of the
    /// body (D19), and again by the writer.
    pub(in crate::platform::gate) fn prepare(
        &self,
        request: &Request,
        admitted: &Admitted,
    ) -> Result<Prepared> {
        let Admitted { route, caller, ids } = admitted;
        let call = Call::new(request, route.query, ids.clone(), caller.strictness)?;
        // What was written cannot be refused any more, so there must be room for its answer now.
        if !self.answers.has_room(&caller.key_id) {
            return Err(too_many_unread());
        }
        let repeatable = Repeatable::from_call(&call, caller)?;
        if let Some(repeatable) = &repeatable {
            let now = (self.clock)();
            let stored = |c: &Connection| repeatable.stored(&Tx::new(c, caller.tenant, now));
            if let Some(reply) = self.readers.read(Lane::Fast, stored)? {
                return Ok(Prepared::Repeated(reply));
            }
        }
        let write = match route.run {
            Run::Write(read_body) => read_body(&call)?,
            Run::Draft(draft) => {
                let now = (self.clock)();
                self.readers
                    .read(Lane::Slow, |connection| draft(&call, &Tx::new(connection, caller.tenant, now)))?
            }
            _ => return Err(Failure::Broken("a request that only reads was to be written".into())),
        };
        Ok(Prepared::Write(PreparedWrite {
            caller: Arc::clone(caller),
            write,
            notes: call.notes,
            repeatable,
        }))
    }

    /// The answer of a path that needs no key.
    fn open_path(
        &self,
        request: &Request,
        found: Option<usize>,
        context: &mut RequestContext,
    ) -> Result<Option<Reply>> {
        if found.is_none() && request.path == "/" && matches!(request.method.as_str(), "GET" | "HEAD") {
            // Who types the address into a browser wants to know what this is.
            return Ok(Some(Reply { status: 303, ..Reply::default() }.with("location", "/docs")));
        }
        let is_open = |at: &usize| self.router.route(*at).access == Access::Open;
        let Some(at) = found.filter(is_open) else { return Ok(None) };
        let route = self.router.route(*context.route.insert(at));
        let call = Call::new(request, route.query, Vec::new(), Default::default())?;
        match route.run {
            Run::Open(run) => run(&call).map(Some),
            Run::Status(run) => run(&call, self).map(Some),
            Run::Read(_) | Run::Follow(_) | Run::Write(_) | Run::Draft(_) | Run::Each(_) => Ok(None),
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

/// How a request goes on that is not answered here, on this snapshot.
fn leaves(admitted: Admitted, request: &Request, thread: Thread) -> Option<AfterChecks> {
    let route = admitted.route;
    match route.run {
        Run::Write(_) | Run::Draft(_) | Run::Each(_) => Some(AfterChecks::Writes(admitted)),
        _ if route.takes.is_some() && request.body.is_awaited() => Some(AfterChecks::Asks(admitted)),
        _ if route.is_heavy && thread == Thread::Socket => Some(AfterChecks::IsHeavy),
        _ => None,
    }
}

impl PreparedWrite {
    /// Carries it out, or gives the answer of the first time.
    pub(in crate::platform::gate) fn run_or_repeat(&self, tx: &WriteTx<'_>) -> Result<Reply> {
        let Some(repeatable) = &self.repeatable else { return Ok((self.write)(tx)?.with_notes(&self.notes)) };
        if let Some(reply) = repeatable.stored(tx)? {
            return Ok(reply);
        }
        let reply = (self.write)(tx)?.with_notes(&self.notes);
        repeatable.keep(tx, &reply)?;
        Ok(reply)
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
