//! Outgoing sheets and e-invoices (D25, D26): when a document becomes final, the same transaction freezes all
//! data of its sheet and writes its e-invoice.
//!
//! `angaben` gathers the document's data from other tables. Together with the partner it forms a `vorlage`,
//! from which `rechnung` creates the e-invoice and `blatt` the sheet, with the words of `worte`; `pflicht`
//! decides who needs an e-invoice. A sheet is drawn on each request; an e-invoice is stored as written.

mod angaben;
mod bezug;
mod blatt;
mod pflicht;
mod rechnung;
mod sql;
mod vorlage;
mod worte;

use std::sync::Arc;

use crate::trade::belege::model::{Beleg, BelegPosition};
use uuid::Uuid;

use crate::master::kunden::{self, Kunde};
use crate::master::tenants::firma::{self, Firma};
use crate::master::tenants::{self, Einstellungen};
use crate::papers::blatt::{Aufdruck, Blatt, ERechnung, PAGES_MAX};
use crate::papers::erechnung::{Fehlt, Wo};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result, or_refusal};
use crate::rules::day::Day;
use crate::rules::document::{BelegStatus, Profil, Rechnungsart};
use crate::rules::error::{Code, Hints, Refusal};
use crate::rules::stammdaten;
use crate::rules::tax::Steuerart;
use angaben::Angaben;
use pflicht::Anlass;
use vorlage::Vorlage;

pub use bezug::hint_nothing_corrected;
pub use sql::altered;

/// Freezes the partner, company, sheet and e-invoice of an open document and returns the document. Refuses if
/// the e-invoice cannot be written although the company requires one, unless the document is a storno (D26).
pub fn freeze(tx: &WriteTx<'_>, beleg: Beleg, hints: &mut Hints) -> Result<Beleg> {
    let (einstellungen, firma) = (tenants::load(tx)?, firma::load(tx)?);
    // `None` if the company has no master data.
    let firma_nr = (firma.nr > 0).then_some(firma.nr);
    let beleg = Beleg { firma_nr, ..beleg };
    if !has_sheet(&beleg) {
        return sql::freeze(tx, beleg);
    }
    let (kunde, positionen) = (partner(tx, &beleg)?, crate::trade::belege::sql::positions(tx, beleg.id)?);
    hint_nothing_corrected(tx, &beleg, &positionen, hints)?;
    let anlass = Anlass::of(&beleg, &positionen, &kunde, &einstellungen);
    let missing = firma.missing();
    if !missing.is_empty() {
        let missing = missing.iter().map(|feld| format!("Firma: {feld}")).collect();
        let erechnung_fehlt = anlass.incomplete(missing, hints)?.fehlt;
        return sql::freeze(tx, Beleg { erechnung_fehlt, ..beleg });
    }
    // The logo is large and contributes no text.
    let firma = Arc::new(Firma { logo: None, ..Firma::clone(&firma) });
    let vorlage = as_of_now(tx, &beleg, positionen, &kunde, &einstellungen, &firma)?;
    let sheet = blatt::sheet(tx, &vorlage)?;
    if vorlage.storno_von.is_none() && !crate::papers::blatt::fits(&sheet)? {
        return Err(Refusal::field(Code::TextZuLang, "items", too_long()).into());
    }
    hints.extend(crate::papers::blatt::hints(&sheet)?);
    let erechnung = anlass.write(&vorlage, hints)?;
    let angaben = vorlage.angaben;
    let erechnung_fehlt = erechnung.as_ref().err().and_then(|ohne| ohne.fehlt.clone());
    let beleg = sql::freeze(tx, Beleg { blatt_am: Some(tx.now()), erechnung_fehlt, ..beleg })?;
    sql::insert(tx, beleg.id, &angaben, &erechnung)?;
    Ok(beleg)
}

/// Returns the message that refuses to finalise a document whose sheet would be too long (D25).
fn too_long() -> String {
    format!(
        "Mit diesen Texten hätte das PDF mehr als {PAGES_MAX} Seiten. Bitte Langtexte kürzen oder mehrere \
         Belege schreiben."
    )
}

/// Whether documents of this kind have a sheet: all except invoices that suppliers write (D25).
fn has_sheet(beleg: &Beleg) -> bool {
    !beleg.beleg_typ.ist_fremdrechnung() || beleg.is_written_for_supplier()
}

