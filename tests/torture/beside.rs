//! P6: clients and commands running at the same time never see that the database is locked.
//!
//! Thirty-two clients (sixty-four in the full size) write and some read long lists, while the command line
//! creates, changes and deactivates keys, makes backups and verifies the database, as often as the seed says.
//! Nobody gets a 5xx, no command fails, and no message contains the word "locked".

use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rusqlite::Connection;

use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::power::writers;
use crate::process::{Client, Folder};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P6",
    what: "answers and commands, of 32 writers (64), long lists, changes of keys and backups at once",
    needs: &[],
    seeds: 2,
    case,
    fault: "a command does not wait for the lock",
    control_seeds: 2,
};

/// Groups of sixteen writers: in the small and in the full size.
const GROUPS: [usize; 2] = [2, 4];

const READERS: usize = 4;

/// Minimum number of keys and backups in a case. A key has three commands, a backup three with the checks.
const KEYS: usize = 1;
const BACKUPS: usize = 1;

/// The messages to clients and commands.
#[derive(Default)]
struct Told {
    count: AtomicU64,
    /// Messages that nobody should get, in order.
    wrong: Mutex<Vec<String>>,
}

impl Told {
    /// Records a message, and whether it was a failure of the server.
    fn note(&self, who: &str, has_failed: bool, said: &str) {
        self.count.fetch_add(1, Ordering::SeqCst);
        if has_failed || said.contains("locked") {
            self.wrong.lock().unwrap().push(format!("{who}: {said}"));
        }
    }

    fn command(&self, arguments: &[&str], output: &Output) {
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        self.note(&arguments.join(" "), !output.status.success(), &String::from_utf8_lossy(&said));
    }
}

fn case(case: &mut Case) -> Result<u64, String> {
    let (beginning, key) = writers::beginning();
    let folder = beginning.copy();
    let mut server = folder.serve(&[]);
    let client = server.client(key);
    let batch = writers::batch(&client)?;
    let (told, busy) = (Told::default(), AtomicBool::new(true));
    let (keys, backups) = (KEYS + case.dice.below(2), BACKUPS + case.dice.below(3));
    let (groups, has_fault) = (case.size(GROUPS[0], GROUPS[1]), case.has_fault);
    std::thread::scope(|scope| {
        let (told, busy, client, batch, folder) = (&told, &busy, &client, &batch, &folder);
        for group in 0..groups {
            scope.spawn(move || {
                // Repeats as long as there are commands.
                let mut nr = 0;
                while nr == 0 || busy.load(Ordering::SeqCst) {
                    let name = format!("{group}-{nr}");
                    let work = writers::work(client, &|| 0, &name, batch, false);
                    told.count.fetch_add(work.answered.len() as u64, Ordering::SeqCst);
                    work.stopped.iter().for_each(|stopped| told.note("a writer", true, &stopped.why));
                    nr += 1;
                }
            });
        }
        (0..READERS).for_each(|_| drop(scope.spawn(move || read(client, told, busy))));
        let copies = scope.spawn(move || (0..backups).for_each(|nr| back_up(folder, told, nr)));
        (0..keys).for_each(|nr| change_keys(folder, told, nr, has_fault));
        copies.join().unwrap();
        busy.store(false, Ordering::SeqCst);
    });
    server.signal("TERM");
    server.end();
    if let Some(first) = told.wrong.into_inner().unwrap().first() {
        return Err(first.clone());
    }
    oracle::prove(&folder)?;
    Ok(told.count.into_inner())
}

/// Reads the longest lists.
fn read(client: &Client, told: &Told, busy: &AtomicBool) {
    while busy.load(Ordering::SeqCst) {
        for path in ["/api/v1/belege?limit=5000", "/api/v1/kunden?limit=5000"] {
            match client.send("GET", path, None) {
                Ok(answer) if answer.status == 200 => told.note(path, false, ""),
                Ok(answer) => told.note(path, true, &answer.body.to_string()),
                Err(error) => told.note(path, true, &error.to_string()),
            }
        }
    }
}

/// Makes a backup, and verifies the database beside it.
fn back_up(folder: &Folder, told: &Told, nr: usize) {
    let copy = format!("sicherung-{nr}.db");
    for arguments in [&["backup", &copy][..], &["check"], &["audit", "verify"]] {
        told.command(arguments, &folder.run(arguments));
    }
}

/// Creates, changes and deactivates a key.
fn change_keys(folder: &Folder, told: &Told, nr: usize, has_fault: bool) {
    let label = format!("Schlüssel {nr}");
    let create = ["key", "create", "--tenant", "Mühle", "--label", &label, "--all-scopes"];
    let output = folder.run(&create);
    told.command(&create, &output);
    let key = String::from_utf8_lossy(&output.stdout);
    let Some(id) = key.split('_').nth(1) else { return };
    if has_fault {
        told.note("a command that does not wait", false, &change_at_once(folder, id));
    }
    for arguments in [vec!["key", "change", id, "--daily-limit", "50"], vec!["key", "deactivate", id]] {
        told.command(&arguments, &folder.run(&arguments));
    }
}

/// The fault: a command that takes the lock only if it is free, a hundred times; returns SQLite's error, if
/// it was not.
fn change_at_once(folder: &Folder, id: &str) -> String {
    let database = Connection::open(folder.file("partnerd.db")).unwrap();
    database.busy_timeout(std::time::Duration::ZERO).unwrap();
    let change = "update api_key set tageslimit = 50 where id = ?1";
    let refused = (0..100).find_map(|_| database.execute(change, [id]).err());
    refused.map(|error| error.to_string()).unwrap_or_default()
}
