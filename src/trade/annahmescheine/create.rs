//! Creating a goods receipt (D21a).

use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;

use super::model::{Annahmeschein, AnnahmescheinBestaetigung, NewAnnahmeschein};
use super::qualitaet::{self, Qualitaet, Ware, day_of, of_intake, refuse_rejected};
use super::sql;
use crate::goods::chargen::Bewegung;
use crate::goods::kontrakte::{KontraktBezug, Ungenannt};
use crate::goods::waage::{self, FertigeWiegung, Wiegung};
use crate::master::artikel::{self, Artikel};
use crate::master::biozertifikate;
use crate::master::kunden::{self, Kunde};
use crate::platform::db::seals::numbers;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::bytes::fingerprint;
use crate::rules::day::{Day, DayTime};
use crate::rules::document::Seite;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::{Price, Quantity};
use crate::rules::number::Reihe;
use crate::rules::receipt::tonnes;
use crate::rules::repeat::{Angelegt, Wiederholt};
use crate::rules::settlement::Werte;
use crate::rules::stammdaten::ArtikelStatus;
use crate::rules::weighing::Richtung;
use crate::trade::belege::{self, NewItem, receive};

/// Reasons to refuse a receipt, besides its partner, date and article.
pub const REFUSALS: &[Code] = &[
    Code::PartnerNichtGefunden,
    Code::MengeUngueltig,
    Code::EinheitNichtUmrechenbar,
    Code::BetragZuGross,
    Code::NettoNegativ,
    Code::ChargeFehlt,
    Code::LandUnbekannt,
    Code::BiozertifikatNichtGefunden,
    Code::KontraktNichtGefunden,
    Code::WiegungNichtGefunden,
    Code::WiegungNichtFertig,
    Code::WiegungPasstNicht,
    Code::WiegungBereitsVerwendet,
];

/// Maximum factor per per cent of moisture.
const SCHWUNDFAKTOR_MAX: Quantity = Quantity::whole(100);

/// POST /annahmescheine: creates a receipt, unless its external_ref is known (D19).
pub fn create(
    tx: &WriteTx<'_>,
    mut new: NewAnnahmeschein,
    mut hints: Hints,
) -> Result<Angelegt<AnnahmescheinBestaetigung, Annahmeschein>> {
    if let Some(external_ref) = &new.external_ref
        && let Some(existing) = sql::find_by_external_ref(tx, external_ref)?
    {
        return Ok(Angelegt::Wiederholt(Box::new(repeated(tx, existing, &new, hints)?)));
    }
    check_required(&new)?;
    let digest = request_digest(tx, &new)?;
    let el_erzeugen = new.el_erzeugen == Some(true);
    let wiegung = weighing(tx, &new)?;
    let kunde = partner(tx, &new, wiegung.as_ref())?.ok_or_else(kunden::missing)?;
    let artikel = article(tx, &new, wiegung.as_ref())?;
    if let Some(wiegung) = &wiegung {
        note_contradictions(wiegung, &new, kunde.id, &mut hints);
    }
    let kontrakt = contract(tx, &new, wiegung.as_ref())?;
    (new.kontrakt_id, new.kontrakt_position_id) = (kontrakt.kontrakt_id, kontrakt.kontrakt_position_id);
    let ware = Ware { artikel: artikel.id, partner: Some(kunde.id), kontrakt: new.kontrakt_id };
    let qualitaet = Qualitaet::of(tx, &new, ware, &mut hints)?;
    let analyse = of_intake(tx, &new, &qualitaet.werte);
    let mut schein = note(tx, new, &kunde, &artikel, wiegung.as_ref(), &mut hints)?;
    check_ranges(&schein)?;
    qualitaet.settle(tx, &mut schein, &mut hints)?;
    refuse_rejected(&schein)?;
    schein.belegnummer = numbers::next(tx, Reihe::Annahmeschein, tx.today().year())?;
    let bewegungen = match el_erzeugen {
        true => create_el(tx, &mut schein, &artikel, wiegung.as_ref(), &qualitaet, &mut hints)?,
        false => Vec::new(),
    };
    sql::insert(tx, &schein, digest)?;
    if let Some(analyse) = analyse {
        sql::insert_analyse(tx, schein.id, &analyse)?;
    }
    follow_delivery(tx, &mut schein)?;
    Ok(Angelegt::Neu(confirmation(schein, bewegungen, hints)))
}

