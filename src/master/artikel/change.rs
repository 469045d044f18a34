//! Creating and changing articles with their tiers through the interface (D22).

use std::collections::BTreeSet;

use rusqlite::ToSql;
use uuid::Uuid;

use super::model::{Artikel, ArtikelChange, Artikelgruppe, Staffel, StaffelEingabe};
use super::sql::{self, VERLAUF};
use crate::master::steuersaetze;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::import::Upserted;
use crate::platform::listing::verlauf::part;
use crate::rules::change::Change;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required, required_text};
use crate::rules::felder;
use crate::rules::plausible::is_gtin;
use crate::rules::text::{case_key, folded_key};

pub fn create(tx: &WriteTx<'_>, change: ArtikelChange, hints: &mut Hints) -> Result<Artikel> {
    let tiers = tiers(&change)?;
    let blank = Artikel { id: tx.new_id(), ..Artikel::default() };
    let artikel = apply(tx, &blank, change, hints)?;
    sql::insert(tx, &artikel)?;
    tiers.iter().flatten().try_for_each(|tier| sql::upsert_tier(tx, artikel.id, tier))?;
    Ok(artikel)
}

/// Field of the history that holds a tier.
pub const TIERS: &str = "staffelpreise";

/// Changes the fields that were sent; null clears a field (D18). Returns the article and whether anything
/// changed.
pub fn change(
    tx: &WriteTx<'_>,
    old: &Artikel,
    change: ArtikelChange,
    hints: &mut Hints,
) -> Result<(Artikel, bool)> {
    let tiers = tiers(&change)?;
    let artikel = apply(tx, old, change, hints)?;
    check_movements(tx, old, &artikel)?;
    let mut is_changed = artikel != *old;
    if is_changed {
        sql::update(tx, &artikel)?;
        VERLAUF.add(tx, artikel.id, &felder::differing(old, &artikel)?)?;
    }
    is_changed |= store_tiers(tx, &artikel, tiers)?;
    Ok((artikel, is_changed))
}

fn apply(tx: &WriteTx<'_>, old: &Artikel, change: ArtikelChange, hints: &mut Hints) -> Result<Artikel> {
    if let Some(satz) = change.mwst_satz.other_than(old.mwst_satz.as_ref()) {
        steuersaetze::hint_unknown(&steuersaetze::all(tx)?, *satz, hints);
    }
    if change.ean.other_than(old.ean.as_ref()).is_some_and(|ean| !is_gtin(ean)) {
        let message = "Die Prüfziffer der EAN stimmt nicht, oder es ist keine. Bitte prüfen.";
        hints.add_field(HintCode::WertFraglich, "ean", message);
    }
    let (artikelgruppe_id, gruppe) = gruppe(tx, old, &change, hints)?;
    let mut artikel = Artikel { artikelgruppe_id, gruppe, ..old.clone() };
    change.apply_to(&mut artikel);
    required_text(&artikel.bezeichnung, "bezeichnung")?;
    required_text(&artikel.artikelnummer, "artikelnummer")?;
    let artikelnummer = &artikel.artikelnummer;
    if case_key(artikelnummer) != case_key(&old.artikelnummer) {
        let message =
            format_args!("Die Artikelnummer {artikelnummer} ist schon vergeben. Bitte eine andere wählen.");
        let is_taken = sql::find_by_artikelnummer(tx, artikelnummer)?.is_some();
        refuse_if(is_taken, Code::FeldWiderspruch, "artikelnummer", message)?;
    }
    Ok(artikel)
}

/// Returns the group of an article, given by `artikelgruppe_id` or, as in an import, by `gruppe` (D22). A
/// value sent unchanged is ignored, so a client can send back what it read with only the other field changed.
fn gruppe(
    tx: &WriteTx<'_>,
    old: &Artikel,
    change: &ArtikelChange,
    hints: &mut Hints,
) -> Result<(Option<i64>, Option<String>)> {
    if let Change::Set(id) = change.artikelgruppe_id
        && Some(id) != old.artikelgruppe_id
    {
        let message = "Diese Artikelgruppe gibt es nicht. Bitte die artikelgruppe_id prüfen.";
        let found = sql::gruppe_by(tx, "id", &id)?;
        let found = found.ok_or_else(|| Refusal::field(Code::WertUngueltig, "artikelgruppe_id", message))?;
        return Ok((Some(found.id), Some(found.name)));
    }
    match &change.gruppe {
        Change::Set(name) if Some(name) != old.gruppe.as_ref() => {
            let found = resolve_gruppe(tx, name.clone(), hints)?;
            Ok((Some(found.id), Some(found.name)))
        }
        Change::Clear => Ok((None, None)),
        _ if change.artikelgruppe_id == Change::Clear => Ok((None, None)),
        _ => Ok((old.artikelgruppe_id, old.gruppe.clone())),
    }
}

