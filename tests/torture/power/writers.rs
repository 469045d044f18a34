//! Sixteen clients that write at once, and the answers they got. P2 and P24 use them, too.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::oracle;
use super::recording::Log;
use crate::process::{Answer, Client, Folder, Running};

pub const WRITERS: usize = 16;

/// Documents of a client; each takes at least five requests. Four more settle a lorry and make a batch.
const DOCUMENTS: usize = 4;

/// Attachments of a client if the log of the database is to become so long that it starts over: 48 MiB in all
/// (`src/platform/db/readers/checkpoint.rs`).
const ATTACHMENTS: usize = 6;
const ATTACHMENT_BYTES: usize = 512 * 1024;

/// Requests of long ago: some pages of the audit log.
const OLD_REQUESTS: usize = 100;

/// The promise of an answer.
#[derive(Clone, Debug)]
pub enum Promise {
    Beleg {
        id: String,
        nummer: String,
        sent: Value,
    },
    Kunde {
        id: String,
        kundennr: String,
    },
    /// The storno document.
    Storno {
        id: String,
        counter: String,
        nummer: String,
    },
    /// The notes contain this number or a later one: only the client that created the record changes them.
    Notiz {
        table: &'static str,
        id: String,
        at_least: i64,
    },
    Anhang {
        id: String,
        bytes: i64,
    },
    /// The settlement of a receipt, which is settled by it.
    Abrechnung {
        id: String,
        schein: String,
        nummer: String,
    },
    /// A batch for the tax adviser, with its documents and files.
    Stapel {
        id: String,
        nr: i64,
        belege: i64,
    },
    /// A list was read: only the audit log shows it.
    Liste,
}

/// An answer, and the clock when it arrived: the length of the log of calls, or the number of answers.
#[derive(Clone)]
pub struct Answered {
    pub at: usize,
    pub request_id: String,
    pub promise: Promise,
}

/// Creates a company with a partner, wheat, and a batch of it; returns its key. It is so old that a starting
/// server drops the first rows of its audit log, as a recent command shows that the clock is right.
pub fn mill(folder: &Folder) -> String {
    let logs = Folder::new();
    let long_ago = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        Log::of(&mut command, folder, &logs);
        command.env("TORTURE_DAYS", "-100");
        command
    };
    let result = |arguments: &[&str]| {
        let output = long_ago(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    result(&["tenant", "create", "Mühle"]);
    let key = result(&["key", "create", "--tenant", "Mühle", "--label", "test", "--all-scopes"]);
    let mut server = Running::start(long_ago(&["serve", "--listen", "127.0.0.1:0"]));
    let client = server.client(&key);
    (0..OLD_REQUESTS).for_each(|_| assert_eq!(client.get("/api/v1/laender").status, 200));
    server.signal("TERM");
    assert!(server.end().0.success());
    stock(folder, "Mühle");
    assert!(oracle::has_old_rows(folder), "the scene needs rows that are to be dropped");
    key
}

/// The same company, created today and never served; a case works on a copy of its folder.
pub fn beginning() -> &'static (Folder, String) {
    static BEGINNING: OnceLock<(Folder, String)> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let folder = Folder::new();
        let key = folder.company("Mühle");
        stock(&folder, "Mühle");
        (folder, key)
    })
}

/// Imports wheat, a batch of it and a partner today, and sets what the tax adviser needs.
pub fn stock(folder: &Folder, company: &str) {
    let article = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30",
        "ep_netto": "0.20", "chargenpflichtig": true}]);
    folder.import(company, "artikel", &article);
    let partner = json!([{"kundennr": "K-1", "nachname_firma": "Bäcker", "kunden_id": 2, "strasse": "Am Markt 1",
        "plz": "36037", "ort": "Fulda"}]);
    folder.import(company, "kunden", &partner);
    let batch = json!([{"artikelnummer": "W", "charge_nr": "A1", "bestand": 1_000_000}]);
    folder.import(company, "chargen", &batch);
    let advised = ["datev_berater=1001", "datev_mandant=1", "datev_ab=2026-01-01"];
    folder.result(&[&["tenant", "set", company][..], &advised].concat());
    folder.import(company, "konten", &json!([{"fall": "erloes", "satz": "19", "konto": 8400}]));
}

