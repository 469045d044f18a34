//! Answers with documents that are drawn on request (D25).

use super::call::Call;
use super::reply::Reply;
use crate::papers::blatt::{Blatt, draw};
use crate::platform::failure::Result;

impl Reply {
    /// Draws a sheet and answers with it as `{name}.pdf`; hints name anything it could not show.
    pub fn sheet(call: &Call<'_>, name: &str, blatt: &Blatt) -> Result<Reply> {
        let drawn = draw(blatt)?;
        let reply = Reply::file("application/pdf", &format!("{name}.pdf"), drawn.pdf);
        Ok(reply.with_weak_etag(call).with_notes(&drawn.hinweise))
    }
}
