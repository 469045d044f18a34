//! Reading e-invoices of suppliers (D28): turns a parsed file into a proposal for an ER, or into the ER
//! itself.

mod artikel;
pub mod model;
mod partner;
mod summen;
mod vorschlag;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::create::lieferanten_nr::{self, Zeile};
use super::create::{self};
use super::eingabe::{NewEinlesen, Vorzeichen};
use super::model::Beleg;
use super::sql;
use crate::goods::chargen::Bewegung;
use crate::master::anhaenge::{self, Besitzer};
use crate::papers::erechnung::lesen::{self, Gelesen, Posten, Unlesbar, posten, verstoesse};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::rules::document::BelegStatus;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::repeat::Angelegt;
use model::{BelegDerDatei, Eingelesen, VorschlagSummen};
use summen::check_gross;
use vorschlag::Vorschlag;

pub struct Datei {
    inhalt: Vec<u8>,
    sha256: [u8; 32],
    /// The request, without the file.
    request: NewEinlesen,
    gelesen: Gelesen,
    posten: Vec<Posten>,
    /// Whether it is a credit note below zero.
    is_doubtful: bool,
}

impl Datei {
    /// Reads the file of a request. It may be large and hostile, so do not call this in a write transaction.
    pub fn read(mut request: NewEinlesen) -> Checked<Datei> {
        let inhalt = required(request.datei_base64.take(), "datei_base64")?;
        let mut gelesen = lesen::read(&inhalt).map_err(refusal)?;
        check_currency(&gelesen)?;
        let is_doubtful = gelesen.has_doubtful_signs();
        if is_doubtful && request.vorzeichen == Some(Vorzeichen::Umgekehrt) {
            // Printed below zero, so these are the amounts of a credit already.
            gelesen.ist_gutschrift = false;
        }
        let posten = posten(&gelesen).map_err(refusal)?;
        Ok(Datei { sha256: Sha256::digest(&inhalt).into(), inhalt, request, gelesen, posten, is_doubtful })
    }

    fn dateiname(&self) -> String {
        let by_kind = || if lesen::is_pdf(&self.inhalt) { "rechnung.pdf" } else { "rechnung.xml" }.to_owned();
        self.request.dateiname.clone().unwrap_or_else(by_kind)
    }
}

fn check_currency(gelesen: &Gelesen) -> Checked<()> {
    let foreign = gelesen.waehrung.as_deref().filter(|waehrung| *waehrung != "EUR");
    let Some(waehrung) = foreign else { return Ok(()) };
    let waehrung: String = waehrung.chars().filter(|c| c.is_ascii_alphanumeric()).take(3).collect();
    let message =
        format!("Die Rechnung lautet auf {waehrung}, gebucht wird in Euro. Bitte von Hand erfassen.");
    Err(Refusal::field(Code::KeineRechnung, "datei_base64", message))
}

fn refusal(unlesbar: Unlesbar) -> Box<Refusal> {
    let (code, message) = match unlesbar {
        Unlesbar::Datei(message) => (Code::DateiNichtLesbar, message),
        Unlesbar::KeineRechnung(message) => (Code::KeineRechnung, message),
    };
    Refusal::field(code, "datei_base64", message)
}

/// POST /belege/einlesen: returns a proposal; with `anlegen` creates the ER as POST /belege does, with the
/// file attached. Also returns whether an ER was created.
pub fn einlesen(tx: &WriteTx<'_>, datei: &Datei, mut hints: Hints) -> Result<(Eingelesen, bool)> {
    let creates = datei.request.anlegen == Some(true);
    hint_kind(datei, &mut hints);
    let vorschlag = Vorschlag::of(tx, &datei.request, &datei.gelesen, &datei.posten, &mut hints)?;
    let known = anhaenge::made_of(tx, &datei.sha256)?;
    let (beleg, is_new) = match known {
        Some((beleg, dokument)) => (Some(known_document(tx, beleg, dokument, &mut hints)?), false),
        None if creates => create_document(tx, datei, &vorschlag, &mut hints)?,
        None => (None, false),
    };
    // An existing document already got the hints of POST /belege.
    let own = match &beleg {
        Some(beleg) => sums_of(tx, beleg.id)?,
        None => vorschlag.probe(tx, &mut hints)?,
    };
    let idempotent = creates && !is_new;
    let summen = summen::compared(&datei.gelesen, own, &mut hints);
    let answer = Eingelesen {
        vorschlag: vorschlag.body()?,
        gefunden: vorschlag.gefunden,
        summen,
        regeln: verstoesse(&datei.gelesen),
        beleg,
        idempotent,
        hinweise: hints,
    };
    Ok((answer, is_new))
}

