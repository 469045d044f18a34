//! Bulk requests (D28): each item is a request of its own to the single-item route, with its own count in the
//! daily quota, its own audit row and its own answer. Items run in order, a few at a time at the writer, so
//! that nobody else waits long.

use std::ops::Range;
use std::sync::Arc;

use hyper::header::HeaderValue;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::admission::{Admitted, PreparedWrite, Stage};
use super::answer::LARGE_BODY_BYTES;
use super::completion::{RequestContext, Written};
use super::idempotency::{KEY_CHARS_MAX, sent_key};
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::{Failure, Result, unpanicked};
use crate::platform::gate::Gate;
use crate::platform::http::cpu_pool::on_cpu_pool;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::{Body, Request};
use crate::platform::http::route::{ITEMS_MAX, Method, StapelAntwort, StapelZeile};
use crate::platform::http::router::split;
use crate::rules::error::{Checked, Code, Refusal};

/// Items that wait for the writer at a time.
const STEP_ITEMS_MAX: usize = 16;

/// Bytes of the items of one step. A larger item is a step of its own, and is parsed on the CPU pool.
const STEP_BYTES_MAX: usize = LARGE_BODY_BYTES;

/// The header with the client's key, from which each item derives its own.
const KEY_HEADER: &str = "idempotency-key";

/// An item as a request of its own.
struct Item {
    request: Arc<Request>,
    context: RequestContext,
}

impl Gate {
    /// Answers a bulk request by sending each item to the route with the path `single`, step by step. A
    /// client that hangs up stops none of them: it looks like one that only closed its sending side.
    pub(in crate::platform::gate) async fn answer_each(
        self: &Arc<Gate>,
        single: &'static str,
        request: &Arc<Request>,
        admitted: &Admitted,
        context: &mut RequestContext,
    ) -> Result<Reply> {
        // Each item's key is this key followed by the item's number.
        sent_key(request, KEY_CHARS_MAX - "#200".len())?;
        let found = self.router.find(Some(Method::Post), &split(single));
        let at = found.ok_or_else(|| Failure::Broken(format!("there is no route {single} for an item")))?;
        let items = self.with_body(request, admitted, |_, request, _| Ok(items(&request.body)?)).await?;
        let of_item = admitted.of_item(self.router.route(at));
        let mut data = Vec::with_capacity(items.len());
        while data.len() < items.len() {
            let step = data.len()..data.len() + at_once(&items[data.len()..]);
            let step = step.map(|number| self.item(at, request, context, number, items[number].clone()));
            let step: Vec<_> = step.collect();
            let left = step.last().and_then(|item| item.context.allowance);
            context.allowance = context.allowance.zip(left).map(|(own, of_item)| own.left_by(of_item));
            data.extend(self.answer_items(&of_item, step).await);
            context.written = Written::Items;
        }
        let angelegt = data.iter().filter(|zeile| zeile.status == 201).count();
        let abgelehnt = data.iter().filter(|zeile| zeile.status >= 400).count();
        Reply::ok(&StapelAntwort { data, angelegt, abgelehnt })
    }

    /// Builds the request of an item and counts it against the quota of its key.
    fn item(
        &self,
        at: usize,
        request: &Request,
        context: &RequestContext,
        number: usize,
        range: Range<usize>,
    ) -> Item {
        let now = (self.clock)();
        let bytes = request.body.content().ok().and_then(|body| body.get(range)).unwrap_or_default();
        let mut headers = request.headers.clone();
        let key = headers.get(KEY_HEADER).and_then(|key| key.to_str().ok());
        let key = key.map(|key| format!("{}#{}", key.trim(), number + 1));
        if let Some(key) = key.and_then(|key| HeaderValue::from_str(&key).ok()) {
            headers.insert(KEY_HEADER, key);
        }
        let request = Request {
            id: Uuid::now_v7(),
            at: now,
            started: std::time::Instant::now(),
            peer: request.peer,
            local: request.local,
            method: request.method.clone(),
            path: self.router.route(at).pattern.to_owned(),
            query: String::new(),
            headers,
            malformed: None,
            body: Body::from_bytes(bytes.to_vec()),
        };
        let allowance = context.caller.as_ref().map(|caller| self.quota.take(caller, now));
        let caller = context.caller.clone();
        let context =
            RequestContext { caller, route: Some(at), allowance, ..RequestContext::new(context.address) };
        Item { request: Arc::new(request), context }
    }

