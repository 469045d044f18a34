//! Admission: the stages of a request, and the checks that it passes before it is carried out, in the order
//! of D19. A read runs on the snapshot on which its key was checked.

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

/// Where a request stands on its way through `Gate::outcome`; each step may refuse it instead.
pub enum Stage {
    /// Its head is valid; its key is not verified yet.
    Claims(Claim),
    /// It passed the checks, but computes too much for a thread that serves sockets.
    IsHeavy,
    /// It passed the checks, and reads what its body asks for: the body must be received first.
    NeedsBody(Admitted),
    /// It read, found nothing, and reads again after the next change.
    WaitsForChange(Wait, Arc<Caller>),
    /// It passed the checks, and writes.
    Writes(Admitted),
    /// Its body was read and checked: the rest is for the writer.
    Prepared(PreparedWrite),
    /// It is done.
    Answered(Reply),
}

/// What the head of a request presents. Nothing of it is proved but the form of the key.
#[derive(Clone)]
pub struct Claim {
    pub key: PresentedKey,
    /// The index of its route in the table; none where no route has the path and method.
    route: Option<usize>,
}

/// A request that passed every check before its body.
#[derive(Clone)]
pub struct Admitted {
    pub route: &'static Route,
    pub caller: Arc<Caller>,
    ids: Vec<Option<Uuid>>,
}

/// A write that the writer can run; its body was read and checked.
pub struct PreparedWrite {
    pub caller: Arc<Caller>,
    write: Write,
    notes: Hints,
    /// What was sent, if the request has an Idempotency-Key.
    repeatable: Option<Repeatable>,
}

/// An admitted request that is about to run.
struct Plan<'r> {
    admitted: Admitted,
    call: Call<'r>,
    /// What a read may cost on this thread; none: as much as it needs.
    ticks: Option<u32>,
}

impl Stage {
    /// The answer of a request that is done; a fault of ours where it is not.
    pub fn answer(self) -> Result<Reply> {
        match self {
            Stage::Answered(reply) => Ok(reply),
            Stage::IsHeavy => Err(Failure::Broken("heavy work found no thread".into())),
            _ => Err(Failure::Broken("a request stopped on its way".into())),
        }
    }
}

impl Admitted {
    /// The same for an item of a bulk request, whose route is another and has no ids.
    pub fn of_item(&self, route: &'static Route) -> Admitted {
        Admitted { route, caller: Arc::clone(&self.caller), ids: Vec::new() }
    }
}

