//! Answers that are drawn when they are asked for (D25).

use super::call::Call;
use super::reply::Reply;
use crate::papers::blatt::{Blatt, draw};
use crate::platform::failure::Result;

impl Reply {
    /// A sheet, drawn now, as `{name}.pdf`; what it does not show is noted.
    pub fn sheet(call: &Call<'_>, name: &str, blatt: &Blatt) -> Result<Reply> {
        let drawn = draw(blatt)?;
        let reply = Reply::file("application/pdf", &format!("{name}.pdf"), drawn.pdf);
        Ok(reply.with_weak_etag(call).with_notes(&drawn.hinweise))
    }
}
