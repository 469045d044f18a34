//! Answers that the client may have already: ETag and If-None-Match (D11).

use std::hash::{DefaultHasher, Hasher};

use serde::Serialize;
use uuid::Uuid;

use super::call::Call;
use super::reply::Reply;
use super::request::listed;
use crate::platform::failure::Result;

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
    // A compressed answer has a tag of its own.
    let opaque = |tag: &str| tag.trim_start_matches("W/").replace("-gzip\"", "\"");
    let mut tags = listed(&call.request.headers, "if-none-match");
    let known = tags.find(|tag| *tag == "*" || opaque(tag) == opaque(etag))?;
    Some(if known == "*" { etag } else { known }.to_owned())
}

/// A digest that tells answers apart; it need not outlive this version of the program.
fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}
