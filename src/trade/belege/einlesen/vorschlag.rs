//! The body of POST /belege proposed for an e-invoice.

use serde_json::Value;
use uuid::Uuid;

use super::model::{Gefunden, GefundenerArtikel, VorschlagSummen};
use super::partner::Fund;
use super::{artikel, partner};
use crate::master::{laender, steuersaetze};
use crate::papers::erechnung::lesen::{Gelesen, Posten, gedruckt, one_line};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::bytes::drop_nulls;
use crate::rules::document::BelegTyp;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::tax::{Steuerkategorie, rate_that_gives};
use crate::rules::verweis::Verweis;
use crate::trade::belege::create::summen::with_sums;
use crate::trade::belege::create::{self, Prepared};
use crate::trade::belege::eingabe::{NewBeleg, NewEinlesen, NewItem, STEUERGRUPPEN_MAX, SteuergruppeEingabe};
use crate::trade::belege::model::Source;

/// Maximum length of an ordinary text field, in characters (D18).
const TEXT_CHARS_MAX: usize = 255;
/// Maximum term of payment, in days.
const PAYMENT_DAYS_MAX: i64 = 3_650;

const RATE_UNKNOWN: &str = "Aus der gedruckten Steuer folgt kein bekannter Steuersatz. Bitte mwst_satz im Vorschlag \
    ergänzen, nötigenfalls die Position nach Sätzen teilen, und den Beleg mit POST /belege anlegen.";

const RATE_NOT_NAMED: &str =
    "Die Rechnung nennt keinen Steuersatz für diese Position. Bitte mwst_satz im Vorschlag ergänzen.";

pub struct Vorschlag {
    pub new: NewBeleg,
    pub gefunden: Gefunden,
    /// The sums of its items.
    sums: VorschlagSummen,
    /// The first item that represents no single line of the invoice and lacks a rate, and the reason.
    without_rate: Option<(usize, &'static str)>,
    /// Whether the partner agrees by one weak mark alone.
    is_doubtful: bool,
}

impl Vorschlag {
    pub fn of(
        tx: &Tx<'_>,
        request: &NewEinlesen,
        gelesen: &Gelesen,
        posten: &[Posten],
        hints: &mut Hints,
    ) -> Result<Vorschlag> {
        for zweifel in &gelesen.zweifel {
            hints.add(HintCode::WertFraglich, zweifel.as_str());
        }
        let posten = &with_rates(tx, gelesen, posten)?;
        hint_missing(gelesen, posten, hints);
        let partner = partner::of(tx, request.kunden_id.as_ref(), gelesen, hints)?;
        partner::check_receiver(tx, gelesen, hints)?;
        let kunde = partner.as_ref().map(|found| found.kunde.id);
        let is_doubtful = partner.as_ref().is_some_and(|found| found.is_doubtful);
        let (mut items, mut found) = (Vec::new(), Vec::new());
        for (at, posten) in posten.iter().enumerate() {
            let (item, artikel) = item(tx, kunde, gelesen, at, posten, hints)?;
            items.push(item);
            found.push(artikel);
        }
        let gefunden = Gefunden { partner: partner.map(Fund::shown), artikel: found };
        let printed = gedruckt(gelesen).filter(|printed| printed.0.len() <= STEUERGRUPPEN_MAX);
        let sums = VorschlagSummen::of_posten(posten, printed.as_ref())?;
        let steuergruppen =
            printed.map(|printed| printed.0.into_iter().map(SteuergruppeEingabe::from).collect());
        let external_ref = request.external_ref.clone();
        let new = NewBeleg { external_ref, items: Some(items), steuergruppen, ..header(kunde, gelesen) };
        let lacking = posten.iter().enumerate().find(|(_, posten)| lacks_rate(posten));
        let without_rate = lacking.map(|(at, posten)| (at, why_without_rate(posten)));
        Ok(Vorschlag { new, gefunden, sums, without_rate, is_doubtful })
    }

    /// Returns the body as JSON, without null fields.
    pub fn body(&self) -> Result<Value> {
        let mut body = serde_json::to_value(&self.new)?;
        drop_nulls(&mut body);
        Ok(body)
    }

    /// Refuses to create an ER of a partner who is only likely.
    pub fn check_partner(&self) -> Checked<()> {
        let message = "Ob die Rechnung von diesem Partner ist, ist nicht sicher (PARTNER_PRUEFEN). Bitte kunden_id senden.";
        refuse_if(self.is_doubtful, Code::KundeFehlt, "kunden_id", message)
    }

