//! How a partner comes to be and how it changes.

use super::model::{Kunde, KundeEingabe, PartnerTypen};
use super::sql;
use crate::db::error::{Failure, Result};
use crate::db::tx::WriteTx;
use crate::http::wire::{Int, OneOf, Sent, Tage, Text};
use crate::laender::Staat;
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::plausible::{is_email, is_iban};
use crate::rules::stammdaten::KundeStatus;
use crate::vertriebler;

/// Longest customer number (D2).
const MAX_KUNDENNR: usize = 30;

/// Country of a partner when nobody said (specification).
const HOME: &str = "DE";

/// Days of payment when nobody said (specification).
const ZAHLUNGSZIEL: i64 = 30;

/// Creates a partner (specification, POST /kunden; D2).
pub fn create(tx: &WriteTx<'_>, mut eingabe: KundeEingabe, hints: &mut Hints) -> Result<Kunde> {
    let sent_number = std::mem::take(&mut eingabe.kundennr).value();
    let sent_id = std::mem::take(&mut eingabe.kunden_id).value();
    let blank = Kunde {
        id: tx.new_id(),
        kunden_id: 0,
        kundennr: String::new(),
        name: String::new(),
        nachname_firma: String::new(),
        anrede: None,
        vorname: None,
        email: None,
        telefon: None,
        telefon2: None,
        strasse: None,
        plz: None,
        ort: None,
        staat: HOME.to_owned(),
        status: KundeStatus::Aktiv,
        partner_typen: PartnerTypen::DEFAULT,
        steuerart: None,
        zahlungsziel_tage: Some(ZAHLUNGSZIEL),
        skonto_tage: None,
        skonto_prozent: None,
        steuernummer: None,
        ust_id: None,
        betriebsnummer: None,
        iban: None,
        bic: None,
        vb_id: None,
        notizen: None,
        created_at: tx.now(),
        updated_at: tx.now(),
        version: 1,
    };
    let mut kunde = apply(tx, blank, absent_where_null(eingabe), hints)?;
    kunde.kundennr = match sent_number {
        Some(Text(kundennr)) => free_number(tx, kundennr)?,
        None => generate_number(tx)?,
    };
    kunde.kunden_id = match sent_id {
        Some(Int(kunden_id)) => free_kunden_id(tx, kunden_id)?,
        None => sql::next_kunden_id(tx)?,
    };
    sql::insert(tx, &kunde)?;
    Ok(kunde)
}

/// Changes the fields that were sent; null clears (specification, PUT /kunden/{id}; D18).
pub fn change(tx: &WriteTx<'_>, old: Kunde, eingabe: KundeEingabe, hints: &mut Hints) -> Result<Kunde> {
    let version = old.version + 1;
    let changed = apply(tx, old, eingabe, hints)?;
    let changed = Kunde { version, updated_at: tx.now(), ..changed };
    sql::update(tx, &changed)?;
    Ok(changed)
}

/// The partner with the fields of a body.
pub fn apply(tx: &WriteTx<'_>, old: Kunde, eingabe: KundeEingabe, hints: &mut Hints) -> Result<Kunde> {
    let text = |sent: Sent<Text>, old: Option<String>| match sent {
        Sent::Absent => old,
        sent => sent.value().map(|Text(text)| text),
    };
    let days = |sent: Sent<Tage>, old| sent.or_keep(Option::map(old, Int)).map(|Int(days)| days);
    let staat = staat(eingabe.staat, eingabe.land, old.staat)?;
    let vorname = text(eingabe.vorname, old.vorname);
    let (name, nachname_firma) =
        names(eingabe.name, eingabe.nachname_firma, (old.name, old.nachname_firma), vorname.as_deref())?;
    hint_doubtful(&eingabe.iban, "iban", is_iban, "Die IBAN kann nicht stimmen. Bitte prüfen.", hints);
    let message = "Die E-Mail-Adresse kann nicht stimmen. Bitte prüfen.";
    hint_doubtful(&eingabe.email, "email", is_email, message, hints);
    let vb_id = match eingabe.vb_id {
        Sent::Absent => old.vb_id,
        Sent::Null => None,
        Sent::Value(vb_id) => vertriebler::resolve(tx, &vb_id, hints)?,
    };
    Ok(Kunde {
        name,
        nachname_firma,
        vorname,
        staat,
        vb_id,
        anrede: eingabe.anrede.or_keep(old.anrede.map(OneOf)).map(|OneOf(anrede)| anrede),
        email: text(eingabe.email, old.email),
        telefon: text(eingabe.telefon, old.telefon),
        telefon2: text(eingabe.telefon2, old.telefon2),
        strasse: text(eingabe.strasse, old.strasse),
        plz: text(eingabe.plz, old.plz),
        ort: text(eingabe.ort, old.ort),
        status: eingabe.status.or_keep(Some(OneOf(old.status))).map_or(KundeStatus::Aktiv, |OneOf(s)| s),
        partner_typen: eingabe
            .partner_typen
            .or_keep(Some(old.partner_typen))
            .unwrap_or(PartnerTypen::DEFAULT),
        steuerart: eingabe.steuerart.or_keep(old.steuerart.map(OneOf)).map(|OneOf(steuerart)| steuerart),
        zahlungsziel_tage: days(eingabe.zahlungsziel_tage, old.zahlungsziel_tage),
        skonto_tage: days(eingabe.skonto_tage, old.skonto_tage),
        skonto_prozent: eingabe.skonto_prozent.or_keep(old.skonto_prozent),
        steuernummer: text(eingabe.steuernummer, old.steuernummer),
        ust_id: text(eingabe.ust_id, old.ust_id),
        betriebsnummer: text(eingabe.betriebsnummer, old.betriebsnummer),
        iban: text(eingabe.iban, old.iban),
        bic: text(eingabe.bic, old.bic),
        notizen: match eingabe.notizen {
            Sent::Absent => old.notizen,
            sent => sent.value().map(|text| text.0),
        },
        ..old
    })
}

