//! P7: the write-ahead log stays below 64 MiB, whatever clients do.
//!
//! Sixteen writers with four keys send attachments, more than 64 MiB of them, while some clients read a long list byte
//! by byte and others read it as fast as they can, one read beginning before the previous one ends. The seed
//! determines the size of the attachments and the number of readers. The length of the log is checked after each
//! answer; it does not shrink while there is work, so no growth is missed between two checks.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::experiment::{Case, Experiment};
use crate::process::{Client, Folder, Running};
use crate::socket::{self, Raw};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P7",
    what: "looks at the write-ahead log while 66 MiB are stored beside slow and long reads",
    needs: &[],
    seeds: 1,
    case,
    fault: "a program keeps a snapshot of the database open",
    control_seeds: 1,
};

/// The log stays below this many MiB.
const LOG_MAX: u64 = 64;

const KEYS: usize = 4;
const WRITERS: usize = 16;

/// Bytes stored in a case, and bytes of an attachment: sixteen of the largest fill a batch of the writer.
const STORED: usize = 66 << 20;
const SIZES: [usize; 3] = [128 << 10, 512 << 10, 2 << 20];

/// Clients that read byte by byte, and those that read continuously: at least this many, and at most twice as many.
const SLOW: usize = 40;
const FAST: usize = 2;

/// Clients that read byte by byte in the full size.
const SLOW_FULL: usize = 300;

/// Pause between bytes, which leaves the cores to others.
const PAUSE: Duration = Duration::from_millis(5);

/// Partners in the list, each with notes of this many letters.
const PARTNERS: usize = 500;
const LETTERS: usize = 2_000;

const LIST: &str = "kunden?limit=5000";

fn case(case: &mut Case) -> Result<u64, String> {
    let (beginning, keys) = beginning();
    let folder = beginning.copy();
    let server = folder.serve(&[]);
    let kunden = server.client(&keys[0]).get("/api/v1/kunden?limit=1").body;
    let kunde = kunden["data"][0]["id"].as_str().ok_or("no partner")?.to_owned();
    let bytes = case.dice.pick(&SIZES).unwrap_or(SIZES[0]);
    let snapshot = case.has_fault.then(|| {
        let database = folder.database();
        database.execute_batch("begin; select count(*) from kunde").unwrap();
        database
    });
    let scene = Scene {
        server: &server,
        log: folder.file("partnerd.db-wal"),
        path: format!("/api/v1/kunden/{kunde}/dokumente"),
        body: json!({"dateiname": "a.txt", "inhalt_base64": "QUJD".repeat(bytes / 3)}),
        bytes,
        stored: AtomicUsize::new(0),
        looks: AtomicU64::new(0),
        writing: AtomicBool::new(true),
    };
    let first = case.dice.below(KEYS);
    let (slow, fast) = (SLOW + case.dice.below(SLOW), FAST + case.dice.below(FAST));
    let slow = case.size(slow, SLOW_FULL);
    let key = |nr: usize| &keys[(first + nr) % KEYS];
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let scene = &scene;
        scope.spawn(move || scene.read_slowly((0..slow).map(key)));
        (0..fast).for_each(|nr| drop(scope.spawn(move || scene.read_on(key(nr)))));
        let write = |nr: usize| scene.write(&scene.server.client(key(nr)));
        let writers: Vec<_> = (0..WRITERS).map(|nr| scope.spawn(move || write(nr))).collect();
        let results = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        scene.writing.store(false, Ordering::SeqCst);
        results
    });
    drop(snapshot);
    results.into_iter().collect::<Result<Vec<()>, _>>()?;
    Ok(scene.looks.into_inner())
}

/// Creates a company with a long list of partners, and four keys.
fn beginning() -> &'static (Folder, Vec<String>) {
    static BEGINNING: OnceLock<(Folder, Vec<String>)> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let folder = Folder::new();
        let mut keys = vec![folder.company("Mühle")];
        for nr in 1..KEYS {
            let label = nr.to_string();
            let create = ["key", "create", "--tenant", "Mühle", "--label", &label, "--all-scopes"];
            keys.push(folder.result(&create).trim().to_owned());
        }
        let notes = "n".repeat(LETTERS);
        let partner = |nr: usize| json!({"nachname_firma": format!("Hof {nr}"), "notizen": notes});
        folder.import("Mühle", "kunden", &(0..PARTNERS).map(partner).collect());
        (folder, keys)
    })
}

struct Scene<'s> {
    server: &'s Running,
    /// The write-ahead log.
    log: PathBuf,
    /// Path and body of an attachment.
    path: String,
    body: Value,
    bytes: usize,
    /// Bytes that are stored.
    stored: AtomicUsize,
    looks: AtomicU64,
    writing: AtomicBool,
}

impl Scene<'_> {
    /// The length of the log.
    fn look(&self) -> u64 {
        let length = std::fs::metadata(&self.log).map_or(0, |log| log.len());
        self.looks.fetch_add(1, Ordering::SeqCst);
        length
    }

    /// Sends attachments until enough are stored.
    fn write(&self, client: &Client) -> Result<(), String> {
        while self.stored.load(Ordering::SeqCst) < STORED {
            let answer =
                client.send("POST", &self.path, Some(&self.body)).map_err(|error| error.to_string())?;
            let length = self.look() >> 20;
            let stored = match answer.status {
                201 => (self.stored.fetch_add(self.bytes, Ordering::SeqCst) + self.bytes) >> 20,
                // Bodies have used up the memory of the key, or a busy machine did not read this one in time.
                503 | 408 => continue,
                status => return Err(format!("an attachment was answered {status} {}", answer.body)),
            };
            if length >= LOG_MAX {
                return Err(format!(
                    "the log has {length} MiB when {stored} MiB are stored in attachments of {} KiB",
                    self.bytes >> 10
                ));
            }
        }
        Ok(())
    }

    /// Requests the list on many connections and reads a byte of each in turn.
    fn read_slowly<'k>(&self, keys: impl Iterator<Item = &'k String>) {
        let mut connections: Vec<Raw> = keys
            .filter_map(|key| {
                let mut connection = Raw::open(&self.server.address)?;
                connection.write(socket::get(LIST, key).as_bytes());
                connection.stream.set_nonblocking(true).unwrap();
                Some(connection)
            })
            .collect();
        let mut bytes = 0;
        while self.writing.load(Ordering::SeqCst) {
            bytes += 1;
            connections.iter_mut().for_each(|connection| connection.read_only(bytes));
            self.look();
            std::thread::sleep(PAUSE);
        }
    }

    /// Reads the list repeatedly.
    fn read_on(&self, key: &str) {
        let client = self.server.client(key);
        while self.writing.load(Ordering::SeqCst) {
            let _ = client.send("GET", &format!("/api/v1/{LIST}"), None);
            self.look();
        }
    }
}