    /// Answers the items of a step: each gets an answer, whatever happens to the others.
    async fn answer_items(self: &Arc<Gate>, admitted: &Admitted, items: Vec<Item>) -> Vec<StapelZeile> {
        let (mut outcomes, mut writes) = (Vec::with_capacity(items.len()), Vec::new());
        for mut item in items {
            let outcome = match self.prepare_item(&mut item, admitted).await {
                Ok(Stage::Prepared(write)) => {
                    writes.push((Arc::clone(&item.request), item.context.clone(), write));
                    None
                }
                done => Some(done.and_then(Stage::answer)),
            };
            outcomes.push((item, outcome));
        }
        let mut written = self.write_items(&admitted.caller.account(), writes).await.into_iter();
        let mut answers = Vec::with_capacity(outcomes.len());
        for (Item { request, mut context }, outcome) in outcomes {
            let is_written = outcome.is_none();
            let outcome = outcome.or_else(|| written.next());
            let outcome = outcome.unwrap_or_else(|| Err(Failure::Broken("an item has no answer".into())));
            if is_written && outcome.is_ok() {
                context.written = Written::WithItsRow;
            }
            let reply = outcome.unwrap_or_else(|failure| self.refuse(failure, &request, &mut context));
            let reply = self.complete(&request, &context, reply);
            let text = String::from_utf8(reply.body).ok();
            let antwort = text.and_then(|text| RawValue::from_string(text).ok());
            answers.push(StapelZeile { status: reply.status, antwort });
        }
        answers
    }

    /// Checks an item like a request that has passed all checks before its body. The item counts for its key
    /// and, if its route is critical, for its address. A large body is parsed on the CPU pool.
    async fn prepare_item(self: &Arc<Gate>, item: &mut Item, admitted: &Admitted) -> Result<Stage> {
        item.context.allowance.map_or(Ok(()), |allowance| allowance.check())?;
        let (bytes, limit) = (item.request.body.byte_count(), admitted.route.body_bytes_max);
        if bytes > limit {
            let message = format!("Der Eintrag ist größer als {limit} Bytes. Bitte aufteilen.");
            return Err(Refusal::new(Code::ZuGross, message).into());
        }
        self.check_critical_route(item.context.route, &mut item.context)?;
        let (gate, request, admitted) = (Arc::clone(self), Arc::clone(&item.request), admitted.clone());
        let prepare = move || unpanicked(|| gate.prepare(&request, &admitted));
        if bytes > LARGE_BODY_BYTES { on_cpu_pool(prepare).await? } else { prepare() }
    }

    /// Submits the items to the writer in order, each as a request of its own, and waits for their answers.
    async fn write_items(
        self: &Arc<Gate>,
        account: &QueueKey,
        writes: Vec<(Arc<Request>, RequestContext, PreparedWrite)>,
    ) -> Vec<Result<Reply>> {
        let submit = |(request, context, write): (Arc<Request>, RequestContext, PreparedWrite)| {
            let (gate, bytes) = (Arc::clone(self), request.body.byte_count());
            self.write(account.clone(), bytes, move |batch| gate.run_write(batch, &request, &context, &write))
        };
        let submitted: Vec<_> = writes.into_iter().map(submit).collect();
        let mut written = Vec::with_capacity(submitted.len());
        for outcome in submitted {
            written.push(outcome.await);
        }
        written
    }
}

/// How many of the next items go into one step.
fn at_once(items: &[Range<usize>]) -> usize {
    let mut bytes = 0;
    let fits = |item: &&Range<usize>| {
        bytes += item.len();
        bytes <= STEP_BYTES_MAX
    };
    items.iter().take(STEP_ITEMS_MAX).take_while(fits).count().max(1)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inhalt<'b> {
    #[serde(borrow)]
    items: Option<Items<'b>>,
}

/// The items as they stand in the body, at most one more than allowed.
#[derive(Default)]
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
            // One item too many is enough to detect the excess.
            if items.len() <= ITEMS_MAX {
                items.push(item);
            }
        }
        Ok(Items(items))
    }
}

/// Returns the byte ranges of the items in a body.
fn items(body: &Body) -> Checked<Vec<Range<usize>>> {
    let body = body.content()?;
    let message =
        format!("Erwartet wird {{\"items\": [ … ]}} mit höchstens {ITEMS_MAX} Einträgen und sonst nichts.");
    // serde would accept an array as the fields in order.
    let is_object = body.trim_ascii_start().starts_with(b"{");
    let Inhalt { items } = match serde_json::from_slice(body) {
        Ok(read) if is_object => read,
        Err(error) if is_object && error.is_data() => {
            return Err(Refusal::field(Code::FeldUngueltig, "items", message));
        }
        _ => return Err(Refusal::new(Code::UngueltigesJson, message)),
    };
    let Items(items) = items.unwrap_or_default();
    let refuse = |code, message| Err(Refusal::field(code, "items", message));
    match items.len() {
        0 => return refuse(Code::FeldFehlt, "Es fehlen die Einträge. Bitte items angeben.".to_owned()),
        1..=ITEMS_MAX => {}
        _ => return refuse(Code::WertUngueltig, format!("Mehr als {ITEMS_MAX} Einträge. Bitte aufteilen.")),
    }
    let place = |item: &RawValue| {
        let from = (item.get().as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
        from..from + item.get().len()
    };
    Ok(items.into_iter().map(place).collect())
}
