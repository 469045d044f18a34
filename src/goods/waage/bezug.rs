//! How documents and goods receipts reference a weighing.

use uuid::Uuid;

use super::sql;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::fixed::Quantity;
use crate::rules::weighing::{Richtung, WiegungStatus};

use super::model::Wiegung;

pub struct FertigeWiegung {
    pub wiegung: Wiegung,
    /// Its net weight in kg.
    pub netto: Quantity,
}

/// Returns a weighing that exists, is finished and is of the article, or refuses (D12).
pub fn finished(tx: &Tx<'_>, id: Uuid, artikel: Option<Uuid>) -> Result<FertigeWiegung> {
    let unknown = || Refusal::unknown(Code::WiegungNichtGefunden, "wiegung_id", "Diese Wiegung");
    let wiegung = sql::find(tx, id)?.ok_or_else(unknown)?;
    let (WiegungStatus::Fertig, Some(netto)) = (wiegung.status, wiegung.gewicht_netto_kg) else {
        let message = "Die Wiegung ist nicht fertig oder storniert.";
        return Err(Refusal::field(Code::WiegungNichtFertig, "wiegung_id", message).into());
    };
    let finished = FertigeWiegung { wiegung, netto };
    artikel.map(|artikel| finished.check_article(artikel)).transpose()?;
    Ok(finished)
}

impl FertigeWiegung {
    pub fn check_article(&self, artikel: Uuid) -> Checked<()> {
        let is_other = self.wiegung.artikel_id.is_some_and(|weighed| weighed != artikel);
        let message = "Die Wiegung gehört zu einem anderen Artikel.";
        refuse_if(is_other, Code::WiegungPasstNicht, "wiegung_id", message)
    }

    /// Adds a hint if the goods were weighed for another partner (D12).
    pub fn hint_other_partner(&self, partner: Uuid, hints: &mut Hints) {
        if self.wiegung.partner_id != partner {
            let message = "Die Wiegung gehört zu einem anderen Partner.";
            hints.add_field(HintCode::WiegungAndererPartner, "wiegung_id", message);
        }
    }

    /// Adds a hint if the goods were weighed in the other direction (D12).
    pub fn hint_other_direction(&self, expected: Richtung, hints: &mut Hints) {
        let (weighed, meant) = match (self.wiegung.richtung, expected) {
            (Some(Richtung::Ausgang), Richtung::Eingang) => ("Ausgang", "Eingang"),
            (Some(Richtung::Eingang), Richtung::Ausgang) => ("Eingang", "Ausgang"),
            _ => return,
        };
        let message =
            format!("Die Wiegung ist ein {weighed}. Bitte prüfen, ob sie zu diesem {meant} gehört.");
        hints.add_field(HintCode::RichtungWiderspruch, "wiegung_id", message);
    }
}
