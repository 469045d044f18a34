//! Many requests in one (D28): each item of a bulk request is a request of its own, to the route for one, with its
//! request of the day, its audit row and its answer. They come in their order, some in a batch of the writer at a time,
//! so that nobody else waits long.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::Gate;
use super::admission::Admission;
use super::carried::Carried;
use super::completion::Trail;
use super::idempotency::{MAX_KEY, sent_key};
use crate::db::batch::{Batch, Ended, Job};
use crate::failure::{Failure, Result};
use crate::http::answering::{Next, Work};
use crate::http::error;
use crate::http::reply::Reply;
use crate::http::request::{Body, Request};
use crate::http::route::Method;
use crate::http::router::split;
use crate::rules::error::{Checked, Code, Refusal};

/// A body above this size is parsed on a thread that serves no sockets, in bytes.
pub const LARGE_BODY: usize = 64 << 10;

/// Items of one request at most (D28).
const MAX_ITEMS: usize = 200;

/// Items in one batch of the writer at most.
const AT_ONCE: usize = 16;

/// What the items of one step have in bytes, unless it is one alone: they are read on a thread that serves sockets.
const BYTES_AT_ONCE: usize = LARGE_BODY;

/// The name of the header under which items have keys of their own.
const KEY: &str = "idempotency-key";

/// A bulk request on its way.
pub struct Stapel {
    gate: Arc<Gate>,
    request: Request,
    trail: Trail,
    /// The route for one, by its place in the table.
    single: usize,
    /// Where the items stand in the body.
    items: Vec<Range<usize>>,
    /// The first item that is not answered yet.
    next: usize,
    answers: Vec<Zeile>,
}

/// An answer: its status, and what the route for one answers.
#[derive(Serialize)]
struct Zeile {
    status: u16,
    antwort: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Antwort<'a> {
    data: &'a [Zeile],
    angelegt: usize,
    abgelehnt: usize,
}

/// An item of the step that is carried out.
enum Item {
    Answered(Reply),
    Write(Box<Carried>),
}

/// What is to be done.
pub struct Plan {
    single: usize,
    items: Vec<Range<usize>>,
}

impl Plan {
    /// Finds the items in a body, which go to the route with this path.
    pub fn read(gate: &Gate, request: &Request, single: &str) -> Result<Plan> {
        // The key of an item has its number behind it.
        sent_key(request, MAX_KEY - "#200".len())?;
        let found = gate.router.find(Some(Method::Post), &split(single));
        let single =
            found.ok_or_else(|| Failure::Broken(format!("there is no route {single} for an item")))?;
        Ok(Plan { single, items: items(&request.body)? })
    }
}

impl Stapel {
    /// Begins with items that were found in its body.
    pub fn new(gate: Arc<Gate>, request: Request, trail: Trail, plan: Plan) -> Stapel {
        let Plan { single, items } = plan;
        let answers = Vec::with_capacity(items.len());
        Stapel { gate, request, trail, single, items, next: 0, answers }
    }

    /// Carries out the next items; the answer where there are none.
    pub fn go_on(self) -> Next {
        let mut bytes = 0;
        let fits = |item: &&Range<usize>| {
            bytes += item.len();
            bytes <= BYTES_AT_ONCE
        };
        let rest = self.items.get(self.next..).unwrap_or_default();
        let count = rest.iter().take(AT_ONCE).take_while(fits).count().max(1).min(rest.len());
        if count == 0 {
            return self.answered();
        }
        let requests: Vec<_> = (self.next..self.next + count).map(|at| self.item(at)).collect();
        let bytes = requests.iter().map(|(request, _)| request.body.len()).sum::<usize>();
        let read = Work::new(move || self.read_items(requests));
        if bytes > LARGE_BODY { Next::Heavy(Duration::ZERO, read) } else { read.run() }
    }

    /// The request that an item is, counted as one of its key.
    fn item(&self, at: usize) -> (Request, Trail) {
        let Stapel { gate, request, trail, .. } = self;
        let now = (gate.clock)();
        let content = request.body.content().ok().zip(self.items.get(at).cloned());
        let bytes = content.and_then(|(body, range)| body.get(range)).unwrap_or_default().to_vec();
        let mut headers = request.headers.clone();
        let key = headers
            .get(KEY)
            .and_then(|key| key.to_str().ok())
            .map(|key| format!("{}#{}", key.trim(), at + 1));
        if let Some(key) = key.and_then(|key| HeaderValue::from_str(&key).ok()) {
            headers.insert(KEY, key);
        }
        let item = Request {
            id: Uuid::now_v7(),
            at: now,
            started: std::time::Instant::now(),
            peer: request.peer,
            local: request.local,
            method: request.method.clone(),
            path: gate.router.route(self.single).pattern.to_owned(),
            query: String::new(),
            headers,
            malformed: None,
            body: Body::from_bytes(bytes),
        };
        let allowance = trail.caller.as_ref().map(|caller| gate.quota.take(caller, now));
        let route = Some(self.single);
        (item, Trail { caller: trail.caller.clone(), route, allowance, ..Trail::new(trail.address) })
    }

    /// Reads the bodies of items; what passes goes to the writer.
    fn read_items(self, requests: Vec<(Request, Trail)>) -> Next {
        let gate = Arc::clone(&self.gate);
        let read: Vec<_> = requests
            .into_iter()
            .map(|(request, mut trail)| {
                let admission = gate.admit_item(&request, &mut trail);
                (request, trail, admission)
            })
            .collect();
        Next::Here(Work::new(move || self.hand_over(read)))
    }