/// Returns the sheet of a document with its e-invoice embedded; for an open document a draft. A refusal says
/// why there is none.
pub fn sheet(tx: &Tx<'_>, beleg: &Beleg) -> Result<Blatt> {
    if !has_sheet(beleg) {
        return Err(Refusal::new(Code::KeinPdf, FREMDRECHNUNG).into());
    }
    if beleg.status == BelegStatus::Offen {
        let (kunde, einstellungen) = (partner(tx, beleg)?, tenants::load(tx)?);
        let positionen = crate::trade::belege::sql::positions(tx, beleg.id)?;
        let vorlage = as_of_now(tx, beleg, positionen, &kunde, &einstellungen, &firma::load(tx)?)?;
        return Ok(Blatt { aufdruck: Some(Aufdruck::Entwurf), ..blatt::sheet(tx, &vorlage)? });
    }
    let firma = match (beleg.blatt_am, firma::state(tx, beleg.firma_nr.unwrap_or_default())?) {
        (Some(_), Some(firma)) => Arc::new(firma),
        (_, firma) => return Err(without_sheet(beleg, firma.as_ref()).into()),
    };
    let gone = || Failure::Broken(format!("what {} was frozen with is gone", beleg.beleg_nummer));
    let vorlage = Vorlage {
        beleg,
        positionen: crate::trade::belege::sql::positions(tx, beleg.id)?,
        partner: sql::partner(tx, beleg.id)?,
        kaeuferreferenz: None,
        profil: Profil::default(),
        firma,
        angaben: sql::angaben(tx, beleg.id)?.ok_or_else(gone)?,
        storno_von: cancelled_by(tx, beleg)?,
    };
    Ok(Blatt { erechnung: sql::erechnung(tx, beleg.id)?, ..blatt::sheet(tx, &vorlage)? })
}

/// Returns the sheet of a document that may never be stored: always a draft, without a number if it has none
/// of its own yet.
pub fn draft(tx: &Tx<'_>, beleg: &Beleg, has_number: bool) -> Result<Blatt> {
    let number = if has_number { beleg.beleg_nummer.clone() } else { String::new() };
    let sheet = sheet(tx, &Beleg { beleg_nummer: number, ..beleg.clone() })?;
    Ok(Blatt { aufdruck: Some(Aufdruck::Entwurf), erechnung: None, ..sheet })
}

/// Returns the template with current data. A storno repeats the data of the document that it cancels, for the
/// partner as stored with that document (D4).
fn as_of_now<'b>(
    tx: &Tx<'_>,
    beleg: &'b Beleg,
    positionen: Vec<BelegPosition>,
    kunde: &Kunde,
    einstellungen: &Einstellungen,
    firma: &Arc<Firma>,
) -> Result<Vorlage<'b>> {
    let storno_von = cancelled_by(tx, beleg)?;
    let today = rechnung::profil(kunde.e_rechnung);
    let (partner, kaeuferreferenz, profil) = match &storno_von {
        Some(original) => {
            let (kaeuferreferenz, profil) = sql::kaeuferreferenz(tx, original.id)?;
            (sql::partner(tx, original.id)?, kaeuferreferenz, profil.unwrap_or(today))
        }
        None => (rechnung::partei(kunde), kunde.kaeuferreferenz.clone(), today),
    };
    let said = storno_von.as_ref().map(|original| sql::angaben(tx, original.id)).transpose()?.flatten();
    let angaben = match said {
        // A storno cancels and corrects nothing itself.
        Some(angaben) => Angaben { berichtigt: Vec::new(), vorausgegangen: Vec::new(), ..angaben },
        None => Angaben::gather(tx, beleg, &positionen, |day| seller_tax(beleg, kunde, einstellungen, day))?,
    };
    let firma = Arc::clone(firma);
    Ok(Vorlage { beleg, positionen, partner, kaeuferreferenz, profil, firma, angaben, storno_von })
}

const FREMDRECHNUNG: &str = "Eine Eingangsrechnung schreibt der Lieferant. Bitte sein PDF archivieren.";

fn without_sheet(beleg: &Beleg, firma: Option<&Firma>) -> Box<Refusal> {
    if beleg.ereignis_am.is_none() {
        return Refusal::new(Code::KeinPdf, pflicht::NIE_FERTIG);
    }
    let missing = firma.map(Firma::missing).unwrap_or_default();
    let missing = if missing.is_empty() { "alle".to_owned() } else { missing.join(", ") };
    let message = format!(
        "Als der Beleg abgeschlossen wurde, fehlten Stammdaten der Firma ({missing}); archiviert ist kein PDF."
    );
    Refusal::new(Code::KeinPdf, message)
}

