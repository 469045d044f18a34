//! Selects the receipts of a settlement and checks whether each can be settled (D29g).

use std::collections::BTreeSet;

use uuid::Uuid;

use super::model::{ANNAHMESCHEINE_MAX, AuswahlEingabe, NewAbrechnung};
use crate::master::artikel;
use crate::master::kunden::{self, Kunde};
use crate::platform::db::list::Page;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::listing::Records;
use crate::rules::error::{Checked, Code, Refusal, Refusals, refuse_if, required};
use crate::rules::receipt::AnnahmescheinStatus;
use crate::rules::settlement::Abrechnungsart;
use crate::trade::annahmescheine::{self, Annahmeschein};

/// Returns the receipts, sorted by day of delivery and id, and their partner; reports all errors at once.
pub fn notes(tx: &Tx<'_>, new: &NewAbrechnung, art: Abrechnungsart) -> Result<(Kunde, Vec<Annahmeschein>)> {
    let (mut scheine, mut errors) = match (&new.annahmeschein_ids, &new.auswahl) {
        (Some(ids), None) => named(tx, ids)?,
        (None, Some(auswahl)) => (chosen(tx, auswahl, art)?, Refusals::default()),
        (Some(_), Some(_)) => {
            let message = ("annahmeschein_ids und auswahl schließen sich aus.", "Bitte eines weglassen.");
            return Err(Refusal::field(Code::FeldWiderspruch, "auswahl", message).into());
        }
        (None, None) => {
            let message =
                ("Es fehlt, was abgerechnet wird.", "Bitte annahmeschein_ids oder auswahl angeben.");
            return Err(Refusal::field(Code::FeldFehlt, "annahmeschein_ids", message).into());
        }
    };
    for schein in &scheine {
        errors.keep(can_be_settled(schein, art).map_err(|refusal| refusal.below(&path(new, schein.id))));
    }
    errors.into_result()?;
    let partners: BTreeSet<Option<Uuid>> = scheine.iter().map(|schein| schein.partner_id).collect();
    let message = ("Diese Annahmescheine sind von mehreren Partnern.", "Bitte je Partner abrechnen.");
    refuse_if(partners.len() > 1, Code::PartnerGemischt, "annahmeschein_ids", message)?;
    let message = ("Hierzu gibt es nichts abzurechnen.", "Bitte Partner, Artikel und Zeitraum prüfen.");
    let feld = if new.auswahl.is_some() { "auswahl" } else { "annahmeschein_ids" };
    refuse_if(scheine.is_empty(), Code::AbrechnungLeer, feld, message)?;
    scheine.sort_by_key(|schein| (schein.lieferdatum, schein.id));
    let partner = required(scheine[0].partner_id, "partner_id")?;
    let gone = || Failure::Broken(format!("the partner {partner} of a note is gone"));
    Ok((kunden::find(tx, partner)?.ok_or_else(gone)?, scheine))
}

/// Returns the path of a receipt in the request; empty if it was selected by a filter.
fn path(new: &NewAbrechnung, schein: Uuid) -> String {
    let at = new.annahmeschein_ids.iter().flatten().position(|id| *id == schein);
    at.map(|at| format!("annahmeschein_ids[{at}]")).unwrap_or_default()
}

fn named(tx: &Tx<'_>, ids: &[Uuid]) -> Result<(Vec<Annahmeschein>, Refusals)> {
    let (mut scheine, mut errors, mut seen) = (Vec::new(), Refusals::default(), BTreeSet::new());
    for (at, id) in ids.iter().enumerate() {
        let feld = format!("annahmeschein_ids[{at}]");
        let message = "Dieser Annahmeschein steht zweimal da.";
        errors.keep(refuse_if(!seen.insert(id), Code::FeldWiderspruch, &feld, message));
        match annahmescheine::find(tx, *id)? {
            Some(schein) => scheine.push(schein),
            None => {
                let message = ("Diesen Annahmeschein gibt es nicht.", "Bitte die id prüfen.");
                let unknown = Refusal::field(Code::AnnahmescheinNichtGefunden, feld, message);
                errors.keep::<()>(Err(unknown));
            }
        }
    }
    Ok((scheine, errors))
}

