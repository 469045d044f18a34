//! Dispatch: a request that was admitted is answered in place, or handed to the thread that verifies keys, to the
//! slow lane or to the writer.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::admission::{Admission, PreparedWrite};
use super::carried::Carried;
use super::completion::Trail;
use super::key::PresentedKey;
use super::stapel::{LARGE_BODY, Plan, Stapel};
use super::{Gate, address};
use crate::db::batch::{Batch, Ended, Job};
use crate::db::readers::Lane;
use crate::failure::{Failure, Result};
use crate::http::answering::{Answering, BodyWanted, Next, Waiting, Work};
use crate::http::error;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::{BodyLimit, Wait};
use crate::rules::error::{Code, Refusal};

/// What a small body of a heavy route counts for in the share of its key, in bytes: it may be a file that is packed.
const HEAVY_BODY: usize = 1 << 20;

impl Answering for Gate {
    fn answer(self: Arc<Gate>, request: Request) -> Next {
        let trail = Trail::new(address::client(request.peer, &request.headers, &self.proxies));
        self.admit_in_place(request, trail)
    }

    fn unavailable(&self, request_id: Uuid) -> Reply {
        error::unavailable(request_id)
    }

    fn client(&self, peer: IpAddr) -> Option<IpAddr> {
        let peer = peer.to_canonical();
        let is_proxy = self.proxies.iter().any(|network| network.contains(&peer));
        (!is_proxy).then(|| address::neighbourhood(peer))
    }
}

impl Gate {
    /// Checks a request on this thread and dispatches what comes of it.
    fn admit_in_place(self: Arc<Gate>, request: Request, mut trail: Trail) -> Next {
        let admission = self.admit(&request, &mut trail, Lane::Fast);
        self.dispatch(admission, request, trail)
    }

    /// Carries out what admission came to.
    fn dispatch(self: Arc<Gate>, admission: Admission, request: Request, trail: Trail) -> Next {
        match admission {
            Admission::Reply(reply) => Next::Done(self.finish_audited(&request, trail, reply)),
            Admission::Write(write) => self.to_writer(request, trail, write),
            Admission::Verify(key) => self.to_verification(&key, request, trail),
            Admission::Slow => self.to_slow_lane(request, trail),
            Admission::Heavy => {
                let mut trail = Trail { off_sockets: true, ..trail };
                let work = Work::new(move || {
                    let admission = self.admit(&request, &mut trail, Lane::Fast);
                    self.dispatch_here(admission, request, trail)
                });
                Next::Heavy(Duration::ZERO, work)
            }
            Admission::Body(limit) => self.wait_for_body(limit, request, trail),
            Admission::Wait(wait) => self.wait_for_change(wait, request, trail),
            Admission::Each(single) => self.to_each(single, request, trail),
        }
    }

    /// Waits until the socket has read the body.
    fn wait_for_body(self: Arc<Gate>, limit: BodyLimit, mut request: Request, mut trail: Trail) -> Next {
        let key = trail.caller.as_ref().map_or_else(String::new, |caller| caller.key_id.clone());
        Next::Body(BodyWanted::new(limit.bytes(), key, move |body| {
            request.body = body;
            let is_heavy = trail.route.is_some_and(|at| self.router.route(at).is_heavy);
            if request.body.len() <= LARGE_BODY && !is_heavy {
                let admission = self.admit_body(&request, &mut trail);
                return self.dispatch(admission, request, trail);
            }
            let key = trail.caller.as_ref().map_or("", |caller| &caller.key_id);
            let counted = if is_heavy { request.body.len().max(HEAVY_BODY) } else { request.body.len() };
            let pause = self.shares.has_sent(key, counted, (self.clock)());
            let work = Work::new(move || {
                let admission = self.admit_body(&request, &mut trail);
                self.dispatch_here(admission, request, trail)
            });
            Next::Heavy(pause, work)
        }))
    }

    /// Waits for a change of the company. Each time that the bell rings the request passes the gate again, so that a key
    /// that is deactivated meanwhile learns nothing; it was counted before.
    fn wait_for_change(self: Arc<Gate>, wait: Wait, request: Request, mut trail: Trail) -> Next {
        let waited = match (trail.waited.take(), &trail.caller) {
            (Some(waited), _) => Some(waited.go_on(wait)),
            (None, Some(caller)) => self.waiters.place(&caller.key_id, caller.tenant, wait),
            (None, None) => None,
        };
        let Some(waited) = waited else {
            let message = "Es warten schon zu viele Anfragen auf Änderungen. Bitte später wiederholen, oder ohne warten.";
            let refusal = Refusal::new(Code::NichtVerfuegbar, message).into();
            let admission = self.refuse(refusal, &request, &mut trail);
            return self.dispatch(admission, request, trail);
        };
        let (until, not_before, bell) = (waited.until, waited.not_before, waited.bell.clone());
        Next::Wait(Waiting::new(until, not_before, bell, move |is_over| {
            trail.waited = Some(waited.again(is_over));
            let admission = self.admit(&request, &mut trail, Lane::Fast);
            self.dispatch(admission, request, trail)
        }))
    }