    fn hand_over(self, read: Vec<(Request, Trail, Admission)>) -> Next {
        let gate = Arc::clone(&self.gate);
        let items = read.into_iter().map(|(request, trail, admission)| match admission {
            Admission::Write(write) => Item::Write(Box::new(Carried::new(request, trail, write))),
            Admission::Reply(reply) => Item::Answered(gate.finish_audited(&request, trail, reply)),
            _ => Item::Answered(gate.finish_audited(&request, trail, error::unavailable(request.id))),
        });
        let items = items.collect();
        let (tell, told) = oneshot::channel();
        gate.writer.submit(Box::new(Step { stapel: self, items, tell }));
        Next::Later(told)
    }

    /// Takes the answers of a step.
    fn take(&mut self, replies: Vec<Reply>) {
        self.next += replies.len();
        self.answers.extend(replies.into_iter().map(|reply| {
            let antwort =
                String::from_utf8(reply.body).ok().and_then(|body| RawValue::from_string(body).ok());
            Zeile { status: reply.status, antwort }
        }));
    }

    /// The answer, to as many items as were carried out.
    fn answered(self) -> Next {
        let Stapel { gate, request, trail, answers: data, .. } = self;
        let count = |matches: fn(u16) -> bool| data.iter().filter(|zeile| matches(zeile.status)).count();
        let (angelegt, abgelehnt) = (count(|status| status == 201), count(|status| status >= 400));
        let reply = Reply::ok(&Antwort { data: &data, angelegt, abgelehnt });
        let reply = reply.unwrap_or_else(|failure| error::reply(&failure, request.id));
        // What it says was done.
        let reply = gate.reserve_anyway(reply, &trail);
        Next::Done(gate.finish_audited(&request, trail, reply))
    }
}

/// Some items in a batch of the writer.
struct Step {
    stapel: Stapel,
    items: Vec<Item>,
    tell: oneshot::Sender<Next>,
}

impl Job for Step {
    fn bytes(&self) -> usize {
        let bytes = |item: &Item| if let Item::Write(carried) = item { carried.bytes() } else { 0 };
        self.items.iter().map(bytes).sum()
    }

    fn run(&mut self, batch: &Batch<'_>) {
        for item in &mut self.items {
            if let Item::Write(carried) = item {
                carried.run(&self.stapel.gate, batch);
            }
        }
    }

    fn finish(self: Box<Self>, ended: Ended) {
        let Step { mut stapel, items, tell } = *self;
        let replies = items.into_iter().map(|item| match item {
            Item::Answered(reply) => reply,
            Item::Write(carried) => carried.finish(&stapel.gate, ended),
        });
        let replies = replies.collect();
        stapel.take(replies);
        // Nobody listens any more: what was not begun is left undone, and the request has its row.
        let is_gone = tell.is_closed();
        let go_on = Work::new(move || if is_gone { stapel.answered() } else { stapel.go_on() });
        drop(tell.send(Next::Here(go_on)));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inhalt<'b> {
    #[serde(borrow)]
    items: Option<Items<'b>>,
}

/// Items as they stand in the body, no more than are taken.
struct Items<'b>(Vec<&'b RawValue>);

impl<'de: 'b, 'b> Deserialize<'de> for Items<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Items<'b>, D::Error> {
        deserializer.deserialize_seq(Each)
    }
}

struct Each;

impl<'de> Visitor<'de> for Each {
    type Value = Items<'de>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an array of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> std::result::Result<Items<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element::<&'de RawValue>()? {
            if items.len() == MAX_ITEMS {
                return Err(A::Error::custom("too many items"));
            }
            items.push(item);
        }
        Ok(Items(items))
    }
}

/// Where the items stand in a body.
fn items(body: &Body) -> Checked<Vec<Range<usize>>> {
    let body = body.content()?;
    let read: Inhalt<'_> = serde_json::from_slice(body).map_err(|error| {
        let message = format!(
            "Erwartet wird {{\"items\": [ … ]}} mit höchstens {MAX_ITEMS} Einträgen und sonst nichts."
        );
        match error.is_data() {
            true => Refusal::field(Code::FeldUngueltig, "items", message),
            false => Refusal::new(Code::UngueltigesJson, message),
        }
    })?;
    let missing = || Refusal::field(Code::FeldFehlt, "items", "Es fehlen die Einträge. Bitte items angeben.");
    let Items(items) = read.items.ok_or_else(missing)?;
    let place = |item: &RawValue| {
        let from = (item.get().as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
        from..from + item.get().len()
    };
    Ok(items.into_iter().map(place).collect())
}

impl Gate {
    /// Checks an item like a request that passed every check before its body: of its key, and where its route is critical
    /// of its address, it is one more.
    fn admit_item(&self, request: &Request, trail: &mut Trail) -> Admission {
        let counted = trail.allowance.map_or(Ok(()), |allowance| allowance.check());
        let limit = trail.route.map_or(0, |at| self.router.route(at).body.bytes());
        if request.body.len() > limit {
            let message = format!("Der Eintrag ist größer als {limit} Bytes. Bitte aufteilen.");
            return self.refuse(Refusal::new(Code::ZuGross, message).into(), request, trail);
        }
        let counted: Result<()> = counted.and_then(|()| self.check_critical_route(trail.route, trail));
        match counted {
            Ok(()) => self.admit_body(request, trail),
            Err(failure) => self.refuse(failure, request, trail),
        }
    }
}
