//! Hints on tax that is shown although none is due: whoever shows it owes it (UStG § 14c; D7).

use crate::master::kunden::Kunde;
use crate::master::{laender, steuersaetze};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::error::{HintCode, Hints};
use crate::rules::tax::{Gebiet, Steuerart, Steuerkategorie, is_flat_rate};
use crate::trade::belege::model::{Beleg, BelegPosition, Source};

/// Adds hints for positions of an invoice or a Gutschrift whose tax, or lack of it, does not suit the
/// partner.
pub fn hint_doubtful(
    tx: &Tx<'_>,
    beleg: &Beleg,
    kunde: &Kunde,
    positions: &[BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    let is_gutschrift = beleg.is_written_for_supplier();
    if !is_gutschrift && beleg.beleg_typ != BelegTyp::Re {
        return Ok(());
    }
    let saetze = steuersaetze::all(tx)?;
    let is_german = laender::gebiet(&kunde.staat) == Gebiet::Inland;
    let leaves = |position: &BelegPosition| {
        matches!(position.steuer_kategorie, Steuerkategorie::IgLieferung | Steuerkategorie::Ausfuhr)
    };
    for position in positions {
        let satz = position.mwst_satz;
        let why = match kunde.steuerart {
            _ if is_german && leaves(position) => {
                "der Partner sitzt in Deutschland, die Position ist aber als Lieferung ins Ausland steuerfrei"
            }
            Some(Steuerart::Kleinunternehmer) if is_gutschrift && !satz.is_zero() => {
                "der Lieferant ist Kleinunternehmer und weist keine Steuer aus"
            }
            steuerart
                if is_gutschrift
                    && steuerart != Some(Steuerart::Pauschal24)
                    && is_flat_rate(&saetze, satz) =>
            {
                "der Satz gilt nur für Landwirte nach § 24 UStG, der Lieferant ist keiner"
            }
            _ => continue,
        };
        let message = format!("Bitte den Steuerausweis prüfen (§ 14c UStG): {why}.");
        let path = Source::Items.path(position.position);
        hints.add_field(HintCode::SteuerausweisPruefen, format!("{path}.mwst_satz"), message);
    }
    Ok(())
}
