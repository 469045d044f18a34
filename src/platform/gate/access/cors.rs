//! Decides which web pages may call the interface from a browser (Fetch Standard, CORS protocol): none,
//! unless the configuration names their origins.

use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;

/// Request headers that such a page may set.
const REQUEST_HEADERS: &str = "content-type, x-api-key, if-match, if-none-match, idempotency-key, prefer";

/// Response headers that such a page may read.
const ANSWER_HEADERS: &str = "etag, retry-after, x-request-id, x-hinweise, x-total-count, x-limit, \
     x-next-since, x-fehlmenge, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, \
     idempotency-replayed, content-disposition, x-test";

/// Seconds for which a browser may cache the permission.
const MAX_AGE: &str = "600";

/// The allowed origins, as browsers send them: `https://shop.example`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(pub Vec<String>);

impl Origins {
    /// Returns the answer to a preflight request, if this is one from an allowed origin.
    pub fn preflight(&self, request: &Request) -> Option<Reply> {
        let asks =
            request.method == "OPTIONS" && request.headers.contains_key("access-control-request-method");
        if !asks || self.known_origin(request).is_none() {
            return None;
        }
        let reply = Reply { status: 204, ..Reply::default() };
        let reply = reply.with("access-control-allow-methods", "GET, HEAD, POST, PUT");
        let reply = reply.with("access-control-allow-headers", REQUEST_HEADERS);
        Some(reply.with("access-control-max-age", MAX_AGE))
    }

    /// Adds the headers a browser needs before it passes the answer to a page.
    pub fn shown_in(&self, reply: Reply, request: &Request) -> Reply {
        if self.0.is_empty() {
            return reply;
        }
        let reply = reply.with("vary", "origin");
        match self.known_origin(request) {
            Some(origin) => reply
                .with("access-control-allow-origin", origin)
                .with("access-control-expose-headers", ANSWER_HEADERS),
            None => reply,
        }
    }

    /// The origin of a request, if it is allowed.
    fn known_origin<'r>(&self, request: &'r Request) -> Option<&'r str> {
        let origin = request.headers.get("origin")?.to_str().ok()?;
        self.0.iter().any(|known| known == origin).then_some(origin)
    }
}
