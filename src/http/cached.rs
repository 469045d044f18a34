//! Answers that the client may have already: ETag and If-None-Match (D11).

use std::hash::{DefaultHasher, Hasher};

use serde::Serialize;
use uuid::Uuid;

use super::call::Call;
use super::reply::Reply;
use crate::failure::Result;

impl Reply {
    /// A single resource with its ETag: the version, and a digest of the answer, which also
    /// holds joined names. If-None-Match compares all of it, If-Match the version alone (D11).
    pub fn resource(call: &Call<'_>, version: i64, id: Uuid, body: &impl Serialize) -> Result<Reply> {
        let reply = Reply::ok(body)?;
        let etag = format!("\"{version}-{:016x}\"", digest(&reply.body));
        Ok(reply.unless_cached(call, etag).about(id))
    }

    /// The same with a weak ETag over the body.
    pub fn with_weak_etag(self, call: &Call<'_>) -> Reply {
        let etag = format!("W/\"{:016x}\"", digest(&self.body));
        self.unless_cached(call, etag)
    }

    /// 304 without a body when the client already has this answer.
    fn unless_cached(self, call: &Call<'_>, etag: String) -> Reply {
        let Some(known) = known_tag(call, &etag) else { return self.with("etag", etag) };
        let mut reply = self.with("etag", known);
        reply.status = 304;
        reply.body.clear();
        reply.headers.retain(|(name, _)| !["content-type", "content-encoding"].contains(name));
        reply
    }
}

/// The tag under which the client already has the answer with this tag, if it has it.
fn known_tag(call: &Call<'_>, etag: &str) -> Option<String> {
    let values = call.request.headers.get_all("if-none-match").iter();
    // A compressed answer has a tag of its own.
    let opaque = |tag: &str| tag.trim_start_matches("W/").replace("-gzip\"", "\"");
    let mut tags = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let known = tags.find(|tag| tag.trim() == "*" || opaque(tag.trim()) == opaque(etag))?;
    Some(if known.trim() == "*" { etag.to_owned() } else { known.trim().to_owned() })
}

/// A digest that tells answers apart; it need not outlive this version of the program.
fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}