/// Updates the status of a new receipt from its delivery: an invoice that waited for these goods settles it at once.
fn follow_delivery(tx: &WriteTx<'_>, schein: &mut Annahmeschein) -> Result<()> {
    if schein.el_id.is_some() {
        belege::update_receipts(tx, schein.el_id.as_ref())?;
        schein.status = sql::find(tx, schein.id)?.map_or(schein.status, |stored| stored.status);
    }
    Ok(())
}

/// Requires the fields that a weighing would supply if none is named; checked before any lookup (D19).
fn check_required(new: &NewAnnahmeschein) -> Result<()> {
    if new.wiegung_id.is_some() {
        return Ok(());
    }
    let NewAnnahmeschein { partner_id, kunden_id, kundennummer, artikel_id, artikelnr, .. } = new;
    if partner_id.is_none() && kunden_id.is_none() && kundennummer.is_none() {
        return Err(kunden::missing().into());
    }
    if artikel_id.is_none() && artikelnr.is_none() {
        return Err(article_missing().into());
    }
    required(new.anliefermenge_kg, "anliefermenge_kg")?;
    Ok(())
}

/// Returns the named weighing, which must be finished and in no other live receipt (D12).
fn weighing(tx: &Tx<'_>, new: &NewAnnahmeschein) -> Result<Option<FertigeWiegung>> {
    let Some(id) = new.wiegung_id else { return Ok(None) };
    let wiegung = waage::finished(tx, id, None)?;
    check_unused(tx, id, None)?;
    Ok(Some(wiegung))
}

/// Refuses a weighing that is in another live receipt (D12).
pub fn check_unused(tx: &Tx<'_>, wiegung: Uuid, own: Option<Uuid>) -> Result<()> {
    if let Some(nummer) = waage::annahmeschein_of(tx, wiegung, own)? {
        let message = format!("Zu dieser Wiegung gibt es schon den Annahmeschein {nummer}.");
        return Err(Refusal::field(Code::WiegungBereitsVerwendet, "wiegung_id", message).into());
    }
    Ok(())
}

/// Returns the partner by partner_id, kunden_id or kundennummer, which must agree, or else that of the
/// weighing.
fn partner(tx: &Tx<'_>, new: &NewAnnahmeschein, wiegung: Option<&FertigeWiegung>) -> Result<Option<Kunde>> {
    let named = kunden::named(tx, new.kunden_id.as_ref(), new.kundennummer.as_deref())?;
    let Some(id) = new.partner_id else {
        return match (named, wiegung) {
            (None, Some(wiegung)) => kunden::find(tx, wiegung.wiegung.partner_id),
            (named, _) => Ok(named),
        };
    };
    let by_id = kunden::by_id(tx, id)?;
    match named {
        Some(other) if other.id != by_id.id => Err(kunden::contradiction("partner_id").into()),
        _ => Ok(Some(by_id)),
    }
}

/// Returns the named article, or else that of the weighing.
fn article(tx: &Tx<'_>, new: &NewAnnahmeschein, wiegung: Option<&FertigeWiegung>) -> Result<Arc<Artikel>> {
    let named = article_named(tx, new)?;
    let weighed = wiegung.and_then(|wiegung| wiegung.wiegung.artikel_id);
    let artikel = match (named, weighed) {
        (None, Some(weighed)) => artikel::find(tx, weighed)?,
        (named, _) => named,
    };
    let artikel = artikel.ok_or_else(article_missing)?;
    wiegung.map(|wiegung| wiegung.check_article(artikel.id)).transpose()?;
    let message = format_args!("Der Artikel {} ist inaktiv.", artikel.artikelnummer);
    refuse_if(artikel.status == ArtikelStatus::Inaktiv, Code::ArtikelInaktiv, "artikel_id", message)?;
    Ok(artikel)
}