/// Called after each answer.
pub type Clock<'a> = &'a (dyn Fn() -> usize + Sync);

/// A request that ended a client's work: no answer, or one that is no success.
#[derive(Debug)]
pub struct Stopped {
    pub status: Option<u16>,
    pub why: String,
}

/// A client that records when its answers arrive.
struct Writer<'a> {
    client: Client,
    clock: Clock<'a>,
    /// Chosen by the case, so that no two cases use the same references.
    name: String,
    batch: Value,
    answered: Vec<Answered>,
}

impl Writer<'_> {
    fn send(&self, method: &str, path: &str, body: &Value) -> Result<(Answer, usize), Stopped> {
        let answer = self.client.send(method, path, Some(body)).map_err(|error| gone(path, &error))?;
        let at = (self.clock)();
        match answer.status {
            200 | 201 => Ok((answer, at)),
            status => {
                let why = format!("{method} {path} {body}: {status} {}", answer.body);
                Err(Stopped { status: Some(status), why })
            }
        }
    }

    /// Sends a request whose answer promises something.
    fn write(
        &mut self,
        method: &str,
        path: &str,
        body: &Value,
        promise: impl FnOnce(&Value) -> Promise,
    ) -> Result<String, Stopped> {
        let (answer, at) = self.send(method, path, body)?;
        let promise = promise(&answer.body);
        self.answered.push(Answered { at, request_id: answer.request_id, promise });
        Ok(text(&answer.body, "id"))
    }

    fn beleg(&mut self, nr: usize) -> Result<(), Stopped> {
        let reference = format!("{}-{nr}", self.name);
        let item = json!({"artikelnr": "W", "menge": nr + 1, "charge_id": self.batch});
        let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "12.50", "mwst_satz": 19});
        let sent =
            json!({"beleg_typ": "RE", "kunden_id": 2, "external_ref": reference, "items": [item, freight]});
        let promise = |body: &Value| Promise::Beleg {
            id: text(body, "id"),
            nummer: text(body, "beleg_nummer"),
            sent: sent.clone(),
        };
        let id = self.write("POST", "/api/v1/belege", &sent, promise)?;
        let path = format!("/api/v1/belege/{id}");
        self.note("beleg", &path, &id, nr)?;
        if nr.is_multiple_of(2) {
            self.send("POST", &format!("{path}/abschliessen"), &json!({}))?;
            let storno = |body: &Value| Promise::Storno {
                id: text(body, "id"),
                counter: text(body, "storno_beleg_id"),
                nummer: text(body, "storno_beleg_nummer"),
            };
            self.write("POST", &format!("{path}/storno"), &json!({"grund": "Irrtum"}), storno)?;
        }
        Ok(())
    }

    fn note(&mut self, table: &'static str, path: &str, id: &str, nr: usize) -> Result<(), Stopped> {
        let promise = Promise::Notiz { table, id: id.to_owned(), at_least: nr as i64 };
        self.write("PUT", path, &json!({"notizen": nr.to_string()}), |_| promise).map(drop)
    }

    fn kunde(&mut self) -> Result<String, Stopped> {
        let kunde = json!({"nachname_firma": format!("Kunde {}", self.name), "ort": "Fulda"});
        let promise =
            |body: &Value| Promise::Kunde { id: text(body, "id"), kundennr: text(body, "kundennr") };
        self.write("POST", "/api/v1/kunden", &kunde, promise)
    }

    /// Settles a lorry, and hands over the sales of January to the tax adviser.
    fn settle_and_hand_over(&mut self) -> Result<(), Stopped> {
        let schein = json!({"kunden_id": 2, "artikelnr": "W", "anliefermenge_kg": 25_000, "preis_je_t": "200.00",
            "fremde_charge_nr": self.name});
        let schein = text(&self.send("POST", "/api/v1/annahmescheine", &schein)?.0.body, "id");
        let settlement = json!({"art": "end", "annahmeschein_ids": [schein], "abschliessen": true});
        let settled = |body: &Value| Promise::Abrechnung {
            id: text(body, "id"),
            schein: schein.clone(),
            nummer: text(body, "beleg_nummer"),
        };
        self.write("POST", "/api/v1/abrechnungen", &settlement, settled)?;
        let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "12.50", "mwst_satz": 19});
        let sold = json!({"beleg_typ": "RE", "kunden_id": 2, "beleg_datum": "2026-01-15", "abschliessen": true,
            "items": [freight]});
        self.send("POST", "/api/v1/belege", &sold)?;
        let (made, at) = self.send("POST", "/api/v1/datev/stapel", &json!({"bis": "2026-01-31"}))?;
        // Another client may have handed them over already.
        if let Some(nr) = made.body["nr"].as_i64() {
            let belege = made.body["belege"].as_i64().unwrap_or_default();
            let promise = Promise::Stapel { id: text(&made.body, "id"), nr, belege };
            self.answered.push(Answered { at, request_id: made.request_id, promise });
        }
        Ok(())
    }

    /// A read and a refusal, whose rows go through the journal.
    fn in_journal(&self) -> Result<(), Stopped> {
        for path in ["/api/v1/kunden?limit=1", "/api/v1/nichts"] {
            self.client.send("GET", path, None).map_err(|error| gone(path, &error))?;
        }
        Ok(())
    }

    fn work(&mut self, with_attachments: bool) -> Result<(), Stopped> {
        let kunde = self.kunde()?;
        let path = format!("/api/v1/kunden/{kunde}");
        for nr in 0..DOCUMENTS {
            self.beleg(nr)?;
            self.note("kunde", &path, &kunde, nr)?;
            self.in_journal()?;
        }
        self.settle_and_hand_over()?;
        let content = "QUJD".repeat(ATTACHMENT_BYTES / 3);
        for nr in 0..if with_attachments { ATTACHMENTS } else { 0 } {
            let body = json!({"dateiname": format!("{nr}.txt"), "inhalt_base64": content});
            let promise = |body: &Value| Promise::Anhang {
                id: text(body, "id"),
                bytes: ATTACHMENT_BYTES as i64 / 3 * 3,
            };
            self.write("POST", &format!("{path}/dokumente"), &body, promise)?;
            self.note("kunde", &path, &kunde, DOCUMENTS + nr)?;
        }
        Ok(())
    }
}