    /// Refuses to create an ER with an unknown tax rate.
    pub fn check_rates(&self) -> Checked<()> {
        let Some((at, why)) = self.without_rate else { return Ok(()) };
        Err(Refusal::field(Code::FeldFehlt, format!("vorschlag.items[{at}].mwst_satz"), why))
    }

    /// Tries what POST /belege would do with the proposal, without storing anything; a refusal becomes a
    /// hint. Returns the sums of the ER, or of the items alone if there would be no ER.
    pub fn probe(&self, tx: &WriteTx<'_>, hints: &mut Hints) -> Result<VorschlagSummen> {
        if self.new.kunden_id.is_none() {
            return Ok(self.sums.clone());
        }
        let tried = create::prepare(tx, &self.new, Source::Items, hints).and_then(
            |Prepared { beleg, positions, .. }| Ok((with_sums(beleg, &positions, true, hints)?, positions)),
        );
        match tried {
            Ok(_) if self.without_rate.is_some() => Ok(self.sums.clone()),
            Ok((beleg, positions)) => Ok(VorschlagSummen::of_beleg(&beleg, &positions)?),
            Err(Failure::Refused(refusal)) => {
                let all = refusal.fehler.iter().map(|fehler| (Some(fehler.feld.as_str()), &fehler.message));
                let only = refusal.fehler.is_empty().then_some((refusal.feld.as_deref(), &refusal.message));
                for (feld, message) in all.chain(only) {
                    let feld = feld.map_or("vorschlag".to_owned(), |feld| format!("vorschlag.{feld}"));
                    hints.add_field(HintCode::VorschlagUnvollstaendig, feld, message.to_string());
                }
                Ok(self.sums.clone())
            }
            Err(failure) => Err(failure),
        }
    }
}

/// Sets a missing rate to the one that yields the printed tax of the item.
fn with_rates(tx: &Tx<'_>, gelesen: &Gelesen, posten: &[Posten]) -> Result<Vec<Posten>> {
    let saetze = steuersaetze::all(tx)?;
    let named = gelesen.lieferdatum.or(gelesen.leistung_bis).or(gelesen.datum);
    let day = named.unwrap_or_else(|| tx.today());
    let with_rate = |posten: &Posten| {
        let by_tax = || rate_that_gives(&saetze, posten.netto(), posten.steuer?, day);
        Posten { mwst_satz: posten.mwst_satz.or_else(by_tax), ..posten.clone() }
    };
    Ok(posten.iter().map(with_rate).collect())
}

fn lacks_rate(posten: &Posten) -> bool {
    posten.zeile.is_none() && posten.mwst_satz.is_none()
}

fn why_without_rate(posten: &Posten) -> &'static str {
    if posten.steuer.is_some() { RATE_UNKNOWN } else { RATE_NOT_NAMED }
}

/// Adds hints for data that a document needs and the invoice lacks.
fn hint_missing(gelesen: &Gelesen, posten: &[Posten], hints: &mut Hints) {
    if gelesen.nummer.is_none() {
        let message = "Die Rechnung nennt keine Nummer.";
        hints.add_field(HintCode::WertFraglich, "vorschlag.fremdbelegnummer", message);
    }
    if gelesen.datum.is_none() {
        let message = "Die Rechnung nennt kein Datum; ohne beleg_datum gilt der heutige Tag.";
        hints.add_field(HintCode::WertFraglich, "vorschlag.beleg_datum", message);
    }
    if posten.is_empty() || posten.iter().all(|posten| posten.zeile.is_none()) {
        let message = "Die Rechnung nennt keine Positionen, nur Summen (Profil MINIMUM oder BASIC WL). Bitte die \
            Positionen vom Bild der Rechnung ergänzen.";
        hints.add_field(HintCode::PositionenFehlen, "vorschlag.items", message);
    }
    hint_terms(gelesen, hints);
    if gelesen.summen.bezahlt.is_some_and(|bezahlt| !bezahlt.is_zero()) {
        let message = "Die Rechnung zieht eine Anzahlung ab; der Beleg hat die volle Summe.";
        hints.add_field(HintCode::WertFraglich, "summen", message);
    }
}

fn hint_terms(gelesen: &Gelesen, hints: &mut Hints) {
    if gelesen.hat_raten {
        let message = "Die Rechnung ist in Raten zu zahlen; der Beleg hat den letzten Tag als Fälligkeit.";
        hints.add_field(HintCode::Zahlungsplan, "vorschlag.zahlungsziel_tage", message);
    }
    if let [first, _, ..] = gelesen.skonti.as_slice() {
        let message = format!(
            "Die Rechnung nennt mehrere Skonti; der Beleg hat das erste: {} % in {} Tagen.",
            first.prozent, first.tage
        );
        hints.add_field(HintCode::SkontoGekuerzt, "vorschlag.skonto_prozent", message);
    }
}