    /// Begins with the items of a bulk request.
    fn to_each(self: Arc<Gate>, single: &str, request: Request, mut trail: Trail) -> Next {
        match Plan::read(&self, &request, single) {
            Ok(plan) => Stapel::new(self, request, trail, plan).go_on(),
            Err(failure) => {
                let admission = self.refuse(failure, &request, &mut trail);
                self.dispatch(admission, request, trail)
            }
        }
    }

    /// Leaves the dispatch to a thread of the sockets: it takes locks that every request takes, and a thread of low
    /// priority that held one would keep all of them waiting.
    fn dispatch_here(self: Arc<Gate>, admission: Admission, request: Request, trail: Trail) -> Next {
        Next::Here(Work::new(move || self.dispatch(admission, request, trail)))
    }

    /// Waits for the thread that verifies keys. It does nothing else: a client that begins with many requests at
    /// once must not keep it from the keys of others.
    fn to_verification(self: Arc<Gate>, key: &PresentedKey, request: Request, mut trail: Trail) -> Next {
        let (tell, told) = oneshot::channel();
        let (gate, address) = (Arc::clone(&self), address::neighbourhood(trail.address));
        let go_on = move |verified: Result<()>| {
            let go_on = Work::new(move || match verified {
                Ok(()) => {
                    trail.verified = true;
                    gate.admit_in_place(request, trail)
                }
                Err(failure) => {
                    let admission = gate.refuse(failure, &request, &mut trail);
                    gate.dispatch(admission, request, trail)
                }
            });
            // Where nobody waits any more the request goes on all the same, when this is dropped.
            drop(tell.send(Next::Here(go_on)));
        };
        if let Err(go_on) = self.verifying.submit(key, address, Box::new(go_on)) {
            go_on(Err(Failure::Busy("too many keys wait to be verified".into())));
        }
        Next::Later(told)
    }

    /// Waits for a thread of the slow lane. It only reads there.
    fn to_slow_lane(self: Arc<Gate>, request: Request, mut trail: Trail) -> Next {
        self.metrics.count_slow();
        let (tell, told) = oneshot::channel();
        let gate = Arc::clone(&self);
        let go_on = move |has_thread: bool| {
            let admission = match has_thread {
                true => gate.admit(&request, &mut trail, Lane::Slow),
                false => gate.refuse(Failure::Busy("too many long reads wait".into()), &request, &mut trail),
            };
            let writer = gate.writer.clone();
            if let Err(rest) = tell.send(gate.dispatch_here(admission, request, trail)) {
                // The client hung up; the writer has the priority that this thread lacks.
                writer.submit(Box::new(Rest(rest)));
            }
        };
        if let Err(go_on) = self.readers.submit_slow(Box::new(go_on)) {
            go_on(false);
        }
        Next::Later(told)
    }

    /// Hands a request to the writer.
    fn to_writer(self: Arc<Gate>, request: Request, trail: Trail, write: PreparedWrite) -> Next {
        let (tell, told) = oneshot::channel();
        let writer = self.writer.clone();
        writer.submit(Box::new(QueuedWrite {
            gate: self,
            carried: Carried::new(request, trail, write),
            tell,
        }));
        Next::Later(told)
    }
}

/// What is left of a request whose client hung up; it is done when this is dropped.
struct Rest(Next);

impl Job for Rest {
    fn run(&mut self, _: &Batch<'_>) {}

    fn finish(self: Box<Self>, _: Ended) {
        drop(self.0);
    }
}

/// One request on its way through the writer.
struct QueuedWrite {
    gate: Arc<Gate>,
    carried: Carried,
    /// A client that hung up gets no answer; what was done for it is kept all the same.
    tell: oneshot::Sender<Next>,
}

impl Job for QueuedWrite {
    fn bytes(&self) -> usize {
        self.carried.bytes()
    }

    fn run(&mut self, batch: &Batch<'_>) {
        self.carried.run(&self.gate, batch);
    }

    fn finish(self: Box<Self>, ended: Ended) {
        let reply = self.carried.finish(&self.gate, ended);
        drop(self.tell.send(Next::Done(reply)));
    }
}