/// Returns all tiers that the article will have; `None` if the request does not mention tiers.
fn tiers(change: &ArtikelChange) -> Result<Option<Vec<Staffel>>> {
    let sent: &[StaffelEingabe] = match &change.staffelpreise {
        Change::Keep => return Ok(None),
        Change::Clear => &[],
        Change::Set(sent) => sent,
    };
    let (mut tiers, mut known) = (Vec::new(), BTreeSet::new());
    for (at, sent) in sent.iter().enumerate() {
        let feld = |name: &str| format!("staffelpreise[{at}].{name}");
        let tier = Staffel {
            ab_menge: required(sent.ab_menge, &feld("ab_menge"))?,
            preis: required(sent.preis, &feld("preis"))?,
            aktiv: sent.aktiv.unwrap_or(true),
        };
        let message = format_args!("Ab {} stehen zwei Preise da. Bitte einen weglassen.", tier.ab_menge);
        refuse_if(!known.insert(tier.ab_menge), Code::WertUngueltig, &feld("ab_menge"), message)?;
        tiers.push(tier);
    }
    Ok(Some(tiers))
}

/// Stores the tiers that were sent and deactivates all others. Returns whether any of them changed.
fn store_tiers(tx: &WriteTx<'_>, artikel: &Artikel, tiers: Option<Vec<Staffel>>) -> Result<bool> {
    let Some(tiers) = tiers else { return Ok(false) };
    let is_sent = |old: &Staffel| tiers.iter().any(|tier| tier.ab_menge == old.ab_menge);
    let ended = sql::tiers(tx, artikel.id)?;
    let ended = ended.iter().map(|tier| Staffel { ab_menge: tier.ab_menge, preis: tier.preis, aktiv: false });
    let ended: Vec<Staffel> = ended.filter(|old| !is_sent(old)).collect();
    let mut is_changed = false;
    for tier in tiers.iter().chain(&ended) {
        let old = sql::find_tier(tx, artikel.id, tier.ab_menge)?;
        is_changed |= store_tier(tx, artikel.id, old.as_ref(), tier)? != Upserted::Unchanged;
    }
    Ok(is_changed)
}

/// Finds the group by kuerzel, then nummer, then name.
pub fn gruppe_named(tx: &Tx<'_>, name: &str) -> Result<Option<Artikelgruppe>> {
    let (kuerzel, nummer, folded) = (case_key(name), name.parse::<i64>().ok(), folded_key(name));
    let keys: [(&str, &dyn ToSql); 3] =
        [("kuerzel_key", &kuerzel), ("nummer", &nummer), ("name_key", &folded)];
    for (column, key) in keys {
        if let Some(found) = sql::gruppe_by(tx, column, key)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the group that a row references; creates an unknown one and adds a hint (D22).
pub fn resolve_gruppe(tx: &WriteTx<'_>, name: String, hints: &mut Hints) -> Result<Artikelgruppe> {
    if let Some(found) = gruppe_named(tx, &name)? {
        return Ok(found);
    }
    let message = format!("Die Artikelgruppe {name} wurde neu angelegt.");
    hints.add_field(HintCode::ArtikelgruppeAngelegt, "gruppe", message);
    let id = sql::next_gruppe_id(tx)?;
    let new = Artikelgruppe { id, name, ..Artikelgruppe::default() };
    sql::upsert_gruppe(tx, &new)?;
    Ok(new)
}

/// Refuses to change the unit of an article, or whether it is kept in batches, once it has movements: its
/// stock is counted by them (D8).
pub fn check_movements(tx: &WriteTx<'_>, old: &Artikel, new: &Artikel) -> Result<()> {
    let kept = [
        ("einheit", old.einheit != new.einheit),
        ("chargenpflichtig", old.chargenpflichtig != new.chargenpflichtig),
    ];
    let Some((feld, _)) = kept.into_iter().find(|(_, is_other)| *is_other) else { return Ok(()) };
    let message = format!(
        "Von {} gibt es schon Lagerbewegungen; {feld} lässt sich nicht mehr ändern. Bitte einen neuen Artikel anlegen.",
        old.artikelnummer
    );
    Ok(refuse_if(sql::has_moved(tx, old.id)?, Code::WertUngueltig, feld, message)?)
}

/// Stores a tier and records the change in the history.
pub fn store_tier(tx: &WriteTx<'_>, artikel: Uuid, old: Option<&Staffel>, new: &Staffel) -> Result<Upserted> {
    Upserted::by(old, new, || {
        sql::upsert_tier(tx, artikel, new)?;
        VERLAUF.add(tx, artikel, &[part(TIERS, old, Some(new))?])
    })
}