fn gone(path: &str, error: &ureq::Error) -> Stopped {
    Stopped { status: None, why: format!("{path}: {error}") }
}

/// The answers of the clients, earliest first, and what ended their work early.
pub struct Work {
    pub answered: Vec<Answered>,
    pub stopped: Vec<Stopped>,
}

impl Work {
    /// The answers, if nothing may have ended the work early.
    pub fn done(mut self) -> Result<Vec<Answered>, String> {
        self.stopped.pop().map_or(Ok(self.answered), |stopped| Err(stopped.why))
    }
}

/// Lets all of them work until they are done. `batch` is the id of the batch that they sell from.
pub fn work(client: &Client, clock: Clock<'_>, name: &str, batch: &Value, with_attachments: bool) -> Work {
    let mut work = Work { answered: Vec::new(), stopped: Vec::new() };
    std::thread::scope(|scope| {
        let run = |at: usize| {
            let (name, batch) = (format!("{name}-{at}"), batch.clone());
            let mut writer = Writer { client: client.clone(), clock, name, batch, answered: Vec::new() };
            let stopped = writer.work(with_attachments).err();
            (writer.answered, stopped)
        };
        let workers: Vec<_> = (0..WRITERS).map(|at| scope.spawn(move || run(at))).collect();
        for worker in workers {
            let (answered, stopped) = worker.join().unwrap();
            work.answered.extend(answered);
            work.stopped.extend(stopped);
        }
    });
    work.answered.sort_by_key(|answered| answered.at);
    work
}

/// The id of the batch that the clients sell from.
pub fn batch(client: &Client) -> Result<Value, String> {
    let batches = client.send("GET", "/api/v1/chargen", None).map_err(|error| error.to_string())?.body;
    Ok(batches.as_array().ok_or("no batches")?[0]["id"].clone())
}

fn text(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_default().to_owned()
}
