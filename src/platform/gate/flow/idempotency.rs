//! Idempotency-Key: a repeated POST gets the same answer and is carried out only once (D19).

use hyper::header::HeaderValue;
use rusqlite::{Connection, named_params};
use uuid::Uuid;

use crate::platform::db::TenantId;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::http::call::{Call, Caller};
use crate::platform::http::fingerprint;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::platform::http::route::Method;
use crate::platform::http::router::without_last_slash;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

/// Days for which answers are kept (D19).
pub const DAYS: i64 = 7;

/// Longest key, in characters.
pub const KEY_CHARS_MAX: usize = 255;

/// Answers that are dropped at once: each may have some 10 KB.
const ANSWERS_DROPPED_MAX: i64 = 500;

/// Returns the Idempotency-Key of a request, if it has one; refuses a key longer than `max`.
pub fn sent_key(request: &Request, max: usize) -> Result<Option<String>> {
    let mut values = request.headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = |value: &HeaderValue| value.to_str().ok().map(|text| text.trim().to_owned());
    let schluessel = text(value).filter(|text| !text.is_empty() && text.len() <= max);
    match schluessel.filter(|_| values.next().is_none()) {
        Some(schluessel) => Ok(Some(schluessel)),
        None => {
            let message =
                format!("Der Idempotency-Key muss einmal da sein und 1 bis {max} ASCII-Zeichen haben.");
            Err(Refusal::new(Code::AnfrageUngueltig, message).into())
        }
    }
}

/// A POST with an Idempotency-Key: the key, its owner, and a digest of the request.
pub struct Repeatable {
    key_id: String,
    schluessel: String,
    anfrage: [u8; 32],
}

impl Repeatable {
    /// Returns the key of a call, if it has one; only POSTs accept it. A trial call is neither a repetition
    /// nor repeatable, so its key is ignored.
    pub fn from_call(call: &Call<'_>, caller: &Caller) -> Result<Option<Repeatable>> {
        let (Some(Method::Post), Ok(body)) =
            (Method::parse(&call.request.method), call.request.body.content())
        else {
            return Ok(None);
        };
        let Some(schluessel) = sent_key(call.request, KEY_CHARS_MAX)? else { return Ok(None) };
        if call.query.is_trial()? {
            return Ok(None);
        }
        let anfrage = fingerprint::of_request(without_last_slash(&call.request.path), call.json().ok(), body);
        Ok(Some(Repeatable { key_id: caller.key_id.clone(), schluessel, anfrage }))
    }

    /// Returns the earlier answer, if there is one; refuses a key that was used for a different request.
    pub fn stored(&self, tx: &Tx<'_>) -> Result<Option<Reply>> {
        let found = tx.optional(
            "select anfrage_sha256, status, subjekt, antwort from idempotenz
             where tenant_id = :tenant and key_id = :key and schluessel = :schluessel and am > :since",
            named_params! {
                ":key": self.key_id,
                ":schluessel": self.schluessel,
                ":since": oldest(tx),
            },
            |row| {
                let (anfrage, status, subject, body): ([u8; 32], u16, Option<Uuid>, Vec<u8>) =
                    row.try_into()?;
                Ok((anfrage, Reply { status, subject, body, ..Reply::default() }))
            },
        )?;
        match found {
            None => Ok(None),
            Some((anfrage, reply)) if anfrage == self.anfrage => {
                Ok(Some(reply.with("idempotency-replayed", "true")))
            }
            Some(_) => {
                let message =
                    "Dieser Idempotency-Key gehört zu einer anderen Anfrage. Bitte einen neuen wählen.";
                Err(Refusal::new(Code::IdempotenzKonflikt, message).into())
            }
        }
    }

    /// Stores the answer of a successful request.
    pub fn keep(&self, tx: &WriteTx<'_>, reply: &Reply) -> Result<()> {
        tx.execute(
            "insert into idempotenz (tenant_id, key_id, schluessel, anfrage_sha256, status, subjekt, am, antwort)
             values (:tenant, :key, :schluessel, :anfrage, :status, :subjekt, :am, :antwort)
             on conflict (tenant_id, key_id, schluessel) do update set anfrage_sha256 = :anfrage,
               status = :status, subjekt = :subjekt, am = :am, antwort = :antwort",
            named_params! {
                ":key": self.key_id,
                ":schluessel": self.schluessel,
                ":anfrage": self.anfrage,
                ":status": reply.status,
                ":subjekt": reply.subject,
                ":am": tx.now(),
                ":antwort": reply.body,
            },
        )?;
        Ok(())
    }
}

/// Answers older than this instant have expired.
fn oldest(tx: &Tx<'_>) -> Instant {
    Instant::from_millis(tx.now().millis() - DAYS * Instant::MILLIS_PER_DAY)
}

/// Drops some of a tenant's oldest answers from before an instant; returns how many.
pub fn drop_some(connection: &Connection, tenant: TenantId, before: Instant) -> Result<usize> {
    let statement = "delete from idempotenz where tenant_id = :tenant and rowid in (
        select rowid from idempotenz where tenant_id = :tenant and am < :before order by am limit :at_once)";
    let params = named_params! {":tenant": tenant, ":before": before, ":at_once": ANSWERS_DROPPED_MAX};
    Ok(connection.execute(statement, params)?)
}
