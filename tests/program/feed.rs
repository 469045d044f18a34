//! The change feed with the real executable (D28): after `kill -9`, after a restore, and with 1,000 clients
//! that wait at once.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::process::{Client, Folder, read_once};
use serde_json::json;

const PATH: &str = "/api/v1/aenderungen";

/// What a follower saw: how often each version of each record came, and the cursor to continue with.
struct Follower {
    cursor: String,
    seen: BTreeMap<(String, i64), usize>,
}

impl Follower {
    /// Reads one page; returns the number of changes, `None` if the server is gone.
    fn step(&mut self, client: &Client) -> Option<usize> {
        let answer = client.send("GET", &format!("{PATH}?seit={}&limit=20", self.cursor), None).ok()?;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let data = answer.body["data"].as_array().unwrap();
        for change in data {
            let id = change["id"].as_str().unwrap().to_owned();
            *self.seen.entry((id, change["version"].as_i64().unwrap())).or_default() += 1;
        }
        self.cursor = answer.body["cursor"].as_str().unwrap().to_owned();
        Some(data.len())
    }
}

/// Writes until the server is gone; records what was answered.
fn write(client: &Client, thread: usize, round: usize, answered: &Mutex<Vec<(String, i64)>>) {
    for at in 0.. {
        let body = json!({"name": format!("{round}-{thread}-{at}")});
        let Ok(made) = client.send("POST", "/api/v1/kunden", Some(&body)) else { return };
        assert_eq!(made.status, 201, "{}", made.body);
        let id = made.body["id"].as_str().unwrap().to_owned();
        answered.lock().unwrap().push((id.clone(), 1));
        let path = format!("/api/v1/kunden/{id}");
        let Ok(changed) = client.send("PUT", &path, Some(&json!({"telefon": "1"}))) else { return };
        assert_eq!(changed.status, 200, "{}", changed.body);
        answered.lock().unwrap().push((id, 2));
    }
}

#[test]
fn after_a_kill_nothing_is_lost_and_nothing_comes_twice() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    folder.result(&["key", "change", key.split('_').nth(1).unwrap(), "--daily-limit", "1000000"]);
    let answered = Mutex::new(Vec::new());
    let mut follower = Follower { cursor: "alles".to_owned(), seen: BTreeMap::new() };
    for round in 0..4 {
        let mut server = folder.serve(&[]);
        let client = server.client(&key);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (client, answered) = (client.clone(), &answered);
                scope.spawn(move || write(&client, thread, round, answered));
            }
            let enough = answered.lock().unwrap().len() + 200 + 50 * round;
            while answered.lock().unwrap().len() < enough {
                follower.step(&client).unwrap();
            }
            server.kill();
        });
    }
    let server = folder.serve(&[]);
    let client = server.client(&key);
    while follower.step(&client).unwrap() > 0 {}
    let answered = answered.into_inner().unwrap();
    assert!(answered.len() >= 4 * 200);
    for version in &answered {
        assert_eq!(follower.seen.get(version), Some(&1), "{version:?}");
    }
    assert!(follower.seen.values().all(|times| *times == 1));
    // Changes stored but not answered are in the feed, too: as many as there are in the file.
    let rows: i64 =
        folder.database().query_row("select sum(version) from kunde", [], |row| row.get(0)).unwrap();
    assert_eq!(follower.seen.len() as i64, rows);
}

#[test]
fn a_cursor_from_before_a_restore_has_expired() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let post = |client: &Client, name: &str| {
        assert_eq!(client.post("/api/v1/kunden", &json!({"name": name})).status, 201)
    };
    let cursor = |client: &Client| client.get(PATH).body["cursor"].as_str().unwrap().to_owned();
    let mut server = folder.serve(&[]);
    post(&server.client(&key), "A");
    folder.result(&["backup", "gut.db"]);
    let at_backup = cursor(&server.client(&key));
    post(&server.client(&key), "B");
    let later = cursor(&server.client(&key));
    server.signal("TERM");
    server.end();
    folder.result(&["restore", "gut.db"]);
    let server = folder.serve(&[]);
    let client = server.client(&key);
    post(&client, "C");
    post(&client, "D");
    for cursor in [at_backup, later] {
        let answer = client.get(&format!("{PATH}?seit={cursor}"));
        assert_eq!((answer.status, &answer.body["error"]), (410, &json!("CURSOR_ABGELAUFEN")));
    }
    let told = client.get(&format!("{PATH}?seit=alles")).body["data"].as_array().unwrap().len();
    assert_eq!(told, 3);
}

