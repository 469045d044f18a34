//! P8: a full disk leads to an answer, not to an outage.
//!
//! A small file system is filled while writers send documents and attachments. From the first refused write on, writes
//! get 503, reads 200, `/readyz` 503. Then space is freed: the first write works, everything answered exists once, and
//! every request, answered or refused, has its audit row. At the end the server is killed or told to stop, and started
//! on the full disk: it serves or says what to do, and serves once there is room.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::process::{Answer, Client, Folder, Running};
use crate::programs::MOUNT;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P8",
    what: "requests and starts on a full disk, and behind it",
    needs: &[MOUNT],
    seeds: 2,
    case,
    fault: "the database is put back to when the disk was not yet full",
    control_seeds: 2,
};

/// How long it may take until the writer finds the disk full, and until a server starts.
const PATIENCE: Duration = Duration::from_secs(120);

/// Requests while the disk is full.
const REQUESTS: usize = 40;

/// A separate file system, mounted over a folder.
pub struct Disk {
    pub folder: Folder,
}

impl Disk {
    pub fn new(mebibytes: usize) -> Disk {
        let folder = Folder::new();
        let size = format!("size={mebibytes}m");
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", &size, "none"]).arg(folder.path()).status();
        assert!(mounted.unwrap().success());
        Disk { folder }
    }

    /// Uses up all free space, to the last byte.
    pub fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.filling()).unwrap();
        for block in [vec![0; 64 << 10], vec![0; 512]] {
            while file.write_all(&block).is_ok() {}
        }
    }

    pub fn free(&self) {
        std::fs::remove_file(self.filling()).unwrap();
    }

    fn filling(&self) -> PathBuf {
        self.folder.file("filling")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.folder.path()).status();
    }
}

/// A document or a read that was sent, and its answer.
struct Sent {
    /// `None` for a read.
    body: Option<Value>,
    answer: Answer,
}

fn case(case: &mut Case) -> Result<u64, String> {
    let disk = Disk::new(16 + case.dice.below(16));
    let folder = &disk.folder;
    let key = mill(folder);
    let mut scene = Scene { disk: &disk, key, sent: Vec::new(), size: 200 + case.dice.below(40_000) };
    let mut server = folder.serve(&[]);
    let client = server.client(&scene.key);
    (0..1 + case.dice.below(20)).try_for_each(|_| scene.write(&client).map(drop))?;
    let before = case.has_fault.then(|| kept(folder.path()));
    scene.fill(&client)?;
    scene.requests_on_full(&client, &mut case.dice)?;
    disk.free();
    let first = scene.write(&client)?;
    if first != 201 {
        return Err(format!("the first write when there is room again is answered {first}"));
    }
    for nr in 0..scene.sent.len() {
        scene.repeat(&client, nr)?;
    }
    if case.dice.once_in(2) {
        server.signal("TERM");
        server.end();
    } else {
        server.kill();
    }
    drop(server);
    if let Some(before) = before {
        put_back(folder.path(), &before);
    }
    scene.start_on_full()?;
    scene.look()?;
    Ok(scene.sent.len() as u64 + 1)
}

struct Scene<'d> {
    disk: &'d Disk,
    key: String,
    sent: Vec<Sent>,
    /// Size of the notes of a document in bytes.
    size: usize,
}

