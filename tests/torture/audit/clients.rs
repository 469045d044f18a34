//! Clients of a server that ends while they work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::mills::Mills;
use crate::process::{Folder, Running};
use crate::strace::Strace;
use crate::wire::{Wire, request};

const CLIENTS: u64 = 6;

/// Maximum number of requests of one client, in case the server never ends.
const REQUESTS_MAX: usize = 5_000;

/// A request that was answered.
pub struct Answered {
    pub request_id: String,
    pub status: u16,
    /// Method and path.
    pub sent: String,
}

/// How the server ends while clients work.
pub enum End {
    /// It gets a signal.
    Signal(&'static str),
    /// Some of its calls fail (in strace's syntax), and it is told to stop if that did not end it.
    CallsFail(String),
}

/// Serves clients until this many requests were answered, or the server has ended itself; returns the answers.
pub fn life(
    folder: &Folder,
    keys: [&str; 2],
    end: &End,
    seed: u64,
    answers: usize,
) -> Result<Vec<Answered>, String> {
    let settings = folder.write("torture.toml", "log_level = \"warn\"\n");
    let mut server = folder.serve(&["--config", &settings]);
    let strace = match end {
        End::CallsFail(inject) => Some(Strace::attach(folder, server.pid(), inject)),
        End::Signal(_) => None,
    };
    let (answered, count) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let wrong = std::thread::scope(|scope| {
        let client = |nr: u64| {
            let (server, answered, count) = (&server, &answered, &count);
            scope.spawn(move || {
                let mut client =
                    Client { server, keys, dice: Dice::new(seed.wrapping_add(nr)), name: seed ^ nr };
                client.works(|one| {
                    answered.lock().unwrap().push(one);
                    count.fetch_add(1, Ordering::Relaxed);
                })
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        let is_gone = || clients.iter().all(|client| client.is_finished());
        while count.load(Ordering::Relaxed) < answers && !is_gone() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(strace) = strace {
            strace.ends(folder, is_gone());
        }
        server.signal(if let End::Signal(signal) = end { signal } else { "TERM" });
        clients.into_iter().find_map(|client| client.join().unwrap().err())
    });
    server.end();
    match wrong {
        Some(wrong) => Err(wrong),
        None => Ok(answered.into_inner().unwrap()),
    }
}

struct Client<'s> {
    server: &'s Running,
    keys: [&'s str; 2],
    dice: Dice,
    name: u64,
}

impl Client<'_> {
    /// Sends requests until the server is gone.
    fn works(&mut self, mut heard: impl FnMut(Answered)) -> Result<(), String> {
        let Some(mut wire) = Wire::try_open(self.server) else { return Ok(()) };
        for nr in 0..REQUESTS_MAX {
            let (method, path, body) = self.draws(nr);
            let key = self.keys[usize::from(self.dice.once_in(5))];
            let once = format!("{}-{}", self.name, nr / 2);
            let headers: &[(&str, &str)] =
                if path.ends_with("?") { &[("Idempotency-Key", &once)] } else { &[] };
            let bytes =
                request(method, path.trim_end_matches('?'), key, headers, body.as_deref().map(str::as_bytes));
            let sent = match self.dice.below(12) {
                0 => self.dice.below(bytes.len()),
                _ => bytes.len(),
            };
            let hangs_up = sent < bytes.len() || self.dice.once_in(12);
            if !wire.send(&bytes[..sent]) && !hangs_up {
                return Ok(());
            }
            if !hangs_up {
                let Some(answer) = wire.hear(method)? else { return Ok(()) };
                let request_id = answer.header("x-request-id").unwrap_or_default().to_owned();
                let path = path.trim_end_matches('?');
                heard(Answered { request_id, status: answer.status, sent: format!("{method} {path}") });
                if answer.header("connection") != Some("close") {
                    continue;
                }
            }
            match Wire::try_open(self.server) {
                Some(another) => wire = another,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Draws method, path and body of a request; a `?` at the end of the path means that it is sent with an
    /// Idempotency-Key.
    fn draws(&mut self, nr: usize) -> (&'static str, String, Option<String>) {
        let own = &Mills::get().own;
        let name = format!("{} {nr}", self.name);
        let (kunde, artikel) = (&own.ids["kunde"], &own.ids["artikel_ohne"]);
        let customer = |kind: &str| Some(json!({"name": format!("{kind} {name}")}).to_string());
        let text = |value: Value| Some(value.to_string());
        let document =
            json!({"beleg_typ": "AN", "kunden_id": kunde, "items": [{"artikel_id": artikel, "menge": 1}]});
        let path = |path: &str| format!("/api/v1{path}");
        match self.dice.below(16) {
            0 => ("GET", path("/laender?limit=1"), None),
            1 => ("GET", format!("/api/v1/kunden/{kunde}"), None),
            2 => ("GET", path("/kunden?limit=3&suche=hof"), None),
            3 => ("GET", path("/kunden/x"), None),
            4 => ("HEAD", path("/artikel"), None),
            5 => ("GET", path("/nichts"), None),
            6 => ("POST", path("/laender"), text(json!({}))),
            7 => ("POST", path("/kunden"), Some("{".to_owned())),
            8 => ("GET", path("/kunden?limit=-1"), None),
            9 => ("PUT", format!("/api/v1/kunden/{kunde}"), text(json!({"ort": name}))),
            10 => ("POST", path("/belege"), text(document)),
            11 => ("POST", path("/kunden/stapel"), text(json!({"items": [{"name": name}, {"name": 1}, {}]}))),
            12 => ("POST", path("/kunden?"), customer("Einmal")),
            _ => ("POST", path("/kunden"), customer("Einzeln")),
        }
    }
}
