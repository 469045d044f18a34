//! Creating and changing partners.

use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use super::bezug::by_id;
use super::model::{Kunde, KundeChange};
use super::{personenkonten, sql, steuer, verlauf};
use crate::master::{laender, vertriebler};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::change::Change;
use crate::rules::datev::Personenkonto;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::felder::GeaendertesFeld;
use crate::rules::plausible::{WRONG_IBAN, has_wrong_check_digits, is_doubtful_ust_id, is_email, is_iban};
use crate::rules::tax::Gebiet;
use crate::rules::text::TEXT_CHARS_MAX;

/// Default country of a partner (specification).
const DEFAULT_COUNTRY: &str = "DE";

/// Digits of a German postcode.
const PLZ_DIGITS: usize = 5;

/// Default payment term in days (specification).
const DEFAULT_PAYMENT_DAYS: i64 = 30;

/// Creates a partner (specification, POST /kunden; D2).
pub fn create(tx: &WriteTx<'_>, mut change: KundeChange, hints: &mut Hints) -> Result<Kunde> {
    let sent_number = std::mem::take(&mut change.kundennr).value();
    let sent_id = std::mem::take(&mut change.kunden_id).value();
    let mut kunde = apply(tx, blank(tx), keep_where_null(change), hints)?;
    kunde.kundennr = match sent_number {
        Some(kundennr) => free_number(tx, kundennr)?,
        None => generate_number(tx)?,
    };
    kunde.kunden_id = match sent_id {
        Some(kunden_id) => free_kunden_id(tx, kunden_id)?,
        None => sql::next_kunden_id(tx)?,
    };
    sql::insert(tx, &kunde)?;
    Ok(kunde)
}

/// What a new partner has unless somebody says otherwise (specification; D18).
pub fn preset() -> Kunde {
    Kunde {
        staat: DEFAULT_COUNTRY.to_owned(),
        zahlungsziel_tage: Some(DEFAULT_PAYMENT_DAYS),
        ..Kunde::default()
    }
}

fn blank(tx: &WriteTx<'_>) -> Kunde {
    Kunde { id: tx.new_id(), created_at: tx.now(), updated_at: tx.now(), version: 1, ..preset() }
}

/// Changes the fields that were sent; null clears a field (specification, PUT /kunden/{id}; D18).
pub fn change(tx: &WriteTx<'_>, old: Kunde, change: KundeChange, hints: &mut Hints) -> Result<Kunde> {
    let changed = apply(tx, old.clone(), change, hints)?;
    store(tx, &old, changed)
}

/// Stores a changed partner and records the change; does nothing if nothing differs (D2).
pub fn store(tx: &WriteTx<'_>, old: &Kunde, changed: Kunde) -> Result<Kunde> {
    if changed == *old {
        return Ok(changed);
    }
    let changed = Kunde { version: old.version + 1, updated_at: tx.now(), ..changed };
    sql::update(tx, &changed)?;
    verlauf::write(tx, old, &changed)?;
    Ok(changed)
}

pub fn apply(tx: &WriteTx<'_>, old: Kunde, change: KundeChange, hints: &mut Hints) -> Result<Kunde> {
    hint_doubtful(&old, &change, hints);
    let (before, mut kunde) = (old.clone(), old.clone());
    let besteuerungen = steuer::changed(tx, &before, &change.steuerart, &change.steuerart_ab, hints)?;
    change.clone().apply_to(&mut kunde);
    (kunde.steuerart, kunde.besteuerungen) = (besteuerungen.on(tx.today()), besteuerungen);
    kunde.staat = staat(change.staat, change.land, old.staat.clone())?;
    if kunde.ust_id != old.ust_id || kunde.staat != old.staat {
        hint_doubtful_ust_id(kunde.ust_id.as_deref(), &kunde.staat, hints);
    }
    (kunde.name, kunde.nachname_firma) =
        names(change.name, change.nachname_firma, (old.name, old.nachname_firma), kunde.vorname.as_deref())?;
    kunde.vb_id = vertriebler::resolve_change(tx, &change.vb_id, old.vb_id, hints)?;
    (kunde.debitor_konto, kunde.kreditor_konto) = (old.debitor_konto, old.kreditor_konto);
    personenkonten::apply(tx, &mut kunde, Personenkonto::Debitor, change.debitor_konto)?;
    personenkonten::apply(tx, &mut kunde, Personenkonto::Kreditor, change.kreditor_konto)?;
    steuer::hint_reaching_back(tx, &before, &kunde, hints)?;
    if (&kunde.plz, &kunde.staat) != (&before.plz, &before.staat) && has_doubtful_plz(&kunde) {
        hints.add_field(HintCode::WertFraglich, "plz", LOST_ZERO);
    }
    Ok(kunde)
}

