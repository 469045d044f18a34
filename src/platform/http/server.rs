//! The HTTP server: reads requests from sockets under limits and timeouts, passes them to [`Answering`], and
//! writes the answers. HTTP/1 only.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{EXPECT, TRANSFER_ENCODING};
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

use super::answering::Answering;
pub use super::client::Limits;
use super::client::{BodyBudgets, Client, ConnectionContext, Stage};
use super::connections::{ConnectionSlot, Connections};
use super::cpu_pool::on_cpu_pool;
use super::encoding::{accepts_gzip, encoded};
use super::error::unavailable;
use super::message::{Content, malformed, response};
use super::paced::Paced;
use super::plain;
use super::reply::Reply;
use super::request::{Body, Request, unreserved};
use super::socket::Socket;
use crate::platform::db::{Clock, log};

/// Largest request head in bytes; also the size of a connection's read buffer.
const HEAD_BYTES_MAX: usize = 16 << 10;

const HEADERS_MAX: usize = 100;

/// Answers above this size, in bytes, are not compressed on a socket thread.
const GZIP_IN_PLACE_BYTES_MAX: usize = 64 << 10;

/// How long requests may continue after the stopping server has cut their connections.
const CUT_REQUESTS_WAIT_MAX: Duration = Duration::from_secs(1);

/// Pause after the machine refused a connection (too many open files).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` completes: then accepts no more connections, and finishes running requests.
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
    let (limits, bodies) = (Arc::new(limits), Arc::<BodyBudgets>::default());
    let serving = Arc::new(Serving { service, clock, bodies, limits, tls });
    let (stage, of_connections) = watch::channel(Stage::Serving);
    tokio::select! {
        () = accept(&listener, &serving, &connections, &graceful, &of_connections) => {}
        () = stop => {}
    }
    drop((listener, of_connections));
    stage.send_replace(Stage::Stopping);
    let all_done = async {
        graceful.shutdown().await;
        stage.closed().await;
    };
    if timeout(serving.limits.shutdown, all_done).await.is_err() {
        log("some connections did not end in time and were cut");
        stage.send_replace(Stage::Cut);
        // Cutting a connection ends the reading of its body: that request is refused and gets its audit row.
        // Requests that wait for our own threads may still be lost.
        let _ = timeout(CUT_REQUESTS_WAIT_MAX, stage.closed()).await;
    }
}

/// Accepts connections, each served by a task of its own.
async fn accept<A: Answering>(
    listener: &TcpListener,
    serving: &Arc<Serving<A>>,
    connections: &Arc<Connections>,
    graceful: &GracefulShutdown,
    stage: &watch::Receiver<Stage>,
) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok((stream, peer)) => (stream, peer.ip()),
            Err(error) => {
                log(&format!("a connection was not accepted: {error}"));
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // A rejected connection is closed without an answer.
        let Some(slot) = connections.admit(serving.service.client(peer)) else { continue };
        let number = slot.number;
        let connection = Arc::clone(serving).serve(stream, peer, slot, stage.clone(), graceful.watcher());
        let task = tokio::spawn(connection);
        connections.served_by(number, task.abort_handle());
    }
}

trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// State shared by all connections.
struct Serving<A> {
    service: Arc<A>,
    clock: Clock,
    bodies: Arc<BodyBudgets>,
    limits: Arc<Limits>,
    tls: Option<TlsAcceptor>,
}

