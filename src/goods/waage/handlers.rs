//! Handlers of the weighing routes.

use uuid::Uuid;

use super::model::{Auswahl, NewWiegung, Storno, Wiegung, WiegungBestaetigung, Zweitwiegung};
use super::{blatt, sql};
use crate::goods::chargen;
use crate::goods::kontrakte::{KontraktBezug, Ungenannt};
use crate::master::{artikel, kunden};
use crate::platform::db::seals::numbers;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Call, IfMatch};
use crate::platform::http::list_file::listed;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Write;
use crate::rules::change::Change;
use crate::rules::document::Seite;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::number::Reihe;
use crate::rules::weighing::{Richtung, WEIGHT_MAX, WiegungStatus, net};

const WHAT: &str = "Diese Wiegung";

pub fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    listed!(call, "wiegungen", Reply::array, |page| sql::list(tx, &auswahl, page))
}

pub fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let wiegung = found(tx, call.id(WHAT)?)?;
    Reply::resource(call, wiegung.version, wiegung.id, &wiegung)
}

pub fn get_pdf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let wiegung = found(tx, call.id(WHAT)?)?;
    let blatt = blatt::wiegeschein(tx, &wiegung)?;
    Ok(Reply::sheet(call, &wiegung.wiegeschein_nr, &blatt)?.about(wiegung.id))
}

pub fn create(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewWiegung>()?;
    Ok(Box::new(move |tx| {
        let mut hinweise = hinweise.clone();
        let wiegung = first(tx, new.clone(), &mut hinweise)?;
        sql::insert(tx, &wiegung)?;
        hint_unnamed(tx, &wiegung, &mut hinweise)?;
        confirm(201, wiegung, hinweise)
    }))
}

fn first(tx: &WriteTx<'_>, new: NewWiegung, hints: &mut Hints) -> Result<Wiegung> {
    required(new.waage_id, "waage_id")?;
    let gewicht_erst_kg = required(new.gewicht_erst_kg, "gewicht_erst_kg")?;
    let partner_id = required(new.partner_id, "partner_id")?;
    weight_in_range(gewicht_erst_kg, "gewicht_erst_kg", false)?;
    check_named(tx, partner_id, &new)?;
    let bezug =
        KontraktBezug { kontrakt_id: new.kontrakt_id, kontrakt_position_id: new.kontrakt_position_id }
            .checked(tx)?;
    bezug.hint_over(tx, tx.today(), hints)?;
    let mut wiegung = Wiegung {
        id: tx.new_id(),
        wiegeschein_nr: numbers::next(tx, Reihe::Wiegeschein, tx.today().year())?,
        ts_erst: tx.now(),
        version: 1,
        ..Wiegung::default()
    };
    new.apply_to(&mut wiegung);
    wiegung.kontrakt_id = bezug.kontrakt_id;
    wiegung.kontrakt_position_id = bezug.kontrakt_position_id;
    Ok(wiegung)
}

fn check_named(tx: &Tx<'_>, partner_id: Uuid, new: &NewWiegung) -> Result<()> {
    kunden::by_id(tx, partner_id)?;
    new.artikel_id.map(|artikel| artikel::by_id(tx, artikel)).transpose()?;
    chargen::check_named(tx, new.charge_id, new.artikel_id)
}

pub fn second(call: &Call<'_>) -> Result<Write> {
    let (second, hinweise) = call.body::<Zweitwiegung>()?;
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let mut hinweise = hinweise.clone();
        let wiegung = completed(tx, old, second.clone(), &mut hinweise)?;
        sql::update(tx, &wiegung)?;
        hint_unnamed(tx, &wiegung, &mut hinweise)?;
        confirm(200, wiegung, hinweise)
    }))
}

fn completed(tx: &WriteTx<'_>, old: Wiegung, second: Zweitwiegung, hints: &mut Hints) -> Result<Wiegung> {
    let bezug = bezug(&old, &second);
    let zweit = required(second.gewicht_zweit_kg.value(), "gewicht_zweit_kg")?;
    if old.status != WiegungStatus::Offen {
        let message = format!(
            "Die Wiegung ist {}; eine Zweitwiegung geht nur, solange sie offen ist.",
            old.status.as_str()
        );
        return Err(Refusal::new(Code::WiegungNichtOffen, message).into());
    }
    weight_in_range(zweit, "gewicht_zweit_kg", old.fremdwiegung)?;
    let Some((netto, gewogen)) = net(old.gewicht_erst_kg, zweit) else {
        let message =
            "Erst- und Zweitgewicht sind gleich. Bitte noch einmal wiegen; die Wiegung bleibt offen.";
        return Err(Refusal::field(Code::NettoNull, "gewicht_zweit_kg", message).into());
    };
    let explicit = second.richtung.value().or(old.richtung);
    if explicit.is_some_and(|richtung| richtung != gewogen) {
        let message = "Die angegebene Richtung widerspricht den Gewichten; sie wurde übernommen.";
        hints.add_field(HintCode::RichtungWiderspruch, "richtung", message);
    }
    let charge_id = second.charge_id.apply(old.charge_id);
    chargen::check_named(tx, charge_id, old.artikel_id)?;
    let bezug = checked(tx, bezug, &old, hints)?;
    Ok(Wiegung {
        status: WiegungStatus::Fertig,
        richtung: Some(explicit.unwrap_or(gewogen)),
        gewicht_zweit_kg: Some(zweit),
        gewicht_netto_kg: Some(netto),
        ts_zweit: Some(tx.now()),
        charge_id,
        kontrakt_id: bezug.kontrakt_id,
        kontrakt_position_id: bezug.kontrakt_position_id,
        niederlassung_id: second.niederlassung_id.apply(old.niederlassung_id),
        lagerhalle_id: second.lagerhalle_id.apply(old.lagerhalle_id),
        version: old.version + 1,
        ..old
    })
}

