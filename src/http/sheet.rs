//! Answers that are drawn when they are asked for (D25).

use super::call::Call;
use super::reply::Reply;
use crate::blatt::{Blatt, draw};
use crate::failure::Result;
use crate::rules::error::Hints;

impl Reply {
    /// A sheet, drawn now, as `{name}.pdf`; characters that its fonts lack are noted.
    pub fn sheet(call: &Call<'_>, name: &str, blatt: &Blatt) -> Result<Reply> {
        let drawn = draw(blatt)?;
        let mut notes = Hints::default();
        drawn.note_missing(&mut notes);
        let reply = Reply::file("application/pdf", &format!("{name}.pdf"), drawn.pdf);
        Ok(reply.with_weak_etag(call).with_notes(&notes))
    }
}
