//! The client of a running request: reads its body, and tells whether it still listens.

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

/// A body up to this size, in bytes, counts as small (D18: all but uploads).
const SMALL_BODY_BYTES_MAX: usize = 1 << 20;

/// Memory for small bodies in bytes; the share of a key is half of it.
const SMALL_BODIES_BYTES_MAX: usize = 16 << 20;

/// Memory for large bodies in bytes, and the share of a key: two of the largest.
const LARGE_BODIES_BYTES_MAX: usize = 42 << 20;
const KEY_LARGE_BODIES_BYTES_MAX: usize = 28 << 20;

/// Large bodies that a key may send at once; further ones wait before any of their bytes are read.
const KEY_LARGE_BODIES_MAX: usize = 2;

/// How long a body waits for memory before it is refused: the holder of that memory may be waiting, too.
const MEMORY_WAIT_MAX: Duration = Duration::from_secs(5);

/// Maximum bytes of a body that are read and discarded, beyond those already received.
const DRAINED_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of open connections from one address, except trusted proxies.
    pub per_address: usize,
    /// Timeout for the head of a request, and for an idle connection.
    pub header: Duration,
    /// Timeout for the body of a request.
    pub body: Duration,
    /// Timeout for a client to accept the next part of an answer.
    pub write: Duration,
    /// How long running requests may continue when the server stops.
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
    /// The server stops: no new request is accepted.
    Stopping,
    /// The time for stopping is over: connections are cut.
    Cut,
}

/// What the requests of a connection share.
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
    /// Creates the client of a request that arrives on a connection.
    pub(super) fn new(body: Incoming, asked_first: bool, connection: Arc<ConnectionContext>) -> Client {
        Client(Some((Arriving { body, received: 0, asked_first }, connection)))
    }

    /// Creates the client of a request made in this process: the request brings its body along, and nobody
    /// hangs up.
    pub const fn within() -> Client {
        Client(None)
    }

    /// Call when its key or session was accepted: new connections can no longer displace this one.
    pub fn mark_accepted(&self) {
        self.0.iter().for_each(|(_, connection)| connection.slot.mark_answered());
    }

    /// Whether the request has a body that is still to be read.
    pub(super) fn has_body(&self) -> bool {
        self.0.as_ref().is_some_and(|(arriving, _)| !arriving.body.is_end_stream())
    }

    /// Reads a body of at most `limit` bytes, charged to `account`, a key or a person, within its timeout and
    /// the memory available.
    pub async fn body(&mut self, limit: usize, account: &str) -> Received {
        let Some((arriving, connection)) = &mut self.0 else { return Err(incomplete()) };
        if arriving.announced().is_some_and(|announced| announced > limit) {
            return Err(too_large(limit));
        }
        let (bodies, time) = (&connection.bodies, connection.limits.body);
        let is_large = arriving.announced().unwrap_or(limit) > SMALL_BODY_BYTES_MAX;
        // A large body waits for its turn before its own timeout starts.
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

    /// Waits for a notification, and then until `not_before`. Returns false if there is no point in waiting
    /// on: `until` has come, the server stops, or the client hung up (D28). A client that sends more while it
    /// waits gets its answer at once.
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
            // Fails only if the sender is gone.
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

    /// Reads and discards the rest of the body, because most clients send all of it before they read the
    /// answer (RFC 9112 9.6); a client that asked before sending is answered at once. Returns whether the
    /// body was read to its end.
    pub(super) async fn drain(&mut self) -> bool {
        match &mut self.0 {
            Some((arriving, connection)) => arriving.drain(connection.limits.body).await,
            None => true,
        }
    }
}

struct Arriving {
    body: Incoming,
    /// Bytes received so far.
    received: usize,
    /// The client waits for permission to send it (`Expect: 100-continue`).
    asked_first: bool,
}

impl Arriving {
    /// Returns the announced length, if known and nothing was read yet.
    fn announced(&self) -> Option<usize> {
        if self.received > 0 {
            return None;
        }
        self.body.size_hint().exact().map(|size| usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// Returns the next part; `None` at the end.
    async fn next(&mut self) -> Option<Result<Bytes, hyper::Error>> {
        loop {
            match self.body.frame().await?.map(|frame| frame.into_data()) {
                Ok(Ok(data)) => {
                    self.received += data.len();
                    return Some(Ok(data));
                }
                // Trailer fields after the last chunk are ignored.
                Ok(Err(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Reads the body; memory is charged as it arrives.
    async fn read(&mut self, limit: usize, account: &str, budget: &Arc<Budget>) -> Received {
        // Reserving the announced size takes no real memory before data arrives: the pages stay untouched.
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

/// Tries `take` until it succeeds, at once and whenever units are released; `None` after `time`.
async fn when_freed<T>(budget: &Budget, time: Duration, mut take: impl FnMut() -> Option<T>) -> Option<T> {
    if let Some(taken) = take() {
        return Some(taken);
    }
    let waiting = async {
        loop {
            // From here on no release is missed.
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
    let message = "Es werden gerade zu viele große Anfragen gesendet; es wurde nichts gespeichert. Bitte \
         später wiederholen.";
    Refusal::new(Code::NichtVerfuegbar, message)
}
