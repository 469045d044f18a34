//! P4: a document sent repeatedly with the same external_ref is created once, whatever happened to the
//! requests and the server in between.
//!
//! Each document is sent one to five times, all of them in a random order by 16 clients at once, some of them
//! as a bulk request of one, as a document and its repeat may take different paths. Some connections are cut
//! in the request, some in the answer, and the server is killed at deliveries chosen by the seed. In the end
//! every document is sent once more, like by a client that never got an answer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::power::writers::{self, Answered, Promise};
use crate::process::{Folder, Running};
use crate::socket::{self, Raw};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P4",
    what: "documents sent 1 to 5 times at once, with connections cut off and kills",
    needs: &[],
    seeds: 3,
    case,
    fault: "one client repeats without the external_ref",
    control_seeds: 2,
};

/// Documents of a case.
const DOCUMENTS: usize = 100;

const CLIENTS: usize = 16;

/// Kills of a case.
const KILLS: usize = 2;

/// Maximum number of bytes of an answer after which it is cut off.
const ANSWER_BYTES: usize = 2_500;

/// Where a connection is cut off.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The answer is read to its end.
    Never,
    /// After this many thousandths of the request.
    InRequest(usize),
    /// After this many bytes of the answer.
    InAnswer(usize),
}

/// A document to be sent.
#[derive(Clone)]
struct Delivery {
    document: usize,
    cut: Cut,
    is_bulk: bool,
    /// The fault: it is sent without its reference.
    is_nameless: bool,
}

/// A finished delivery, and its answer if it was read completely.
struct Done {
    delivery: Delivery,
    answer: Option<socket::Answer>,
}

fn case(case: &mut Case) -> Result<u64, String> {
    let (beginning, key) = writers::beginning();
    let folder = beginning.copy();
    let (deliveries, dice) = (deliveries(case), &mut case.dice);
    let mut kills: Vec<usize> = (0..KILLS).map(|_| 1 + dice.below(deliveries.len())).collect();
    kills.sort_unstable();
    let mut server = folder.serve(&[]);
    let batch = writers::batch(&server.client(key))?;
    let scene = Scene { folder, key, batch, to_do: Mutex::new(deliveries), done: Mutex::default() };
    for kill in kills {
        scene.deliver(&server, kill);
        if scene.done.lock().unwrap().len() < kill {
            return Err(format!("the server ended by itself before delivery {kill}"));
        }
        server.kill();
        server = scene.folder.serve(&[]);
    }
    scene.deliver(&server, usize::MAX);
    let last = |document| Delivery { document, cut: Cut::Never, is_bulk: false, is_nameless: false };
    *scene.to_do.lock().unwrap() = (0..DOCUMENTS).map(last).collect();
    scene.deliver(&server, usize::MAX);
    server.signal("TERM");
    server.end();
    scene.look()?;
    Ok(DOCUMENTS as u64)
}

/// Each document one to five times, in any order.
fn deliveries(case: &mut Case) -> Vec<Delivery> {
    let (mut deliveries, dice) = (Vec::new(), &mut case.dice);
    for document in 0..DOCUMENTS {
        for nr in 0..1 + dice.below(5) {
            let is_nameless = case.has_fault && document == 0 && nr == 0;
            let cut = match dice.below(4) {
                _ if is_nameless => Cut::Never,
                0 => Cut::InRequest(dice.below(1_000)),
                1 => Cut::InAnswer(dice.below(ANSWER_BYTES)),
                _ => Cut::Never,
            };
            deliveries.push(Delivery { document, cut, is_bulk: dice.once_in(4), is_nameless });
        }
    }
    shuffle(&mut deliveries, dice);
    deliveries
}

fn shuffle<T>(all: &mut [T], dice: &mut Dice) {
    (1..all.len()).for_each(|at| all.swap(at, dice.below(at + 1)));
}

struct Scene {
    folder: Folder,
    key: &'static str,
    batch: Value,
    to_do: Mutex<Vec<Delivery>>,
    done: Mutex<Vec<Done>>,
}

impl Scene {
    fn body(&self, document: usize) -> Value {
        let item = json!({"artikelnr": "W", "menge": 1 + document % 7, "charge_id": self.batch});
        json!({"beleg_typ": "RE", "kunden_id": 2, "external_ref": reference(document), "items": [item]})
    }

    /// Sends the remaining deliveries, and kills the server after this many are done, or at the next one if
    /// they are already.
    fn deliver(&self, server: &Running, kill_at: usize) {
        let already = self.done.lock().unwrap().len();
        let kill_at = kill_at.max(already + 1);
        let done = AtomicUsize::new(already);
        let work = || {
            while let Some(delivery) = self.next() {
                let Some(mut connection) = Raw::open(&server.address) else {
                    // The server is gone: the next one gets it.
                    return self.to_do.lock().unwrap().push(delivery);
                };
                let answer = self.send(&mut connection, &delivery);
                self.done.lock().unwrap().push(Done { delivery, answer });
                if done.fetch_add(1, Ordering::SeqCst) + 1 == kill_at {
                    server.signal("KILL");
                }
            }
        };
        std::thread::scope(|scope| (0..CLIENTS).for_each(|_| drop(scope.spawn(work))));
    }

