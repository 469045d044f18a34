//! The client of a request, for a request that has to wait for it: for its body, or for as long as it listens.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Incoming};
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};

use super::budget::{Budget, Permit};
use super::connections::ConnectionSlot;
use super::request::{Received, incomplete};
use super::socket::Socket;
use crate::rules::error::{Code, Refusal};

/// A body up to this size is a small one, in bytes (D18: all but uploads).
const SMALL_BODY_BYTES_MAX: usize = 1 << 20;

/// Memory for small bodies in bytes, and the share of a key: half of it.
const SMALL_BODIES_BYTES_MAX: usize = 16 << 20;

/// Memory for large bodies in bytes, and the share of a key: two of the largest.
const LARGE_BODIES_BYTES_MAX: usize = 42 << 20;
const KEY_LARGE_BODIES_BYTES_MAX: usize = 28 << 20;

/// Large bodies that a key may send at once; further ones wait before anything of them is read.
const KEY_LARGE_BODIES_MAX: usize = 2;

/// How long a body waits for memory before it is refused: what holds it may wait for memory itself.
const MEMORY_WAIT_MAX: Duration = Duration::from_secs(5);

/// Bytes of a body that are read and thrown away at most, beyond those that were read before.
const DRAINED_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Open connections at most.
    pub connections: usize,
    /// Open connections from one address at most, but for proxies of ours.
    pub per_address: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub header: Duration,
    /// How long the body of a request may take.
    pub body: Duration,
    /// How long a client may take to accept the next part of an answer.
    pub write: Duration,
    /// How long running requests may take when the server stops.
    pub shutdown: Duration,
}

pub struct BodyBudgets {
    small: Arc<Budget>,
    large: Arc<Budget>,
    /// Large bodies that are being read.
    large_at_once: Arc<Budget>,
}