/// Returns the contract and its position that the request names, or else those of the weighing: its position only for
/// its own contract.
fn contract(tx: &Tx<'_>, new: &NewAnnahmeschein, wiegung: Option<&FertigeWiegung>) -> Result<KontraktBezug> {
    let NewAnnahmeschein { kontrakt_id, kontrakt_position_id, .. } = *new;
    let sent = KontraktBezug { kontrakt_id, kontrakt_position_id };
    let Some(Wiegung { kontrakt_id: Some(weighed), kontrakt_position_id: position, .. }) =
        wiegung.map(|wiegung| &wiegung.wiegung)
    else {
        return sent.checked(tx);
    };
    match kontrakt_position_id.is_none() && kontrakt_id.is_none_or(|sent| sent == *weighed) {
        true => Ok(KontraktBezug { kontrakt_id: Some(*weighed), kontrakt_position_id: *position }),
        false => sent.checked(tx),
    }
}

fn article_missing() -> Box<Refusal> {
    let message = ("Es fehlt der Artikel.", "Bitte artikel_id oder artikelnr angeben.");
    Refusal::field(Code::ArtikelFehlt, "artikel_id", message)
}

fn article_named(tx: &Tx<'_>, new: &NewAnnahmeschein) -> Result<Option<Arc<Artikel>>> {
    artikel::named(tx, new.artikel_id, new.artikelnr.as_deref())
}

/// Adds hints where the request differs from the weighing; the request takes precedence (D21a).
fn note_contradictions(wiegung: &FertigeWiegung, new: &NewAnnahmeschein, partner: Uuid, hints: &mut Hints) {
    wiegung.hint_other_partner(partner, hints);
    if new.anliefermenge_kg.is_some_and(|menge| menge != wiegung.netto) {
        let message = format!("Gewogen wurden {} kg; das gesendete Gewicht gilt.", wiegung.netto);
        hints.add_field(HintCode::GewichtWiderspruch, "anliefermenge_kg", message);
    }
    wiegung.hint_other_direction(Richtung::Eingang, hints);
}

fn note(
    tx: &WriteTx<'_>,
    new: NewAnnahmeschein,
    kunde: &Kunde,
    artikel: &Artikel,
    wiegung: Option<&FertigeWiegung>,
    hints: &mut Hints,
) -> Result<Annahmeschein> {
    let menge = required(new.anliefermenge_kg.or(wiegung.map(|weighed| weighed.netto)), "anliefermenge_kg")?;
    let NewAnnahmeschein { kontrakt_id, kontrakt_position_id, .. } = new;
    let lieferdatum = new.lieferdatum.unwrap_or_else(|| tx.today());
    let bezug = KontraktBezug { kontrakt_id, kontrakt_position_id };
    hint_contract(tx, bezug, (kunde.id, artikel.id), lieferdatum, hints)?;
    if let Some(id) = new.biozertifikat_id {
        biozertifikate::must_have(tx, id)?.hint_expired(lieferdatum, hints);
    }
    let mut schein = Annahmeschein {
        partner_id: Some(kunde.id),
        artikel_id: Some(artikel.id),
        external_ref: new.external_ref.clone(),
        ..Annahmeschein::blank(tx.new_id(), String::new(), tx.now())
    };
    new.apply_to(&mut schein);
    schein.lieferdatum = Some(DayTime(lieferdatum));
    schein.anliefermenge_kg = Some(menge);
    Ok(schein)
}

/// Adds a hint if the contract of the goods is over, or if they name none although their partner has an open one (D21g).
fn hint_contract(
    tx: &Tx<'_>,
    bezug: KontraktBezug,
    (partner, artikel): (Uuid, Uuid),
    day: Day,
    hints: &mut Hints,
) -> Result<()> {
    match bezug.kontrakt_id {
        Some(_) => bezug.hint_over(tx, day, hints),
        None => Ungenannt::of(tx, partner, Seite::Einkauf, day).hint(artikel, hints),
    }
}

