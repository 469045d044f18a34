//! Answers that are drawn when they are asked for (D25).

use super::call::Call;
use super::reply::Reply;
use crate::blatt::{Blatt, DrawError, draw};
use crate::failure::{Failure, Result};
use crate::rules::error::{Code, HintCode, Hints, Refusal};

impl Reply {
    /// A PDF with its ETag, as `{name}.pdf`.
    pub fn pdf(call: &Call<'_>, name: &str, pdf: Vec<u8>) -> Reply {
        Reply::file("application/pdf", &format!("{name}.pdf"), pdf).with_weak_etag(call)
    }

    /// A sheet, drawn now, as `{name}.pdf`.
    pub fn sheet(call: &Call<'_>, name: &str, blatt: &Blatt) -> Result<Reply> {
        let mut notes = Hints::default();
        let pdf = pdf_of(blatt, &mut notes)?;
        Ok(Reply::pdf(call, name, pdf).with_notes(&notes))
    }
}

/// The PDF of a sheet; characters that its fonts lack are noted.
pub fn pdf_of(blatt: &Blatt, notes: &mut Hints) -> Result<Vec<u8>> {
    let drawn = draw(blatt).map_err(|error| match error {
        DrawError::TooLong => {
            let message =
                "Das PDF hätte zu viele Seiten. Bitte die Texte der Positionen kürzen oder den Beleg teilen.";
            Failure::from(Refusal::new(Code::KeinPdf, message))
        }
        error => Failure::Broken(error.to_string()),
    })?;
    if !drawn.fehlende_zeichen.is_empty() {
        let zeichen: String = drawn.fehlende_zeichen.iter().collect();
        let message =
            format!("Diese Zeichen fehlen in der Schrift und stehen als Kästchen im PDF: {zeichen}");
        notes.add(HintCode::ZeichenFehlt, message);
    }
    Ok(drawn.pdf)
}
