//! The gate: what happens to every request, in one order (D19).

mod address;
pub mod audit;
mod idempotency;
mod ip_limit;
pub mod key;
pub mod metrics;
pub mod quota;
pub mod verifying;

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::db::Clock;
use crate::db::error::{Failure, Result};
use crate::db::readers::{Lane, Readers};
use crate::db::tx::{Tx, WriteTx};
use crate::db::writer::{Batch, Job, WriterQueue};
use crate::http::call::{Call, Caller, Request};
use crate::http::reply::Reply;
use crate::http::route::{Access, BodyLimit, Inside, Method, Route, Run, WriteWork};
use crate::http::server::{Answering, Outcome};
use crate::http::{error, query};
use crate::rules::error::{Code, Hints, Refusal};
use audit::{Journal, Row};
use idempotency::Repeatable;
use ip_limit::{IpLimit, Kind};
use key::{Keys, PresentedKey};
use metrics::Metrics;
use quota::{Allowance, Quota};
use verifying::Verifying;

/// Everything a request meets.
pub struct Gate {
    /// All routes.
    pub routes: Vec<&'static Route>,
    /// The number of each route in the audit log.
    pub route_ids: Vec<i64>,
    /// Connections to read with.
    pub readers: Readers,
    /// The way to the writer.
    pub writer: WriterQueue,
    /// What is known of keys.
    pub keys: Arc<Keys>,
    /// Where keys are verified.
    pub verifying: Verifying,
    /// What each key has used of its day.
    pub quota: Arc<Quota>,
    /// Critical requests of each address.
    pub ip_limit: IpLimit,
    /// Which routes the configuration names as critical, in the order of the routes.
    pub critical: Vec<bool>,
    /// Networks of proxies whose X-Forwarded-For counts.
    pub proxies: Vec<IpNet>,
    /// Everybody may read the metrics, not only this machine.
    pub public_metrics: bool,
    /// What is measured.
    pub metrics: Metrics,
    /// Audit rows of reads.
    pub journal: Arc<Journal>,
    /// The time.
    pub clock: Clock,
}

/// What the configuration says of clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Networks of proxies whose X-Forwarded-For counts.
    pub proxies: Vec<IpNet>,
    /// Routes that one address may use ten times a minute, as `POST /api/v1/kunden`.
    pub critical_routes: Vec<String>,
    /// Everybody may read the metrics, not only this machine.
    pub public_metrics: bool,
}

/// How long the writer may be at work without looking around before the service is not ready.
const WRITER_SILENT_AT_MOST: Duration = Duration::from_secs(10);

/// How far a request came in place.
enum Step {
    /// It is answered.
    Reply(Reply),
    /// It must wait until its key is verified.
    Verify(PresentedKey),
    /// It must go on on the slow lane: its statement takes long.
    Slow,
    /// The writer has to do the rest.
    Write(Writing),
}

/// What the writer has to do for a request.
struct Writing {
    work: WriteWork,
    /// Notes that go with the answer.
    notes: Hints,
    /// The request has an Idempotency-Key.
    repeatable: Option<Repeatable>,
}

/// A request that passed every check of the gate.
enum Passed<'r> {
    Reply(Reply),
    ToWrite(Call<'r>, fn(&Call<'_>) -> Result<WriteWork>),
}

/// What is known of a request on its way, besides what it says itself.
struct Trail {
    /// Where it comes from.
    address: IpAddr,
    caller: Option<Caller>,
    route: Option<usize>,
    /// The hash of its key was verified for it.
    verified: bool,
    /// What its key has left; set when it was counted.
    allowance: Option<Allowance>,
    /// It was counted as one of a critical route.
    counted_for_address: bool,
    /// Seconds until its address may come again.
    retry_after: Option<i64>,
}

impl Trail {
    fn of(address: IpAddr) -> Trail {
        let (caller, route, allowance, retry_after) = (None, None, None, None);
        Trail { address, caller, route, verified: false, allowance, counted_for_address: false, retry_after }
    }

