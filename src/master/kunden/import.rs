//! Import of partners (D22).

use uuid::Uuid;

use super::change::{LOST_ZERO, apply, create, has_doubtful_plz, name_missing, store};
use super::model::{Kunde, KundeChange, PartnerTypen};
use super::sql;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::{self, Upserted};
use crate::rules::change::Change;
use crate::rules::datev::Personenkonto;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::felder::GeaendertesFeld;

/// Creates or changes a partner by its natural key: the number, else name, postcode and town (D22).
pub fn kunde(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let change = KundeChange::from_json(row, at)?;
    let old = match change.kundennr.get() {
        Some(kundennr) => sql::find_by_kundennr(tx, kundennr)?,
        None => find_by_address(tx, &change)?,
    };
    upsert(tx, old, change, at)
}

/// Creates or changes a partner by its account, else by name, postcode and town (D22). The second account of a partner
/// is another row of DATEV's list. The number there may be cut, so it is taken for a new partner alone.
pub fn of_datev(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let mut change = KundeChange::from_json(row, at)?;
    let konten =
        [(Personenkonto::Debitor, &change.debitor_konto), (Personenkonto::Kreditor, &change.kreditor_konto)];
    let konto = konten.into_iter().find_map(|(art, konto)| Some((art, *konto.get()?)));
    let Some((art, konto)) = konto else { return kunde(tx, row, at) };
    let mut old = sql::find_by_konto(tx, art.feld(), konto)?;
    if old.is_none() {
        old = without_konto(tx, &change, art)?;
        let typen = old.as_ref().map(|old| old.partner_typen).unwrap_or_default();
        change.partner_typen = Change::Set(match art {
            Personenkonto::Debitor => PartnerTypen { kunde: true, ..typen },
            Personenkonto::Kreditor => PartnerTypen { lieferant: true, ..typen },
        });
    }
    if old.is_some() {
        change.kundennr = Change::Keep;
    }
    if let Some(kundennr) = change.kundennr.get()
        && sql::find_by_kundennr(tx, kundennr)?.is_some()
    {
        let message = "Diese Nummer hat schon ein anderer Partner; dieser bekommt die nächste freie.";
        at.hints().add_field(HintCode::WertFraglich, "kundennr", message);
        change.kundennr = Change::Keep;
    }
    upsert(tx, old, change, at)
}

/// Finds the partner of this name and place that has no such account yet.
fn without_konto(tx: &WriteTx<'_>, change: &KundeChange, art: Personenkonto) -> Result<Option<Kunde>> {
    let mut found = by_address(tx, change)?;
    found.retain(|kunde| {
        let vorname = change.vorname.get();
        art.of_kunde(&mut kunde.clone()).is_none()
            && vorname.is_none_or(|_| vorname == kunde.vorname.as_ref())
    });
    let message = "Diesen Partner gibt es mehrfach am selben Ort. Bitte bei einem das Konto eintragen.";
    refuse_if(found.len() > 1, Code::FeldFehlt, art.feld(), message)?;
    Ok(found.pop())
}

fn upsert(
    tx: &WriteTx<'_>,
    old: Option<Kunde>,
    mut change: KundeChange,
    at: &mut At<'_>,
) -> Result<Upserted> {
    let is_tabular = at.is_tabular();
    let hints = at.hints();
    let Some(old) = old else {
        let kunde = create(tx, change, hints)?;
        refuse_if(is_tabular && has_doubtful_plz(&kunde), Code::FeldUngueltig, "plz", LOST_ZERO)?;
        return Ok(Upserted::Created);
    };
    if let Some(kunden_id) = change.kunden_id.get()
        && *kunden_id != old.kunden_id
    {
        let message = format!("Der Kunde {} hat schon die kunden_id {}.", old.kundennr, old.kunden_id);
        return Err(Refusal::field(Code::FeldWiderspruch, "kunden_id", message).into());
    }
    // The number is the key, so only its spelling could differ.
    change.kundennr = Change::Keep;
    let after = apply(tx, old.clone(), change, hints)?;
    let is_new = (&after.plz, &after.staat) != (&old.plz, &old.staat);
    refuse_if(is_tabular && is_new && has_doubtful_plz(&after), Code::FeldUngueltig, "plz", LOST_ZERO)?;
    let is_changed = after != old;
    store(tx, &old, after)?;
    Ok(if is_changed { Upserted::Changed } else { Upserted::Unchanged })
}

fn find_by_address(tx: &WriteTx<'_>, change: &KundeChange) -> Result<Option<Kunde>> {
    let mut found = by_address(tx, change)?;
    let message = "Diesen Partner gibt es mehrfach am selben Ort. Bitte die kundennr angeben.";
    refuse_if(found.len() > 1, Code::FeldFehlt, "kundennr", message)?;
    Ok(found.pop())
}

fn by_address(tx: &WriteTx<'_>, change: &KundeChange) -> Result<Vec<Kunde>> {
    let Some(name) = change.nachname_firma.get().or(change.name.get()) else {
        return Err(name_missing("nachname_firma"));
    };
    sql::find_by_address(tx, name, change.plz.get().cloned(), change.ort.get().cloned())
}

/// Restores fields to their values before a change, by an ordinary change (D22).
pub fn put_back(tx: &WriteTx<'_>, id: Uuid, felder: &[GeaendertesFeld]) -> Result<()> {
    // The days come back as a whole: steuerart alone would hold from a day on.
    let (by_day, others): (Vec<_>, Vec<_>) = felder
        .iter()
        .filter(|field| field.feld != "steuerart")
        .partition(|field| field.feld == "besteuerungen");
    let before = import::put_back::<KundeChange>(&others)?;
    let kunde = sql::find(tx, id)?.ok_or_else(|| Failure::not_found("Diesen Partner"))?;
    let mut changed = apply(tx, kunde.clone(), before, &mut Hints::default())?;
    if let Some(field) = by_day.first() {
        changed.besteuerungen = serde_json::from_str(field.alt.get())?;
        changed.steuerart = changed.besteuerungen.on(tx.today());
    }
    store(tx, &kunde, changed).map(drop)
}
