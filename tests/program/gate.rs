//! The gate of the real server under kills, many clients and hostile ones (promises P12, P16, P17, P21), each
//! with a control that must fail: the same run with a built-in fault.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::process::{Folder, Running, read_once};
use serde_json::json;

const THREADS: usize = 8;

/// One test at a time: some compare durations, and all keep the machine busy.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a server, lets clients send requests until the key got this many `answers`, and kills it. One
/// client has a wrong key and is refused as often as the machine manages. Returns the request id and status
/// of each answer.
fn round(folder: &Folder, key: &str, answers: usize) -> Vec<(String, u16)> {
    let mut server = folder.serve(&["--config", &quiet(folder)]);
    let seen = Mutex::new(Vec::new());
    let of_key = AtomicUsize::new(0);
    let work = |thread: usize| {
        let client = server.client(if thread == 0 { "ak_wrong" } else { key });
        for at in 0.. {
            let name = json!({"name": format!("{thread}-{at}")});
            let answer = match at % 3 {
                0 => client.send("GET", "/api/v1/laender?limit=1", None),
                1 => client.send("POST", "/api/v1/kunden", Some(&name)),
                _ => client.send("GET", "/api/v1/kunden/x", None),
            };
            let Ok(answer) = answer else { return };
            seen.lock().unwrap().push((answer.request_id, answer.status));
            of_key.fetch_add(usize::from(thread > 0), Ordering::Relaxed);
        }
    };
    let pid = server.pid();
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|thread| drop(scope.spawn(move || work(thread))));
        while of_key.load(Ordering::Relaxed) < answers {
            std::thread::sleep(Duration::from_millis(1));
        }
        let kill = format!("kill -9 {pid}");
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    });
    server.kill();
    seen.into_inner().unwrap()
}

/// A configuration without a log line for each request, which nobody reads here.
fn quiet(folder: &Folder) -> String {
    folder.write("quiet.toml", "log_level = \"warn\"\n")
}

/// Counts the request ids without an audit row, and those with two.
fn missing_and_double(folder: &Folder, seen: &[(String, u16)]) -> (usize, usize) {
    folder.result(&["audit", "verify"]);
    let connection = folder.database();
    let mut statement = connection.prepare("select request_id from audit").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, uuid::Uuid>(0)).unwrap();
    let rows: Vec<String> = rows.map(|id| id.unwrap().to_string()).collect();
    let distinct: BTreeSet<&String> = rows.iter().collect();
    // A flood is counted in one row.
    let listed = seen.iter().filter(|(_, status)| *status != 429);
    (listed.filter(|(id, _)| !distinct.contains(id)).count(), rows.len() - distinct.len())
}

/// Deletes the rows waiting in the log's journal, which a kill -9 must never do.
fn forget_journal(folder: &Folder) -> usize {
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let segments = entries.filter(|path| path.to_string_lossy().contains("partnerd.db-audit-journal-"));
    segments.map(|segment| std::fs::remove_file(segment).unwrap()).count()
}

#[test]
fn no_audit_row_is_missing_or_double_after_twenty_kills() {
    let _alone = alone();
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let mut seen = Vec::new();
    for at in 0..20 {
        seen.extend(round(&folder, &key, 20 + 7 * at));
    }
    assert!(seen.len() > 1_500, "{} requests were answered", seen.len());
    assert!([200, 201, 401, 404, 429].iter().all(|status| seen.iter().any(|(_, seen)| seen == status)));
    assert_eq!(missing_and_double(&folder, &seen), (0, 0));
    folder.result(&["check"]);
    // Control: a lost journal is detected.
    let last = round(&folder, &key, 60);
    assert!(forget_journal(&folder) > 0, "the killed server left no journal");
    assert!(missing_and_double(&folder, &last).0 > 0, "the lost rows were not missed");
}

/// How many requests of one key were answered in several rounds with kills in between; `between` runs after each kill.
fn answered_of(limit: usize, between: impl Fn(&Folder)) -> usize {
    let folder = Folder::new();
    folder.result(&["tenant", "create", "Mühle"]);
    let number = limit.to_string();
    let create =
        ["key", "create", "--tenant", "Mühle", "--label", "t", "--all-scopes", "--daily-limit", &number];
    let key = folder.result(&create).trim().to_owned();
    let mut answered = 0;
    for _ in 0..5 {
        let seen = round(&folder, &key, limit / 2);
        answered += seen.iter().filter(|(_, status)| ![401, 429].contains(status)).count();
        between(&folder);
    }
    answered
}

#[test]
fn the_daily_limit_is_never_exceeded_across_kills() {
    let _alone = alone();
    let limit = 600;
    let answered = answered_of(limit, |_| ());
    // Requests counted but not answered were on their way when the server was killed.
    assert!((limit - 5 * THREADS..=limit).contains(&answered), "{answered} of {limit}");
    // Control: a server that forgets its counts lets more through.
    let forgetful = answered_of(limit, |folder| {
        forget_journal(folder);
        folder
            .database()
            .execute_batch(
                "delete from audit; update kette set letzte_nr = 0, pruefsumme = zeroblob(32) where name = 'audit'",
            )
            .unwrap();
    });
    assert!(forgetful > limit, "the control answered {forgetful} of {limit}");
}