/// Checks that the contract exists; adds a hint if it is newly named but already over.
fn checked(tx: &Tx<'_>, bezug: KontraktBezug, old: &Wiegung, hints: &mut Hints) -> Result<KontraktBezug> {
    let bezug = bezug.checked(tx)?;
    if bezug.kontrakt_id != old.kontrakt_id {
        bezug.hint_over(tx, tx.today(), hints)?;
    }
    Ok(bezug)
}

/// Adds a hint if a weighing whose direction is known names no contract although its partner has an open one (D21g).
fn hint_unnamed(tx: &Tx<'_>, wiegung: &Wiegung, hints: &mut Hints) -> Result<()> {
    let Wiegung { partner_id, artikel_id, kontrakt_id, richtung, .. } = *wiegung;
    let (Some(artikel), Some(richtung), None) = (artikel_id, richtung, kontrakt_id) else { return Ok(()) };
    let seite = match richtung {
        Richtung::Eingang => Seite::Einkauf,
        Richtung::Ausgang => Seite::Verkauf,
    };
    Ungenannt::of(tx, partner_id, seite, tx.today()).hint(artikel, hints)
}

/// Returns the contract of a weighing after its second weight.
fn bezug(old: &Wiegung, second: &Zweitwiegung) -> KontraktBezug {
    let kept_position = if second.kontrakt_id.is_keep() { old.kontrakt_position_id } else { None };
    KontraktBezug {
        kontrakt_id: match (&second.kontrakt_id, &second.kontrakt_position_id) {
            // A new position alone implies its contract.
            (Change::Keep, Change::Set(_)) => None,
            _ => second.kontrakt_id.clone().apply(old.kontrakt_id),
        },
        kontrakt_position_id: second.kontrakt_position_id.clone().apply(kept_position),
    }
}

pub fn cancel(call: &Call<'_>) -> Result<Write> {
    let (storno, hinweise) = call.body::<Storno>()?;
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let grund = required(storno.grund.clone(), "grund")?;
        if old.status == WiegungStatus::Storno {
            let message = "Die Wiegung ist schon storniert.";
            return Err(Refusal::new(Code::WiegungNichtStornierbar, message).into());
        }
        let belege = sql::belege_of(tx, id)?;
        if !belege.is_empty() {
            let belege = belege.join(", ");
            let message =
                format!("Die Wiegung steht in {belege}. Bitte zuerst stornieren, was sie abrechnet.");
            return Err(Refusal::new(Code::WiegungAbgerechnet, message).into());
        }
        if let Some(nummer) = sql::annahmeschein_of(tx, id, None)? {
            let message =
                format!("Zu der Wiegung gibt es den Annahmeschein {nummer}. Bitte zuerst diesen stornieren.");
            return Err(Refusal::new(Code::WiegungAbgerechnet, message).into());
        }
        let status = WiegungStatus::Storno;
        let wiegung = Wiegung { status, storno_grund: Some(grund), version: old.version + 1, ..old };
        sql::update(tx, &wiegung)?;
        confirm(200, wiegung, hinweise.clone())
    }))
}

pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Wiegung> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}

fn confirm(status: u16, wiegung: Wiegung, hinweise: Hints) -> Result<Reply> {
    let Wiegung { id, wiegeschein_nr, status: state, gewicht_netto_kg, richtung, .. } = wiegung;
    let confirmation =
        WiegungBestaetigung { id, wiegeschein_nr, status: state, gewicht_netto_kg, richtung, hinweise };
    Ok(Reply::json(status, &confirmation)?.about(id))
}

/// Checks that a weight is above 0 and within the capacity of a scale; a second weight from another scale may
/// be 0 (D12).
fn weight_in_range(weight: Quantity, feld: &str, zero_allowed: bool) -> Checked<()> {
    let too_low = weight.is_negative() || (weight.is_zero() && !zero_allowed);
    let message = "Das Gewicht muss über 0 und darf höchstens 200.000 kg sein.";
    refuse_if(too_low || weight > WEIGHT_MAX, Code::WertUngueltig, feld, message)
}