/// Returns `name` and `nachname_firma` after a change (D18). If both are sent, both apply. If only `name` is
/// sent, it also sets `nachname_firma` if the two were equal before, as in a new partner. A `name` that was
/// never sent is derived from the other fields.
fn names(
    name: Change<String>,
    nachname_firma: Change<String>,
    old: (String, String),
    vorname: Option<&str>,
) -> Result<(String, String)> {
    if name == Change::Clear && nachname_firma.is_keep() {
        return Err(name_missing("name"));
    }
    let (old_name, old_nachname) = old;
    let follows = old_name == old_nachname;
    let nachname_firma = match (nachname_firma, &name) {
        (Change::Keep, Change::Set(name)) if follows => Some(name.clone()),
        (nachname_firma, _) => nachname_firma.apply(Some(old_nachname)),
    };
    let nachname_firma =
        nachname_firma.filter(|name| !name.is_empty()).ok_or_else(|| name_missing("nachname_firma"))?;
    let name = name.apply(Some(old_name).filter(|name| !name.is_empty()));
    if let Some(name) = name {
        return Ok((name, nachname_firma));
    }
    let name = match vorname {
        Some(vorname) => format!("{vorname} {nachname_firma}"),
        None => nachname_firma.clone(),
    };
    let message =
        "Vorname und Nachname dürfen zusammen höchstens 255 Zeichen haben. Bitte kürzen, oder name angeben.";
    refuse_if(name.chars().count() > TEXT_CHARS_MAX, Code::TextZuLang, "vorname", message)?;
    Ok((name, nachname_firma))
}

/// Adds a hint for each new value that cannot be valid; the value is stored unchanged.
fn hint_doubtful(old: &Kunde, change: &KundeChange, hints: &mut Hints) {
    if let Some(iban) = change.iban.other_than(old.iban.as_ref()).filter(|iban| !is_iban(iban)) {
        let is_typed_wrong = has_wrong_check_digits(iban);
        let message = if is_typed_wrong { WRONG_IBAN } else { "Die IBAN kann nicht stimmen. Bitte prüfen." };
        hints.add_field(HintCode::WertFraglich, "iban", message);
    }
    if change.email.other_than(old.email.as_ref()).is_some_and(|email| !is_email(email)) {
        let message = "Die E-Mail-Adresse kann nicht stimmen. Bitte prüfen.";
        hints.add_field(HintCode::WertFraglich, "email", message);
    }
}

pub const LOST_ZERO: &str = "Eine deutsche Postleitzahl hat fünf Ziffern; vermutlich fehlt ihre führende Null. Bitte \
    prüfen, und in Tabellen die Spalte als Text formatieren.";

/// Whether the postcode of a partner in Germany has not five digits.
pub fn has_doubtful_plz(kunde: &Kunde) -> bool {
    let is_one = |plz: &String| plz.len() == PLZ_DIGITS && plz.bytes().all(|byte| byte.is_ascii_digit());
    kunde.staat == DEFAULT_COUNTRY && kunde.plz.as_ref().is_some_and(|plz| !is_one(plz))
}

fn hint_doubtful_ust_id(ust_id: Option<&str>, staat: &str, hints: &mut Hints) {
    let is_in_eu = laender::gebiet(staat) != Gebiet::Drittland;
    if ust_id.is_some_and(|ust_id| is_doubtful_ust_id(ust_id, is_in_eu)) {
        let message = "Die USt-IdNr. hat nicht die Form ihres Landes, etwa DE123456789. Bitte prüfen.";
        hints.add_field(HintCode::WertFraglich, "ust_id", message);
    }
}

/// Treats null as absent, as a POST does (D18). The other fields have the value that null sets by default
/// anyway.
fn keep_where_null(change: KundeChange) -> KundeChange {
    fn keep<T>(change: Change<T>) -> Change<T> {
        change.value().map_or(Change::Keep, Change::Set)
    }
    KundeChange {
        name: keep(change.name),
        nachname_firma: keep(change.nachname_firma),
        zahlungsziel_tage: keep(change.zahlungsziel_tage),
        ..change
    }
}