/// Adds hints about what the file is.
fn hint_kind(datei: &Datei, hints: &mut Hints) {
    let Datei { gelesen, request, .. } = datei;
    if gelesen.ist_test {
        hints.add_field(
            HintCode::IstTest,
            "datei_base64",
            "Die Datei ist als Test gekennzeichnet, sie ist keine Rechnung.",
        );
    }
    if gelesen.ist_kopie {
        let message =
            "Die Datei ist als Kopie gekennzeichnet. Bitte prüfen, ob die Rechnung schon erfasst ist.";
        hints.add_field(HintCode::IstKopie, "datei_base64", message);
    }
    match request.vorzeichen {
        None if datei.is_doubtful => {
            hints.add_field(HintCode::VorzeichenPruefen, "vorzeichen", DOUBTFUL_SIGNS)
        }
        Some(_) if !datei.is_doubtful => hints.add_ignored("vorzeichen"),
        _ => {}
    }
}

const DOUBTFUL_SIGNS: &str = "Die Gutschrift ist unter null. Nach der Norm (EN 16931) fordert sie damit Geld, die meisten \
    Absender meinen eine Gutschrift. Bitte vorzeichen angeben: wie_gedruckt oder umgekehrt.";

/// Refuses to create an ER of a file that is none, or may mean the opposite.
fn check_kind(datei: &Datei) -> Checked<()> {
    let message = "Die Datei ist als Test gekennzeichnet. Bitte die Rechnung vom Lieferanten anfordern.";
    refuse_if(datei.gelesen.ist_test, Code::KeineRechnung, "datei_base64", message)?;
    let is_open = datei.is_doubtful && datei.request.vorzeichen.is_none();
    refuse_if(is_open, Code::VorzeichenFehlt, "vorzeichen", DOUBTFUL_SIGNS)
}

fn sums_of(tx: &WriteTx<'_>, id: Uuid) -> Result<VorschlagSummen> {
    let beleg =
        sql::find(tx, id)?.ok_or_else(|| Failure::Broken("a document that was read is gone".into()))?;
    Ok(VorschlagSummen::of_beleg(&beleg, &sql::positions(tx, id)?)?)
}

fn known_document(tx: &WriteTx<'_>, id: Uuid, dokument: Uuid, hints: &mut Hints) -> Result<BelegDerDatei> {
    let beleg = sql::find(tx, id)?.ok_or_else(|| Failure::Broken("an attachment of no document".into()))?;
    let state = if beleg.status == BelegStatus::Storniert { ", der storniert ist" } else { "" };
    let message = format!("Diese Datei gehört schon zum Beleg {}{state}.", beleg.beleg_nummer);
    hints.add_field(HintCode::FremdbelegDoppelt, "datei_base64", message);
    Ok(shown(beleg, Some(dokument), Vec::new()))
}

fn create_document(
    tx: &WriteTx<'_>,
    datei: &Datei,
    vorschlag: &Vorschlag,
    hints: &mut Hints,
) -> Result<(Option<BelegDerDatei>, bool)> {
    // A repeat with a known external_ref is not checked again (D19).
    let known = vorschlag.new.external_ref.as_ref().map(|known| sql::find_by_external_ref(tx, known));
    if known.transpose()?.flatten().is_none() {
        check_kind(datei)?;
        vorschlag.check_partner()?;
        vorschlag.check_rates()?;
    }
    let bestaetigung = match create::create(tx, &vorschlag.new, Hints::default())? {
        Angelegt::Neu(bestaetigung) => bestaetigung,
        Angelegt::Wiederholt(antwort) => {
            hints.extend(antwort.hinweise);
            return Ok((Some(shown(antwort.record, None, Vec::new())), false));
        }
    };
    hints.extend(bestaetigung.hinweise);
    check_gross(&datei.gelesen, bestaetigung.summe_brutto)?;
    let beleg = sql::find(tx, bestaetigung.id)?;
    let beleg = beleg.ok_or_else(|| Failure::Broken("a document that was just made is gone".into()))?;
    let original = Besitzer::Beleg(beleg.id);
    let dokument = anhaenge::add(tx, original, datei.dateiname(), None, &datei.sha256, &datei.inhalt)?.id;
    let zeile = |(position, posten): (i64, &Posten)| {
        let zeile = datei.gelesen.zeilen.get(posten.zeile?)?;
        Some(Zeile { position, nummer: zeile.verkaeufer_nr.as_deref()?, netto: posten.netto() })
    };
    let zeilen: Vec<_> = (1..).zip(&datei.posten).filter_map(zeile).collect();
    lieferanten_nr::keep(tx, &beleg, &zeilen)?;
    if beleg.status != BelegStatus::Offen {
        lieferanten_nr::learn(tx, &beleg)?;
    }
    Ok((Some(shown(beleg, Some(dokument), bestaetigung.lagerbewegungen)), true))
}

fn shown(beleg: Beleg, dokument_id: Option<Uuid>, lagerbewegungen: Vec<Bewegung>) -> BelegDerDatei {
    BelegDerDatei {
        id: beleg.id,
        beleg_nummer: beleg.beleg_nummer,
        status: beleg.status,
        summe_netto: beleg.summe_netto,
        summe_mwst: beleg.summe_mwst,
        summe_brutto: beleg.summe_brutto,
        dokument_id,
        lagerbewegungen,
    }
}
