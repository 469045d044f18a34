//! Whether a supplier's number was there before (D5).

use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::error::{HintCode, Hints};
use crate::trade::belege::model::Beleg;
use crate::trade::belege::sql;

/// Adds a hint if the supplier already has a delivery or invoice with this number (D5).
pub fn hint_doubled(tx: &Tx<'_>, beleg: &Beleg, hints: &mut Hints) -> Result<()> {
    let is_theirs =
        matches!(beleg.beleg_typ, BelegTyp::El | BelegTyp::Er) && beleg.fremdbelegnummer.is_some();
    let other = if is_theirs { sql::with_same_fremdbeleg(tx, beleg)? } else { None };
    if let Some(other) = other {
        let message = format!(
            "Diese Nummer des Lieferanten steht schon in {other}. Bitte prüfen, ob es derselbe Beleg ist."
        );
        hints.add_field(HintCode::FremdbelegDoppelt, "fremdbelegnummer", message);
    }
    Ok(())
}
