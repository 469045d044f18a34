//! The socket. Here and in the files beside it that wall 2 names is all that awaits.
//!
//! It reads requests and bodies under limits and time-outs, hands them to the gate, and writes
//! the answers. HTTP/1 only.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::TRANSFER_ENCODING;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use uuid::Uuid;

use super::answering::{Answering, Next};
use super::budget::{Budget, Permit};
use super::connections::{Connections, Place};
use super::encoding::{accepts_gzip, encoded};
use super::message::{Content, malformed, response};
use super::off_sockets::{off_sockets, off_sockets_after};
use super::paced::Paced;
use super::plain;
use super::reply::Reply;
use super::request::{Body, Request, incomplete};
use super::socket::Socket;
use super::waiting::is_over;
use crate::db::{Clock, log};
use crate::rules::error::{Code, Refusal};

/// Largest head of a request in bytes; also what is read of a connection at once.
const MAX_HEAD: usize = 16 << 10;

/// Headers of a request at most.
const MAX_HEADERS: usize = 100;

/// A body up to this size is a small one, in bytes (D18: all but uploads).
const SMALL_BODY: usize = 1 << 20;

/// Memory for small bodies in bytes, and the share of a key: half of it.
const SMALL_BODIES: usize = 16 << 20;

/// Memory for large bodies in bytes, and the share of a key: two of the largest.
const LARGE_BODIES: usize = 42 << 20;
const LARGE_BODIES_OF_KEY: usize = 28 << 20;

/// Large bodies that a key may send at once; further ones wait before anything of them is read.
const LARGE_AT_ONCE: usize = 2;

/// How long a body waits for memory before it is refused: what holds it may wait for memory itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes beyond the limit of a body that are read and thrown away at most.
const THROWN_AWAY: usize = 16 << 20;

/// An answer above this size is not compressed on a thread that serves sockets, in bytes.
const LARGE_ANSWER: usize = 64 << 10;

/// Pause after the machine refused a connection (too many open files).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What the socket allows.
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

/// Serves until `stop` is done: then no connection is accepted, running requests are finished.
pub async fn serve<A: Answering>(
    listener: TcpListener,
    service: Arc<A>,
    clock: Clock,
    limits: Limits,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let connections = Connections::new(limits.connections, limits.per_address);
    let serving = Arc::new(Serving { service, clock, bodies: BodyBudgets::new(), limits, tls });
    let (open, closing) = watch::channel(());
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok((stream, peer)) => (stream, peer.ip()),
            Err(error) => {
                log(&format!("a connection was not accepted: {error}"));
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Nobody can be told why: what cannot be served is closed.
        let Some(place) = connections.place(serving.service.client(peer)) else { continue };
        let number = place.number;
        let (serving, local, closing) = (Arc::clone(&serving), local_of(&stream), closing.clone());
        let connection = Connection { serving, peer, local, place, closing };
        let task = tokio::spawn(connection.serve(stream, graceful.watcher()));
        connections.served_by(number, task.abort_handle());
    }
    drop((listener, open));
    let shutdown = serving.limits.shutdown;
    if timeout(shutdown, graceful.shutdown()).await.is_err() {
        log("some connections did not end in time and were cut");
    }
}

/// The address of this machine that a connection came to; none where its client has gone already.
fn local_of(stream: &TcpStream) -> IpAddr {
    stream.local_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |local| local.ip())
}

/// A connection, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// What all connections have in common.
struct Serving<A> {
    service: Arc<A>,
    clock: Clock,
    bodies: BodyBudgets,
    limits: Limits,
    tls: Option<TlsAcceptor>,
}

/// Memory that bodies may take.
struct BodyBudgets {
    small: Arc<Budget>,
    large: Arc<Budget>,
    /// Places of large bodies.
    places: Arc<Budget>,
}

impl BodyBudgets {
    fn new() -> BodyBudgets {
        BodyBudgets {
            small: Budget::new(SMALL_BODIES, SMALL_BODIES / 2),
            large: Budget::new(LARGE_BODIES, LARGE_BODIES_OF_KEY),
            places: Budget::new(usize::MAX, LARGE_AT_ONCE),
        }
    }
}

