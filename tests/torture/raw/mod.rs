//! P18 and P23: invalid HTTP is never carried out, and no bytes stop the server.
//!
//! A trial is a stream of bytes on a separate connection: valid requests and those of
//! `tests/data/http_raw.json`, mutated at random and sent in random pieces. `grammar.rs` reads the same bytes
//! as strictly as the RFCs demand, and returns how many requests may be carried out. No more than these may
//! get a 2xx, none a 500; every connection ends, even if nothing more is sent; and no more records are
//! created than the valid requests can create. Honest clients are answered in between.
//!
//! A violating stream is shrunk as long as it violates the promise.

mod grammar;

use serde_json::Value;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::fuzz::{Input, mutated, shrunk};
use crate::mills::Mills;
use crate::process::{Folder, Running};
use crate::wire::{Wire, request};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P18",
    what: "bytes on the socket, changed by chance: only what is good HTTP is carried out, every connection ends",
    needs: &[],
    seeds: 3,
    case,
    fault: "requests of HTTP/1.0 are expected to be refused",
    control_seeds: 1,
};

/// Streams per seed.
const STREAMS: usize = 1_500;

/// Connections on which a part of a request is sent, and then nothing for the whole time.
const STALLED: usize = 20;

/// An honest client sends a request after each of this many streams.
const HONEST_EACH: usize = 100;

/// Header lines with a length, a coding or a host that could be misread.
const LINES: &[&str] = &[
    "Content-Length: 14\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: +14\r\n",
    "Content-Length: 14, 14\r\n",
    "Content-Length: 14, 15\r\n",
    "Content-Length: 0x0e\r\n",
    "Content-Length: 18446744073709551617\r\n",
    "Content-Length:\r\n",
    "Content-Length : 14\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: Chunked \r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "Transfer-Encoding:\x0bchunked\r\n",
    "Transfer-Encoding\r\n",
    "Host: b\r\n",
    "Host:\r\n",
    "Host: a b\r\n",
    "Host: user@a\r\n",
    "Host: a/b\r\n",
    " folded\r\n",
    ": nameless\r\n",
    "X-A: \0\r\n",
    "X-A: 1\rHost: b\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Connection: upgrade\r\nUpgrade: h2c\r\n",
    "\n",
    "\r\n",
    "0\r\n\r\n",
    "GET /api/v1 HTTP/1.1\r\nHost: a\r\n\r\n",
];

fn case(case: &mut Case) -> Result<u64, String> {
    let own = &Mills::get().own;
    let folder = Mills::get().copy();
    let before = customers(&folder);
    let settings = "log_level = \"warn\"\nheader_timeout = 3\nbody_timeout = 3\n";
    let server = folder.serve(&["--config", &folder.write("torture.toml", settings)]);
    let trier = Trier { server: &server, expects_new: case.has_fault };
    let rows = rows();
    if !case.has_fault {
        rows.iter().try_for_each(|row| trier.row(row, &own.key))?;
    }
    let corpus = corpus(&rows, &own.key);
    let client = server.client(&own.key);
    let stalled: Vec<Wire> = (0..STALLED).map(|_| trier.stalls(&mut case.dice, &corpus)).collect();
    let (mut least, mut most) = (0, 0);
    for nr in 0..STREAMS {
        let stream = changed(&mut case.dice, &corpus);
        let cuts = case.dice.below(4);
        let cuts: Vec<usize> = (0..cuts).map(|_| case.dice.below(stream.bytes().len() + 1)).collect();
        let made = trier.tries(&stream.bytes(), cuts).map_err(|wrong| {
            let less = shrunk(stream.clone(), &mut |less| trier.tries(&less.bytes(), Vec::new()).is_err());
            format!("{wrong}\nbytes: {}", less.shown())
        })?;
        (least, most) = (least + made.0, most + made.1);
        if nr % HONEST_EACH == 0 && client.get("/api/v1/laender?limit=1").status != 200 {
            return Err("an honest client was not answered".to_owned());
        }
    }
    stalled.into_iter().try_for_each(comes_to_its_end)?;
    // At least as many as answers reported, at most one for each valid request.
    let made = (customers(&folder) - before) as usize;
    if !(least..=most).contains(&made) {
        return Err(format!("{made} customers were made by {least} to {most} good requests"));
    }
    Ok(STREAMS as u64 + rows.len() as u64)
}

/// Checks that the server ends a connection on which nothing arrives.
fn comes_to_its_end(mut wire: Wire) -> Result<(), String> {
    while wire.hear("GET").map_err(|wrong| format!("a connection that stalled: {wrong}"))?.is_some() {}
    Ok(())
}

fn customers(folder: &Folder) -> i64 {
    folder.database().query_row("select count(*) from kunde", [], |row| row.get(0)).unwrap()
}

fn rows() -> Vec<Value> {
    let text = include_str!("../../data/http_raw.json");
    serde_json::from_str::<Vec<Value>>(text).unwrap()
}

