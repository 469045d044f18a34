//! An answer before it is converted to HTTP.

use std::fs::File;
use std::io::{Read, Take};

use serde::Serialize;
use uuid::Uuid;

use super::budget::Permit;
use crate::platform::failure::Result;
use crate::platform::listing::Listing;
use crate::rules::admin_event::AdminEvent;
use crate::rules::error::{Code, Hints};

/// Initial capacity in bytes: usually enough for the answer about one record.
const USUAL: usize = 1 << 10;

/// The header with the hints of a read.
const NOTES: &str = "x-hinweise";

/// An answer: status, headers, and usually JSON.
#[derive(Debug, Default)]
pub struct Reply {
    pub status: u16,
    /// Headers besides those of every answer.
    pub headers: Vec<(&'static str, String)>,
    /// The body: JSON unless a header says otherwise; may be empty.
    pub body: Vec<u8>,
    /// The record that was read or written, for the audit log.
    pub subject: Option<Uuid>,
    /// The event for the administration log, if the request caused one (D27).
    pub event: Option<Box<AdminEvent>>,
    /// The reason of a refusal, for the log.
    pub code: Option<Code>,
    /// Its share of the memory for answers, held until the client has taken it.
    pub held: Option<Permit>,
    /// A file sent instead of the body, up to its length now; read as the client takes it.
    pub file: Option<Box<Take<File>>>,
}

impl Reply {
    pub fn json(status: u16, body: &impl Serialize) -> Result<Reply> {
        let mut json = Vec::with_capacity(USUAL);
        serde_json::to_writer(&mut json, body)?;
        Ok(Reply { status, body: json, ..Reply::default() })
    }

    /// 200 with a table to be saved as `{name}.csv`.
    pub fn csv(name: &str, body: Vec<u8>) -> Reply {
        Reply::attachment("text/csv; charset=utf-8", &format!("{name}.csv"), body)
    }

    /// 200 with a file that browsers display, and save under this name.
    pub fn file(content_type: &'static str, name: &str, body: Vec<u8>) -> Reply {
        Reply { body, ..Reply::default() }.named(content_type, "inline", name)
    }

    /// 200 with a file to be saved under this name.
    pub fn attachment(content_type: &'static str, name: &str, body: Vec<u8>) -> Reply {
        Reply { body, ..Reply::default() }.named(content_type, "attachment", name)
    }

    /// 200 with a file of any size, to be saved under this name.
    pub fn download(content_type: &'static str, name: &str, file: File) -> std::io::Result<Reply> {
        let length = file.metadata()?.len();
        let reply = Reply { file: Some(Box::new(file.take(length))), ..Reply::default() };
        Ok(reply.named(content_type, "attachment", name))
    }

    fn named(self, content_type: &'static str, kind: &str, name: &str) -> Reply {
        let reply = Reply { status: 200, ..self };
        reply.with("content-type", content_type).with("content-disposition", disposition(kind, name))
    }

    pub fn text(content_type: &'static str, body: String) -> Reply {
        Reply { status: 200, body: body.into_bytes(), ..Reply::default() }.with("content-type", content_type)
    }

    pub fn ok(body: &impl Serialize) -> Result<Reply> {
        Reply::json(200, body)
    }

    pub fn created(body: &impl Serialize) -> Result<Reply> {
        Reply::json(201, body)
    }

    /// 200 with a page in its wrapper, and X-Limit if the limit was reduced (D16).
    pub fn list(listing: Listing, cut: Option<u32>) -> Reply {
        let cut = listing.cut.or(cut);
        Reply { status: 200, body: listing.wrapped(), ..Reply::default() }.with_cut_limit(cut)
    }

    /// 200 with a page as a raw array, and the count of all rows in a header (D16).
    pub fn array(listing: Listing, cut: Option<u32>) -> Reply {
        let count = listing.count.to_string();
        let reply = Reply { status: 200, body: listing.array(), ..Reply::default() };
        reply.with("x-total-count", count).with_cut_limit(cut)
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds the header X-Limit if the limit was reduced (D16).
    pub fn with_cut_limit(self, cut: Option<u32>) -> Reply {
        match cut {
            Some(limit) => self.with("x-limit", limit.to_string()),
            None => self,
        }
    }

    pub fn about(mut self, id: Uuid) -> Reply {
        self.subject = Some(id);
        self
    }

    /// Adds the hints of a read as the header X-Hinweise: codes and fields, in ASCII.
    pub fn with_notes(mut self, notes: &Hints) -> Reply {
        let mut texts: Vec<_> = notes
            .iter()
            .map(|hint| match &hint.feld {
                Some(feld) => {
                    let feld: String = feld.chars().filter(char::is_ascii_graphic).collect();
                    format!("{} {feld}", hint.code.as_str())
                }
                None => hint.code.as_str().to_owned(),
            })
            .collect();
        if texts.is_empty() {
            return self;
        }
        // Hints added by the handler itself come first.
        let own = self.headers.iter().position(|(name, _)| *name == NOTES);
        texts.splice(0..0, own.map(|at| self.headers.remove(at).1));
        self.with(NOTES, texts.join(", "))
    }
}

/// Content-Disposition (RFC 6266): the name in ASCII for old programs, and the exact name for others.
fn disposition(kind: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match plain == name {
        true => format!("{kind}; filename=\"{plain}\""),
        false => {
            let exact = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
            format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{exact}")
        }
    }
}
