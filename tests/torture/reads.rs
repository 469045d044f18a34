//! P22: a read shows one instant, and contains everything answered before it was sent.
//!
//! Each document takes a kilogram from each of five batches, so an answer itself shows how many documents it
//! knows: by the stock of each batch, the stock of the article, the rows and the count of a list. These are
//! at least as many as had been answered when the request was sent, and no more than had been sent when the
//! answer arrived; and if an answer shows it more than once, the numbers are equal. A follower of the change
//! feed gets each document exactly once.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::experiment::{Case, Experiment};
use crate::process::{Client, Folder};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P22",
    what: "reads beside 16 writers, which read what they wrote at once",
    needs: &[],
    seeds: 3,
    case,
    fault: "a client is given the first answer that it had",
    control_seeds: 1,
};

const WRITERS: usize = 16;
const READERS: usize = 16;

/// Documents of a writer.
const DOCUMENTS: usize = 4;

const BATCHES: usize = 5;

/// Kilograms in each batch at the beginning.
const STOCK: i64 = 1_000;

/// The feed of changes of documents.
const FEED: &str = "/api/v1/aenderungen?arten=beleg";

/// A request, and how many documents its answer knows.
struct View {
    path: &'static str,
    documents: fn(&Value) -> Result<i64, String>,
}

const VIEWS: &[View] = &[
    View { path: "/api/v1/chargen", documents: of_batches },
    View { path: "/api/v1/artikel?bestand=true", documents: of_article },
    View { path: "/api/v1/belege?limit=5000", documents: of_list },
    View { path: "/api/v1/belege?typ=RE&limit=5000&suche=kunde", documents: of_list },
];

fn of_batches(body: &Value) -> Result<i64, String> {
    let left: Vec<i64> =
        body.as_array().into_iter().flatten().map(|batch| kilograms(&batch["bestand"])).collect();
    match left.first() {
        Some(first) if left == [*first; BATCHES] => Ok(STOCK - first),
        _ => Err(format!("the batches have {left:?}, and each document took as much from all of them")),
    }
}

fn of_article(body: &Value) -> Result<i64, String> {
    let rows = body["data"].as_array().or(body.as_array()).ok_or("no articles")?;
    let (batches, left) = (BATCHES as i64, rows.first().map_or(-1, |row| kilograms(&row["bestand"])));
    match left % batches {
        0 => Ok(STOCK - left / batches),
        _ => Err(format!("the article has {left}, and each document took {batches}")),
    }
}

fn of_list(body: &Value) -> Result<i64, String> {
    let (rows, count) = (body["data"].as_array().map_or(0, Vec::len), body["count"].as_i64().unwrap_or(-1));
    if rows as i64 == count { Ok(count) } else { Err(format!("{rows} rows, and the count is {count}")) }
}

fn kilograms(text: &Value) -> i64 {
    text.as_str().and_then(|text| text.strip_suffix(".000")?.parse().ok()).unwrap_or(-1)
}

fn case(case: &mut Case) -> Result<u64, String> {
    let (beginning, key) = beginning();
    let folder = beginning.copy();
    let server = folder.serve(&[]);
    let client = server.client(key);
    let batches = client.get("/api/v1/chargen").body;
    let batches: Vec<Value> =
        batches.as_array().into_iter().flatten().map(|batch| batch["id"].clone()).collect();
    let scene = Scene {
        client,
        batches,
        sent: AtomicUsize::new(0),
        answered: AtomicUsize::new(0),
        writing: AtomicBool::new(true),
        reads: AtomicU64::new(0),
        has_fault: case.has_fault,
    };
    let (first, cursor) = (case.dice.below(VIEWS.len()), scene.got(FEED)?["cursor"].clone());
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let scene = &scene;
        let readers: Vec<_> = (0..READERS).map(|nr| scope.spawn(move || scene.read(first + nr))).collect();
        let follower = scope.spawn(move || scene.follow(cursor));
        let writers: Vec<_> = (0..WRITERS).map(|nr| scope.spawn(move || scene.write(first + nr))).collect();
        let mut results: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        scene.writing.store(false, Ordering::SeqCst);
        results.push(follower.join().unwrap());
        results.extend(readers.into_iter().map(|reader| reader.join().unwrap()));
        results
    });
    results.into_iter().collect::<Result<Vec<()>, _>>()?;
    Ok(scene.reads.into_inner())
}

/// A company with wheat in five batches, and its key.
fn beginning() -> &'static (Folder, String) {
    static BEGINNING: OnceLock<(Folder, String)> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let folder = Folder::new();
        let key = folder.company("Mühle");
        let article = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30",
            "chargenpflichtig": true}]);
        folder.import("Mühle", "artikel", &article);
        let batch =
            |nr: usize| json!({"artikelnummer": "W", "charge_nr": format!("A{nr}"), "bestand": STOCK});
        folder.import("Mühle", "chargen", &(0..BATCHES).map(batch).collect());
        folder.import(
            "Mühle",
            "kunden",
            &json!([{"kundennr": "K-1", "nachname_firma": "Kunde", "kunden_id": 1}]),
        );
        (folder, key)
    })
}