    /// The answer with what the client is told about its limits.
    fn dressed(&self, reply: Reply) -> Reply {
        let reply = match self.allowance {
            Some(allowance) => allowance.shown_in(reply),
            None => reply,
        };
        match self.retry_after {
            Some(seconds) => reply.with("retry-after", seconds.to_string()),
            None => reply,
        }
    }
}

impl Answering for Gate {
    fn answer(self: Arc<Gate>, request: Request) -> Outcome {
        let mut trail = Trail::of(address::client(request.peer, &request.headers, &self.proxies));
        match self.step(&request, &mut trail, Lane::Fast) {
            Step::Reply(reply) => Outcome::Done(self.recorded(&request, trail, reply)),
            step => {
                let (answer, receiver) = oneshot::channel();
                self.go_on(step, request, trail, answer);
                Outcome::Later(receiver)
            }
        }
    }

    fn body_limit(&self, head: &hyper::http::request::Parts) -> usize {
        // What a stranger sends is read and thrown away: the answer is 401 whatever it is.
        if self.keys.presented(&head.headers).is_err() {
            return 0;
        }
        let path = split(head.uri.path());
        let method = Method::parse(head.method.as_str());
        let mut routes = self.routes.iter().filter(|route| Some(route.method) == method);
        let route = routes.find(|route| route.matches(&path).is_some());
        route.map_or(BodyLimit::Ordinary, |route| route.body).bytes()
    }

    fn unavailable(&self, request_id: Uuid) -> Reply {
        error::unavailable(request_id)
    }
}

impl Gate {
    /// Takes a request on from where it is. A client that hung up gets no answer; its row is
    /// written all the same.
    fn go_on(self: &Arc<Gate>, step: Step, request: Request, trail: Trail, answer: Answer) {
        match step {
            Step::Reply(reply) => drop(answer.send(self.recorded(&request, trail, reply))),
            Step::Write(writing) => self.write(request, trail, writing, answer),
            Step::Verify(key) => self.verify(&key, request, trail, answer),
            Step::Slow => self.go_slow(request, trail, answer),
        }
    }

    /// Waits for the thread that verifies keys.
    fn verify(self: &Arc<Gate>, key: &PresentedKey, request: Request, mut trail: Trail, answer: Answer) {
        let gate = Arc::clone(self);
        let go_on = move |verified: Result<()>| {
            let step = match verified {
                Ok(()) => {
                    trail.verified = true;
                    gate.step(&request, &mut trail, Lane::Fast)
                }
                Err(failure) => gate.refuse(failure, &request, &mut trail),
            };
            gate.go_on(step, request, trail, answer);
        };
        if let Err(go_on) = self.verifying.submit(key, Box::new(go_on)) {
            go_on(Err(Failure::Busy("too many keys wait to be verified".into())));
        }
    }

    /// Waits for a thread of the slow lane.
    fn go_slow(self: &Arc<Gate>, request: Request, mut trail: Trail, answer: Answer) {
        let gate = Arc::clone(self);
        let go_on = move |has_thread: bool| {
            let step = match has_thread {
                true => gate.step(&request, &mut trail, Lane::Slow),
                false => gate.refuse(Failure::Busy("too many long reads wait".into()), &request, &mut trail),
            };
            gate.go_on(step, request, trail, answer);
        };
        if let Err(go_on) = self.readers.submit_slow(Box::new(go_on)) {
            go_on(false);
        }
    }

    fn step(&self, request: &Request, trail: &mut Trail, lane: Lane) -> Step {
        // A panic is a bug; it has its answer and its audit row like any other fault of ours.
        let passed = catch_unwind(AssertUnwindSafe(|| self.pass(request, trail, lane)));
        match passed.unwrap_or_else(|_| Err(Failure::Broken("a request panicked".into()))) {
            Ok(step) => step,
            Err(failure) if failure.exceeded_budget() && lane == Lane::Fast => Step::Slow,
            Err(failure) => self.refuse(failure, request, trail),
        }
    }

    fn refuse(&self, failure: Failure, request: &Request, trail: &mut Trail) -> Step {
        let failure = self.without_key(failure, trail);
        let reply = error::reply(&failure, request.id);
        let allowed = || self.allowed(&split(&request.path)).join(", ");
        Step::Reply(if reply.status == 405 { reply.with("allow", allowed()) } else { reply })
    }