/// `name` and `nachname_firma` after a change (D18). Sent together both stand; a name alone is the other one, too,
/// where both were equal before, as in a new partner. A name that was never sent follows from the others.
fn names(
    name: Sent<Text>,
    nachname_firma: Sent<Text>,
    old: (String, String),
    vorname: Option<&str>,
) -> Result<(String, String)> {
    if matches!(name, Sent::Null) && nachname_firma.is_absent() {
        return Err(name_missing("name"));
    }
    let (old_name, old_nachname) = old;
    let follows = old_name == old_nachname;
    let nachname_firma = match (nachname_firma, &name) {
        (Sent::Absent, Sent::Value(Text(name))) if follows => Some(name.clone()),
        (Sent::Absent, _) => Some(old_nachname),
        (sent, _) => sent.value().map(|Text(text)| text),
    };
    let nachname_firma =
        nachname_firma.filter(|name| !name.is_empty()).ok_or_else(|| name_missing("nachname_firma"))?;
    let name = name.or_keep(Some(old_name).filter(|name| !name.is_empty()).map(Text));
    let name = name.map(|Text(name)| name).unwrap_or_else(|| match vorname {
        Some(vorname) => format!("{vorname} {nachname_firma}"),
        None => nachname_firma.clone(),
    });
    Ok((name, nachname_firma))
}

/// Notes a text that cannot be what its field says; it is stored as it came.
fn hint_doubtful(sent: &Sent<Text>, feld: &str, can_be: fn(&str) -> bool, message: &str, hints: &mut Hints) {
    if sent.get().is_some_and(|Text(text)| !can_be(text)) {
        hints.add_field(HintCode::WertFraglich, feld, message);
    }
}

/// In a POST null means absent (D18): the defaults hold.
fn absent_where_null(eingabe: KundeEingabe) -> KundeEingabe {
    fn absent<T>(sent: Sent<T>) -> Sent<T> {
        if matches!(sent, Sent::Null) { Sent::Absent } else { sent }
    }
    KundeEingabe {
        name: absent(eingabe.name),
        nachname_firma: absent(eingabe.nachname_firma),
        staat: absent(eingabe.staat),
        land: absent(eingabe.land),
        status: absent(eingabe.status),
        zahlungsziel_tage: absent(eingabe.zahlungsziel_tage),
        partner_typen: absent(eingabe.partner_typen),
        ..eingabe
    }
}

/// The country of `staat` and its alias `land`; null is back to the default.
fn staat(staat: Sent<Staat>, land: Sent<Staat>, old: String) -> Result<String> {
    if let (Sent::Value(staat), Sent::Value(land)) = (&staat, &land)
        && staat != land
    {
        let message = "staat und land nennen verschiedene Länder. Bitte nur eines senden.";
        return Err(Refusal::field(Code::FeldWiderspruch, "land", message).into());
    }
    let sent = if matches!(staat, Sent::Value(_)) || land.is_absent() { staat } else { land };
    Ok(match sent {
        Sent::Absent => old,
        Sent::Null => HOME.to_owned(),
        Sent::Value(Staat(iso2)) => iso2,
    })
}

/// An integer id that an import brings (D1).
fn free_kunden_id(tx: &WriteTx<'_>, kunden_id: i64) -> Result<i64> {
    if sql::find_by_kunden_id(tx, kunden_id)?.is_some() {
        let message = format!("Die kunden_id {kunden_id} ist schon vergeben.");
        return Err(Refusal::field(Code::FeldWiderspruch, "kunden_id", message).into());
    }
    Ok(kunden_id)
}

/// A number that was sent: not too long, and not taken (D2).
fn free_number(tx: &WriteTx<'_>, kundennr: String) -> Result<String> {
    if kundennr.chars().count() > MAX_KUNDENNR {
        let message = format!("Die Kundennummer ist länger als {MAX_KUNDENNR} Zeichen. Bitte kürzen.");
        return Err(Refusal::field(Code::TextZuLang, "kundennr", message).into());
    }
    if sql::find_by_kundennr(tx, &kundennr)?.is_some() {
        let message = format!("Die Kundennummer {kundennr} ist schon vergeben. Bitte eine andere wählen.");
        return Err(Refusal::field(Code::KundennrBereitsVergeben, "kundennr", message).into());
    }
    Ok(kundennr)
}

/// K-n with n = 1000 + count + 1, or the next n that is free (specification; D2).
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

/// The refusal of a partner without a name.
pub fn name_missing(feld: &str) -> Failure {
    let message = format!("Es fehlt der Name. Bitte {feld} angeben.");
    Refusal::field(Code::NameFehlt, feld, message).into()
}
