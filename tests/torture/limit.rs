//! P21: a key gets exactly as many answers a day as its limit, with many clients at once, and never more across kills.
//!
//! A case has two keys. With the first, 64 clients send more than its limit: exactly as many are answered.
//! With the second they do so while the server is killed at answers chosen by the seed: never more than the
//! limit are answered, and no fewer than the limit minus the requests in progress when it was killed. Each
//! item of a bulk request counts, too (D20).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::experiment::{Case, Experiment};
use crate::process::{Client, Folder, Running};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P21",
    what: "requests of keys whose day ends under 64 clients, half of them with kills",
    needs: &[],
    seeds: 3,
    case,
    fault: "the limit is raised by SQL when half of it is used",
    control_seeds: 1,
};

const CLIENTS: usize = 64;

/// Lower bound of a key's limit, which is less than 1.5 times as large.
const LIMIT: usize = 400;

/// The default limit (D20).
const LIMIT_FULL: usize = 10_000;

const KILLS: usize = 2;

/// Items of a bulk request.
const ITEMS: usize = 3;

/// The result of all clients.
#[derive(Default)]
struct Came {
    answered: AtomicUsize,
    /// The count of requests without an answer, which may have been counted.
    unanswered: AtomicUsize,
}

fn case(case: &mut Case) -> Result<u64, String> {
    let day = today();
    let mut answered = 0;
    for kills in [0, KILLS] {
        let limit = LIMIT + case.dice.below(LIMIT / 2);
        let limit = case.size(limit, LIMIT_FULL);
        let mut ends: Vec<usize> = (0..kills).map(|_| 1 + case.dice.below(limit)).collect();
        ends.sort_unstable();
        let folder = company().copy();
        let came = used_up(&folder, limit, &ends, case.has_fault);
        if today() != day {
            // Midnight gave the key a second day.
            return Ok(0);
        }
        let [got, lost] = [came.answered, came.unanswered].map(AtomicUsize::into_inner);
        let is_right = if kills == 0 { got == limit } else { got <= limit && got + lost >= limit };
        if !is_right {
            return Err(format!(
                "{got} of {limit} a day were answered, {lost} had no answer; killed when {ends:?} were answered"
            ));
        }
        answered += got as u64;
    }
    Ok(answered)
}

fn today() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    since.as_secs() / 86_400
}

fn company() -> &'static Folder {
    static COMPANY: OnceLock<Folder> = OnceLock::new();
    COMPANY.get_or_init(|| {
        let folder = Folder::new();
        folder.result(&["tenant", "create", "Mühle"]);
        folder
    })
}

/// Lets clients send until each of them was refused, and kills the server after these numbers of answers.
fn used_up(folder: &Folder, limit: usize, ends: &[usize], is_raised: bool) -> Came {
    let number = limit.to_string();
    let create =
        ["key", "create", "--tenant", "Mühle", "--label", "t", "--all-scopes", "--daily-limit", &number];
    let key = folder.result(&create).trim().to_owned();
    let came = Came::default();
    for end in ends.iter().copied().chain([usize::MAX]) {
        let mut server = folder.serve(&[]);
        // More may have been answered at the time of the last kill.
        let end = end.max(came.answered.load(Ordering::SeqCst) + 1);
        let at = |answered: usize| {
            if answered == end {
                server.signal("KILL");
            }
            if is_raised && answered == limit / 2 {
                let raise = "update api_key set tageslimit = tageslimit + 100";
                assert_eq!(folder.database().execute(raise, []), Ok(1));
            }
        };
        std::thread::scope(|scope| {
            let work = |nr: usize| send(&server.client(&key), nr, &came, &at);
            (0..CLIENTS).for_each(|nr| drop(scope.spawn(move || work(nr))));
        });
        end_of(&mut server, end);
    }
    came
}

fn end_of(server: &mut Running, end: usize) {
    if end == usize::MAX {
        server.signal("TERM");
        server.end();
    } else {
        server.kill();
    }
}

/// Reads, writes and makes mistakes until the limit is reached or the server is gone. `at` gets the number of
/// answers so far, one after the other.
fn send(client: &Client, nr: usize, came: &Came, at: &(dyn Fn(usize) + Sync)) {
    let name = json!({"name": format!("Hof {nr}")});
    let bulk = json!({"items": vec![name.clone(); ITEMS]});
    for turn in nr.. {
        let (counts, answer) = match turn % 4 {
            0 => (1, client.send("GET", "/api/v1/laender?limit=1", None)),
            1 => (1, client.send("POST", "/api/v1/kunden", Some(&name))),
            2 => (1, client.send("GET", "/api/v1/kunden/x", None)),
            _ => (1 + ITEMS, client.send("POST", "/api/v1/kunden/stapel", Some(&bulk))),
        };
        let Ok(answer) = answer else {
            came.unanswered.fetch_add(counts, Ordering::SeqCst);
            return;
        };
        if answer.status == 429 {
            return;
        }
        let items = answer.body["data"].as_array().into_iter().flatten();
        let got =
            1 + items.filter(|item| item["status"].as_i64().is_some_and(|status| status != 429)).count();
        let before = came.answered.fetch_add(got, Ordering::SeqCst);
        (before + 1..=before + got).for_each(at);
    }
}