    /// The order of checks (D19). Each line may end the request; nothing below it is looked at.
    fn pass(&self, request: &Request, trail: &mut Trail, lane: Lane) -> Result<Step> {
        if let Some(refusal) = &request.malformed {
            return Err(refusal.clone().into());
        }
        let path = split(&request.path);
        if let Some(reply) = self.open_path(request, &path, trail)? {
            return Ok(Step::Reply(reply));
        }
        self.check_critical_route(request, &path, trail)?;
        let key = self.keys.presented(&request.headers)?;
        if !trail.verified && !self.keys.is_verified(&key) {
            return Ok(Step::Verify(key));
        }
        let now = (self.clock)();
        let passed = self.readers.read(lane, |connection| {
            let caller = key::caller(connection, &key, now).inspect_err(|_| self.keys.forget(&key))?;
            let caller = trail.caller.insert(caller);
            trail.allowance.get_or_insert_with(|| self.quota.take(caller, now)).check()?;
            let (at, ids) = self.find(request, &path)?;
            let route = self.routes[*trail.route.insert(at)];
            check_scope(route, caller)?;
            let call = Call::new(request, route, ids, caller.strictness)?;
            match route.run {
                Run::Open(run) => run(&call).map(Passed::Reply),
                Run::Inside(run) => run(&call, self).map(Passed::Reply),
                Run::Read(run) => {
                    let reply = run(&call, &Tx::new(connection, caller.tenant, now))?;
                    Ok(Passed::Reply(reply.with_notes(&call.notes)))
                }
                Run::Write(read_body) => Ok(Passed::ToWrite(call, read_body)),
            }
        })?;
        match passed {
            Passed::Reply(reply) => Ok(Step::Reply(reply)),
            // Bodies are read when the snapshot is closed: Base64 of 10 MiB takes its time.
            Passed::ToWrite(call, read_body) => self.prepare(call, read_body, trail, lane),
        }
    }

    /// A route that the configuration names takes ten requests a minute from one address.
    fn check_critical_route(&self, request: &Request, path: &[&str], trail: &mut Trail) -> Result<()> {
        let method = Method::parse(&request.method);
        let is_it = |at: &usize| {
            let route = self.routes[*at];
            self.critical[*at] && Some(route.method) == method && route.matches(path).is_some()
        };
        if !self.critical.contains(&true) || trail.counted_for_address {
            return Ok(());
        }
        let Some(at) = (0..self.routes.len()).find(is_it) else { return Ok(()) };
        trail.counted_for_address = true;
        self.limit_address(trail, Kind::Route(at))
    }

    /// A request without a valid key counts against its address: from the eleventh in a minute on
    /// it is no longer 401 but 429 (D20). A valid key from the same address never suffers.
    fn without_key(&self, failure: Failure, trail: &mut Trail) -> Failure {
        let is_401 = matches!(&failure, Failure::Refused(refusal) if error::status(refusal.code) == 401);
        match is_401.then(|| self.limit_address(trail, Kind::WithoutKey)) {
            Some(Err(too_many)) => too_many,
            _ => failure,
        }
    }

    fn limit_address(&self, trail: &mut Trail, kind: Kind) -> Result<()> {
        let neighbourhood = address::neighbourhood(trail.address);
        self.ip_limit.take(neighbourhood, kind, (self.clock)()).map_err(|seconds| {
            trail.retry_after = Some(seconds);
            let message = format!("Zu viele Anfragen von dieser Adresse. Bitte {seconds} Sekunden warten.");
            Refusal::new(Code::ZuVieleAnfragen, message).into()
        })
    }

