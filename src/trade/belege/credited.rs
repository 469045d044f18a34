//! Which credits take something back of an invoice (D4, D38).

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::named_params;
use uuid::Uuid;

use super::genannt::position_names;
use super::model::{Beleg, BelegPosition};
use super::sql::{Lieferung, find, named_positions};
use crate::platform::db::record::record;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Money, Quantity, divide_rounded};

/// Maximum number of credits that a refusal names.
const CREDITS_NAMED_MAX: i64 = 5;

/// Returns the numbers of the live credits that name an invoice, or a return of it, and take something of it back.
pub fn credits_of(tx: &Tx<'_>, invoice: &Beleg) -> Result<Vec<String>> {
    let statement = format!(
        "select c.beleg_nummer from beleg_position p indexed by beleg_position_bezug
           join beleg c on c.tenant_id = p.tenant_id and c.id = p.beleg_id
         where p.tenant_id = :tenant and p.bezug_beleg_id = :id and p.menge < 0 and c.beleg_typ = :typ
           and c.kunde_id = :kunde and c.status <> 'storniert' and c.storno_von_beleg_id is null
         union
         select c.beleg_nummer from lager_paar l indexed by lager_paar_rechnung
           cross join beleg_position p on p.tenant_id = l.tenant_id and p.beleg_id = l.gutschrift_id
             and p.position = l.gutschrift_position
           cross join beleg_position r on r.tenant_id = l.tenant_id and r.beleg_id = l.rueckgabe_id
             and r.position = l.rueckgabe_position
           cross join beleg c on c.tenant_id = l.tenant_id and c.id = l.gutschrift_id
         where l.tenant_id = :tenant and l.rechnung_id = :id and {}
         order by 1 limit :most",
        position_names!("p", "r")
    );
    let params = named_params! {
        ":id": invoice.id,
        ":typ": invoice.beleg_typ,
        ":kunde": invoice.kunde_id,
        ":most": CREDITS_NAMED_MAX,
    };
    tx.all(&statement, params, |row| row.get(0))
}

record! {
    /// What a position of a credit takes back of an invoice.
    pub struct Taken from beleg_position as p {
        /// The position of the invoice, if it is known.
        of: Option<i64> = "t.of",
        beleg_id: Uuid,
        position: i64,
        gesamtpreis: Money,
        /// All of the credit's position, in the unit of the article.
        menge: Quantity = "abs(coalesce(p.lager_menge, p.menge))",
        /// The part that is tied to this position of the invoice.
        part: Quantity = "t.part",
    }
}

/// Returns what live credits take back of an invoice: what is tied to its positions, and how much of what names it is not.
fn taken_of(tx: &Tx<'_>, invoice: &Beleg) -> Result<Vec<Taken>> {
    let columns = Taken::COLUMNS;
    let tied = format!(
        "select {columns} from (
           select l.rechnung_position as of, l.gutschrift_id as beleg, l.gutschrift_position as nr, l.menge as part
             from lager_paar l where l.tenant_id = :tenant and l.rechnung_id = :id and l.gutschrift_id is not null
           union all select v.position, c.beleg_id, c.position, f.menge from beleg_fluss f
             cross join beleg_position v on v.tenant_id = f.tenant_id and v.id = f.von_position_id
             cross join beleg_position c on c.tenant_id = f.tenant_id and c.id = f.position_id and c.menge < 0
             where f.tenant_id = :tenant and f.von_beleg_id = :id) t
           cross join beleg_position p on p.tenant_id = :tenant and p.beleg_id = t.beleg and p.position = t.nr
           cross join beleg c on c.tenant_id = :tenant and c.id = p.beleg_id and c.beleg_typ = :typ"
    );
    let named = format!(
        "select {columns} from (
           select c.beleg_id as beleg, c.position as nr, 0 as part,
               coalesce(v.position, (select min(w.position) from beleg_position w where w.tenant_id = c.tenant_id
                 and w.beleg_id = :id and w.menge > 0 and w.artikel_id is c.artikel_id)) as of
             from beleg_position c indexed by beleg_position_bezug
               left join beleg_position v on v.tenant_id = c.tenant_id and v.id = c.bezug_position_id
             where c.tenant_id = :tenant and c.bezug_beleg_id = :id and c.menge < 0) t
           cross join beleg_position p on p.tenant_id = :tenant and p.beleg_id = t.beleg and p.position = t.nr
           cross join beleg c on c.tenant_id = :tenant and c.id = p.beleg_id and c.beleg_typ = :typ
             and c.kunde_id = :kunde and c.status <> 'storniert' and c.storno_von_beleg_id is null"
    );
    let own = named_params! {":id": invoice.id, ":typ": invoice.beleg_typ};
    let mut taken = tx.all(&tied, own, Taken::read)?;
    let mut parts: BTreeMap<(Uuid, i64), Quantity> = BTreeMap::new();
    for Taken { beleg_id, position, part, .. } in &taken {
        let sum = parts.entry((*beleg_id, *position)).or_default();
        *sum = sum.plus(*part)?;
    }
    let params = [own, named_params! {":kunde": invoice.kunde_id}].concat();
    for named in tx.all(&named, &params, Taken::read)? {
        let tied = parts.get(&(named.beleg_id, named.position)).copied().unwrap_or_default();
        let part = named.menge.minus(tied)?;
        taken.extend((part > Quantity::ZERO).then_some(Taken { part, ..named }));
    }
    Ok(taken)
}