/// One connection.
struct Connection<A> {
    serving: Arc<Serving<A>>,
    peer: IpAddr,
    local: IpAddr,
    place: Place,
    /// Ends what waits when the server stops.
    closing: watch::Receiver<()>,
}

impl<A: Answering> Connection<A> {
    /// Serves its requests, one after the other.
    async fn serve(self, stream: TcpStream, watcher: Watcher) {
        let Some((stream, socket)) = self.shaken(stream).await else { return };
        let limits = &self.serving.limits;
        let answering = service_fn(async |request| Ok::<_, Infallible>(self.answer(request, &socket).await));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // A client may send its requests, close its half, and wait for the answers.
            .half_close(true)
            .header_read_timeout(limits.header)
            .max_buf_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), answering);
        // A connection that breaks concerns nobody but its client.
        let _ = watcher.watch(connection).await;
    }

    /// The stream, after the handshake of TLS, which takes no longer than a head may; a server that stops waits for none.
    async fn shaken(&self, stream: TcpStream) -> Option<(Pin<Box<dyn Stream>>, Socket)> {
        // Small answers must not wait for more data (Nagle).
        let _ = stream.set_nodelay(true);
        let Serving { limits, tls, .. } = &*self.serving;
        let Some(tls) = tls else {
            let socket = Socket::new(stream);
            return Some((Box::pin(Paced::new(socket.clone(), limits.write)), socket));
        };
        let shaking = async {
            if plain::is_spoken(&stream).await {
                plain::answer(stream, MAX_HEAD).await;
                return None;
            }
            let socket = Socket::new(stream);
            let shaken = tls.accept(Paced::new(socket.clone(), limits.write)).await.ok()?;
            Some((Box::pin(shaken) as Pin<Box<dyn Stream>>, socket))
        };
        let mut closing = self.closing.clone();
        tokio::select! {
            shaken = timeout(limits.header, shaking) => shaken.ok().flatten(),
            _ = closing.changed() => None,
        }
    }

    async fn answer(&self, request: hyper::Request<Incoming>, socket: &Socket) -> Response<Content> {
        let (id, started) = (Uuid::now_v7(), std::time::Instant::now());
        let (head, body) = request.into_parts();
        let malformed = malformed(&head);
        // Where its length could be read in two ways nothing that follows is taken for a request (RFC 9112 6.1).
        let is_last = malformed.is_some() || head.headers.contains_key(TRANSFER_ENCODING);
        let gzip = accepts_gzip(&head.headers);
        let asked_first = head.headers.contains_key(hyper::header::EXPECT);
        let mut arriving = Arriving { body, received: 0, asked_first };
        let request = Request {
            id,
            at: (self.serving.clock)(),
            started,
            peer: self.peer,
            local: self.local,
            method: head.method.as_str().to_owned(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: head.headers,
            malformed,
            body: if arriving.body.is_end_stream() { Body::from_bytes(Vec::new()) } else { Body::Awaited },
        };
        let service = Arc::clone(&self.serving.service);
        let outcome = self.guarded(id, || service.answer(request));
        let reply = self.settled(id, outcome, &mut arriving, socket).await;
        let is_read = arriving.is_thrown_away(self.serving.limits.body).await;
        let reply = compressed(reply, gzip).await;
        self.place.has_answered();
        response(reply, id, is_last || !is_read)
    }

    /// Does what has to be done first, until there is an answer.
    async fn settled(&self, id: Uuid, mut outcome: Next, arriving: &mut Arriving, socket: &Socket) -> Reply {
        loop {
            outcome = match outcome {
                Next::Done(reply) => break reply,
                Next::Later(receiver) => receiver.await.unwrap_or_else(|_| self.nobody(id)),
                Next::Here(work) => self.guarded(id, || work.run()),
                Next::Heavy(pause, work) => Next::Later(off_sockets_after(pause, || work.run())),
                Next::Wait(mut waiting) => {
                    let aside = self.place.aside();
                    let is_over = is_over(&mut waiting, socket, self.closing.clone()).await;
                    drop(aside);
                    self.guarded(id, || waiting.go_on(is_over))
                }
                Next::Body(wanted) => {
                    let body = self.read(arriving, wanted.limit, &wanted.key).await;
                    self.guarded(id, || wanted.go_on(body))
                }
            };
        }
    }

    /// A panic is a bug; the client gets an answer all the same.
    fn guarded(&self, id: Uuid, work: impl FnOnce() -> Next) -> Next {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| self.nobody(id))
    }

    /// Whoever should have answered is gone.
    fn nobody(&self, id: Uuid) -> Next {
        Next::Done(self.serving.service.unavailable(id))
    }

    /// Reads a body, within the time and the memory that there is for it.
    async fn read(&self, arriving: &mut Arriving, limit: usize, key: &str) -> Body {
        if arriving.announced().is_some_and(|announced| announced > limit) {
            return Body::Refused(too_large(limit));
        }
        let Serving { bodies, limits, .. } = &*self.serving;
        let is_large = arriving.announced().unwrap_or(limit) > SMALL_BODY;
        let reading = async {
            if !is_large {
                return arriving.read(limit, key, &bodies.small).await;
            }
            let take = || bodies.places.take(key, 1);
            let Some(_place) = when_freed(&bodies.places, limits.body, take).await else {
                return Body::Refused(no_room());
            };
            arriving.read(limit, key, &bodies.large).await
        };
        timeout(limits.body, reading).await.unwrap_or_else(|_| Body::Refused(super::error::too_slow()))
    }
}