    /// Reads the body of a writing request. Whether it was answered before is asked before every
    /// other check of the body (D19), and once more by the writer.
    fn prepare(
        &self,
        call: Call<'_>,
        read_body: fn(&Call<'_>) -> Result<WriteWork>,
        trail: &Trail,
        lane: Lane,
    ) -> Result<Step> {
        let repeatable = match &trail.caller {
            Some(caller) => Repeatable::of(&call, caller)?.map(|repeatable| (repeatable, caller.tenant)),
            None => None,
        };
        if let Some((repeatable, tenant)) = &repeatable {
            let now = (self.clock)();
            let stored = self.readers.read(lane, |c| repeatable.stored(&Tx::new(c, *tenant, now)))?;
            if let Some(reply) = stored {
                return Ok(Step::Reply(reply));
            }
        }
        let work = read_body(&call)?;
        let repeatable = repeatable.map(|(repeatable, _)| repeatable);
        Ok(Step::Write(Writing { work, notes: call.notes, repeatable }))
    }

    /// The answer of a path that needs no key.
    fn open_path(&self, request: &Request, path: &[&str], trail: &mut Trail) -> Result<Option<Reply>> {
        let method = Method::parse(&request.method);
        let is_it = |route: &&'static Route| {
            route.access == Access::Open && Some(route.method) == method && route.matches(path).is_some()
        };
        let Some(at) = self.routes.iter().position(is_it) else { return Ok(None) };
        let route = self.routes[*trail.route.insert(at)];
        let call = Call::new(request, route, Vec::new(), Default::default())?;
        match route.run {
            Run::Open(run) => run(&call).map(Some),
            Run::Inside(run) => run(&call, self).map(Some),
            Run::Read(_) | Run::Write(_) => Ok(None),
        }
    }

    /// The route of a request and the ids in its path: 404 where no route has the path, 405
    /// where none of them has the method.
    fn find(&self, request: &Request, path: &[&str]) -> Result<(usize, Vec<Option<Uuid>>)> {
        let matching = |at: usize| Some((at, self.routes[at].matches(path)?));
        let found: Vec<_> = (0..self.routes.len()).filter_map(matching).collect();
        if found.is_empty() {
            let path = query::decode(&request.path)?;
            let message = format!("Den Pfad {} gibt es nicht. GET /api/v1 nennt alle.", shortened(&path));
            return Err(Refusal::new(Code::NichtGefunden, message).into());
        }
        let method = Method::parse(&request.method);
        let found = found.into_iter().find(|(at, _)| Some(self.routes[*at].method) == method);
        found.ok_or_else(|| {
            let message = format!("Hier sind nur diese Methoden erlaubt: {}.", self.allowed(path).join(", "));
            Refusal::new(Code::MethodeNichtErlaubt, message).into()
        })
    }

    /// The methods that a path has.
    fn allowed(&self, path: &[&str]) -> Vec<&'static str> {
        let routes = self.routes.iter().filter(|route| route.matches(path).is_some());
        routes.map(|route| route.method.as_str()).collect()
    }

    /// Hands a request to the writer.
    fn write(self: &Arc<Gate>, request: Request, trail: Trail, writing: Writing, answer: Answer) {
        let gate = Arc::clone(self);
        let job = WriteJob { gate, request, trail, writing: Some(writing), done: None, answer };
        self.writer.submit(Box::new(job));
    }

    /// Writes the audit row of an answer that the writer has no part in.
    fn recorded(&self, request: &Request, trail: Trail, reply: Reply) -> Reply {
        self.journal.append(self.row(request, &trail, &reply));
        self.leave(request, &trail, reply)
    }

    /// The last step of every request: it is counted, has its line in the log, and the answer says
    /// what the client has left.
    fn leave(&self, request: &Request, trail: &Trail, reply: Reply) -> Reply {
        let duration = request.started.elapsed();
        let (method, route) = match trail.route.map(|at| self.routes[at]) {
            Some(route) => (route.method.as_str(), route.pattern),
            None => ("", ""),
        };
        self.metrics.count(method, route, reply.status, duration);
        tracing::info!(
            request_id = %request.id,
            method = %shortened(&request.method),
            path = %shortened(&request.path),
            status = reply.status,
            duration_us = duration.as_micros() as u64,
            address = %trail.address,
            key = trail.caller.as_ref().map(|caller| caller.key_id.as_str()),
            "request"
        );
        trail.dressed(reply)
    }

    fn row(&self, request: &Request, trail: &Trail, reply: &Reply) -> Row {
        // What is refused because of its address, or on and on, is counted, not listed.
        let of_stranger = trail.caller.is_none() && [429, 503].contains(&reply.status);
        let flut = of_stranger || trail.allowance.is_some_and(Allowance::is_flood);
        let address = if flut { address::neighbourhood(trail.address) } else { trail.address };
        Row {
            am: request.at.millis(),
            request_id: request.id,
            key_id: trail.caller.as_ref().map(|caller| caller.key_id.clone()),
            tenant_id: trail.caller.as_ref().map(|caller| caller.tenant),
            adresse: address.to_string(),
            methode: shortened(&request.method),
            route_id: trail.route.map(|at| self.route_ids[at]),
            pfad: shortened(&request.path),
            status: reply.status,
            dauer_us: i64::try_from(request.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            bytes_ein: request.body.as_ref().map_or(0, |body| body.len() as i64),
            bytes_aus: reply.body.len() as i64,
            subjekt: reply.subject,
            anzahl: 1,
            flut,
        }
    }
}