impl<A: Answering> Serving<A> {
    /// Serves the requests of a connection, one after another.
    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        peer: IpAddr,
        slot: ConnectionSlot,
        mut stage: watch::Receiver<Stage>,
        watcher: Watcher,
    ) {
        // The unspecified address if the client is already gone.
        let local = stream.local_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |local| local.ip());
        let Some((stream, socket)) = self.handshake(stream, stage.clone()).await else { return };
        let context = Arc::new(ConnectionContext {
            peer,
            local,
            slot,
            socket,
            limits: Arc::clone(&self.limits),
            bodies: Arc::clone(&self.bodies),
            stage: stage.clone(),
        });
        let answering =
            service_fn(async |request| Ok::<_, Infallible>(self.respond(request, &context).await));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // A client may send its requests, close its sending side, and wait for the answers.
            .half_close(true)
            .header_read_timeout(self.limits.header)
            .max_buf_size(HEAD_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .serve_connection(TokioIo::new(stream), answering);
        tokio::select! {
            biased;
            // A broken connection concerns only its client.
            _ = watcher.watch(connection) => {}
            _ = stage.wait_for(|stage| *stage == Stage::Cut) => {}
        }
    }

    /// Returns the stream after the TLS handshake, which must take no longer than a request head; `None` if
    /// it fails or the server stops.
    async fn handshake(
        &self,
        stream: TcpStream,
        mut stage: watch::Receiver<Stage>,
    ) -> Option<(Pin<Box<dyn Stream>>, Socket)> {
        // Small answers must not wait for more data (Nagle).
        let _ = stream.set_nodelay(true);
        let Serving { limits, tls, .. } = self;
        let Some(tls) = tls else {
            let socket = Socket::new(stream);
            return Some((Box::pin(Paced::new(socket.clone(), limits.write)), socket));
        };
        let shaking = async {
            if plain::is_spoken(&stream).await {
                plain::answer(stream, HEAD_BYTES_MAX).await;
                return None;
            }
            let socket = Socket::new(stream);
            let handshake = tls.accept(Paced::new(socket.clone(), limits.write)).await.ok()?;
            Some((Box::pin(handshake) as Pin<Box<dyn Stream>>, socket))
        };
        tokio::select! {
            handshake = timeout(limits.header, shaking) => handshake.ok().flatten(),
            _ = stage.changed() => None,
        }
    }

    async fn respond(
        &self,
        request: hyper::Request<Incoming>,
        context: &Arc<ConnectionContext>,
    ) -> Response<Content> {
        let (id, started) = (Uuid::now_v7(), Instant::now());
        let (head, body) = request.into_parts();
        let malformed = malformed(&head);
        // If its length is ambiguous, the following bytes must not be taken for a request (RFC 9112 6.1).
        let is_last = malformed.is_some() || head.headers.contains_key(TRANSFER_ENCODING);
        let gzip = accepts_gzip(&head.headers);
        let mut client = Client::new(body, head.headers.contains_key(EXPECT), Arc::clone(context));
        let request = Request {
            id,
            at: (self.clock)(),
            started,
            peer: context.peer,
            local: context.local,
            method: head.method.as_str().to_owned(),
            path: unreserved(head.uri.path()),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: head.headers,
            malformed,
            body: if client.has_body() { Body::default() } else { Body::from_bytes(Vec::new()) },
        };
        let service = Arc::clone(&self.service);
        let answering = async move {
            let reply = service.answer(request, &mut client).await;
            // Returned because the client's body may still be arriving.
            (reply, client)
        };
        let (reply, is_drained) = match in_place_or_in_task(answering).await {
            Some((reply, mut client)) => (reply, client.drain().await),
            // Answering panicked.
            None => (unavailable(id), false),
        };
        let reply = compressed(reply, gzip).await;
        context.slot.mark_answered();
        response(reply, id, is_last || !is_drained)
    }
}

/// Polls once in place: a short read costs less than handing it over. If not ready, it continues in a task of
/// its own, which runs to its end even if the client hangs up. `None` if it panicked.
async fn in_place_or_in_task<T: Send + 'static>(
    answering: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let mut answering = Box::pin(AssertUnwindSafe(answering).catch_unwind());
    match poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await {
        Poll::Ready(done) => done.ok(),
        Poll::Pending => tokio::spawn(answering).await.ok()?.ok(),
    }
}

/// Returns the answer in a form the client accepts.
async fn compressed(reply: Reply, gzip: bool) -> Reply {
    if !gzip || reply.body.len() <= GZIP_IN_PLACE_BYTES_MAX {
        return encoded(reply, gzip);
    }
    let lost = Reply { status: reply.status, ..Reply::default() };
    on_cpu_pool(move || encoded(reply, true)).await.unwrap_or(lost)
}

/// Resolves when `told` is true, after calling `then`.
pub async fn once_told(mut told: watch::Receiver<bool>, then: impl FnOnce()) {
    // If the sender is gone, this resolves, too.
    let _ = told.wait_for(|told| *told).await;
    then();
}

/// Resolves when Windows asks the service to stop, after calling `told`.
#[cfg(windows)]
pub fn when_told(stop: &tokio::sync::Notify, told: impl FnOnce()) -> impl Future<Output = ()> {
    async move {
        stop.notified().await;
        told();
    }
}

/// Registers for SIGTERM and SIGINT (Ctrl-C) at once; the future resolves at the first of them, after calling
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