/// A body on its way in.
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
    async fn read(&mut self, limit: usize, key: &str, budget: &Arc<Budget>) -> Body {
        // A body that is announced takes no memory before it is there: the pages are untouched.
        let mut content = Vec::with_capacity(self.announced().unwrap_or(0));
        let mut permit: Option<Permit> = None;
        while let Some(data) = self.next().await {
            let Ok(data) = data else { return Body::Refused(incomplete()) };
            if self.received > limit {
                return Body::Refused(too_large(limit));
            }
            let take = || match permit.as_mut() {
                Some(permit) => permit.grow(data.len()).then_some(()),
                None => budget.take(key, data.len()).map(|taken| permit = Some(taken)),
            };
            if when_freed(budget, PATIENCE, take).await.is_none() {
                return Body::Refused(no_room());
            }
            content.extend_from_slice(&data);
        }
        Body::Read(content, permit)
    }

    /// Reads what was not read and throws it away, because most clients send all of it before they look at the
    /// answer (RFC 9112 9.6); one that asked before sending is answered at once. Whether it came to its end.
    async fn is_thrown_away(&mut self, time: Duration) -> bool {
        if self.body.is_end_stream() {
            return true;
        }
        if self.asked_first && self.received == 0 {
            return false;
        }
        let most = self.received.saturating_add(THROWN_AWAY);
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
    let message = format!("Die Anfrage ist größer als {limit} Bytes. Bitte aufteilen.");
    Refusal::new(Code::ZuGross, message)
}

fn no_room() -> Box<Refusal> {
    let message = "Es werden gerade zu viele große Anfragen gesendet; es wurde nichts gespeichert. Bitte später wiederholen.";
    Refusal::new(Code::NichtVerfuegbar, message)
}

/// The answer in the form that the client takes.
async fn compressed(reply: Reply, gzip: bool) -> Reply {
    if !gzip || reply.body.len() <= LARGE_ANSWER {
        return encoded(reply, gzip);
    }
    let status = reply.status;
    let lost = Reply { status, ..Reply::default() };
    off_sockets(move || encoded(reply, true)).await.unwrap_or(lost)
}

/// Is done when Windows says so, and `told` was called.
#[cfg(windows)]
pub fn when_told(stop: &tokio::sync::Notify, told: impl FnOnce()) -> impl Future<Output = ()> {
    async move {
        stop.notified().await;
        told();
    }
}

/// Registers for SIGTERM and SIGINT (Ctrl-C), at once; the future waits for one of them and calls
/// `told`. Must be called within the runtime.
pub fn stop_signal(told: impl FnOnce()) -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    #[cfg(windows)]
    let signals = (tokio::signal::windows::ctrl_c()?, tokio::signal::windows::ctrl_close()?);
    Ok(async move {
        let (mut interrupt, mut terminate) = signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping: finishing what runs");
        told();
    })
}