/// The file was copied by hand, without `restore`: the epoch is the same, the row differs.
#[test]
fn a_cursor_of_a_row_that_is_another_one_now_has_expired() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let post = |client: &Client, name: &str| {
        assert_eq!(client.post("/api/v1/kunden", &json!({"name": name})).status, 201)
    };
    let mut server = folder.serve(&[]);
    post(&server.client(&key), "A");
    server.signal("TERM");
    server.end();
    std::fs::copy(folder.file("partnerd.db"), folder.file("kopie.db")).unwrap();
    let mut server = folder.serve(&[]);
    post(&server.client(&key), "B");
    let cursor = server.client(&key).get(PATH).body["cursor"].as_str().unwrap().to_owned();
    server.signal("TERM");
    server.end();
    std::fs::copy(folder.file("kopie.db"), folder.file("partnerd.db")).unwrap();
    let server = folder.serve(&[]);
    std::thread::sleep(Duration::from_millis(2));
    post(&server.client(&key), "C");
    post(&server.client(&key), "D");
    assert_eq!(server.client(&key).get(&format!("{PATH}?seit={cursor}")).status, 410);
}

/// Clock ticks used by a process, and its resident memory in bytes.
#[cfg(target_os = "linux")]
fn used(pid: u32) -> (u64, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .skip(1)
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
    (fields[10] + fields[11], kilobytes << 10)
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_wait_and_cost_hardly_anything() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let folder = Folder::new();
    let first = folder.company("Mühle");
    let [second, third] = ["2", "3"].map(|label| {
        let made = folder.result(&["key", "create", "--tenant", "Mühle", "--label", label, "--all-scopes"]);
        made.trim().to_owned()
    });
    let of_another = folder.company("Händler");
    // Fewer connections than waiting clients: those do not count.
    let server = folder.serve(&[]);
    let wait = |key: &str| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(stream, "GET {PATH}?warten=30 HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n").unwrap();
        stream
    };
    // Verifying their keys takes memory, and they open connections.
    let clients = [&first, &second, &third, &of_another].map(|key| server.client(key));
    clients.iter().for_each(|client| assert_eq!(client.get(PATH).status, 200));
    let [of_first, _, client, other] = &clients;
    let is_refused = |client: &Client| {
        let refused = client.get(&format!("{PATH}?warten=30"));
        assert_eq!((refused.status, &refused.body["error"]), (503, &json!("NICHT_VERFUEGBAR")));
        let message = refused.body["message"].as_str().unwrap();
        assert!(message.contains("warten"), "{message}");
    };
    let (_, before) = used(server.pid());
    // More than an address may have connections at once, opened one after the other.
    let mut waiting = Vec::new();
    for (key, count) in [(&first, 500), (&second, 250), (&of_another, 250)] {
        // A key may use half of the places, and a company three quarters, with any number of keys.
        if waiting.len() == 750 {
            is_refused(client);
        }
        for _ in 0..count {
            waiting.push(wait(key));
            if waiting.len() % 50 == 0 {
                until_waiting(client, waiting.len());
            }
        }
        if waiting.len() == 500 {
            is_refused(of_first);
        }
    }
    is_refused(other);
    // A client that does not wait is answered.
    assert_eq!(client.get(PATH).status, 200);
    let (_, resident) = used(server.pid());
    assert!(resident.saturating_sub(before) < 64 << 20, "{before} {resident}");
    // Once they are idle: less than 2 of the hundred ticks of a second.
    let ticks_in = |time: Duration| {
        let (before, _) = used(server.pid());
        std::thread::sleep(time);
        used(server.pid()).0 - before
    };
    let mut ticks = vec![u64::MAX];
    while ticks.len() < 9 && ticks.last().is_some_and(|ticks| *ticks >= 4) {
        ticks.push(ticks_in(Duration::from_secs(2)));
    }
    println!(
        "1,000 wait: {} KiB more, ticks in two seconds each: {ticks:?}",
        resident.saturating_sub(before) >> 10
    );
    assert!(ticks.last().is_some_and(|ticks| *ticks < 4), "{ticks:?}");
    // An answered client counts as a connection again. The second company's clients are answered first: an
    // address may have that many connections.
    let made = [other, client].map(|client| client.post("/api/v1/kunden", &json!({"name": "A"})));
    assert!(made.iter().all(|made| made.status == 201));
    for (at, stream) in waiting.iter_mut().enumerate() {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut answer = [0; 4096];
        let read = read_once(stream, &mut answer).unwrap();
        let text = String::from_utf8_lossy(&answer[..read]);
        let id = made[usize::from(at < 750)].body["id"].as_str().unwrap();
        assert!(text.starts_with("HTTP/1.1 200") && text.contains(id), "{text}");
    }
}

/// Waits until this many requests wait.
fn until_waiting(client: &Client, count: usize) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let metrics = client.text("/metrics");
        if metrics.contains(&format!("partnerd_waiting_requests {count}\n")) {
            return;
        }
        assert!(Instant::now() < until, "{metrics}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