/// Returns the country from `staat` or its alias `land`; null restores the default.
fn staat(staat: Change<String>, land: Change<String>, old: String) -> Result<String> {
    if let (Change::Set(staat), Change::Set(land)) = (&staat, &land)
        && staat != land
    {
        let message = "staat und land nennen verschiedene Länder. Bitte nur eines senden.";
        return Err(Refusal::field(Code::FeldWiderspruch, "land", message).into());
    }
    let change = if matches!(staat, Change::Set(_)) || land.is_keep() { staat } else { land };
    Ok(change.apply(Some(old)).unwrap_or_else(|| DEFAULT_COUNTRY.to_owned()))
}

/// Accepts an integer id from an import if it is not taken (D1).
fn free_kunden_id(tx: &WriteTx<'_>, kunden_id: i64) -> Result<i64> {
    let message = format_args!("Die kunden_id {kunden_id} ist schon vergeben.");
    refuse_if(sql::find_by_kunden_id(tx, kunden_id)?.is_some(), Code::FeldWiderspruch, "kunden_id", message)?;
    Ok(kunden_id)
}

/// Accepts a number that was sent if it is not taken (D2).
fn free_number(tx: &WriteTx<'_>, kundennr: String) -> Result<String> {
    let message = format_args!("Die Kundennummer {kundennr} ist schon vergeben. Bitte eine andere wählen.");
    let is_taken = sql::find_by_kundennr(tx, &kundennr)?.is_some();
    refuse_if(is_taken, Code::KundennrBereitsVergeben, "kundennr", message)?;
    Ok(kundennr)
}

/// Generates K-n with n = 1000 + count + 1, or the next free n (specification; D2).
fn generate_number(tx: &WriteTx<'_>) -> Result<String> {
    let mut number = 1000 + sql::count(tx)? + 1;
    loop {
        let kundennr = format!("K-{number}");
        if sql::find_by_kundennr(tx, &kundennr)?.is_none() {
            return Ok(kundennr);
        }
        number += 1;
    }
}

pub fn name_missing(feld: &str) -> Failure {
    let message = format!("Es fehlt der Name. Bitte {feld} angeben.");
    Refusal::field(Code::NameFehlt, feld, message).into()
}

/// Returns the account of a partner or, if it has none, the one to assign: its number if that is a valid
/// account, else the start of the range plus its integer id, else the next free one (D34). `is_given` tells
/// which accounts the same run assigns to others.
pub fn personenkonto(
    tx: &Tx<'_>,
    kunde: &Kunde,
    art: Personenkonto,
    is_given: impl Fn(i64) -> bool,
) -> Result<i64> {
    if let Some(konto) = *art.of_kunde(&mut kunde.clone()) {
        return Ok(konto);
    }
    let range = art.range(personenkonten::digits(tx)?);
    let by_id = range.start().saturating_add(kunde.kunden_id);
    let wishes = [kunde.kundennr.parse().unwrap_or_default(), by_id];
    for wish in wishes.into_iter().filter(|wish| range.contains(wish) && !is_given(*wish)) {
        if !sql::is_konto_taken(tx, art.feld(), wish)? {
            return Ok(wish);
        }
    }
    let first = if range.contains(&by_id) { by_id } else { *range.start() };
    let mut konto = sql::next_free_konto(tx, art.feld(), first)?;
    while is_given(konto) {
        konto = sql::next_free_konto(tx, art.feld(), konto.saturating_add(1))?;
    }
    let message = format_args!(
        "Die Personenkonten bis {} sind vergeben. Bitte datev_sachkontenlaenge prüfen.",
        range.end()
    );
    refuse_if(!range.contains(&konto), Code::PersonenkontoUngueltig, art.feld(), message)?;
    Ok(konto)
}

/// Assigns the account that [`personenkonto`] returned.
pub fn give_konto(tx: &WriteTx<'_>, id: Uuid, art: Personenkonto, konto: i64) -> Result<()> {
    let old = by_id(tx, id)?;
    let kunde = Kunde { version: old.version + 1, updated_at: tx.now(), ..old };
    sql::set_konto(tx, &kunde, art.feld(), konto)?;
    let (feld, neu) = (art.feld().to_owned(), to_raw_value(&konto)?);
    verlauf::add(tx, &kunde, &[GeaendertesFeld { feld, alt: RawValue::NULL.to_owned(), neu }])
}
