//! The socket: the only file that awaits.
//!
//! It reads requests and bodies under limits and time-outs, hands them to the gate, and writes
//! the answers. HTTP/1 only.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use uuid::Uuid;

use super::call::Request;
use super::encoding::{accepts_gzip, encoded};
use super::framing::Watched;
use super::reply::Reply;
use crate::db::{Clock, log};
use crate::rules::error::{Code, Refusal};

/// Largest head of a request in bytes.
const MAX_HEAD: usize = 64 << 10;

/// Headers of a request at most.
const MAX_HEADERS: usize = 100;

/// Bytes of all bodies that are kept at once; further ones wait for their turn.
const BODY_MEMORY: usize = 256 << 20;

/// In what steps that memory is shared out, in bytes.
const BODY_STEP: usize = 1 << 10;

/// Bytes beyond the limit of a body that are read and thrown away at most.
const THROWN_AWAY: usize = 16 << 20;

/// Pause after the machine refused a connection (too many open files).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What the socket allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Open connections at most; further ones wait in the queue of the operating system.
    pub connections: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub header: Duration,
    /// How long the body of a request may take.
    pub body: Duration,
    /// How long a client may take to accept the next part of an answer.
    pub write: Duration,
    /// How long running requests may take when the server stops.
    pub shutdown: Duration,
}

/// Who answers requests: the gate, seen from the socket.
pub trait Answering: Send + Sync + 'static {
    /// How large a body is worth keeping, in bytes; none for a stranger.
    fn body_limit(&self, head: &hyper::http::request::Parts) -> usize;
    /// Answers, or says where the answer will come from.
    fn answer(self: Arc<Self>, request: Request) -> Outcome;
    /// The answer when the one who should have sent it is gone.
    fn unavailable(&self, request_id: Uuid) -> Reply;
}

