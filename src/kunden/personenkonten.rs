//! Accounts of partners in the adviser's books: given once, never changed, never given to another (D34).

use rusqlite::named_params;

use super::change::store;
use super::model::Kunde;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::rules::buchung::Personenkonto;
use crate::rules::change::Change;
use crate::rules::error::{Code, refuse_if};
use crate::tenants;

impl Personenkonto {
    /// Its column, and field.
    fn feld(self) -> &'static str {
        match self {
            Personenkonto::Debitor => "debitor_konto",
            Personenkonto::Kreditor => "kreditor_konto",
        }
    }

    fn of_kunde(self, kunde: &mut Kunde) -> &mut Option<i64> {
        match self {
            Personenkonto::Debitor => &mut kunde.debitor_konto,
            Personenkonto::Kreditor => &mut kunde.kreditor_konto,
        }
    }
}

fn digits(tx: &Tx<'_>) -> Result<u32> {
    Ok(u32::try_from(tenants::load(tx)?.datev_sachkontenlaenge.0).unwrap_or_default())
}

/// The account of a partner after a change of it.
pub fn changed(
    tx: &Tx<'_>,
    art: Personenkonto,
    known: Option<i64>,
    change: Change<i64>,
) -> Result<Option<i64>> {
    let new = change.apply(known);
    if new == known {
        return Ok(known);
    }
    let refuse = |is_so, message: std::fmt::Arguments<'_>| {
        refuse_if(is_so, Code::PersonenkontoUngueltig, art.feld(), message)
    };
    let nummer = known.unwrap_or_default();
    refuse(
        known.is_some(),
        format_args!("Das Konto {nummer} ist schon vergeben und bleibt. Bitte das Feld weglassen."),
    )?;
    if let Some(konto) = new {
        let range = art.range(digits(tx)?);
        let (first, last) = (range.start(), range.end());
        let message =
            format_args!("Das Konto {konto} liegt nicht zwischen {first} und {last}. Bitte prüfen.");
        refuse(!range.contains(&konto), message)?;
        let message =
            format_args!("Das Konto {konto} hat schon ein anderer Partner. Bitte ein anderes wählen.");
        refuse(is_taken(tx, art, konto)?, message)?;
    }
    Ok(new)
}

fn is_taken(tx: &Tx<'_>, art: Personenkonto, konto: i64) -> Result<bool> {
    let statement = format!("select 1 from kunde where tenant_id = :tenant and {} = :konto", art.feld());
    tx.exists(&statement, named_params! {":konto": konto})
}

/// The account of a partner, which gets one where it has none: its number where that is one, else the first of the range
/// and its integer id, else the next one that is free (D34).
pub fn assign(tx: &WriteTx<'_>, kunde: Kunde, art: Personenkonto) -> Result<i64> {
    let mut changed = kunde.clone();
    if let Some(konto) = *art.of_kunde(&mut changed) {
        return Ok(konto);
    }
    let range = art.range(digits(tx)?);
    let by_id = range.start().saturating_add(kunde.kunden_id);
    let wishes = [kunde.kundennr.parse().unwrap_or_default(), by_id];
    let mut free = None;
    for wish in wishes.into_iter().filter(|wish| range.contains(wish)) {
        if free.is_none() && !is_taken(tx, art, wish)? {
            free = Some(wish);
        }
    }
    let konto = match free {
        Some(konto) => konto,
        None => next_free(tx, art, if range.contains(&by_id) { by_id } else { *range.start() })?,
    };
    let message = format_args!(
        "Die Personenkonten bis {} sind vergeben. Bitte datev_sachkontenlaenge prüfen.",
        range.end()
    );
    refuse_if(!range.contains(&konto), Code::PersonenkontoUngueltig, art.feld(), message)?;
    *art.of_kunde(&mut changed) = Some(konto);
    store(tx, &kunde, changed)?;
    Ok(konto)
}

/// The first free account from one on.
fn next_free(tx: &Tx<'_>, art: Personenkonto, from: i64) -> Result<i64> {
    if !is_taken(tx, art, from)? {
        return Ok(from);
    }
    let feld = art.feld();
    let statement = format!(
        "select k.{feld} + 1 from kunde k where k.tenant_id = :tenant and k.{feld} >= :from
           and not exists (select 1 from kunde n where n.tenant_id = k.tenant_id and n.{feld} = k.{feld} + 1)
         order by k.{feld} limit 1"
    );
    tx.one(&statement, named_params! {":from": from}, |row| row.get(0))
}