fn chosen(tx: &Tx<'_>, auswahl: &AuswahlEingabe, art: Abrechnungsart) -> Result<Vec<Annahmeschein>> {
    let named = kunden::named(tx, auswahl.kunden_id.as_ref(), auswahl.kundennummer.as_deref())
        .map_err(|failure| failure.below("auswahl"))?;
    let partner = match (auswahl.partner_id, named) {
        (Some(id), None) => kunden::by_id(tx, id)?,
        (None, Some(kunde)) => kunde,
        (Some(id), Some(kunde)) if kunde.id == id => kunde,
        (Some(_), Some(_)) => return Err(kunden::contradiction("auswahl.partner_id").into()),
        (None, None) => return Err(kunden::missing().below("auswahl").into()),
    };
    let artikel = artikel::named(tx, auswahl.artikel_id, auswahl.artikelnr.as_deref())
        .map_err(|failure| failure.below("auswahl"))?;
    let status = match art {
        Abrechnungsart::End | Abrechnungsart::Abschlag => AnnahmescheinStatus::Offen,
        Abrechnungsart::Nachverguetung => AnnahmescheinStatus::Abgerechnet,
    };
    let suche = annahmescheine::Auswahl {
        status: vec![status.as_str()],
        von: auswahl.von,
        bis: auswahl.bis,
        partner: Some(partner.id),
        artikel: artikel.map(|artikel| artikel.id),
        kontrakt: auswahl.kontrakt_id,
        ..annahmescheine::Auswahl::default()
    };
    let page = Page { limit: u32::try_from(ANNAHMESCHEINE_MAX + 1).ok(), offset: 0 };
    let found: Records<Annahmeschein> = annahmescheine::list(tx, &suche, page)?;
    let what = format_args!("Das sind mehr als {ANNAHMESCHEINE_MAX} Annahmescheine.");
    let message = (what, "Bitte mit von und bis eingrenzen.");
    refuse_if(found.rows.len() > ANNAHMESCHEINE_MAX, Code::ZuVielePositionen, "auswahl", message)?;
    Ok(found.rows)
}

fn can_be_settled(schein: &Annahmeschein, art: Abrechnungsart) -> Checked<()> {
    let nummer = &schein.belegnummer;
    let refuse = |code, message: String| Err(Refusal::new(code, message));
    if schein.status == AnnahmescheinStatus::Storniert {
        return refuse(Code::AnnahmescheinStorniert, format!("{nummer} ist storniert."));
    }
    if art == Abrechnungsart::Nachverguetung {
        let is_settled = schein.abrechnung_id.is_some() && schein.status == AnnahmescheinStatus::Abgerechnet;
        let message = format!("{nummer} hat noch keine abgeschlossene Endabrechnung.");
        return if is_settled { Ok(()) } else { refuse(Code::AnnahmescheinNichtAbgerechnet, message) };
    }
    if let Some(by) = &schein.abrechnung_beleg_nummer {
        return refuse(Code::AnnahmescheinAbgerechnet, format!("{nummer} ist schon abgerechnet, mit {by}."));
    }
    if schein.status == AnnahmescheinStatus::Abgerechnet {
        return refuse(Code::AnnahmescheinAbgerechnet, format!("{nummer} ist schon abgerechnet."));
    }
    if let Some(reasons) = annahmescheine::locks(schein) {
        return refuse(Code::AnnahmescheinGesperrt, format!("{nummer} ist gesperrt: {reasons}"));
    }
    let is_whole =
        schein.artikel_id.is_some() && (schein.anliefermenge_kg.is_some() || schein.netto_menge_kg.is_some());
    if !is_whole {
        return refuse(Code::FeldFehlt, format!("{nummer} hat keinen Artikel oder kein Gewicht."));
    }
    Ok(())
}
