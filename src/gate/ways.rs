//! The ways of a request: answered in place, or taken on by the thread that verifies keys, by the
//! slow lane, or by the writer.

use std::sync::Arc;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::key::PresentedKey;
use super::passage::{Step, Writing};
use super::trail::Trail;
use super::{Gate, address};
use crate::db::batch::{Batch, Job};
use crate::db::error::{Failure, Result};
use crate::db::readers::Lane;
use crate::db::tx::WriteTx;
use crate::http::call::Request;
use crate::http::error;
use crate::http::reply::Reply;
use crate::http::route::{BodyLimit, Method};
use crate::http::router::split;
use crate::http::server::{Answering, Outcome};

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
        let at = self.router.find(Method::parse(head.method.as_str()), &split(head.uri.path()));
        at.map_or(BodyLimit::Ordinary, |at| self.router.route(at).body).bytes()
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

    /// Hands a request to the writer.
    fn write(self: &Arc<Gate>, request: Request, trail: Trail, writing: Writing, answer: Answer) {
        let gate = Arc::clone(self);
        let job = WriteJob { gate, request, trail, writing: Some(writing), done: None, answer };
        self.writer.submit(Box::new(job));
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
    /// What was read of it already; taken by the first run.
    writing: Option<Writing>,
    done: Option<Result<Reply>>,
    answer: Answer,
}

impl Job for WriteJob {
    fn run(&mut self, batch: &Batch<'_>) {
        let Some(caller) = &self.trail.caller else { return };
        let first = self.writing.take();
        self.done = Some(batch.whole(caller.tenant, Some(&caller.key_id), |tx| {
            let writing = first.map_or_else(|| self.gate.read_again(&self.request, &self.trail), Ok)?;
            let reply = writing.once(tx)?;
            if self.gate.audited {
                self.gate.row(&self.request, &self.trail, &reply).insert(batch.connection())?;
            }
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