/// Refuses negative weights, factors and prices, and a delivery without weight.
pub fn check_ranges(schein: &Annahmeschein) -> Result<()> {
    let refuse = |feld: &str, message: &str| Err(Refusal::field(Code::WertUngueltig, feld, message).into());
    if schein.anliefermenge_kg.is_some_and(|menge| menge <= Quantity::ZERO) {
        return refuse("anliefermenge_kg", "Das Gewicht der Anlieferung muss über 0 sein.");
    }
    if schein.netto_menge_kg.is_some_and(Quantity::is_negative) {
        return refuse("netto_menge_kg", "Das Nettogewicht darf nicht unter 0 sein.");
    }
    if schein.schwundfaktor.is_negative() || schein.schwundfaktor > SCHWUNDFAKTOR_MAX {
        return refuse("schwundfaktor", "Der Schwundfaktor muss zwischen 0 und 100 liegen.");
    }
    if schein.sonstige_abzuege_kg.is_negative() {
        return refuse("sonstige_abzuege_kg", "Die Abzüge dürfen nicht unter 0 sein.");
    }
    if schein.preis_je_t.is_some_and(|preis| preis.is_negative()) {
        return refuse("preis_je_t", "Der Preis darf nicht unter 0 sein.");
    }
    Ok(())
}

/// Creates the EL of a receipt that has no live one, for the paid or weighed quantity, so that its settlement
/// is paired with exactly these goods and no others of the batch (D29h).
pub fn deliver(tx: &WriteTx<'_>, schein: &mut Annahmeschein, hints: &mut Hints) -> Result<Vec<Bewegung>> {
    let artikel = artikel::must_have(tx, required(schein.artikel_id, "artikel_id")?)?;
    let wiegung = schein.wiegung_id.map(|id| waage::finished(tx, id, None)).transpose()?;
    let qualitaet = Qualitaet { gueltig: qualitaet::scheme_of(tx, schein)?, werte: Werte::new() };
    let bewegungen = create_el(tx, schein, &artikel, wiegung.as_ref(), &qualitaet, hints)?;
    sql::note_delivery(tx, schein)?;
    Ok(bewegungen)
}

/// Creates an EL for the net quantity, in t at preis_je_t, so that its sum is netto_betrag (D21a). Under a
/// scheme it is for the weight that the scheme determines and has no price, which the settlement adds (D29h).
fn create_el(
    tx: &WriteTx<'_>,
    schein: &mut Annahmeschein,
    artikel: &Artikel,
    wiegung: Option<&FertigeWiegung>,
    qualitaet: &Qualitaet,
    hints: &mut Hints,
) -> Result<Vec<Bewegung>> {
    let message = "Der Annahmeschein ist gesperrt; so lange gibt es keinen Lieferschein. Bitte ohne \
                   el_erzeugen anlegen und freigeben lassen.";
    refuse_if(schein.gesperrt, Code::AnnahmescheinGesperrt, "el_erzeugen", message)?;
    let without_partner = || Failure::Broken("a goods-receipt note without a partner".into());
    let partner_id = schein.partner_id.ok_or_else(without_partner)?;
    let item = delivered(schein, artikel, wiegung, qualitaet);
    let mut of_el = Hints::default();
    let (el, bewegungen) = receive(tx, partner_id, day_of(tx, schein), item, &mut of_el)
        .map_err(|failure| of_this_request(failure, artikel))?;
    let has_price = schein.preis_je_t.is_some() || qualitaet.gueltig.is_some();
    if !has_price && !of_el.iter().any(|hint| hint.code == HintCode::PreisUebernommen) {
        let message = "Ohne preis_je_t steht der Lieferschein mit dem Einkaufspreis des Artikels.";
        hints.add_field(HintCode::PreisFehlt, "preis_je_t", message);
    }
    // The net quantity differs from the weighed one by design, so this hint is dropped.
    hints.extend(of_el.without(HintCode::GewichtWiderspruch));
    schein.charge_id = el.positionen.iter().flatten().find_map(|position| position.charge_id);
    schein.el_id = Some(el.id);
    schein.el_beleg_nummer = Some(el.beleg_nummer);
    Ok(bewegungen)
}