impl Scene<'_> {
    /// Sends a document; returns the status.
    fn write(&mut self, client: &Client) -> Result<u16, String> {
        let notes = "x".repeat(self.size.min(3_500));
        let item = json!({"artikelnr": "S", "menge": 1});
        let items = vec![item; 1 + self.size / 1_000];
        let reference = format!("V{}", self.sent.len());
        let body = json!({"beleg_typ": "RE", "kundennummer": "Kd", "external_ref": reference, "items": items,
            "notizen": notes});
        self.send(client, "POST", "/api/v1/belege", Some(body))
    }

    fn send(
        &mut self,
        client: &Client,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Result<u16, String> {
        let answer = client.send(method, path, body.as_ref()).map_err(|error| format!("{path}: {error}"))?;
        let status = answer.status;
        self.sent.push(Sent { body, answer });
        Ok(status)
    }

    /// Fills the disk until a write is refused: the free space within the database files is used up, too.
    fn fill(&mut self, client: &Client) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            self.disk.fill();
            match self.write(client)? {
                503 => return Ok(()),
                201 if Instant::now() < until => {}
                status => return Err(format!("on a full disk a write is answered {status}")),
            }
        }
    }

    fn requests_on_full(&mut self, client: &Client, dice: &mut Dice) -> Result<(), String> {
        for _ in 0..REQUESTS {
            self.disk.fill();
            let (what, found, expected) = match dice.below(4) {
                0 => ("a write", self.write(client)?, 503),
                1 => ("/readyz", client.get("/readyz").status, 503),
                2 => ("a list", self.send(client, "GET", "/api/v1/belege?limit=5", None)?, 200),
                _ => ("what is not there", self.send(client, "GET", "/api/v1/nichts", None)?, 404),
            };
            if found != expected {
                return Err(format!("on a full disk {what} is answered {found} instead of {expected}"));
            }
        }
        Ok(())
    }

    /// Sends a document again: it exists if it was answered, and was not stored if it was refused.
    fn repeat(&mut self, client: &Client, nr: usize) -> Result<(), String> {
        let Sent { body: Some(body), answer } = &self.sent[nr] else { return Ok(()) };
        let (body, before) = (body.clone(), answer.clone());
        let status = self.send(client, "POST", "/api/v1/belege", Some(body))?;
        let now = &self.sent.last().ok_or("nothing was sent")?.answer;
        match (before.status, status) {
            (201, 200) if now.body["id"] == before.body["id"] => Ok(()),
            (503, 201) if before.body["error"] == "NICHT_VERFUEGBAR" => Ok(()),
            (503, _) if before.body["error"] == "AUSGANG_UNBEKANNT" => Ok(()),
            _ => Err(format!("{} {}, sent again: {status} {}", before.status, before.body, now.body)),
        }
    }

    /// Starts a server on the full disk: it serves, or it ends and says what to do. Once there is room it
    /// serves again.
    fn start_on_full(&mut self) -> Result<(), String> {
        self.disk.fill();
        let folder = &self.disk.folder;
        let command = || folder.command(&["serve", "--listen", "127.0.0.1:0"]);
        match Running::try_start(command(), Stdio::piped()) {
            Ok(server) => {
                let status = self.send(&server.client(&self.key), "GET", "/api/v1/belege?limit=1", None)?;
                if status != 200 {
                    return Err(format!("a server that started on a full disk answers a read {status}"));
                }
            }
            Err(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                if output.status.code() != Some(1) || !said.contains("ist voll") || !said.contains("schaffen")
                {
                    return Err(format!("a start on a full disk ends with {}: {said}", output.status));
                }
            }
        }
        self.disk.free();
        let mut server = Running::try_start(command(), Stdio::null())
            .map_err(|output| format!("no start when there is room again: {output:?}"))?;
        let client = server.client(&self.key);
        let status = self.write(&client)?;
        server.signal("TERM");
        server.end();
        if status == 201 {
            Ok(())
        } else {
            Err(format!("behind a start on a full disk a write is answered {status}"))
        }
    }

    /// Checks that everything is whole, each answered document exists once, and each request has one audit row.
    fn look(&self) -> Result<(), String> {
        let folder = &self.disk.folder;
        oracle::prove(folder)?;
        let database = folder.database();
        let count = |sql: &str, value: &str| {
            database.query_row(sql, [value], |row| row.get::<_, i64>(0)).map_err(|error| error.to_string())
        };
        for Sent { body, answer } in &self.sent {
            let reference = body.as_ref().and_then(|body| body["external_ref"].as_str());
            let times = reference.map_or(Ok(1), |reference| {
                count("select count(*) from beleg where external_ref = ?1", reference)
            })?;
            if answer.status < 300 && times != 1 {
                return Err(format!(
                    "{reference:?} was answered {}, and is there {times} times",
                    answer.status
                ));
            }
        }
        let rows = audit_rows(&database).map_err(|error| error.to_string())?;
        let lost = |sent: &&Sent| {
            let id = Uuid::parse_str(&sent.answer.request_id).ok();
            id.and_then(|id| rows.get(&id)) != Some(&1)
        };
        match self.sent.iter().find(lost) {
            None => Ok(()),
            Some(Sent { answer, .. }) => Err(format!(
                "request {}, answered {}, has no one audit row",
                answer.request_id, answer.status
            )),
        }
    }
}

fn audit_rows(database: &rusqlite::Connection) -> rusqlite::Result<HashMap<Uuid, usize>> {
    let mut statement = database.prepare("select request_id from audit")?;
    let mut rows = HashMap::new();
    for id in statement.query_map([], |row| row.get(0))? {
        *rows.entry(id?).or_default() += 1;
    }
    Ok(rows)
}

fn mill(folder: &Folder) -> String {
    let key = folder.company("Mühle");
    let article =
        json!([{"artikelnummer": "S", "bezeichnung": "Sack", "einheit": "Stk", "preis": 2, "mwst_satz": 7}]);
    folder.import("Mühle", "artikel", &article);
    folder.import("Mühle", "kunden", &json!([{"kundennr": "Kd", "name": "Hof"}]));
    key
}

type Kept = Vec<(PathBuf, Vec<u8>)>;

/// The files of a database.
fn kept(folder: &Path) -> Kept {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

fn put_back(folder: &Path, kept: &Kept) {
    std::fs::read_dir(folder).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    kept.iter().for_each(|(file, bytes)| std::fs::write(file, bytes).unwrap());
}
