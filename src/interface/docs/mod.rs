//! The /docs page, which explains the interface and lets visitors try it: Swagger UI 5.35 (Apache-2.0, its
//! licence is in `swagger-ui`), embedded in the binary and loading nothing from other servers.
//! docs/ARCHITECTURE.md gives the reason for this choice.

use std::sync::OnceLock;

use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::encoding::{accepts_gzip, inflated};
use crate::platform::http::reply::Reply;
use crate::platform::http::shape::Answer;

/// Content security policy: only scripts of this server run, and they call only this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub enum File {
    Plain(&'static [u8]),
    Both(&'static [u8], &'static [u8]),
    /// Compressed with gzip; inflated once, for the first client that does not accept gzip.
    Packed(&'static [u8], &'static OnceLock<Vec<u8>>),
}

static BUNDLE: OnceLock<Vec<u8>> = OnceLock::new();
static STYLES: OnceLock<Vec<u8>> = OnceLock::new();

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

const FILES: &[(&str, &str, File)] = &[
    ("docs.js", SCRIPT, File::Plain(include_bytes!("docs.js"))),
    ("access.js", SCRIPT, File::Plain(include_bytes!("access.js"))),
    ("fields.js", SCRIPT, File::Plain(include_bytes!("fields.js"))),
    ("german.js", SCRIPT, File::Plain(include_bytes!("german.js"))),
    ("resolve.js", SCRIPT, File::Plain(include_bytes!("resolve.js"))),
    ("search.js", SCRIPT, File::Plain(include_bytes!("search.js"))),
    ("docs.css", STYLE, File::Plain(include_bytes!("docs.css"))),
    (
        "swagger-ui-bundle.js",
        SCRIPT,
        File::Packed(include_bytes!("swagger-ui/swagger-ui-bundle.js.gz"), &BUNDLE),
    ),
    ("swagger-ui.css", STYLE, File::Packed(include_bytes!("swagger-ui/swagger-ui.css.gz"), &STYLES)),
    ("LICENSE", TEXT, File::Plain(include_bytes!("swagger-ui/LICENSE"))),
    ("NOTICE", TEXT, File::Plain(include_bytes!("swagger-ui/NOTICE"))),
    (
        "swagger-ui-bundle.js.LICENSE.txt",
        TEXT,
        File::Plain(include_bytes!("swagger-ui/swagger-ui-bundle.js.LICENSE.txt")),
    ),
];

pub const ANSWERS: &[Answer] = &[
    Answer::other("text/javascript").with(&["etag"]),
    Answer::other("text/css").with(&["etag"]),
    Answer::other("text/plain").with(&["etag"]),
];

pub fn page(call: &Call<'_>) -> Result<Reply> {
    let reply = file(call, "text/html; charset=utf-8", &File::Plain(include_bytes!("index.html")));
    Ok(reply.with("content-security-policy", POLICY).with("referrer-policy", "no-referrer"))
}

pub fn part(call: &Call<'_>) -> Result<Reply> {
    let asked = call.request.path.rsplit('/').next().unwrap_or_default();
    let found = FILES.iter().find(|(name, ..)| *name == asked);
    let (_, kind, kept) = found.ok_or_else(|| Failure::not_found("Diese Datei"))?;
    Ok(file(call, kind, kept))
}

pub fn file(call: &Call<'_>, kind: &'static str, kept: &File) -> Reply {
    let is_asked = accepts_gzip(&call.request.headers);
    let (content, is_compressed) = match kept {
        File::Plain(content) => (*content, false),
        File::Both(compressed, _) | File::Packed(compressed, _) if is_asked => (*compressed, true),
        File::Both(_, plain) => (*plain, false),
        File::Packed(compressed, plain) => (plain.get_or_init(|| inflated(compressed)).as_slice(), false),
    };
    let reply = Reply { status: 200, body: content.to_vec(), ..Reply::default() };
    let reply = reply.with("content-type", kind).with("cache-control", "no-cache");
    let reply = if is_compressed { reply.with("content-encoding", "gzip") } else { reply };
    let reply = if matches!(kept, File::Plain(_)) { reply } else { reply.with("vary", "accept-encoding") };
    reply.with_weak_etag(call)
}