/// One byte for each letter: some rows contain bytes that are not UTF-8.
fn bytes_of(row: &Value, key: &str) -> Vec<u8> {
    let text = row["raw"].as_str().unwrap().replace("{KEY}", key);
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

fn corpus(rows: &[Value], key: &str) -> Vec<Input> {
    let name = br#"{"name":"Roh"}"#;
    let good = [
        request("POST", "/api/v1/kunden", key, &[], Some(name)),
        request("POST", "/api/v1/kunden", key, &[("Connection", "close")], Some(name)),
        request("GET", "/api/v1/kunden?limit=1", key, &[], None),
        request("HEAD", "/api/v1", "", &[], None),
    ];
    let head = |more: &str, rest: &str| {
        format!("POST /api/v1/kunden HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n{more}\r\n{rest}")
    };
    let texts = [
        head("Transfer-Encoding: chunked\r\n", "7\r\n{\"name\"\r\n7;x=y\r\n:\"Roh\"}\r\n0\r\n\r\n"),
        head("Content-Length: 14\r\nExpect: 100-continue\r\n", "{\"name\":\"Roh\"}"),
        format!(
            "POST /api/v1/kunden HTTP/1.0\r\nX-API-Key: {key}\r\nContent-Length: 14\r\n\r\n{{\"name\":\"Roh\"}}"
        ),
        "GET /api/v1 HTTP/1.0\r\n\r\n".to_owned(),
    ];
    // The long ones cost the most and test nothing more.
    let short = rows.iter().map(|row| bytes_of(row, key)).filter(|bytes| bytes.len() < 5_000);
    let two = [good[0].clone(), good[2].clone()].concat();
    let all = good.into_iter().chain(texts.map(String::into_bytes)).chain(short).chain([two]);
    all.map(Input::Plain).collect()
}

/// A random stream.
fn changed(dice: &mut Dice, corpus: &[Input]) -> Input {
    let mut bytes = match dice.once_in(2) {
        true => mutated(dice, corpus).bytes(),
        false => corpus[dice.below(corpus.len())].bytes(),
    };
    for _ in 0..dice.below(3) {
        // Beginnings of lines.
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        let at = dice.pick(&ends).unwrap_or(0);
        let line = LINES[dice.below(LINES.len())].as_bytes();
        bytes.splice(at..at, line.iter().copied());
    }
    match dice.below(10) {
        0 => bytes = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").into_bytes(),
        1 => bytes.extend(corpus[dice.below(corpus.len())].bytes()),
        _ => {}
    }
    Input::Plain(bytes)
}

struct Trier<'s> {
    server: &'s Running,
    /// The fault: it expects HTTP/1.0 to be refused.
    expects_new: bool,
}

impl Trier<'_> {
    /// Sends a row of the table unchanged.
    fn row(&self, row: &Value, key: &str) -> Result<(), String> {
        let mut wire = Wire::open(self.server);
        wire.send(&bytes_of(row, key));
        wire.ends_sending();
        let method = row["raw"].as_str().unwrap().split(' ').next().unwrap_or_default();
        let status = wire.hear(method)?.map(|heard| heard.status);
        let fits = |range: &Value| {
            let (from, to) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
            status.is_some_and(|status| (from..=to).contains(&u64::from(status)))
        };
        match row["erwartet"].as_array().unwrap().iter().any(fits) {
            true => Ok(()),
            false => Err(format!("{}: {status:?}, must be in {}", row["id"], row["erwartet"])),
        }
    }

    /// Sends the beginning of a stream; without a name it creates no customer.
    fn stalls(&self, dice: &mut Dice, corpus: &[Input]) -> Wire {
        let bytes = String::from_utf8_lossy(&changed(dice, corpus).bytes()).replace("name", "n");
        let mut wire = Wire::open(self.server);
        wire.send(&bytes.as_bytes()[..dice.below(bytes.len() + 1)]);
        wire
    }

    /// Sends bytes in pieces; returns the minimum and maximum number of customers they created.
    fn tries(&self, bytes: &[u8], mut cuts: Vec<usize>) -> Result<(usize, usize), String> {
        let mut good = grammar::good(bytes);
        if self.expects_new && bytes.windows(8).any(|text| text == b"HTTP/1.0") {
            good.clear();
        }
        cuts.sort_unstable();
        cuts.push(bytes.len());
        let (mut wire, mut from) = (Wire::open(self.server), 0);
        for cut in cuts {
            wire.send(&bytes[from..cut]);
            from = cut;
        }
        wire.ends_sending();
        let (mut done, mut made) = (0, 0);
        while let Some(heard) = wire.hear(good.get(done).map_or("GET", String::as_str))? {
            if heard.status == 500 {
                return Err(format!("it was answered 500: {}", heard.text()));
            }
            if heard.status < 200 {
                continue;
            }
            let is_done = heard.status < 300;
            if is_done && done >= good.len() {
                return Err(format!(
                    "{} requests are good, and a further one was answered {}: {}",
                    good.len(),
                    heard.status,
                    heard.text()
                ));
            }
            made += usize::from(heard.status == 201);
            done += 1;
        }
        let posts = good.iter().filter(|method| *method == "POST").count();
        Ok((made, posts))
    }
}
