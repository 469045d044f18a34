//! P5: numbers have no gap, whatever happens to the requests that take one.
//!
//! Clients of two companies write documents of six types and two years, stornos, weighing slips, production orders,
//! and goods receipts, which create a delivery and a batch. A third of the requests is refused: before anything is
//! written or after it (one company refuses to sell more than it has), as a conflict, or within a bulk request.
//! Connections are cut off, and for some writes the disk is full. In the end each series of each company and year has
//! the numbers from 1 to its last, and every answered number is among them.

mod series;
mod step;

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};

use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::power::writers;
use crate::process::{Folder, Running};
use crate::socket::{self, Raw};
use step::Step::{self, *};
use step::YEARS;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P5",
    what: "requests for numbers, a third of them refused, with aborts and a full disk",
    needs: &["strace"],
    seeds: 3,
    case,
    fault: "the row of a document is taken out",
    control_seeds: 1,
};

/// Companies; the second refuses to sell what it does not have.
const COMPANIES: [&str; 2] = ["Mühle", "Hof"];

const CLIENTS: usize = 16;

/// Steps of a client.
const STEPS: usize = 14;

fn case(case: &mut Case) -> Result<u64, String> {
    let (beginning, keys) = beginning();
    let folder = beginning.copy();
    let full = [50 + case.dice.below(900), 1 + case.dice.below(40)];
    let plans: Vec<Vec<Step>> =
        (0..CLIENTS).map(|_| (0..STEPS).map(|_| Step::of(&mut case.dice)).collect()).collect();
    let mut server = on_a_disk_that_fills(&folder, full);
    let answered = Mutex::new(BTreeSet::new());
    let results: Vec<Result<u64, String>> = std::thread::scope(|scope| {
        let work = |at: usize, plan: &[Step]| {
            let company = at % COMPANIES.len();
            Client::of(&server, company, &keys[company], &answered)
                .and_then(|client| plan.iter().map(|step| client.does(*step)).sum())
        };
        let workers: Vec<_> =
            plans.iter().enumerate().map(|(at, plan)| scope.spawn(move || work(at, plan))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let requests = results.into_iter().sum::<Result<u64, String>>()?;
    server.signal("TERM");
    server.end();
    if case.has_fault {
        series::take_out(&folder.database());
    }
    series::look(&folder.database(), &answered.into_inner().unwrap()).map_err(|found| {
        format!("{found} (the disk was full for {} writes of the log from {} on)", full[1], full[0])
    })?;
    oracle::prove(&folder)?;
    Ok(requests)
}

/// Creates both companies with wheat, a batch of it and a partner; returns their keys. A server has already
/// started on them once, so that later writes are only those of its clients.
fn beginning() -> &'static (Folder, Vec<String>) {
    static BEGINNING: OnceLock<(Folder, Vec<String>)> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let folder = Folder::new();
        let keys = COMPANIES.map(|name| {
            let key = folder.company(name);
            writers::stock(&folder, name);
            key
        });
        folder.result(&["tenant", "set", COMPANIES[1], "negativbestand=ablehnen"]);
        let mut server = folder.serve(&[]);
        server.signal("TERM");
        server.end();
        (folder, keys.to_vec())
    })
}

/// A server for which, from one write to its log on, this many writes fail. Each of its threads counts separately.
fn on_a_disk_that_fills(folder: &Folder, [from, writes]: [usize; 2]) -> Running {
    let log = std::fs::canonicalize(folder.path()).unwrap().join("partnerd.db-wal");
    let mut command = Command::new("strace");
    command.current_dir(folder.path()).args(["-D", "-f", "-o", "calls.txt", "-e", "trace=pwrite64", "-P"]);
    command
        .arg(log)
        .args(["-e", &format!("inject=pwrite64:error=ENOSPC:when={from}..{}", from + writes - 1)]);
    command.args([env!("CARGO_BIN_EXE_partnerd"), "serve", "--listen", "127.0.0.1:0"]);
    Running::start(command)
}

/// A client of a company.
struct Client<'c> {
    address: &'c str,
    key: &'c str,
    /// Its index among the companies.
    company: usize,
    batch: Value,
    kunde: String,
    /// Answered numbers, each with its company.
    answered: &'c Mutex<BTreeSet<(i64, String)>>,
}