/// An answer, or where it will come from.
pub enum Outcome {
    /// The answer.
    Done(Reply),
    /// The writer or the slow lane sends it.
    Later(tokio::sync::oneshot::Receiver<Reply>),
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
    let places = Arc::new(Semaphore::new(limits.connections));
    let memory = Arc::new(Semaphore::new(BODY_MEMORY / BODY_STEP));
    let (open, closing) = watch::channel(());
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = async {
            // The semaphore is never closed.
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                log(&format!("a connection was not accepted: {error}"));
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Small answers must not wait for more data (Nagle).
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(limits.write));
        let serving = Serving {
            service: Arc::clone(&service),
            clock: Arc::clone(&clock),
            memory: Arc::clone(&memory),
            body_time: limits.body,
            peer: peer.ip(),
        };
        let (watcher, tls, time) = (graceful.watcher(), tls.clone(), limits.header);
        let mut closing = closing.clone();
        tokio::spawn(async move {
            let stream: Pin<Box<dyn Stream>> = match tls {
                None => Box::pin(stream),
                // A handshake takes no longer than a head may, and a server that stops waits for none.
                Some(tls) => tokio::select! {
                    shaken = timeout(time, tls.accept(Box::pin(stream))) => match shaken {
                        Ok(Ok(stream)) => Box::pin(stream),
                        _ => return,
                    },
                    _ = closing.changed() => return,
                },
            };
            let (stream, seen) = Watched::new(stream);
            let answering = service_fn(move |request| {
                let malformed = malformed(&request, seen.next_is_ambiguous());
                let serving = serving.clone();
                async move { Ok::<_, Infallible>(serving.answer(request, malformed).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(time)
                .max_buf_size(MAX_HEAD)
                .max_headers(MAX_HEADERS)
                .serve_connection(TokioIo::new(stream), answering);
            // A connection that breaks concerns nobody but its client.
            let _ = watcher.watch(connection).await;
            drop(place);
        });
    }
    drop((listener, open));
    if timeout(limits.shutdown, graceful.shutdown()).await.is_err() {
        log("some connections did not end in time and were cut");
    }
}

/// A connection, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// What the requests of a connection have in common.
struct Serving<A> {
    service: Arc<A>,
    clock: Clock,
    /// What is left for bodies.
    memory: Arc<Semaphore>,
    body_time: Duration,
    peer: IpAddr,
}

impl<A> Clone for Serving<A> {
    fn clone(&self) -> Serving<A> {
        let Serving { service, clock, memory, body_time, peer } = self;
        let (service, clock, memory) = (Arc::clone(service), Arc::clone(clock), Arc::clone(memory));
        Serving { service, clock, memory, body_time: *body_time, peer: *peer }
    }
}

impl<A: Answering> Serving<A> {
    async fn answer(
        self,
        request: hyper::Request<Incoming>,
        malformed: Option<Box<Refusal>>,
    ) -> Response<Full<Bytes>> {
        let (id, started) = (Uuid::now_v7(), std::time::Instant::now());
        let (head, body) = request.into_parts();
        let is_kept = malformed.is_none() && !body.is_end_stream();
        let limit = if is_kept { self.service.body_limit(&head) } else { 0 };
        let gzip = accepts_gzip(&head.headers);
        let asked_first = head.headers.contains_key(hyper::header::EXPECT);
        let reading = async {
            let place = self.place_for(&body, limit).await;
            (place, read_body(body, limit, asked_first).await)
        };
        // The place is given back when the request is answered.
        let (_place, body) = match timeout(self.body_time, reading).await {
            Ok((place, body)) => (place, body),
            Err(_) => (None, Err(too_slow())),
        };
        let incomplete = body.is_err() || malformed.is_some();
        let request = Request {
            id,
            at: (self.clock)(),
            started,
            peer: self.peer,
            method: head.method.as_str().to_owned(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: head.headers,
            malformed,
            body,
        };
        // A panic is a bug; the client gets an answer all the same.
        let service = self.service;
        let outcome = catch_unwind(AssertUnwindSafe(|| Arc::clone(&service).answer(request)));
        let reply = match outcome {
            Ok(Outcome::Done(reply)) => reply,
            Ok(Outcome::Later(receiver)) => receiver.await.unwrap_or_else(|_| service.unavailable(id)),
            Err(_) => service.unavailable(id),
        };
        response(encoded(reply, gzip), id, incomplete)
    }

    /// Waits until there is memory for a body: its announced size, else the most it may have.
    async fn place_for(&self, body: &Incoming, limit: usize) -> Option<OwnedSemaphorePermit> {
        let announced = body.size_hint().exact().and_then(|size| usize::try_from(size).ok());
        let kept = announced.filter(|size| *size <= limit).unwrap_or(limit);
        let steps = u32::try_from(kept.div_ceil(BODY_STEP)).ok().filter(|steps| *steps > 0)?;
        // The semaphore is never closed.
        Arc::clone(&self.memory).acquire_many_owned(steps).await.ok()
    }
}

fn too_slow() -> Box<Refusal> {
    let message = "Die Daten kamen nicht vollständig an. Bitte die Anfrage wiederholen.";
    Refusal::new(Code::ZeitUeberschritten, message)
}

/// What is wrong with a request as HTTP (RFC 9112 3.2, 6.3). hyper takes all of these.
fn malformed(request: &hyper::Request<Incoming>, is_ambiguous: bool) -> Option<Box<Refusal>> {
    let hosts = request.headers().get_all(hyper::header::HOST).iter().count();
    let needs_host = request.version() == hyper::Version::HTTP_11;
    let message = if is_ambiguous {
        "Content-Length und Transfer-Encoding schließen einander aus. Bitte nur eines senden."
    } else if hosts > 1 || (needs_host && hosts == 0) {
        "Der Header Host muss genau einmal da sein."
    } else {
        return None;
    };
    Some(Refusal::new(Code::AnfrageUngueltig, message))
}

/// Reads a body of at most `limit` bytes. Of a larger one a part is read and thrown away, because
/// most clients send all of it before they look at the answer (RFC 9112 9.6); one that asked
/// before sending (`Expect: 100-continue`) is answered at once.
async fn read_body(mut body: Incoming, limit: usize, asked_first: bool) -> Result<Vec<u8>, Box<Refusal>> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit && asked_first {
        return Err(too_large(limit));
    }
    let mut content = Vec::with_capacity(if announced > limit { 0 } else { announced });
    let mut received = 0;
    while let Some(frame) = body.frame().await {
        let incomplete = "Die Anfrage ist unvollständig. Bitte wiederholen.";
        let frame = frame.map_err(|_| Refusal::new(Code::AnfrageUngueltig, incomplete))?;
        let Some(data) = frame.data_ref() else { continue };
        received += data.len();
        if received > limit.saturating_add(THROWN_AWAY) {
            break;
        }
        if received <= limit && announced <= limit {
            content.extend_from_slice(data);
        } else {
            content = Vec::new();
        }
    }
    if received > limit { Err(too_large(limit)) } else { Ok(content) }
}

fn too_large(limit: usize) -> Box<Refusal> {
    let message = format!("Die Anfrage ist größer als {} Bytes. Bitte aufteilen.", limit);
    Refusal::new(Code::ZuGross, message)
}

/// The answer as HTTP. A connection whose body was not read to its end cannot be used again.
fn response(reply: Reply, id: Uuid, close: bool) -> Response<Full<Bytes>> {
    let has_body = !reply.body.is_empty();
    let mut response = Response::new(Full::new(Bytes::from(reply.body)));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if has_body {
        headers.insert("content-type", HeaderValue::from_static("application/json; charset=utf-8"));
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    let mut insert = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    insert(HeaderName::from_static("x-request-id"), &id.to_string());
    for (name, value) in reply.headers.iter().filter(|(name, _)| *name != "vary") {
        insert(HeaderName::from_static(name), value);
    }
    // What an answer depends on is said in several places.
    let vary = reply.headers.iter().filter(|(name, _)| *name == "vary").map(|(_, value)| value.as_str());
    let vary = vary.collect::<Vec<_>>().join(", ");
    if !vary.is_empty() {
        insert(hyper::header::VARY, &vary);
    }
    if close {
        insert(hyper::header::CONNECTION, "close");
    }
    response
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