impl Writing {
    /// Does the work, or gives the answer of the first time.
    fn once(self, tx: &WriteTx<'_>) -> Result<Reply> {
        let Some(repeatable) = self.repeatable else { return Ok((self.work)(tx)?.with_notes(&self.notes)) };
        if let Some(reply) = repeatable.stored(tx)? {
            return Ok(reply);
        }
        let reply = (self.work)(tx)?.with_notes(&self.notes);
        repeatable.keep(tx, &reply)?;
        Ok(reply)
    }
}

/// Where the answer to a request goes that is not answered in place. A client that hung up gets
/// none; what was done for it is kept all the same.
type Answer = oneshot::Sender<Reply>;

/// A request on its way through the writer. The audit row of what is kept is part of it.
struct WriteJob {
    gate: Arc<Gate>,
    request: Request,
    trail: Trail,
    writing: Option<Writing>,
    done: Option<Result<Reply>>,
    answer: Answer,
}

impl Job for WriteJob {
    fn run(&mut self, batch: &Batch<'_>) {
        let (Some(writing), Some(caller)) = (self.writing.take(), &self.trail.caller) else { return };
        self.done = Some(batch.savepoint(caller.tenant, Some(&caller.key_id), |tx| {
            let reply = writing.once(tx)?;
            self.gate.row(&self.request, &self.trail, &reply).insert(batch.connection())?;
            Ok(reply)
        }));
    }

    fn finish(self: Box<Self>, committed: bool) {
        let reply = match self.done {
            Some(Ok(reply)) if committed => self.gate.leave(&self.request, &self.trail, reply),
            Some(Err(failure)) if committed => {
                let reply = error::reply(&failure, self.request.id);
                self.gate.recorded(&self.request, self.trail, reply)
            }
            _ => {
                let reply = error::unavailable(self.request.id);
                self.gate.recorded(&self.request, self.trail, reply)
            }
        };
        let _ = self.answer.send(reply);
    }
}

impl Inside for Gate {
    fn ready(&self) -> std::result::Result<(), String> {
        let read = self.readers.read(Lane::Fast, |connection| {
            Ok(connection.prepare_cached("select 1 from installation")?.exists([])?)
        });
        read.map_err(|failure| format!("the database cannot be read: {failure}"))?;
        let silent = self.writer.watch().silent();
        if silent > WRITER_SILENT_AT_MOST {
            return Err(format!("the writer has been busy for {} seconds", silent.as_secs()));
        }
        Ok(())
    }

    fn metrics(&self) -> String {
        self.metrics.text(self.readers.oldest())
    }

    fn shows_metrics_to(&self, request: &Request) -> bool {
        let address = address::client(request.peer, &request.headers, &self.proxies);
        self.public_metrics || address.is_loopback()
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

fn split(path: &str) -> Vec<&str> {
    path.split('/').skip(1).collect()
}

/// A text of a client, short enough for a message or an audit row.
fn shortened(text: &str) -> String {
    const MAX: usize = 200;
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX).collect()
}