impl Taken {
    /// The amount of the part, as its share of the position's.
    fn amount(&self) -> Result<Money> {
        let amount = self.gesamtpreis.abs();
        if self.part == self.menge || self.menge.is_zero() {
            return Ok(amount);
        }
        let wide = i128::from(amount.units()) * i128::from(self.part.units());
        Ok(Money::from_wide(divide_rounded(wide, i128::from(self.menge.units())))?)
    }
}

/// Returns the parts of invoices that a credit takes back without naming them, at the price of the article.
pub fn invoices_of(tx: &Tx<'_>, beleg: &Beleg, positions: &[BelegPosition]) -> Result<Vec<Lieferung>> {
    let is_guessed = |position: &BelegPosition| {
        position.menge.is_negative() && position.preis_des_artikels && position.bezug_beleg_id.is_none()
    };
    if !beleg.beleg_typ.ist_rechnung() || !positions.iter().any(is_guessed) {
        return Ok(Vec::new());
    }
    let statement =
        "select l.gutschrift_position, i.beleg_nummer, i.beleg_datum, l.menge, p.einheit, p.ep_netto,
          p.rabatt_prozent, p.wiegung_id, 0
        from lager_paar l
          cross join beleg i on i.tenant_id = l.tenant_id and i.id = l.rechnung_id
          cross join beleg_position p on p.tenant_id = l.tenant_id and p.beleg_id = l.rechnung_id
            and p.position = l.rechnung_position
        where l.tenant_id = :tenant and l.gutschrift_id = :id and l.rechnung_id is not null order by l.id";
    tx.all(statement, named_params! {":id": beleg.id}, Lieferung::read)
}

/// Adds a hint for each position of an invoice of which credits take back more than was invoiced (D38): of those that the
/// positions of a credit name, or of the document itself, if it is an invoice that was written again.
pub fn hint_more_than_invoiced(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    is_changed: bool,
    hints: &mut Hints,
) -> Result<()> {
    if !beleg.beleg_typ.ist_rechnung() {
        return Ok(());
    }
    let names = positions.iter().filter(|position| position.menge.is_negative());
    let mut invoices: BTreeSet<Uuid> = names.filter_map(|position| position.bezug_beleg_id).collect();
    if !invoices.is_empty() {
        invoices.extend(invoices_of_returns(tx, beleg.id)?);
    }
    invoices.extend(is_changed.then_some(beleg.id));
    for id in invoices {
        if let Some(invoice) =
            find(tx, id)?.filter(|named| named.beleg_typ == beleg.beleg_typ && named.is_live())
        {
            hint_more_than(tx, &invoice, beleg, hints)?;
        }
    }
    Ok(())
}

/// Returns the invoices whose goods a return took back, or one position of it.
pub fn invoices_of_return(tx: &Tx<'_>, returned: Uuid, position: Option<Uuid>) -> Result<Vec<Uuid>> {
    let statement = "select distinct l.rechnung_id from lager_paar l
        where l.tenant_id = :tenant and l.rueckgabe_id = :id and l.rechnung_id is not null
          and (:position is null or l.rueckgabe_position =
            (select p.position from beleg_position p where p.tenant_id = :tenant and p.id = :position))
        order by l.rechnung_id";
    tx.all(statement, named_params! {":id": returned, ":position": position}, |row| row.get(0))
}

/// Returns the invoices that a credit corrects by the returns which it names.
fn invoices_of_returns(tx: &Tx<'_>, credit: Uuid) -> Result<Vec<Uuid>> {
    let statement = "select distinct l.rechnung_id from lager_paar l
          cross join beleg_position p on p.tenant_id = l.tenant_id and p.beleg_id = l.gutschrift_id
            and p.position = l.gutschrift_position and p.bezug_beleg_id is not null
        where l.tenant_id = :tenant and l.gutschrift_id = :id and l.rechnung_id is not null";
    tx.all(statement, named_params! {":id": credit}, |row| row.get(0))
}

fn hint_more_than(tx: &Tx<'_>, invoice: &Beleg, own: &Beleg, hints: &mut Hints) -> Result<()> {
    let mut sums: BTreeMap<i64, [(Quantity, Money); 2]> = BTreeMap::new();
    for taken in taken_of(tx, invoice)? {
        let Some(of) = taken.of else { continue };
        let sums = sums.entry(of).or_default();
        let (menge, amount) = &mut sums[usize::from(taken.beleg_id == own.id)];
        *menge = menge.plus(taken.part)?;
        *amount = amount.plus(taken.amount()?)?;
    }
    if sums.is_empty() {
        return Ok(());
    }
    for line in named_positions(tx, invoice.id)? {
        let Some([before, asked]) = sums.get(&line.position) else { continue };
        let invoiced = (line.menge.abs(), line.gesamtpreis.abs());
        let is_more = before.0.plus(asked.0)? > invoiced.0 || before.1.plus(asked.1)? > invoiced.1;
        if line.menge.is_negative() || !is_more {
            continue;
        }
        let shown = |(menge, amount): (Quantity, Money)| format!("{menge} für {amount} EUR");
        let asked = match invoice.id == own.id {
            true => String::new(),
            false => format!(", hier {}", shown(*asked)),
        };
        let message = format!(
            "Von {} ist mehr gutgeschrieben als berechnet: Position {}, berechnet {}, davor gutgeschrieben {}{asked}. \
             Bitte prüfen, ob das so gemeint ist.",
            invoice.beleg_nummer,
            line.position,
            shown(invoiced),
            shown(*before)
        );
        hints.add(HintCode::GutschriftUeberRechnung, message);
    }
    Ok(())
}