impl Default for BodyBudgets {
    fn default() -> BodyBudgets {
        BodyBudgets {
            small: Budget::new(SMALL_BODIES_BYTES_MAX, SMALL_BODIES_BYTES_MAX / 2),
            large: Budget::new(LARGE_BODIES_BYTES_MAX, KEY_LARGE_BODIES_BYTES_MAX),
            large_at_once: Budget::new(usize::MAX, KEY_LARGE_BODIES_MAX),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Serving,
    /// The server stops: nothing new is begun.
    Stopping,
    /// The time for that is over.
    Cut,
}

/// What a connection has in common with the requests on it.
pub struct ConnectionContext {
    pub peer: IpAddr,
    /// The address of this machine that the client connected to.
    pub local: IpAddr,
    pub slot: ConnectionSlot,
    pub socket: Socket,
    pub limits: Arc<Limits>,
    pub bodies: Arc<BodyBudgets>,
    pub stage: watch::Receiver<Stage>,
}

pub struct Client(Option<(Arriving, Arc<ConnectionContext>)>);

impl Client {
    /// A client that sends its request on a connection.
    pub(super) fn new(body: Incoming, asked_first: bool, connection: Arc<ConnectionContext>) -> Client {
        Client(Some((Arriving { body, received: 0, asked_first }, connection)))
    }

    /// Of a request that is made in this process: it brings its body along, and nobody hangs up.
    pub const fn within() -> Client {
        Client(None)
    }

    /// Its key or session was accepted: the connection need not make room for new ones any more.
    pub fn mark_accepted(&self) {
        self.0.iter().for_each(|(_, connection)| connection.slot.mark_answered());
    }

    /// Whether the request has a body that is still to be read.
    pub(super) fn has_body(&self) -> bool {
        self.0.as_ref().is_some_and(|(arriving, _)| !arriving.body.is_end_stream())
    }

    /// Reads the body of at most `limit` bytes on the account of a key or a person, within the time and the memory that
    /// there is for it.
    pub async fn body(&mut self, limit: usize, account: &str) -> Received {
        let Some((arriving, connection)) = &mut self.0 else { return Err(incomplete()) };
        if arriving.announced().is_some_and(|announced| announced > limit) {
            return Err(too_large(limit));
        }
        let (bodies, time) = (&connection.bodies, connection.limits.body);
        let is_large = arriving.announced().unwrap_or(limit) > SMALL_BODY_BYTES_MAX;
        // A large body waits for its turn before its own time begins.
        let (budget, _turn) = match is_large {
            false => (&bodies.small, None),
            true => {
                let take = || bodies.large_at_once.take(account, 1);
                let turn = when_freed(&bodies.large_at_once, time, take).await.ok_or_else(no_room)?;
                (&bodies.large, Some(turn))
            }
        };
        let reading = arriving.read(limit, account, budget);
        timeout(time, reading).await.unwrap_or_else(|_| Err(super::error::too_slow()))
    }

    /// Waits until the bell rings, and then for `not_before`; false where there is nothing more to wait for: it is
    /// `until`, the server stops, or the client hung up (D28). One that sends more while it waits has its answer first.
    pub async fn listens_until(
        &self,
        notify: &mut watch::Receiver<i64>,
        not_before: Instant,
        until: Instant,
    ) -> bool {
        let Some((_, connection)) = &self.0 else { return false };
        let _uncounted = connection.slot.uncounted();
        let mut stage = connection.stage.clone();
        let rung = async {
            // Fails only where nobody is left to ring.
            let _ = notify.changed().await;
            sleep_until(not_before.into()).await;
        };
        tokio::select! {
            _ = stage.changed() => false,
            () = connection.socket.readable() => false,
            () = sleep_until(until.into()) => false,
            () = rung => true,
        }
    }

    /// Reads what is left of the body and throws it away, because most clients send all of it before they look at the
    /// answer (RFC 9112 9.6); one that asked before sending is answered at once. Whether it came to its end.
    pub(super) async fn drain(&mut self) -> bool {
        match &mut self.0 {
            Some((arriving, connection)) => arriving.drain(connection.limits.body).await,
            None => true,
        }
    }
}

struct Arriving {
    body: Incoming,
    /// Bytes of it that came so far.
    received: usize,
    /// The client waits for permission to send it (`Expect: 100-continue`).
    asked_first: bool,
}

impl Arriving {
    /// Its length, if the client has said it.
    fn announced(&self) -> Option<usize> {
        if self.received > 0 {
            return None;
        }
        self.body.size_hint().exact().map(|size| usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// The next part of it; none at its end.
    async fn next(&mut self) -> Option<Result<Bytes, hyper::Error>> {
        loop {
            match self.body.frame().await?.map(|frame| frame.into_data()) {
                Ok(Ok(data)) => {
                    self.received += data.len();
                    return Some(Ok(data));
                }
                // Lines behind the last chunk say nothing to us.
                Ok(Err(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Reads it; memory is taken as it arrives.
    async fn read(&mut self, limit: usize, account: &str, budget: &Arc<Budget>) -> Received {
        // A body that is announced takes no memory before it is there: the pages are untouched.
        let mut content = Vec::with_capacity(self.announced().unwrap_or(0));
        let mut permit: Option<Permit> = None;
        while let Some(data) = self.next().await {
            let data = data.map_err(|_| incomplete())?;
            if self.received > limit {
                return Err(too_large(limit));
            }
            let take = || match permit.as_mut() {
                Some(permit) => permit.grow(data.len()).then_some(()),
                None => budget.take(account, data.len()).map(|taken| permit = Some(taken)),
            };
            when_freed(budget, MEMORY_WAIT_MAX, take).await.ok_or_else(no_room)?;
            content.extend_from_slice(&data);
        }
        Ok((content, permit))
    }

    async fn drain(&mut self, time: Duration) -> bool {
        if self.body.is_end_stream() {
            return true;
        }
        if self.asked_first && self.received == 0 {
            return false;
        }
        let most = self.received.saturating_add(DRAINED_BYTES_MAX);
        let reading = async {
            while self.received < most {
                match self.next().await {
                    Some(Ok(_)) => {}
                    Some(Err(_)) => return false,
                    None => return true,
                }
            }
            false
        };
        timeout(time, reading).await.unwrap_or(false)
    }
}

/// What `take` gives, at once or when something was given back; none after some time.
async fn when_freed<T>(budget: &Budget, time: Duration, mut take: impl FnMut() -> Option<T>) -> Option<T> {
    if let Some(taken) = take() {
        return Some(taken);
    }
    let waiting = async {
        loop {
            // What is given back from now on is heard.
            let freed = budget.freed();
            if let Some(taken) = take() {
                return taken;
            }
            freed.await;
        }
    };
    timeout(time, waiting).await.ok()
}

fn too_large(limit: usize) -> Box<Refusal> {
    let message = (format_args!("Die Anfrage ist größer als {limit} Bytes."), "Bitte aufteilen.");
    Refusal::new(Code::ZuGross, message)
}

fn no_room() -> Box<Refusal> {
    let message = "Es werden gerade zu viele große Anfragen gesendet; es wurde nichts gespeichert. Bitte später wiederholen.";
    Refusal::new(Code::NichtVerfuegbar, message)
}