/// Returns the item of its EL.
fn delivered(
    schein: &Annahmeschein,
    artikel: &Artikel,
    wiegung: Option<&FertigeWiegung>,
    qualitaet: &Qualitaet,
) -> NewItem {
    let schema = qualitaet.gueltig.as_ref().map(|gueltig| &gueltig.schema);
    let kg = match schema {
        Some(schema) if schema.books_gross() => schein.anliefermenge_kg,
        _ => schein.netto_menge_kg,
    };
    let wiegung = wiegung.map(|wiegung| &wiegung.wiegung);
    NewItem {
        artikel_id: Some(artikel.id),
        menge: Some(tonnes(kg.unwrap_or_default())),
        einheit: Some("t".to_owned()),
        ep_netto: schema.map_or(schein.preis_je_t, |_| Some(Price::ZERO)),
        wiegung_id: schein.wiegung_id,
        kontrakt_id: schein.kontrakt_id,
        kontrakt_position_id: schein.kontrakt_position_id,
        charge_id: wiegung.and_then(|wiegung| wiegung.charge_id),
        fremde_charge_nr: schein.fremde_charge_nr.clone(),
        herkunftsland: schein.herkunftsland.clone(),
        biozertifikat_id: schein.biozertifikat_id,
        niederlassung_id: wiegung.and_then(|wiegung| wiegung.niederlassung_id),
        lagerhalle_id: wiegung.and_then(|wiegung| wiegung.lagerhalle_id),
        ..NewItem::default()
    }
}

/// Rewords a refusal of the EL in terms of this request.
fn of_this_request(failure: Failure, artikel: &Artikel) -> Failure {
    let Failure::Refused(refusal) = failure else { return failure };
    let (feld, message) = match refusal.code {
        Code::ChargeFehlt => (
            "fremde_charge_nr",
            "Der Artikel wird in Chargen geführt. Bitte fremde_charge_nr, herkunftsland oder biozertifikat_id angeben."
                .to_owned(),
        ),
        Code::MengeUngueltig => (
            "el_erzeugen",
            "Nach den Abzügen bleibt nichts übrig; darüber gibt es keinen Lieferschein.".to_owned(),
        ),
        Code::EinheitNichtUmrechenbar => (
            "artikel_id",
            format!(
                "Der Artikel wird in {} geführt, der Lieferschein in t. Bitte ihn ohne el_erzeugen anlegen.",
                artikel.einheit.as_deref().unwrap_or_default()
            ),
        ),
        _ => return Failure::Refused(Box::new(Refusal { fehler: Vec::new(), ..*refusal })),
    };
    Refusal::field(refusal.code, feld, message).into()
}

fn confirmation(
    schein: Annahmeschein,
    lagerbewegungen: Vec<Bewegung>,
    hinweise: Hints,
) -> AnnahmescheinBestaetigung {
    AnnahmescheinBestaetigung {
        id: schein.id,
        belegnummer: schein.belegnummer,
        status: schein.status,
        partner_id: schein.partner_id,
        artikel_id: schein.artikel_id,
        anliefermenge_kg: schein.anliefermenge_kg,
        netto_menge_kg: schein.netto_menge_kg,
        netto_betrag: schein.netto_betrag,
        el_id: schein.el_id,
        el_beleg_nummer: schein.el_beleg_nummer,
        charge_id: schein.charge_id,
        schema: schein.schema,
        gesperrt: schein.gesperrt,
        sperrgruende: schein.sperrgruende,
        lagerbewegungen,
        hinweise,
    }
}

fn repeated(
    tx: &Tx<'_>,
    record: Annahmeschein,
    new: &NewAnnahmeschein,
    hinweise: Hints,
) -> Result<Wiederholt<Annahmeschein>> {
    let inhalt_abweichend = sql::request_digest(tx, record.id)? != Some(request_digest(tx, new)?);
    let nummer = record.belegnummer.clone();
    Ok(Wiederholt::of(record, &nummer, inhalt_abweichend, hinweise))
}

/// Returns a digest of the meaning of a request, independent of its wording.
fn request_digest(tx: &Tx<'_>, new: &NewAnnahmeschein) -> Result<[u8; 32]> {
    let mut value = serde_json::to_value(new)?;
    if let Ok(Some(kunde)) = partner(tx, new, None) {
        value["partner_id"] = Value::String(kunde.id.to_string());
        value["kunden_id"] = Value::Null;
        value["kundennummer"] = Value::Null;
    }
    if let Ok(Some(artikel)) = article_named(tx, new) {
        value["artikel_id"] = Value::String(artikel.id.to_string());
        value["artikelnr"] = Value::Null;
    }
    if new.el_erzeugen == Some(false) {
        value["el_erzeugen"] = Value::Null;
    }
    Ok(fingerprint(value))
}