fn header(kunde: Option<Uuid>, gelesen: &Gelesen) -> NewBeleg {
    let skonto = gelesen.skonti.first().filter(|skonto| skonto.tage <= PAYMENT_DAYS_MAX);
    let term = gelesen.faellig.zip(gelesen.datum).map(|(due, from)| due.number() - from.number());
    let terms = gelesen.zahlungsbedingung.as_deref().map(line);
    NewBeleg {
        beleg_typ: Some(BelegTyp::Er),
        kunden_id: kunde.map(Verweis::Id),
        beleg_datum: gelesen.datum,
        lieferdatum: gelesen.lieferdatum,
        leistung_von: gelesen.leistung_von,
        leistung_bis: gelesen.leistung_bis,
        fremdbelegnummer: gelesen.nummer.as_deref().map(line),
        zahlungsziel_tage: term.filter(|days| (0..=PAYMENT_DAYS_MAX).contains(days)),
        skonto_tage: skonto.map(|skonto| skonto.tage),
        skonto_prozent: skonto.map(|skonto| skonto.prozent),
        zahlungsbedingung: terms.filter(|terms| !terms.is_empty()),
        ..NewBeleg::default()
    }
}

fn item(
    tx: &Tx<'_>,
    kunde: Option<Uuid>,
    gelesen: &Gelesen,
    at: usize,
    posten: &Posten,
    hints: &mut Hints,
) -> Result<(NewItem, GefundenerArtikel)> {
    let path = format!("vorschlag.items[{at}]");
    hint_doubts(posten, &path, hints);
    let zeile = posten.zeile.and_then(|zeile| gelesen.zeilen.get(zeile));
    let article_of = |zeile| artikel::of(tx, kunde, zeile, &format!("{path}.artikel_id"), hints);
    let artikel = zeile.map(article_of).transpose()?.flatten();
    let found = GefundenerArtikel {
        position: at as i64 + 1,
        artikel_id: artikel.as_ref().map(|(artikel, _)| artikel.id),
        artikelnummer: artikel.as_ref().map(|(artikel, _)| artikel.artikelnummer.clone()),
        durch: artikel.as_ref().map(|(_, durch)| (*durch).to_owned()),
        lieferantennummer: zeile.and_then(|zeile| zeile.verkaeufer_nr.clone()),
    };
    let land = zeile.and_then(|zeile| laender::find(zeile.herkunftsland.as_deref()?));
    let item = NewItem {
        menge: Some(posten.menge),
        artikel_id: found.artikel_id,
        einheit: posten.einheit.clone(),
        ep_netto: Some(posten.ep_netto),
        mwst_satz: posten.mwst_satz,
        steuer_kategorie: kategorie(posten),
        rabatt_prozent: Some(posten.rabatt_prozent).filter(|rabatt| !rabatt.is_zero()),
        bezeichnung: Some(posten.bezeichnung.clone()),
        langtext: posten.langtext.clone(),
        fremde_charge_nr: zeile.and_then(|zeile| zeile.charge.as_deref()).map(line),
        mhd: zeile.and_then(|zeile| zeile.mhd),
        herkunftsland: land.map(|land| land.iso2.clone()),
        ..NewItem::default()
    };
    Ok((item, found))
}

/// Returns the category if it is valid for the rate.
fn kategorie(posten: &Posten) -> Option<Steuerkategorie> {
    posten.steuer_kategorie.filter(|kategorie| posten.mwst_satz.is_some_and(|satz| kategorie.fits(satz)))
}

fn hint_doubts(posten: &Posten, path: &str, hints: &mut Hints) {
    if !posten.ist_genau {
        let message = "Menge und Preis ergeben nicht die Summe der Zeile; was fehlt, ist eine eigene \
            Position. Bitte prüfen.";
        hints.add_field(HintCode::WertFraglich, format!("{path}.ep_netto"), message);
    }
    if posten.ist_errechnet {
        let message =
            "Der gedruckte Preis ergibt nicht die Summe der Zeile; ep_netto ist ihre Summe durch die Menge.";
        hints.add_field(HintCode::PreisErrechnet, format!("{path}.ep_netto"), message);
    }
    if posten.mwst_satz.is_none() {
        hints.add_field(HintCode::WertFraglich, format!("{path}.mwst_satz"), why_without_rate(posten));
    }
}

/// Shortens a text to what an ordinary field accepts.
fn line(text: &str) -> String {
    one_line(text, TEXT_CHARS_MAX)
}
