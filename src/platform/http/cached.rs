//! Conditional answers for clients that may already have them: ETag and If-None-Match (D11).

use std::hash::{DefaultHasher, Hasher};

use serde::Serialize;
use uuid::Uuid;

use super::call::Call;
use super::reply::Reply;
use super::request::listed;
use crate::platform::failure::Result;

impl Reply {
    /// Answers with a single resource and its ETag: the version, plus a digest of the answer, which also
    /// covers joined names. If-None-Match compares the whole tag, If-Match only the version (D11).
    pub fn resource(call: &Call<'_>, version: i64, id: Uuid, body: &impl Serialize) -> Result<Reply> {
        let reply = Reply::ok(body)?;
        let etag = format!("\"{version}-{:016x}\"", digest(&reply.body));
        Ok(reply.unless_cached(call, etag).about(id))
    }

    /// Adds a weak ETag computed from the body.
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

/// Returns the tag under which the client already has this answer, if it does.
fn known_tag(call: &Call<'_>, etag: &str) -> Option<String> {
    // A compressed answer has a tag of its own, ours and that of a proxy.
    let opaque = |tag: &str| {
        let bare = tag.trim_start_matches("W/").trim_matches('"');
        let encodings = ["-gzip", "-br", "-zstd"];
        encodings.iter().find_map(|encoding| bare.strip_suffix(encoding)).unwrap_or(bare).to_owned()
    };
    let mut tags = listed(&call.request.headers, "if-none-match");
    let known = tags.find(|tag| *tag == "*" || opaque(tag) == opaque(etag))?;
    Some(if known == "*" { etag } else { known }.to_owned())
}

/// A digest that distinguishes answers; it need not be stable across versions of the program.
fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}