/// Returns the e-invoice of a document; a refusal says why there is none (D26).
pub fn erechnung(tx: &Tx<'_>, beleg: &Beleg) -> Result<ERechnung> {
    if let Some(gespeichert) = sql::erechnung(tx, beleg.id)? {
        return Ok(gespeichert);
    }
    let grund = match beleg.status {
        _ if !beleg.beleg_typ.ist_rechnung() => pflicht::KEINE_RECHNUNG.to_owned(),
        _ if !has_sheet(beleg) => pflicht::FREMD.to_owned(),
        BelegStatus::Offen => pflicht::OFFEN.to_owned(),
        _ if beleg.ereignis_am.is_none() => pflicht::NIE_FERTIG.to_owned(),
        _ => sql::grund(tx, beleg.id)?.unwrap_or_else(|| pflicht::OHNE_FIRMA.to_owned()),
    };
    Err(Refusal::new(Code::KeineErechnung, grund).into())
}

/// The files available for a document; a sentence explains each missing one.
pub struct Papiere {
    /// Its sheet or an archived PDF; for an open document the draft.
    pub pdf: std::result::Result<(), String>,
    pub erechnung: std::result::Result<(), String>,
}

/// Returns which files are available for a document, without creating any.
pub fn papiere(tx: &Tx<'_>, id: Uuid) -> Result<Papiere> {
    let beleg = crate::trade::belege::sql::find(tx, id)?.ok_or_else(|| Failure::not_found("Diesen Beleg"))?;
    let is_open = beleg.status == BelegStatus::Offen;
    let pdf = match has_sheet(&beleg) {
        _ if !is_open && beleg.pdf_url.is_some() => Ok(()),
        false => Err(FREMDRECHNUNG.to_owned()),
        true if is_open => Ok(()),
        true => {
            let firma = firma::state(tx, beleg.firma_nr.unwrap_or_default())?;
            Err(without_sheet(&beleg, firma.as_ref()).message.to_string())
        }
    };
    let erechnung =
        or_refusal(erechnung(tx, &beleg))?.map(drop).map_err(|refusal| refusal.message.to_string());
    Ok(Papiere { pdf, erechnung })
}

/// Returns what a document lacks for its e-invoice; `None` if it gets none in any case (D26).
pub fn missing(tx: &Tx<'_>, beleg: &Beleg) -> Result<Option<Vec<Fehlt>>> {
    let mut hints = Hints::default();
    if !beleg.beleg_typ.ist_rechnung() || !has_sheet(beleg) {
        return Ok(None);
    }
    let (kunde, einstellungen) = (partner(tx, beleg)?, tenants::load(tx)?);
    let positionen = crate::trade::belege::sql::positions(tx, beleg.id)?;
    let vorlage = as_of_now(tx, beleg, positionen, &kunde, &einstellungen, &firma::load(tx)?)?;
    let rechnung = rechnung::rechnung(&vorlage, &mut hints);
    Ok(Some(crate::papers::erechnung::missing(&rechnung)))
}

/// Returns the master data that a partner lacks for its e-invoices, and for the Gutschriften that it has
/// agreed to (D24, D26). Further requirements of a single document depend on its items.
pub fn missing_of_partner(tx: &Tx<'_>, kunde: &Kunde) -> Vec<Fehlt> {
    let buys = kunde.partner_typen.kunde && kunde.e_rechnung != stammdaten::ERechnung::Aus;
    let sells = kunde.partner_typen.lieferant && kunde.gutschrift_vereinbart_am.is_some();
    let mut found = Vec::new();
    for (_, art) in [(buys, Rechnungsart::Rechnung), (sells, Rechnungsart::Gutschrift)]
        .into_iter()
        .filter(|(is_due, _)| *is_due)
    {
        let missing = crate::papers::erechnung::missing(&rechnung::beispiel(kunde, art, tx.today()));
        found.extend(missing.into_iter().filter(|fehlt| fehlt.wo == Wo::Kunde));
    }
    found.sort_by_key(|fehlt| fehlt.feld);
    found.dedup();
    found
}

fn partner(tx: &Tx<'_>, beleg: &Beleg) -> Result<Kunde> {
    let kunde = kunden::find(tx, beleg.kunde_id)?;
    kunde.ok_or_else(|| Failure::Broken("the partner of a document is gone".into()))
}

fn cancelled_by(tx: &Tx<'_>, beleg: &Beleg) -> Result<Option<Beleg>> {
    Ok(beleg.storno_von_beleg_id.map(|id| crate::trade::belege::sql::find(tx, id)).transpose()?.flatten())
}

/// Returns the tax status of the seller on a day: the supplier of a Gutschrift, else the company.
fn seller_tax(beleg: &Beleg, kunde: &Kunde, einstellungen: &Einstellungen, day: Day) -> Option<Steuerart> {
    match beleg.is_written_for_supplier() {
        true => kunde.besteuerungen.on(day),
        false => einstellungen.is_kleinunternehmer(day).then_some(Steuerart::Kleinunternehmer),
    }
}