#[test]
fn a_deactivation_holds_from_the_next_request_on_every_time() {
    let _alone = alone();
    let folder = Folder::new();
    let (key, other) = (folder.company("Mühle"), folder.company("Andere"));
    let server = folder.serve(&["--config", &quiet(&folder)]);
    let (client, witness) = (server.client(&key), server.client(&other));
    let id = key.split('_').nth(1).unwrap();
    for cycle in 0..200 {
        assert_eq!(client.get("/api/v1/laender?limit=1").status, 200, "cycle {cycle}");
        folder.result(&["key", "deactivate", id]);
        // From the eleventh 401 in a minute on the status is 429; neither lets anybody in.
        let refused = client.get("/api/v1/laender?limit=1").status;
        assert!([401, 429].contains(&refused), "cycle {cycle}: {refused}");
        assert_eq!(witness.get("/api/v1/laender?limit=1").status, 200, "the control, cycle {cycle}");
        folder.result(&["key", "activate", id]);
    }
}

#[test]
fn a_key_is_stored_nowhere() {
    let _alone = alone();
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let log = folder.file("log.txt");
    let mut command = folder.command(&["serve", "--listen", "127.0.0.1:0"]);
    let command = command.env("PARTNERD_LOG_FORMAT", "json").stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    let address = line.trim_end().strip_prefix("partnerd listening on http://").unwrap();
    for path in ["/api/v1/kunden", "/api/v1/nichts\u{7f}%0a"] {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "GET {path}?key={key} HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    let id = key.split('_').nth(1).unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    while !std::fs::read_to_string(&log).unwrap().contains(id) {
        assert!(Instant::now() < until, "the log does not name the key");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let found = |needle: &str| {
        let files = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        files.filter(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes())).count()
    };
    let mut parts = key.splitn(3, '_').skip(1);
    let (id, secret) = (parts.next().unwrap(), parts.next().unwrap());
    assert_eq!((found(&key), found(secret)), (0, 0), "the secret is in a file");
    assert!(found(id) >= 2, "the control: the public part is in the database and in the log");
    for line in std::fs::read_to_string(&log).unwrap().lines().filter(|line| line.starts_with('{')) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["level"].is_string() && line["timestamp"].is_string(), "{line}");
    }
}

/// How many of these honest requests are answered before the server closes the connection.
fn honest(server: &Running, key: &str, requests: usize) -> usize {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!("GET /api/v1/laender?limit=1 HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n");
    let is_answered = |_: &usize| {
        let mut buffer = [0u8; 4096];
        let read = stream.write_all(request.as_bytes()).and_then(|()| read_once(&stream, &mut buffer));
        read.is_ok_and(|read| buffer[..read].starts_with(b"HTTP/1.1 200"))
    };
    (0..requests).take_while(is_answered).count()
}

/// Connections that never finish: half a head, half a body, or an answer they do not read.
fn hostile(server: &Running, key: &str, count: usize) -> Vec<TcpStream> {
    let key_line = format!("Host: a\r\nX-API-Key: {key}\r\n");
    let kinds = [
        "GET /api/v1/laender HTTP/1.1\r\nHost:".to_owned(),
        format!("POST /api/v1/kunden HTTP/1.1\r\n{key_line}Content-Length: 1000\r\n\r\n{{\"name\":"),
        format!("GET /api/v1/laender HTTP/1.1\r\n{key_line}\r\n").repeat(20),
    ];
    let open = |at: usize| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.set_nonblocking(true).unwrap();
        let _ = stream.write(kinds[at % kinds.len()].as_bytes());
        stream
    };
    (0..count).map(open).collect()
}

/// How many of the connections the server has closed.
fn closed(streams: &mut [TcpStream]) -> usize {
    let is_closed = |stream: &mut TcpStream| {
        let mut buffer = [0u8; 65_536];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
            }
        }
    };
    streams.iter_mut().filter_map(|stream| is_closed(stream).then_some(())).count()
}

#[test]
fn five_hundred_slow_clients_do_not_hurt_an_honest_one() {
    let _alone = alone();
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let times = "log_level = \"warn\"\nheader_timeout = 4\nbody_timeout = 4\nwrite_timeout = 4\n";
    let server = folder.serve(&["--config", &folder.write("times.toml", times)]);
    let mut slow = hostile(&server, &key, 500);
    assert_eq!(honest(&server, &key, 300), 300, "beside 500 slow clients");
    let until = Instant::now() + Duration::from_secs(120);
    while closed(&mut slow) < slow.len() {
        assert!(Instant::now() < until, "{} of 500 were closed", closed(&mut slow));
        std::thread::sleep(Duration::from_millis(200));
    }
    // Control: connections that had an answer are kept, and if there are no others, an honest client gets none.
    let few = "log_level = \"warn\"\nmax_connections = 100\nheader_timeout = 60\n";
    let server = restarted(&folder, few, server);
    let answered = format!("GET /api/v1/laender HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n");
    let open = |_| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(answered.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 12]).unwrap();
        stream
    };
    let _open: Vec<_> = (0..100).map(open).collect();
    assert_eq!(honest(&server, &key, 1), 0, "the control was answered");
}

/// Restarts the server on the same database, with other settings.
fn restarted(folder: &Folder, settings: &str, mut before: Running) -> Running {
    before.signal("TERM");
    assert!(before.end().0.success());
    folder.serve(&["--config", &folder.write("few.toml", settings)])
}
