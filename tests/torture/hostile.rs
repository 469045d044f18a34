//! P17: slow and silent connections do not lock out honest clients, and are closed.
//!
//! Some connections never finish a head, a body or an upload, do not read their answers, send a byte now and
//! then, or nothing more; they come in an order chosen by the seed, from the address of the honest clients,
//! which has fewer places than all of them together. Most of them exist beforehand, the others come while
//! honest clients read and write. Every honest request is answered, and the server closes every hostile
//! connection. The speed of honest clients beside them is measured elsewhere (`tests/load/hostile.rs`).

use std::io::{ErrorKind, Read, Write};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::experiment::{Case, Experiment};
use crate::power::writers;
use crate::process::{Folder, Running};
use crate::socket::{self, PATIENCE, Raw};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P17",
    what: "honest requests beside 560 slow and silent connections (12,000)",
    needs: &[],
    seeds: 2,
    case,
    fault: "the address has 20 places, and silent connections that were answered keep them",
    control_seeds: 1,
};

/// Hostile connections of a case: more than the 512 places of an address. All but the last exist before the
/// honest clients begin.
const HOSTILE: usize = 560;
const LATER: usize = 60;

/// In the full size; most of these send nothing.
const HOSTILE_FULL: usize = 12_000;
/// One in this many sends something.
const SLOW: usize = 6;

const HONEST: usize = 8;

/// Reads of an honest client, on a connection that it keeps, and as many writes, each on a new one.
const REQUESTS: usize = 10;

/// A slow connection is closed after two seconds.
const SETTINGS: &str = "log_level = \"warn\"\nheader_timeout = 2\nbody_timeout = 2\nwrite_timeout = 2\n";

/// Twenty places that need not be given up.
const FEW_PLACES: &str =
    "log_level = \"warn\"\nheader_timeout = 60\nbody_timeout = 2\nmax_connections_per_address = 20\n";

/// What a connection fails to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Head,
    Body,
    Upload,
    Read,
    Begin,
    /// It was answered, and sends no further request.
    Ask,
    /// Its head comes byte by byte.
    Hurry,
}

const KINDS: &[Kind] =
    &[Kind::Head, Kind::Body, Kind::Upload, Kind::Read, Kind::Begin, Kind::Ask, Kind::Hurry];

struct Hostile {
    kind: Kind,
    connection: Raw,
}

impl Hostile {
    fn open(server: &Running, kind: Kind, key: &str) -> Option<Hostile> {
        let mut connection = Raw::open(&server.address)?;
        let body =
            socket::send("POST", "kunden", key, "", &format!("{{\"name\": \"{}\"}}", "x".repeat(1_000)));
        let upload = socket::send("POST", "belege/einlesen", key, "", &"x".repeat(1 << 20));
        let sent = match kind {
            Kind::Head => "GET /api/v1/laender HTTP/1.1\r\nHost:",
            Kind::Body => &body[..body.len() - 500],
            Kind::Upload => &upload[..50_000],
            Kind::Read => &socket::get("laender", key).repeat(20),
            Kind::Begin => "",
            Kind::Ask => &socket::get("laender?limit=1", key),
            Kind::Hurry => "GET /api/v1/laender HTTP/1.1\r\nX-Lang: ",
        };
        connection.write(sent.as_bytes());
        if kind == Kind::Ask {
            connection.answer();
        }
        connection.stream.set_nonblocking(true).unwrap();
        Some(Hostile { kind, connection })
    }

    /// Whether the server has closed it, after another byte if it sends slowly.
    fn is_closed(&mut self) -> bool {
        let stream = &mut self.connection.stream;
        if self.kind == Kind::Hurry && stream.write_all(b"a").is_err() {
            return true;
        }
        let mut buffer = [0; 65_536];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != ErrorKind::WouldBlock,
            }
        }
    }
}

fn case(case: &mut Case) -> Result<u64, String> {
    let (beginning, [honest, hostile]) = beginning();
    let folder = beginning.copy();
    let settings = folder.write("times.toml", if case.has_fault { FEW_PLACES } else { SETTINGS });
    let server = folder.serve(&["--config", &settings]);
    let kinds: Vec<Kind> = (0..case.size(HOSTILE, HOSTILE_FULL))
        .filter_map(|_| match case.is_full && !case.dice.once_in(SLOW) {
            true => Some(Kind::Begin),
            false => case.dice.pick(KINDS),
        })
        .collect();
    let open = |kinds: &[Kind]| -> Vec<Hostile> {
        kinds.iter().filter_map(|kind| Hostile::open(&server, *kind, hostile)).collect()
    };
    let (before, meanwhile) = kinds.split_at(kinds.len() - LATER);
    let mut all = open(before);
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let server = &server;
        let clients: Vec<_> = (0..HONEST).map(|nr| scope.spawn(move || work(server, honest, nr))).collect();
        all.extend(open(meanwhile));
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    results.into_iter().collect::<Result<Vec<()>, _>>()?;
    are_closed(all)?;
    Ok((2 * HONEST * REQUESTS) as u64)
}

/// Creates a company with two keys: one for the honest clients, one for the others.
fn beginning() -> &'static (Folder, [String; 2]) {
    static BEGINNING: OnceLock<(Folder, [String; 2])> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let (folder, key) = writers::beginning();
        let folder = folder.copy();
        let create = ["key", "create", "--tenant", "Mühle", "--label", "andere", "--all-scopes"];
        let other = folder.result(&create).trim().to_owned();
        (folder, [key.clone(), other])
    })
}

/// The requests of an honest client, each of which must be answered.
fn work(server: &Running, key: &str, nr: usize) -> Result<(), String> {
    let read = socket::get("laender?limit=1", key);
    let mut kept: Option<Raw> = None;
    for turn in 0..REQUESTS {
        let body = format!("{{\"name\": \"Hof {nr}-{turn}\"}}");
        let write = socket::send("POST", "kunden", key, "Connection: close\r\n", &body);
        let (status, _) = ask(server, &write).ok_or_else(|| unanswered(nr, turn, "write"))?;
        if status != 201 {
            return Err(format!("write {turn} of honest client {nr} was answered {status}"));
        }
        let again = kept.take().and_then(|mut kept| {
            kept.write(read.as_bytes());
            kept.answer().map(|answer| (answer.status, kept))
        });
        // A connection on which the client itself was slow may be closed; then it opens another one, like any client.
        let answered = again.or_else(|| ask(server, &read));
        let (status, connection) = answered.ok_or_else(|| unanswered(nr, turn, "read"))?;
        if status != 200 {
            return Err(format!("read {turn} of honest client {nr} was answered {status}"));
        }
        kept = Some(connection);
    }
    Ok(())
}

/// Sends a request on a new connection; returns the status of its answer.
fn ask(server: &Running, request: &str) -> Option<(u16, Raw)> {
    let mut connection = Raw::open(&server.address)?;
    connection.write(request.as_bytes());
    connection.answer().map(|answer| (answer.status, connection))
}

fn unanswered(nr: usize, turn: usize, what: &str) -> String {
    format!("{what} {turn} of honest client {nr} was not answered beside the others")
}

/// Waits until the server has closed all of these.
fn are_closed(mut open: Vec<Hostile>) -> Result<(), String> {
    let begun = Instant::now();
    while !open.is_empty() {
        if begun.elapsed() > PATIENCE {
            let kinds: Vec<Kind> = open.iter().map(|hostile| hostile.kind).collect();
            return Err(format!("these were not closed: {kinds:?}"));
        }
        open.retain_mut(|hostile| !hostile.is_closed());
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
