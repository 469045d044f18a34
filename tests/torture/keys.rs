//! P16: a deactivated key opens nothing from the next request on, and its secret is stored nowhere.
//!
//! A trial is the life of a key: a command creates it, some clients use it without a pause, and another
//! command, or a person in the Leitstand, deactivates it meanwhile. Requests sent after that must be refused.
//! The secret of each key is also sent in headers and queries where it does not belong; at the end, all files
//! left by the server and a backup are searched for it, as text and as the bytes it encodes.

mod page;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::mills::{Mills, done};
use crate::process::{Folder, Running};
use crate::wire::{Talk, request};
use page::Person;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P16",
    what: "lives of a key: nothing is opened once it was deactivated, and its secret is in no file",
    needs: &[],
    seeds: 3,
    case,
    fault: "one key stays active; the secret of one is written in a note: each is found",
    control_seeds: 1,
};

/// Keys per seed, and clients of each.
const KEYS: usize = 4;
const CLIENTS: usize = 3;

/// Minimum number of requests of a client before and after the end.
const REQUESTS: usize = 6;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    StaysActive,
    IsNoted,
}

fn case(case: &mut Case) -> Result<u64, String> {
    if !case.has_fault {
        return lives(&mut case.dice, Fault::None);
    }
    let found = [Fault::StaysActive, Fault::IsNoted].map(|fault| lives(&mut case.dice, fault));
    match found {
        [Err(first), Err(second)] => Err(format!("{first}\n{second}")),
        _ => Ok(KEYS as u64),
    }
}

fn lives(dice: &mut Dice, fault: Fault) -> Result<u64, String> {
    let own = &Mills::get().own;
    let folder = Mills::get().copy();
    let server = logged(&folder);
    let client = server.client(&own.key);
    let mut person = Person::new(&folder, &server)?;
    let tenant = "select id from tenant where name = ?1";
    let tenant: i64 = folder.database().query_row(tenant, [own.name], |row| row.get(0)).unwrap();
    let faulty = dice.below(KEYS);
    let mut secrets = Vec::new();
    for nr in 0..KEYS {
        let create = ["key", "create", "--tenant", own.name, "--label", "torture", "--all-scopes"];
        let key = folder.result(&create).trim().to_owned();
        let is_faulty = nr == faulty;
        let id = key.split('_').nth(1).unwrap();
        let by_person = dice.once_in(2);
        let ends = || match (is_faulty && fault == Fault::StaysActive, by_person) {
            (true, _) => Ok(()),
            (false, true) => person.fills(&format!("/leitstand/f/{tenant}/schluessel/{id}/sperren"), &[]),
            (false, false) => {
                folder.result(&["key", "deactivate", id]);
                Ok(())
            }
        };
        live(&server, &key, ends)?;
        if is_faulty && fault == Fault::IsNoted {
            done(client.post("/api/v1/kunden", &json!({"name": "Notiz", "notizen": key})));
        }
        secrets.push(key);
    }
    folder.result(&["backup", "b.db"]);
    drop(person);
    let mut server = server;
    if dice.once_in(2) {
        server.kill();
    } else {
        server.signal("TERM");
        server.end();
    }
    secrets.iter().try_for_each(|key| is_nowhere(&folder, key))?;
    Ok(KEYS as u64)
}

/// A server whose log goes to a file.
fn logged(folder: &Folder) -> Running {
    let script = "exec \"$0\" \"$@\" 2>server.log";
    let mut command = folder.by_shell(script, &["serve", "--listen", "127.0.0.1:0"]);
    command.env("PARTNERD_LOG_FORMAT", "json");
    Running::start(command)
}

/// Clients use a key until it is deactivated, and continue for a while.
fn live(server: &Running, key: &str, ends: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let (is_ended, opened) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (is_ended, opened) = (&is_ended, &opened);
    std::thread::scope(|scope| {
        let client = |nr: usize| {
            scope.spawn(move || -> Result<(), String> {
                let mut talk = Talk::with(server);
                let mut after = 0;
                while after < REQUESTS {
                    let was_ended = is_ended.load(Ordering::SeqCst);
                    after += usize::from(was_ended);
                    let (method, bytes) = asked(key, nr, after);
                    let heard = talk.ask(method, &bytes)?;
                    if heard.status < 300 && was_ended {
                        return Err(format!(
                            "{method} was answered {} after the key was deactivated",
                            heard.status
                        ));
                    }
                    opened.fetch_add(usize::from(heard.status < 300), Ordering::Relaxed);
                }
                Ok(())
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        while opened.load(Ordering::Relaxed) < CLIENTS * REQUESTS
            && !clients.iter().all(|client| client.is_finished())
        {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let ended = ends();
        is_ended.store(true, Ordering::SeqCst);
        ended?;
        clients.into_iter().try_for_each(|client| client.join().unwrap())
    })
}

fn asked(key: &str, client: usize, nr: usize) -> (&'static str, Vec<u8>) {
    let body = format!("{{\"name\": \"Hof {client}-{nr}\"}}");
    let path = format!("/api/v1/laender?limit=1&key={key}");
    match client {
        0 => (
            "POST",
            request("POST", "/api/v1/kunden", key, &[("Idempotency-Key", &body)], Some(body.as_bytes())),
        ),
        1 => (
            "GET",
            request("GET", "/api/v1/laender?limit=1", key, &[("Authorization", key), ("X-Other", key)], None),
        ),
        _ if nr % 2 == 1 => ("GET", request("GET", &path, key, &[], None)),
        _ => ("GET", request("GET", "/api/v1/kunden?limit=1", key, &[("Cookie", key)], None)),
    }
}

/// Checks that no file contains the secret of a key; its public part must be found, to show that the search works.
fn is_nowhere(folder: &Folder, key: &str) -> Result<(), String> {
    let mut parts = key.splitn(3, '_').skip(1);
    let (id, secret) = (parts.next().unwrap(), parts.next().unwrap());
    let digits = secret.as_bytes().chunks_exact(2).map(|two| str::from_utf8(two).unwrap());
    let bytes: Vec<u8> = digits.map_while(|two| u8::from_str_radix(two, 16).ok()).collect();
    let upper = secret.to_uppercase();
    let mut names = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        let content = std::fs::read(entry.path()).unwrap();
        let has = |needle: &[u8]| memchr::memmem::find(&content, needle).is_some();
        let forms = [secret.as_bytes(), upper.as_bytes(), &bytes[..]];
        if forms.iter().any(|form| form.len() >= 20 && has(form)) {
            return Err(format!("the secret of a key is in {:?}", entry.file_name()));
        }
        names += usize::from(has(id.as_bytes()));
    }
    match names {
        0..3 => Err(format!("the public part of a key is in {names} files: the search does not see")),
        _ => Ok(()),
    }
}
