//! The page that explains the interface and lets one try it: Swagger UI 5.35 (Apache-2.0, its
//! licence stands beside it), in the binary, without any other server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::db::error::{Failure, Result};
use crate::http::call::Call;
use crate::http::encoding::{accepts_gzip, inflated};
use crate::http::reply::Reply;
use crate::http::shape::Answer;

/// Only what this server sends may run or be asked.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The files of the page: name, type, content. What ends with gz is kept compressed.
const FILES: &[(&str, &str, &[u8])] = &[
    ("docs.js", "text/javascript; charset=utf-8", include_bytes!("docs.js")),
    ("docs.css", "text/css; charset=utf-8", include_bytes!("docs.css")),
    (
        "swagger-ui-bundle.js",
        "text/javascript; charset=utf-8",
        include_bytes!("swagger-ui/swagger-ui-bundle.js.gz"),
    ),
    ("swagger-ui.css", "text/css; charset=utf-8", include_bytes!("swagger-ui/swagger-ui.css.gz")),
    ("LICENSE", "text/plain; charset=utf-8", include_bytes!("swagger-ui/LICENSE")),
    ("NOTICE", "text/plain; charset=utf-8", include_bytes!("swagger-ui/NOTICE")),
    (
        "swagger-ui-bundle.js.LICENSE.txt",
        "text/plain; charset=utf-8",
        include_bytes!("swagger-ui/swagger-ui-bundle.js.LICENSE.txt"),
    ),
];

/// What the files are.
pub const ANSWERS: &[Answer] = &[
    Answer::other("text/javascript").with(&["etag"]),
    Answer::other("text/css").with(&["etag"]),
    Answer::other("text/plain").with(&["etag"]),
];

/// The first bytes of what is compressed (RFC 1952).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// GET /docs
pub fn page(call: &Call<'_>) -> Result<Reply> {
    let reply = file(call, "text/html; charset=utf-8", include_bytes!("index.html"));
    Ok(reply.with("content-security-policy", POLICY).with("referrer-policy", "no-referrer"))
}

/// GET /docs/{datei}
pub fn part(call: &Call<'_>) -> Result<Reply> {
    let asked = call.request.path.rsplit('/').next().unwrap_or_default();
    let found = FILES.iter().find(|(name, ..)| *name == asked);
    let (_, kind, content) = found.ok_or_else(|| Failure::not_found("Diese Datei"))?;
    Ok(file(call, kind, content))
}

/// A file of the program in the form that the client takes: what is kept compressed is inflated once.
pub fn file(call: &Call<'_>, kind: &'static str, content: &'static [u8]) -> Reply {
    let reply = Reply { status: 200, ..Reply::default() };
    let reply = reply.with("content-type", kind).with("cache-control", "no-cache");
    if !content.starts_with(GZIP) {
        return Reply { body: content.to_vec(), ..reply }.with_weak_etag(call);
    }
    let reply = reply.with("vary", "accept-encoding");
    if accepts_gzip(&call.request.headers) {
        return Reply { body: content.to_vec(), ..reply }
            .with("content-encoding", "gzip")
            .with_weak_etag(call);
    }
    static INFLATED: Mutex<BTreeMap<usize, Arc<Vec<u8>>>> = Mutex::new(BTreeMap::new());
    let mut kept = INFLATED.lock().unwrap_or_else(PoisonError::into_inner);
    let plain =
        Arc::clone(kept.entry(content.as_ptr() as usize).or_insert_with(|| Arc::new(inflated(content))));
    drop(kept);
    Reply { body: plain.to_vec(), ..reply }.with_weak_etag(call)
}
