//! The partner of a document: named (D1), and allowed to have one (D3).

use uuid::Uuid;

use crate::db::tx::Tx;
use crate::failure::Result;
use crate::kunden::{self, Kunde};
use crate::laender;
use crate::rules::document::BelegTyp;
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::plausible::country_of_eu_ust_id;
use crate::rules::stammdaten::KundeStatus;
use crate::rules::tax::{Gebiet, Steuerpartner};
use crate::rules::verweis::Verweis;

/// A locked partner gets no new documents, except the invoices he sends (D3); a Gutschrift is one that he gets.
pub fn check_status(typ: BelegTyp, gutschrift: bool, kunde: &Kunde, hints: &mut Hints) -> Result<()> {
    match kunde.status {
        KundeStatus::Gesperrt if gutschrift || !typ.ist_fremdrechnung() => {
            let message = format!("{} ist gesperrt. Bitte den Status des Kunden prüfen.", kunde.name);
            Err(Refusal::field(Code::KundeGesperrt, "kunden_id", message).into())
        }
        KundeStatus::Inaktiv => {
            hints.add(HintCode::KundeInaktiv, format!("{} ist inaktiv.", kunde.name));
            Ok(())
        }
        _ => Ok(()),
    }
}

pub fn steuerpartner(kunde: &Kunde) -> Steuerpartner {
    let country = kunde.ust_id.as_deref().and_then(country_of_eu_ust_id);
    let gebiet = match laender::gebiet(&kunde.staat) {
        // Northern Ireland counts as EU for goods.
        Gebiet::Drittland if country == Some("XI") => Gebiet::Eu,
        gebiet => gebiet,
    };
    let fremde_ust_id = country.is_some_and(|country| country != "DE");
    Steuerpartner { steuerart: kunde.steuerart, gebiet, fremde_ust_id }
}

/// The customer of a filter; one that nobody has gives an empty list (D1).
pub fn of_filter(tx: &Tx<'_>, verweis: Option<&Verweis>) -> Result<Option<Uuid>> {
    let Some(verweis) = verweis else { return Ok(None) };
    Ok(Some(kunden::find_by_verweis(tx, verweis)?.map_or(Uuid::nil(), |kunde| kunde.id)))
}