impl Client<'_> {
    fn of<'c>(
        server: &'c Running,
        company: usize,
        key: &'c str,
        answered: &'c Mutex<BTreeSet<(i64, String)>>,
    ) -> Result<Client<'c>, String> {
        let client = server.client(key);
        let batch = writers::batch(&client)?;
        let kunden = client.get("/api/v1/kunden").body;
        let kunde = kunden["data"][0]["id"].as_str().ok_or("no partner")?.to_owned();
        Ok(Client { address: &server.address, key, company, batch, kunde, answered })
    }

    /// Carries out a step; returns its number of requests.
    fn does(&self, step: Step) -> Result<u64, String> {
        let invoice = |menge: i64| self.document("RE", YEARS[1], menge);
        match step {
            Document(typ, day) => self.is_made("belege", &self.document(typ, day, 1)),
            Cut(share) => self.cut_off(share),
            Unread => self.cut_off(1_000),
            Storno => self.storno(),
            Weighing => {
                let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 20_000, "partner_id": self.kunde});
                self.is_made("wiegungen", &weighing)
            }
            Order => self.is_made("produktionsauftraege", &json!({})),
            Note => {
                let mut note = self.note_of_delivery();
                note["herkunftsland"] = json!("AT");
                self.is_made("annahmescheine", &note)
            }
            NoteWithoutBatch => self.is_refused("POST", "annahmescheine", "", &self.note_of_delivery()),
            Nothing => self.is_refused("POST", "belege", "", &invoice(0)),
            NoArticle => {
                let mut body = invoice(1);
                body["items"][0]["artikelnr"] = json!("nichts");
                self.is_refused("POST", "belege", "", &body)
            }
            // The other company sells it, and this is expected.
            TooMuch if self.company == 0 => self.is_made("belege", &invoice(1)),
            TooMuch => self.is_refused("POST", "belege", "", &invoice(100_000_000)),
            Kundennr => self.is_refused("POST", "kunden", "", &json!({"name": "Hof", "kundennr": "k-1"})),
            Changed => {
                let path = format!("kunden/{}", self.kunde);
                self.is_refused("PUT", &path, "If-Match: \"0\"\r\n", &json!({"ort": "Hof"}))
            }
            SameKey => self.same_key(),
            Bulk => {
                let items = json!({"items": [invoice(1), invoice(0), invoice(1)]});
                self.is_made("belege/stapel", &items)
            }
        }
    }

    /// Wheat from a batch, or into one.
    fn document(&self, typ: &str, day: &str, menge: i64) -> Value {
        let mut item = json!({"artikelnr": "W", "menge": menge});
        match typ {
            "LS" | "RE" => item["charge_id"] = self.batch.clone(),
            "EL" | "BS" => item["fremde_charge_nr"] = json!("L-1"),
            _ => {}
        }
        json!({"beleg_typ": typ, "beleg_datum": day, "kunden_id": 2, "items": [item]})
    }

    fn note_of_delivery(&self) -> Value {
        json!({"kundennummer": "K-1", "artikelnr": "W", "anliefermenge_kg": 100, "preis_je_t": 200,
            "el_erzeugen": true})
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &Value) -> Result<socket::Answer, String> {
        let mut connection = Raw::open(self.address).ok_or("nobody listens")?;
        let request = socket::send(method, path, self.key, headers, &body.to_string());
        connection.write(request.as_bytes());
        let answer = connection.answer().ok_or_else(|| format!("{method} {path} {body} has no answer"))?;
        self.note(&answer.body);
        Ok(answer)
    }

    /// Records the numbers in an answer.
    fn note(&self, body: &Value) {
        let several = body["data"].as_array().into_iter().flatten().map(|item| &item["antwort"]);
        let mut answered = self.answered.lock().unwrap();
        for body in std::iter::once(body).chain(several) {
            for field in ["beleg_nummer", "storno_beleg_nummer", "wiegeschein_nr", "pa_nummer", "belegnummer"]
            {
                let number = body[field].as_str().map(str::to_owned);
                answered.extend(number.map(|number| (self.company as i64 + 1, number)));
            }
        }
    }

    fn is_made(&self, path: &str, body: &Value) -> Result<u64, String> {
        expect(&[200, 201], &self.send("POST", path, "", body)?, body).map(|()| 1)
    }

    fn is_refused(&self, method: &str, path: &str, headers: &str, body: &Value) -> Result<u64, String> {
        expect(&[400, 409, 412], &self.send(method, path, headers, body)?, body).map(|()| 1)
    }

    /// All clients of a company send their own document with one key: only one is created.
    fn same_key(&self) -> Result<u64, String> {
        let mut body = self.document("RE", YEARS[0], 1);
        body["notizen"] = json!(format!("{:?}", std::thread::current().id()));
        expect(&[201, 409], &self.send("POST", "belege", "Idempotency-Key: einer\r\n", &body)?, &body)?;
        Ok(1)
    }

    fn storno(&self) -> Result<u64, String> {
        let mut body = self.document("RE", YEARS[1], 1);
        body["abschliessen"] = json!(true);
        let made = self.send("POST", "belege", "", &body)?;
        expect(&[201], &made, &body)?;
        let Some(id) = made.body["id"].as_str() else { return Ok(1) };
        let (path, reason) = (format!("belege/{id}/storno"), json!({"grund": "falsch"}));
        let first = self.send("POST", &path, "", &reason)?;
        expect(&[200], &first, &reason)?;
        if first.status == 200 {
            self.is_refused("POST", &path, "", &reason)?;
        }
        Ok(3)
    }

    /// Hangs up after this many thousandths of the request.
    fn cut_off(&self, share: usize) -> Result<u64, String> {
        let body = self.document("RE", YEARS[0], 1).to_string();
        let request = socket::send("POST", "belege", self.key, "", &body);
        let mut connection = Raw::open(self.address).ok_or("nobody listens")?;
        connection.write(&request.as_bytes()[..request.len() * share / 1_000]);
        Ok(1)
    }
}

/// Checks that an answer has one of these statuses, or says that the disk is full.
fn expect(statuses: &[u16], answer: &socket::Answer, sent: &Value) -> Result<(), String> {
    let is_expected = statuses.contains(&answer.status) || answer.status == 503;
    if is_expected {
        Ok(())
    } else {
        Err(format!("{sent} is answered {} {}", answer.status, answer.body["error"]))
    }
}
