//! Hints on tax that is shown although none is due (whoever shows it owes it, UStG § 14c), or missing although it is due
//! (D7).

use crate::master::kunden::Kunde;
use crate::master::{laender, steuersaetze};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::Seite;
use crate::rules::error::{HintCode, Hints};
use crate::rules::plausible::country_of_eu_ust_id;
use crate::rules::tax::{Gebiet, Steuerart, Steuerkategorie, is_flat_rate};
use crate::trade::belege::model::{Beleg, BelegPosition, Source};

/// Adds hints for positions of an invoice whose tax, or lack of it, does not suit the partner. Of a supplier's own
/// invoice only deliveries across a border are asked.
pub fn hint_doubtful(
    tx: &Tx<'_>,
    beleg: &Beleg,
    kunde: &Kunde,
    positions: &[BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    if !beleg.beleg_typ.ist_rechnung() {
        return Ok(());
    }
    let is_gutschrift = beleg.is_written_for_supplier();
    let saetze = steuersaetze::all(tx)?;
    hint_unknown(kunde, is_gutschrift, positions, hints);
    for position in positions {
        let satz = position.mwst_satz;
        // What takes tax back shows none.
        let takes_back = position.gesamtpreis.is_negative();
        let abroad = doubt_abroad(beleg.beleg_typ.seite(), position.steuer_kategorie, kunde);
        let why = match kunde.besteuerungen.on(position.satz_datum) {
            _ if let Some(why) = abroad => why,
            _ if takes_back => continue,
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

/// What speaks against a position being free of tax because its goods cross a border: within the EU that needs a VAT id
/// of another member state (UStG § 6a (1) no. 4), whose country then is where they go to; an export leaves the EU
/// (UStG § 6).
fn doubt_abroad(seite: Seite, kategorie: Steuerkategorie, kunde: &Kunde) -> Option<&'static str> {
    let gebiet = laender::gebiet(&kunde.staat);
    let id_country = kunde.ust_id.as_deref().and_then(country_of_eu_ust_id);
    let has_foreign_id = id_country.is_some_and(|country| country != "DE");
    match (kategorie, gebiet) {
        (Steuerkategorie::IgLieferung | Steuerkategorie::Ausfuhr, Gebiet::Inland) => Some(
            "der Partner sitzt in Deutschland, die Position ist aber als Lieferung über die Grenze steuerfrei",
        ),
        (Steuerkategorie::IgLieferung, _) if !has_foreign_id => Some(match seite {
            Seite::Verkauf => {
                "eine innergemeinschaftliche Lieferung braucht eine gültig aufgebaute USt-IdNr. des Käufers aus einem \
                 anderen EU-Land (für Nordirland mit XI); in alle anderen Länder ist es eine Ausfuhr (G)"
            }
            Seite::Einkauf => {
                "ein innergemeinschaftlicher Erwerb kommt von einem Lieferanten mit USt-IdNr. aus einem anderen \
                 EU-Land; hier fehlt sie oder ist falsch aufgebaut"
            }
        }),
        (Steuerkategorie::Ausfuhr, Gebiet::Eu) => {
            Some("die Position ist als Ausfuhr (G) steuerfrei, der Partner sitzt aber in der EU")
        }
        _ => None,
    }
}

/// Adds a hint if a Gutschrift shows tax although nobody knows whether the supplier may show it.
fn hint_unknown(kunde: &Kunde, is_gutschrift: bool, positions: &[BelegPosition], hints: &mut Hints) {
    let is_unknown = |position: &BelegPosition| {
        !position.mwst_satz.is_zero()
            && !position.gesamtpreis.is_negative()
            && kunde.besteuerungen.on(position.satz_datum).is_none()
    };
    if is_gutschrift && positions.iter().any(is_unknown) {
        let message = format!(
            "Wie {} besteuert wird, ist nicht bekannt; weist die Gutschrift zu viel Steuer aus, schuldet er sie (§ 14c UStG). \
             Bitte die Besteuerung eintragen, auch „regel“.",
            kunde.name
        );
        hints.add(HintCode::BesteuerungUnbekannt, message);
    }
}
