//! Cancelling a goods receipt that was recorded wrongly or had no delivery.

use super::model::{Annahmeschein, StornoBestaetigung};
use super::sql;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::error::{Code, Hints, Refusal};
use crate::rules::receipt::AnnahmescheinStatus;
use crate::trade::belege;

/// PUT /annahmescheine/{id}/storno: cancels an open receipt, unless its delivery note still books the goods
/// or a Gutschrift pays for it (D29j).
pub fn cancel(
    tx: &WriteTx<'_>,
    schein: Annahmeschein,
    grund: &str,
    hinweise: Hints,
) -> Result<StornoBestaetigung> {
    let refuse = |message: String| Err(Refusal::new(Code::AnnahmescheinNichtStornierbar, message).into());
    if schein.status != AnnahmescheinStatus::Offen {
        return refuse(format!("Der Annahmeschein ist schon {}.", schein.status.as_str()));
    }
    if let (Some(el), Some(nummer)) = (schein.el_id, &schein.el_beleg_nummer)
        && belege::is_live(tx, el)?
    {
        return refuse(format!("Den Lieferschein {nummer} gibt es noch. Bitte zuerst diesen stornieren."));
    }
    if let Some(nummer) = sql::paid_by(tx, schein.id)? {
        return refuse(format!("{nummer} bezahlt ihn ganz oder zum Teil. Bitte zuerst diese stornieren."));
    }
    let status = AnnahmescheinStatus::Storniert;
    sql::cancel(tx, schein.id, grund)?;
    Ok(StornoBestaetigung { id: schein.id, belegnummer: schein.belegnummer, status, hinweise })
}