/// The thread on which a request is checked and read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    Socket,
    /// One of the CPU pool.
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
    ) -> Result<Stage> {
        if let Some(refusal) = &request.malformed {
            return Err(refusal.clone().into());
        }
        if let Some(reply) = self.policy.origins.preflight(request) {
            return Ok(Stage::Answered(reply));
        }
        let route = self.router.find(Method::parse(&request.method), &split(&request.path));
        if let Some(reply) = self.open_path(request, route, context)? {
            return Ok(Stage::Answered(reply));
        }
        self.check_critical_route(route, context)?;
        Ok(Stage::Claims(Claim { key: self.keys.presented(&request.headers)?, route }))
    }

    /// Checks what a verified key may do, and answers a request that reads on the same snapshot.
    pub(in crate::platform::gate) fn check_and_read(
        &self,
        request: &Request,
        claim: &Claim,
        context: &mut RequestContext,
        thread: Thread,
    ) -> Result<Stage> {
        let now = (self.clock)();
        let lane = if thread == Thread::SlowLane { Lane::Slow } else { Lane::Fast };
        self.readers.read(lane, |connection| {
            let caller = self.authorise(connection, &claim.key, context, now)?;
            let tx = Tx::new(connection, caller.tenant, now);
            let plan = self.plan(request, claim.route, caller, context, thread, now)?;
            self.execute(plan, &tx, context, thread)
        })
    }

    /// Finds whose key it is, and counts the request against the day of the key.
    fn authorise(
        &self,
        connection: &Connection,
        key: &PresentedKey,
        context: &mut RequestContext,
        now: Instant,
    ) -> Result<Arc<Caller>> {
        let caller = key::caller(connection, key, now).inspect_err(|failure| {
            if matches!(failure, Failure::Refused(_)) {
                // It is verified again the next time.
                self.keys.forget(key);
                context.refused_key = Some(key.id.clone());
            }
        })?;
        let caller = Arc::new(caller);
        context.caller = Some(Arc::clone(&caller));
        // A request that runs again was counted the first time.
        context.allowance.get_or_insert_with(|| self.quota.take(&caller, now)).check()?;
        Ok(caller)
    }

    /// Checks what the request asks for: the route, the scope, the parameters, the room for its answer.
    fn plan<'r>(
        &self,
        request: &'r Request,
        route: Option<usize>,
        caller: Arc<Caller>,
        context: &mut RequestContext,
        thread: Thread,
        now: Instant,
    ) -> Result<Plan<'r>> {
        let path = split(&request.path);
        let at = route.ok_or_else(|| self.not_found(request, &path))?;
        let route = self.router.route(*context.route.insert(at));
        // The slow lane has the lowest priority: it must not hold a lock that each thread of the sockets
        // takes.
        let ticks = (thread != Thread::SlowLane).then(|| self.shares.in_place(&caller.key_id, now));
        check_scope(route, &caller)?;
        let ids = self.router.ids(at, &path);
        let call = Call::new(request, route.query, ids.clone(), caller.strictness)?;
        let may_answer_much = route.is_heavy || thread == Thread::SlowLane;
        if may_answer_much && !self.answers.has_room(&caller.key_id) {
            return Err(too_many_unread());
        }
        Ok(Plan { admitted: Admitted { route, caller, ids }, call, ticks })
    }

    /// Reads, unless the request must go on elsewhere.
    fn execute<'r>(
        &self,
        plan: Plan<'r>,
        tx: &Tx<'_>,
        context: &'r RequestContext,
        thread: Thread,
    ) -> Result<Stage> {
        let Plan { admitted, call, ticks } = plan;
        let route = admitted.route;
        if matches!(route.run, Run::Write(_) | Run::Draft(_) | Run::Each(_)) {
            return Ok(Stage::Writes(admitted));
        }
        if route.takes.is_some() && call.request.body.is_awaited() {
            return Ok(Stage::NeedsBody(admitted));
        }
        if route.is_heavy && thread == Thread::Socket {
            return Ok(Stage::IsHeavy);
        }
        let (caller, looked) = (admitted.caller, context.looked.as_ref());
        let call = call.by(caller.scopes, looked.map(|looked| looked.cursor.as_str()));
        let Followed { reply, wait } = self.run(&call, route, tx, &caller, ticks)?;
        match wait {
            Some(wait) if !looked.is_some_and(|looked| looked.is_last) => {
                Ok(Stage::WaitsForChange(wait, caller))
            }
            _ => self.counted(reply.with_notes(&call.notes), &caller, thread).map(Stage::Answered),
        }
    }

    /// Runs a reading route within `ticks`; also returns what it waits for, if it found nothing and wants to
    /// wait.
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

    /// Reserves memory for an answer that was made off the sockets, before its request gets it.
    fn counted(&self, reply: Reply, caller: &Caller, thread: Thread) -> Result<Reply> {
        match thread {
            Thread::Socket => Ok(reply),
            _ => reserve(reply, &self.answers, &caller.key_id, false).ok_or_else(too_many_unread),
        }
    }

    /// Refuses the eleventh request of a minute that one address sends to a route of the setting
    /// `critical_routes`.
    pub(in crate::platform::gate) fn check_critical_route(
        &self,
        route: Option<usize>,
        context: &mut RequestContext,
    ) -> Result<()> {
        match route.filter(|at| self.critical[*at]) {
            Some(at) => self.limit_address(context, Limited::Route(at)),
            None => Ok(()),
        }
    }

    /// Counts a request without a valid key against its address: from the eleventh in a minute on it is no
    /// longer 401 but 429 (D20). Valid keys from the same address are not affected.
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

    /// Reads and checks the body of a request that writes. A stored answer of its Idempotency-Key comes
    /// before every other check of the body (D19); the writer looks for one again.
    pub(in crate::platform::gate) fn prepare(&self, request: &Request, admitted: &Admitted) -> Result<Stage> {
        let Admitted { route, caller, ids } = admitted;
        let call = Call::new(request, route.query, ids.clone(), caller.strictness)?;
        // After the write it is too late to refuse, so there must be room for its answer now.
        if !self.answers.has_room(&caller.key_id) {
            return Err(too_many_unread());
        }
        let repeatable = Repeatable::from_call(&call, caller)?;
        if let Some(repeatable) = &repeatable {
            let now = (self.clock)();
            let stored = |c: &Connection| repeatable.stored(&Tx::new(c, caller.tenant, now));
            if let Some(reply) = self.readers.read(Lane::Fast, stored)? {
                return Ok(Stage::Answered(reply));
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
        Ok(Stage::Prepared(PreparedWrite {
            caller: Arc::clone(caller),
            write,
            notes: call.notes,
            repeatable,
        }))
    }

    /// Answers a path that needs no key.
    fn open_path(
        &self,
        request: &Request,
        route: Option<usize>,
        context: &mut RequestContext,
    ) -> Result<Option<Reply>> {
        if route.is_none() && request.path == "/" && matches!(request.method.as_str(), "GET" | "HEAD") {
            // For people who type the address into a browser.
            return Ok(Some(Reply { status: 303, ..Reply::default() }.with("location", "/docs")));
        }
        let is_open = |at: &usize| self.router.route(*at).access == Access::Open;
        let Some(at) = route.filter(is_open) else { return Ok(None) };
        let route = self.router.route(*context.route.insert(at));
        let call = Call::new(request, route.query, Vec::new(), Default::default())?;
        match route.run {
            Run::Open(run) => run(&call).map(Some),
            Run::Status(run) => run(&call, self).map(Some),
            Run::Read(_) | Run::Follow(_) | Run::Write(_) | Run::Draft(_) | Run::Each(_) => Ok(None),
        }
    }

    /// 404 if no route has the path, 405 if routes have it, but not the method.
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

impl PreparedWrite {
    /// Runs the write, or returns the stored answer of its first run.
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

/// The refusal of a further large answer to a key whose clients do not read theirs.
fn too_many_unread() -> Failure {
    Failure::Busy("the answers that its key has not read yet fill its share of the memory".into())
}