struct Scene {
    client: Client,
    batches: Vec<Value>,
    /// Number of documents sent, and of those answered.
    sent: AtomicUsize,
    answered: AtomicUsize,
    writing: AtomicBool,
    reads: AtomicU64,
    has_fault: bool,
}

impl Scene {
    /// Reads the views in turn as long as there are writers.
    fn read(&self, nr: usize) -> Result<(), String> {
        let mut remembered: Vec<Option<Value>> = vec![None; VIEWS.len()];
        for turn in nr.. {
            if !self.writing.load(Ordering::SeqCst) {
                break;
            }
            let at = turn % VIEWS.len();
            self.look(&VIEWS[at], &mut remembered[at])?;
        }
        Ok(())
    }

    /// Checks one answer; with the fault, the first answer of this reader.
    fn look(&self, view: &View, remembered: &mut Option<Value>) -> Result<(), String> {
        let answered = self.answered.load(Ordering::SeqCst) as i64;
        let fresh = self.got(view.path)?;
        let body = if self.has_fault { remembered.get_or_insert(fresh) } else { &fresh };
        let documents = (view.documents)(body).map_err(|torn| format!("GET {}: {torn}", view.path))?;
        self.is_of_now(view.path, documents, answered)
    }

    /// Checks that an answer knows as many documents as it must, given the number answered before.
    fn is_of_now(&self, path: &str, documents: i64, answered: i64) -> Result<(), String> {
        let sent = self.sent.load(Ordering::SeqCst) as i64;
        if (answered..=sent).contains(&documents) {
            return Ok(());
        }
        Err(format!(
            "GET {path} knows of {documents} documents: {answered} had been answered before, {sent} were sent \
             when it came"
        ))
    }

    /// Follows the feed to its end repeatedly, and once more after the last writer.
    fn follow(&self, mut cursor: Value) -> Result<(), String> {
        let mut made = HashSet::new();
        let mut is_last = false;
        while !is_last {
            is_last = !self.writing.load(Ordering::SeqCst);
            let answered = self.answered.load(Ordering::SeqCst) as i64;
            loop {
                let path = format!("{FEED}&seit={}", cursor.as_str().unwrap_or_default());
                let mut page = self.got(&path)?;
                cursor = page["cursor"].take();
                let changes = page["data"].as_array().ok_or("the feed has no data")?;
                for change in changes.iter().filter(|change| change["aktion"] == "angelegt") {
                    if !made.insert(change["id"].to_string()) {
                        return Err(format!("the feed tells twice of {change}"));
                    }
                }
                if changes.is_empty() {
                    break;
                }
            }
            self.is_of_now(FEED, made.len() as i64, answered)?;
        }
        Ok(())
    }

    fn got(&self, path: &str) -> Result<Value, String> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let answer = self.client.send("GET", path, None).map_err(|error| format!("GET {path}: {error}"))?;
        if answer.status == 200 { Ok(answer.body) } else { Err(format!("GET {path}: {}", answer.body)) }
    }

    /// Writes, and immediately reads what was answered.
    fn write(&self, nr: usize) -> Result<(), String> {
        for document in 0..DOCUMENTS {
            let item = |batch: &Value| json!({"artikelnr": "W", "menge": 1, "charge_id": batch});
            let items: Vec<Value> = self.batches.iter().map(item).collect();
            let body = json!({"beleg_typ": "RE", "kunden_id": 1, "items": items});
            self.sent.fetch_add(1, Ordering::SeqCst);
            let made = self.written("POST", "/api/v1/belege", &body)?;
            self.answered.fetch_add(1, Ordering::SeqCst);
            let path = format!("/api/v1/belege/{}", made["id"].as_str().unwrap_or_default());
            let shown = self.got(&path)?;
            if shown["positionen"].as_array().map_or(0, Vec::len) != BATCHES {
                return Err(format!("GET {path} is torn: {shown}"));
            }
            self.look(&VIEWS[(nr + document) % VIEWS.len()], &mut None)?;
            let notes = format!("{nr}-{document}");
            self.written("PUT", &path, &json!({"notizen": notes}))?;
            let shown = &self.got(&path)?["notizen"];
            if shown != &notes {
                return Err(format!("PUT {path} of {notes:?} was answered, and GET shows {shown}"));
            }
            self.is_found(&format!("Hof{nr}x{document}"))?;
        }
        Ok(())
    }

    /// Creates a partner, and immediately searches for him.
    fn is_found(&self, name: &str) -> Result<(), String> {
        self.written("POST", "/api/v1/kunden", &json!({"name": name}))?;
        let path = format!("/api/v1/kunden?suche={name}");
        let found = self.got(&path)?;
        if found["count"] == 1 { Ok(()) } else { Err(format!("GET {path} finds {found}")) }
    }

    fn written(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let answer = self
            .client
            .send(method, path, Some(body))
            .map_err(|error| format!("{method} {path}: {error}"))?;
        match answer.status {
            200 | 201 => Ok(answer.body),
            status => Err(format!("{method} {path} {body}: {status} {}", answer.body)),
        }
    }
}
