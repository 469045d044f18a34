//! An answer, before it becomes HTTP.

use std::fs::File;
use std::io::{Read, Take};

use serde::Serialize;
use uuid::Uuid;

use super::budget::Permit;
use crate::platform::failure::Result;
use crate::platform::listing::Listing;
use crate::rules::admin_event::AdminEvent;
use crate::rules::error::{Code, Hints};

/// Bytes that the answer about one record has room in, as a rule.
const USUAL: usize = 1 << 10;

/// The header that names notes of a read.
const NOTES: &str = "x-hinweise";

/// An answer: status, headers, JSON.
#[derive(Debug, Default)]
pub struct Reply {
    pub status: u16,
    /// Headers besides those that every answer has.
    pub headers: Vec<(&'static str, String)>,
    /// The body: JSON unless a header says otherwise, or nothing.
    pub body: Vec<u8>,
    /// The record that was read or written, for the audit log.
    pub subject: Option<Uuid>,
    /// What was done, where the administration log is told of it (D27).
    pub event: Option<Box<AdminEvent>>,
    /// Why the request was refused, for the log.
    pub code: Option<Code>,
    /// Its share of the memory for answers; held until the client has taken it.
    pub held: Option<Permit>,
    /// A file in the place of the body, up to its length: it is read as the client takes it.
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

    /// 200 with a file that browsers show, and save under this name.
    pub fn file(content_type: &'static str, name: &str, body: Vec<u8>) -> Reply {
        Reply { body, ..Reply::default() }.named(content_type, "inline", name)
    }

    /// 200 with a file to be saved under this name.
    pub fn attachment(content_type: &'static str, name: &str, body: Vec<u8>) -> Reply {
        Reply { body, ..Reply::default() }.named(content_type, "attachment", name)
    }

    /// 200 with a file to be saved under this name, whatever its size.
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

    /// 200 with a page in its wrapper, and X-Limit where a limit was cut (D16).
    pub fn list(listing: Listing, cut: Option<u32>) -> Reply {
        let cut = listing.cut.or(cut);
        Reply { status: 200, body: listing.wrapped(), ..Reply::default() }.with_cut_limit(cut)
    }

    /// The same as a raw array; the count of all rows goes into a header (D16).
    pub fn array(listing: Listing, cut: Option<u32>) -> Reply {
        let count = listing.count.to_string();
        let reply = Reply { status: 200, body: listing.array(), ..Reply::default() };
        reply.with("x-total-count", count).with_cut_limit(cut)
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    /// The same with the header X-Limit, where a limit was cut (D16).
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

    /// The notes of a read as the header X-Hinweise: codes and fields, in ASCII.
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
        // What the handler noted itself comes first.
        let own = self.headers.iter().position(|(name, _)| *name == NOTES);
        texts.splice(0..0, own.map(|at| self.headers.remove(at).1));
        self.with(NOTES, texts.join(", "))
    }
}

/// Content-Disposition (RFC 6266): the name in ASCII for old programs, and as it is for others.
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
