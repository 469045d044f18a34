//! What lies between the socket and who answers: the socket hands a request over, and is told what to do next until
//! there is an answer.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use super::reply::Reply;
use super::request::{Body, Request, incomplete};

/// Who answers requests: the gate, seen from the socket.
pub trait Answering: Send + Sync + 'static {
    /// Answers, or says what has to be done first.
    fn answer(self: Arc<Self>, request: Request) -> Next;
    /// The answer when the one who should have sent it is gone.
    fn unavailable(&self, request_id: Uuid) -> Reply;
    /// What is taken for one client at the other end of a connection; none for a proxy of ours, which speaks for many.
    fn client(&self, peer: IpAddr) -> Option<IpAddr>;
}

/// An answer, or what has to be done first.
pub enum Next {
    /// The answer.
    Done(Reply),
    /// Somebody else is at it (the writer, the slow lane, who verifies keys) and will say how it goes on.
    Later(oneshot::Receiver<Next>),
    /// The rest is done in place.
    Here(Work),
    /// The rest takes many milliseconds (Base64, digests, parsing of much): it is not for a thread that serves sockets.
    /// It begins after a pause where its key has had its share of the machine.
    Heavy(Duration, Work),
    /// The request may have a body, which has to be read now.
    Body(BodyWanted),
    /// There is nothing yet: the request waits, and looks again.
    Wait(Waiting),
}

impl Next {
    /// The answer, for a caller without a runtime that has handed in the body with the request; none when whoever
    /// was at it is gone.
    pub fn wait(self) -> Option<Reply> {
        match self {
            Next::Done(reply) => Some(reply),
            Next::Later(receiver) => receiver.blocking_recv().ok()?.wait(),
            Next::Here(work) | Next::Heavy(_, work) => work.run().wait(),
            Next::Wait(waiting) => waiting.go_on(true).wait(),
            Next::Body(_) => None,
        }
    }
}

/// Work that is done in any case: when the client hung up before its turn, it is done when this is dropped, so that
/// the request has its audit row.
pub struct Work(Option<Box<dyn FnOnce() -> Next + Send>>);

impl Work {
    /// Work that is still to be done.
    pub fn new(work: impl FnOnce() -> Next + Send + 'static) -> Work {
        Work(Some(Box::new(work)))
    }

    /// Does it.
    pub fn run(mut self) -> Next {
        // Only `drop` takes it besides, and that comes last.
        self.0.take().map_or_else(|| Next::Later(oneshot::channel().1), |work| work())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            drop(work());
        }
    }
}

/// A request that passed every check before its body (D19), and waits for it.
pub struct BodyWanted {
    /// Bytes that it may have.
    pub limit: usize,
    /// The public part of the key on whose account it is kept.
    pub key: String,
    go_on: Option<Box<dyn FnOnce(Body) -> Next + Send>>,
}

impl BodyWanted {
    /// `go_on` is called once, with the body or with why there is none.
    pub fn new(limit: usize, key: String, go_on: impl FnOnce(Body) -> Next + Send + 'static) -> BodyWanted {
        BodyWanted { limit, key, go_on: Some(Box::new(go_on)) }
    }

    /// Goes on with the body.
    pub fn go_on(mut self, body: Body) -> Next {
        self.go_on.take().map_or_else(|| Next::Later(oneshot::channel().1), |go_on| go_on(body))
    }
}

impl Drop for BodyWanted {
    /// The client hung up: the request was counted, so it has its audit row.
    fn drop(&mut self) {
        if let Some(go_on) = self.go_on.take() {
            drop(go_on(Body::Refused(incomplete())));
        }
    }
}

/// A request that found nothing yet and waits for it (D28). It holds neither a thread nor a connection to the database.
pub struct Waiting {
    /// Until when it waits.
    pub until: Instant,
    /// It does not look again earlier, however often the bell rings.
    pub not_before: Instant,
    /// Rings when there may be something.
    pub bell: watch::Receiver<()>,
    go_on: Option<Box<dyn FnOnce(bool) -> Next + Send>>,
}

impl Waiting {
    /// `go_on` is called once: it looks again, and is told whether that is the last time.
    pub fn new(
        until: Instant,
        not_before: Instant,
        bell: watch::Receiver<()>,
        go_on: impl FnOnce(bool) -> Next + Send + 'static,
    ) -> Waiting {
        Waiting { until, not_before, bell, go_on: Some(Box::new(go_on)) }
    }

    /// Looks again.
    pub fn go_on(mut self, is_over: bool) -> Next {
        self.go_on.take().map_or_else(|| Next::Later(oneshot::channel().1), |go_on| go_on(is_over))
    }
}

impl Drop for Waiting {
    /// The connection is gone: the request was counted, so it has its audit row.
    fn drop(&mut self) {
        if let Some(go_on) = self.go_on.take() {
            drop(go_on(true));
        }
    }
}