    fn next(&self) -> Option<Delivery> {
        self.to_do.lock().unwrap().pop()
    }

    fn send(&self, connection: &mut Raw, delivery: &Delivery) -> Option<socket::Answer> {
        let mut body = self.body(delivery.document);
        if delivery.is_nameless {
            body.as_object_mut()?.remove("external_ref");
        }
        let path = if delivery.is_bulk { "belege/stapel" } else { "belege" };
        let body = if delivery.is_bulk { json!({"items": [body]}) } else { body };
        let request = socket::send("POST", path, self.key, "Connection: close\r\n", &body.to_string());
        match delivery.cut {
            Cut::Never => {
                connection.write(request.as_bytes());
                connection.answer().map(|answer| if delivery.is_bulk { of_item(answer) } else { answer })
            }
            Cut::InRequest(share) => {
                connection.write(&request.as_bytes()[..request.len() * share / 1_000]);
                None
            }
            Cut::InAnswer(bytes) => {
                connection.write(request.as_bytes());
                connection.read_only(bytes);
                None
            }
        }
    }

    /// Checks that there are as many documents as references, each as it was answered.
    fn look(&self) -> Result<(), String> {
        let database = self.folder.database();
        let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        let (documents, references) =
            (count("select count(*) from beleg"), count("select count(distinct external_ref) from beleg"));
        drop(database);
        let done = self.done.lock().unwrap();
        let answered: Vec<Answered> = done
            .iter()
            .enumerate()
            .filter_map(|(at, done)| Some(self.answered(at, &done.delivery, done.answer.as_ref()?)))
            .collect::<Result<_, _>>()?;
        for document in 0..DOCUMENTS {
            made_once(&done, document).map_err(|found| {
                format!("{found}; deliveries of {}: {}", reference(document), story(&done, document))
            })?;
        }
        if [documents, references] != [DOCUMENTS as i64; 2] {
            return Err(format!("{documents} documents and {references} references, {DOCUMENTS} were sent"));
        }
        oracle::look(&self.folder.file("partnerd.db"), &answered)?;
        oracle::prove(&self.folder)
    }

    /// The promise of an answer; any answer but success is a violation.
    fn answered(&self, at: usize, delivery: &Delivery, answer: &socket::Answer) -> Result<Answered, String> {
        let socket::Answer { status, request_id, body } = answer;
        let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
        let sent = self.body(delivery.document);
        match status {
            200 | 201 => {
                let promise = Promise::Beleg { id: text("id"), nummer: text("beleg_nummer"), sent };
                Ok(Answered { at, request_id: request_id.clone(), promise })
            }
            _ => Err(format!("{sent} is answered {status} {body}")),
        }
    }
}

/// The answer to the only item of a bulk request.
fn of_item(mut answer: socket::Answer) -> socket::Answer {
    if answer.status == 200 {
        let item = answer.body["data"][0].take();
        answer.status = item["status"].as_u64().and_then(|status| status.try_into().ok()).unwrap_or(0);
        answer.body = item["antwort"].clone();
    }
    answer
}

fn reference(document: usize) -> String {
    format!("Bestellung {document}")
}

/// Checks that all answers to a document have the same id, and at most one says that it created it.
fn made_once(done: &[Done], document: usize) -> Result<(), String> {
    let answers: Vec<_> = done
        .iter()
        .filter(|done| done.delivery.document == document)
        .filter_map(|done| done.answer.as_ref())
        .collect();
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    let first = answers.first().ok_or("the last delivery has no answer")?;
    let is_same = |answer: &&&socket::Answer| {
        ["id", "beleg_nummer"].iter().all(|field| answer.body[field] == first.body[field])
    };
    match answers.iter().find(|answer| !is_same(answer)) {
        Some(other) => Err(format!("{} and {}", first.body["beleg_nummer"], other.body["beleg_nummer"])),
        None if made > 1 => Err(format!("it was made {made} times")),
        None => Ok(()),
    }
}

/// The deliveries of a document, in the order in which they ended.
fn story(done: &[Done], document: usize) -> String {
    let told = done.iter().filter(|done| done.delivery.document == document).map(|done| {
        let name = if done.delivery.is_nameless { " without its reference" } else { "" };
        match (&done.answer, done.delivery.cut) {
            (Some(answer), _) => format!("{} {}{name}", answer.status, answer.body["beleg_nummer"]),
            (None, Cut::Never) => "no answer".to_owned(),
            (None, cut) => format!("{cut:?}"),
        }
    });
    told.collect::<Vec<_>>().join(", ")
}
